# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in digits of a reduced radix, whose columns of products need no carries (OpenCL).

Sources
-------
- P. L. Montgomery, *Modular multiplication without trial division*, Math. Comp. 44 (1985).
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): FIPS.
- A. Weimerskirch, C. Paar, *Generalizations of the Karatsuba algorithm for efficient implementations*,
  eprint 2006/224; M. Scott, *Missing a trick: Karatsuba variations*, eprint 2015/1247.

Form
----
With w bits in each of K digits, R = 2^(w K) and odd n < R/4, numbers are below R/2, as
``a b / R + n < R/4 + R/4``. Column c of ``a b + q n`` is the sum of all a_i b_(c-i) and q_i n_(c-i) and of
the carry from column c - 1. Its sum is exact in an accumulator of 2 W bits (W = 32) if

    2 K (2^w - 1)^2 + 2^(2 W - w) <= 2^(2 W)

Two products of a column are replaced by one, with d_i = a_i b_i::

    a_i b_j + a_j b_i = d_i + d_j + (a_i - a_j) (b_j - b_i)

The new terms have both signs, but the column is the same number, and sums modulo 2^(2 W) are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words

WORD_BITS = 32
#: n is below R / 2^HEADROOM_BITS.
HEADROOM_BITS = 2


def columns_fit(digits: int, digit_bits: int, word_bits: int = WORD_BITS) -> bool:
    """Whether a column of ``digits`` products of each kind and its carry fit 2 words."""
    carry = 1 << (2 * word_bits - digit_bits)
    return 2 * digits * ((1 << digit_bits) - 1) ** 2 + carry <= 1 << (2 * word_bits)


def digit_bits_for(digits: int) -> int:
    """The most bits that ``digits`` digits may have, at most 29.

    >>> [digit_bits_for(k) for k in (9, 32, 33, 128, 129)]
    [29, 29, 28, 28, 27]
    """
    return next(bits for bits in range(29, 0, -1) if columns_fit(digits, bits))


