# SPDX-License-Identifier: Apache-2.0
"""k G by tables of G alone, without doublings: signed windows, one table for each.

Source: Brickell, Gordon, McCurley, Wilson 1992; signed digits as OpenSSL's ecp_nistz256 (w = 7). 256 bits
take 37 windows of 7 bits and 64 points each, 2368 points of 64 bytes; for public scalars w = 12 takes 22
windows of 2048 points, 2.75 MiB.

Exceptional cases. With digit 0 nothing is added: the sum is computed and not selected. The partial sum can
equal the point added, or its negative, only in the last addition: before, it is below in absolute value as an
integer, and both are below n. So only the last addition needs the complete one (:meth:`FixedBase.multiply`
asserts it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from reference.modexp.recoding import signed_digit_count, signed_digits

if TYPE_CHECKING:
    from reference.ecc.groups import Group

P = TypeVar("P")


@dataclass(frozen=True)
class FixedBase(Generic[P]):
    """``tables[i][d - 1] = d 2^(width i) G`` for d = 1 .. 2^(width - 1)."""

    group: Group[P]
    width: int
    bits: int
    tables: list[list[P]]

    @staticmethod
    def of(group: Group[P], base: P, width: int, bits: int) -> FixedBase[P]:
        """Compute the tables for scalars below 2^bits."""
        tables = []
        for _ in range(signed_digit_count(bits, width)):
            table = [base]
            while len(table) < 1 << (width - 1):
                table.append(group.mul(table[-1], base))
            tables.append(table)
            base = group.sqr(table[-1])
        return FixedBase(group, width, bits, tables)

    @property
    def additions(self) -> int:
        """Additions of one multiplication: the first window is loaded."""
        return len(self.tables) - 1

    def selected(self, window: int, digit: int) -> P:
        """``digit 2^(width window) G``; a digit 0 gives the neutral element."""
        if digit == 0:
            return self.group.one()
        point = self.group.select(self.tables[window], abs(digit) - 1)
        return self.group.inv(point) if digit < 0 else point

    def multiply(self, k: int) -> P:
        """``k G``: windows from the least significant up, so that the partial sum stays below the next."""
        digits = signed_digits(k, self.width, self.bits)
        result, partial = self.selected(0, digits[0]), digits[0]
        for i, digit in enumerate(digits[1:], 1):
            weight = abs(digit) << (self.width * i)
            assert weight == 0 or abs(partial) < weight, "an exceptional case is possible"
            result = self.group.mul(result, self.selected(i, digit))
            partial += digit << (self.width * i)
        assert partial == k
        return result
