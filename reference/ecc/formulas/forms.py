# SPDX-License-Identifier: Apache-2.0
"""Coordinates of affine points in the form that a formula takes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference.ecc.curves import Affine, Point
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")


def to_form(form: str, point: Point, scale: int, p: int, number: Callable[[int], N]) -> tuple[N, ...]:
    """Coordinates of a point, with a Z of ``scale``, which must not be 0; 1 for infinity's free coordinates.

    >>> to_form("jacobian", (5, 6), 2, 13, int)
    (7, 9, 2)
    >>> to_form("projective", None, 3, 13, int)
    (0, 3, 0)
    """
    if point is None:
        infinity = {
            "jacobian": (1, 1, 0),
            "projective": (0, scale, 0),
            "xyzz": (1, 1, 0, 0),
            "xz": (scale, 0),
        }
        return tuple(number(x) for x in infinity[form])
    x, y = point
    z, zz, zzz = scale, scale**2, scale**3
    coordinates = {
        "affine": (x, y),
        "jacobian": (x * zz, y * zzz, z),
        "projective": (x * z, y * z, z),
        "edwards": (x * z, y * z, z),
        "extended": (x * z, y * z, z, x * y * z),
        "xyzz": (x * zz, y * zzz, zz, zzz),
        "xz": (x * z, z),
    }
    return tuple(number(value % p) for value in coordinates[form])


def from_form(form: str, coordinates: Sequence[int], p: int) -> Point:
    """The affine point; ``None`` where Z is 0.

    >>> from_form("jacobian", (7, 9, 2), 13)
    (5, 6)
    """
    x, y, z = coordinates[:3]
    if z % p == 0:
        return None
    if form == "xyzz":
        zz, zzz = coordinates[2:]
        assert (zz**3 - zzz**2) % p == 0
        return x * pow(zz, -1, p) % p, y * pow(zzz, -1, p) % p
    inverse = pow(z, -1, p)
    if form == "jacobian":
        return x * inverse**2 % p, y * inverse**3 % p
    if form == "extended":
        assert (x * y - z * coordinates[3]) % p == 0
    return x * inverse % p, y * inverse % p


def prepared(point: Affine, d2: int, p: int, number: Callable[[int], N]) -> tuple[N, N, N]:
    """(y + x, y - x, 2 d x y) of an affine point of a twisted Edwards curve."""
    x, y = point
    return number((y + x) % p), number((y - x) % p), number(d2 * x * y % p)
