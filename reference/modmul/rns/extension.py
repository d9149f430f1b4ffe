# SPDX-License-Identifier: Apache-2.0
"""Base extensions: from the residues of x modulo one base to those modulo another.

Sources
-------
- N. S. Szabo, R. I. Tanaka, *Residue Arithmetic and its Applications to Computer Technology* (1967): mixed
  radix; Moss, Page, Smart (2007), algorithm 2, stages 2 and 3.
- S. Kawamura et al., *Cox-Rower Architecture for Fast Parallel Montgomery Multiplication* (EUROCRYPT 2000);
  K. C. Posch, R. Posch, *Base Extension Using a Convolution Sum in Residue Number Systems* (1993): the rank
  from a sum of fractions.
- A. P. Shenoy, R. Kumaresan, *Fast Base Extension Using a Redundant Modulus in RNS* (1989).
- J.-C. Bajard, L.-S. Didier, P. Kornerup, *Modular Multiplication and Base Extensions in Residue Number
  Systems* (ARITH 15, 2001): no rank at all from B to A, a redundant modulus from A to B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from reference.modmul.rns.bases import Base, Condition, Cox, Residues
from reference.modmul.rns.operands import StoredResidues, integer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.modmul.rns.words import Bound


def mixed_radix_digits(base: Base, x: Sequence[int]) -> Residues:
    """``d_i < m_i`` with ``x = d_1 + d_2 m_1 + d_3 m_1 m_2 + ...``: n (n - 1) / 2 multiplications, n steps.

    >>> mixed_radix_digits(Base((7, 11, 13)), Base((7, 11, 13)).residues(123))
    (4, 6, 1)
    """
    remaining, digits = list(x), []
    for i, m_i in enumerate(base.moduli):
        digit = remaining[i]
        assert 0 <= digit < m_i
        digits.append(digit)
        for j in range(i + 1, len(base)):
            m_j = base.moduli[j]
            remaining[j] = (remaining[j] - digit) * pow(m_i, -1, m_j) % m_j
    return tuple(digits)


def mixed_radix_weights(base: Base) -> Residues:
    """The places 1, m_1, m_1 m_2, .. of :func:`mixed_radix_digits`."""
    return tuple(math.prod(base.moduli[:i]) for i in range(len(base)))


def convolve(xi: Sequence[int], rank: int, source: Base, target: Base) -> Residues:
    """``sum of xi_j M_j - rank M`` modulo the channels of ``target``."""
    exact = sum(x * c for x, c in zip(xi, source.cofactors, strict=True)) - rank * source.product
    return target.residues(exact)


@dataclass(frozen=True)
class MixedRadix:
    """The extension of Szabo and Tanaka, exact for every x < M."""

    source: Base

    @property
    def carried(self) -> Base:
        """The source; there is no redundant channel."""
        return self.source

    @property
    def excess(self) -> Fraction:
        """The extension is exact."""
        return Fraction(0)

    @property
    def room(self) -> Fraction:
        """All of [0, M) is accepted."""
        return Fraction(1)

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """The digits, then one product for each digit and target channel."""
        digits = mixed_radix_digits(self.source, x)
        places = mixed_radix_weights(self.source)
        return tuple(sum(d * (p % m) for d, p in zip(digits, places, strict=True)) % m for m in target.moduli)

    def conditions(self) -> Iterator[Condition]:
        """Nothing is required but coprime moduli."""
        yield from ()


@dataclass(frozen=True)
class CoxRower:
    """An extension whose Cox estimates the rank, correctly where ``Delta <= alpha + x / M < 1``.

    Offset 0 accepts all of [0, M) and may add M to an x < Delta M; an offset alpha >= Delta is exact below
    (1 - alpha) M.
    """

    cox: Cox

    @property
    def source(self) -> Base:
        """The base of the Cox."""
        return self.cox.base

    @property
    def carried(self) -> Base:
        """The source; there is no redundant channel."""
        return self.source

    @property
    def excess(self) -> Fraction:
        """The part of the error that the offset does not cover."""
        return max(Fraction(0), self.cox.error - self.cox.alpha)

    @property
    def room(self) -> Fraction:
        """The part of [0, M) that the offset leaves."""
        return 1 - self.cox.alpha

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """``sum of xi_j M_j - k M`` with the estimated k."""
        xi = self.source.coordinates(x)
        return convolve(xi, self.cox.rank(xi), self.source, target)

    def conditions(self) -> Iterator[Condition]:
        """The conditions of the Cox, and that its estimate is off by one at most."""
        yield from self.cox.conditions()
        yield "cox error", self.cox.error - self.cox.alpha < 1


@dataclass(frozen=True)
class ByteRower:
    """An extension by bytes of stored residues.

    It is exact where ``under <= alpha`` and ``alpha + over + x / M < 1``.
    """

    stored: StoredResidues

    @property
    def source(self) -> Base:
        """The base of the stored residues."""
        return self.stored.base

    @property
    def carried(self) -> Base:
        """The source; there is no redundant channel."""
        return self.source

    @property
    def excess(self) -> Fraction:
        """The part of the error that the offset does not cover."""
        return max(Fraction(0), self.stored.under - self.stored.alpha)

    @property
    def room(self) -> Fraction:
        """The part of [0, M) that the offset and the error upwards leave."""
        return 1 - self.stored.alpha - self.stored.over

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """``sum of W_(i,p) v_(i,p) M_i - k M`` with the estimated k."""
        words = self.stored.words(x)
        return target.residues(integer_of(self.stored, words, self.stored.rank(words)))

    def conditions(self) -> Iterator[Condition]:
        """The conditions of the rank."""
        yield from self.stored.conditions()


@dataclass(frozen=True)
class Uncorrected:
    """An extension without a rank (Bajard, Didier, Kornerup).

    The result is ``x + k M`` with 0 <= k < slack n, for ``xi_i < slack m_i``.
    """

    source: Base
    slack: Bound = 1

    @property
    def carried(self) -> Base:
        """The source; there is no redundant channel."""
        return self.source

    @property
    def excess(self) -> Fraction:
        """The largest sum of the coordinates' fractions, less 1."""
        return Fraction(self.slack) * len(self.source) - 1

    @property
    def room(self) -> Fraction:
        """All of [0, M) is accepted."""
        return Fraction(1)

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """``sum of xi_j M_j``, without a correction."""
        return convolve(self.source.coordinates(x), 0, self.source, target)

    def conditions(self) -> Iterator[Condition]:
        """Nothing is required but coprime moduli."""
        yield from ()


