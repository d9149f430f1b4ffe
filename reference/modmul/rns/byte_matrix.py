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
    """Bytes of x, least significant first.

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
    """The number of these digits in radix 2^8, of any size."""
    return sum(int(s) << (8 * p) for p, s in enumerate(sums))


@dataclass(frozen=True)
class ByteMatrix:
    """Rows by byte of the operand, ``width`` columns by entry; entry [row][target] of ``entries``.

    ``largest`` has the largest byte of the operand in each of the last rows that need not hold all bytes.
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
        """The matrix: rows, targets times width."""
        cut = b"".join(x.to_bytes(self.width, "little") for row in self.entries for x in row)
        return np.frombuffer(cut, dtype=np.uint8).reshape(len(self.entries), -1).astype(np.int64)

    @cached_property
    def largest_sums(self) -> Array:
        """Column sums for the largest operand: no others are larger. By target."""
        sums: Array = (self.largest_operand @ self.columns).reshape(-1, self.width)
        return sums

    @property
    def fits_int32(self) -> bool:
        """No accumulator can overflow, in whichever order the terms are added."""
        return int(self.largest_sums.max()) <= INT32_MAX

    def product(self, row: Sequence[int]) -> Array:
        """Column sums, by target: ``width`` int32 accumulators each, asserted not to overflow."""
        operand = np.array(row, dtype=np.int64)
        assert operand.min() >= 0 and (operand <= self.largest_operand).all()
        result: Array = (operand @ self.columns).reshape(-1, self.width)
        assert result.max() <= INT32_MAX, "accumulator overflow"
        return result
