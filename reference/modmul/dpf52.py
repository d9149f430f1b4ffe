# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication on wide samples: products of 52-bit digits by double-precision FMA.

Sources
-------
- N. Emmart, F. Zheng, C. Weems, *Faster Modular Exponentiation using Double Precision Floating Point
  Arithmetic on the GPU* (ARITH 2018). Section and figure numbers below are this paper's.
- H. Orup, *Simplifying quotient determination in high-radix modular multiplication*, ARITH 12 (1995);
  C. D. Walter, *Montgomery exponentiation needs no final subtractions*, Electronics Letters 35 (1999).

Form
----
A double has w = 52 explicit mantissa bits. Digits ("samples") are integers in [0, 2^w]. Rounding is toward
zero (rz); a product of two digits splits by two fused multiply-adds (section I, figure 3)::

    p_hi = rz(a b + 2^(2w))                      = 2^(2w) + 2^w floor(a b / 2^w)
    p_lo = rz(a b + (2^(2w) + 2^w - p_hi))       = 2^w + (a b mod 2^w)

The bit pattern of p_hi is 0x467 2^52 + floor(a b / 2^52), that of p_lo 0x433 2^52 + (a b mod 2^52): columns
add the patterns as 64-bit integers and start at minus the exponents to come (figures 5 and 6).

Printed slips: figure 8 has ``temp = hi - c2`` where figures 3 to 5 have ``c2 - hi``, which is meant; the mask
of figure 9 is ``2^52 - 1``, as in figure 5; q_i in section II is the smallest non-negative value.

The format is a parameter, so that tests run every pair of digits of a toy one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format: ``digit_bits`` explicit mantissa bits, ``exponent_bits`` of exponent.

    ``word_bits`` is the width of its bit pattern, sign included.
    """

    digit_bits: int
    exponent_bits: int

    @property
    def word_bits(self) -> int:
        """Bits of the pattern and of a column sum."""
        return 1 + self.exponent_bits + self.digit_bits

    @property
    def bias(self) -> int:
        """What the pattern adds to the exponent."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def radix(self) -> int:
        """The radix of the digits."""
        return 1 << self.digit_bits

    @property
    def mask(self) -> int:
        """The mask of a digit in a column sum."""
        return self.radix - 1

    @property
    def high_offset(self) -> int:
        """c1 of figure 3."""
        return 1 << (2 * self.digit_bits)

    @property
    def both_offsets(self) -> int:
        """c2 of figure 3."""
        return self.high_offset + self.radix

    @property
    def high_exponent(self) -> int:
        """Exponent field of every high product.

        >>> hex(BINARY64.high_exponent), hex(BINARY64.low_exponent)
        ('0x467', '0x433')
        """
        return 2 * self.digit_bits + self.bias

    @property
    def low_exponent(self) -> int:
        """Exponent field of every low product."""
        return self.digit_bits + self.bias

    def truncate(self, x: int) -> int:
        """rz(x): the value nearest to x among those of magnitude at most abs(x)."""
        excess = max(0, abs(x).bit_length() - (self.digit_bits + 1))
        magnitude = abs(x) >> excess << excess
        return -magnitude if x < 0 else magnitude

    def is_value(self, x: int) -> bool:
        """The integer x is a value of this format."""
        return self.truncate(x) == x

    def fma_rz(self, a: int, b: int, c: int) -> int:
        """``rz(a b + c)``, rounded once, of three values.

        >>> BINARY64.fma_rz(2**52 - 1, 2**52 - 1, 2**104) - 2**104 == (2**52 - 2) * 2**52
        True
        """
        assert self.is_value(a)
        assert self.is_value(b)
        assert self.is_value(c)
        return self.truncate(a * b + c)

    def pattern(self, x: int) -> int:
        """Bit pattern of a positive normal integer value.

        >>> import struct
        >>> BINARY64.pattern(10**15) == int.from_bytes(struct.pack(">d", 1e15), "big")
        True
        """
        assert x > 0
        assert self.is_value(x)
        exponent = x.bit_length() - 1
        assert exponent + self.bias < 1 << self.exponent_bits
        mantissa = (x << self.digit_bits >> exponent) - self.radix
        return (exponent + self.bias << self.digit_bits) + mantissa

    def max_digits(self) -> int:
        """Largest L with ``4 L 2^w + 2^(word_bits - w) + 2^w - 1 < 2^word_bits``: no column sum overflows.

        >>> BINARY64.max_digits()
        1023
        """
        carry = 1 << (self.word_bits - self.digit_bits)
        return ((1 << self.word_bits) - 1 - carry - self.mask) // (4 * self.radix)


