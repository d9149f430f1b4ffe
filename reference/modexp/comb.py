# SPDX-License-Identifier: Apache-2.0
"""Powers of a fixed base by a precomputed comb.

Sources: C. H. Lim, P. J. Lee, *More flexible exponentiation with precomputation*, CRYPTO '94; HAC 14.117.

An exponent of t bits is cut into h rows of a = ceil(t / h) bits and each row into v columns of
b = ceil(a / v) bits. Table j, entry I (bits I_0 .. I_(h-1)) is
``G[j][I] = prod_i g^(I_i 2^(a i + b j))``. Then g^e takes b - 1 squarings and at most b v multiplications.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modexp.monoid import Monoid

T = TypeVar("T")


@dataclass(frozen=True)
class Shape:
    """Rows h, columns v and the lengths that follow for exponents of ``bits`` bits."""

    bits: int
    rows: int
    columns: int

    @property
    def row_bits(self) -> int:
        """Bits of a row, a = ceil(t / h)."""
        return max(1, -(-self.bits // self.rows))

    @property
    def column_bits(self) -> int:
        """Bits of a column, b = ceil(a / v)."""
        return -(-self.row_bits // self.columns)

    @property
    def entries(self) -> int:
        """Table entries, v 2^h."""
        return self.columns << self.rows

    @property
    def cost(self) -> int:
        """Squarings and multiplications of one power."""
        return self.column_bits - 1 + self.column_bits * self.columns


def choose_shape(bits: int, max_entries: int) -> Shape:
    """The cheapest shape whose tables hold at most ``max_entries >= 2`` elements; the smallest of equals.

    >>> choose_shape(256, 64)
    Shape(bits=256, rows=5, columns=2)
    """
    shapes = [
        Shape(bits, rows, columns)
        for rows in range(1, max_entries.bit_length())
        for columns in range(1, (max_entries >> rows) + 1)
    ]
    return min(shapes, key=lambda shape: (shape.cost, shape.entries, shape.rows))


@dataclass(frozen=True)
class Comb(Generic[T]):
    """Precomputed tables ``tables[j][I]`` of one base."""

    ring: Monoid[T]
    shape: Shape
    tables: Sequence[Sequence[T]]

    @staticmethod
    def of(ring: Monoid[T], base: T, shape: Shape) -> Comb[T]:
        """Precompute (HAC 14.117, steps 1 and 2)."""
        row_base = base
        first = [ring.one()]
        for row in range(shape.rows):
            if row:
                row_base = _square_times(ring, row_base, shape.row_bits)
            first += [ring.mul(entry, row_base) for entry in first]
        tables = [first]
        for _ in range(1, shape.columns):
            tables.append([_square_times(ring, entry, shape.column_bits) for entry in tables[-1]])
        return Comb(ring, shape, tables)

    def index(self, exponent: int, column: int, k: int) -> int:
        """Bits ``a i + b column + k`` of the exponent, for rows i = 0 .. h-1, as a table index.

        Positions past the end of a row are 0: with b v > a they would fall into the next row.
        """
        position = self.shape.column_bits * column + k
        if position >= self.shape.row_bits:
            return 0
        return sum(
            (exponent >> (self.shape.row_bits * row + position) & 1) << row for row in range(self.shape.rows)
        )

    def power(self, exponent: int) -> T:
        """``base ** exponent`` for ``0 <= exponent < 2**bits``.

        The sequence of operations depends on the shape alone: an index 0 multiplies by one.
        """
        assert 0 <= exponent < 1 << self.shape.bits, "exponent is longer than the comb"
        result = self.ring.one()
        for k in range(self.shape.column_bits - 1, -1, -1):
            if k != self.shape.column_bits - 1:
                result = self.ring.sqr(result)
            for column, table in enumerate(self.tables):
                result = self.ring.mul(result, self.ring.select(table, self.index(exponent, column, k)))
        return result


def _square_times(ring: Monoid[T], element: T, count: int) -> T:
    for _ in range(count):
        element = ring.sqr(element)
    return element
