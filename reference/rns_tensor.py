# SPDX-License-Identifier: Apache-2.0
"""The data flow of RNS Montgomery multiplication with both extensions on 8-bit tensor cores, one instance.

Sources: as :mod:`reference.rns`; the matrix form of the extensions, the scaling kappa and the ranges are
derived in docs/rns.md.

A base extension is a product of the coordinates' bytes with a matrix of constants of the bases alone, whose
byte sums have a remainder without a high word of any product. Base A keeps ``X_i = x_i kappa_i``, ``kappa_i =
2^32 / M_B mod a_i``: one reduction of ``X Y + t N kappa^2`` is then the stored result. Base B keeps plain
residues. Where all instances share a modulus and -1 is a square in no channel of B, it keeps ``X_j = x_j
rho_j``, and one reduction of ``X Y`` is the coordinate of t but for its sign. Every bound of
:func:`conditions` is asserted as it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from reference import rns_bases
from reference.modexp.windows import power_fixed
from reference.rns_bases import Base, BasePair, Condition, Cox, Extension, Residues, check_modulus, require
from reference.rns_bytes import INT32_MAX, ByteMatrix, largest_bytes, split
from reference.rns_conversion import RadixToResidues, ResiduesToRadix, remainders_hold
from reference.rns_extension import CoxRower
from reference.rns_words import (
    WORD,
    Bound,
    largest_below,
    montgomery_reduce,
    reduction_holds,
    remainder,
    remainder_holds,
    shoup_holds,
    shoup_product,
)

COX_BITS = 16

MOST_NARROW_CHANNELS = 127
"""Up to so many, the quotient of a remainder of byte sums comes of a single word."""


@dataclass(frozen=True)
class Ranges:
    """Bounds of what is not corrected, in units of its modulus; stored residues are canonical."""

    s: Bound = 2
    xi_b: Bound = 2 + Fraction(1, 1 << 30)
    xi_a: Bound = Fraction(3, 2)


CANONICAL_RESIDUES = Ranges()
"""All residues corrected, and no coordinate: m < 2^31. Coordinates in B may be 2 m."""


@dataclass(frozen=True)
class ExtensionMatrix:
    """``T_i = sum of xi_j M_j scale_i - k M scale_i mod m_i`` for the targets m_i.

    The rank k is one more word of the operand.
    """

    cox: Cox
    target: Base
    scales: Residues

    @cached_property
    def matrix(self) -> ByteMatrix:
        """``M_j 2^(8p) scale_i mod m_i`` in row (j, p), columns (i, byte); for the rank -M instead of M_j."""
        targets = tuple(zip(self.target.moduli, self.scales, strict=True))
        words = (*self.cox.base.cofactors, -self.cox.base.product)
        factors = [[c * scale % m for m, scale in targets] for c in words]
        rows = [self._row(row, p) for row in factors for p in range(4)]
        return ByteMatrix(tuple(rows), largest=largest_bytes(self.cox.largest_rank, 4))

    def _row(self, factors: Sequence[int], p: int) -> Residues:
        """Entries for byte p of a word with these factors."""
        return tuple((x << (8 * p)) % m for x, m in zip(factors, self.target.moduli, strict=True))

    @property
    def narrow(self) -> bool:
        """Quotients of remainders come of a single word."""
        return len(self.cox.base) <= MOST_NARROW_CHANNELS

    @cached_property
    def largest_byte_sum(self) -> int:
        """D: bound of the sum of the operand's bytes."""
        return 1020 * len(self.cox.base) + sum(largest_bytes(self.cox.largest_rank, 4))

    def conditions(self) -> Iterator[Condition]:
        """The first holds for any scales, the second for these."""
        yield "accumulator", 255 * self.largest_byte_sum <= INT32_MAX
        yield "range of remainder", remainders_hold(self.matrix, self.target.moduli)

    def holds_for_any_scale(self, m: int) -> bool:
        """Remainders modulo a target m are below 2 m for any scale."""
        return remainder_holds(255 * self.largest_byte_sum, self.largest_byte_sum * (m - 1) >> 31, m)

    def extend(self, xi: Sequence[int], bound: Bound = 1) -> Residues:
        """``T_i mod m_i``: corrected, or below 2 m_i."""
        operand = [byte for x in (*xi, self.cox.rank(xi)) for byte in split(x, 4)]
        rows = zip(self.matrix.product(operand), self.target.moduli, strict=True)
        return tuple(remainder([int(s) for s in sums], m, bound, self.narrow) for sums, m in rows)


