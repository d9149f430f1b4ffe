# SPDX-License-Identifier: Apache-2.0
"""Operands of calls on curves: byte strings, points and scalars."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from manymod._byte_items import Items, Kind, items
from manymod._device import is_on_device
from manymod.errors import DeviceError
from manymod.plan import checked_integer

__all__ = ["byte_items", "point_items", "scalar_items"]

_INTEGERS = (int, np.integer)


def byte_items(name: str, value: Any) -> Items:
    """The items of an operand.

    Raises:
        DeviceError: if it is in the memory of a GPU.
        TypeError: if it is of no accepted kind.
    """
    if is_on_device(value):
        raise DeviceError(f"{name}: calls on curves take host arrays: copy it there, as .get() of CuPy does")
    return items(name, value)


def point_items(name: str, value: Any, *, infinity_is_zero: bool) -> Items:
    """The items of an operand of points.

    With `infinity_is_zero`, as on Weierstrass curves, a row of zeros, which the point at infinity is in
    ``uint8[N, W]``, is the one zero byte that it is alone.
    """
    points = byte_items(name, value)
    if not infinity_is_zero or points.kind is not Kind.ROWS or points.block.shape[1] < 2:
        return points
    # Sums over short rows take long: few rows begin with 0.
    candidates = np.flatnonzero(points.block[:, 0] == 0)
    empty = frozenset(candidates[~points.block[candidates].any(axis=1)].tolist())
    if not empty:
        return points
    block = (b"\0" if item in empty else row for item, row in enumerate(points.block))
    return Items(Kind.ROWS, points.count, tuple(block))


def scalar_items(name: str, value: Any, size: int | None, order: Literal["big", "little"] = "big") -> Items:
    """The items of an operand of scalars, which may be ints too: they become `size` bytes in this order.

    Without a size, as where curves differ in it, ints are refused.
    """
    if isinstance(value, _INTEGERS) and not isinstance(value, bool):
        return items(name, _of_int(name, value, size, order))
    # A numpy integer is a buffer, too, of as many bytes as its type has.
    if isinstance(value, (list, tuple)) and any(isinstance(scalar, _INTEGERS) for scalar in value):
        return items(name, [_of_int(name, scalar, size, order) for scalar in value])
    return byte_items(name, value)


def _of_int(name: str, value: Any, size: int | None, order: Literal["big", "little"]) -> bytes:
    if size is None:
        raise ValueError(f"{name}: the curves differ in the size of scalars: give bytes, not ints")
    number = checked_integer(name, value)
    if number < 0 or number.bit_length() > 8 * size:
        raise ValueError(f"{name}: an int is not within 0 to 2^{8 * size} - 1")
    return number.to_bytes(size, order)
