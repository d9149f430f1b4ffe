# SPDX-License-Identifier: Apache-2.0
"""Groups of points as ``reference/modexp`` needs them: ``mul`` adds, ``sqr`` doubles, ``inv`` negates.

:class:`AffineGroup` and :class:`EdwardsGroup` are the textbook laws, for comparison with everything else.
:class:`JacobianGroup` is what scalar multiplications run on: incomplete formulas, each exceptional case
decided by the operands and selected afterwards, as code without branches does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from reference.ecc.formulas import jacobian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.ecc.curves import Affine, Edwards, Point, Weierstrass
    from reference.ecc.numbers import PrimeField, Residue

P = TypeVar("P")
Jacobian = tuple["Residue", "Residue", "Residue"]


class Group(Protocol[P]):
    """A monoid of ``reference/modexp/monoid.py`` with inverses."""

    def one(self) -> P:
        """The neutral element."""
        ...

    def mul(self, a: P, b: P) -> P:
        """``a + b``."""
        ...

    def sqr(self, a: P) -> P:
        """``2 a``."""
        ...

    def inv(self, a: P) -> P:
        """``-a``."""
        ...

    def select(self, table: Sequence[P], index: int) -> P:
        """``table[index]``."""
        ...


@dataclass(frozen=True)
class AffineGroup:
    """Points of a Weierstrass curve by the chord and tangent law, every case written out."""

    curve: Weierstrass

    def one(self) -> Point:
        """Infinity."""
        return None

    def inv(self, a: Point) -> Point:
        """``-a``."""
        return None if a is None else (a[0], -a[1] % self.curve.p)

    def mul(self, a: Point, b: Point) -> Point:
        """``a + b``.

        >>> from reference.ecc.curves import P256
        >>> group = AffineGroup(P256)
        >>> group.mul(P256.generator, group.inv(P256.generator)) is None
        True
        """
        if a is None or b is None:
            return b if a is None else a
        p = self.curve.p
        (x1, y1), (x2, y2) = a, b
        if x1 == x2:
            if (y1 + y2) % p == 0:
                return None
            slope = (3 * x1 * x1 + self.curve.a) * pow(2 * y1, -1, p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, p)
        x3 = (slope * slope - x1 - x2) % p
        return x3, (slope * (x1 - x3) - y1) % p

    def sqr(self, a: Point) -> Point:
        """``2 a``."""
        return self.mul(a, a)

    def select(self, table: Sequence[Point], index: int) -> Point:
        """Plain indexing."""
        return table[index]


@dataclass(frozen=True)
class EdwardsGroup:
    """Points of a complete twisted Edwards curve; the neutral element is (0, 1)."""

    curve: Edwards

    def one(self) -> Affine:
        """(0, 1)."""
        return (0, 1)

    def inv(self, a: Affine) -> Affine:
        """``-a``."""
        return (-a[0] % self.curve.p, a[1])

    def mul(self, a: Affine, b: Affine) -> Affine:
        """``a + b``; the denominators of a complete curve are never 0."""
        p = self.curve.p
        (x1, y1), (x2, y2) = a, b
        product = self.curve.d * x1 * x2 * y1 * y2
        x3 = (x1 * y2 + y1 * x2) * pow(1 + product, -1, p) % p
        return x3, (y1 * y2 - self.curve.a * x1 * x2) * pow(1 - product, -1, p) % p

    def sqr(self, a: Affine) -> Affine:
        """``2 a``."""
        return self.mul(a, a)

    def select(self, table: Sequence[Affine], index: int) -> Affine:
        """Plain indexing."""
        return table[index]


@dataclass
class JacobianGroup:
    """Points (X, Y, Z) of a Weierstrass curve; counts additions, doublings and reads of tables."""

    curve: Weierstrass
    additions: int = field(default=0, init=False)
    doublings: int = field(default=0, init=False)
    exceptional: int = field(default=0, init=False)
    selections: int = field(default=0, init=False)
    field: PrimeField = field(init=False)

    def __post_init__(self) -> None:
        self.field = self.curve.field
        self._a = self.field.curve_constant(self.curve.a)

    def one(self) -> Jacobian:
        """Infinity: (1, 1, 0)."""
        return self.field(1), self.field(1), self.field(0)

    def point(self, point: Point) -> Jacobian:
        """Jacobian coordinates with Z = 1 of an affine point."""
        if point is None:
            return self.one()
        return self.field(point[0]), self.field(point[1]), self.field(1)

    def affine(self, a: Jacobian) -> Point:
        """Affine coordinates."""
        x, y, z = a
        if not z:
            return None
        inverse = z.inverse()
        square = inverse.sqr()
        return int(x * square), int(y * square * inverse)

    def inv(self, a: Jacobian) -> Jacobian:
        """``-a``."""
        return a[0], -a[1], a[2]

    def sqr(self, a: Jacobian) -> Jacobian:
        """``2 a`` by the formula for this curve's a."""
        self.doublings += 1
        if self.curve.a == 0:
            return jacobian.dbl_2009_l(a)
        if self.curve.a == -3:
            return jacobian.dbl_2001_b(a)
        return jacobian.dbl_1998_cmo_2(a, self._a)

    def mul(self, a: Jacobian, b: Jacobian) -> Jacobian:
        """``a + b``: the mixed formula where Z of b is 1; exceptional cases selected afterwards."""
        self.additions += 1
        is_affine = int(b[2]) == 1
        total = jacobian.madd_2007_bl(a, b[:2]) if is_affine else jacobian.add_2007_bl(a, b)
        if a[2] and b[2] and total[2]:
            return total
        self.exceptional += 1
        if not a[2]:
            return b
        if not b[2]:
            return a
        # H = 0: both operands have one x. The formula's (0, 0, 0) means that they are equal.
        if not total[0] and not total[1]:
            return self.sqr(a)
        return total

    def select(self, table: Sequence[Jacobian], index: int) -> Jacobian:
        """Plain indexing."""
        self.selections += 1
        return table[index]


