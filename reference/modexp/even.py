# SPDX-License-Identifier: Apache-2.0
"""Powers modulo an even n = 2^k m, m odd.

Source: Ç. K. Koç, *Montgomery reduction with even modulus*, IEE Proc. Comput. Digit. Tech. 141 (1994).

The power is taken modulo m in Montgomery form and modulo 2^k by truncated products, and joined by
``x = x_m + m ((x_2 - x_m) m^-1 mod 2^k)``.
"""

from __future__ import annotations

from reference.modexp.windows import power_sliding, powmod
from reference.modmul.power_of_two import EvenSplit, PowerOfTwoRing


def powmod_even(base: int, exponent: int, n: int, word_bits: int = 64) -> int:
    """``base**exponent mod n`` for any ``n >= 1``, ``exponent >= 0``.

    >>> powmod_even(10, 77, 2**20 * 99) == pow(10, 77, 2**20 * 99)
    True
    """
    split = EvenSplit.of(n)
    x_odd = powmod(base, exponent, split.m, word_bits=word_bits)
    if split.k == 0:
        return x_odd
    ring = PowerOfTwoRing(split.k, word_bits)
    return split.combine(x_odd, ring.value(power_sliding(ring, ring.residue(base), exponent)))
