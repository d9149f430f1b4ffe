# SPDX-License-Identifier: Apache-2.0
"""The operands of a base extension's matrix product: the bytes of a word for each channel, and of the rank.

Each byte stands for a multiple of its *factor*: the integer is the sum of bytes times factors, less the rank
times M. Words are coordinates, whose rank a Cox estimates, or stored residues: docs/rns/theory.md,
"The Cox" and "Bytes as coordinates".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from reference.modmul.rns.bases import RANK_BITS, Base, Condition, Cox, Residues
from reference.modmul.rns.byte_matrix import largest_bytes, split

WORD_BYTES = 4

QUAD = 4
"""Threads that share the channels of two instances: thread i mod 4 owns channel i."""

SPLIT = 2
"""Channels of a split quad: threads 0 and 1 own them for the first instance, 2 and 3 for the second."""

INSTANCES = (0, 1)
"""The instances of a quad."""

WEIGHT_BITS = 16
"""Bits of the weight of a byte in the rank: two bytes, which are summed separately."""


class Operand(Protocol):
    """An operand: a word for each channel of ``base``, and how to estimate their rank."""

    @property
    def base(self) -> Base:
        """The base, whose product is M."""
        ...

    @property
    def factors(self) -> tuple[int, ...]:
        """The factor of each byte of the words."""
        ...

    @property
    def largest(self) -> tuple[int, ...]:
        """The largest value of each byte of the words."""
        ...

    @property
    def largest_rank(self) -> int:
        """Largest value of :meth:`rank`."""
        ...

    def rank(self, words: Sequence[int]) -> int:
        """How often M is subtracted."""
        ...


def factors_of_bytes(operand: Operand) -> tuple[int, ...]:
    """The factors of the bytes of the words, then of the rank."""
    return (*operand.factors, *(-operand.base.product << (8 * p) for p in range(WORD_BYTES)))


def largest_operand(operand: Operand) -> tuple[int, ...]:
    """The largest bytes of the words, then of the rank."""
    return (*operand.largest, *largest_bytes(operand.largest_rank, WORD_BYTES))


def bytes_of(words: Sequence[int], rank: int) -> list[int]:
    """The operand as a row of bytes: those of the words, then of the rank."""
    return [byte for word in (*words, rank) for byte in split(word, WORD_BYTES)]


def integer_of(operand: Operand, words: Sequence[int], rank: int) -> int:
    """The integer that the words and the rank represent."""
    return sum(b * f for b, f in zip(bytes_of(words, rank), factors_of_bytes(operand), strict=True))


@dataclass(frozen=True)
class Coordinates:
    """An operand of coordinates xi_i, whose bytes may be any, with the rank of a Cox."""

    cox: Cox

    @property
    def base(self) -> Base:
        """The base of the Cox."""
        return self.cox.base

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """``2^(8p) M_i``."""
        return tuple(c << (8 * p) for c in self.base.cofactors for p in range(WORD_BYTES))

    @property
    def largest(self) -> tuple[int, ...]:
        """Every byte may occur."""
        return (255,) * (WORD_BYTES * len(self.base))

    @property
    def largest_rank(self) -> int:
        """The largest rank that the Cox estimates."""
        return self.cox.largest_rank

    def rank(self, words: Sequence[int]) -> int:
        """The rank that the Cox estimates."""
        return self.cox.rank(words)


@dataclass(frozen=True)
class StoredResidues:
    """An operand of residues W_i < m_i whose coordinates are ``W_i u_i``: each byte acts as a coordinate.

    >>> stored = StoredResidues(Base((7, 11, 13)), (2, 3, 4))
    >>> words = stored.words(stored.base.residues(300))
    >>> integer_of(stored, words, stored.rank(words))
    300
    """

    base: Base
    to_coordinates: Residues
    offset: int = 128

    @cached_property
    def constants(self) -> tuple[Residues, ...]:
        """``v_(i,p) = 2^(8p) u_i mod m_i``, by channel."""
        rows = zip(self.to_coordinates, self.base.moduli, strict=True)
        return tuple(tuple((u << (8 * p)) % m for p in range(WORD_BYTES)) for u, m in rows)

    @cached_property
    def weights(self) -> tuple[Residues, ...]:
        """``g_(i,p)``: v_(i,p) / m_i in units of 2^-16, to the nearest that two bytes hold."""
        largest = (1 << WEIGHT_BITS) - 1
        rows = zip(self.constants, self.base.moduli, strict=True)
        return tuple(tuple(min(((v << WEIGHT_BITS + 1) // m + 1) >> 1, largest) for v in c) for c, m in rows)

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """``v_(i,p) M_i``."""
        rows = zip(self.constants, self.base.cofactors, strict=True)
        return tuple(v * cofactor for c, cofactor in rows for v in c)

    @cached_property
    def largest(self) -> tuple[int, ...]:
        """The largest bytes of residues."""
        return tuple(byte for m in self.base.moduli for byte in largest_bytes(m - 1, WORD_BYTES))

    @property
    def alpha(self) -> Fraction:
        """The offset as a fraction."""
        return Fraction(self.offset, 256)

    def _largest_error(self, sign: int) -> Fraction:
        """``sum of D_(i,p) max(0, sign (v_(i,p) / m_i - g_(i,p) / 2^16))`` for largest bytes D_(i,p)."""
        total, largest = Fraction(0), iter(self.largest)
        for constants, weights, m in zip(self.constants, self.weights, self.base.moduli, strict=True):
            errors = (sign * ((v << WEIGHT_BITS) - g * m) for v, g in zip(constants, weights, strict=True))
            total += Fraction(sum(next(largest) * max(0, e) for e in errors), m << WEIGHT_BITS)
        return total

    @cached_property
    def under(self) -> Fraction:
        """The most that the estimate falls short by: each thread of a quad drops less than 1/256."""
        return self._largest_error(1) + Fraction(QUAD, 256)

    @cached_property
    def over(self) -> Fraction:
        """The most that the estimate exceeds the sum by."""
        return self._largest_error(-1)

    def _thread_sums(self, digits: Sequence[int], instance: int) -> Iterator[tuple[int, int]]:
        """For each thread the sums of bytes times the weights' low bytes, and times their high bytes."""
        weights = [g for c in self.weights for g in c]
        channels = [(digits[i : i + 4], weights[i : i + 4]) for i in range(0, len(digits), WORD_BYTES)]
        if instance == 1 and len(channels) % QUAD == SPLIT:
            channels[-SPLIT:-SPLIT] = [(digits[:0], [])] * SPLIT
        for thread in range(QUAD):
            pairs = [(b, g) for c in channels[thread::QUAD] for b, g in zip(*c, strict=True)]
            yield sum(b * (g & 255) for b, g in pairs), sum(b * (g >> 8) for b, g in pairs)

    def _sum(self, digits: Sequence[int], instance: int) -> int:
        """The estimate in units of 1/256, with the offset."""
        return self.offset + sum(high + (low >> 8) for low, high in self._thread_sums(digits, instance))

    @cached_property
    def _largest_sum(self) -> int:
        """The largest sum of either instance: that of the largest bytes."""
        return max(self._sum(self.largest, instance) for instance in INSTANCES)

    @property
    def largest_rank(self) -> int:
        """The rank of the largest bytes."""
        return self._largest_sum >> 8

    def rank(self, words: Sequence[int], instance: int = 0) -> int:
        """The estimate of k for one of the quad's two instances."""
        assert all(0 <= w < m for w, m in zip(words, self.base.moduli, strict=True)), "residue out of range"
        total = self._sum([byte for w in words for byte in split(w, WORD_BYTES)], instance)
        assert total < 1 << RANK_BITS, "the rank overflows"
        return total >> 8

    def words(self, residues: Sequence[int]) -> Residues:
        """The stored form of residues."""
        rows = zip(self.base.coordinates(residues), self.to_coordinates, self.base.moduli, strict=True)
        return tuple(xi * pow(u, -1, m) % m for xi, u, m in rows)

    def conditions(self) -> Iterator[Condition]:
        """Yield what section "Bytes as coordinates" requires beyond room."""
        largest_low = max(low for i in INSTANCES for low, _ in self._thread_sums(self.largest, i))
        yield "rank width", max(largest_low, self._largest_sum) < 1 << RANK_BITS
        yield "rank offset", 0 <= self.alpha < 1
