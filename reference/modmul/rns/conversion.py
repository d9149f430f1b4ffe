# SPDX-License-Identifier: Apache-2.0
"""Conversions between radix 2^8 and residues as matrix products over bytes.

Into residues: the bytes of x times ``2^(8p) scale_i mod m_i``, one remainder of byte sums by channel.
Back: the bytes of an extension's operand, words and rank, times their factors modulo 2^(8C); then carries.
docs/rns/theory.md, "Conversions".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from reference.modmul.rns.bases import Condition, Residues
from reference.modmul.rns.byte_matrix import ByteMatrix, join, split
from reference.modmul.rns.operands import Operand, bytes_of, factors_of_bytes, largest_operand
from reference.modmul.rns.words import largest_for_any_entries, remainder, remainder_holds


def remainders_hold(matrix: ByteMatrix, moduli: Residues) -> bool:
    """Whether the sums of each target have a remainder below twice its modulus, for every operand."""
    rows = zip(matrix.largest_sums, moduli, strict=True)
    return all(remainder_holds(int(sums[0]), join(sums) >> 31, m) for sums, m in rows)


@dataclass(frozen=True)
class RadixToResidues:
    """The conversion of integers of ``length`` bytes to ``x scale_i mod m_i``."""

    moduli: Residues
    scales: Residues
    length: int

    @cached_property
    def matrix(self) -> ByteMatrix:
        """The matrix, with a row for each byte of x and a target for each channel."""
        rows = zip(self.moduli, self.scales, strict=True)
        columns = [[scale * pow(2, 8 * p, m) % m for p in range(self.length)] for m, scale in rows]
        return ByteMatrix(tuple(zip(*columns, strict=True)))

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequalities of "Into residues"."""
        yield "input accumulator", self.matrix.fits_int32
        yield "input range", remainders_hold(self.matrix, self.moduli)

    def holds_for_any_scale(self, m: int) -> bool:
        """Whether remainders modulo a target m are below 2 m for any scale."""
        return remainder_holds(*largest_for_any_entries(255 * self.length, m), m)

    def convert(self, x: int) -> Residues:
        """The scaled residues of 0 <= x < 2^(8 length)."""
        sums = self.matrix.product(split(x, self.length))
        rows = zip(sums, self.moduli, strict=True)
        return tuple(remainder([int(s) for s in c], m) for c, m in rows)


@dataclass(frozen=True)
class ResiduesToRadix:
    """The conversion of the operand's words to their value, below room M and 2^(8 length)."""

    operand: Operand
    length: int

    @cached_property
    def matrix(self) -> ByteMatrix:
        """The matrix: a row for each byte of the words and the rank, a column for each byte of the result."""
        modulus = 1 << (8 * self.length)
        rows = tuple((factor % modulus,) for factor in factors_of_bytes(self.operand))
        return ByteMatrix(rows, self.length, largest_operand(self.operand))

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequalities of "Back to radix 2^32"."""
        yield "output accumulator", self.matrix.fits_int32
        yield "output words", self.length % 4 == 0

    def convert(self, words: Sequence[int]) -> int:
        """The value that these words represent."""
        row = bytes_of(words, self.operand.rank(words))
        return resolve_carries([int(c) for c in self.matrix.product(row)[0]])


def resolve_carries(columns: Sequence[int]) -> int:
    """``sum of columns[i] 2^(8i)`` modulo 2^(8 count), from columns in [0, 2^31).

    Four columns have a sum below 2^56; its high part, below 2^24, is added to the next word, and carries of
    one bit remain.

    >>> resolve_carries([255] * 7 + [256]) == 2**56 - 1
    True
    """
    sums = [join(columns[i : i + 4]) for i in range(0, len(columns), 4)]
    assert all(0 <= s < 1 << 56 for s in sums)
    result, carry, high = 0, 0, 0
    for i, s in enumerate(sums):
        word = (s & 0xFFFFFFFF) + high + carry
        high, carry = s >> 32, word >> 32
        assert high < 1 << 24 and carry <= 1
        result |= (word & 0xFFFFFFFF) << (32 * i)
    return result
