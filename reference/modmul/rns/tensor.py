# SPDX-License-Identifier: Apache-2.0
"""The data flow of RNS Montgomery multiplication with both extensions on 8-bit tensor cores, one instance.

Sources are those of :mod:`reference.modmul.rns.montgomery`; docs/rns/theory.md derives the matrix form of the
extensions, the scale kappa and the ranges.

A base extension is a product of the bytes of words with a matrix of constants of the bases, and a remainder
of the byte sums, which takes no high word of a product. Base A keeps ``X_i = x_i kappa_i``, ``kappa_i =
2^32 / M_B mod a_i``: one reduction of ``X Y + t N kappa^2`` is then the stored result, whose bytes are the
operand of the extension to B. The extension to A takes coordinates, and in squarings no rank. Base B keeps
plain residues, as uncorrected remainders where products allow it. Where all instances share a modulus and -1
is a square in no channel of B, it keeps ``X_j = x_j rho_j``, and one reduction of ``X Y`` is the coordinate
of t but for its sign. Every bound of :func:`conditions` is asserted as it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from reference.modexp.windows import power_fixed
from reference.modmul.rns.bases import (
    Base,
    BasePair,
    Condition,
    Cox,
    Residues,
    check_modulus,
    exits_with_one_subtraction,
    require,
)
from reference.modmul.rns.bases import conditions as conditions_of_pair
from reference.modmul.rns.byte_matrix import INT32_MAX, ByteMatrix, join
from reference.modmul.rns.conversion import RadixToResidues, ResiduesToRadix, remainders_hold
from reference.modmul.rns.extension import ByteRower, CoxRower, Uncorrected
from reference.modmul.rns.operands import (
    Coordinates,
    Operand,
    StoredResidues,
    bytes_of,
    factors_of_bytes,
    largest_operand,
)
from reference.modmul.rns.words import (
    WORD,
    Bound,
    largest_below,
    largest_for_any_entries,
    largest_remainder,
    montgomery_reduce,
    reduction_holds,
    remainder,
    remainder_holds,
    shoup_holds,
    shoup_product,
)

COX_BITS = 16

MOST_NARROW_CHANNELS = 127
"""Up to this number of channels, the quotient of a remainder of byte sums is computed from a single word."""


@dataclass(frozen=True)
class Ranges:
    """Bounds of uncorrected values, in units of the modulus."""

    s: Bound = 2
    xi_b: Bound = 2 + Fraction(1, 1 << 30)


FULL_RANGES = Ranges()
"""The ranges for m < 2^31. Coordinates in B may be 2 m."""


@dataclass(frozen=True)
class ExtensionMatrix:
    """A base extension as a matrix product: ``T_i = (sum of bytes times factors) scale_i mod m_i``.

    The m_i are the targets. The rank is one more word of the operand.
    """

    operand: Operand
    target: Base
    scales: Residues

    @cached_property
    def matrix(self) -> ByteMatrix:
        """``factor scale_i mod m_i`` in a row for each byte, columns (i, byte)."""
        targets = tuple(zip(self.target.moduli, self.scales, strict=True))
        factors = factors_of_bytes(self.operand)
        rows = tuple(tuple(f % m * scale % m for m, scale in targets) for f in factors)
        return ByteMatrix(rows, largest=largest_operand(self.operand))

    @property
    def narrow(self) -> bool:
        """Whether quotients of remainders are computed from a single word."""
        return len(self.operand.base) <= MOST_NARROW_CHANNELS

    @cached_property
    def largest_byte_sum(self) -> int:
        """The bound D of the sum of the operand's bytes."""
        return sum(largest_operand(self.operand))

    def conditions(self) -> Iterator[Condition]:
        """Yield the conditions: the first holds for any scales, the second for these."""
        yield "accumulator", 255 * self.largest_byte_sum <= INT32_MAX
        yield "range of remainder", remainders_hold(self.matrix, self.target.moduli)

    def holds_for_any_scale(self, m: int) -> bool:
        """Whether remainders modulo a target m are below 2 m for any scale."""
        return remainder_holds(*largest_for_any_entries(self.largest_byte_sum, m), m)

    @cached_property
    def largest_remainders(self) -> Residues:
        """The largest uncorrected remainder of each target."""
        rows = zip(self.matrix.largest_sums, self.target.moduli, strict=True)
        return tuple(largest_remainder(int(sums[0]), join(sums) >> 31, m) for sums, m in rows)

    @cached_property
    def largest_remainders_for_any_scale(self) -> Residues:
        """The largest uncorrected remainder of each target for any scales."""
        targets = self.target.moduli
        largest = (largest_for_any_entries(self.largest_byte_sum, m) for m in targets)
        return tuple(largest_remainder(*sums, m) for sums, m in zip(largest, targets, strict=True))

    def extend(self, words: Sequence[int], bound: Bound = 1, ranked: bool = True) -> Residues:
        """``T_i mod m_i``: corrected, or below 2 m_i. The rank is 0 unless ``ranked``."""
        row = bytes_of(words, self.operand.rank(words) if ranked else 0)
        rows = zip(self.matrix.product(row), self.target.moduli, strict=True)
        return tuple(remainder([int(s) for s in sums], m, bound, self.narrow) for sums, m in rows)


