# SPDX-License-Identifier: Apache-2.0
"""The oracle of dpf52: every pair of digits of toy formats, edge and random values of binary64."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from reference.modmul.dpf52 import (
    BINARY64,
    FloatFormat,
    Montgomery,
    make_initial,
    resolve_one_carry,
    resolve_ripple,
    sampled_product,
    sampled_square,
    satisfies_bounds,
    split_product,
    value_of,
)
from reference.repr import from_words, to_words, worst_case_words

TOY_FORMATS = [FloatFormat(2, 4), FloatFormat(3, 4), FloatFormat(4, 5), FloatFormat(5, 5)]
TOY = FloatFormat(3, 4)
EDGES = [0, 1, 2, 2**26, 2**51 - 1, 2**51, 2**51 + 1, 2**52 - 2, 2**52 - 1, 2**52]


def check_split(a: int, b: int, fmt: FloatFormat) -> None:
    high, low = split_product(a, b, fmt)
    high -= fmt.high_exponent << fmt.digit_bits
    low -= fmt.low_exponent << fmt.digit_bits
    assert (high, low) == divmod(a * b, fmt.radix)


@pytest.mark.parametrize("fmt", TOY_FORMATS)
def test_split_product_of_every_pair_of_digits(fmt: FloatFormat) -> None:
    for a in range(fmt.radix + 1):
        for b in range(fmt.radix + 1):
            check_split(a, b, fmt)


def test_split_product_of_binary64() -> None:
    rng = random.Random(1)
    digits = EDGES + [rng.randrange(2**52 + 1) for _ in range(200)]
    for a in digits:
        for b in digits:
            check_split(a, b, BINARY64)


def test_truncation_agrees_with_hardware_division() -> None:
    """rz of an integer that a double holds exactly is itself; of one bit more it drops that bit."""
    rng = random.Random(2)
    for _ in range(1000):
        mantissa = rng.getrandbits(53) | 1 << 52
        assert BINARY64.truncate(mantissa) == int(float(mantissa)) == mantissa
        assert BINARY64.truncate(2 * mantissa + 1) == 2 * mantissa
        assert BINARY64.truncate(-2 * mantissa - 1) == -2 * mantissa
        assert Fraction(float(mantissa << 40)) == BINARY64.truncate((mantissa << 40) + rng.getrandbits(40))


@pytest.mark.parametrize(
    ("a", "b"),
    [(-1, 1), (1, -1), (2**52 + 1, 1), (1, 2.0**53), (0.5, 1), (1, 2.0**51 + 0.5), (float("inf"), 1)],
)
def test_predicate_rejects(a: float, b: float) -> None:
    assert satisfies_bounds(2**52, 2**52)
    assert not satisfies_bounds(a, b)


def test_round_to_nearest_would_be_wrong() -> None:
    """The hypothesis on the rounding is needed: the paper's remark below figures 3 and 4."""
    a, b = 2**52 - 1, 1
    nearest = int(float(a * b + 2**104))
    assert nearest == BINARY64.fma_rz(a, b, 2**104) + 2**52


def test_initial_values_cancel_exponents() -> None:
    for high_count in range(5):
        for low_count in range(5):
            total = make_initial(high_count, low_count)
            total += high_count * (0x467 << 52) + low_count * (0x433 << 52)
            assert total % 2**64 == 0


@pytest.mark.parametrize("fmt", TOY_FORMATS)
def test_column_limit_is_the_largest(fmt: FloatFormat) -> None:
    def fits(length: int) -> bool:
        carry = 1 << (fmt.word_bits - fmt.digit_bits)
        return 4 * length * fmt.radix + carry + fmt.mask < 1 << fmt.word_bits

    assert fits(fmt.max_digits())
    assert not fits(fmt.max_digits() + 1)
    with pytest.raises(ValueError, match="overflow"):
        Montgomery.of(1, fmt, fmt.max_digits() + 1)


