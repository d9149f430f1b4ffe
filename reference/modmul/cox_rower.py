# SPDX-License-Identifier: Apache-2.0
"""The oracle of `src/modmul/cox_rower/`: Montgomery products in a residue number system, by channels.

It computes with the words that the kernels compute with, asserts the ranges that `bases.hpp` states, and
estimates ranks in the same way.

Source: S. Kawamura, M. Koike, F. Sano, A. Shimbo, *Cox-Rower Architecture for Fast Parallel Montgomery
Multiplication* (EUROCRYPT 2000). A rower is a channel, a cox estimates ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

WORD = 32
R = 1 << WORD
MEBI = 1 << 20


def is_odd_prime(n: int) -> bool:
    """Whether an integer n > 2 is an odd prime, by trial division.

    >>> [n for n in range(3, 30) if is_odd_prime(n)]
    [3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    return n % 2 == 1 and all(n % d for d in range(3, math.isqrt(n) + 1, 2))


@dataclass(frozen=True)
class Bases:
    """Two bases for moduli below 2^bits; `threads` threads work on a channel, with `terms` terms each."""

    bits: int
    threads: int
    terms: int
    bound: int

    @property
    def channels(self) -> int:
        """Channels of each base."""
        return self.threads * self.terms

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """The largest primes below the bound, twice as many as there are channels."""
        found: list[int] = []
        n = self.bound - 1
        while len(found) < 2 * self.channels:
            if is_odd_prime(n):
                found.append(n)
            n -= 1
        return tuple(found)

    @property
    def b(self) -> tuple[int, ...]:
        """Base B, whose product is the Montgomery radix."""
        return self.primes[0::2]

    @property
    def a(self) -> tuple[int, ...]:
        """Base A."""
        return self.primes[1::2]

    @cached_property
    def shift(self) -> int:
        """Coordinates are shifted right by so much before they are added up for the rank."""
        most = self.channels * self.bound
        return max(0, (most + most // 8).bit_length() - WORD)

    @cached_property
    def divide(self) -> int:
        """The rank is the high word of a product, shifted right by so much."""
        least = self.bound >> self.shift
        divide = 0
        while (1 << (WORD + divide + 1)) // least < R:
            divide += 1
        return divide

    @property
    def factor(self) -> int:
        """The other factor of that product."""
        return (1 << (WORD + self.divide)) // (self.bound >> self.shift)

    @property
    def sixteenth(self) -> int:
        """What is added to the sum of shifted coordinates for an exact extension."""
        return self.bound >> (self.shift + 4)


#: The bases of the kernels.
BASES = (
    Bases(512, 2, 10, 58 * MEBI),
    Bases(1024, 2, 18, 370 * MEBI),
    Bases(1536, 2, 27, 363 * MEBI),
    Bases(2048, 4, 18, 359 * MEBI),
    Bases(3072, 2, 55, 250 * MEBI),
    Bases(4096, 4, 37, 210 * MEBI),
)


def reduced(t: int, m: int) -> int:
    """``t / 2^32`` modulo m, at most ``t / 2^32 + m``."""
    assert 0 <= t <= R * R - R * m
    q = t % R * pow(-m, -1, R) % R
    return (t + q * m) // R


def corrected(v: int, m: int) -> int:
    """v, less m if it is not below m."""
    return v - m if v >= m else v


@dataclass(frozen=True)
class Element:
    """The residues of a number in both bases, in Montgomery form."""

    b: tuple[int, ...]
    a: tuple[int, ...]


class CoxRower:
    """Arithmetic modulo an odd n < 2^bits that is prime to the product of base B."""

    def __init__(self, bases: Bases, n: int) -> None:
        assert n % 2 == 1
        assert 1 < n < 1 << bases.bits
        self.bases, self.n = bases, n
        self.m_b, self.m_a = math.prod(bases.b), math.prod(bases.a)
        if math.gcd(n, self.m_b) != 1:
            raise ValueError("the modulus shares a factor with the base")

    def element(self, x: int) -> Element:
        """The residues of a number below 2^bits."""
        assert 0 <= x < 1 << self.bases.bits
        return Element(tuple(x * R % m for m in self.bases.b), tuple(x * R % m for m in self.bases.a))

    def rank(self, coordinates: list[int], offset: int) -> int:
        """The estimate of the rank."""
        t = sum(x >> self.bases.shift for x in coordinates) + offset
        assert t < R
        return (t * self.bases.factor >> WORD) >> self.bases.divide

    def sum_of_terms(self, coordinates: list[int], cofactors: list[int], m: int) -> int:
        """What the threads of a channel add up to: the sum of terms, in Montgomery form."""
        threads, terms = self.bases.threads, self.bases.terms
        total = 0
        for part in range(threads):
            chosen = [source_channel(self.bases, part, t) for t in range(terms)]
            total += reduced(sum(coordinates[i] * (cofactors[i] * R * R % m) for i in chosen), m)
        assert total < R
        return total

    def multiply(self, x: Element, y: Element) -> Element:
        """The product divided by M_B."""
        bases = self.bases
        xi = []
        for i, m in enumerate(bases.b):
            factor = -pow(self.n * (self.m_b // m), -1, m) % m
            xi.append(corrected(reduced(reduced(x.b[i] * y.b[i], m) * factor, m), m))
        rank = self.rank(xi, 0)
        cofactors = [self.m_b // m for m in bases.b]
        eta, in_a = [], []
        for i, m in enumerate(bases.a):
            own = pow(self.m_b * (self.m_a // m), -1, m)
            modulus = self.n * own % m
            total = self.sum_of_terms(xi, cofactors, m) * modulus
            total += rank * (-self.m_b * R * modulus % m) + reduced(x.a[i] * y.a[i], m) * own
            eta.append(corrected(reduced(total, m), m))
            in_a.append(reduced(eta[-1] * (self.m_a // m * R * R % m), m))
        rank = self.rank(eta, bases.sixteenth)
        cofactors = [self.m_a // m for m in bases.a]
        in_b = [
            reduced(self.sum_of_terms(eta, cofactors, m) * (R % m) + rank * (-self.m_a * R * R % m), m)
            for m in bases.b
        ]
        return Element(tuple(in_b), tuple(in_a))

    def value(self, x: Element) -> int:
        """The number, below 2^(bits + 1), that an element represents."""
        eta = [
            corrected(reduced(v * pow(self.m_a // m, -1, m), m), m)
            for v, m in zip(x.a, self.bases.a, strict=True)
        ]
        rank = self.rank(eta, self.bases.sixteenth)
        number = sum(e * (self.m_a // m) for e, m in zip(eta, self.bases.a, strict=True)) - rank * self.m_a
        assert 0 <= number < 2 << self.bases.bits
        return number


def source_channel(bases: Bases, part: int, t: int) -> int:
    """The channel whose coordinate is factor t of one of a channel's threads."""
    rest = bases.terms % 4
    whole = bases.terms - rest
    if t < whole:
        return t // 4 * 4 * bases.threads + 4 * part + t % 4
    return bases.threads * whole + part * rest + (t - whole)
