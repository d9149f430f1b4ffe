# SPDX-License-Identifier: Apache-2.0
"""XYZZ coordinates: x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; ZZ = 0 is the point at infinity.

The buckets of Pippenger's algorithm use them: their mixed addition is the cheapest without an inversion.
Source: the Explicit-Formulas Database, shortw/xyzz; Sutherland 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.formulas.formula import Formula, table
from reference.ecc.numbers import Cost

if TYPE_CHECKING:
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")
Pair = tuple[N, N]
Quadruple = tuple[N, N, N, N]


def add_2008_s(p: Quadruple[N], q: Quadruple[N]) -> Quadruple[N]:
    """``p + q``."""
    (x1, y1, zz1, zzz1), (x2, y2, zz2, zzz2) = p, q
    u1, u2, s1, s2 = x1 * zz2, x2 * zz1, y1 * zzz2, y2 * zzz1
    h, r = u2 - u1, s2 - s1
    hh = h.sqr()
    hhh = h * hh
    v = u1 * hh
    x3 = r.sqr() - hhh - 2 * v
    return x3, r * (v - x3) - s1 * hhh, zz1 * zz2 * hh, zzz1 * zzz2 * hhh


def madd_2008_s(p: Quadruple[N], q: Pair[N]) -> Quadruple[N]:
    """``p + q`` for affine q."""
    (x1, y1, zz1, zzz1), (x2, y2) = p, q
    h, r = x2 * zz1 - x1, y2 * zzz1 - y1
    hh = h.sqr()
    hhh = h * hh
    v = x1 * hh
    x3 = r.sqr() - hhh - 2 * v
    return x3, r * (v - x3) - y1 * hhh, zz1 * hh, zzz1 * hhh


def dbl_2008_s_1(p: Quadruple[N], a: N) -> Quadruple[N]:
    """``2 p``."""
    x1, y1, zz1, zzz1 = p
    u = 2 * y1
    v = u.sqr()
    w = u * v
    s = x1 * v
    m = 3 * x1.sqr() + a * zz1.sqr()
    x3 = m.sqr() - 2 * s
    return x3, m * (s - x3) - w * y1, v * zz1, w * zzz1


def mdbl_2008_s_1(p: Pair[N], a: N) -> Quadruple[N]:
    """``2 p`` for affine p."""
    x1, y1 = p
    u = 2 * y1
    v = u.sqr()
    w = u * v
    s = x1 * v
    m = 3 * x1.sqr() + a
    x3 = m.sqr() - 2 * s
    return x3, m * (s - x3) - w * y1, v, w


_FAIL = "P = Q gives ZZ = 0 with X = 0; P or Q at infinity gives ZZ = 0"
_SOURCE = "EFD; Sutherland 2008"

FORMULAS = table(
    Formula("add-2008-s", _SOURCE, Cost(12, 2, 0, 7), add_2008_s, ("xyzz", "xyzz"), "xyzz", exceptions=_FAIL),
    Formula(
        "madd-2008-s", _SOURCE, Cost(8, 2, 0, 7), madd_2008_s, ("xyzz", "affine"), "xyzz", exceptions=_FAIL
    ),
    Formula("dbl-2008-s-1", _SOURCE, Cost(6, 4, 1, 8), dbl_2008_s_1, ("xyzz",), "xyzz", ("a",)),
    Formula("mdbl-2008-s-1", _SOURCE, Cost(4, 3, 0, 8), mdbl_2008_s_1, ("affine",), "xyzz", ("a",)),
)