def multiply(curve: Weierstrass, k: int, point: Point) -> Point:
    """``k point`` for any integer k, by doubling and adding.

    >>> from reference.ecc.curves import P256
    >>> multiply(P256, P256.n, P256.generator) is None
    True
    >>> multiply(P256, -1, P256.generator) == AffineGroup(P256).inv(P256.generator)
    True
    """
    group = JacobianGroup(curve)
    base = group.point(point if k >= 0 else AffineGroup(curve).inv(point))
    result = group.one()
    for bit in f"{abs(k):b}":
        result = group.sqr(result)
        if bit == "1":
            result = group.mul(result, base)
    return group.affine(result)


def multiply_edwards(curve: Edwards, k: int, point: Affine) -> Affine:
    """``k point`` for ``k >= 0`` in projective coordinates, by the formulas of RFC 8032 for any a.

    >>> from reference.ecc.curves import EDWARDS25519
    >>> multiply_edwards(EDWARDS25519, EDWARDS25519.n, EDWARDS25519.generator)
    (0, 1)
    """
    p, a, d = curve.p, curve.a, curve.d
    x, y, z = 0, 1, 1
    px, py = point
    for bit in f"{k:b}":
        b, c, e = (x + y) ** 2 % p, x * x % p, y * y % p
        f = (a * c + e) % p
        j = f - 2 * z * z
        x, y, z = (b - c - e) * j % p, f * (a * c - e) % p, f * j % p
        if bit == "1":
            c, e, square = x * px % p, y * py % p, z * z % p
            product = d * c * e % p
            f, g = square - product, square + product
            x, y, z = z * f * ((x + y) * (px + py) - c - e) % p, z * g * (e - a * c) % p, f * g % p
    inverse = pow(z, -1, p)
    return x * inverse % p, y * inverse % p
