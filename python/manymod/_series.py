# SPDX-License-Identifier: Apache-2.0
"""Columns of pandas and polars as numpy or Arrow arrays, and back. Neither package is imported here."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from manymod import _arrow

__all__ = ["Column", "check_labels", "object_nulls", "open_column"]


@dataclass(frozen=True)
class Column:
    """A column, opened.

    Attributes:
        values: a numpy array of integers, floats or objects, or an Arrow array.
        wrap: makes a column of the caller's kind from such an array; of one with nulls from a masked array.
        null: where a numpy array has no value, None if it has one everywhere.
        labels: the index of a pandas Series.
    """

    values: Any
    wrap: Callable[[Any], Any]
    null: NDArray[np.bool_] | None = None
    labels: Any = None


def open_column(name: str, value: Any) -> Column | None:
    """Open `value` if it is a Series, an Index or an extension array of pandas, or a Series of polars.

    Raises:
        TypeError: if it is a table, or its type has no integers or bytes.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(value, (pandas.DataFrame, *_pandas_types(pandas))):
        if isinstance(value, pandas.DataFrame):
            raise TypeError(f"{name}: a DataFrame is a table: give one of its columns")
        return _open_pandas(name, value, pandas)
    if polars is not None and isinstance(value, polars.Series):
        return _open_polars(name, value, polars)
    return None


def check_labels(named: dict[str, Any]) -> None:
    """Raise ValueError where Series of pandas have different indices: items are matched by position.

    `named`: the index of each operand that is a Series, and None for the others.
    """
    first = None
    for name, labels in named.items():
        if labels is None:
            continue
        if first is None:
            first = name
        elif not named[first].equals(labels):
            raise ValueError(
                f"{first} and {name} are Series of different indices: align them, or give .array of each to "
                "match them by position"
            )


def object_nulls(values: NDArray[np.object_]) -> NDArray[np.bool_] | None:
    """Where objects stand for no value (None, NaN, pandas.NA), None if there is nowhere such a one."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return _nulls(np.asarray(pandas.isna(values)))
    missing = [value is None or (isinstance(value, float) and math.isnan(value)) for value in values]
    return _nulls(np.array(missing, np.bool_))


def _nulls(null: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return null if null.any() else None


# ---- pandas ----------------------------------------------------------------------------------------------
def _pandas_types(pandas: Any) -> tuple[type, ...]:
    return pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray


def _open_pandas(name: str, value: Any, pandas: Any) -> Column:
    if isinstance(value, pandas.MultiIndex):
        raise TypeError(f"{name}: a pandas MultiIndex has several values in each row")
    if isinstance(value, pandas.Series):
        array, labels = value.array, value.index

        def wrap(result: Any) -> Any:
            return pandas.Series(_pandas_array(result, given, pandas), index=labels, name=value.name)
    else:
        array, labels = value.array if isinstance(value, pandas.Index) else value, None

        def wrap(result: Any) -> Any:
            made = _pandas_array(result, given, pandas)
            return pandas.Index(made, name=value.name) if isinstance(value, pandas.Index) else made

    if isinstance(array.dtype, pandas.CategoricalDtype):
        array = _categories(array, pandas)
    given = array
    # Text without Arrow's storage is an array of objects too.
    if isinstance(array, _numpy_arrays(pandas)) and not isinstance(array.dtype, pandas.StringDtype):
        values = array.to_numpy()
        return Column(values, wrap, object_nulls(values) if values.dtype.kind == "O" else None, labels)
    if _is_masked(array, pandas):
        null, plain = _nulls(np.asarray(array.isna())), array.dtype.numpy_dtype
        return Column(array.to_numpy(plain, na_value=plain.type(0)), wrap, null, labels)
    if not isinstance(array.dtype, (pandas.StringDtype, pandas.ArrowDtype)):
        raise TypeError(f"{name}: pandas dtype {array.dtype} is none of integers, objects, text, Arrow types")
    return Column(_arrow.to_arrow(array, f"{name}: pandas dtype {array.dtype}"), wrap, None, labels)


def _categories(array: Any, pandas: Any) -> Any:
    """The values of a Categorical: text, or objects."""
    if pandas.api.types.infer_dtype(array.categories) == "string":
        return array.astype("string")
    return pandas.array(np.asarray(array.astype(object)), dtype=object)


def _numpy_arrays(pandas: Any) -> Any:
    """The type of extension arrays over numpy arrays, which pandas renamed in 2.1."""
    arrays = pandas.arrays
    return arrays.NumpyExtensionArray if hasattr(arrays, "NumpyExtensionArray") else arrays.PandasArray


def _is_masked(array: Any, pandas: Any) -> bool:
    arrays = pandas.arrays
    return isinstance(array, (arrays.IntegerArray, arrays.FloatingArray, arrays.BooleanArray))


def _pandas_array(result: Any, given: Any, pandas: Any) -> Any:
    """What a Series of the kind of `given`, an extension array, is made of."""
    if isinstance(result, ma.MaskedArray):
        return _masked_array(result.data, ma.getmaskarray(result), pandas)
    if isinstance(result, np.ndarray):
        if result.dtype.kind == "O":
            return pandas.array(result, dtype=object)
        if _is_masked(given, pandas):
            return _masked_array(result, np.zeros(len(result), np.bool_), pandas)
        return result
    if isinstance(given.dtype, pandas.StringDtype) and _arrow.is_text(result):
        return given.dtype.__from_arrow__(result)
    return pandas.ArrowDtype(result.type).__from_arrow__(result)


def _masked_array(values: NDArray[Any], mask: NDArray[np.bool_], pandas: Any) -> Any:
    kind = pandas.arrays.BooleanArray if values.dtype.kind == "b" else pandas.arrays.IntegerArray
    return kind(values, mask)


# ---- polars ----------------------------------------------------------------------------------------------
def _open_polars(name: str, series: Any, polars: Any) -> Column:
    dtype = series.dtype

    def wrap(result: Any) -> Any:
        return _polars_series(result, series.name, polars)

    if str(dtype) in {"Int128", "UInt128"}:
        raise TypeError(f"{name}: polars {dtype} is not taken: cast it to Decimal(38, 0) or String")
    if dtype == polars.Object:
        values = np.empty(len(series), object)
        values[:] = series.to_list()
        return Column(values, wrap, object_nulls(values))
    if dtype == polars.Boolean:
        series = series.cast(polars.UInt8)
    if series.dtype.is_integer() or series.dtype.is_float():
        null = _nulls(series.is_null().to_numpy())
        return Column((series if null is None else series.fill_null(0)).to_numpy(), wrap, null)
    return Column(_arrow.to_arrow(series, f"{name}: polars {dtype}"), wrap)


def _polars_series(result: Any, name: str, polars: Any) -> Any:
    if isinstance(result, ma.MaskedArray):
        return polars.Series(name, result.data).set(polars.Series(ma.getmaskarray(result)), None)
    if isinstance(result, np.ndarray) and result.dtype.kind == "O":
        return polars.Series(name, result.tolist(), dtype=polars.Object)
    return polars.Series(name, result)
