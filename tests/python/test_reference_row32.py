# SPDX-License-Identifier: Apache-2.0
"""The oracle of row32: exhaustive over toy words, patterns over real ones; its bounds are asserted inside."""

from __future__ import annotations

import itertools
import random

import pytest
from reference.modmul.carry_chain import Chain
from reference.modmul.row32 import Accumulator, Row32
from reference.repr import worst_case_words
from tests.python.montgomery_support import power


def check(m: Row32, a: int, b: int, inverse: int) -> None:
    product = m.mul(a, b)
    assert product < m.radix
    assert product % m.n == a * b * inverse % m.n
    if m.lanes == 1:
        square = m.sqr(a)
        assert square < m.radix
        assert square % m.n == a * a * inverse % m.n


@pytest.mark.parametrize(
    ("bits", "words", "lanes", "sample"), [(2, 2, 1, 1), (3, 2, 1, 13), (2, 4, 1, 2003), (2, 2, 2, 2003)]
)
def test_every_modulus_and_operand(bits: int, words: int, lanes: int, sample: int) -> None:
    """All odd n and all a, b < R for the shortest numbers; one in `sample` cases for the others."""
    r = 1 << (bits * words * lanes)
    cases = itertools.product(range(1, r, 2), range(r), range(r))
    for n, a, b in itertools.islice(cases, 0, None, sample):
        check(Row32(n, words, lanes, bits), a, b, pow(r, -1, n))


@pytest.mark.parametrize(("words", "lanes"), [(2, 1), (4, 1), (8, 1), (2, 2), (2, 4), (4, 2)])
def test_carry_patterns(words: int, lanes: int) -> None:
    patterns = [sum(w << (32 * j) for j, w in enumerate(x)) for x in worst_case_words(words * lanes, 32)]
    draw = random.Random(words * lanes)
    r = 1 << (32 * words * lanes)
    for n in {draw.choice(patterns) | 1 for _ in range(6)} | {r - 1, (r >> 1) + 1}:
        m = Row32(n, words, lanes)
        inverse = pow(r, -1, n)
        for a, b in [(draw.choice(patterns), draw.choice(patterns)) for _ in range(20)]:
            check(m, a, b, inverse)
        check(m, r - 1, r - 1, inverse)
        assert m.value(r - 1) == (r - 1) * inverse % n


def test_power() -> None:
    n = 2**255 - 19
    assert power(Row32(n, words=8), 3, 0xC0FFEE) == pow(3, 0xC0FFEE, n)


def test_merging_carry_belongs_to_the_odd_chain() -> None:
    """The carry of the merge stands at word 1, where the odd products begin."""
    s = Accumulator(2, 8)
    s.even, s.odd = [0, 255], [1, 0]
    s.shift_and_add_row(0, (0, 0).__getitem__, 0)
    assert s.value == 256


def test_a_lost_carry_is_noticed() -> None:
    chain = Chain(4)
    chain.add_cc(15, 1)
    with pytest.raises(AssertionError, match="lost"):
        chain.addc(15, 0)


def test_rejects_even_and_too_wide_moduli() -> None:
    with pytest.raises(ValueError, match="odd"):
        Row32(10, 2)
    with pytest.raises(ValueError, match="words"):
        Row32(2**64 + 1, 2)
