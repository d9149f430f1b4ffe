# SPDX-License-Identifier: Apache-2.0
"""The data flow of RNS Montgomery multiplication with both extensions on 8-bit tensor cores, one instance.

Sources: as :mod:`reference.rns`; the matrix form of the extensions, the scaling kappa and the ranges are
derived in docs/rns.md.

A base extension is a product of the coordinates' bytes with a matrix of constants of the bases alone. Base A
keeps ``X_i = x_i kappa_i``, ``kappa_i = 2^32 / M_B mod a_i``: one reduction of ``X Y + t N kappa^2`` is then
the stored result. Base B keeps plain residues. Every bound of :func:`conditions` is asserted as it is used.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from reference import rns_bases
from reference.modexp.windows import power_fixed
from reference.rns_bases import Base, BasePair, Condition, Cox, Extension, Residues, check_modulus, require
from reference.rns_bytes import ByteMatrix, centred, largest_bytes, recombine, split
from reference.rns_conversion import RadixToResidues, ResiduesToRadix
from reference.rns_extension import CoxRower
from reference.rns_words import WORD, Bound, largest_below, montgomery_reduce, reduction_holds

COX_BITS = 16

LARGE_LOW_HALF = 3 << 14
"""Entries with at least so much in their low 16 bits are raised where a matrix is balanced."""


def raised(x: int, m: int) -> int:
    """``x mod m``, and m more where that has a large low half.

    >>> raised(5, 7), raised(0xC000, 0x7FFD9001) == 0xC000 + 0x7FFD9001
    (5, True)
    """
    x %= m
    return x + m if x & 0xFFFF >= LARGE_LOW_HALF else x


@dataclass(frozen=True)
class Ranges:
    """Bound of each step's result in units of its modulus; 1: corrected to below the modulus."""

    s: Bound = 1
    xi_b: Bound = 1
    t: Bound = 1
    w: Bound = 1
    xi_a: Bound = 1
    x_b: Bound = 1


CORRECTED = Ranges()
"""Every reduction corrected: m <= 2^31."""

ONE_CORRECTION = Ranges(s=2, xi_b=2, t=1 + Fraction(1, 1 << 13), xi_a=2, x_b=1 + Fraction(1, 1 << 13))
"""Only w corrected: m (2 + 2^-13) <= 2^32, up to 512 channels."""

UNCORRECTED = Ranges(2, 2, 2, 2, 2, 2)
"""None corrected: 6 m <= 2^32."""


