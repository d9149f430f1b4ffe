# SPDX-License-Identifier: Apache-2.0
"""secp256k1's endomorphism: k P = k1 P + k2 phi(P) with k1 and k2 of half length.

Sources: Gallant, Lambert, Vanstone, CRYPTO 2001; libsecp256k1 ``scalar_impl.h`` (rounding by multiplication).

phi(x, y) = (beta x, y) is multiplication by lambda, lambda^2 + lambda + 1 = 0 modulo n. The lattice of (i, j)
with i + j lambda = 0 modulo n has the short basis (a1, b1), (a2, b2). With c1 = b2 k / n and c2 = -b1 k / n
rounded, k1 = k - c1 a1 - c2 a2 and k2 = -c1 b1 - c2 b2.

Bounds. g_i = round(2^384 v_i / n) with v_1 = b2, v_2 = -b1: the error of k g_i / 2^384 is at most
k / 2^385 < 2^-129, so |c_i - v_i k / n| <= 1/2 + 2^-129. Then (k1, k2) = e1 (a1, b1) + e2 (a2, b2) with such
e1, e2: |k1| <= (1/2 + 2^-129) (a1 + a2) < 2^127.7 and |k2| <= (1/2 + 2^-129) (|b1| + b2) < 2^127.2. Both are
below 2^128 in absolute value: signs and 128 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.curves import SECP256K1
from reference.ecc.scalar.variable_base import multiples, signed
from reference.modexp.recoding import signed_digits

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.ecc.groups import Group

P = TypeVar("P")

LAMBDA = 0x5363AD4CC05C30E0A5261C028812645A122E22EA20816678DF02967C1B23BD72
BETA = 0x7AE96A2B657C07106E64479EAC3434E99CF0497512F58995C1396C28719501EE
A1 = 0x3086D221A7D46BCDE86C90E49284EB15
B1 = -0xE4437ED6010E88286F547FA90ABFE4C3
A2 = 0x114CA50F7A8E2F3F657C1108D9D44CFD8
B2 = A1
SHIFT = 384
HALF_BITS = 128

G1 = ((B2 << SHIFT) + SECP256K1.n // 2) // SECP256K1.n
G2 = ((-B1 << SHIFT) + SECP256K1.n // 2) // SECP256K1.n


def decompose(k: int) -> tuple[int, int]:
    """``k1 + k2 lambda = k`` modulo n, both in absolute value below 2^128, for ``0 <= k < n``.

    >>> decompose(LAMBDA), decompose(1)
    ((0, 1), (1, 0))
    """
    assert 0 <= k < SECP256K1.n
    rounding = 1 << (SHIFT - 1)
    c1, c2 = (k * G1 + rounding) >> SHIFT, (k * G2 + rounding) >> SHIFT
    k1, k2 = k - c1 * A1 - c2 * A2, -c1 * B1 - c2 * B2
    assert abs(k1) < 1 << HALF_BITS
    assert abs(k2) < 1 << HALF_BITS
    return k1, k2


def multiply(group: Group[P], k: int, point: P, phi: Callable[[P], P], width: int = 5) -> P:
    """``k point``: signed windows of both halves over one chain of 128 doublings.

    The table of phi(point) is phi of the table: one multiplication an entry.
    """
    halves = decompose(k)
    table = multiples(group, point, 1 << (width - 1))
    tables = [table, [phi(entry) for entry in table]]
    digits = [signed_digits(abs(half), width, HALF_BITS) for half in halves]
    result = group.one()
    for i in range(len(digits[0]) - 1, -1, -1):
        if i != len(digits[0]) - 1:
            for _ in range(width):
                result = group.sqr(result)
        for half in range(2):
            digit = digits[half][i]
            negative = (digit < 0) != (halves[half] < 0)
            result = group.mul(result, signed(group, tables[half], abs(digit), negative))
    return result
