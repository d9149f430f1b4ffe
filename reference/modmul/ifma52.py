# SPDX-License-Identifier: Apache-2.0
"""Almost-Montgomery multiplication and squaring by multiply-add instructions on 52-bit digits.

Sources
-------
- S. Gueron, V. Krasnov, *Accelerating Big Integer Arithmetic Using Intel IFMA Extensions*, ARITH 23 (2016):
  digits of 52 bits, one instance a lane.
- S. Gueron, *Efficient Software Implementations of Modular Exponentiation*, J. Cryptographic Engineering 2
  (2012): almost-Montgomery multiplication. C. D. Walter, *Montgomery exponentiation needs no final
  subtractions*, Electronics Letters 35 (1999): operands below 2n where R >= 4n.
- Ç. K. Koç, T. Acar, B. S. Kaliski, IEEE Micro 16 (1996): separated operand scanning.

This module computes one of the eight lanes.

Form
----
The multiplier reads the low w bits of two words and adds the low or the high half of their product, w bits
each, to a word of w + 12 bits. With L digits, odd n, R = 2^(w L) >= 4n and a, b < 2n (or a < R, b <= n)::

    columns  c_k = sum of lo(a_i b_j), i + j = k,  and hi(a_i b_j), i + j = k - 1        0 <= k < 2L
    row i    q_i = c_i k0 mod 2^w,  k0 = -n^-1 mod 2^w;  c_(i+j) += lo(q_i n_j), c_(i+j+1) += hi(q_i n_j);
             column i is now a multiple of 2^w, and its carry goes to column i + 1            0 <= i < L
    result   columns L .. 2L - 1 with carries passed on: (a b + q n) / R < (4n n + R n) / R <= 2n

Digits of a result keep what the addition left above w bits, since the multiplier does not see it.

Carry rule. lo(q_i n_0) = -c_i mod 2^w, so row i carries (c_i + lo(q_i n_0)) / 2^w = ceil(c_i / 2^w). Columns
0 .. L - 1 therefore start at the bias 2^w - 1: of a biased column c' = c + 2^w - 1 the carry is
floor(c' / 2^w), and lo(q_i n_0) is never computed. As c' + 1 = c modulo 2^w, q_i = (c' k0 + k0) mod 2^w.

Squares. The sums X of products a_i a_j, i < j, are doubled before the squares of the digits are added. Biased
columns start at 2^(w+11) + (2^(w-1) - 1) and are doubled by a rotation of the word, which moves its top
bit to the bottom: 2 (X + 2^(w-1) - 1) + 1 = 2 X + 2^w - 1, so the bias costs nothing here either.

Bounds. In column k of a b there are at most 2L - 1 halves (L pairs i + j = k and L - 1 pairs i + j = k - 1,
or fewer), and as many in that of q n, each at most 2^w - 1. With the bias and a carry of at most 4L from
below the column is at most (4L - 1) (2^w - 1) + 4L < 4L 2^w, and by induction so are all carries at most 4L.
For w = 52 that is below 2^62.4 at L = 320, and 2^64 is reached beyond L = 1024 only. Of cross products there
are k halves in column k < L, floor((k + 1) / 2) low and floor(k / 2) high, and 2L - 1 - k in column k >= L:
X <= (L - 1) (2^w - 1): below 2^60.4 at L = 320, far from the 2^63 at which the top bit would change.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from reference.modmul.scalar64 import word_inverse
from reference.repr import from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence

Columns = list[int]
"""Words of w + 12 bits, lowest first."""

DIGIT_BITS = 52
#: Bits of a word above those of a digit.
SPARE_BITS = 12
HEADROOM_BITS = 2
#: Digits up to which the columns of a row stay in registers.
WINDOW = 22
#: Beyond that: rows of a block, and the digits of n that these rows use immediately.
BLOCK = 10
ROW_WINDOW = 20
#: Table entries that one squaring can read, and fewer for short rows.
SHARE_ENTRIES = 7
FEW_ENTRIES = 4


def digits_for(bits: int, w: int = DIGIT_BITS) -> int:
    """Digits for moduli of at most ``bits`` bits: R >= 4n.

    >>> digits_for(1024), digits_for(2048), digits_for(16384)
    (20, 40, 316)
    """
    return max(2, -(-(bits + HEADROOM_BITS) // w))


@dataclass(frozen=True)
class Ifma52:
    """An odd modulus, k0, and the arithmetic on it. ``w`` is 52 but for tests over small words."""

    n: tuple[int, ...]
    k0: int
    w: int = DIGIT_BITS

    @staticmethod
    def of(n: int, digits: int | None = None, w: int = DIGIT_BITS) -> Ifma52:
        """Prepare an odd ``n`` with 4n <= R.

        >>> Ifma52.of(2**61 - 1).length
        2
        >>> Ifma52.of(13, 2, w=4).k0
        11
        """
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        length = digits or digits_for(n.bit_length(), w)
        if n << HEADROOM_BITS > 1 << (w * length):
            raise ValueError("too few digits")
        words = to_words(n, length, w)
        return Ifma52(words, -word_inverse(words[0], w) & ((1 << w) - 1), w)

    @property
    def length(self) -> int:
        """Digits per element, L."""
        return len(self.n)

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, self.w)

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (self.w * self.length)

    @property
    def bias(self) -> int:
        """What the columns of the lower half start at."""
        return (1 << self.w) - 1

    @property
    def half_bias(self) -> int:
        """The same where they will be doubled by a rotation.

        >>> m = Ifma52.of(13, 2, w=4)
        >>> m.rotate_left(m.half_bias) == m.bias
        True
        """
        return (1 << (self.w + SPARE_BITS - 1)) + (self.bias >> 1)

    def mul(self, a: Columns, b: Columns) -> Columns:
        """``a b / R mod n``, below 2n, for a, b < 2n or a < R, b <= n.

        >>> m = Ifma52.of(101)
        >>> m.value(m.mul(m.residue(7), m.residue(20)))
        39
        """
        return self.reduce(self.product(a, b))

    def sqr(self, a: Columns) -> Columns:
        """``a^2 / R mod n``, below 2n, for a < 2n."""
        return self.reduce(self.square(a))

    def product(self, a: Columns, b: Columns) -> Columns:
        """The 2L columns of a b, the lower L of them biased.

        >>> m = Ifma52.of(13, 2, w=4)
        >>> m.product([15, 1], [2, 3])  # lo(30) + 15; hi(30) + lo(45) + lo(2) + 15; hi(45) + lo(3); 0
        [29, 31, 5, 0]
        """
        t = [self.bias] * self.length + [0] * self.length
        for i, digit in enumerate(b):
            for j, factor in enumerate(a):
                self._add_product(t, i + j, factor, digit)
        return t

    def square(self, a: Columns) -> Columns:
        """The same columns for b = a, from half as many products between different digits.

        >>> m = Ifma52.of(13, 2, w=4)
        >>> m.square([15, 1])
        [16, 59, 1, 0]
        """
        t = [self.half_bias] * self.length + [0] * self.length
        for i, factor in enumerate(a):
            for j in range(i + 1, self.length):
                self._add_product(t, i + j, factor, a[j])
        lower, upper = t[: self.length], t[self.length :]
        top = self.half_bias - (self.bias >> 1)
        assert all(top <= column < 2 * top for column in lower), "a cross sum reaches the top bit"
        assert all(column < top for column in upper), "a cross sum reaches the top bit"
        cross_sums = [column - self.half_bias for column in lower] + upper
        assert all(x <= (self.length - 1) * self.bias for x in cross_sums), "a cross sum beyond its bound"
        t = [self.rotate_left(column) for column in t]
        for i, digit in enumerate(a):
            self._add_product(t, 2 * i, digit, digit)
        return t

    def rotate_left(self, word: int) -> int:
        """Rotation of a word of w + 12 bits by one bit.

        >>> hex(Ifma52.of(3).rotate_left(0x8000000000000003))
        '0x7'
        """
        bits = self.w + SPARE_BITS
        return (word << 1 & ((1 << bits) - 1)) | word >> (bits - 1)

    def quotient_digit(self, column: int) -> int:
        """q of a biased column: (column + 1) k0 mod 2^w."""
        mask = self.bias
        return ((column & mask) * self.k0 & mask) + self.k0 & mask

    def reduce(self, t: Columns) -> Columns:
        """Columns divided by R modulo n, carries passed on."""
        if self.length <= WINDOW:
            return self._finish(self._reduce_rows(list(t), 0, self.length, self.length)[0])
        return self.reduce_in_blocks(t, BLOCK, ROW_WINDOW)

    def reduce_in_blocks(self, t: Columns, block: int, window: int) -> Columns:
        """The same with only ``window`` columns at hand.

        The rows of a block add their products with the lower ``window`` digits of n, which is all that the
        quotient digits of a block of fewer rows depend on; the other products are added after each block.
        """
        assert block < window <= self.length
        t = list(t)
        for start in range(0, self.length, block):
            rows = min(block, self.length - start)
            t, quotients = self._reduce_rows(t, start, rows, window)
            for i, q in enumerate(quotients):
                for j in range(window, self.length):
                    self._add_product(t, start + i + j, q, self.n[j])
        return self._finish(t)

    def residue(self, value: int) -> Columns:
        """Montgomery form of any integer."""
        return list(to_words(value * self.radix % self.modulus, self.length, self.w))

    def value(self, a: Columns) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``."""
        one = list(to_words(1, self.length, self.w))
        return self.number(self.mul(a, one)) % self.modulus

    def number(self, a: Sequence[int]) -> int:
        """The integer that the low w bits of an element's words spell."""
        return from_words([word & self.bias for word in a], self.w)

    def _reduce_rows(self, t: Columns, start: int, rows: int, window: int) -> tuple[Columns, list[int]]:
        """Rows ``start ..`` over the lower ``window`` digits of n; and their quotient digits."""
        quotients = []
        for row in range(start, start + rows):
            q = self.quotient_digit(t[row])
            unbiased = t[row] - self.bias
            assert (unbiased + q * self.n[0]) & self.bias == 0, "q does not clear the column"
            carry = t[row] >> self.w
            assert carry == (unbiased + (q * self.n[0] & self.bias)) >> self.w, "the bias gives another carry"
            assert carry <= 4 * self.length
            self._add(t, row + 1, carry + (q * self.n[0] >> self.w))
            for j in range(1, window):
                self._add_product(t, row + j, q, self.n[j])
            quotients.append(q)
        return t, quotients

    def _finish(self, t: Columns) -> Columns:
        """The upper columns with carries passed on, bits above w left in place."""
        r = t[self.length :]
        for j in range(1, self.length):
            r[j] += r[j - 1] >> self.w
        assert r[-1] >> self.w == 0, "the result exceeds R"
        assert self.number(r) < 2 * self.modulus, "the result is not below 2 n"
        return r

    def _add_product(self, t: Columns, column: int, x: int, y: int) -> None:
        """One multiply-add of each kind: low half to ``column``, high half to the next."""
        product = (x & self.bias) * (y & self.bias)
        self._add(t, column, product & self.bias)
        self._add(t, column + 1, product >> self.w)

    def _add(self, t: Columns, column: int, addend: int) -> None:
        t[column] += addend
        assert t[column] >> (self.w + SPARE_BITS) == 0, "a column overflows"


