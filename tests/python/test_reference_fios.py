# SPDX-License-Identifier: Apache-2.0
"""The oracle of fios: exhaustive over toy digits, patterns over the paper's sizes; it asserts its bounds."""

from __future__ import annotations

import itertools
import random

import pytest
from reference.modmul import fios
from reference.repr import Words, from_words, to_words, worst_case_words


def check_product(a: Words, b: Words, n: Words, d: int) -> None:
    x, y, modulus = (from_words(v, d) for v in (a, b, n))
    r = 1 << (d * len(n))
    digits, top = fios.product(a, b, n, d)
    total = from_words(digits, d) + top * r
    assert total == fios.koc_acar_kaliski(a, b, n, d)
    result = from_words(fios.montgomery(a, b, n, d), d)
    assert result < (modulus if x < modulus or y <= modulus else r)
    assert result % modulus == x * y * pow(r, -1, modulus) % modulus


def check_lanes(a: Words, b: Words, n: Words, d: int, lanes: int) -> None:
    """q is unique, so that lanes find the numbers that one thread does."""
    assert fios.product_by_lanes(a, b, n, d, lanes) == fios.koc_acar_kaliski(a, b, n, d)
    assert fios.square_by_lanes(a, n, d, lanes) == fios.koc_acar_kaliski(a, a, n, d)


@pytest.mark.parametrize(
    ("d", "k", "sample"), [(1, 2, 1), (2, 2, 1), (1, 3, 1), (3, 2, 13), (2, 3, 29), (1, 5, 7)]
)
def test_every_modulus_and_operand(d: int, k: int, sample: int) -> None:
    """All odd n and all a, b < R for the shortest numbers; one in `sample` cases for the others."""
    r = 1 << (d * k)
    cases = itertools.product(range(1, r, 2), range(r), range(r))
    for n, a, b in itertools.islice(cases, 0, None, sample):
        check_product(to_words(a, k, d), to_words(b, k, d), to_words(n, k, d), d)


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 2), (4, 1), (1, 5)])
def test_every_sum_and_difference(d: int, k: int) -> None:
    for n in range(1, 1 << (d * k), 2):
        for a, b in itertools.product(range(n), repeat=2):
            x, y, modulus = (to_words(v, k, d) for v in (a, b, n))
            assert from_words(fios.add(x, y, modulus, d), d) == (a + b) % n
            assert from_words(fios.subtract(x, y, modulus, d), d) == (a - b) % n


@pytest.mark.parametrize("d", [16, 32])
@pytest.mark.parametrize("bits", [160, 192, 224, 256, 384, 512])
def test_carry_patterns(d: int, bits: int) -> None:
    k = bits // d
    draw = random.Random(bits)
    patterns = worst_case_words(k, d)
    ones = (1 << bits) - 1
    for n in {from_words(draw.choice(patterns), d) | 1 for _ in range(4)} | {ones, (ones >> 1) + 2}:
        modulus = to_words(n, k, d)
        pairs = [(draw.choice(patterns), draw.choice(patterns)) for _ in range(10)]
        top = to_words(ones, k, d)
        for a, b in [*pairs, (top, top), (modulus, top)]:
            check_product(a, b, modulus, d)
            x, y = from_words(a, d) % n, from_words(b, d) % n
            reduced = to_words(x, k, d), to_words(y, k, d), modulus
            assert from_words(fios.add(*reduced, d), d) == (x + y) % n
            assert from_words(fios.subtract(*reduced, d), d) == (x - y) % n


@pytest.mark.parametrize(("d", "k", "lanes"), [(2, 3, 1), (3, 4, 2), (2, 4, 2), (2, 8, 4), (3, 6, 2)])
def test_lanes_on_toy_digits(d: int, k: int, lanes: int) -> None:
    r = 1 << (d * k)
    draw = random.Random(k)
    for _ in range(300):
        n = to_words(draw.randrange(1, r, 2), k, d)
        a, b = (to_words(draw.randrange(r), k, d) for _ in range(2))
        check_lanes(a, b, n, d, lanes)
        check_lanes(to_words(r - 1, k, d), a, n, d, lanes)


@pytest.mark.parametrize("d", [16, 32])
@pytest.mark.parametrize(("k", "lanes"), [(5, 1), (12, 1), (4, 2), (12, 4), (16, 8), (64, 32)])
def test_lanes_on_carry_patterns(d: int, k: int, lanes: int) -> None:
    patterns = worst_case_words(k, d)
    draw = random.Random(k)
    ones = to_words((1 << (d * k)) - 1, k, d)
    for n in [ones, *((x[0] | 1, *x[1:]) for x in draw.sample(patterns, 2))]:
        check_lanes(ones, ones, n, d, lanes)
        for _ in range(3):
            check_lanes(draw.choice(patterns), draw.choice(patterns), n, d, lanes)


def test_power() -> None:
    n, d = 2**255 - 19, 16
    modulus = to_words(n, 16, d)
    power, base = fios.residue(1, modulus, d), fios.residue(3, modulus, d)
    for bit in f"{0xC0FFEE:b}":
        power = fios.montgomery(power, power, modulus, d)
        if bit == "1":
            power = fios.montgomery(power, base, modulus, d)
    one = to_words(1, 16, d)
    assert from_words(fios.montgomery(power, one, modulus, d), d) == pow(3, 0xC0FFEE, n)


def test_operands_above_n_need_a_second_subtraction() -> None:
    """What the bounds allow happens: a, b >= n give results that are not below n."""
    n = to_words(3, 4, 4)
    assert from_words(fios.montgomery((15,) * 4, (15,) * 4, n, 4), 4) >= 3
