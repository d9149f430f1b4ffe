# SPDX-License-Identifier: Apache-2.0
"""Exponentiation by windows.

Sources: HAC 14.79 (square and multiply), 14.82 (left-to-right k-ary: fixed windows), 14.85 (sliding
windows with odd powers) and table 14.16 (counts); Solinas 2000, section 4.1 (w-NAF).
"""

from __future__ import annotations

from typing import TypeVar

from reference.modexp.monoid import Monoid, MontgomeryWords
from reference.modmul.scalar64 import Montgomery

T = TypeVar("T")

MAX_WIDTH = 10
"""Widest window the width choices give."""


def digits(exponent: int, width: int, bits: int) -> list[int]:
    """Base-2^width digits, least significant first, of an exponent of at most ``bits`` bits.

    Their number depends on ``bits`` alone.

    >>> digits(0b101_110, 3, 9)
    [6, 5, 0]
    """
    assert 0 <= exponent < 1 << bits
    return [(exponent >> i) & ((1 << width) - 1) for i in range(0, bits, width)]


def fixed_cost(bits: int, width: int) -> int:
    """Multiplications of :func:`power_fixed`: the table from g^2 on, and one for each digit but the top."""
    return (1 << width) - 2 + max(0, -(-bits // width) - 1)


def fixed_width(bits: int) -> int:
    """Width of least :func:`fixed_cost`, the narrower of equals.

    It counts multiplications alone. Whole-table selection costs 2^w entries read a digit, so compiled code
    may well choose one less.

    >>> [fixed_width(bits) for bits in (17, 256, 1024, 4096)]
    [2, 4, 6, 7]
    """
    return min(range(1, MAX_WIDTH + 1), key=lambda width: (fixed_cost(bits, width), width))


def sliding_width(bits: int) -> int:
    """Width for :func:`power_sliding`: expected cost 2^(w-1) + bits / (w + 1), least.

    Going from w to w + 1 pays as soon as bits / ((w+1)(w+2)) > 2^(w-1).

    >>> [sliding_width(bits) for bits in (17, 256, 1024, 4096)]
    [2, 5, 6, 7]
    """
    width = 1
    while width < MAX_WIDTH and bits > (width + 1) * (width + 2) << (width - 1):
        width += 1
    return width


def width_naf(exponent: int, width: int) -> list[int]:
    """Digits of the non-adjacent form of ``width`` bits, least significant first.

    Each digit is 0 or odd and in magnitude below 2^(width - 1); of any ``width`` neighbours at most one is
    not 0.

    >>> width_naf(7, 2), width_naf(0b1011_0111, 4)
    ([-1, 0, 0, 1], [7, 0, 0, 0, -5, 0, 0, 0, 1])
    >>> all(sum(d << i for i, d in enumerate(width_naf(e, 5))) == e for e in range(500))
    True
    >>> {abs(d) for e in range(500) for d in width_naf(e, 4)}
    {0, 1, 3, 5, 7}
    """
    digits_found = []
    while exponent:
        digit = 0
        if exponent & 1:
            digit = exponent & ((1 << width) - 1)
            if digit >> (width - 1):
                digit -= 1 << width
        digits_found.append(digit)
        exponent = (exponent - digit) >> 1
    return digits_found


def power_binary(ring: Monoid[T], base: T, exponent: int) -> T:
    """Left-to-right square and multiply (HAC 14.79)."""
    result = ring.one()
    for i in range(exponent.bit_length() - 1, -1, -1):
        result = ring.sqr(result)
        if exponent >> i & 1:
            result = ring.mul(result, base)
    return result


def power_fixed(ring: Monoid[T], base: T, exponent: int, bits: int, width: int | None = None) -> T:
    """Fixed windows (HAC 14.82) over exactly ``bits`` exponent bits: constant-time.

    Every digit, zero or not, costs ``width`` squarings, one whole-table selection and one multiplication, so
    the sequence of operations is a function of ``bits`` alone.
    """
    width = width or fixed_width(bits)
    table = [ring.one(), base]
    while len(table) < 1 << width:
        even = ring.sqr(table[len(table) // 2])
        table += [even, ring.mul(even, base)]
    window = digits(exponent, width, bits) or [0]
    result = ring.select(table[: 1 << width], window[-1])
    for digit in reversed(window[:-1]):
        for _ in range(width):
            result = ring.sqr(result)
        result = ring.mul(result, ring.select(table[: 1 << width], digit))
    return result


def power_sliding(ring: Monoid[T], base: T, exponent: int, width: int | None = None) -> T:
    """Sliding windows over odd powers g, g^3, .., g^(2^w - 1) (HAC 14.85): variable-time."""
    if exponent == 0:
        return ring.one()
    width = width or sliding_width(exponent.bit_length())
    odd_powers = [base]
    if width > 1:
        base_squared = ring.sqr(base)
        for _ in range((1 << (width - 1)) - 1):
            odd_powers.append(ring.mul(odd_powers[-1], base_squared))
    result: T | None = None
    i = exponent.bit_length() - 1
    while i >= 0:
        if not exponent >> i & 1:
            assert result is not None, "the leading bit is 1"
            result, i = ring.sqr(result), i - 1
            continue
        low = max(i - width + 1, 0)
        while not exponent >> low & 1:
            low += 1
        power = odd_powers[(exponent >> low & ((1 << (i - low + 1)) - 1)) >> 1]
        if result is None:
            result = power
        else:
            for _ in range(i - low + 1):
                result = ring.sqr(result)
            result = ring.mul(result, power)
        i = low - 1
    assert result is not None
    return result


def powmod(base: int, exponent: int, n: int, *, secret: bool = False, word_bits: int = 64) -> int:
    """``base**exponent mod n`` for odd ``n >= 1`` and ``exponent >= 0`` on Montgomery words.

    >>> powmod(3, 1000, 2**61 - 1) == pow(3, 1000, 2**61 - 1)
    True
    """
    m = Montgomery.of(n, word_bits)
    ring = MontgomeryWords(m)
    g = m.residue(base)
    if secret:
        return m.value(power_fixed(ring, g, exponent, max(1, exponent.bit_length())))
    return m.value(power_sliding(ring, g, exponent))
