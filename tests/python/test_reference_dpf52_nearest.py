# SPDX-License-Identifier: Apache-2.0
"""The oracle of dpf52 with rounding to nearest: all digits and moduli of toy formats, edges of binary64."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from reference.modmul.dpf52 import BINARY64, FloatFormat
from reference.modmul.dpf52_nearest import NearestMontgomery, low_offset, nearest, split_product
from reference.repr import from_words

TOY_FORMATS = [FloatFormat(2, 4), FloatFormat(3, 4), FloatFormat(4, 5), FloatFormat(5, 5)]
EDGES = [0, 1, 2, 3, 2**26, 2**51 - 1, 2**51, 2**51 + 1, 2**52 - 2, 2**52 - 1]


def check_split(a: int, b: int, fmt: FloatFormat) -> None:
    high, low = split_product(a, b, fmt)
    high -= fmt.high_exponent << fmt.digit_bits
    signed_low = low_offset(fmt) - low
    assert high * fmt.radix + signed_low == a * b
    assert high == round(Fraction(a * b, fmt.radix))
    assert 0 <= high <= fmt.radix - 2
    assert 2 * abs(signed_low) <= fmt.radix


@pytest.mark.parametrize("fmt", TOY_FORMATS)
def test_products_of_every_pair_of_digits(fmt: FloatFormat) -> None:
    for a in range(fmt.radix):
        for b in range(fmt.radix):
            check_split(a, b, fmt)


def test_products_of_binary64() -> None:
    rng = random.Random(1)
    digits = EDGES + [rng.randrange(2**52) for _ in range(200)]
    for a in digits:
        for b in digits:
            check_split(a, b, BINARY64)


def test_full_digits_are_refused() -> None:
    """2^52 times 2^52, which dpf52 takes where it rounds toward zero, would leave the subtraction inexact."""
    with pytest.raises(AssertionError):
        split_product(2**52, 2**52)
    exact = 2**104 - 3 * 2**51 - (2**104 + 2**52 * 2**52)
    assert nearest(exact) != exact


def test_rounding_agrees_with_the_processor() -> None:
    rng = random.Random(2)
    for _ in range(2000):
        x = rng.getrandbits(54 + rng.randrange(60)) | rng.choice([0, 1 << 53])
        assert nearest(x) == int(float(x))
        assert nearest(-x) == -nearest(x)


@pytest.mark.parametrize(("fmt", "length"), [(TOY_FORMATS[1], 1), (TOY_FORMATS[1], 2), (TOY_FORMATS[2], 1)])
def test_every_odd_modulus(fmt: FloatFormat, length: int) -> None:
    radix = 1 << (fmt.digit_bits * length)
    for n in range(1, radix // 4, 2):
        m = NearestMontgomery.of(n, length, fmt)
        inverse = pow(radix, -1, n)
        for a in range(radix // 2):
            words = m.digits(a)
            assert from_words(m.sqr(words), fmt.digit_bits) % n == a * a * inverse % n
            for b in range(0, radix // 2, 1 if length == 1 else 5):
                product = m.mul(words, m.digits(b))
                assert from_words(product, fmt.digit_bits) % n == a * b * inverse % n


@pytest.mark.parametrize("length", [2, 4, 5, 6])
def test_worst_cases(length: int) -> None:
    """Digits at the edges, ties of the quotient's rounding among them, modulo numbers of such digits."""
    rng = random.Random(length)
    top = 1 << (52 * length)

    def number(bound: int) -> int:
        return sum(rng.choice(EDGES) << (52 * j) for j in range(length)) % bound

    moduli = [top // 4 - 1, 1, 3, 2**51 + 1, *(number(top // 4) | 1 for _ in range(12))]
    for n in moduli:
        m = NearestMontgomery.of(n, length)
        inverse = pow(m.radix, -1, n)
        values = [0, 1, n - 1, top // 2 - 1, *(number(top // 2) for _ in range(6))]
        for a in values:
            b = rng.choice(values)
            assert from_words(m.mul(m.digits(a), m.digits(b)), 52) % n == a * b * inverse % n
            assert from_words(m.sqr(m.digits(a)), 52) % n == a * a * inverse % n


def test_moduli_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="odd"):
        NearestMontgomery.of(10, 1)
    with pytest.raises(ValueError, match="too few"):
        NearestMontgomery.of(2**50 + 1, 1)
    with pytest.raises(ValueError, match="overflow"):
        NearestMontgomery.of(1, 683)
