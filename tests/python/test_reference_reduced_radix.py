# SPDX-License-Identifier: Apache-2.0
"""The oracle of technique reduced_radix against Python's integers; its bounds are asserted inside."""

from __future__ import annotations

import random

import pytest
from reference.modmul.reduced_radix import ReducedRadix, columns_fit, digit_bits_for
from reference.repr import from_words

LENGTHS = [1, 2, 3, 5, 9, 18, 28, 32, 40]


def check(m: ReducedRadix, a: int, b: int, lanes: tuple[int, ...] = ()) -> None:
    inverse = pow(m.radix, -1, m.modulus)
    x, y = m.digits(a), m.digits(b)
    assert from_words(m.mul(x, y), m.digit_bits) % m.modulus == a * b * inverse % m.modulus
    assert from_words(m.sqr(x), m.digit_bits) % m.modulus == a * a * inverse % m.modulus
    for count in lanes:
        product = m.mul_by_lanes(x, y, count)
        value = sum(digit << (m.digit_bits * i) for i, digit in enumerate(product))
        assert value == from_words(m.mul(x, y), m.digit_bits)
        square = m.mul_by_lanes(product, product, count)
        assert sum(digit << (m.digit_bits * i) for i, digit in enumerate(square)) == from_words(
            m.sqr(m.digits(value)), m.digit_bits
        )


@pytest.mark.parametrize("length", LENGTHS)
def test_products_at_the_bounds(length: int) -> None:
    bits = digit_bits_for(length)
    radix = 1 << (bits * length)
    draw = random.Random(length)
    top = radix // 2 - 1
    alternating = sum(((1 << bits) - 1) << (bits * i) for i in range(0, length, 2)) & top
    for n in (radix // 4 - 1, radix // 8 + 1, draw.randrange(radix // 4) | 1):
        m = ReducedRadix.of(n, length)
        for a, b in [(top, top), (top, 1), (0, top), (alternating, top ^ alternating), (top, alternating)]:
            lanes = tuple(count for count in (2, 4) if length % count == 0 and length > 2 * count)
            check(m, a, b, lanes)


def test_all_products_of_small_digits() -> None:
    for n in range(3, 16, 4):
        m = ReducedRadix.of(n, 3, 2, 4)
        for a in range(32):
            for b in range(a, 32):
                check(m, a, b)


def test_columns_are_as_long_as_they_may_be() -> None:
    assert [columns_fit(k, bits) for k, bits in [(32, 29), (33, 29), (128, 28), (129, 28), (512, 27)]] == [
        True,
        False,
        True,
        False,
        True,
    ]
    with pytest.raises(ValueError, match="overflow"):
        ReducedRadix.of(3, 33, 29)


def test_canonical_results() -> None:
    m = ReducedRadix.of(2**255 - 19, 9)
    draw = random.Random(1)
    for c in (0, 1, m.modulus - 1, draw.randrange(m.modulus)):
        product = m.mul(m.digits(m.radix // 2 - 1), m.digits(c))
        assert m.canonical(product) == (m.radix // 2 - 1) * c * pow(m.radix, -1, m.modulus) % m.modulus


def test_rejects_even_and_too_wide_moduli() -> None:
    with pytest.raises(ValueError, match="odd"):
        ReducedRadix.of(10, 2)
    with pytest.raises(ValueError, match="digits"):
        ReducedRadix.of(2**28 - 1, 1)
