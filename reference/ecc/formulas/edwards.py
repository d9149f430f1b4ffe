# SPDX-License-Identifier: Apache-2.0
"""Twisted Edwards curves: extended coordinates (X, Y, Z, T) with x = X / Z, y = Y / Z, T Z = X Y.

For a = 1 also projective coordinates (X, Y, Z).

Sources: Hisil, Wong, Carter, Dawson 2008 (EFD twisted/extended-1, extended); Bernstein, Lange 2007 (EFD
edwards/projective); RFC 8032, sections 5.1.4 and 5.2.4.

Where a is a square and d none, ``add_unified`` and ``add_projective`` have no exceptions. ``add_dedicated``
does without d, but fails for equal operands and where the sum or the difference has a coordinate 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.formulas.formula import Formula, table
from reference.ecc.numbers import Cost

if TYPE_CHECKING:
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")
Triple = tuple[N, N, N]
Quadruple = tuple[N, N, N, N]


def _finish(a: N, b: N, c: N, d: N) -> Quadruple[N]:
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f, g * h, f * g, e * h


def add_unified(p: Quadruple[N], q: Quadruple[N], d2: N) -> Quadruple[N]:
    """``p + q`` for a = -1; d2 = 2 d."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    return _finish((y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), t1 * t2 * d2, 2 * (z1 * z2))


def add_prepared(p: Quadruple[N], q: Triple[N]) -> Quadruple[N]:
    """``p + q`` for a = -1 and q prepared as (y + x, y - x, 2 d x y), as combs store it."""
    (x1, y1, z1, t1), (plus, minus, t2d2) = p, q
    return _finish((y1 - x1) * minus, (y1 + x1) * plus, t1 * t2d2, 2 * z1)


def add_dedicated(p: Quadruple[N], q: Quadruple[N]) -> Quadruple[N]:
    """``p + q`` for a = -1 and different p, q."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b = (y1 - x1) * (y2 + x2), (y1 + x1) * (y2 - x2)
    c, d = 2 * (z1 * t2), 2 * (t1 * z2)
    e, f, g, h = d + c, b - a, b + a, d - c
    return e * f, g * h, f * g, e * h


def double(p: Quadruple[N]) -> Quadruple[N]:
    """``2 p`` for a = -1; it does not read T, and T of the result can be left out before another doubling."""
    x1, y1, z1, _ = p
    a, b, c = x1.sqr(), y1.sqr(), 2 * z1.sqr()
    h = a + b
    e = h - (x1 + y1).sqr()
    g = a - b
    f = c + g
    return e * f, g * h, f * g, e * h


def _complex(p: Quadruple[N], x2: N, y2: N) -> tuple[N, N]:
    """X1 y2 + Y1 x2 and Y1 y2 - X1 x2 by three products (Gauss)."""
    x1, y1, _, _ = p
    s = y2 * (x1 + y1)
    return s - y1 * (y2 - x2), s - x1 * (x2 + y2)


def add_one(p: Quadruple[N], q: Quadruple[N], d: N) -> Quadruple[N]:
    """``p + q`` for a = 1, as ``src/ecc/formulas/edwards.hpp`` adds points whose d T is cached."""
    (_, _, z1, t1), (x2, y2, z2, t2) = p, q
    e, h = _complex(p, x2, y2)
    c, dd = t1 * (d * t2), z1 * z2
    f, g = dd - c, dd + c
    return e * f, g * h, f * g, e * h


def double_one(p: Quadruple[N]) -> Quadruple[N]:
    """``2 p`` for a = 1; it does not read T."""
    x1, y1, z1, _ = p
    a, b, c = x1.sqr(), y1.sqr(), z1.sqr()
    e, f = (x1 + y1).sqr() - a - b, a + b - 2 * c
    g, h = a + b, a - b
    return e * f, g * h, f * g, e * h


def add_projective(p: Triple[N], q: Triple[N], d: N) -> Triple[N]:
    """``p + q`` for a = 1."""
    (x1, y1, z1), (x2, y2, z2) = p, q
    a = z1 * z2
    b = a.sqr()
    c, dd = x1 * x2, y1 * y2
    e = c * dd * d
    f, g = b - e, b + e
    x3 = a * f * ((x1 + y1) * (x2 + y2) - c - dd)
    return x3, a * g * (dd - c), f * g


def double_projective(p: Triple[N]) -> Triple[N]:
    """``2 p`` for a = 1."""
    x1, y1, z1 = p
    b, c, d = (x1 + y1).sqr(), x1.sqr(), y1.sqr()
    e = c + d
    j = e - 2 * z1.sqr()
    return (b - e) * j, e * (c - d), e * j


_TWO = ("extended", "extended")

FORMULAS = table(
    Formula(
        "add-2008-hwcd-3", "EFD twisted/extended-1", Cost(8, 0, 1, 9), add_unified, _TWO, "extended", ("d2",)
    ),
    Formula(
        "madd-2008-hwcd-3 prepared",
        "EFD twisted/extended-1; Bernstein et al. 2011 (Ed25519)",
        Cost(7, 0, 0, 7),
        add_prepared,
        ("extended", "prepared"),
        "extended",
    ),
    Formula(
        "add-2008-hwcd-4",
        "EFD twisted/extended-1",
        Cost(8, 0, 0, 10),
        add_dedicated,
        _TWO,
        "extended",
        exceptions="P = Q gives (0, 0, 0, 0); the same where P - Q has order 2 or 4",
    ),
    Formula("dbl-2008-hwcd", "EFD twisted/extended-1", Cost(4, 4, 0, 6), double, ("extended",), "extended"),
    Formula("add-2008-hwcd a1", "EFD twisted/extended", Cost(9, 0, 1, 7), add_one, _TWO, "extended", ("d",)),
    Formula(
        "dbl-2008-hwcd a1", "EFD twisted/extended", Cost(4, 4, 0, 8), double_one, ("extended",), "extended"
    ),
    Formula(
        "add-2007-bl edwards",
        "EFD edwards/projective",
        Cost(10, 1, 1, 7),
        add_projective,
        ("edwards", "edwards"),
        "edwards",
        ("d",),
    ),
    Formula(
        "dbl-2007-bl edwards",
        "EFD edwards/projective",
        Cost(3, 4, 0, 6),
        double_projective,
        ("edwards",),
        "edwards",
    ),
)
