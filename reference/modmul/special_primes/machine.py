# SPDX-License-Identifier: Apache-2.0
"""One lane of a vector unit: 64-bit words, a multiplier of digits, and counters of instructions.

A number is L digits in radix 2^w, least significant first, each below 2^w. The two machines differ in what
their multiplier adds to a column, and both serve the same algorithms (``digits.py`` and the files that import
it):

- :class:`Ifma` (w = 52): vpmadd52luq and vpmadd52huq read the low 52 bits of their factors, and add the low
  or the high 52 bits of the product to a word. A product goes to two columns. Digits need no mask before a
  multiplication.
- :class:`Muludq` (w = 29): vpmuludq multiplies the low 32 bits, and vpaddq adds the product to one column.
  Digits are masked. Multiples of powers of two are shifts, which cost as much as products, but need no
  register for a factor.

Words are unsigned. Only the top column of a Montgomery reduction starts at a small negative number, which is
a word modulo 2^64; it becomes positive before it is read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

Columns = list[int]


@dataclass
class Machine:
    """What both machines share. ``w`` is smaller in tests over all numbers."""

    w: int
    spare: int  #: bits of a word above those of a digit (52) or of a product (29)
    wide: ClassVar[bool]  #: whether columns are as wide as products, and doubled digits are factors
    counts: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def mask(self) -> int:
        """2^w - 1."""
        return (1 << self.w) - 1

    @property
    def word_bits(self) -> int:
        """Bits of a word."""
        raise NotImplementedError

    def add(self, a: int, b: int) -> int:
        """``a + b``."""
        self.counts["add"] += 1
        return self._word(a + b)

    def sub(self, a: int, b: int) -> int:
        """``a - b``, which must not be negative."""
        self.counts["add"] += 1
        assert a >= b, "a digit is negative"
        return a - b

    def shift_right(self, a: int, bits: int) -> int:
        """``floor(a / 2^bits)``."""
        self.counts["shift"] += 1
        assert a >= 0, "a negative column is shifted"
        return a >> bits

    def shift_left(self, a: int, bits: int) -> int:
        """``a 2^bits``."""
        self.counts["shift"] += 1
        return self._word(a << bits)

    def low(self, a: int, bits: int) -> int:
        """``a mod 2^bits``."""
        self.counts["logic"] += 1
        assert a >= 0
        return a & ((1 << bits) - 1)

    def complement(self, a: int) -> int:
        """``2^w - 1 - a`` for a digit a; :class:`Ifma`'s multiplier does not see the bits above w."""
        self.counts["logic"] += 1
        return self.mask - (a & self.mask)

    def factor(self, a: int) -> int:
        """A column as a factor of the multiplier."""
        raise NotImplementedError

    def add_product(self, t: Columns, k: int, x: int, y: int) -> None:
        """Add ``x y 2^(w k)``."""
        raise NotImplementedError

    def add_power(self, t: Columns, k: int, x: int, exponent: int) -> None:
        """Add ``x 2^(w k + exponent)`` for a digit x, exponent < w."""
        raise NotImplementedError

    def _word(self, value: int) -> int:
        assert value >> self.word_bits == 0 or -(1 << self.w) <= value < 0, "a word overflows"
        return value


@dataclass
class Ifma(Machine):
    """vpmadd52luq, vpmadd52huq."""

    w: int = 52
    spare: int = 12
    wide: ClassVar[bool] = False

    @property
    def word_bits(self) -> int:
        """64 for w = 52."""
        return self.w + self.spare

    def factor(self, a: int) -> int:
        """The low w bits, which are all that the multiplier sees: no instruction."""
        return a & self.mask

    def add_low(self, t: Columns, k: int, x: int, y: int) -> None:
        """``t_k += lo(x y)``."""
        t[k] = self._word(t[k] + (self._product(x, y) & self.mask))

    def add_high(self, t: Columns, k: int, x: int, y: int) -> None:
        """``t_k += hi(x y)``."""
        t[k] = self._word(t[k] + (self._product(x, y) >> self.w))

    def _product(self, x: int, y: int) -> int:
        self.counts["mul"] += 1
        assert 0 <= x <= self.mask, "the multiplier does not see all of a factor"
        assert 0 <= y <= self.mask, "the multiplier does not see all of a factor"
        return x * y

    def add_product(self, t: Columns, k: int, x: int, y: int) -> None:
        """Two instructions, the second left out where the caller's columns end: the half is 0 then."""
        self.add_low(t, k, x, y)
        if k + 1 < len(t):
            self.add_high(t, k + 1, x, y)
        else:
            assert x * y >> self.w == 0, "a product exceeds the top column"

    def add_power(self, t: Columns, k: int, x: int, exponent: int) -> None:
        """As a product: cheaper than a shift, a mask and an addition for each half."""
        self.add_product(t, k, x, 1 << exponent)


@dataclass
class Muludq(Machine):
    """vpmuludq with vpaddq."""

    w: int = 29
    spare: int = 6
    wide: ClassVar[bool] = True

    @property
    def word_bits(self) -> int:
        """64 for w = 29."""
        return 2 * self.w + self.spare

    @property
    def factor_bits(self) -> int:
        """32 for w = 29."""
        return self.word_bits // 2

    def factor(self, a: int) -> int:
        """A mask."""
        return self.low(a, self.w)

    def add_product(self, t: Columns, k: int, x: int, y: int) -> None:
        """A product and an addition."""
        assert 0 <= x < 1 << self.factor_bits
        assert 0 <= y < 1 << self.factor_bits
        self.counts["mul"] += 1
        t[k] = self.add(t[k], x * y)

    def add_power(self, t: Columns, k: int, x: int, exponent: int) -> None:
        """A shift and an addition; nothing to shift for exponent 0."""
        t[k] = self.add(t[k], self.shift_left(x, exponent) if exponent else x)
