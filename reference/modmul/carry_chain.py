# SPDX-License-Identifier: Apache-2.0
"""Words of w bits and one carry flag: the carry chains of a GPU's integer instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Chain:
    """A carry flag, and additions and multiplications of words of ``bits`` bits that use it.

    A method whose name ends in ``_cc`` sets the flag, one that begins with ``addc`` or ``madc`` reads it.

    >>> chain = Chain(8)
    >>> chain.add_cc(255, 2), chain.addc(0, 0)
    (1, 1)
    """

    bits: int
    flag: int = 0

    @property
    def mask(self) -> int:
        """The largest word."""
        return (1 << self.bits) - 1

    def _keep(self, total: int) -> int:
        self.flag = total >> self.bits
        assert self.flag <= 1, "more than one carry"
        return total & self.mask

    def add_cc(self, a: int, b: int) -> int:
        """``a + b``."""
        return self._keep(a + b)

    def addc_cc(self, a: int, b: int) -> int:
        """``a + b + carry``."""
        return self._keep(a + b + self.flag)

    def addc(self, a: int, b: int) -> int:
        """``a + b + carry``, which must be a word."""
        total = a + b + self.flag
        assert total <= self.mask, "a carry is lost"
        return total

    def mad_wide_cc(self, a: int, b: int, low: int, high: int) -> tuple[int, int]:
        """Words of ``a b + low + high W``."""
        self.flag = 0
        return self.madc_wide_cc(a, b, low, high)

    def madc_wide_cc(self, a: int, b: int, low: int, high: int) -> tuple[int, int]:
        """Words of ``a b + low + high W + carry``.

        >>> Chain(8, flag=1).madc_wide_cc(255, 255, 255, 1)
        (1, 0)
        """
        assert 0 <= a <= self.mask and 0 <= b <= self.mask
        product = a * b
        low = self._keep((product & self.mask) + low + self.flag)
        return low, self._keep((product >> self.bits) + high + self.flag)

    def add_row(self, total: list[int], at: int, row: Sequence[int]) -> None:
        """Add the words of ``row`` at word ``at`` of ``total``; the last one's carry is in the flag."""
        self.flag = 0
        for j, word in enumerate(row):
            assert word <= self.mask
            total[at + j] = self.addc_cc(total[at + j], word)


def less_modulus_if_above(value: int, n: int, r: int) -> int:
    """``value`` for ``value < r``, else ``value - n``: almost reduced, below r. In: ``value < r + n``.

    >>> less_modulus_if_above(17, 13, 16), less_modulus_if_above(15, 13, 16)
    (4, 15)
    """
    assert 0 <= value < r + n, "the sum of all rows is not below R + n"
    return value - n if value >= r else value