def shares(entries: int, squarings: int, most: int = SHARE_ENTRIES) -> list[tuple[int, int]]:
    """The table entries [first, last) that each squaring of a window reads, at most ``most`` of them.

    >>> shares(32, 5)
    [(0, 6), (6, 12), (12, 19), (19, 25), (25, 32)]
    """
    bounds = [step * entries // squarings for step in range(squarings + 1)]
    assert all(last - first <= most for first, last in pairwise(bounds))
    return list(pairwise(bounds))


def store_share(
    chosen: list[Columns], table: list[list[Columns]], share: tuple[int, int], indices: Sequence[int]
) -> None:
    """A squaring's part of a selection: lanes with an index in its share get their entry.

    Every entry of the share is read and stored under a mask, digit by digit, a digit in each row of the
    reduction. There are kernels for FEW_ENTRIES and for SHARE_ENTRIES of them; smaller shares repeat their
    first entry, whose lanes are the same.

    >>> table = [[[10 * entry + lane] for lane in range(2)] for entry in range(4)]
    >>> chosen = [[0], [0]]
    >>> for share in shares(4, 2):
    ...     store_share(chosen, table, share, [3, 1])
    >>> chosen
    [[30], [11]]
    """
    first, last = share
    steps = FEW_ENTRIES if last - first <= FEW_ENTRIES else SHARE_ENTRIES
    for digit in range(len(table[0][0])):
        for offset in range(steps):
            entry = first + (offset if first + offset < last else 0)
            for lane, index in enumerate(indices):
                if index == entry:
                    chosen[lane][digit] = table[entry][lane][digit]