BINARY64 = FloatFormat(digit_bits=52, exponent_bits=11)


def satisfies_bounds(a: float, b: float, fmt: FloatFormat = BINARY64) -> bool:
    """The hypotheses under which :func:`split_product` is exact: integers in [0, 2^w].

    >>> satisfies_bounds(2.0**52, 3.0), satisfies_bounds(2.0**52 + 1, 3.0), satisfies_bounds(0.5, 3.0)
    (True, False, False)
    """
    return all(0 <= x <= fmt.radix and x == int(x) for x in (a, b))


def split_product(a: int, b: int, fmt: FloatFormat = BINARY64) -> tuple[int, int]:
    """Bit patterns of the high and the low product (figure 4, without the masks).

    >>> high, low = split_product(2**50, 2**50)
    >>> high - (0x467 << 52) == 2**48, low - (0x433 << 52)
    (True, 0)
    """
    assert satisfies_bounds(a, b, fmt)
    p_hi = fmt.fma_rz(a, b, fmt.high_offset)
    sub = fmt.both_offsets - p_hi
    assert fmt.is_value(sub), "the subtraction rounds"
    p_lo = fmt.fma_rz(a, b, sub)
    assert p_lo == a * b + sub, "the low product rounds"
    return fmt.pattern(p_hi), fmt.pattern(p_lo)


def make_initial(high_count: int, low_count: int, fmt: FloatFormat = BINARY64) -> int:
    """The initial value of a column that cancels the exponents of its products (figure 6)."""
    exponents = high_count * fmt.high_exponent + low_count * fmt.low_exponent
    return -(exponents << fmt.digit_bits) % (1 << fmt.word_bits)


def row_mul(sums: list[int], at: int, x: Sequence[int], y: int, fmt: FloatFormat = BINARY64) -> None:
    """``sums[at ..] += x y`` (figure 8), modulo 2^word_bits."""
    word = 1 << fmt.word_bits
    for j, digit in enumerate(x):
        high, low = split_product(digit, y, fmt)
        sums[at + j] = (sums[at + j] + low) % word
        sums[at + j + 1] = (sums[at + j + 1] + high) % word


def sampled_product(a: Sequence[int], b: Sequence[int], fmt: FloatFormat = BINARY64) -> list[int]:
    """The 2 L column sums of a product (figure 5)."""
    size = len(a)
    assert len(b) == size
    sums = [0] * (2 * size)
    for i in range(size):
        sums[i] = make_initial(i, i + 1, fmt)
        sums[2 * size - 1 - i] = make_initial(i + 1, i, fmt)
    for i, digit in enumerate(b):
        row_mul(sums, i, a, digit, fmt)
    return sums


