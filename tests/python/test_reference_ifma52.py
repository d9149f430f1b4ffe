# SPDX-License-Identifier: Apache-2.0
"""The oracle of technique ifma52's eight lanes against Python's integers; its bounds are asserted inside."""

from __future__ import annotations

import random

import pytest
from reference.modmul import ifma52
from reference.modmul.ifma52 import BLOCK, DIGIT_BITS, HEADROOM_BITS, ROW_WINDOW, WINDOW, Ifma52
from reference.repr import to_words
from tests.python.montgomery_support import power

LENGTHS = [2, 3, 5, 10, 11, 20, WINDOW, WINDOW + 1, 30, 31, 40]
#: Of the kernels, at 16384 bits and beyond.
MAX_DIGITS = 320


def moduli(length: int) -> list[int]:
    """The widest moduli of ``length`` digits: all ones, one bit, random, zero digits but the outer ones."""
    bits = DIGIT_BITS * length - HEADROOM_BITS
    draw = random.Random(length)
    return [2**bits - 1, 2 ** (bits - 1) + 1, draw.getrandbits(bits) | 1, 2 ** (bits - DIGIT_BITS + 3) - 1]


def digits(m: Ifma52, value: int) -> list[int]:
    return list(to_words(value, m.length, m.w))


@pytest.mark.parametrize("length", LENGTHS)
def test_products_at_the_bounds(length: int) -> None:
    for n in moduli(length):
        m = Ifma52.of(n, length)
        inverse = pow(m.radix, -1, n)
        top = 2 * n - 1
        for a, b in [(top, top), (top, 1), (0, top), (m.radix - 1, n), (m.radix - 1, 1)]:
            x, y = digits(m, a), digits(m, b)
            assert m.number(m.mul(x, y)) % n == a * b * inverse % n
            if a < 2 * n:
                assert m.square(x) == m.product(x, x)
                assert m.sqr(x) == m.mul(x, x)


def test_columns_of_the_longest_numbers() -> None:
    """Digits of all ones: the sums that the bounds speak of, with room to spare at the kernels' limit."""
    m = Ifma52.of(2 ** (DIGIT_BITS * MAX_DIGITS - HEADROOM_BITS) - 1, MAX_DIGITS)
    ones = [m.bias] * MAX_DIGITS
    assert max(m.product(ones, ones)) <= 2 * MAX_DIGITS * m.bias
    assert m.square(ones) == m.product(ones, ones)
    top = 2 * m.modulus - 1
    square = m.number(m.sqr(digits(m, top)))
    assert square * m.radix % m.modulus == top * top % m.modulus


def test_results_serve_as_operands_with_what_is_left_above_their_digits() -> None:
    draw = random.Random(1)
    unclean = 0
    for bits in (1022, 2048):
        n = draw.getrandbits(bits) | 1 << (bits - 1) | 1
        m = Ifma52.of(n)
        power = base = m.residue(draw.getrandbits(bits))
        expected = base_value = m.value(base)
        for _ in range(6):
            power = m.mul(m.sqr(power), base)
            expected = expected * expected * base_value % n
            unclean += sum(word >> DIGIT_BITS != 0 for word in power)
            assert m.value(power) == expected
    assert unclean > 0


@pytest.mark.parametrize("bits", [1, 2, 49, 50, 51, 64, 102, 255, 521, 1024, 1248])
def test_power_by_repeated_squaring(bits: int) -> None:
    draw = random.Random(bits)
    n = draw.getrandbits(bits) | 1 << (bits - 1) | 1
    base, exponent = draw.getrandbits(bits), draw.getrandbits(24)
    assert power(Ifma52.of(n), base, exponent) == pow(base, exponent, n)


@pytest.mark.parametrize("w", [3, 4])
def test_every_operand_of_two_small_digits(w: int) -> None:
    radix = 1 << 2 * w
    for n in range(1, radix // 4 + 1, 2):
        m = Ifma52.of(n, 2, w)
        inverse = pow(radix, -1, n)
        for a in range(2 * n):
            x = digits(m, a)
            assert m.sqr(x) == m.mul(x, x)
            for b in range(a, 2 * n):
                assert m.number(m.mul(x, digits(m, b))) % n == a * b * inverse % n


@pytest.mark.parametrize(("block", "window"), [(1, 2), (3, 5), (BLOCK, ROW_WINDOW), (BLOCK, BLOCK + 1)])
def test_blocks_of_rows_give_the_same_digits(block: int, window: int) -> None:
    length = 23
    for n in moduli(length):
        m = Ifma52.of(n, length)
        columns = m.product(digits(m, 2 * n - 1), digits(m, n))
        plain = m._finish(m._reduce_rows(list(columns), 0, length, length)[0])
        assert m.number(m.reduce_in_blocks(columns, block, window)) == m.number(plain)


@pytest.mark.parametrize("entries", [2, 4, 8, 16, 32])
def test_shares_of_a_selection_find_every_entry(entries: int) -> None:
    lanes = 8
    table = [
        [[1000 * entry + 10 * lane + d for d in range(3)] for lane in range(lanes)]
        for entry in range(entries)
    ]
    draw = random.Random(entries)
    for _ in range(20):
        indices = [draw.randrange(entries) for _ in range(lanes)]
        chosen = [[-1] * 3 for _ in range(lanes)]
        for share in ifma52.shares(entries, entries.bit_length() - 1):
            ifma52.store_share(chosen, table, share, indices)
        assert chosen == [table[index][lane] for lane, index in enumerate(indices)]


def test_too_many_entries_for_the_squarings_of_a_window() -> None:
    assert len(ifma52.shares(16, 4, ifma52.FEW_ENTRIES)) == 4
    for entries, squarings, most in [(64, 6, ifma52.SHARE_ENTRIES), (32, 5, ifma52.FEW_ENTRIES)]:
        with pytest.raises(AssertionError):
            ifma52.shares(entries, squarings, most)


def test_rejects_even_and_too_wide_moduli() -> None:
    with pytest.raises(ValueError, match="odd"):
        Ifma52.of(10)
    with pytest.raises(ValueError, match="digits"):
        Ifma52.of(2**103 - 1, 2)
