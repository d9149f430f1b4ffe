# SPDX-License-Identifier: Apache-2.0
"""Formulas on x alone, as (X, Z), for Montgomery's ladder: x = X / Z; Z = 0 is the point at infinity.

Sources: RFC 7748, section 5 (Montgomery curves); Brier, Joye 2002 (Weierstrass curves; EFD shortw/xz,
dbl-2002-bj and mdadd-2002-bj).

A step maps (P, Q) with Q - P = D, D affine, to (2 P, P + Q). It has no exception but D = infinity, and on
Montgomery curves D = (0, 0), where the sum's Z is 0: X25519's all-zero result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.formulas.formula import Formula, table
from reference.ecc.numbers import Cost

if TYPE_CHECKING:
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")
Pair = tuple[N, N]


def step(p: Pair[N], q: Pair[N], x1: N, a24: N) -> tuple[N, N, N, N]:
    """``2 p`` and ``p + q`` on a Montgomery curve; x1 of q - p; a24 = (A - 2) / 4."""
    (x2, z2), (x3, z3) = p, q
    a, b = x2 + z2, x2 - z2
    aa, bb = a.sqr(), b.sqr()
    e = aa - bb
    da, cb = (x3 - z3) * a, (x3 + z3) * b
    return aa * bb, e * (aa + a24 * e), (da + cb).sqr(), x1 * (da - cb).sqr()


def add_weierstrass(p: Pair[N], q: Pair[N], x1: N, a: N, b4: N) -> Pair[N]:
    """``p + q`` on a Weierstrass curve; x1 of q - p; b4 = 4 b."""
    (x2, z2), (x3, z3) = p, q
    xx, zz, xz, zx = x2 * x3, z2 * z3, x2 * z3, x3 * z2
    difference = (xz - zx).sqr()
    return (xx - a * zz).sqr() - b4 * zz * (xz + zx), x1 * difference


def double_weierstrass(p: Pair[N], a: N, b4: N) -> Pair[N]:
    """``2 p`` on a Weierstrass curve: ((X^2 - a Z^2)^2 - 8 b X Z^3, 4 Z (X^3 + a X Z^2 + b Z^3))."""
    x, z = p
    xx, zz = x.sqr(), z.sqr()
    a_zz = a * zz
    xz = x * z
    b4_zz = b4 * zz
    return (xx - a_zz).sqr() - 2 * (xz * b4_zz), 4 * (xz * (xx + a_zz)) + b4_zz * zz


FORMULAS = table(
    Formula(
        "ladder.step",
        "RFC 7748, section 5",
        Cost(5, 4, 1, 8),
        step,
        ("xz", "xz", "difference"),
        "xz pair",
        ("a24",),
        exceptions="a difference of 0 gives Z = 0",
    ),
    Formula(
        "ladder.add_weierstrass",
        "Brier, Joye 2002",
        Cost(6, 2, 2, 4),
        add_weierstrass,
        ("xz", "xz", "difference"),
        "xz",
        ("a", "b4"),
    ),
    Formula(
        "ladder.double_weierstrass",
        "Brier, Joye 2002",
        Cost(4, 3, 2, 7),
        double_weierstrass,
        ("xz",),
        "xz",
        ("a", "b4"),
    ),
)
