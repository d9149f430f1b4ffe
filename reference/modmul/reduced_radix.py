# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in digits of a reduced radix, whose columns of products need no carries (OpenCL).

Sources
-------
- P. L. Montgomery, *Modular multiplication without trial division*, Math. Comp. 44 (1985).
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): FIPS.

Form
----
With w bits in each of K digits, R = 2^(w K) and odd n < R/4, numbers are below R/2, as
``a b / R + n < R/4 + R/4``. Column c of ``a b + q n`` is the sum of all a_i b_(c-i) and q_i n_(c-i) and of
the carry from column c - 1. Its sum is exact in an accumulator of 2 W bits (W = 32) if

    2 K (2^w - 1)^2 + 2^(2 W - w) <= 2^(2 W)

One work-item adds rows: all products by a digit of b, then those by a digit q_i that clears column i, whose
carry goes to column i + 1 at once. A square has the products of two digits once, doubled.

Of a group of L lanes each has a tile of K / L digits and as many columns. In step c every lane adds its tile
of a times tile c of b; lane 0 clears its columns by a tile of q; every lane adds q times its tile of n, and
passes its columns to the lane below. At the end each lane carries in its own columns and to the next lane,
twice. The second carries are at most 1 and stay in the lowest digit of a lane, which is thus at most 2^w.
"""

from __future__ import annotations

from dataclasses import dataclass

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

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n``, below R/2, by one work-item.

        >>> m = ReducedRadix.of(101, 2, 5, 8)
        >>> m.canonical(m.mul(m.digits(7 * m.radix % 101), m.digits(20)))
        39
        """
        columns = [0] * (2 * self.length)
        for i, digit in enumerate(b):
            self._add_row(columns, i, a, digit)
            self._clear(columns, i)
        return self._digits_of(columns[self.length :])

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n``, below R/2, by one work-item."""
        columns = [0] * (2 * self.length)
        for i, digit in enumerate(a):
            self._add(columns, 2 * i, digit * digit)
            assert 2 * digit < 1 << self.word_bits
            for j in range(i + 1, self.length):
                self._add(columns, i + j, 2 * digit * a[j])
        for i in range(self.length):
            self._clear(columns, i)
        return self._digits_of(columns[self.length :])

    def mul_by_lanes(self, a: Words, b: Words, lanes: int) -> Words:
        """``a b / R mod n``, below R/2, by a group of lanes; the lowest digit of a lane may be 2^w."""
        tile = self.length // lanes
        parts = [slice(lane * tile, (lane + 1) * tile) for lane in range(lanes)]
        columns = [[0] * (2 * tile) for _ in range(lanes)]
        for c in range(lanes):
            for lane, part in enumerate(parts):
                self._add_tile(columns[lane], a[part], b[parts[c]])
            q = [self._clear(columns[0], i, tile) for i in range(tile)]
            for lane in range(1, lanes):
                self._add_tile(columns[lane], tuple(q), self.n[parts[lane]])
            lower = [own[:tile] for own in columns]
            columns = [own[tile:] + [0] * tile for own in columns]
            for lane in range(lanes - 1):
                for k, value in enumerate(lower[lane + 1]):
                    self._add(columns[lane], k, value)
        return self._carry_between_lanes([own[:tile] for own in columns])

    def canonical(self, a: Words) -> int:
        """``a mod n`` for a < 2 n, such as a product by an integer below n."""
        value = sum(digit << (self.digit_bits * i) for i, digit in enumerate(a))
        assert value < 2 * self.modulus
        return value - self.modulus if value >= self.modulus else value

    def _add(self, columns: list[int], k: int, value: int) -> None:
        columns[k] += value
        assert columns[k] >> (2 * self.word_bits) == 0, "a column overflows"

    def _add_row(self, columns: list[int], first: int, x: Words, digit: int) -> None:
        for j, x_j in enumerate(x):
            self._add(columns, first + j, x_j * digit)

    def _add_tile(self, columns: list[int], x: Words, y: Words) -> None:
        for j, digit in enumerate(y):
            self._add_row(columns, j, x, digit)

    def _clear(self, columns: list[int], i: int, digits: int | None = None) -> int:
        """Add q n, or its lowest ``digits`` digits, which clears w bits of column i; carry it; return q."""
        mask = (1 << self.digit_bits) - 1
        q = (columns[i] & mask) * self.k0 & mask
        self._add_row(columns, i, self.n[:digits], q)
        assert columns[i] & mask == 0, "a column is not cleared"
        self._add(columns, i + 1, columns[i] >> self.digit_bits)
        return q

    def _digits_of(self, columns: list[int]) -> Words:
        value = sum(column << (self.digit_bits * k) for k, column in enumerate(columns))
        assert 2 * value < self.radix, "the result is not below R/2"
        return to_words(value, self.length, self.digit_bits)

    def _carry_between_lanes(self, columns: list[list[int]]) -> Words:
        tile, whole = len(columns[0]), 1 << (self.digit_bits * len(columns[0]))
        values = [sum(column << (self.digit_bits * k) for k, column in enumerate(own)) for own in columns]
        first = [value // whole for value in values]
        assert 2 * max(first) <= whole
        values = [value % whole + below for value, below in zip(values, [0, *first[:-1]], strict=True)]
        second = [value // whole for value in values]
        assert max(second) <= 1
        assert first[-1] == second[-1] == 0, "the highest lane has a carry"
        result: list[int] = []
        for value, below in zip(values, [0, *second[:-1]], strict=True):
            digits = to_words(value % whole, tile, self.digit_bits)
            result += [digits[0] + below, *digits[1:]]
        return tuple(result)
