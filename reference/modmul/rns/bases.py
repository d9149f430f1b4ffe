# SPDX-License-Identifier: Apache-2.0
"""Bases of a residue number system, the Cox, and the predicate that a pair of bases has to satisfy.

Sources
-------
- A. Moss, D. Page, N. P. Smart, *Toward Acceleration of RSA Using 3D Graphics Hardware* (IMA CC 2007),
  sections 3.1 to 3.3; equation numbers below are this paper's.
- S. Kawamura, M. Koike, F. Sano, A. Shimbo, *Cox-Rower Architecture for Fast Parallel Montgomery
  Multiplication* (EUROCRYPT 2000): the sum of truncated residues and its error.

The inequalities and their proofs are in docs/rns/theory.md, under the names that :func:`conditions` uses.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from reference.modmul.rns.words import Bound, largest_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Residues = tuple[int, ...]
Condition = tuple[str, bool]
"""The name of an inequality, and whether it holds."""

RANK_BITS = 32
"""The sum of the Cox has to fit one word of this size."""


class BaseError(ValueError):
    """A pair of bases, or a modulus, violates the named inequality."""


@dataclass(frozen=True)
class Base:
    """Pairwise coprime moduli m_1 .. m_n; M is their product.

    >>> base = Base((7, 11, 13))
    >>> base.residues(1000), base.value((6, 10, 12))
    ((6, 10, 12), 1000)
    """

    moduli: Residues

    def __len__(self) -> int:
        """Number of channels, n."""
        return len(self.moduli)

    @cached_property
    def product(self) -> int:
        """The product M of the moduli."""
        return math.prod(self.moduli)

    @cached_property
    def cofactors(self) -> Residues:
        """``M_i = M / m_i``."""
        return tuple(self.product // m for m in self.moduli)

    @cached_property
    def inverse_cofactors(self) -> Residues:
        """``1 / M_i mod m_i``."""
        return tuple(pow(c, -1, m) for c, m in zip(self.cofactors, self.moduli, strict=True))

    def residues(self, x: int) -> Residues:
        """Residues of any integer."""
        return tuple(x % m for m in self.moduli)

    def coordinates(self, x: Sequence[int]) -> Residues:
        """``xi_i = x_i / M_i mod m_i``: x + k M = sum of xi_i M_i, with rank 0 <= k < n."""
        rows = zip(x, self.inverse_cofactors, self.moduli, strict=True)
        return tuple(r * inverse % m for r, inverse, m in rows)

    def value(self, x: Sequence[int]) -> int:
        """The integer in [0, M) with these residues: the Chinese remainder theorem (equation 2)."""
        terms = zip(self.coordinates(x), self.cofactors, strict=True)
        return sum(xi * cofactor for xi, cofactor in terms) % self.product

    def mul(self, x: Sequence[int], y: Sequence[int]) -> Residues:
        """The product in each channel."""
        return tuple(a * b % m for a, b, m in zip(x, y, self.moduli, strict=True))

    def add(self, x: Sequence[int], y: Sequence[int]) -> Residues:
        """The sum in each channel."""
        return tuple((a + b) % m for a, b, m in zip(x, y, self.moduli, strict=True))


@dataclass(frozen=True)
class Cox:
    """An estimate of ranks: ``floor(offset / 2^bits + sum of floor(xi_i weight_i / 2^shift_i) / 2^bits)``.

    ``xi_i < slack m_i``. The estimate of each term falls short of xi_i / m_i by at most :meth:`error`'s term.
    """

    base: Base
    bits: int
    weights: tuple[int, ...]
    shifts: tuple[int, ...]
    offset: int = 0
    slack: Bound = 1

    @classmethod
    def truncating(cls, base: Base, bits: int, offset: int = 0, slack: Bound = 1) -> Cox:
        """A Cox that adds the top ``bits`` bits of coordinates, as fractions of 2^r (Kawamura et al.).

        >>> Cox.truncating(Base((7, 13)), 2).rank((6, 12))
        1
        """
        lengths = [(m - 1).bit_length() for m in base.moduli]
        weights = tuple(1 << max(0, bits - length) for length in lengths)
        return cls(base, bits, weights, tuple(max(0, length - bits) for length in lengths), offset, slack)

    @classmethod
    def weighing(cls, base: Base, bits: int, shift: int, offset: int = 0, slack: Bound = 1) -> Cox:
        """A Cox that multiplies by rounded ``2^(bits+shift) / m_i``, for moduli far from powers of two."""
        weights = tuple((1 << (bits + shift)) // m for m in base.moduli)
        return cls(base, bits, weights, (shift,) * len(base), offset, slack)

    @property
    def alpha(self) -> Fraction:
        """The offset as a fraction of 2^bits."""
        return Fraction(self.offset, 1 << self.bits)

    @cached_property
    def error(self) -> Fraction:
        """Delta: the sum of epsilon_i (the modulus for a power of two) and delta_i (truncation)."""
        total = Fraction(0)
        for m, u, s in zip(self.base.moduli, self.weights, self.shifts, strict=True):
            scale = 1 << (s + self.bits)
            total += largest_below(self.slack, m) * (Fraction(1, m) - Fraction(u, scale))
            total += Fraction((1 << s) - 1, scale)
        return total

    @property
    def largest_sum(self) -> int:
        """Largest value of the sum in :meth:`rank`."""
        terms = zip(self.base.moduli, self.weights, self.shifts, strict=True)
        return self.offset + sum((largest_below(self.slack, m) * u) >> s for m, u, s in terms)

    @property
    def largest_rank(self) -> int:
        """Largest value of :meth:`rank`."""
        return self.largest_sum >> self.bits

    def rank(self, xi: Sequence[int]) -> int:
        """The estimate of k."""
        total = self.offset
        for x, m, u, s in zip(xi, self.base.moduli, self.weights, self.shifts, strict=True):
            assert 0 <= x < self.slack * m, "coordinate out of range"
            total += (x * u) >> s
        assert total < 1 << RANK_BITS, "the Cox overflows"
        return total >> self.bits

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequalities of section "The Cox"."""
        rows = zip(self.base.moduli, self.weights, self.shifts, strict=True)
        yield "cox weight", all(u * m <= 1 << (s + self.bits) for m, u, s in rows)
        yield "cox width", self.largest_sum < 1 << RANK_BITS
        yield "cox offset", 0 <= self.alpha < 1


