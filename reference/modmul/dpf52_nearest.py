# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication on 52-bit digits by double-precision FMA that is rounded to nearest (OpenCL).

The form of :mod:`reference.modmul.dpf52` for arithmetic without another rounding: with w bits in a digit,
digits 0 <= a, b < 2^w and rn rounding to nearest, to even in ties::

    p_hi = rn(a b + 2^(2w))           = 2^(2w) + 2^w H,   H the integer nearest to a b / 2^w
    p_lo = rn(a b + (C - p_hi))       = D - 3 2^(w-1),    D = a b - 2^w H, abs(D) <= 2^(w-1)

with C = 2^(2w) - 3 2^(w-1). All three are exact but for p_hi. The pattern of p_lo, a negative number, falls
with D, so that columns subtract it. Columns are signed; they start at minus the offsets to come, of patterns
and of D.

The low product of a quotient digit q and the lowest digit n_0 of n is not computed: it completes the column
to a multiple of 2^w, whose carry is floor((c + u) / 2^w) with u = 2^(w-1), or one less where n_0 = 3 mod 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.modmul.dpf52 import BINARY64, FloatFormat, value_of
from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence


def nearest(x: int, fmt: FloatFormat = BINARY64) -> int:
    """rn(x): the value nearest to x, the even one in a tie.

    >>> nearest(2**53 + 1) == 2**53, nearest(2**53 + 3) == 2**53 + 4
    (True, True)
    """
    excess = max(0, abs(x).bit_length() - (fmt.digit_bits + 1))
    quotient, rest = divmod(abs(x), 1 << excess)
    half = 1 << excess >> 1
    if excess and (rest > half or (rest == half and quotient % 2 == 1)):
        quotient += 1
    return -(quotient << excess) if x < 0 else quotient << excess


def pattern(x: int, fmt: FloatFormat = BINARY64) -> int:
    """Bit pattern of a normal integer value of either sign."""
    return (1 << (fmt.word_bits - 1) if x < 0 else 0) + fmt.pattern(abs(x))


def low_offset(fmt: FloatFormat = BINARY64) -> int:
    """What the pattern of a low product adds to -D.

    >>> hex(low_offset())
    '0xc338000000000000'
    """
    sign = 1 << fmt.exponent_bits
    return ((sign + fmt.low_exponent) << fmt.digit_bits) + fmt.radix // 2


def split_product(a: int, b: int, fmt: FloatFormat = BINARY64) -> tuple[int, int]:
    """Bit patterns of the high and the low product.

    >>> high, low = split_product(2**51 + 1, 1)
    >>> high - (0x467 << 52), low_offset() - low
    (1, -2251799813685247)
    """
    assert 0 <= a < fmt.radix
    assert 0 <= b < fmt.radix
    p_hi = nearest(a * b + fmt.high_offset, fmt)
    start = fmt.high_offset - 3 * fmt.radix // 2
    assert nearest(start, fmt) == start
    sub = start - p_hi
    assert nearest(sub, fmt) == sub, "the subtraction rounds"
    p_lo = a * b + sub
    assert nearest(p_lo, fmt) == p_lo, "the low product rounds"
    return pattern(p_hi, fmt), pattern(p_lo, fmt)


def make_initial(high_count: int, low_count: int, fmt: FloatFormat = BINARY64) -> int:
    """The initial value of a column that takes so many high and low products."""
    return low_count * low_offset(fmt) - (high_count * fmt.high_exponent << fmt.digit_bits)


def columns_fit(digits: int, fmt: FloatFormat = BINARY64) -> bool:
    """Whether a column of a product of that many digits, and its carry, is in the range of a signed word.

    >>> columns_fit(682), columns_fit(683)
    (True, False)
    """
    carry = 1 << (fmt.word_bits - fmt.digit_bits)
    return 3 * digits * fmt.radix + carry < 1 << (fmt.word_bits - 1)


