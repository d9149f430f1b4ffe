# SPDX-License-Identifier: Apache-2.0
"""Operands of every accepted kind, as batches in canonical form."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod._arrow import as_arrow, is_arrow
from manymod._arrow_operands import arrow_operand
from manymod._device import DLPACK_CPU, DLPACK_CUDA, device_operand
from manymod._device_packages import importer_of
from manymod._limbs import refuse_mask
from manymod._operand_kinds import Binary, Integers, Kind, LimbRows, Operand, Scalar, Sequenced, index_of
from manymod._series import Column, check_labels, open_column
from manymod.errors import DeviceError
from manymod.intarray import IntArray

__all__ = ["broadcast_row", "common_length", "operand"]


def _from_numpy(name: str, array: NDArray[Any]) -> Operand:
    code = array.dtype.kind
    if array.ndim == 0 and code in "iubO":
        return Scalar(name, index_of(name, array.item()))
    if array.ndim == 1 and code in "iub":
        return Integers(name, array, Kind.INTEGERS)
    if array.ndim == 1 and code == "O":
        return Sequenced(name, array.tolist(), Kind.OBJECTS)
    if array.ndim == 2 and code == "u":
        if array.dtype.itemsize == 8:
            return LimbRows(name, array, None, Kind.LIMBS)
        if array.dtype.itemsize == 1:
            return Binary(name, array, Kind.BYTES)
    if code == "f":
        raise TypeError(
            f"{name}: {array.dtype} holds floats, which are exact up to 2^53 alone: convert it to integers "
            "(pandas makes floats of integers with gaps: convert_dtypes() or dtype 'Int64' keeps them)"
        )
    raise TypeError(
        f"{name}: {array.dtype}{list(array.shape)} is none of uint64[N, L] limbs, uint8[N, W] big-endian "
        "bytes, 1-D integers, 1-D objects"
    )


def _from_column(name: str, column: Column) -> Operand:
    """The operand of a column of pandas or polars."""
    result: Operand
    if not isinstance(column.values, np.ndarray):
        result = arrow_operand(name, column.values)
    elif column.values.dtype.kind == "O":
        values = column.values.tolist()
        for item in () if column.null is None else np.flatnonzero(column.null):
            values[item] = 0
        result = Sequenced(name, values, Kind.OBJECTS)
    else:
        result = _from_numpy(name, column.values)
        result.kind = Kind.COLUMN_INTEGERS
    if column.null is not None:
        result.null = column.null
    result.wrap, result.labels = column.wrap, column.labels
    return result


def _from_dlpack(name: str, producer: Any) -> Operand:
    device = producer.__dlpack_device__()[0]
    if device in DLPACK_CUDA:
        return device_operand(name, producer)
    if device != DLPACK_CPU:
        raise DeviceError(f"{name} is on DLPack device type {int(device)}, neither the CPU nor CUDA")
    result = _from_numpy(name, np.from_dlpack(producer))
    result.wrap = importer_of(producer)
    return result


def _array_operand(name: str, value: Any) -> Operand | None:
    """The operand of an array or a column of any package, None if `value` is neither."""
    refuse_mask(name, value)
    if isinstance(value, np.ndarray):
        return _from_numpy(name, value)
    if isinstance(value, IntArray):
        return LimbRows(name, value._limbs, value._negative, Kind.INTARRAY)
    column = open_column(name, value)
    if column is not None:
        return _from_column(name, column)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__") and not is_arrow(value):
        return _from_dlpack(name, value)
    arrow = as_arrow(name, value)
    return None if arrow is None else arrow_operand(name, arrow)


def operand(name: str, value: Any) -> Operand:
    """Return the operand of `value`.

    Raises:
        TypeError: if it is of no accepted kind, or has an element that is not an integer.
    """
    if isinstance(value, (list, tuple)):
        return Sequenced(name, value)
    if isinstance(value, (int, np.integer)):
        return Scalar(name, index_of(name, value))  # a subclass of int may have an __int__ of its own
    if isinstance(value, np.bool_):
        return Scalar(name, int(value))
    array = _array_operand(name, value)
    if array is not None:
        return array
    if hasattr(type(value), "__index__"):
        return Scalar(name, index_of(name, value), _is_mpz(value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return Sequenced(name, value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: {type(value).__name__} is not a sequence: give list(...) of what it holds")
    raise TypeError(
        f"{name}: {type(value).__name__} is neither an integer nor a batch of integers (list, IntArray, "
        "numpy, Arrow or DLPack array, column of pandas or polars; for bytes see IntArray.from_bytes)"
    )


def _is_mpz(value: Any) -> bool:
    gmpy2 = sys.modules.get("gmpy2")
    return gmpy2 is not None and isinstance(value, gmpy2.mpz)


_ROW_KINDS = frozenset({Kind.LIMBS, Kind.BYTES, Kind.DEVICE_LIMBS})


def _is_row(item: Operand) -> bool:
    """Whether it is one integer given as a row of a 2-D array."""
    return item.count == 1 and item.kind in _ROW_KINDS


def broadcast_row(item: Operand, count: int | None) -> None:
    """Let one row of a 2-D array, ``[1, L]``, stand for every one of `count` items."""
    if count != 1 and _is_row(item):
        item.count = None


def _hint(item: Operand, other: Operand) -> str:
    """What may have been meant where lengths differ."""
    for array in (item, other):
        if array.kind in {Kind.INTEGERS, Kind.DEVICE_INTEGERS}:
            return (
                f" ({array.name} is a 1-D array, so that many small integers; the limbs of one big integer "
                "are an array uint64[1, L])"
            )
    if item.count == 1 or other.count == 1:
        return " (give one integer for every item as an int, not as a sequence)"
    return ""


def common_length(operands: Sequence[Operand]) -> int | None:
    """Length of the batch, None if all operands are scalars; single rows of 2-D arrays become scalars.

    Raises:
        ValueError: if two operands have different lengths, or two Series of pandas different indices.
    """
    first: Operand | None = None
    rows = [item for item in operands if _is_row(item)]
    if rows:
        longer = next((item.count for item in operands if item.count is not None and item not in rows), 1)
        for item in rows:
            broadcast_row(item, longer)
    labelled = False
    for item in operands:
        labelled |= item.labels is not None
        if item.count is None:
            continue
        if first is None:
            first = item
        elif item.count != first.count:
            raise ValueError(
                f"lengths differ: {first.name} has {first.count} items, {item.name} has {item.count}"
                + _hint(first, item)
            )
    if labelled:
        check_labels({item.name: item.labels for item in operands})
    return None if first is None else first.count
