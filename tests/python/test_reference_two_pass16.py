# SPDX-License-Identifier: Apache-2.0
"""The oracle of two_pass16: exhaustive over toy halves, patterns over real ones; it asserts its bounds."""

from __future__ import annotations

import itertools
import random

import pytest
from reference.modmul import two_pass16
from reference.modmul.two_pass16 import TwoPass, figure_6, figure_7, multiply, square
from reference.modmul.two_pass16_lanes import TwoPassLanes
from reference.repr import from_words, to_words, worst_case_words
from tests.python.montgomery_support import power


def check(m: TwoPass, a: int, b: int, inverse: int) -> None:
    for result, expected in [(m.mul(a, b), a * b), (m.sqr(a), a * a)]:
        assert result < m.radix
        assert result % m.n == expected * inverse % m.n
        n = to_words(m.n, m.words, 2 * m.half_bits)
        assert result == figure_7(expected, n, m.np0, m.half_bits)


@pytest.mark.parametrize(("half", "words"), [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1)])
def test_every_product(half: int, words: int) -> None:
    w = 2 * half
    numbers = range(1 << (w * words))
    for a, b in itertools.product(numbers, numbers):
        x, y = to_words(a, words, w), to_words(b, words, w)
        assert from_words(multiply(x, y, half), w) == figure_6(x, y, half) == a * b
    for a in numbers:
        assert from_words(square(to_words(a, words, w), half), w) == a * a


@pytest.mark.parametrize(
    ("half", "words", "sample"), [(1, 2, 1), (2, 1, 1), (1, 3, 37), (3, 1, 37), (2, 2, 4001), (1, 4, 4001)]
)
def test_every_modulus_and_operand(half: int, words: int, sample: int) -> None:
    """All odd n and all a, b < R for the shortest numbers; one in `sample` cases for the others."""
    r = 1 << (2 * half * words)
    cases = itertools.product(range(1, r, 2), range(r), range(r))
    for n, a, b in itertools.islice(cases, 0, None, sample):
        check(TwoPass(n, words, half), a, b, pow(r, -1, n))


@pytest.mark.parametrize("words", [1, 2, 4, 6, 8, 16])
def test_carry_patterns(words: int) -> None:
    patterns = [from_words(x, 16) for x in worst_case_words(2 * words, 16)]
    draw = random.Random(words)
    r = 1 << (32 * words)
    for n in {draw.choice(patterns) | 1 for _ in range(6)} | {r - 1, (r >> 1) + 1, r - (1 << 16) + 1}:
        m = TwoPass(n, words)
        inverse = pow(r, -1, n)
        for a, b in [(draw.choice(patterns), draw.choice(patterns)) for _ in range(20)]:
            check(m, a, b, inverse)
        check(m, r - 1, r - 1, inverse)
        assert m.value(r - 1) == (r - 1) * inverse % n


def check_lanes(m: TwoPassLanes, a: int, b: int) -> None:
    """The quotient below R is unique, so that lanes find what one thread does."""
    assert m.mul(a, b) == m.whole.mul(a, b)
    assert m.sqr(a) == m.whole.sqr(a)


@pytest.mark.parametrize(("half", "words", "lanes"), [(2, 1, 2), (2, 1, 4), (2, 2, 2), (3, 1, 2), (2, 3, 2)])
def test_lanes_on_toy_words(half: int, words: int, lanes: int) -> None:
    r = 1 << (2 * half * words * lanes)
    draw = random.Random(half)
    for _ in range(300):
        m = TwoPassLanes(draw.randrange(1, r, 2), words, lanes, half)
        check_lanes(m, draw.randrange(r), draw.randrange(r))
        check_lanes(m, r - 1, r - 1)


@pytest.mark.parametrize(("words", "lanes"), [(1, 2), (2, 2), (1, 4), (3, 4), (4, 8), (1, 32)])
def test_lanes_on_carry_patterns(words: int, lanes: int) -> None:
    patterns = [from_words(x, 16) for x in worst_case_words(2 * words * lanes, 16)]
    draw = random.Random(words)
    r = 1 << (32 * words * lanes)
    for n in {draw.choice(patterns) | 1, r - 1, (r >> 1) + 1, r - (1 << 16) + 1}:
        m = TwoPassLanes(n, words, lanes)
        check_lanes(m, r - 1, r - 1)
        for _ in range(2):
            check_lanes(m, draw.choice(patterns), draw.choice(patterns))


@pytest.mark.parametrize("words", [2, 8])
def test_squares_take_half_of_the_products(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    rows = {name: getattr(two_pass16, name) for name in ("ll", "lh", "hl", "hh")}

    def counting(name: str) -> None:
        def row(*arguments: object) -> list[int]:
            nonlocal count
            result: list[int] = rows[name](*arguments)
            count += len(result)
            return result

        monkeypatch.setattr(two_pass16, name, row)

    for name in rows:
        counting(name)
    x = to_words(3, words, 32)
    multiply(x, x, 16)
    assert count == 4 * words**2
    count = 0
    square(x, 16)
    assert count + 2 * words == 2 * words**2 + words  # those on the diagonal are no row's


def test_power() -> None:
    n = 2**255 - 19
    assert power(TwoPass(n, words=8), 3, 0xC0FFEE) == pow(3, 0xC0FFEE, n)


def test_rejects_even_and_too_wide_moduli() -> None:
    with pytest.raises(ValueError, match="odd"):
        TwoPass(10, 1)
    with pytest.raises(ValueError, match="words"):
        TwoPass(2**64 + 1, 2)
