# SPDX-License-Identifier: Apache-2.0
"""Montgomery's ladder on x alone: the same step for every bit, operands exchanged under a mask.

Sources: Montgomery 1987; RFC 7748, section 5; Brier, Joye 2002 (Weierstrass curves).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.ecc.formulas import ladder
from reference.ecc.numbers import PrimeField

if TYPE_CHECKING:
    from reference.ecc.curves import Montgomery, Weierstrass


def montgomery(curve: Montgomery, k: int, u: int) -> int:
    """The u of k (u, v), 0 for infinity, by ``curve.bits`` steps; u is reduced modulo p. k < 2^bits.

    (0, 0) of order 2 and points of the twist are operands as any others.
    """
    f = PrimeField(curve.p)
    x1, a24 = f(u), f.curve_constant(curve.a24)
    x2, z2, x3, z3 = f(1), f(0), x1, f(1)
    assert 0 <= k < 1 << curve.bits
    swapped = 0
    for i in range(curve.bits - 1, -1, -1):
        bit = k >> i & 1
        if swapped ^ bit:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swapped = bit
        x2, z2, x3, z3 = ladder.step((x2, z2), (x3, z3), x1, a24)
    if swapped:
        x2, z2 = x3, z3
    return int(x2 * z2.inverse())


def weierstrass(curve: Weierstrass, k: int, x: int, bits: int) -> int | None:
    """The x of k P for the x of P, ``None`` for infinity; x not 0, as the difference must have an affine X.

    With x = 0 the sum of a step would have Z = 0: callers add a multiple of another point, or use windows.
    """
    assert x % curve.p != 0
    assert 0 <= k < 1 << bits
    f = curve.field
    x1, a, b4 = f(x), f.curve_constant(curve.a), f.curve_constant(4 * curve.b)
    low, high = (f(1), f(0)), (x1, f(1))
    for i in range(bits - 1, -1, -1):
        if k >> i & 1:
            low, high = ladder.add_weierstrass(low, high, x1, a, b4), ladder.double_weierstrass(high, a, b4)
        else:
            low, high = ladder.double_weierstrass(low, a, b4), ladder.add_weierstrass(low, high, x1, a, b4)
    return int(low[0] * low[1].inverse()) if low[1] else None