@dataclass(frozen=True)
class ExtensionMatrix:
    """``T_i = sum of xi_j M_j scale_i - k M scale_i mod m_i`` for the targets m_i; the scale mostly is 2^32.

    The rank k is one more word of the operand. Signed entries are centred; their sum is made positive by a
    multiple of m_i. Balanced ones are :func:`raised`.
    """

    cox: Cox
    target: Base
    signed: bool
    narrow: bool
    balanced: bool
    scales: Residues

    @cached_property
    def matrix(self) -> ByteMatrix:
        """``M_j 2^(8p) scale_i mod m_i`` in row (j, p), columns (i, byte); for the rank -M instead of M_j."""
        targets = tuple(zip(self.target.moduli, self.scales, strict=True))
        words = (*self.cox.base.cofactors, -self.cox.base.product)
        factors = [[c * scale % m for m, scale in targets] for c in words]
        rows = [self._row(row, p) for row in factors for p in range(4)]
        return ByteMatrix(tuple(rows), signed=self.signed, largest=largest_bytes(self.cox.largest_rank, 4))

    def _row(self, factors: Sequence[int], p: int) -> Residues:
        """Entries for byte p of a word with these factors."""
        entry = centred if self.signed else raised if self.balanced else operator.mod
        return tuple(entry(x << (8 * p), m) for x, m in zip(factors, self.target.moduli, strict=True))

    @cached_property
    def largest_byte_sum(self) -> int:
        """Bound of the sum of the operand's bytes."""
        return int(self.matrix.largest_operand.sum())

    def offset(self, m: int) -> int:
        """Multiple of m that makes the sum of signed terms positive."""
        return -(-self.largest_byte_sum // 2) * m if self.signed else 0

    def largest_total(self, m: int) -> int:
        """Bound of T for a target m."""
        entry = m // 2 if self.signed else 2 * m - 1 if self.balanced else m - 1
        return self.largest_byte_sum * entry + self.offset(m)

    def totals(self, xi: Sequence[int]) -> tuple[int, ...]:
        """T."""
        sums = self.matrix.product([byte for x in (*xi, self.cox.rank(xi)) for byte in split(x, 4)])
        result = []
        for c, m in zip(sums, self.target.moduli, strict=True):
            total = recombine(c, self.signed, self.narrow) + self.offset(m)
            assert 0 <= total <= self.largest_total(m)
            result.append(total)
        return tuple(result)

    def extend(self, xi: Sequence[int], bound: Bound) -> Residues:
        """Residues of ``sum of xi_j M_j - k M`` below ``bound m_i``, if the scale is 2^32."""
        rows = zip(self.totals(xi), self.target.moduli, strict=True)
        return tuple(montgomery_reduce(total, m, bound) for total, m in rows)


@dataclass(frozen=True)
class TensorBases:
    """Bases for N < 2^bits and the choices of a kernel: ranges, forms of entries, 32-bit recombination."""

    b: Base
    a: Base
    bits: int
    ranges: Ranges = CORRECTED
    signed: bool = False
    narrow: bool = False
    balanced: bool = False

    @cached_property
    def pair(self) -> BasePair:
        """With offset 0 from B to A, one half from A to B."""
        cox_b = Cox.truncating(self.b, COX_BITS, 0, -(-self.ranges.xi_b // 1))
        cox_a = Cox.truncating(self.a, COX_BITS, 1 << (COX_BITS - 1), -(-self.ranges.xi_a // 1))
        return BasePair.of(CoxRower(cox_b), CoxRower(cox_a), self.bits)

    @cached_property
    def to_a(self) -> ExtensionMatrix:
        """From B."""
        return self._extension(self.pair.from_b, self.a, (WORD,) * len(self.a))

    @cached_property
    def to_b(self) -> ExtensionMatrix:
        """From A."""
        return self._extension(self.pair.from_a, self.b, (WORD,) * len(self.b))

    def to_scaled_a(self, n: int) -> ExtensionMatrix:
        """From B to what is added to X Y, where all instances share the modulus n: scaled by N kappa^2."""
        return self._extension(self.pair.from_b, self.a, self.scaled(n))

    def _extension(self, extension: Extension, target: Base, scales: Residues) -> ExtensionMatrix:
        assert isinstance(extension, CoxRower)
        return ExtensionMatrix(extension.cox, target, self.signed, self.narrow, self.balanced, scales)

    def scaled(self, n: int) -> Residues:
        """``n kappa_i^2 mod a_i``."""
        return tuple(n * k * k % m for k, m in zip(self.kappa, self.a.moduli, strict=True))

    @cached_property
    def kappa(self) -> Residues:
        """``2^32 / M_B mod a_i``."""
        return tuple(WORD * pow(self.b.product, -1, m) % m for m in self.a.moduli)

    @cached_property
    def coordinate_factors(self) -> Residues:
        """``2^32 / (kappa_i A_i) mod a_i``: from the stored w to its coordinate."""
        rows = zip(self.a.inverse_cofactors, self.kappa, self.a.moduli, strict=True)
        return tuple(inverse * WORD * pow(k, -1, m) % m for inverse, k, m in rows)

    @cached_property
    def inputs(self) -> tuple[RadixToResidues, RadixToResidues]:
        """From bytes into A, scaled, and into B; both corrected."""
        length = -(-self.bits // 8)
        ones = (1,) * len(self.b)
        return (
            RadixToResidues(self.a.moduli, self.kappa, length),
            RadixToResidues(self.b.moduli, ones, length),
        )

    @cached_property
    def output(self) -> ResiduesToRadix:
        """From coordinates in A to words that hold 2 N, by the four."""
        return ResiduesToRadix(self.to_b.cox, -(-(self.bits + 1) // 128) * 16)


def conditions(bases: TensorBases) -> Iterator[Condition]:
    """Every inequality of docs/rns.md for this data flow."""
    yield "odd moduli of at most 31 bits", all(m % 2 and m < 1 << 31 for m in bases.b.moduli + bases.a.moduli)
    yield from rns_bases.conditions(bases.pair)
    yield "exit with one subtraction", rns_bases.exits_with_one_subtraction(bases.pair)
    r = bases.ranges
    for m in bases.b.moduli:
        yield "range of s", reduction_holds(largest_below(r.x_b, m) ** 2, m, r.s)
        yield "range of xi_b", reduction_holds(largest_below(r.s, m) * (m - 1), m, r.xi_b)
        yield "range of x_b", reduction_holds(bases.to_b.largest_total(m), m, r.x_b)
    for m in bases.a.moduli:
        w = largest_below(r.w, m)
        yield "range of t", reduction_holds(bases.to_a.largest_total(m), m, r.t)
        yield "range of w", reduction_holds(w * w + largest_below(r.t, m) * (m - 1), m, r.w)
        yield "range of w, one modulus", reduction_holds(w * w + bases.to_a.largest_total(m), m, r.w)
        yield "range of xi_a", reduction_holds(w * (m - 1), m, r.xi_a)
    for extension in (bases.to_a, bases.to_b):
        yield "accumulator", extension.matrix.fits_int32
        yield "32-bit recombination", not bases.narrow or extension.matrix.recombines_in_32_bits
    for conversion in bases.inputs:
        yield from conversion.conditions()
    yield from bases.output.conditions()


class TensorElement(NamedTuple):
    """``x kappa_i`` in A, x in B."""

    a: Residues
    b: Residues


@dataclass(frozen=True)
class TensorMontgomery:
    """Arithmetic modulo N on elements below ``bound N``; a monoid.

    ``shared``: N is part of the matrix from B to A.
    """

    bases: TensorBases
    n: int
    shared: bool = False

    def __post_init__(self) -> None:
        """Reject bases and moduli that the proof does not cover."""
        require(conditions(self.bases))
        check_modulus(self.bases.pair, self.n)
        wide = self.shared and not self.scaled_extension.matrix.recombines_in_32_bits
        require(iter([("32-bit recombination", not (self.bases.narrow and wide))]))

    @cached_property
    def scaled_extension(self) -> ExtensionMatrix:
        """From B to ``t' N kappa^2`` in A."""
        return self.bases.to_scaled_a(self.n)

    @cached_property
    def to_coordinates(self) -> Residues:
        """``-2^64 / (N B_j) mod b_j``: s / 2^32 to the coordinate of t. A constant of the modulus."""
        b = self.bases.b
        rows = zip(b.inverse_cofactors, b.moduli, strict=True)
        return tuple(-(inverse << 64) * pow(self.n, -1, m) % m for inverse, m in rows)

    @cached_property
    def _scaled_n(self) -> Residues:
        """``N kappa_i^2 mod a_i``. A constant of the modulus."""
        return self.bases.scaled(self.n)

    def element(self, x: int) -> TensorElement:
        """Of an integer."""
        scaled = zip(self.bases.kappa, self.bases.a.moduli, strict=True)
        return TensorElement(tuple(x * k % m for k, m in scaled), self.bases.b.residues(x))

    def integer(self, x: TensorElement) -> int:
        """The integer that both bases stand for, at most ``min(M_A, M_B)``."""
        value = self.bases.b.value([r % m for r, m in zip(x.b, self.bases.b.moduli, strict=True)])
        scaled = zip(x.a, self.bases.kappa, self.bases.a.moduli, strict=True)
        assert all((value * k - r) % m == 0 for r, k, m in scaled), "the bases disagree"
        return value

    def _coordinates_b(self, x: TensorElement, y: TensorElement) -> Residues:
        """Coordinates of ``t = -x y / N mod M_B``."""
        r, moduli = self.bases.ranges, self.bases.b.moduli
        s = [montgomery_reduce(u * v, m, r.s) for u, v, m in zip(x.b, y.b, moduli, strict=True)]
        rows = zip(s, self.to_coordinates, moduli, strict=True)
        return tuple(montgomery_reduce(s_j * factor, m, r.xi_b) for s_j, factor, m in rows)

    def coordinates_a(self, w: Residues) -> Residues:
        """Coordinates of an element stored in A."""
        rows = zip(w, self.bases.coordinate_factors, self.bases.a.moduli, strict=True)
        return tuple(montgomery_reduce(u * factor, m, self.bases.ranges.xi_a) for u, factor, m in rows)

    def product(self, x: TensorElement, y: TensorElement) -> TensorElement:
        """``(x y + t' N) / M_B``."""
        r, xi = self.bases.ranges, self._coordinates_b(x, y)
        if self.shared:
            added = self.scaled_extension.totals(xi)
        else:
            t = self.bases.to_a.extend(xi, r.t)
            added = tuple(t_i * scaled for t_i, scaled in zip(t, self._scaled_n, strict=True))
        rows = zip(x.a, y.a, added, self.bases.a.moduli, strict=True)
        w = tuple(montgomery_reduce(u * v + t_n, m, r.w) for u, v, t_n, m in rows)
        return TensorElement(w, self.bases.to_b.extend(self.coordinates_a(w), r.x_b))

    def mul(self, a: TensorElement, b: TensorElement) -> TensorElement:
        """``a b / M_B mod N``, below ``bound N``."""
        limit, radix = self.bases.pair.bound * self.n, self.bases.b.product
        x, y, w = self.integer(a), self.integer(b), self.product(a, b)
        assert max(x, y) < limit
        value = self.integer(w)
        assert value < limit
        assert (value * radix - x * y) % self.n == 0
        return w

    def sqr(self, a: TensorElement) -> TensorElement:
        """``a^2 / M_B mod N``."""
        return self.mul(a, a)

    def one(self) -> TensorElement:
        """M_B mod N."""
        return self.element(self.bases.b.product % self.n)

    def select(self, table: Sequence[TensorElement], index: int) -> TensorElement:
        """Plain indexing."""
        return table[index]

    def encode(self, x: int) -> TensorElement:
        """Montgomery form of 0 <= x < 2^bits, not necessarily below N."""
        assert 0 <= x < 1 << self.bases.bits
        into_a, into_b = self.bases.inputs
        element = TensorElement(into_a.convert(x), into_b.convert(x))
        assert self.integer(element) == x
        return self.product(element, self.element(self.bases.b.product**2 % self.n))

    def decode(self, x: TensorElement) -> int:
        """The integer in [0, N) whose Montgomery form x is: the product with 1 is below 2 N."""
        w = self.product(x, self.element(1))
        value = self.bases.output.convert(self.coordinates_a(w.a))
        assert value == self.integer(w) < 2 * self.n
        return value - self.n if value >= self.n else value

    def power(self, base: int, exponent: int, bits: int | None = None) -> int:
        """``base^exponent mod N`` by fixed windows.

        >>> bases = TensorBases(Base((2**31 - 1, 2**31 - 19)), Base((2**31 - 61, 2**31 - 69)), 55)
        >>> TensorMontgomery(bases, 10**16 + 61).power(3, 65537) == pow(3, 65537, 10**16 + 61)
        True
        """
        length = exponent.bit_length() if bits is None else bits
        return self.decode(power_fixed(self, self.encode(base), exponent, length))
