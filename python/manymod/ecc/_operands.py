# SPDX-License-Identifier: Apache-2.0
"""Operands of calls on curves: byte strings, points and scalars."""

from __future__ import annotations

import operator
from typing import Any, Literal, SupportsIndex, TypeGuard

import numpy as np

from manymod._byte_items import Items, Kind, items
from manymod._device import is_on_device
from manymod.errors import DeviceError

__all__ = ["byte_items", "is_integer", "point_items", "scalar_items"]


def is_integer(value: Any) -> TypeGuard[SupportsIndex]:
    """Whether `value` is an integer of any class, as a numpy integer is, although it is a buffer too."""
    return _is_integer_class(type(value))


def _is_integer_class(kind: type) -> bool:
    return hasattr(kind, "__index__") and not issubclass(kind, (bool, np.ndarray))


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

    An int that has more becomes no bytes, for which calls have a status as for any that are too few. Without
    a size, as where curves differ in it, ints are refused.
    """

    def encoded(scalar: Any) -> Any:
        if not is_integer(scalar):
            return scalar
        if size is None:
            raise ValueError(f"{name}: the curves differ in the size of scalars: give bytes, not ints")
        number = operator.index(scalar)
        return number.to_bytes(size, order) if 0 <= number < 1 << 8 * size else b""

    given = byte_items(name, encoded(value))
    if isinstance(given.block, tuple) and any(map(_is_integer_class, set(map(type, given.block)))):
        given.block = tuple(map(encoded, given.block))
    return given
