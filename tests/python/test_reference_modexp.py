# SPDX-License-Identifier: Apache-2.0
"""The oracle's exponentiation: exhaustive for small operands, random for large, operation counts checked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.modexp.comb import Comb, Shape, choose_shape
from reference.modexp.even import powmod_even
from reference.modexp.monoid import Integers, MontgomeryWords
from reference.modexp.multi import (
    interleaved_cost,
    pippenger_cost,
    pippenger_width,
    power_product,
    power_product_buckets,
    power_product_interleaved,
    power_product_joint,
    sliding_digits,
)
from reference.modexp.windows import (
    digits,
    fixed_cost,
    fixed_width,
    power_binary,
    power_fixed,
    power_sliding,
    powmod,
    sliding_width,
)
from reference.modmul.power_of_two import EvenSplit
from reference.modmul.scalar64 import Montgomery


def test_all_small_powers() -> None:
    """Every (base, exponent, modulus) with modulus up to 2^5, by every window method and width up to 4."""
    for n in range(1, 33):
        ring = Integers(n)
        for base in range(n):
            for exponent in range(33):
                expected = pow(base, exponent, n)
                assert power_binary(ring, base, exponent) == expected
                for width in (1, 2, 3, 4):
                    assert power_fixed(ring, base, exponent, 6, width) == expected
                    assert power_sliding(ring, base, exponent, width) == expected


@pytest.mark.parametrize("word_bits", [2, 3, 8, 64])
def test_all_small_powers_on_montgomery_words(word_bits: int) -> None:
    for n in range(1, 24, 2):
        for base in range(-2, n + 2):
            for exponent in range(18):
                expected = pow(base, exponent, n)
                assert powmod(base, exponent, n, word_bits=word_bits) == expected
                assert powmod(base, exponent, n, secret=True, word_bits=word_bits) == expected
                assert powmod_even(base, exponent, 2 * n, word_bits) == pow(base, exponent, 2 * n)


@given(st.integers(0, 2**600), st.integers(0, 2**300), st.integers(0, 2**500), st.booleans())
@settings(max_examples=40, deadline=None)
def test_powmod_random(base: int, exponent: int, half: int, secret: bool) -> None:
    n = 2 * half + 1
    assert powmod(base, exponent, n, secret=secret) == pow(base, exponent, n)


@given(st.integers(0, 2**100), st.integers(0, 90), st.integers(0, 2**120), st.integers(0, 2**80))
@settings(max_examples=60, deadline=None)
def test_powmod_even_random(odd_half: int, k: int, base: int, exponent: int) -> None:
    n = (2 * odd_half + 1) << k
    assert powmod_even(base, exponent, n) == pow(base, exponent, n)


def test_even_split_rejects_nonpositive() -> None:
    with pytest.raises(ValueError, match="positive"):
        EvenSplit.of(0)


@pytest.mark.parametrize("bits", [1, 5, 64, 100, 257])
def test_fixed_windows_do_the_same_work_for_every_exponent(bits: int) -> None:
    """The count of squarings and multiplications depends on the exponent's declared length alone."""
    counts = set()
    for exponent in (0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << bits) // 3):
        ring = Integers(2**89 - 1)
        power_fixed(ring, 5, exponent, bits)
        counts.add((ring.multiplications, ring.squarings))
    assert len(counts) == 1
    # Half of the table's multiplications in the count are squarings: g^2, g^4, g^6, ..
    width = fixed_width(bits)
    multiplications, squarings = counts.pop()
    window_squarings = width * (len(digits(0, width, bits)) - 1)
    assert multiplications + squarings - window_squarings == fixed_cost(bits, width)


def test_masked_selection_reads_every_entry() -> None:
    m = Montgomery.of(2**127 - 1)
    ring = MontgomeryWords(m)
    for size in (1, 2, 8, 32):
        table = [m.residue(i + 1) for i in range(size)]
        assert [ring.select(table, i) for i in range(size)] == table


@pytest.mark.parametrize("bits", [1, 6, 7, 24, 25, 80, 81, 240, 241, 672, 673, 1792, 1793, 4608, 4609])
def test_sliding_width_is_the_least_expected_cost(bits: int) -> None:
    costs = {width: (1 << (width - 1)) + bits / (width + 1) for width in range(1, 11)}
    assert costs[sliding_width(bits)] == pytest.approx(min(costs.values()))