@dataclass
class Column:
    """An accumulator of 2 words."""

    bits: int
    total: int = 0  #: the exact sum, which may be negative before the last term
    multiplications: int = field(default=0, compare=False)

    def add(self, x: int, y: int = 1) -> None:
        """Add a product; the factors fit a word, with a sign if either is negative."""
        half = 1 << (self.bits // 2 - 1)
        assert all(-half <= v < 2 * half for v in (x, y)) or y == 1, "a factor exceeds a word"
        assert min(x, y) >= 0 or max(x, y) < half, "a signed product of unsigned words"
        self.total += x * y
        self.multiplications += y != 1

    def value(self) -> int:
        """The whole column."""
        assert 0 <= self.total < 1 << self.bits, "a column overflows"
        return self.total


@dataclass(frozen=True)
class ReducedRadix:
    """An odd modulus of ``length`` digits; elements are below R/2, their digits below 2^digit_bits."""

    n: Words
    digit_bits: int
    word_bits: int
    k0: int

    @staticmethod
    def of(n: int, length: int, digit_bits: int | None = None, word_bits: int = WORD_BITS) -> ReducedRadix:
        """Prepare an odd ``n >= 1``.

        >>> ReducedRadix.of(2**256 - 1, 9).radix == 2**261
        True
        """
        digit_bits = digit_bits or digit_bits_for(length)
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        if n << HEADROOM_BITS >= 1 << (digit_bits * length):
            raise ValueError("too few digits")
        if not columns_fit(length, digit_bits, word_bits):
            raise ValueError("columns overflow")
        words = to_words(n, length, digit_bits)
        k0 = -word_inverse(words[0], digit_bits) & ((1 << digit_bits) - 1)
        return ReducedRadix(words, digit_bits, word_bits, k0)

    @property
    def length(self) -> int:
        """Digits per element, K."""
        return len(self.n)

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, self.digit_bits)

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (self.digit_bits * self.length)

    def digits(self, a: int) -> Words:
        """The digits of ``a < R/2``."""
        assert 0 <= 2 * a < self.radix
        return to_words(a, self.length, self.digit_bits)

    def mul(self, a: Words, b: Words, *, replace_pairs: bool = True) -> Words:
        """``a b / R mod n``, below R/2.

        >>> m = ReducedRadix.of(101, 2, 5, 8)
        >>> m.canonical(m.mul(m.digits(7 * m.radix % 101), m.digits(20)))
        39
        """
        return self._integrate(a, b, replace_pairs)

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n``, below R/2."""
        return self._integrate(a, None, replace_pairs=True)

    def canonical(self, a: Words) -> int:
        """``a mod n`` for a < 2 n, such as a product by an integer below n."""
        value = from_words(a, self.digit_bits)
        assert value < 2 * self.modulus
        return value - self.modulus if value >= self.modulus else value

    def multiplications(self, *, replace_pairs: bool = True) -> int:
        """Of a product, without those that determine the quotient's digits.

        >>> m = ReducedRadix.of(2**256 - 1, 9)
        >>> m.multiplications(replace_pairs=False), m.multiplications()
        (162, 98)
        """
        total: list[int] = []
        zero = (0,) * self.length
        self._integrate(zero, zero, replace_pairs, total)
        return sum(total)

    def _pairs(self, column: Column, c: int, x: Words, y: Words, first: int) -> None:
        for i in range(max(first, c - self.length + 1), (c + 1) // 2):
            column.add(x[i] - x[c - i], y[c - i] - y[i])

    def _products(self, column: Column, c: int, x: Words, y: Words, first: int) -> None:
        for i in range(max(first, c - self.length + 1), min(c - first, self.length - 1) + 1):
            column.add(x[i], y[c - i])

    def _squares(self, column: Column, c: int, x: Words) -> None:
        for i in range(max(0, c - self.length + 1), (c + 1) // 2):
            column.add(2 * x[i], x[c - i])
        if c % 2 == 0:
            column.add(x[c // 2], x[c // 2])

    def _integrate(
        self, a: Words, b: Words | None, replace_pairs: bool, counts: list[int] | None = None
    ) -> Words:
        """``(a b + q n) / R``, or with a^2 if b is None; `diagonal` has the sums of both kinds of d_i."""
        length, mask = self.length, (1 << self.digit_bits) - 1
        q = [0] * length
        result = [0] * length
        diagonal = [0] * length
        carry = diagonal_sum = extra = 0
        for c in range(2 * length - 1):
            column = Column(2 * self.word_bits)
            column.add(carry)
            if replace_pairs and b is not None and c < length:
                diagonal[c] = a[c] * b[c]
                diagonal_sum += diagonal[c]
                extra += 1
            if c >= length:
                diagonal_sum -= diagonal[c - length]
            column.add(diagonal_sum)
            if b is None:
                self._squares(column, c, a)
            else:
                (self._pairs if replace_pairs else self._products)(column, c, a, b, 0)
            if 0 < c < length:
                column.add(q[0], self.n[c])
            (self._pairs if replace_pairs else self._products)(column, c, tuple(q), self.n, 1)
            if c < length:
                q[c] = (column.total & mask) * self.k0 & mask
                column.add(q[c], self.n[0])
                assert column.value() & mask == 0, "a column is not cleared"
                if replace_pairs and c > 0:
                    diagonal[c] += q[c] * self.n[c]
                    diagonal_sum += q[c] * self.n[c]
                    extra += 1
            else:
                result[c - length] = column.value() & mask
            carry = column.value() >> self.digit_bits
            if counts is not None:
                counts.append(column.multiplications)
        if counts is not None:
            counts.append(extra)
        result[length - 1] = carry
        assert 2 * from_words(tuple(result), self.digit_bits) < self.radix, "the result is not below R/2"
        return tuple(result)