@pytest.mark.parametrize("length", range(1, 6))
def test_products_of_worst_case_digits(length: int) -> None:
    rng = random.Random(length)
    operands = [*worst_case_words(length, 52), (2**52,) * length]
    operands += [tuple(rng.choice(EDGES) for _ in range(length)) for _ in range(20)]
    for a in operands:
        assert value_of(sampled_square(a)) == value_of(a) ** 2
        assert sampled_square(a) == sampled_product(a, a)
        b = rng.choice(operands)
        assert value_of(sampled_product(a, b)) == value_of(a) * value_of(b)


@pytest.mark.parametrize("group", [2, 3, 4])
def test_one_carry_resolve(group: int) -> None:
    """Same value, digits of at most 2^52; the absorbed carry does happen."""
    rng = random.Random(group)
    absorbed = 0
    for _ in range(200):
        sums = [rng.choice([0, 2**52 - 1, 2**64 - 2**53, rng.getrandbits(63)]) for _ in range(4 * group - 2)]
        sums += [0, 0]
        digits = resolve_one_carry(sums, group)
        assert value_of(digits) == value_of(sums) == from_words(resolve_ripple(sums), 52)
        assert all(0 <= digit <= 2**52 for digit in digits)
        absorbed += any(digit == 2**52 for digit in digits)
    assert absorbed > 0 or group > 2


def test_one_carry_reaches_the_full_digit() -> None:
    sums = [2**52 - 1, 2**63, 2**52 - 2**11, 2**52 - 1, 0, 0]
    digits = resolve_one_carry(sums, 2)
    assert digits[3] == 2**52
    assert value_of(digits) == value_of(sums)


@pytest.mark.parametrize("length", [1, 2])
def test_montgomery_exhaustive(length: int) -> None:
    """Every odd modulus of a toy format, pairs of almost reduced operands; the code asserts its ranges."""
    bits = TOY.digit_bits
    r = 1 << (bits * length)
    step = 1 if length == 1 else 3
    for n in range(1, r // 4 + 1, 2):
        m = Montgomery.of(n, TOY, length)
        inverse = pow(r, -1, n)
        forms = [to_words(a, length, bits) for a in range(2 * n)]
        for a, a_words in enumerate(forms):
            assert from_words(m.sqr(a_words), bits) % n == a * a * inverse % n
            for b in range(0, 2 * n, step):
                result = m.mul(a_words, forms[b])
                assert from_words(result, bits) % n == a * b * inverse % n


@pytest.mark.parametrize("bits", [50, 64, 206, 207, 256, 414, 512, 1024, 1536, 2048])
def test_montgomery_worst_cases(bits: int) -> None:
    rng = random.Random(bits)
    for n in (2**bits - 1, 2 ** (bits - 1) + 1, rng.getrandbits(bits) | 1 << (bits - 1) | 1):
        m = Montgomery.of(n)
        inverse = pow(m.r, -1, n)
        values = [0, 1, n - 1, n, n + 1, 2 * n - 1, rng.randrange(2 * n)]
        for a in values:
            a_words = to_words(a, m.length, 52)
            b = rng.choice(values)
            b_words = to_words(b, m.length, 52)
            assert from_words(m.mul(a_words, b_words), 52) % n == a * b * inverse % n
            assert from_words(m.sqr(a_words), 52) % n == a * a * inverse % n
        # Separated and interleaved reduction give the same integer.
        a_words = to_words(2 * n - 1, m.length, 52)
        separated = resolve_ripple(m.reduce(sampled_product(a_words, a_words)))
        assert separated == m.mul(a_words, a_words) == m.sqr(a_words)


@pytest.mark.parametrize("bits", [64, 256, 521, 1024])
def test_power(bits: int) -> None:
    rng = random.Random(bits)
    for _ in range(3):
        n = rng.getrandbits(bits) | 1 << (bits - 1) | 1
        base, exponent = rng.randrange(n), rng.getrandbits(24)
        assert Montgomery.of(n).power(base, exponent) == pow(base, exponent, n)


def test_moduli_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="odd"):
        Montgomery.of(10)
    with pytest.raises(ValueError, match="4n"):
        Montgomery.of(2**51 - 1, length=1)
