# SPDX-License-Identifier: Apache-2.0
"""What an exponentiation needs of the numbers it multiplies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modmul.scalar64 import Montgomery
    from reference.repr import Words

T = TypeVar("T")


class Monoid(Protocol[T]):
    """Associative multiplication with a one."""

    def one(self) -> T:
        """The neutral element."""
        ...

    def mul(self, a: T, b: T) -> T:
        """``a * b``."""
        ...

    def sqr(self, a: T) -> T:
        """``a * a``."""
        ...

    def select(self, table: Sequence[T], index: int) -> T:
        """``table[index]``, reading every entry where the timing class asks for it."""
        ...


@dataclass
class Integers:
    """Integers modulo ``n >= 1``; counts its multiplications and squarings."""

    n: int
    multiplications: int = field(default=0, init=False)
    squarings: int = field(default=0, init=False)

    def one(self) -> int:
        """1 mod n."""
        return 1 % self.n

    def mul(self, a: int, b: int) -> int:
        """``a b mod n``."""
        self.multiplications += 1
        return a * b % self.n

    def sqr(self, a: int) -> int:
        """``a^2 mod n``."""
        self.squarings += 1
        return a * a % self.n

    def select(self, table: Sequence[int], index: int) -> int:
        """Plain indexing."""
        return table[index]


@dataclass(frozen=True)
class MontgomeryWords:
    """Montgomery forms as words; ``select`` masks the whole table as the secret timing class does."""

    m: Montgomery

    def one(self) -> Words:
        """R mod n."""
        return self.m.r1

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n``."""
        return self.m.mul(a, b)

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n``."""
        return self.m.sqr(a)

    def select(self, table: Sequence[Words], index: int) -> Words:
        """OR of every entry masked with all ones where its position equals ``index``, with zero elsewhere.

        The mask comes from arithmetic on the positions, not a comparison: x - 1 is negative only for x = 0.
        """
        ones = (1 << self.m.word_bits) - 1
        result = [0] * self.m.length
        for position, entry in enumerate(table):
            mask = ((position ^ index) - 1 >> len(table).bit_length()) & ones
            assert mask == (ones if position == index else 0)
            result = [r | (word & mask) for r, word in zip(result, entry, strict=True)]
        return tuple(result)