@dataclass(frozen=True)
class TensorBases:
    """The bases for N < 2^bits, and their constants."""

    b: Base
    a: Base
    bits: int
    ranges: Ranges = FULL_RANGES

    @cached_property
    def coordinates_of_b(self) -> Coordinates:
        """The operand from B to A; its rank is estimated with offset 0."""
        return Coordinates(Cox.truncating(self.b, COX_BITS, 0, self.ranges.xi_b))

    @cached_property
    def stored_in_a(self) -> StoredResidues:
        """The operand from A to B and out; its rank is exact."""
        return StoredResidues(self.a, self.coordinate_factors)

    @cached_property
    def pair(self) -> BasePair:
        """The pair for squarings, without a rank from B to A. Its bound holds for all elements."""
        from_b = Uncorrected(self.b, self.ranges.xi_b)
        return BasePair.of(from_b, ByteRower(self.stored_in_a), self.bits)

    @cached_property
    def ranked_pair(self) -> BasePair:
        """The pair for multiplications, whose results are smaller."""
        return replace(self.pair, from_b=CoxRower(self.coordinates_of_b.cox))

    @cached_property
    def to_a(self) -> ExtensionMatrix:
        """The extension from B to A."""
        return ExtensionMatrix(self.coordinates_of_b, self.a, (1,) * len(self.a))

    @cached_property
    def to_b(self) -> ExtensionMatrix:
        """The extension from A to B."""
        return ExtensionMatrix(self.stored_in_a, self.b, (1,) * len(self.b))

    def to_scaled_a(self, n: int) -> ExtensionMatrix:
        """The extension from B to A times N kappa^2, to be added to X Y where all instances share n."""
        return replace(self.to_a, scales=self.scaled(n))

    def to_scaled_b(self, n: int) -> ExtensionMatrix:
        """The extension from A to B times rho, where all instances share n."""
        return replace(self.to_b, scales=tuple(root for root, _ in self.roots(n)))

    def _remainders_in_b(self, shared: bool) -> Residues:
        """The largest uncorrected remainders in B."""
        if shared and self.rooted:
            return self.to_b.largest_remainders_for_any_scale
        return self.to_b.largest_remainders

    def lazy_b(self, shared: bool) -> bool:
        """Whether B keeps remainders uncorrected: where their products are in range."""
        rows = zip(self._remainders_in_b(shared), self.b.moduli, strict=True)
        return all(reduction_holds(v * v, m, self.ranges.s) for v, m in rows)

    def largest_in_b(self, shared: bool) -> Residues:
        """The largest residues that B keeps."""
        return self._remainders_in_b(shared) if self.lazy_b(shared) else tuple(m - 1 for m in self.b.moduli)

    @cached_property
    def rooted(self) -> bool:
        """Whether -1 is a square in no channel of B, so that each number or its negative has a root."""
        return all(m % 4 == 3 for m in self.b.moduli)

    def to_coordinates(self, n: int) -> Residues:
        """``-2^32 / (N B_j) mod b_j``, which takes s to the coordinate of t."""
        rows = zip(self.b.inverse_cofactors, self.b.moduli, strict=True)
        return tuple(-inverse * WORD * pow(n, -1, m) % m for inverse, m in rows)

    def roots(self, n: int) -> tuple[tuple[int, int], ...]:
        """For a rooted B, ``rho_j`` and a sign such that rho_j^2 is the sign times :meth:`to_coordinates`."""
        rows = zip(self.to_coordinates(n), self.b.moduli, strict=True)
        found = [(pow(c, (m + 1) // 4, m), c, m) for c, m in rows]
        assert all(root * root % m in (c, m - c) for root, c, m in found)
        return tuple((root, 1 if root * root % m == c else -1) for root, c, m in found)

    def scaled(self, n: int) -> Residues:
        """``n kappa_i^2 mod a_i``."""
        return tuple(n * k * k % m for k, m in zip(self.kappa, self.a.moduli, strict=True))

    @cached_property
    def kappa(self) -> Residues:
        """``2^32 / M_B mod a_i``."""
        return tuple(WORD * pow(self.b.product, -1, m) % m for m in self.a.moduli)

    @cached_property
    def coordinate_factors(self) -> Residues:
        """``1 / (kappa_i A_i) mod a_i``, which takes the stored w to its coordinate."""
        rows = zip(self.a.inverse_cofactors, self.kappa, self.a.moduli, strict=True)
        return tuple(inverse * pow(k, -1, m) % m for inverse, k, m in rows)

    @cached_property
    def inputs(self) -> tuple[RadixToResidues, RadixToResidues]:
        """The conversions from bytes into A, scaled, and into B."""
        length = -(-self.bits // 8)
        ones = (1,) * len(self.b)
        return (
            RadixToResidues(self.a.moduli, self.kappa, length),
            RadixToResidues(self.b.moduli, ones, length),
        )

    @cached_property
    def output(self) -> ResiduesToRadix:
        """The conversion from stored residues in A to words that hold 2 N, a multiple of four of them."""
        return ResiduesToRadix(self.stored_in_a, -(-(self.bits + 1) // 128) * 16)


def channel_conditions(bases: TensorBases) -> Iterator[Condition]:
    """Yield the inequalities of single channels."""
    r = bases.ranges
    largest_in_b = zip(bases.largest_in_b(False), bases.largest_in_b(True), strict=True)
    for m, largest in zip(bases.b.moduli, largest_in_b, strict=True):
        s = largest_below(r.s, m)
        yield "range of s", reduction_holds(max(largest) ** 2, m, r.s)
        yield "range of xi_b", reduction_holds(s * (m - 1), m, r.xi_b)
        yield "range of xi_b, one modulus", shoup_holds(s, m, r.xi_b) and largest_below(r.xi_b, m) >= 2 * m
        if bases.rooted:
            yield "range of remainder, one modulus", bases.to_b.holds_for_any_scale(m)
            yield "input range, one modulus", bases.inputs[1].holds_for_any_scale(m)
    for m in bases.a.moduli:
        yield "range of w", reduction_holds(2 * (m - 1) ** 2, m, 1)
        yield "range of w, one modulus", reduction_holds((m - 1) ** 2 + 2 * m - 1, m, 1)
        yield "range of remainder, one modulus", bases.to_a.holds_for_any_scale(m)


def conditions(bases: TensorBases) -> Iterator[Condition]:
    """Yield every inequality of docs/rns/theory.md for this data flow."""
    yield "odd moduli of at most 31 bits", all(m % 2 and m < 1 << 31 for m in bases.b.moduli + bases.a.moduli)
    yield from conditions_of_pair(bases.pair)
    yield from conditions_of_pair(bases.ranked_pair)
    yield "exit with one subtraction", exits_with_one_subtraction(bases.ranked_pair)
    yield from channel_conditions(bases)
    for part in (bases.to_a, bases.to_b, *bases.inputs, bases.output):
        yield from part.conditions()


class TensorElement(NamedTuple):
    """An element: ``x kappa_i`` in A; x or x rho_j in B, corrected or not."""

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
        """The extension from B to ``t' N kappa^2`` in A."""
        return self.bases.to_scaled_a(self.n)

    @cached_property
    def to_b(self) -> ExtensionMatrix:
        """The extension from A to the residues that B keeps."""
        return self.bases.to_scaled_b(self.n) if self.rooted else self.bases.to_b

    @property
    def rooted(self) -> bool:
        """Whether B keeps ``x_j rho_j``."""
        return self.shared and self.bases.rooted

    @cached_property
    def lazy_b(self) -> bool:
        """Whether B keeps remainders uncorrected."""
        return self.bases.lazy_b(self.shared)

    @cached_property
    def largest_in_b(self) -> Residues:
        """The largest residues that B keeps."""
        return self.bases.largest_in_b(self.shared)

    @cached_property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """The constants rho_j and their signs; 1 and 1 where B keeps plain residues."""
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
        """The conversions from bytes into A and B."""
        into_a, into_b = self.bases.inputs
        return into_a, replace(into_b, scales=tuple(root for root, _ in self.roots))

    def element(self, x: int) -> TensorElement:
        """The element of an integer."""
        in_a = zip(self.bases.kappa, self.bases.a.moduli, strict=True)
        in_b = zip(self.roots, self.bases.b.moduli, strict=True)
        return TensorElement(tuple(x * k % m for k, m in in_a), tuple(x * root % m for (root, _), m in in_b))

    def integer(self, x: TensorElement) -> int:
        """The integer that the residues in both bases represent, at most ``min(M_A, M_B)``."""
        assert all(0 <= r < m for r, m in zip(x.a, self.bases.a.moduli, strict=True))
        assert all(0 <= r <= v for r, v in zip(x.b, self.largest_in_b, strict=True))
        in_b = zip(x.b, self.roots, self.bases.b.moduli, strict=True)
        value = self.bases.b.value([r * pow(root, -1, m) % m for r, (root, _), m in in_b])
        scaled = zip(x.a, self.bases.kappa, self.bases.a.moduli, strict=True)
        assert all((value * k - r) % m == 0 for r, k, m in scaled), "the bases disagree"
        return value

    def _coordinates_b(self, x: TensorElement, y: TensorElement) -> Residues:
        """The coordinates of ``t = -x y / N mod M_B``."""
        r, moduli = self.bases.ranges, self.bases.b.moduli
        s = [montgomery_reduce(u * v, m, r.s) for u, v, m in zip(x.b, y.b, moduli, strict=True)]
        if self.rooted:
            signed = zip(s, self.roots, moduli, strict=True)
            return tuple(s_j if sign > 0 else 2 * m - s_j for s_j, (_, sign), m in signed)
        rows = zip(s, self.to_coordinates, moduli, strict=True)
        if self.shared:
            return tuple(shoup_product(s_j, c, m) for s_j, c, m in rows)
        return tuple(montgomery_reduce(s_j * c, m, r.xi_b) for s_j, c, m in rows)

    def _reduced(self, x: TensorElement, y: TensorElement, ranked: bool) -> TensorElement:
        """``(x y + t' N) / M_B``, t' with the rank of its coordinates or without."""
        xi = self._coordinates_b(x, y)
        if self.shared:
            added = self.scaled_extension.extend(xi, 2, ranked)
        else:
            t = self.bases.to_a.extend(xi, 1, ranked)
            added = tuple(t_i * scaled for t_i, scaled in zip(t, self._scaled_n, strict=True))
        rows = zip(x.a, y.a, added, self.bases.a.moduli, strict=True)
        w = tuple(montgomery_reduce(u * v + t_n, m) for u, v, t_n, m in rows)
        return TensorElement(w, self.to_b.extend(w, 2 if self.lazy_b else 1))

    def product(self, x: TensorElement, y: TensorElement) -> TensorElement:
        """``(x y + t' N) / M_B``, t' < (1 + Delta) M_B."""
        return self._reduced(x, y, ranked=True)

    def square(self, x: TensorElement) -> TensorElement:
        """``(x^2 + t' N) / M_B``, t' < lambda n M_B."""
        return self._reduced(x, x, ranked=False)

    def _checked(self, x: int, y: int, w: TensorElement, pair: BasePair) -> TensorElement:
        """``w``, asserted to be the product of integers below ``bound N`` and within the pair's bound."""
        limit, radix = self.bases.pair.bound * self.n, self.bases.b.product
        value = self.integer(w)
        assert max(x, y, value) < limit
        assert value * radix < x * y + (1 + pair.from_b.excess) * radix * self.n
        assert (value * radix - x * y) % self.n == 0
        return w

    def mul(self, a: TensorElement, b: TensorElement) -> TensorElement:
        """``a b / M_B mod N``, below ``bound N``."""
        return self._checked(self.integer(a), self.integer(b), self.product(a, b), self.bases.ranked_pair)

    def sqr(self, a: TensorElement) -> TensorElement:
        """``a^2 / M_B mod N``, below ``bound N``."""
        x = self.integer(a)
        return self._checked(x, x, self.square(a), self.bases.pair)

    def one(self) -> TensorElement:
        """M_B mod N."""
        return self.element(self.bases.b.product % self.n)

    def select(self, table: Sequence[TensorElement], index: int) -> TensorElement:
        """The entry at ``index``."""
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
        value = self.bases.output.convert(w.a)
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
