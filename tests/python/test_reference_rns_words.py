# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of one channel in words, all values of small words, and matrix products over bytes."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from reference.modmul.rns.byte_matrix import ByteMatrix, join, split
from reference.modmul.rns.tensor import MOST_NARROW_CHANNELS
from reference.modmul.rns.words import (
    WORD,
    corrected,
    largest_below,
    montgomery_reduce,
    reduction_holds,
    remainder,
    remainder_holds,
    remainder_quotient,
    shoup_holds,
    shoup_product,
    shoup_quotient,
)


@pytest.mark.parametrize("m", [3, 5, 255, 65537, 2**29 - 3, 2**31 - 1])
def test_reductions_at_the_edges_of_their_ranges(m: int) -> None:
    inverse = pow(WORD, -1, m)
    edges = [0, 1, m - 1, m, WORD - 1, WORD, (m - 1) ** 2, m * WORD // 2, m * WORD - 1]
    for total in edges:
        assert montgomery_reduce(total, m) == total * inverse % m
        for bound in (Fraction(3, 2), 2):
            if reduction_holds(total, m, bound):
                assert montgomery_reduce(total, m, bound) % m == total * inverse % m
    with pytest.raises(AssertionError):
        montgomery_reduce(m * WORD, m)


@pytest.mark.parametrize("bound", [Fraction(9, 8), Fraction(3, 2), 2])
def test_the_largest_uncorrected_result(bound: Fraction | int) -> None:
    """The largest result, that of q = 2^32 - 1, is the one that the bound allows."""
    m = 2**31 - 1
    limit = int((bound - 1) * WORD * m)
    assert reduction_holds(limit, m, bound)
    assert not reduction_holds(limit + 1, m, bound)
    assert montgomery_reduce(limit, m, bound) <= largest_below(bound, m)
    total = (limit >> 32 << 32) + m
    while total > limit:
        total -= WORD
    assert largest_below(bound, m) - montgomery_reduce(total, m, bound) <= 1


def test_corrections_of_every_value() -> None:
    """In words of 4 bits."""
    for m in range(1, 9):
        assert [corrected(v, m, 16) for v in range(2 * m)] == [*range(m), *range(m)]
    with pytest.raises(AssertionError):
        corrected(14, 7, 16)


def test_shoups_products_of_every_value() -> None:
    """In words of 5 bits: all moduli up to half a word, all constants, all factors."""
    word, slack = 32, []
    for m in range(1, word // 2 + 1):
        for c, x in itertools.product(range(m), range(word)):
            r = shoup_product(x, c, m, word)
            assert r % m == x * c % m
            slack.append(Fraction((word + x) * m, word) - r)
    assert 0 < min(slack) < 1, "the bound is nearly reached"


@pytest.mark.parametrize("m", [3, 65537, 2**31 - 2**14 + 1, 2**31 - 19, 2**31 - 1])
def test_shoups_products_at_the_edges(m: int) -> None:
    for c, x in itertools.product((0, 1, 2, m // 2, m - 1), (0, 1, m - 1, m, 2 * m - 1, WORD - 1)):
        r = shoup_product(x, c, m)
        assert r == x * c - (x * shoup_quotient(c, m) >> 32) * m
        assert r % m == x * c % m
        bound = Fraction(3, 2) if x < m else 2
        assert r <= largest_below(bound, m)
    assert shoup_holds(m - 1, m, Fraction(3, 2))
    assert shoup_holds(WORD - 1, m, 2)
    assert not shoup_holds(WORD, m, 2)
    assert not shoup_holds(2**31 + 1, m, Fraction(3, 2))


@pytest.mark.parametrize("byte", [1, 2])
def test_remainders_of_byte_sums_of_every_value(byte: int) -> None:
    """Bytes of one bit: all sums. Of two bits: the edges of all sums, and many others. All odd moduli."""
    half = 1 << (4 * byte - 1)
    values = range(half) if byte == 1 else [0, 1, 3, 4, 5, 15, 16, 63, 64, 123, 126, 127]
    largest = 0
    for m, sums in itertools.product(range(1, half, 2), itertools.product(values, repeat=4)):
        total = sum(s << (byte * b) for b, s in enumerate(sums))
        quotient = remainder_quotient(sums, False, byte)
        assert quotient <= total // half
        if remainder_holds(sums[0], total // half, m, byte):
            r = remainder(sums, m, 2, byte=byte)
            assert r < 2 * m
            assert r % m == remainder(sums, m, 1, byte=byte) == total % m
            largest = max(largest, r + 1 - 2 * m)
    assert largest in (0, -1)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("delta", [1, 19, 5715, 11577])
def test_remainders_at_the_edge_of_their_range(delta: int, narrow: bool) -> None:
    """T modulo 2^31 and S_0 as large as can be; S_0 a byte larger, and a word overflows."""
    m, quotient = 2**31 - delta, 100_000
    low = 2**31 - 2 * delta - quotient * delta
    assert remainder_holds(low, quotient, m)
    assert not remainder_holds(low + 1, quotient, m)
    assert not remainder_holds(low, quotient + 1, m)
    high = (quotient << 15) + 2**15 - 1 - 300
    sums = [low, 255 + (300 << 8), high & 255, high >> 8]
    assert remainder_quotient(sums, narrow) == quotient
    assert join(sums) - (quotient << 31) == 2**31 - 2**8 + low
    assert remainder(sums, m, 1, narrow) == join(sums) % m
    assert remainder(sums, m, 2, narrow) == 2 * m - 2**8
    with pytest.raises(AssertionError):
        remainder([low + 2**8, *sums[1:]], m, 2, narrow)


def test_narrow_quotients() -> None:
    """P = S_2 + 2^8 S_3 + floor(S_1 / 2^8) of all but a word, and of a word."""
    sums = [0, 255, 255, 2**24 - 1]
    assert remainder_quotient(sums, True) == remainder_quotient(sums, False) == 2**17 - 1
    with pytest.raises(AssertionError, match="narrow quotient"):
        remainder_quotient([0, 256, 255, 2**24 - 1], True)
    assert remainder_quotient([0, 256, 255, 2**24 - 1], False) == 2**17
    draw = random.Random(6)
    for _ in range(200):
        sums = [draw.getrandbits(31), draw.getrandbits(31), draw.getrandbits(30), draw.getrandbits(21)]
        assert remainder_quotient(sums, True) == remainder_quotient(sums, False)


def test_narrow_quotients_of_any_matrix() -> None:
    """127 channels and the rank, of nothing but the largest bytes and entries; a few more overflow."""
    largest = split(2**31 - 1, 4)
    largest_operand = 1020 * (MOST_NARROW_CHANNELS + 1)
    assert remainder_quotient([largest_operand * b for b in largest], True) < 1 << 17
    assert remainder_quotient([(1 << 17) * b for b in largest], True) == (1 << 17) - 1
    with pytest.raises(AssertionError, match="narrow quotient"):
        remainder_quotient([((1 << 17) + 1) * b for b in largest], True)


def test_bytes_and_their_sums() -> None:
    for x in [0, 1, 127, 128, 255, 0x7F7F7F7F, 2**31 - 1, WORD - 1]:
        digits = split(x, 4)
        assert join(digits) == x
        assert all(0 <= d <= 255 for d in digits)
        assert join([255 * 40 * d for d in digits]) == 255 * 40 * x
    with pytest.raises(OverflowError):
        split(WORD, 4)


def test_accumulators_that_may_overflow_are_told_and_noticed() -> None:
    """8256 channels fit an int32, one more does not."""
    for channels, fits in ((8256, True), (8257, False)):
        matrix = ByteMatrix(((0xFFFFFFFF,),) * (4 * channels))
        assert matrix.fits_int32 is fits
    with pytest.raises(AssertionError, match="overflow"):
        ByteMatrix(((0xFFFFFFFF,),) * (4 * 8257)).product([255] * 4 * 8257)
