# SPDX-License-Identifier: Apache-2.0
"""The oracle of technique radix29 against Python's integers; its bounds are asserted inside."""

from __future__ import annotations

import random

import pytest
from reference.modmul import radix29
from reference.modmul.radix29 import DIGIT_BITS, Radix29
from reference.repr import from_words, to_words
from tests.python.montgomery_support import power

LENGTHS = [*range(1, 15), 18, 31, 32, 36, 71]


def moduli(length: int) -> list[int]:
    """The widest moduli of ``length`` digits: all ones, one bit, random."""
    bits = DIGIT_BITS * length - radix29.HEADROOM_BITS
    draw = random.Random(length)
    return [2**bits - 1, 2 ** (bits - 1) + 1, draw.getrandbits(bits) | 1, 2 ** (bits - DIGIT_BITS + 3) - 1]


@pytest.mark.parametrize("length", LENGTHS)
def test_products_at_the_bounds(length: int) -> None:
    for n in moduli(length):
        m = Radix29.of(n, length)
        inverse = pow(m.radix, -1, n)
        top, any_residue = 2 * n - 1, m.radix - 1
        for a, b in [(top, top), (top, 1), (0, top), (any_residue, n), (any_residue, 1)]:
            x, y = (to_words(v, length, DIGIT_BITS) for v in (a, b))
            assert from_words(m.mul(x, y), DIGIT_BITS) % n == a * b * inverse % n
            if a < 2 * n:
                assert m.sqr(x) == m.mul(x, x)


@pytest.mark.parametrize("bits", [1, 2, 26, 27, 28, 64, 255, 521, 1024])
def test_power_by_repeated_squaring(bits: int) -> None:
    draw = random.Random(bits)
    n = draw.getrandbits(bits) | 1 << (bits - 1) | 1
    base, exponent = draw.getrandbits(bits), draw.getrandbits(24)
    assert power(Radix29.of(n), base, exponent) == pow(base, exponent, n)


def test_long_columns_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    folds = 0
    fold = radix29.Tile.fold

    def counting_fold(tile: radix29.Tile) -> None:
        nonlocal folds
        folds += 1
        fold(tile)

    monkeypatch.setattr(radix29.Tile, "fold", counting_fold)
    for length, folded in [(18, False), (36, True)]:
        n = moduli(length)[0]
        x = to_words(2 * n - 1, length, DIGIT_BITS)
        folds = 0
        Radix29.of(n, length).mul(x, x)
        assert (folds > 0) == folded


def test_rejects_even_and_too_wide_moduli() -> None:
    with pytest.raises(ValueError, match="odd"):
        Radix29.of(10)
    with pytest.raises(ValueError, match="digits"):
        Radix29.of(2**28 - 1, 1)
