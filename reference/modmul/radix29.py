# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in digits of 29 bits by finely integrated product scanning (FIPS).

Sources
-------
- P. L. Montgomery, *Modular multiplication without trial division*, Math. Comp. 44 (1985).
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): FIPS.

Form
----
With w = 29, L digits, R = 2^(w L), odd n with 4 n <= R, column c of ``a b + q n`` is::

    sum of a_i b_(c-i) and of q_i n_(c-i) over 0 <= i, c - i < L,  plus the carry of column c - 1

Columns c < L choose ``q_c = column * k0 mod 2^w``, k0 = -n^-1 mod 2^w, which makes them divisible by 2^w;
columns c >= L are digit c - L of the result ``(a b + q n) / R``. With a, b < 2n (or a < R, b <= n) and q < R
that is below (4 n n + R n) / R <= 2 n.

A column is a 64-bit sum. Columns are summed in tiles of neighbours, and a tile whose columns have no room for
the next products is *folded*: each column keeps its low w bits and passes the others to the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words

DIGIT_BITS = 29
DIGIT_MASK = (1 << DIGIT_BITS) - 1
HEADROOM_BITS = 2
TILE = 6
#: Digit products that a column has room for before it is folded.
COLUMN_PRODUCTS = 63
#: Bound on a column before its first product and after a fold.
FOLDED_COLUMN = 1 << 40

assert COLUMN_PRODUCTS * DIGIT_MASK**2 + FOLDED_COLUMN < 1 << 64


