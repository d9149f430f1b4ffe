# SPDX-License-Identifier: Apache-2.0
"""Indices of a batch, as numpy has them for an array of one dimension."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

__all__ = ["checked_index"]


def checked_index(index: Any, count: int) -> int | slice | NDArray[Any]:
    """Return `index` as a row within 0 to count - 1, a slice, a bool mask or an array of integers.

    Raises:
        IndexError: if it is out of range, of a wrong length, or for more than one dimension.
        TypeError: if it is no index.
    """
    if index is Ellipsis or isinstance(index, tuple):
        index = _only(index if isinstance(index, tuple) else ())
    if isinstance(index, slice):
        return index
    if hasattr(type(index), "__index__") and not isinstance(index, (bool, np.bool_, np.ndarray)):
        return _row(operator.index(index), count)
    if isinstance(index, ma.MaskedArray):
        raise TypeError("index is a numpy masked array, whose mask would be lost: give .filled(...) of it")
    array = np.asarray(index)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return _row(int(array), count)
    if array.size == 0 and array.dtype == np.float64 and isinstance(index, list):
        array = array.astype(np.intp)
    if array.dtype.kind == "O" and array.ndim == 1 and isinstance(index, list):
        array = np.array([_row(operator.index(item), count) for item in index], np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise TypeError("index must be an int, a slice, a bool mask or a 1-D integer array")
    if array.dtype.kind == "u" and array.max(initial=0) >= count and array.size:
        raise IndexError(f"index {array.max()} is out of range for {count} items")
    return array


def _only(parts: tuple[Any, ...]) -> Any:
    """The index of the one dimension; an ellipsis stands for none, or for it where nothing else does."""
    indices = [part for part in parts if part is not Ellipsis]
    if len(indices) > 1 or len(parts) - len(indices) > 1:
        raise IndexError(f"there is one dimension, but {len(parts)} indices were given")
    return indices[0] if indices else slice(None)


def _row(index: int, count: int) -> int:
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range for {count} items")
    return index % count
