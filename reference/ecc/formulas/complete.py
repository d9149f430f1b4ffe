# SPDX-License-Identifier: Apache-2.0
"""Complete formulas in projective coordinates: x = X / Z, y = Y / Z; infinity is (0, 1, 0).

Source: J. Renes, C. Costello, L. Batina, *Complete addition formulas for prime order elliptic curves*,
EUROCRYPT 2016: algorithms 1 to 3 (any a), 4 to 6 (a = -3), 7 to 9 (a = 0).

Additions of two projective points have no exception on curves without points of order 2. The mixed ones only
lack an affine form of infinity. Each is::

    X3 = XY (YY - w) - YZ u        YY = Y1 Y2, XY = X1 Y2 + X2 Y1, YZ = Y1 Z2 + Y2 Z1, XZ = X1 Z2 + X2 Z1
    Y3 = v u + (YY + w) (YY - w)   w = a XZ + 3 b Z1 Z2,  v = 3 X1 X2 + a Z1 Z2
    Z3 = YZ (YY + w) + XY v        u = a X1 X2 + 3 b XZ - a^2 Z1 Z2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.formulas.formula import Formula, table
from reference.ecc.numbers import Cost

if TYPE_CHECKING:
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")
Pair = tuple[N, N]
Triple = tuple[N, N, N]
Products = tuple[N, N, N, N, N, N]
"""X1 X2, Y1 Y2, Z1 Z2, XY, YZ, XZ."""


def _products(p: Triple[N], q: Triple[N]) -> Products[N]:
    """Six multiplications and 15 additions."""
    (x1, y1, z1), (x2, y2, z2) = p, q
    xx, yy, zz = x1 * x2, y1 * y2, z1 * z2
    xy = (x1 + y1) * (x2 + y2) - (xx + yy)
    yz = (y1 + z1) * (y2 + z2) - (yy + zz)
    xz = (x1 + z1) * (x2 + z2) - (xx + zz)
    return xx, yy, zz, xy, yz, xz


def _mixed_products(p: Triple[N], q: Pair[N]) -> Products[N]:
    """Five multiplications and 7 additions: Z2 = 1."""
    (x1, y1, z1), (x2, y2) = p, q
    xx, yy = x1 * x2, y1 * y2
    xy = (x1 + y1) * (x2 + y2) - (xx + yy)
    return xx, yy, z1, xy, y2 * z1 + y1, x2 * z1 + x1


def _sum(xy: N, yz: N, yy: N, w: N, v: N, u: N) -> Triple[N]:
    """Six multiplications and 5 additions."""
    minus, plus = yy - w, yy + w
    return xy * minus - yz * u, plus * minus + v * u, yz * plus + xy * v


def _add(products: Products[N], a: N, b3: N) -> Triple[N]:
    xx, yy, zz, xy, yz, xz = products
    a_zz = a * zz
    w = a * xz + b3 * zz
    return _sum(xy, yz, yy, w, 3 * xx + a_zz, a * (xx - a_zz) + b3 * xz)


def _add_a3(products: Products[N], b: N) -> Triple[N]:
    """a = -3: w = -3 (XZ - b Z1 Z2), v = 3 (X1 X2 - Z1 Z2), u = 3 (b XZ - X1 X2 - 3 Z1 Z2)."""
    xx, yy, zz, xy, yz, xz = products
    w = 3 * (xz - b * zz)
    zz3 = 3 * zz
    u = 3 * (b * xz - zz3 - xx)
    v = 3 * xx - zz3
    minus, plus = yy + w, yy - w
    return xy * minus - yz * u, plus * minus + v * u, yz * plus + xy * v


def _add_a0(products: Products[N], b3: N) -> Triple[N]:
    """a = 0: w = 3 b Z1 Z2, v = 3 X1 X2, u = 3 b XZ."""
    xx, yy, zz, xy, yz, xz = products
    return _sum(xy, yz, yy, b3 * zz, 3 * xx, b3 * xz)


def add(p: Triple[N], q: Triple[N], a: N, b3: N) -> Triple[N]:
    """Algorithm 1."""
    return _add(_products(p, q), a, b3)


def add_mixed(p: Triple[N], q: Pair[N], a: N, b3: N) -> Triple[N]:
    """Algorithm 2."""
    return _add(_mixed_products(p, q), a, b3)


def double(p: Triple[N], a: N, b3: N) -> Triple[N]:
    """Algorithm 3."""
    x, y, z = p
    xx, yy, zz = x.sqr(), y.sqr(), z.sqr()
    xy, xz, yz = 2 * (x * y), 2 * (x * z), 2 * (y * z)
    w = a * xz + b3 * zz
    minus, plus = yy - w, yy + w
    a_zz = a * zz
    u = a * (xx - a_zz) + b3 * xz
    return xy * minus - yz * u, plus * minus + (3 * xx + a_zz) * u, 4 * (yz * yy)


def add_a3(p: Triple[N], q: Triple[N], b: N) -> Triple[N]:
    """Algorithm 4."""
    return _add_a3(_products(p, q), b)


def add_mixed_a3(p: Triple[N], q: Pair[N], b: N) -> Triple[N]:
    """Algorithm 5."""
    return _add_a3(_mixed_products(p, q), b)


def double_a3(p: Triple[N], b: N) -> Triple[N]:
    """Algorithm 6."""
    x, y, z = p
    xx, yy, zz = x.sqr(), y.sqr(), z.sqr()
    xy, xz, yz = 2 * (x * y), 2 * (x * z), 2 * (y * z)
    w = 3 * (b * zz - xz)
    minus, plus = yy - w, yy + w
    zz3 = 3 * zz
    u = 3 * (b * xz - zz3 - xx)
    return xy * minus - yz * u, plus * minus + (3 * xx - zz3) * u, 4 * (yz * yy)


def add_a0(p: Triple[N], q: Triple[N], b3: N) -> Triple[N]:
    """Algorithm 7."""
    return _add_a0(_products(p, q), b3)


def add_mixed_a0(p: Triple[N], q: Pair[N], b3: N) -> Triple[N]:
    """Algorithm 8."""
    return _add_a0(_mixed_products(p, q), b3)


def double_a0(p: Triple[N], b3: N) -> Triple[N]:
    """Algorithm 9."""
    x, y, z = p
    yy = y.sqr()
    yy8 = 8 * yy
    w = b3 * z.sqr()
    z3 = y * z * yy8
    minus = yy - 3 * w
    return 2 * (minus * (x * y)), w * yy8 + minus * (yy + w), z3


_TWO = ("projective", "projective")
_MIXED = ("projective", "affine")
_RCB = "Renes, Costello, Batina 2016, algorithm "
_NO_INFINITY = "Q cannot be infinity"

FORMULAS = table(
    Formula("complete.add", _RCB + "1", Cost(12, 0, 5, 23), add, _TWO, "projective", ("a", "b3")),
    Formula(
        "complete.add_mixed",
        _RCB + "2",
        Cost(11, 0, 5, 17),
        add_mixed,
        _MIXED,
        "projective",
        ("a", "b3"),
        exceptions=_NO_INFINITY,
    ),
    Formula(
        "complete.double", _RCB + "3", Cost(8, 3, 5, 15), double, ("projective",), "projective", ("a", "b3")
    ),
    Formula("complete.add_a3", _RCB + "4", Cost(12, 0, 2, 29), add_a3, _TWO, "projective", ("b",)),
    Formula(
        "complete.add_mixed_a3",
        _RCB + "5",
        Cost(11, 0, 2, 23),
        add_mixed_a3,
        _MIXED,
        "projective",
        ("b",),
        exceptions=_NO_INFINITY,
    ),
    Formula(
        "complete.double_a3", _RCB + "6", Cost(8, 3, 2, 21), double_a3, ("projective",), "projective", ("b",)
    ),
    Formula("complete.add_a0", _RCB + "7", Cost(12, 0, 2, 19), add_a0, _TWO, "projective", ("b3",)),
    Formula(
        "complete.add_mixed_a0",
        _RCB + "8",
        Cost(11, 0, 2, 13),
        add_mixed_a0,
        _MIXED,
        "projective",
        ("b3",),
        exceptions=_NO_INFINITY,
    ),
    Formula(
        "complete.double_a0", _RCB + "9", Cost(6, 2, 1, 9), double_a0, ("projective",), "projective", ("b3",)
    ),
)
