# SPDX-License-Identifier: Apache-2.0
"""Tiny curves, whose points can all be listed: for tests over all pairs of points and all scalars.

Production code takes curves of any p, so the same code runs on these. The idea is libsecp256k1's
(``tests_exhaustive.c``, curves of order 13 and 199).
"""

from __future__ import annotations

from itertools import product
from math import isqrt
from typing import TYPE_CHECKING

from reference.ecc.curves import Affine, Edwards, Point, Weierstrass
from reference.ecc.groups import AffineGroup, EdwardsGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ORDER = 300


def is_prime(n: int) -> bool:
    """By trial division.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return n > 1 and all(n % d for d in range(2, isqrt(n) + 1))


def weierstrass_points(curve: Weierstrass) -> list[Point]:
    """All points, infinity first."""
    roots: dict[int, list[int]] = {}
    for y in range(curve.p):
        roots.setdefault(y * y % curve.p, []).append(y)
    affine = [(x, y) for x in range(curve.p) for y in roots.get(curve.right_side(x), [])]
    return [None, *affine]


def edwards_points(curve: Edwards) -> list[Affine]:
    """All points; on a complete curve none is at infinity."""
    points = product(range(curve.p), range(curve.p))
    return [point for point in points if curve.contains(point)]


def search_weierstrass(
    p: int, a: int | None = None, cofactors: tuple[int, ...] = (1,)
) -> Iterator[Weierstrass]:
    """Curves over a prime p > 3 of order n h with n prime and h of ``cofactors``; any a where none is given.

    >>> next(search_weierstrass(43, 0)).n
    31
    """
    assert is_prime(p) and p > 3
    for a_value, b in product([a] if a is not None else range(1, p), range(1, p)):
        curve = Weierstrass(f"y^2 = x^3 + {a_value} x + {b} mod {p}", p, a_value, b, 0, (0, 0))
        if not curve.is_nonsingular:
            continue
        points = weierstrass_points(curve)
        for cofactor in cofactors:
            n, rest = divmod(len(points), cofactor)
            if rest or not is_prime(n) or n in {2, p}:
                continue
            multiples = (_times(AffineGroup(curve), cofactor, point) for point in points[1:])
            generator = next(point for point in multiples if point is not None)
            yield Weierstrass(curve.name, p, a_value, b, n, generator, cofactor)


def search_edwards(p: int, a: int, cofactor: int) -> Iterator[Edwards]:
    """Complete curves ``a x^2 + y^2 = 1 + d x^2 y^2`` of order n cofactor, n an odd prime.

    >>> next(search_edwards(29, -1, 4)).is_complete
    True
    """
    assert is_prime(p) and p > 3
    for d in range(2, p):
        curve = Edwards(f"{a} x^2 + y^2 = 1 + {d} x^2 y^2 mod {p}", p, a, d, 0, (0, 1), cofactor)
        if (a - d) % p == 0 or not curve.is_complete:
            continue
        points = edwards_points(curve)
        n, rest = divmod(len(points), cofactor)
        if rest or not is_prime(n) or n == 2:
            continue
        multiples = (_times(EdwardsGroup(curve), cofactor, point) for point in points)
        generator = next(point for point in multiples if point not in {None, (0, 1)})
        assert generator is not None
        yield Edwards(curve.name, p, a, d, n, generator, cofactor)


def _times(group: AffineGroup | EdwardsGroup, k: int, point: Point) -> Point:
    """``k point``, k >= 1, by additions."""
    total = point
    for _ in range(k - 1):
        total = group.mul(total, point)  # type: ignore[arg-type]  # a point of the group's own kind
    return total


TINY_A0 = next(search_weierstrass(43, 0))  #: order 31
TINY_A0_199 = next(curve for curve in search_weierstrass(211, 0) if curve.n == 199)
TINY_A3 = next(search_weierstrass(31, -3))
TINY_GENERAL = next(search_weierstrass(37, 5))
TINY_COFACTOR = next(search_weierstrass(41, 2, (4, 6, 8)))  #: has points of order 2
TINY_WIDE_ORDER = next(curve for curve in search_weierstrass(67, -3) if curve.n > 67)  #: x(R) is below n
TINY_NARROW_ORDER = next(
    curve for curve in search_weierstrass(67, -3) if curve.n < 64
)  #: x(R) may be n or more
TINY_EDWARDS = next(search_edwards(61, -1, 4))
TINY_EDWARDS_8 = next(search_edwards(101, -1, 8))
TINY_EDWARDS_A1 = next(search_edwards(59, 1, 4))

TINY_WEIERSTRASS = (TINY_A0, TINY_A3, TINY_GENERAL, TINY_WIDE_ORDER, TINY_NARROW_ORDER)
