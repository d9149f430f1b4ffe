# SPDX-License-Identifier: Apache-2.0
"""Key indices of every accepted kind, as the C ABI has them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _arrow
from manymod._limbs import refuse_mask
from manymod._series import object_nulls, open_column
from manymod.plan import checked_integer

__all__ = ["broadcast", "key_numbers", "length", "taken"]

_NO_INDICES = "key_indices must be an integer or a 1-D sequence of integers"


def key_numbers(value: Any, keys: int) -> tuple[NDArray[np.uint32] | None, Any]:
    """Return the indices, and those labels of theirs that a pandas Series has.

    Indices without a key become `keys`, of which the library says that there is no such key: negative ones,
    ones that are too high, and missing ones, as ``pyarrow.compute.index_in`` gives for a name that it does
    not find. Floats are taken where they are whole, since pandas makes floats of integers with gaps. None
    stands for the only key of all items.

    Raises:
        TypeError: if these are no indices, or None where there are several keys.
    """
    if value is None:
        if keys > 1:
            raise TypeError(f"key_indices are needed: they tell which of the {keys} keys an item has")
        return None, None
    refuse_mask("key_indices", value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        index = checked_integer("key_indices", value)
        return np.array(index if 0 <= index < keys else keys, np.uint32), None
    given, missing, labels = _opened(value)
    if _holds_flags(value):
        raise TypeError("key_indices must be an integer or a 1-D sequence of integers, not of bools")
    if given.ndim != 1 or (given.dtype.kind not in "iufO" and given.size):
        raise TypeError(_NO_INDICES)
    if given.dtype.kind == "O":
        given, missing = _of_objects(given, keys)
    elif given.dtype.kind == "f":
        given, missing = _of_floats(given, missing)
    if missing is None and given.size and given.min() >= 0 and given.max() < keys:
        return given.astype(np.uint32), labels  # a copy: calls may last until the caller changes the indices
    wrong = (given < 0) | (given >= keys)
    if missing is not None:
        wrong |= missing
    return np.where(wrong, keys, given).astype(np.uint32), labels


def _holds_flags(value: Any) -> bool:
    """Whether bools, which numpy and Arrow turn into numbers beside others, are among the indices."""
    if isinstance(value, (list, tuple)):
        return not {bool, np.bool_}.isdisjoint(map(type, value))
    return str(getattr(value, "dtype", "")) == "Boolean"  # polars


def _opened(value: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None, Any]:
    """As a numpy array, where that has no value, and labels."""
    column = open_column("key_indices", value)
    labels = None
    if column is not None:
        if isinstance(column.values, np.ndarray):
            return column.values, column.null, column.labels
        value, labels = column.values, column.labels
    arrow = _arrow.as_arrow("key_indices", value)
    if arrow is None:
        try:
            return np.asarray(value), None, labels
        except ValueError:  # sequences of different lengths
            raise TypeError(_NO_INDICES) from None
    array = _arrow.plain(arrow).array
    if _arrow.is_text(array):
        raise TypeError("key_indices are text: give the positions of these keys (pyarrow.compute.index_in)")
    return array.to_numpy(zero_copy_only=False), _arrow.null_mask(array), labels


def _of_objects(given: NDArray[Any], keys: int) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    indices = np.full(len(given), keys, np.int64)
    missing = object_nulls(given)
    present = range(len(given)) if missing is None else np.flatnonzero(~missing).tolist()
    for item in present:
        value = given[item]
        try:
            if isinstance(value, bool):
                raise TypeError
            index = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
        except TypeError:
            raise TypeError(f"key_indices: item {item} is {value!r}, no integer") from None
        if 0 <= index < keys:
            indices[item] = index
    return indices, missing


def _of_floats(
    given: NDArray[Any], missing: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    absent = np.isnan(given) if missing is None else missing | np.isnan(given)
    whole = np.where(absent, 0, given)
    wrong = whole != np.floor(whole)
    if wrong.any():
        item = int(np.argmax(wrong))
        raise TypeError(f"key_indices: item {item} is {given[item]}, no integer")
    return np.clip(whole, -1, 2.0**62).astype(np.int64), absent


def length(indices: NDArray[np.uint32] | None) -> int | None:
    """The number of indices, None where one stands for every item."""
    return None if indices is None or indices.ndim == 0 else len(indices)


def broadcast(indices: NDArray[np.uint32] | None, count: int) -> NDArray[np.uint32] | None:
    """One index for each of `count` items; None: 0 for all, for which the library reads no array."""
    if indices is None or (indices.ndim == 0 and indices == 0):
        return None
    return np.ascontiguousarray(np.broadcast_to(indices, (count,)))


def taken(indices: NDArray[np.uint32] | None, rows: NDArray[np.intp]) -> NDArray[np.uint32] | None:
    """The indices of these items."""
    return indices if indices is None or indices.ndim == 0 else indices[rows]
