# SPDX-License-Identifier: Apache-2.0
"""Numbers of L digits on a machine of ``machine.py``: products, squares, sums, carries.

Bounds. A column of a product of exact digits is, with B = 2^w,

- w = 52: a sum of at most 2 L - 1 halves below B: below ``(2 L - 1) B``, 2^56.4 for L = 11;
- w = 29: a sum of at most L products below B^2: below ``L B^2``, 2^62.2 for L = 18. Digits of up to 2 B, sums
  of two numbers without a carry, are allowed as long as ``4 L B^2 < 2^64``: for L up to 15.

The machine asserts that no word overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.repr import from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modmul.special_primes.machine import Columns, Machine


class Digits:
    """Arithmetic modulo p on L digits that does not depend on the form of p."""

    def __init__(self, p: int, machine: Machine, length: int, headroom: int = 0) -> None:
        self.p, self.machine, self.length = p, machine, length
        self.headroom = headroom  #: bits that the top digit may have above w
        assert p < 1 << self.bits, "too few digits"

    @property
    def bits(self) -> int:
        """w L: numbers are below 2^(w L)."""
        return self.machine.w * self.length

    def digits(self, value: int) -> Columns:
        """The digits of a number below 2^(w L + headroom)."""
        low, top = value & ((1 << self.bits - self.machine.w) - 1), value >> self.bits - self.machine.w
        assert 0 <= top < 1 << self.machine.w + self.headroom
        return [*to_words(low, self.length - 1, self.machine.w), top]

    def number(self, a: Sequence[int]) -> int:
        """The number that digits spell."""
        assert 0 <= a[-1] < 1 << self.machine.w + self.headroom
        return from_words(a[:-1], self.machine.w) + (a[-1] << self.bits - self.machine.w)

    def product(self, a: Sequence[int], b: Sequence[int], start: Columns | None = None) -> Columns:
        """Columns of a b, 2 L of them, added to ``start``: L^2 products of digits."""
        t = list(start or [0] * (2 * self.length))
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                self.machine.add_product(t, i + j, x, y)
        return t

    def square(self, a: Sequence[int], start: Columns | None = None) -> Columns:
        """Columns of a^2: L (L + 1) / 2 products; cross sums are doubled before the others are added.

        With w = 29 a doubled digit is still a factor; with w = 52 it is not, and columns are doubled.
        """
        machine, length = self.machine, self.length
        start = start or [0] * (2 * length)
        cross = [0] * len(start)
        doubled = [machine.add(x, x) for x in a[1:]] if machine.wide else None
        for i, x in enumerate(a):
            for j in range(i + 1, length):
                machine.add_product(cross, i + j, x, doubled[j - 1] if doubled else a[j])
        if doubled is None:
            cross = [machine.add(x, x) if 0 < k < 2 * length - 1 else x for k, x in enumerate(cross)]
        t = [x + y for x, y in zip(cross, start, strict=True)]
        for i, x in enumerate(a):
            machine.add_product(t, 2 * i, x, x)
        return t

    def carry(self, t: Columns, first: int, last: int, *, mask: bool) -> None:
        """Pass what is above w bits from column ``first`` up to ``last``; clear it in place if ``mask``."""
        machine = self.machine
        for k in range(first, last):
            t[k + 1] = machine.add(t[k + 1], machine.shift_right(t[k], machine.w))
            if mask:
                t[k] = machine.low(t[k], machine.w)

    def exact(self, t: Columns) -> Columns:
        """Digits with carries passed on; the number must be below 2^(w L + headroom)."""
        t = list(t)
        self.carry(t, 0, self.length - 1, mask=True)
        assert 0 <= t[-1] < 1 << self.machine.w + self.headroom, "the number exceeds its digits"
        return t

    def add(self, a: Sequence[int], b: Sequence[int]) -> Columns:
        """``a + b``, below 2^(w L), carried."""
        return self.exact([self.machine.add(x, y) for x, y in zip(a, b, strict=True)])

    def lifted(self, k: int) -> Columns:
        """Columns of k p, each but the top one at least 2^w - 1: ``lifted - b`` has no negative digit."""
        machine, columns = self.machine, self.digits(k * self.p)
        columns[0] += 1 << machine.w
        for j in range(1, self.length - 1):
            columns[j] += machine.mask
        columns[-1] -= 1
        return columns

    def sub(self, a: Sequence[int], b: Sequence[int], k: int) -> Columns:
        """``a - b + k p``, where the top digit of b is below that of k p: no digit goes below 0."""
        machine = self.machine
        sums = [machine.add(x, y) for x, y in zip(a, self.lifted(k), strict=True)]
        return self.exact([machine.sub(x, y) for x, y in zip(sums, b, strict=True)])
