# SPDX-License-Identifier: Apache-2.0
"""The oracle of division32: all numbers of toy words, and edges in words of 32 bits."""

from __future__ import annotations

import random

import pytest
from reference.modmul.division32 import Folded, divided, product, residue


def test_divisors_of_toy_words() -> None:
    """One in some divisors of four words; numbers just below and at multiples of it, and others."""
    words, bits, draw = 4, 5, random.Random(1)
    for n in (*range(1, 120), *range(120, 1 << words * bits, 4999), (1 << words * bits) - 1):
        top = (1 << 2 * words * bits) - 1
        for quotient in (0, 1, 2, top // n - 1, top // n, draw.randrange(top // n + 1)):
            for number in (quotient * n, quotient * n + n - 1, draw.randrange(top + 1)):
                if 0 <= number <= top:
                    assert residue(number, n, words, bits) == number % n
                    for least_bits in (1, n.bit_length()):
                        assert divided(number, n, words, bits, least_bits) == number % n


def test_a_carry_counts_as_another_fold() -> None:
    """The largest number carries; the oracle asserts its value at each step."""
    folded = Folded((1 << 8 * 32) - 1, 8, 32, 2)
    folded.start((1 << 11 * 32) - 1)
    for _ in range(5):
        folded.append((1 << 32) - 1)
    assert folded.carries > 0


def edge(source: random.Random, size: int) -> int:
    """A number of up to ``size`` bits with long runs of equal bits."""
    kind = source.randrange(4)
    if kind == 0:
        return source.getrandbits(size)
    if kind == 1:
        return (1 << size) - 1 - source.getrandbits(source.randrange(1, size))
    if kind == 2:
        return 1 << source.randrange(size)
    return (1 << source.randrange(1, size + 1)) - 1


@pytest.mark.parametrize(("words", "lanes"), [(8, 1), (16, 1), (24, 2), (32, 2), (64, 4)])
def test_edges_in_lanes(words: int, lanes: int) -> None:
    """Products at edges, in lanes too: the assertions of the oracle check what the kernels rely on."""
    source = random.Random(words + lanes)
    for _ in range(60):
        n = max(1, edge(source, 32 * words))
        a, b = (edge(source, 32 * words) for _ in range(2))
        if source.randrange(3) == 0:
            a = n - 1
        if source.randrange(3) == 0:
            b = n
        assert product(a, b, n, words, 32, lanes) == a * b % n
        assert divided(a * b, n, words, 32, max(1, n.bit_length() - 63)) == a * b % n