@dataclass(frozen=True)
class ShenoyKumaresan:
    """An extension that computes the rank from the residue of x itself modulo a redundant channel r >= n.

    It is exact for 0 <= x < M.

    >>> extension = ShenoyKumaresan(Base((7, 11, 13)), 5)
    >>> extension.extend(extension.carried.residues(1000), Base((17,))) == (1000 % 17,)
    True
    """

    source: Base
    redundant: int

    @property
    def carried(self) -> Base:
        """The source and the redundant channel, last."""
        return Base((*self.source.moduli, self.redundant))

    @property
    def excess(self) -> Fraction:
        """The extension is exact."""
        return Fraction(0)

    @property
    def room(self) -> Fraction:
        """All of [0, M) is accepted."""
        return Fraction(1)

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """``k = (sum of xi_j M_j - x) / M mod r``, which is k since k < n <= r."""
        xi = self.source.coordinates(x[:-1])
        total = convolve(xi, 0, self.source, Base((self.redundant,)))[0]
        rank = (total - x[-1]) * pow(self.source.product, -1, self.redundant) % self.redundant
        return convolve(xi, rank, self.source, target)

    def conditions(self) -> Iterator[Condition]:
        """The redundant channel distinguishes all ranks."""
        yield "redundant modulus", self.redundant >= len(self.source)
