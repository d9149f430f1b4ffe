# SPDX-License-Identifier: Apache-2.0
"""Signed digits of exponents, where inverses are free, as on elliptic curves.

Sources: Booth 1951; Solinas 2000, section 4.1 (w-NAF, ``windows.py``); Giorgi, Izard, Tisserand 2009, section
3.3 (basic and packed storage of w-NAF digits).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def signed_digit_count(bits: int, width: int) -> int:
    """Digits of :func:`signed_digits`: the last one takes the carry out of the bits below.

    >>> signed_digit_count(256, 7), signed_digit_count(256, 5)
    (37, 52)
    """
    return bits // width + 1


def signed_digits(exponent: int, width: int, bits: int) -> list[int]:
    """Digits in ``[-2^(width-1), 2^(width-1)]`` in radix 2^width, least significant first.

    Digit i is bits ``width i .. width i + width - 1`` as a two's complement number, plus the bit below: no
    carry runs from digit to digit. Their number depends on ``bits`` alone.

    >>> signed_digits(0b110_111, 3, 6)
    [-1, -1, 1]
    """
    assert 0 <= exponent < 1 << bits
    mask, digits = (1 << width) - 1, []
    for i in range(signed_digit_count(bits, width)):
        window = exponent >> (width * i) & mask
        below = exponent >> (width * i - 1) & 1 if i else 0
        digits.append(window + below - (window >> (width - 1) << width))
    return digits


def pack(digits: Sequence[int], width: int, word_bits: int = 32) -> list[int]:
    """w-NAF digits in ``width`` bits each, two's complement, without a gap between words.

    >>> pack([-1, 0, 1], 2), pack([3, 0, 0, -3], 3)
    ([19], [2563])
    """
    total = sum((digit & ((1 << width) - 1)) << (width * i) for i, digit in enumerate(digits))
    words = max(1, -(-len(digits) * width // word_bits))
    return [total >> (word_bits * j) & ((1 << word_bits) - 1) for j in range(words)]


def unpack(words: Sequence[int], width: int, i: int, word_bits: int = 32) -> int:
    """Digit i of :func:`pack`; it may lie across two words.

    >>> [unpack([2563], 3, i) for i in range(4)]
    [3, 0, 0, -3]
    """
    at, shift = divmod(width * i, word_bits)
    pair = words[at] | (words[at + 1] << word_bits if at + 1 < len(words) else 0)
    digit = pair >> shift & ((1 << width) - 1)
    return digit - (digit >> (width - 1) << width)
