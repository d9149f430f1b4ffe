# SPDX-License-Identifier: Apache-2.0
"""Jacobian coordinates: x = X / Z^2, y = Y / Z^3; Z = 0 is the point at infinity.

Sources: the Explicit-Formulas Database (Bernstein, Lange), shortw/jacobian; the names are its own. Giorgi,
Izard, Tisserand 2009, section 3.1, print no formulas but count 16 multiplications for an addition and 9 for a
doubling: that is ``add-1998-cmo-2`` (12M+4S) and ``dbl-1998-cmo-2`` without the product by a (3M+6S, a = 1 or
small), the formulas of the book that they cite. With any a the doubling is 10.

No formula is complete. Additions give (0, 0, 0) for P + P and a Z of 0 for P + (-P), the right point at
infinity. With an operand at infinity they give a Z of 0, which is wrong. Doublings have no exception: the
double of infinity and of points with y = 0 has a Z of 0.
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


def add_1998_cmo_2(p: Triple[N], q: Triple[N]) -> Triple[N]:
    """``p + q``; 16 multiplications, as in paper 003."""
    (x1, y1, z1), (x2, y2, z2) = p, q
    z1z1, z2z2 = z1.sqr(), z2.sqr()
    u1, u2 = x1 * z2z2, x2 * z1z1
    s1, s2 = y1 * z2 * z2z2, y2 * z1 * z1z1
    h, r = u2 - u1, s2 - s1
    hh = h.sqr()
    hhh = h * hh
    v = u1 * hh
    x3 = r.sqr() - hhh - 2 * v
    return x3, r * (v - x3) - s1 * hhh, z1 * z2 * h


def add_2007_bl(p: Triple[N], q: Triple[N]) -> Triple[N]:
    """``p + q``."""
    (x1, y1, z1), (x2, y2, z2) = p, q
    z1z1, z2z2 = z1.sqr(), z2.sqr()
    u1, u2 = x1 * z2z2, x2 * z1z1
    s1, s2 = y1 * z2 * z2z2, y2 * z1 * z1z1
    h = u2 - u1
    i = (2 * h).sqr()
    j = h * i
    r = 2 * (s2 - s1)
    v = u1 * i
    x3 = r.sqr() - j - 2 * v
    z3 = ((z1 + z2).sqr() - z1z1 - z2z2) * h
    return x3, r * (v - x3) - 2 * (s1 * j), z3


def madd_2007_bl(p: Triple[N], q: Pair[N]) -> Triple[N]:
    """``p + q`` for affine q."""
    (x1, y1, z1), (x2, y2) = p, q
    z1z1 = z1.sqr()
    u2 = x2 * z1z1
    s2 = y2 * z1 * z1z1
    h = u2 - x1
    hh = h.sqr()
    i = 4 * hh
    j = h * i
    r = 2 * (s2 - y1)
    v = x1 * i
    x3 = r.sqr() - j - 2 * v
    z3 = (z1 + h).sqr() - z1z1 - hh
    return x3, r * (v - x3) - 2 * (y1 * j), z3


def madd(p: Triple[N], q: Pair[N]) -> Triple[N]:
    """``p + q`` for affine q, with one M more and one S less, and fewer additions."""
    (x1, y1, z1), (x2, y2) = p, q
    z1z1 = z1.sqr()
    h = x2 * z1z1 - x1
    r = y2 * z1 * z1z1 - y1
    hh = h.sqr()
    hhh = h * hh
    v = x1 * hh
    x3 = r.sqr() - hhh - 2 * v
    return x3, r * (v - x3) - y1 * hhh, z1 * h


def dbl_1998_cmo_2(p: Triple[N], a: N) -> Triple[N]:
    """``2 p`` for any a; 10 multiplications, or 9 where a takes none."""
    x1, y1, z1 = p
    xx, yy, zz = x1.sqr(), y1.sqr(), z1.sqr()
    s = 4 * (x1 * yy)
    m = 3 * xx + a * zz.sqr()
    t = m.sqr() - 2 * s
    return t, m * (s - t) - 8 * yy.sqr(), 2 * (y1 * z1)


def dbl_2007_bl(p: Triple[N], a: N) -> Triple[N]:
    """``2 p`` for any a, with squarings for multiplications."""
    x1, y1, z1 = p
    xx, yy, zz = x1.sqr(), y1.sqr(), z1.sqr()
    yyyy = yy.sqr()
    s = 2 * ((x1 + yy).sqr() - xx - yyyy)
    m = 3 * xx + a * zz.sqr()
    t = m.sqr() - 2 * s
    return t, m * (s - t) - 8 * yyyy, (y1 + z1).sqr() - yy - zz


def dbl_2001_b(p: Triple[N]) -> Triple[N]:
    """``2 p`` for a = -3."""
    x1, y1, z1 = p
    delta, gamma = z1.sqr(), y1.sqr()
    beta = x1 * gamma
    alpha = 3 * ((x1 - delta) * (x1 + delta))
    beta4 = 4 * beta
    x3 = alpha.sqr() - 2 * beta4
    z3 = (y1 + z1).sqr() - gamma - delta
    return x3, alpha * (beta4 - x3) - 8 * gamma.sqr(), z3


def dbl_2009_l(p: Triple[N]) -> Triple[N]:
    """``2 p`` for a = 0."""
    x1, y1, z1 = p
    a, b = x1.sqr(), y1.sqr()
    c = b.sqr()
    d = 2 * ((x1 + b).sqr() - a - c)
    e = 3 * a
    x3 = e.sqr() - 2 * d
    return x3, e * (d - x3) - 8 * c, 2 * (y1 * z1)


def mdbl_2007_bl(p: Pair[N], a: N) -> Triple[N]:
    """``2 p`` for affine p and any a."""
    x1, y1 = p
    xx, yy = x1.sqr(), y1.sqr()
    yyyy = yy.sqr()
    s = 2 * ((x1 + yy).sqr() - xx - yyyy)
    m = 3 * xx + a
    t = m.sqr() - 2 * s
    return t, m * (s - t) - 8 * yyyy, 2 * y1


_TWO = ("jacobian", "jacobian")
_MIXED = ("jacobian", "affine")
_ADDITIONS_FAIL = "P = Q gives (0, 0, 0); P or Q at infinity gives infinity"

FORMULAS = table(
    Formula(
        "add-1998-cmo-2",
        "EFD; Cohen, Miyaji, Ono 1998",
        Cost(12, 4, 0, 7),
        add_1998_cmo_2,
        _TWO,
        "jacobian",
        exceptions=_ADDITIONS_FAIL,
    ),
    Formula(
        "add-2007-bl",
        "EFD; Bernstein, Lange 2007",
        Cost(11, 5, 0, 13),
        add_2007_bl,
        _TWO,
        "jacobian",
        exceptions=_ADDITIONS_FAIL,
    ),
    Formula(
        "madd-2007-bl",
        "EFD; Bernstein, Lange 2007",
        Cost(7, 4, 0, 14),
        madd_2007_bl,
        _MIXED,
        "jacobian",
        exceptions=_ADDITIONS_FAIL,
    ),
    Formula(
        "madd",
        "EFD; Hankerson, Menezes, Vanstone 2004, algorithm 3.22",
        Cost(8, 3, 0, 7),
        madd,
        _MIXED,
        "jacobian",
        exceptions=_ADDITIONS_FAIL,
    ),
    Formula(
        "dbl-1998-cmo-2",
        "EFD; Cohen, Miyaji, Ono 1998",
        Cost(3, 6, 1, 13),
        dbl_1998_cmo_2,
        ("jacobian",),
        "jacobian",
        ("a",),
    ),
    Formula(
        "dbl-2007-bl",
        "EFD; Bernstein, Lange 2007",
        Cost(1, 8, 1, 17),
        dbl_2007_bl,
        ("jacobian",),
        "jacobian",
        ("a",),
    ),
    Formula("dbl-2001-b", "EFD; Bernstein 2001", Cost(3, 5, 0, 16), dbl_2001_b, ("jacobian",), "jacobian"),
    Formula("dbl-2009-l", "EFD; Lange 2009", Cost(2, 5, 0, 14), dbl_2009_l, ("jacobian",), "jacobian"),
    Formula(
        "mdbl-2007-bl",
        "EFD; Bernstein, Lange 2007",
        Cost(1, 5, 0, 15),
        mdbl_2007_bl,
        ("affine",),
        "jacobian",
        ("a",),
    ),
)