@dataclass(frozen=True)
class NearestMontgomery:
    """An odd modulus in L digits with R = 2^(w L) > 4 n; elements are below R/2, with digits below 2^w."""

    n: Words
    inverse: int
    """1/n mod 2^w"""
    rounding: int
    """u"""
    fmt: FloatFormat

    @staticmethod
    def of(n: int, length: int, fmt: FloatFormat = BINARY64) -> NearestMontgomery:
        """Prepare an odd ``n >= 1``.

        >>> NearestMontgomery.of(2**256 - 1, 5).length
        5
        """
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        if 4 * n >= 1 << (fmt.digit_bits * length):
            raise ValueError("too few digits")
        if not columns_fit(length, fmt):
            raise ValueError("columns overflow")
        words = to_words(n, length, fmt.digit_bits)
        rounding = fmt.radix // 2 - (words[0] >> 1 & 1)
        return NearestMontgomery(words, word_inverse(words[0], fmt.digit_bits), rounding, fmt)

    @property
    def length(self) -> int:
        """Digits per element, L."""
        return len(self.n)

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, self.fmt.digit_bits)

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (self.fmt.digit_bits * self.length)

    def digits(self, a: int) -> Words:
        """The digits of ``a < R/2``."""
        assert 0 <= 2 * a < self.radix
        return to_words(a, self.length, self.fmt.digit_bits)

    def quotient_digit(self, column: int) -> int:
        """``-column / n mod 2^w``, from the pattern of a low product."""
        fmt = self.fmt
        low = split_product(column & fmt.mask, self.inverse, fmt)[1]
        q = (low & fmt.mask) ^ (fmt.radix // 2)
        assert (q * self.n[0] + column) % fmt.radix == 0
        return q

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n``, below R/2.

        >>> m = NearestMontgomery.of(101, 2, FloatFormat(5, 5))
        >>> from_words(m.mul(m.digits(7 * m.radix % 101), m.digits(20)), 5) % 101
        39
        """
        columns = self._initial()
        for i, digit in enumerate(b):
            self._add_row(columns, i, a, digit)
            self._clear(columns, i)
        return self._result(columns)

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n``, below R/2: sums of products of different digits are doubled."""
        cross = [0] * (2 * self.length + 1)
        for i, digit in enumerate(a):
            self._add_row(cross, 2 * i + 1, a[i + 1 :], digit)
        columns = [start + 2 * twice for start, twice in zip(self._initial(), cross, strict=False)]
        for i, digit in enumerate(a):
            self._add_row(columns, 2 * i, (digit,), digit)
        for i in range(self.length):
            self._clear(columns, i)
        return self._result(columns)

    def resolve_in_groups(self, columns: Sequence[int], group: int) -> Words:
        """The digits of signed columns, by lanes of ``group`` columns each, which carry side by side.

        2^(word_bits - 2) is added to each column, and subtracted from the one above as a carry.
        """
        fmt = self.fmt
        added, taken = 1 << (fmt.word_bits - 2), 1 << (fmt.word_bits - 2 - fmt.digit_bits)
        whole = 1 << (fmt.digit_bits * group)
        values = []
        for start in range(0, len(columns), group):
            own = list(columns[start : start + group])
            assert all(abs(column) < added for column in own)
            own = [column + added - taken for column in own]
            values.append(value_of(own, fmt))
        values[0] += taken
        values[-1] -= added << (fmt.digit_bits * (group - 1))
        assert all(value >= 0 for value in values[:-1])
        first = [value // whole for value in values]
        assert max(first[:-1], default=0) < 1 << (fmt.word_bits - fmt.digit_bits)
        values = [value % whole + below for value, below in zip(values, [0, *first[:-1]], strict=True)]
        digits: list[int] = []
        carry = 0
        for value in values:
            generates, rest = divmod(value, whole)
            propagates = rest == whole - 1
            assert generates <= 1
            assert not (generates and propagates)
            digits += to_words((rest + carry) % whole, group, fmt.digit_bits)
            carry = generates | (propagates & carry)
        return tuple(digits)

    def _products_at(self, c: int) -> int:
        return c + 1 if c < self.length else 2 * self.length - 1 - c

    def _initial(self) -> list[int]:
        """All 2 L columns, with the offset of the low product that each row leaves out."""
        counts = [(2 * self._products_at(c - 1), 2 * self._products_at(c)) for c in range(2 * self.length)]
        return [make_initial(high, low, self.fmt) for high, low in counts]

    def _signed(self, column: int) -> int:
        """A column modulo 2^word_bits, as kernels have it."""
        half = 1 << (self.fmt.word_bits - 1)
        return (column + half) % (2 * half) - half

    def _add_row(self, columns: list[int], at: int, x: Sequence[int], y: int) -> None:
        for j, digit in enumerate(x):
            high, low = split_product(digit, y, self.fmt)
            columns[at + j] -= low
            columns[at + j + 1] += high

    def _clear(self, columns: list[int], i: int) -> None:
        """Add q n but for its lowest low product, which clears w bits of column i; carry it."""
        fmt = self.fmt
        column = self._signed(columns[i] - low_offset(fmt))
        q = self.quotient_digit(column)
        high, low = split_product(self.n[0], q, fmt)
        carry = (column + self.rounding) // fmt.radix
        assert carry * fmt.radix == column + low_offset(fmt) - low, "the carry is not that of the low product"
        columns[i + 1] += high + carry
        self._add_row(columns, i + 1, self.n[1:], q)

    def _result(self, columns: Sequence[int]) -> Words:
        fmt = self.fmt
        upper = [self._signed(column) for column in columns[self.length : 2 * self.length]]
        value = value_of(upper, fmt)
        assert 0 <= 2 * value < self.radix, "the result is not below R/2"
        result = to_words(value, self.length, fmt.digit_bits)
        for group in (g for g in range(1, self.length) if self.length % g == 0):
            assert self.resolve_in_groups(upper, group) == result
        return result
