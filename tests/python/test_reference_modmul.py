# SPDX-License-Identifier: Apache-2.0
"""The oracle's multiplication and division: exhaustive over toy word sizes, random over real ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.modmul.division import (
    divide_2by1,
    divide_3by2,
    divmod_knuth,
    divmod_reciprocal,
    reciprocal_2by1,
    reciprocal_3by2,
    reciprocal_by_bits,
    remainder_constant_time,
)
from reference.modmul.power_of_two import EvenSplit, PowerOfTwoRing, inverse_power_of_two
from reference.modmul.scalar64 import Montgomery, product, square, word_inverse
from reference.repr import (
    from_bytes,
    from_words,
    normalised,
    to_bytes,
    to_words,
    words_for_bits,
    worst_case_words,
)


@pytest.mark.parametrize("word_bits", range(2, 9))
def test_word_inverse_of_every_odd_word(word_bits: int) -> None:
    for n0 in range(1, 1 << word_bits, 2):
        assert n0 * word_inverse(n0, word_bits) % (1 << word_bits) == 1
    with pytest.raises(ValueError, match="even"):
        word_inverse(2, word_bits)


@pytest.mark.parametrize(("word_bits", "length"), [(2, 1), (3, 1), (4, 1), (5, 1), (2, 2), (3, 2), (2, 3)])
def test_montgomery_exhaustive(word_bits: int, length: int) -> None:
    """Every odd modulus of every length in words, every pair of operands; the code asserts its own ranges."""
    radix = 1 << word_bits
    for n in range(1, radix**length, 2):
        m = Montgomery.of(n, word_bits, length)
        inverse = pow(radix**length, -1, n)
        forms = [to_words(a, length, word_bits) for a in range(n)]
        for a, a_words in enumerate(forms):
            assert from_words(m.sqr(a_words), word_bits) == a * a * inverse % n
            assert from_words(m.neg(a_words), word_bits) == -a % n
            for b in range(a, n):
                assert from_words(m.mul(a_words, forms[b]), word_bits) == a * b * inverse % n
                assert from_words(m.add(a_words, forms[b]), word_bits) == (a + b) % n
                assert from_words(m.sub(a_words, forms[b]), word_bits) == (a - b) % n


@pytest.mark.parametrize(("word_bits", "length"), [(2, 1), (3, 1), (4, 1), (2, 2), (5, 1)])
def test_almost_reduced_exhaustive(word_bits: int, length: int) -> None:
    """Operands anywhere below R stay below R, right modulo n; leaving the form reduces fully."""
    radix = 1 << (word_bits * length)
    for n in range(1, radix, 2):
        m = Montgomery.of(n, word_bits, length)
        inverse = pow(radix, -1, n)
        forms = [to_words(a, length, word_bits) for a in range(radix)]
        for a, a_words in enumerate(forms):
            assert from_words(m.asqr(a_words), word_bits) % n == a * a * inverse % n
            assert from_words(m.from_mont(a_words), word_bits) == a * inverse % n
            for b in range(a, radix):
                result = m.amul(a_words, forms[b])
                assert len(result) == length
                assert from_words(result, word_bits) % n == a * b * inverse % n
                if a <= n:
                    assert from_words(m.mul(a_words, forms[b]), word_bits) == a * b * inverse % n


@pytest.mark.parametrize("word_bits", [2, 3, 4])
@pytest.mark.parametrize("k", range(1, 8))
def test_powers_of_two_exhaustive(k: int, word_bits: int) -> None:
    ring = PowerOfTwoRing(k, word_bits)
    for a in range(1 << k):
        if a % 2:
            assert a * inverse_power_of_two(a, k) % (1 << k) == 1
        for b in range(1 << k):
            assert ring.value(ring.mul(ring.residue(a), ring.residue(b - (1 << k)))) == a * b % (1 << k)


def test_every_small_split_recombines() -> None:
    for n in range(1, 200):
        split = EvenSplit.of(n)
        assert split.m << split.k == n
        assert [split.combine(x % split.m, x % (1 << split.k)) for x in range(n)] == list(range(n))


@pytest.mark.parametrize("word_bits", [2, 3, 4])
def test_reduction_of_every_product_below_n_r(word_bits: int) -> None:
    """The reduction accepts every t < n R, not only products, and q reaches its bound n."""
    radix = 1 << word_bits
    reached = False
    for n in range(1, radix, 2):
        m = Montgomery.of(n, word_bits)
        for t in range(n * radix):
            words = to_words(t, 2, word_bits)
            assert from_words(m.reduce(words), word_bits) == t * pow(radix, -1, n) % n
            reached = reached or from_words(m.reduce_low(words[:1]), word_bits) == n
    assert reached, "the bound q <= n is not tight"


@pytest.mark.parametrize(("word_bits", "length"), [(2, 1), (2, 4), (3, 3), (8, 1), (5, 2)])
def test_square_and_product_of_every_operand(word_bits: int, length: int) -> None:
    for a in range(1 << (word_bits * length)):
        words = to_words(a, length, word_bits)
        assert from_words(square(words, word_bits), word_bits) == a * a
        other = to_words((a * 7 + 3) % (1 << (word_bits * length)), length, word_bits)
        assert from_words(product(words, other, word_bits), word_bits) == a * from_words(other, word_bits)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_worst_case_words_at_64_bits(length: int) -> None:
    """All pairs of carry-stressing patterns, as moduli (made odd) and as operands."""
    patterns = worst_case_words(length)
    moduli = {from_words(p) | 1 for p in patterns}
    rng = random.Random(length)
    for n in sorted(moduli):
        m = Montgomery.of(n, 64, length)
        inverse = pow(1 << (64 * length), -1, n)
        for a_words in rng.sample(patterns, min(8, len(patterns))):
            a = from_words(a_words) % n
            assert from_words(m.sqr(to_words(a, length))) == a * a * inverse % n
            b = n - 1 - a
            assert from_words(m.mul(to_words(a, length), to_words(b, length))) == a * b * inverse % n


@given(st.integers(0, 2**300), st.integers(0, 2**600), st.sampled_from([8, 16, 32, 52, 64]))
def test_montgomery_round_trip(half: int, value: int, word_bits: int) -> None:
    m = Montgomery.of(2 * half + 1, word_bits)
    assert m.value(m.residue(value)) == value % m.modulus


def test_montgomery_rejects_even_and_nonpositive_moduli() -> None:
    for n in (0, -3, 2, 2**64):
        with pytest.raises(ValueError, match="odd"):
            Montgomery.of(n)


@pytest.mark.parametrize("word_bits", [2, 3, 4, 5])
def test_2by1_exhaustive(word_bits: int) -> None:
    radix = 1 << word_bits
    for d in range(radix // 2, radix):
        v = reciprocal_2by1(d, word_bits)
        for u1 in range(d):
            for u0 in range(radix):
                assert divide_2by1(u1, u0, d, v, word_bits) == divmod(u1 * radix + u0, d)


@pytest.mark.parametrize("word_bits", [2, 3])
def test_3by2_exhaustive(word_bits: int) -> None:
    radix = 1 << word_bits
    for d in range(radix * radix // 2, radix * radix):
        d_words = divmod(d, radix)
        v = reciprocal_3by2(*d_words, word_bits)
        assert v == (radix**3 - 1) // d - radix
        for u in range(d * radix):
            quotient, rest = divmod(u, d)
            top = divmod(u // radix, radix)
            assert divide_3by2((*top, u % radix), d_words, v, word_bits) == (quotient, *divmod(rest, radix))


@pytest.mark.parametrize("word_bits", [4, 5, 6, 7, 8])
def test_3by2_reciprocal_of_every_divisor(word_bits: int) -> None:
    radix = 1 << word_bits
    for d in range(radix * radix // 2, radix * radix):
        assert reciprocal_3by2(*divmod(d, radix), word_bits) == (radix**3 - 1) // d - radix


@pytest.mark.parametrize("word_bits", [2, 3])
def test_division_exhaustive(word_bits: int) -> None:
    """All dividends of up to four 2-bit (three 3-bit) words by all divisors of up to three."""
    length = 8 // word_bits + (word_bits == 3)
    for a in range(1 << (word_bits * length)):
        a_words = to_words(a, length, word_bits)
        for b in range(1, 1 << (3 * word_bits - 1), 1 if word_bits == 2 else 3):
            b_words = to_words(b, 3, word_bits)
            for divide in (divmod_knuth, divmod_reciprocal):
                quotient, rest = divide(a_words, b_words, word_bits)
                assert (from_words(quotient, word_bits), from_words(rest, word_bits)) == divmod(a, b)
            assert remainder_constant_time(a_words, normalised(b_words), word_bits) == a % b


@pytest.mark.parametrize("word_bits", range(2, 9))
def test_reciprocals_by_bits(word_bits: int) -> None:
    for d in range(1 << (word_bits - 1), 1 << word_bits):
        assert reciprocal_by_bits(d, word_bits) == reciprocal_2by1(d, word_bits)


@given(st.integers(0, 2**700 - 1), st.integers(1, 2**400 - 1), st.sampled_from([8, 32, 64]))
def test_division_random(a: int, b: int, word_bits: int) -> None:
    a_words = to_words(a, words_for_bits(700, word_bits), word_bits)
    b_words = to_words(b, words_for_bits(400, word_bits), word_bits)
    for divide in (divmod_knuth, divmod_reciprocal):
        quotient, rest = divide(a_words, b_words, word_bits)
        assert (from_words(quotient, word_bits), from_words(rest, word_bits)) == divmod(a, b)
    assert remainder_constant_time(a_words, normalised(b_words), word_bits) == a % b


def test_division_worst_cases() -> None:
    """Quotient words of W - 1, dividends just below multiples, and divisors that force the add-back step."""
    for b_words in worst_case_words(3):
        b = from_words(b_words)
        if b == 0:
            continue
        for quotient in (0, 1, 2**64 - 1, 2**64, 2**128 - 1, 2**127):
            for rest in {0, b - 1, b // 2}:
                a_words = to_words(quotient * b + rest, 6)
                for divide in (divmod_knuth, divmod_reciprocal):
                    q_words, r_words = divide(a_words, b_words)
                    assert (from_words(q_words), from_words(r_words)) == (quotient, rest)
                assert remainder_constant_time(a_words, normalised(b_words)) == rest
    with pytest.raises(ZeroDivisionError):
        divmod_knuth((1, 2), (0, 0))


@given(st.binary(max_size=64))
def test_bytes_round_trip(data: bytes) -> None:
    words = from_bytes(data, 8)
    assert to_bytes(words, len(data)) == data
    assert from_words(normalised(words)) == int.from_bytes(data, "big")


def test_to_words_refuses_what_does_not_fit() -> None:
    for value in (-1, 2**128):
        with pytest.raises(ValueError, match="does not fit"):
            to_words(value, 2)
