# SPDX-License-Identifier: Apache-2.0
"""Canonical form: little-endian words in radix W = 2^word_bits.

In the compiled library ``word_bits`` is 64. Here it is a parameter, so that tests run the same algorithms
over every value of a toy word size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Words = tuple[int, ...]
"""Little-endian words; word ``j`` weighs ``2**(word_bits * j)``."""


def words_for_bits(bits: int, word_bits: int = 64) -> int:
    """Words that hold ``bits`` bits, at least one.

    >>> words_for_bits(65), words_for_bits(64), words_for_bits(0)
    (2, 1, 1)
    """
    return max(1, -(-bits // word_bits))


def to_words(value: int, count: int, word_bits: int = 64) -> Words:
    """Split ``0 <= value < W**count`` into ``count`` words.

    >>> to_words(0x1234, 3, word_bits=8)
    (52, 18, 0)
    """
    if not 0 <= value < 1 << (word_bits * count):
        raise ValueError(f"value of {value.bit_length()} bits does not fit {count} words of {word_bits} bits")
    mask = (1 << word_bits) - 1
    return tuple((value >> (word_bits * j)) & mask for j in range(count))


def from_words(words: Sequence[int], word_bits: int = 64) -> int:
    """The integer that ``words`` represent; each word must be in ``[0, W)``.

    >>> from_words((52, 18, 0), word_bits=8) == 0x1234
    True
    """
    value = 0
    for word in reversed(words):
        assert 0 <= word < 1 << word_bits, "word out of range"
        value = (value << word_bits) | word
    return value


def normalised(words: Sequence[int]) -> Words:
    """``words`` without leading zero words, but with one word at least.

    >>> normalised((5, 0, 0)), normalised((0, 0))
    ((5,), (0,))
    """
    count = len(words)
    while count > 1 and words[count - 1] == 0:
        count -= 1
    return tuple(words[:count])


def from_bytes(data: bytes, count: int) -> Words:
    """64-bit words of a big-endian byte string of any length that fits ``count`` words."""
    return to_words(int.from_bytes(data, "big"), count)


def to_bytes(words: Sequence[int], length: int) -> bytes:
    """Big-endian bytes, ``length`` of them, of 64-bit words; ``OverflowError`` if they do not fit."""
    return from_words(words).to_bytes(length, "big")


def worst_case_words(count: int, word_bits: int = 64) -> list[Words]:
    """Word patterns that stress carries: all ones, single bits at word edges, long runs, alternations."""
    bits = count * word_bits
    top = 1 << bits
    edges = {0, 1, 2, 3, top - 1, top - 2, top >> 1, (top >> 1) - 1}
    for j in range(0, bits + 1, word_bits):
        edges |= {(1 << j) % top, ((1 << j) - 1) % top, ((1 << j) + 1) % top, top - 1 - ((1 << j) - 1)}
    edges |= {top - 1 - (1 << (bits // 2)), (top - 1) // 3, (top - 1) // 3 * 2}
    return [to_words(value, count, word_bits) for value in sorted(edges) if 0 <= value < top]