class Extension(Protocol):
    """A base extension: from the residues of x in ``carried`` to those of ``x + j M``, j >= 0, in a target.

    For ``x < room M`` the result is an integer in [x, (1 + excess) M), and x itself where ``excess`` is 0.
    """

    @property
    def source(self) -> Base:
        """The base of the product M."""
        ...

    @property
    def carried(self) -> Base:
        """The base of the residues that are given: the source, and a redundant channel where there is one."""
        ...

    @property
    def excess(self) -> Fraction:
        """The bound e of the extra multiples: x + j M < (1 + e) M."""
        ...

    @property
    def room(self) -> Fraction:
        """The bound of the accepted x, as a fraction of M."""
        ...

    def extend(self, x: Sequence[int], target: Base) -> Residues:
        """The residues modulo the channels of ``target``."""
        ...

    def conditions(self) -> Iterator[Condition]:
        """Yield what the extension itself requires."""
        ...


@dataclass(frozen=True)
class BasePair:
    """Bases B (whose product is the Montgomery radix) and A, with their extensions, for N < 2^bits.

    Elements are integers below ``bound N``. The bound 2 (1 + excess of B to A) allows the smallest M_B.
    """

    from_b: Extension
    from_a: Extension
    bits: int
    bound: Fraction

    @classmethod
    def of(cls, from_b: Extension, from_a: Extension, bits: int, bound: Fraction | None = None) -> BasePair:
        """A pair with the bound that allows the smallest M_B, where none is given."""
        return cls(from_b, from_a, bits, 2 * (1 + from_b.excess) if bound is None else bound)

    @property
    def b(self) -> Base:
        """Base B."""
        return self.from_b.source

    @property
    def a(self) -> Base:
        """Base A, with its redundant channel if it has one."""
        return self.from_a.carried

    @property
    def radix(self) -> int:
        """The Montgomery radix M_B."""
        return self.b.product


def conditions(pair: BasePair) -> Iterator[Condition]:
    """Yield every inequality of docs/rns/theory.md that does not depend on how channels compute.

    >>> from reference.modmul.rns.extension import MixedRadix
    >>> small = BasePair.of(MixedRadix(Base((13, 11))), MixedRadix(Base((7, 17))), 5)
    >>> [name for name, holds in conditions(small) if not holds]
    []
    """
    channels = [*pair.b.moduli, *pair.a.moduli]
    yield "moduli above 1", all(m > 1 for m in channels)
    yield "coprime moduli", all(math.gcd(m, n) == 1 for m, n in itertools.combinations(channels, 2))
    yield from pair.from_b.conditions()
    yield from pair.from_a.conditions()
    largest, c, e = (1 << pair.bits) - 1, pair.bound, pair.from_b.excess
    yield "B takes every residue", pair.from_b.room == 1
    yield "A to B is exact", pair.from_a.excess == 0
    yield "M_B holds the product", (c - 1 - e) * pair.radix >= c * c * largest
    yield "M_A holds an element", c * largest <= pair.from_a.room * pair.from_a.source.product


def exits_with_one_subtraction(pair: BasePair) -> bool:
    """Whether the Montgomery product with 1 is below 2 N: ``c / M_B + excess <= 1``."""
    return pair.bound / pair.radix + pair.from_b.excess <= 1


def require(checks: Iterator[Condition]) -> None:
    """Raise :class:`BaseError` with the name of the first inequality that fails."""
    for name, holds in checks:
        if not holds:
            raise BaseError(name)


def check_bases(pair: BasePair) -> None:
    """Reject a pair that does not keep elements below ``bound N``; the error names the inequality.

    >>> from reference.modmul.rns.extension import MixedRadix
    >>> check_bases(BasePair.of(MixedRadix(Base((13, 11))), MixedRadix(Base((7, 26))), 5))
    Traceback (most recent call last):
    reference.modmul.rns.bases.BaseError: coprime moduli
    """
    require(conditions(pair))


def check_modulus(pair: BasePair, n: int) -> None:
    """Reject a modulus that the pair does not serve.

    N need not be odd. It has to be prime to M_B, which fails exactly where N mod b_j = 0 for one of the prime
    channels b_j.
    """
    if not 0 < n < 1 << pair.bits:
        raise BaseError("modulus range")
    if math.gcd(n, pair.radix) != 1:
        raise BaseError("modulus prime to M_B")
