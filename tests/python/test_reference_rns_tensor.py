# SPDX-License-Identifier: Apache-2.0
"""The tensor-core data flow of rns and its conversions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from reference.modmul.rns.bases import (
    BaseError,
    require,
)
from reference.modmul.rns.byte_matrix import ByteMatrix, join
from reference.modmul.rns.conversion import RadixToResidues, ResiduesToRadix, resolve_carries
from reference.modmul.rns.operands import integer_of
from reference.modmul.rns.tensor import (
    TensorElement,
    TensorMontgomery,
    conditions,
)
from reference.modmul.rns.words import WORD, montgomery_reduce, reduction_holds, remainder
from tests.python.rns_support import bases, extreme_words, tensor

import rns_bases as tool


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("bits", [60, 521, 4096, 8192])
def test_extensions_of_extreme_words(bits: int, ranked: bool) -> None:
    tables = bases(bits) if bits < 4096 else tensor(bits)
    require(conditions(tables))
    n = (1 << bits) - 3
    for extension in (tables.to_a, tables.to_b, tables.to_scaled_a(n)):
        for words in extreme_words(extension):
            exact = integer_of(extension.operand, words, extension.operand.rank(words) if ranked else 0)
            result, uncorrected = extension.extend(words, 1, ranked), extension.extend(words, 2, ranked)
            rows = zip(result, uncorrected, extension.scales, extension.target.moduli, strict=True)
            assert all(r == exact * scale % m and u in (r, r + m) for r, u, scale, m in rows)
            assert all(u <= v for u, v in zip(uncorrected, extension.largest_remainders, strict=True))


def test_the_narrow_form_is_chosen_by_the_channels_alone() -> None:
    for bits, narrow in ((3072, True), (4096, False)):
        tables = tensor(bits)
        assert [e.narrow for e in (tables.to_a, tables.to_b, tables.to_scaled_a(3))] == [narrow] * 3


def test_remainders_in_a_are_in_range_for_any_matrix() -> None:
    """Nothing but entries of m - 1, at the widest bases; base B's would not be."""
    tables = tensor(8192)
    m = min(tables.a.moduli)
    matrix = ByteMatrix(((m - 1,),) * (4 * len(tables.b) + 4), largest=tables.to_a.matrix.largest)
    sums = [int(s) for s in matrix.largest_sums[0]]
    assert remainder(sums, m) == join(sums) % m
    assert remainder(sums, m, 2) <= tables.to_a.largest_remainders_for_any_scale[-1]
    assert all(tables.to_a.holds_for_any_scale(a) for a in tables.a.moduli)
    assert not all(tables.to_a.holds_for_any_scale(b) for b in tables.b.moduli)


def ring_of(bits: int, compiled: bool, n: int, shared: bool) -> TensorMontgomery:
    """Arithmetic in the compiled bases, which have roots, or in the smallest ones."""
    return TensorMontgomery(tensor(bits) if compiled else bases(bits), n, shared)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("bits", "compiled"), [(60, False), (521, False), (512, True), (2048, False)])
def test_products_and_powers(bits: int, compiled: bool, shared: bool) -> None:
    draw = random.Random(bits)
    for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1):
        ring = ring_of(bits, compiled, n, shared)
        assert ring.rooted == shared or not compiled
        largest = ring.element(math.ceil(ring.bases.pair.bound * n) - 1)
        ring.sqr(largest)
        ring.mul(largest, ring.sqr(largest))
        ring.sqr(ring.sqr(ring.element(0)))
        x = draw.getrandbits(bits)
        assert ring.decode(ring.encode(x)) == x % n
        assert ring.power(x, 0b1011001, 8) == pow(x, 0b1011001, n)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bits", [512, 4096])
def test_squarings_add_more_multiples_than_multiplications(bits: int, shared: bool) -> None:
    """Both are the product modulo N; that of a multiplication is below 2 N for small factors."""
    n, draw = (1 << bits) - 5, random.Random(bits)
    ring = TensorMontgomery(tensor(bits), n, shared)
    for x in (ring.encode(draw.getrandbits(bits)) for _ in range(3)):
        square, product = ring.integer(ring.sqr(x)), ring.integer(ring.mul(x, x))
        assert square % n == product % n
        assert product < 2 * n < square < ring.bases.pair.bound * n / 2 + 1


def shifted(ring: TensorMontgomery, x: TensorElement) -> TensorElement:
    """The same element, its residues in B uncorrected where that is in range."""
    rows = zip(x.b, ring.bases.b.moduli, ring.largest_in_b, strict=True)
    return TensorElement(x.a, tuple(r % m + m if r % m + m <= v else r % m for r, m, v in rows))