def test_sliding_beats_binary_and_stays_near_its_expected_cost() -> None:
    bits = 1024
    exponent = pow(3, 700) % (1 << bits) | 1 << (bits - 1)
    sliding, binary = Integers(2**127 - 1), Integers(2**127 - 1)
    power_sliding(sliding, 7, exponent)
    power_binary(binary, 7, exponent)
    width = sliding_width(bits)
    assert sliding.squarings <= bits
    assert sliding.multiplications < 1.15 * ((1 << (width - 1)) + bits / (width + 1))
    assert sliding.multiplications < binary.multiplications / 2


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_comb_exhaustive(rows: int, columns: int) -> None:
    """Every exponent below 2^bits, for lengths that do and do not divide by rows and columns."""
    for bits in (1, 2, 5, 7, 8):
        comb = Comb.of(Integers(251), 6, Shape(bits, rows, columns))
        for exponent in range(1 << bits):
            assert comb.power(exponent) == pow(6, exponent, 251)


@given(st.integers(0, 2**256 - 1), st.sampled_from([2, 8, 64, 256]))
@settings(max_examples=30, deadline=None)
def test_comb_random_and_its_cost(exponent: int, entries: int) -> None:
    ring = Integers(2**255 - 19)
    shape = choose_shape(256, entries)
    assert shape.entries <= entries
    comb = Comb.of(ring, 9, shape)
    ring.multiplications = ring.squarings = 0
    assert comb.power(exponent) == pow(9, exponent, 2**255 - 19)
    assert ring.multiplications + ring.squarings == shape.cost


def test_comb_refuses_a_longer_exponent() -> None:
    comb = Comb.of(Integers(11), 2, Shape(8, 2, 2))
    with pytest.raises(AssertionError, match="longer"):
        comb.power(256)


def expected_product(bases: list[int], exponents: list[int], n: int) -> int:
    return math.prod(pow(g, e, n) for g, e in zip(bases, exponents, strict=True)) % n


def test_all_small_products_of_two_powers() -> None:
    n = 11
    for g in range(n):
        for h in (0, 1, 2, 7):
            for e in range(9):
                for f in range(9):
                    expected = expected_product([g, h], [e, f], n)
                    ring = Integers(n)
                    for width in (1, 2, 3):
                        assert power_product_joint(ring, [g, h], [e, f], width) == expected
                        assert power_product_interleaved(ring, [g, h], [e, f], width) == expected
                        assert power_product_buckets(ring, [g, h], [e, f], width) == expected


@given(st.lists(st.tuples(st.integers(0, 2**128), st.integers(0, 2**90)), max_size=9))
@settings(max_examples=50, deadline=None)
def test_products_random(terms: list[tuple[int, int]]) -> None:
    n = 2**107 - 1
    bases, exponents = [g for g, _ in terms], [e for _, e in terms]
    expected = expected_product(bases, exponents, n)
    ring = Integers(n)
    assert power_product(ring, bases, exponents) == expected
    assert power_product_interleaved(ring, bases, exponents) == expected
    assert power_product_buckets(ring, bases, exponents) == expected
    assert power_product_joint(ring, bases[:4], exponents[:4]) == expected_product(
        bases[:4], exponents[:4], n
    )


@given(st.integers(0, 2**200), st.integers(1, 8))
def test_sliding_digits_recompose(exponent: int, width: int) -> None:
    pairs = sliding_digits(exponent, width)
    assert sum(digit << position for position, digit in pairs) == exponent
    assert all(digit & 1 and digit < 1 << width for _, digit in pairs)


def test_product_algorithm_changes_with_the_number_of_terms() -> None:
    """Straus for few terms, Pippenger for many: the crossing exists and the choice takes the cheaper."""
    cheaper = [
        interleaved_cost(terms, 256) <= pippenger_cost(terms, 256, pippenger_width(terms, 256))
        for terms in (2, 16, 4096)
    ]
    assert cheaper[0]
    assert not cheaper[-1]
    n, terms = 101, 700
    bases, exponents = list(range(1, terms + 1)), [3 * i % 256 for i in range(terms)]
    chosen, straus = Integers(n), Integers(n)
    assert power_product(chosen, bases, exponents) == expected_product(bases, exponents, n)
    power_product_interleaved(straus, bases, exponents)
    assert chosen.multiplications < straus.multiplications