def sampled_square(a: Sequence[int], fmt: FloatFormat = BINARY64) -> list[int]:
    """The same column sums for b = a, each cross product formed once: 2 (cross sums) + (diagonal)."""
    size, word = len(a), 1 << fmt.word_bits
    cross = [0] * (2 * size + 1)
    for i in range(size):
        row_mul(cross, 2 * i + 1, a[i + 1 :], a[i], fmt)
    sums = []
    for column in range(2 * size):
        high_count = min(column, 2 * size - column)
        low_count = min(column + 1, 2 * size - 1 - column)
        initial = make_initial(high_count, low_count, fmt)
        diagonal = split_product(a[column // 2], a[column // 2], fmt)[1 - column % 2]
        sums.append((initial + 2 * cross[column] + diagonal) % word)
    return sums


def resolve_ripple(sums: Sequence[int], fmt: FloatFormat = BINARY64) -> Words:
    """Exact digits, below 2^w, by carrying from column to column; the value must fit."""
    digits, carry = [], 0
    for column in sums:
        total = column + carry
        assert total >> fmt.word_bits == 0, "column sum overflows"
        digits.append(total & fmt.mask)
        carry = total >> fmt.digit_bits
    assert carry == 0, "the value does not fit"
    return tuple(digits)


def resolve_one_carry(sums: Sequence[int], group: int, fmt: FloatFormat = BINARY64) -> Words:
    """Digits of at most 2^w (figure 10): groups of ``group`` >= 2 columns resolve side by side.

    Each group carries within itself, sends what leaves it to the next group, and pushes that through two
    digits. The last carry is one bit, which its digit absorbs: it may become 2^w, which
    :func:`split_product` allows.
    """
    assert group >= 2
    assert len(sums) % group == 0
    digits = list(sums)
    sent = 0
    for start in range(0, len(digits), group):
        for index in range(start + 1, start + group):
            digits[index] += digits[index - 1] >> fmt.digit_bits
            assert digits[index] >> fmt.word_bits == 0, "column sum overflows"
            digits[index - 1] &= fmt.mask
        received, sent = sent, digits[start + group - 1] >> fmt.digit_bits
        digits[start + group - 1] &= fmt.mask
        digits[start] += received
        digits[start + 1] += digits[start] >> fmt.digit_bits
        digits[start] &= fmt.mask
        assert digits[start + 1] <= fmt.radix, "more than one carry"
    assert sent == 0, "the value does not fit"
    return tuple(digits)


def value_of(digits: Sequence[int], fmt: FloatFormat = BINARY64) -> int:
    """The integer of digits or column sums, which may overlap."""
    return sum(digit << (fmt.digit_bits * j) for j, digit in enumerate(digits))


@dataclass(frozen=True)
class Montgomery:
    """An odd modulus in L digits with R = 2^(w L) >= 4n, and the arithmetic on almost reduced residues < 2n.

    For a b < R n and q <= R - 1 the result (a b + q n) / R is below 2n: no final subtraction.
    """

    n: Words
    np: int
    """``-n^-1 mod 2^(2w)``; its low digit is the paper's np0."""
    fmt: FloatFormat

    @staticmethod
    def of(n: int, fmt: FloatFormat = BINARY64, length: int | None = None) -> Montgomery:
        """Prepare an odd ``n >= 1``, in ``length`` digits (default: as few as give R >= 4n).

        >>> Montgomery.of(2**1024 - 105).length
        20
        """
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        length = length or -(-(n.bit_length() + 2) // fmt.digit_bits)
        if n.bit_length() + 2 > length * fmt.digit_bits:
            raise ValueError("R is below 4n")
        if length > fmt.max_digits():
            raise ValueError("column sums would overflow")
        words = to_words(n, length, fmt.digit_bits)
        inverse = word_inverse(n % fmt.high_offset, 2 * fmt.digit_bits)
        return Montgomery(words, -inverse % fmt.high_offset, fmt)

    @property
    def length(self) -> int:
        """Digits per operand, L."""
        return len(self.n)

    @property
    def np0(self) -> int:
        """``-n^-1 mod 2^w``."""
        return self.np & self.fmt.mask

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, self.fmt.digit_bits)

    @property
    def r(self) -> int:
        """The Montgomery radix R."""
        return 1 << (self.fmt.digit_bits * self.length)

    def quotient_digit(self, column: int) -> int:
        """``q = column np0 mod 2^w`` by two FMAs, without the low product's offset (figure 9)."""
        fmt = self.fmt
        temp = column & fmt.mask
        term = fmt.fma_rz(temp, self.np0, fmt.high_offset)
        q = fmt.fma_rz(temp, self.np0, fmt.high_offset - term)
        assert q == temp * self.np0 % fmt.radix
        return q

    def quotient_pair(self, column0: int, column1: int) -> tuple[int, int]:
        """Both quotient digits of two columns, from t np mod 2^(2w).

        Beyond the paper: the second digit need not wait for the products of the first with n.
        """
        fmt = self.fmt
        k0, k1 = self.np0, self.np >> fmt.digit_bits
        t0 = column0 & fmt.mask
        t1 = (column1 + (column0 >> fmt.digit_bits)) & fmt.mask
        high = split_product(t0, k0, fmt)[0]
        q1 = (high + split_product(t1, k0, fmt)[1] + split_product(t0, k1, fmt)[1]) & fmt.mask
        return self.quotient_digit(column0), q1

    def reduce(self, sums: Sequence[int]) -> list[int]:
        """The L columns of ``(sums + q n) / R`` for the 2 L column sums of a product."""
        fmt, word = self.fmt, 1 << self.fmt.word_bits
        columns = list(sums)
        for column, _ in enumerate(columns):
            high_count = min(column, 2 * self.length - column)
            low_count = min(column + 1, 2 * self.length - 1 - column)
            columns[column] = (columns[column] + make_initial(high_count, low_count, fmt)) % word
        for i in range(self.length):
            # Row i completes column i: only now are its exponents cancelled.
            q = self.quotient_digit(columns[i])
            if i + 1 < self.length:
                assert (q, self.quotient_digit(self._next(columns, i, q))) == self.quotient_pair(
                    *columns[i : i + 2]
                )
            row_mul(columns, i, self.n, q, fmt)
            assert columns[i] & fmt.mask == 0, f"digit {i} is not cleared"
            columns[i + 1] = (columns[i + 1] + (columns[i] >> fmt.digit_bits)) % word
        return columns[self.length :]

    def mul_cios(self, a: Sequence[int], b: Sequence[int]) -> list[int]:
        """The L columns of ``a b / R mod n``, row by row (section II; figure 9 with one thread).

        After row i the L + 1 sums shift down by one: a column of the next row counts the products in it.
        """
        fmt, size, word = self.fmt, self.length, 1 << self.fmt.word_bits
        sums = [make_initial(2 * j, 2 * j + 2, fmt) for j in range(size)] + [0]
        for i in range(size):
            left = size - 1 - i
            # The top column is about to take the high products of this row and all those of the rows left. It
            # ends as column size - 1 - left of the result, that is with `left` more rows.
            sums[size] = make_initial(2 * (left + 1), 2 * left, fmt)
            row_mul(sums, 0, a, b[i], fmt)
            row_mul(sums, 0, self.n, self.quotient_digit(sums[0]), fmt)
            assert sums[0] & fmt.mask == 0, f"digit {i} is not cleared"
            sums = [(sums[1] + (sums[0] >> fmt.digit_bits)) % word, *sums[2:], 0]
        return sums[:size]

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n`` below 2n, exact digits, for a, b < 2n (or a < R and b <= n)."""
        self._check_product(a, b)
        return self._checked(resolve_ripple(self.mul_cios(a, b), self.fmt))

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n`` below 2n for a < 2n."""
        self._check_product(a, a)
        return self._checked(resolve_ripple(self.reduce(sampled_square(a, self.fmt)), self.fmt))

    def to_mont(self, value: int) -> Words:
        """Montgomery form of any integer."""
        residue = to_words(value % self.modulus, self.length, self.fmt.digit_bits)
        return self.mul(residue, to_words(self.r**2 % self.modulus, self.length, self.fmt.digit_bits))

    def from_mont(self, a: Words) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``."""
        one = to_words(1, self.length, self.fmt.digit_bits)
        return from_words(self.mul(a, one), self.fmt.digit_bits) % self.modulus

    def power(self, base: int, exponent: int) -> int:
        """``base**exponent mod n`` by squaring and multiplying.

        >>> Montgomery.of(10**40 + 121).power(3, 10**40 + 120)
        1
        """
        x, result = self.to_mont(base), self.to_mont(1)
        for bit in bin(exponent)[2:]:
            result = self.sqr(result)
            if bit == "1":
                result = self.mul(result, x)
        return self.from_mont(result)

    def _next(self, columns: Sequence[int], i: int, q: int) -> int:
        """Column i + 1 modulo 2^w, up to whole digits, after q n 2^(w i)."""
        n_low = value_of(self.n[:2], self.fmt)
        return (value_of(columns[i : i + 2], self.fmt) + q * n_low) >> self.fmt.digit_bits

    def _check_product(self, a: Words, b: Words) -> None:
        assert len(a) == len(b) == self.length
        assert value_of(a, self.fmt) * value_of(b, self.fmt) <= self.r * self.modulus, "a b exceeds R n"

    def _checked(self, result: Words) -> Words:
        assert value_of(result, self.fmt) < 2 * self.modulus, "result is not below 2n"
        return result