@dataclass(frozen=True)
class TensorBases:
    """Bases for N < 2^bits."""

    b: Base
    a: Base
    bits: int
    ranges: Ranges = CANONICAL_RESIDUES

    @cached_property
    def pair(self) -> BasePair:
        """With offset 0 from B to A, one half from A to B."""
        cox_b = Cox.truncating(self.b, COX_BITS, 0, self.ranges.xi_b)
        cox_a = Cox.truncating(self.a, COX_BITS, 1 << (COX_BITS - 1), self.ranges.xi_a)
        return BasePair.of(CoxRower(cox_b), CoxRower(cox_a), self.bits)

    @cached_property
    def to_a(self) -> ExtensionMatrix:
        """From B."""
        return self._extension(self.pair.from_b, self.a, (1,) * len(self.a))

    @cached_property
    def to_b(self) -> ExtensionMatrix:
        """From A."""
        return self._extension(self.pair.from_a, self.b, (1,) * len(self.b))

    def to_scaled_a(self, n: int) -> ExtensionMatrix:
        """From B to what is added to X Y, where all instances share the modulus n: scaled by N kappa^2."""
        return self._extension(self.pair.from_b, self.a, self.scaled(n))

    def to_scaled_b(self, n: int) -> ExtensionMatrix:
        """From A to what B keeps where all instances share the modulus n: scaled by rho."""
        return self._extension(self.pair.from_a, self.b, tuple(root for root, _ in self.roots(n)))

    @cached_property
    def rooted(self) -> bool:
        """Whether -1 is no square in any channel of B: each number or its negative has a root."""
        return all(m % 4 == 3 for m in self.b.moduli)

    def to_coordinates(self, n: int) -> Residues:
        """``-2^32 / (N B_j) mod b_j``: s to the coordinate of t."""
        rows = zip(self.b.inverse_cofactors, self.b.moduli, strict=True)
        return tuple(-inverse * WORD * pow(n, -1, m) % m for inverse, m in rows)

    def roots(self, n: int) -> tuple[tuple[int, int], ...]:
        """``rho_j`` and a sign, rho_j^2 being the sign times :meth:`to_coordinates`. For a rooted B."""
        rows = zip(self.to_coordinates(n), self.b.moduli, strict=True)
        found = [(pow(c, (m + 1) // 4, m), c, m) for c, m in rows]
        assert all(root * root % m in (c, m - c) for root, c, m in found)
        return tuple((root, 1 if root * root % m == c else -1) for root, c, m in found)

    @staticmethod
    def _extension(extension: Extension, target: Base, scales: Residues) -> ExtensionMatrix:
        assert isinstance(extension, CoxRower)
        return ExtensionMatrix(extension.cox, target, scales)

    def scaled(self, n: int) -> Residues:
        """``n kappa_i^2 mod a_i``."""
        return tuple(n * k * k % m for k, m in zip(self.kappa, self.a.moduli, strict=True))

    @cached_property
    def kappa(self) -> Residues:
        """``2^32 / M_B mod a_i``."""
        return tuple(WORD * pow(self.b.product, -1, m) % m for m in self.a.moduli)

    @cached_property
    def coordinate_factors(self) -> Residues:
        """``1 / (kappa_i A_i) mod a_i``: from the stored w to its coordinate."""
        rows = zip(self.a.inverse_cofactors, self.kappa, self.a.moduli, strict=True)
        return tuple(inverse * pow(k, -1, m) % m for inverse, k, m in rows)

    @cached_property
    def inputs(self) -> tuple[RadixToResidues, RadixToResidues]:
        """From bytes into A, scaled, and into B."""
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


def channel_conditions(bases: TensorBases) -> Iterator[Condition]:
    """The inequalities of single channels."""
    r = bases.ranges
    for m in bases.b.moduli:
        s = largest_below(r.s, m)
        yield "range of s", reduction_holds((m - 1) ** 2, m, r.s)
        yield "range of xi_b", reduction_holds(s * (m - 1), m, r.xi_b)
        yield "range of xi_b, one modulus", shoup_holds(s, m, r.xi_b) and largest_below(r.xi_b, m) >= 2 * m
        if bases.rooted:
            yield "range of remainder, one modulus", bases.to_b.holds_for_any_scale(m)
    for m in bases.a.moduli:
        yield "range of w", reduction_holds(2 * (m - 1) ** 2, m, 1)
        yield "range of w, one modulus", reduction_holds((m - 1) ** 2 + 2 * m - 1, m, 1)
        yield "range of xi_a", shoup_holds(m - 1, m, r.xi_a)
        yield "range of remainder, one modulus", bases.to_a.holds_for_any_scale(m)


def conditions(bases: TensorBases) -> Iterator[Condition]:
    """Every inequality of docs/rns.md for this data flow."""
    yield "odd moduli of at most 31 bits", all(m % 2 and m < 1 << 31 for m in bases.b.moduli + bases.a.moduli)
    yield from rns_bases.conditions(bases.pair)
    yield "exit with one subtraction", rns_bases.exits_with_one_subtraction(bases.pair)
    yield from channel_conditions(bases)
    for part in (bases.to_a, bases.to_b, *bases.inputs, bases.output):
        yield from part.conditions()


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

    @cached_property
    def scaled_extension(self) -> ExtensionMatrix:
        """From B to ``t' N kappa^2`` in A."""
        return self.bases.to_scaled_a(self.n)

    @cached_property
    def to_b(self) -> ExtensionMatrix:
        """From A to what B keeps."""
        return self.bases.to_scaled_b(self.n) if self.rooted else self.bases.to_b

    @property
    def rooted(self) -> bool:
        """Whether B keeps ``x_j rho_j``."""
        return self.shared and self.bases.rooted

    @cached_property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """rho_j and its sign, 1 and 1 where B keeps plain residues. Constants of the modulus."""
        return self.bases.roots(self.n) if self.rooted else ((1, 1),) * len(self.bases.b)

    @cached_property
    def to_coordinates(self) -> Residues:
        """:meth:`TensorBases.to_coordinates`. Constants of the modulus.

        With a factor 2^32 more unless the modulus is shared: then a reduction follows.
        """
        rows = zip(self.bases.to_coordinates(self.n), self.bases.b.moduli, strict=True)
        return tuple(c if self.shared else c * WORD % m for c, m in rows)

    @cached_property
    def _scaled_n(self) -> Residues:
        """``N kappa_i^2 mod a_i``. A constant of the modulus."""
        return self.bases.scaled(self.n)

    @cached_property
    def inputs(self) -> tuple[RadixToResidues, RadixToResidues]:
        """From bytes into A and B, as they are kept."""
        into_a, into_b = self.bases.inputs
        return into_a, replace(into_b, scales=tuple(root for root, _ in self.roots))

    def element(self, x: int) -> TensorElement:
        """Of an integer."""
        in_a = zip(self.bases.kappa, self.bases.a.moduli, strict=True)
        in_b = zip(self.roots, self.bases.b.moduli, strict=True)
        return TensorElement(tuple(x * k % m for k, m in in_a), tuple(x * root % m for (root, _), m in in_b))

    def integer(self, x: TensorElement) -> int:
        """The integer that both bases stand for, at most ``min(M_A, M_B)``."""
        assert all(r < m for r, m in zip(x.a + x.b, self.bases.a.moduli + self.bases.b.moduli, strict=True))
        in_b = zip(x.b, self.roots, self.bases.b.moduli, strict=True)
        value = self.bases.b.value([r * pow(root, -1, m) % m for r, (root, _), m in in_b])
        scaled = zip(x.a, self.bases.kappa, self.bases.a.moduli, strict=True)
        assert all((value * k - r) % m == 0 for r, k, m in scaled), "the bases disagree"
        return value

    def _coordinates_b(self, x: TensorElement, y: TensorElement) -> Residues:
        """Coordinates of ``t = -x y / N mod M_B``."""
        r, moduli = self.bases.ranges, self.bases.b.moduli
        s = [montgomery_reduce(u * v, m, r.s) for u, v, m in zip(x.b, y.b, moduli, strict=True)]
        if self.rooted:
            signed = zip(s, self.roots, moduli, strict=True)
            return tuple(s_j if sign > 0 else 2 * m - s_j for s_j, (_, sign), m in signed)
        rows = zip(s, self.to_coordinates, moduli, strict=True)
        if self.shared:
            return tuple(shoup_product(s_j, c, m) for s_j, c, m in rows)
        return tuple(montgomery_reduce(s_j * c, m, r.xi_b) for s_j, c, m in rows)

    def coordinates_a(self, w: Residues) -> Residues:
        """Coordinates of an element stored in A."""
        rows = zip(w, self.bases.coordinate_factors, self.bases.a.moduli, strict=True)
        return tuple(shoup_product(u, factor, m) for u, factor, m in rows)

    def product(self, x: TensorElement, y: TensorElement) -> TensorElement:
        """``(x y + t' N) / M_B``."""
        xi = self._coordinates_b(x, y)
        if self.shared:
            added = self.scaled_extension.extend(xi, 2)
        else:
            t = self.bases.to_a.extend(xi)
            added = tuple(t_i * scaled for t_i, scaled in zip(t, self._scaled_n, strict=True))
        rows = zip(x.a, y.a, added, self.bases.a.moduli, strict=True)
        w = tuple(montgomery_reduce(u * v + t_n, m) for u, v, t_n, m in rows)
        return TensorElement(w, self.to_b.extend(self.coordinates_a(w)))

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
        into_a, into_b = self.inputs
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
