# SPDX-License-Identifier: Apache-2.0
"""Matrix products over bytes, as 8-bit tensor cores compute them: u8 operands, int32 accumulators.

A number is a row of bytes along K; an entry of the matrix is a number cut into columns of bytes. The bounds
are in docs/rns/theory.md, "Matrix products over bytes".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

INT32_MAX = (1 << 31) - 1


def split(x: int, count: int) -> list[int]:
    """The ``count`` bytes of x, least significant first.

    >>> split(0x01FF, 2)
    [255, 1]
    """
    return list(x.to_bytes(count, "little"))


def largest_bytes(largest: int, count: int) -> tuple[int, ...]:
    """The largest byte at each place of numbers up to ``largest``.

    >>> largest_bytes(0x0102, 4)
    (255, 1, 0, 0)
    """
    return tuple(min(255, largest >> (8 * p)) for p in range(count))


def join(sums: Sequence[int]) -> int:
    """The number with these digits in radix 2^8, which may be larger than bytes."""
    return sum(int(s) << (8 * p) for p, s in enumerate(sums))


@dataclass(frozen=True)
class ByteMatrix:
    """A matrix of bytes: a row for each byte of the operand, ``width`` columns for each entry of ``entries``.

    ``entries[row][target]`` is a number. ``largest`` has the largest bytes that the operand may have in the
    last rows; in the rows before, it may have any.
    """

    entries: tuple[tuple[int, ...], ...]
    width: int = 4
    largest: tuple[int, ...] = ()

    @cached_property
    def largest_operand(self) -> Array:
        """The largest byte that each row is multiplied by."""
        return np.array([255] * (len(self.entries) - len(self.largest)) + list(self.largest), dtype=np.int64)

    @cached_property
    def columns(self) -> Array:
        """The bytes of the matrix, in rows of ``width`` times the number of targets."""
        cut = b"".join(x.to_bytes(self.width, "little") for row in self.entries for x in row)
        return np.frombuffer(cut, dtype=np.uint8).reshape(len(self.entries), -1).astype(np.int64)

    @cached_property
    def largest_sums(self) -> Array:
        """The column sums for the largest operand, by target: no others are larger."""
        sums: Array = (self.largest_operand @ self.columns).reshape(-1, self.width)
        return sums

    @property
    def fits_int32(self) -> bool:
        """Whether no accumulator can overflow, in any order of the terms."""
        return int(self.largest_sums.max()) <= INT32_MAX

    def product(self, row: Sequence[int]) -> Array:
        """The column sums: for each target ``width`` int32 accumulators, asserted not to overflow."""
        operand = np.array(row, dtype=np.int64)
        assert operand.min() >= 0 and (operand <= self.largest_operand).all()
        result: Array = (operand @ self.columns).reshape(-1, self.width)
        assert result.max() <= INT32_MAX, "accumulator overflow"
        return result
