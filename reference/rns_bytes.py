# SPDX-License-Identifier: Apache-2.0
"""Matrix products over bytes, as 8-bit tensor cores compute them: int8 operands, int32 accumulators.

A number is a row of bytes along K; an entry of the matrix is a number cut into columns, plain bytes (u8 x u8)
or signed digits in [-128, 127] (u8 x s8). docs/rns.md, "Matrix products over bytes", has the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def split(x: int, count: int, signed: bool = False) -> list[int]:
    """Digits of x in radix 2^8, least significant first: bytes, or signed digits in [-128, 127].

    >>> split(0x01FF, 2), split(0x01FF, 2, signed=True), split(-1, 2, signed=True)
    ([255, 1], [-1, 2], [-1, 0])
    """
    digits = []
    for _ in range(count):
        digit = x & 255
        digit -= 256 if signed and digit > 127 else 0
        digits.append(digit)
        x = (x - digit) >> 8
    assert x == 0, "too few digits"
    return digits


def largest_bytes(largest: int, count: int) -> tuple[int, ...]:
    """The largest byte at each place of numbers up to ``largest``.

    >>> largest_bytes(0x0102, 4)
    (255, 1, 0, 0)
    """
    return tuple(min(255, largest >> (8 * p)) for p in range(count))


def centred(x: int, m: int) -> int:
    """x mod m in [-(m - 1) / 2, (m - 1) / 2] for odd m: four signed digits where m < 2^31."""
    return x % m if x % m <= m // 2 else x % m - m


def join(digits: Sequence[int]) -> int:
    """The number of these digits, of any size and sign."""
    return sum(int(digit) << (8 * p) for p, digit in enumerate(digits))


@dataclass(frozen=True)
class ByteMatrix:
    """Rows by byte of the operand, ``width`` columns by entry; entry [row][target] of ``entries``.

    ``largest`` has the largest byte of the operand in each of the last rows that need not hold all bytes.
    """

    entries: tuple[tuple[int, ...], ...]
    width: int = 4
    signed: bool = False
    largest: tuple[int, ...] = ()

    @cached_property
    def largest_operand(self) -> Array:
        """The largest byte that each row is multiplied by."""
        return np.array([255] * (len(self.entries) - len(self.largest)) + list(self.largest), dtype=np.int64)

    @cached_property
    def columns(self) -> Array:
        """The matrix: rows, targets times width."""
        cut = [[d for x in row for d in split(x, self.width, self.signed)] for row in self.entries]
        return np.array(cut, dtype=np.int64)

    def _extremes(self, matrix: Array) -> tuple[int, int]:
        low, high = self.largest_operand @ np.minimum(matrix, 0), self.largest_operand @ np.maximum(matrix, 0)
        return int(low.min()), int(high.max())

    @property
    def fits_int32(self) -> bool:
        """No accumulator can overflow, in whichever order the terms are added."""
        low, high = self._extremes(self.columns)
        return low >= INT32_MIN and high <= INT32_MAX

    @property
    def recombines_in_32_bits(self) -> bool:
        """``c0 + 2^8 c1`` and ``c2 + 2^8 c3`` of every target fit one word, signed as the matrix is."""
        pairs = self.columns[:, 0::2] + 256 * self.columns[:, 1::2]
        low, high = self._extremes(pairs)
        return low >= INT32_MIN and high <= INT32_MAX if self.signed else high < 1 << 32

    def product(self, row: Sequence[int]) -> Array:
        """Column sums, by target: ``width`` int32 accumulators each, asserted not to overflow."""
        operand = np.array(row, dtype=np.int64)
        assert operand.min() >= 0 and (operand <= self.largest_operand).all()
        for part in (np.minimum(self.columns, 0), np.maximum(self.columns, 0)):
            sums = operand @ part
            assert sums.min() >= INT32_MIN and sums.max() <= INT32_MAX, "accumulator overflow"
        result: Array = (operand @ self.columns).reshape(-1, self.width)
        return result


def recombine(sums: Sequence[int], signed: bool, narrow: bool) -> int:
    """``c0 + 2^8 c1 + 2^16 c2 + 2^24 c3`` of int32; ``narrow`` adds each half in one 32-bit word first."""
    c = [int(x) for x in sums]
    if not narrow:
        return join(c)
    halves = []
    for low, high in ((c[0], c[1]), (c[2], c[3])):
        word = (low + (high << 8)) & 0xFFFFFFFF
        word -= 1 << 32 if signed and word > INT32_MAX else 0
        assert word == low + 256 * high, "32-bit recombination overflows"
        halves.append(word)
    return halves[0] + (halves[1] << 16)