@pytest.mark.parametrize("shared", [False, True])
def test_remainders_in_b_stand_for_their_residues(shared: bool) -> None:
    n, draw = 2**512 - 569, random.Random(10)
    ring = TensorMontgomery(tensor(512), n, shared)
    for _ in range(5):
        x, y = ring.element(0), ring.encode(draw.getrandbits(512))
        assert shifted(ring, x).b == tuple(ring.bases.b.moduli)
        assert ring.integer(shifted(ring, y)) == ring.integer(y)
        for u in (x, y):
            product, square = ring.mul(shifted(ring, u), shifted(ring, y)), ring.sqr(shifted(ring, u))
            assert ring.integer(product) % n == ring.integer(ring.mul(u, y)) % n
            assert ring.integer(square) % n == ring.integer(ring.sqr(u)) % n
        assert ring.decode(shifted(ring, y)) == ring.decode(y)


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_b_is_lazy_where_products_of_remainders_are_in_range(bits: int) -> None:
    tables = tensor(bits)
    assert [tables.lazy_b(shared) for shared in (False, True)] == [bits <= 4096, bits <= 2048]
    for shared in (False, True):
        for v, m in zip(tables.largest_in_b(shared), tables.b.moduli, strict=True):
            assert v < 2 * m if tables.lazy_b(shared) else v == m - 1
            with_the_largest_q = (v * v - m) // WORD * WORD + m
            assert montgomery_reduce(v * v, m, 2) < 2 * m
            assert montgomery_reduce(with_the_largest_q, m, 2) < 2 * m


def test_remainders_of_3072_bits_are_barely_too_large_for_any_matrix() -> None:
    tables = tensor(3072)
    remainders = list(zip(tables.to_b.largest_remainders_for_any_scale, tables.b.moduli, strict=True))
    squares = [Fraction(v * v, m * WORD) for v, m in remainders]
    assert 1 < max(squares) < Fraction(102, 100)
    assert [reduction_holds(v * v, m, 2) for v, m in remainders] == [square <= 1 for square in squares]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("bits", "compiled"), [(521, False), (512, True), (6144, True)])
def test_products_of_extreme_residues(bits: int, compiled: bool, shared: bool) -> None:
    """Nothing but the largest residues, which stand for no small number, stay within each step's bounds."""
    ring = ring_of(bits, compiled, (1 << bits) - 1, shared)
    bounds = (tuple(m - 1 for m in ring.bases.a.moduli), ring.largest_in_b)
    largest, least = TensorElement(*bounds), TensorElement(*((0,) * len(base) for base in bounds))
    results = [ring.product(x, y) for x, y in itertools.product((largest, least), repeat=2)]
    for result in (*results, ring.square(largest), ring.square(least)):
        for residues, base in zip(result, bounds, strict=True):
            assert all(0 <= r <= bound for r, bound in zip(residues, base, strict=True))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bits", [4096, 8192])
def test_products_in_the_widest_bases(bits: int, shared: bool) -> None:
    tables = tensor(bits)
    n = (1 << bits) - 5
    ring, x = TensorMontgomery(tables, n, shared), random.Random(bits).getrandbits(bits)
    assert ring.decode(ring.sqr(ring.encode(x))) == x * x % n
    ring.sqr(ring.element(math.ceil(tables.pair.bound * n) - 1))


def test_a_full_exponentiation() -> None:
    draw = random.Random(5)
    n, x, e = (draw.getrandbits(512) | 1 for _ in range(3))
    assert TensorMontgomery(bases(512), n).power(x, e) == pow(x, e, n)


@pytest.mark.parametrize("n", [1, 2, 3, 2**60 - 1, 2**59])
def test_the_least_and_even_moduli(n: int) -> None:
    ring = TensorMontgomery(bases(60), n)
    for x in (0, 1, 2**60 - 1):
        assert ring.decode(ring.encode(x)) == x % n
        assert ring.power(x, 5) == pow(x, 5, n)


def test_a_modulus_with_a_channel_as_factor_is_refused() -> None:
    tables = bases(60)
    with pytest.raises(BaseError, match="prime to M_B"):
        TensorMontgomery(tables, 3 * tables.b.moduli[0])
    assert TensorMontgomery(tables, 3 * tables.a.moduli[0]).power(5, 77) == pow(5, 77, 3 * tables.a.moduli[0])


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_outputs_of_the_least_and_the_largest(bits: int) -> None:
    """Up to all that the words hold, 2 N and more."""
    tables = tensor(bits)
    for x in (0, 1, (2 << bits) - 1, (1 << 8 * tables.output.length) - 1):
        if x < tables.pair.from_a.room * tables.a.product:
            assert tables.output.convert(tables.stored_in_a.words(tables.a.residues(x))) == x
    assert 2 << bits <= 1 << 8 * tables.output.length


def test_conversions() -> None:
    tables, draw = bases(521), random.Random(3)
    into = RadixToResidues(tables.a.moduli, (1,) * len(tables.a), 66)
    for x in [0, 1, 255, 2**528 - 1, 2**527, *(draw.getrandbits(528) for _ in range(5))]:
        assert into.convert(x) == tables.a.residues(x)
    out = ResiduesToRadix(tables.stored_in_a, 72)
    limit = math.ceil(tables.pair.from_a.room * tables.a.product)
    for x in [0, 1, 255, 2**521 - 1, 2**520, limit - 1]:
        assert x < 2**576
        assert out.convert(tables.stored_in_a.words(tables.a.residues(x))) == x
        assert TensorMontgomery(tables, 3).element(x).a == tables.stored_in_a.words(tables.a.residues(x))
    require(into.conditions())
    require(out.conditions())


def test_carries() -> None:
    draw = random.Random(4)
    patterns = [[2**31 - 1] * 12, [0] * 12, [255] * 12, [256] + [255] * 11, [255, 255, 255, 255, 1] + [0] * 7]
    for columns in [*patterns, *([draw.getrandbits(31) for _ in range(12)] for _ in range(20))]:
        assert resolve_carries(columns) == join(columns) % 2**96