def digits_for(bits: int) -> int:
    """Digits for moduli of at most ``bits`` bits.

    >>> digits_for(1024), digits_for(16384)
    (36, 566)
    """
    return -(-(bits + HEADROOM_BITS) // DIGIT_BITS)


@dataclass
class Tile:
    """The sums of ``size`` neighbouring columns, from ``first`` on."""

    first: int
    columns: list[int]
    above: int = 0  #: what folding carries into the column after the last
    room: int = COLUMN_PRODUCTS

    @staticmethod
    def start(first: int, size: int, carry: int) -> Tile:
        """Columns ``first .. first + size - 1``; the carry from below enters the first."""
        assert carry < FOLDED_COLUMN
        return Tile(first, [carry] + [0] * (size - 1))

    def reserve(self, products: int) -> None:
        """Make room for ``products`` more in each column."""
        if self.room < products:
            self.fold()
        self.room -= products

    def fold(self) -> None:
        """Keep w bits of each column and carry the others, without changing the sum.

        >>> tile = Tile(0, [2**30 + 1, 2**29 + 3])
        >>> tile.fold()
        >>> tile.columns, tile.above
        ([1, 5], 1)
        """
        carries = [column >> DIGIT_BITS for column in self.columns]
        self.columns = [
            (column & DIGIT_MASK) + carry
            for column, carry in zip(self.columns, [0, *carries[:-1]], strict=True)
        ]
        self.above += carries[-1]
        self.room = COLUMN_PRODUCTS
        assert all(column < FOLDED_COLUMN for column in self.columns)

    def add(self, column: int, x: int, y: int) -> None:
        """Add a product of 32-bit factors to column number ``column``, counted from 0 over all tiles."""
        assert x >> 32 == 0 and y >> 32 == 0, "vpmuludq reads 32 bits"
        self.columns[column - self.first] += x * y
        assert self.columns[column - self.first] >> 64 == 0, "a column overflows"

    def carry_out(self, t: int) -> int:
        """Pass all but w bits of the ``t``-th column on; return its digit."""
        carry, digit = self.columns[t] >> DIGIT_BITS, self.columns[t] & DIGIT_MASK
        if t + 1 < len(self.columns):
            self.columns[t + 1] += carry
        else:
            self.above += carry
        return digit


@dataclass(frozen=True)
class Radix29:
    """An odd modulus of ``length`` digits and the arithmetic on it; elements are below 2 n, digits exact."""

    n: Words
    k0: int

    @staticmethod
    def of(n: int, length: int | None = None) -> Radix29:
        """Prepare an odd ``n >= 1``.

        >>> Radix29.of(2**61 - 1).length
        3
        """
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        length = length or digits_for(n.bit_length())
        if n << HEADROOM_BITS > 1 << (DIGIT_BITS * length):
            raise ValueError("too few digits")
        words = to_words(n, length, DIGIT_BITS)
        return Radix29(words, -word_inverse(words[0], DIGIT_BITS) & DIGIT_MASK)

    @property
    def length(self) -> int:
        """Digits per element, L."""
        return len(self.n)

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, DIGIT_BITS)

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (DIGIT_BITS * self.length)

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n``, below 2 n, for a, b < 2 n or a < R, b <= n.

        >>> m = Radix29.of(101)
        >>> m.value(m.mul(m.residue(7), m.residue(20)))
        39
        """
        rows = [[(i + j, a_i, b_j) for j, b_j in enumerate(b)] for i, a_i in enumerate(a)]
        return self._integrate(rows, 1)

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n``, below 2 n, for a < 2 n: products with 2 a_j above the diagonal, a_i^2 on it."""
        twice = [2 * digit for digit in a]
        rows = [
            [(2 * i, a_i, a_i)] + [(i + j, a_i, twice[j]) for j in range(i + 1, self.length)]
            for i, a_i in enumerate(a)
        ]
        return self._integrate(rows, 2)

    def residue(self, value: int) -> Words:
        """Montgomery form of any integer."""
        return to_words(value * self.radix % self.modulus, self.length, DIGIT_BITS)

    def value(self, a: Words) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``."""
        one = to_words(1, self.length, DIGIT_BITS)
        return from_words(self.mul(a, one), DIGIT_BITS) % self.modulus

    def _tiles(self) -> Iterable[tuple[int, int]]:
        """First column and size of each tile: in both halves one of L mod TILE, then of TILE."""
        for half in (0, self.length):
            at, end = half, half + self.length
            while at < end:
                size = (end - at) % TILE or TILE
                yield at, size
                at += size

    def _integrate(self, rows: list[list[tuple[int, int, int]]], weight: int) -> Words:
        """``(sum of x y 2^(w column) + q n) / R``; those of ``rows`` count ``weight`` times in a column."""
        q: list[int] = []
        result: list[int] = []
        carry = 0
        for first, size in self._tiles():
            tile = Tile.start(first, size, carry)
            for row in rows:
                self._add_row(tile, row, weight)
            for i, q_i in enumerate(q):
                self._add_row(tile, [(i + j, q_i, n_j) for j, n_j in enumerate(self.n)], 1)
            if first < self.length:
                self._clear_columns(tile, q)
            else:
                result += [tile.carry_out(t) for t in range(size)]
            carry = tile.above
        assert carry == 0, "the result exceeds R"
        assert from_words(tuple(result), DIGIT_BITS) < 2 * self.modulus, "the result is not below 2 n"
        return tuple(result)

    @staticmethod
    def _add_row(tile: Tile, row: list[tuple[int, int, int]], weight: int) -> None:
        last = tile.first + len(tile.columns)
        inside = [entry for entry in row if tile.first <= entry[0] < last]
        if inside:
            tile.reserve(weight)
            for column, x, y in inside:
                tile.add(column, x, y)

    def _clear_columns(self, tile: Tile, q: list[int]) -> None:
        """Choose q for each column of the tile; the products with n make it divisible by 2^w."""
        size = len(tile.columns)
        tile.reserve(size)
        for t in range(size):
            q_t = (tile.columns[t] & 0xFFFFFFFF) * self.k0 & DIGIT_MASK
            q.append(q_t)
            for above in range(t, size):
                tile.add(tile.first + above, q_t, self.n[above - t])
            digit = tile.carry_out(t)
            assert digit == 0, "a column is not cleared"
