# SPDX-License-Identifier: Apache-2.0
"""Arithmetic modulo 2^k and the split of an even modulus n = 2^k m, m odd.

Sources: Ç. K. Koç, *Montgomery reduction with even modulus*, IEE Proc. Comput. Digit. Tech. 141 (1994);
HAC 14.71 (Garner's form of the Chinese remainder theorem).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.repr import from_words, to_words, words_for_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.repr import Words


@dataclass(frozen=True)
class PowerOfTwoRing:
    """Residues modulo 2^k, k >= 1, in ceil(k / word_bits) words; models :class:`Monoid`."""

    k: int
    word_bits: int = 64

    @property
    def length(self) -> int:
        """Words of a residue."""
        return words_for_bits(self.k, self.word_bits)

    def residue(self, value: int) -> Words:
        """``value mod 2^k`` for an integer of any sign."""
        return to_words(value % (1 << self.k), self.length, self.word_bits)

    def one(self) -> Words:
        """1; it is not 0 because k >= 1."""
        return self.residue(1)

    def mul(self, a: Words, b: Words) -> Words:
        """``a b mod 2^k``: the words below ``length`` of the product, L (L + 1) / 2 word products."""
        mask, length = (1 << self.word_bits) - 1, self.length
        t = [0] * length
        for i, b_i in enumerate(b):
            carry = 0
            for j in range(length - i):
                u = a[j] * b_i + t[i + j] + carry
                t[i + j], carry = u & mask, u >> self.word_bits
        t[-1] &= mask >> (length * self.word_bits - self.k)
        return tuple(t)

    def sqr(self, a: Words) -> Words:
        """``a^2 mod 2^k``."""
        return self.mul(a, a)

    def select(self, table: Sequence[Words], index: int) -> Words:
        """The entry at ``index``: even moduli are computed in variable time only."""
        return table[index]

    def value(self, a: Words) -> int:
        """The integer in [0, 2^k)."""
        return from_words(a, self.word_bits)


def inverse_power_of_two(m: int, k: int) -> int:
    """``m^-1 mod 2^k`` for odd m by Newton's iteration ``x <- x (2 - m x)``, from 3 right bits on."""
    x, bits = m, 3
    while bits < k:
        bits = min(2 * bits, k)
        x = x * (2 - m * x) % (1 << bits)
    return x % (1 << k)


@dataclass(frozen=True)
class EvenSplit:
    """``n = 2^k m`` and what the recombination needs."""

    k: int
    m: int
    m_inverse: int
    """m^-1 mod 2^k."""

    @staticmethod
    def of(n: int) -> EvenSplit:
        """Split ``n >= 1`` (odd n gives k = 0).

        >>> EvenSplit.of(24)
        EvenSplit(k=3, m=3, m_inverse=3)
        """
        if n < 1:
            raise ValueError("modulus must be positive")
        k = (n & -n).bit_length() - 1
        return EvenSplit(k, n >> k, inverse_power_of_two(n >> k, k))

    def combine(self, x_odd: int, x_two: int) -> int:
        """The x in [0, n) with ``x = x_odd mod m`` and ``x = x_two mod 2^k`` (HAC 14.71)."""
        assert 0 <= x_odd < self.m
        assert 0 <= x_two < 1 << self.k
        x = x_odd + self.m * ((x_two - x_odd) * self.m_inverse % (1 << self.k))
        assert 0 <= x < self.m << self.k
        return x
