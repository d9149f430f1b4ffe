# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication by rows of word products with carry chains, even and odd products apart.

Sources
-------
- N. Emmart, J. Luitjens, C. Weems, C. Woolley, *Optimizing Modular Multiplication for NVIDIA's Maxwell
  GPUs*: the row oriented approach, section II and figure 2.
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): CIOS.

Form
----
W = 2^w, k words (k even), R = W^k. A row is ``a b_i``, and ``q n`` that clears the lowest word, after which
the sum is shifted by a word. The paper adds a row's low products first and its high ones then. Here a
product is added whole: those of even words never overlap each other, nor do those of odd words, so each
kind is one carry chain in a separate accumulator, and the shift exchanges the two.

Lanes: k = words x lanes; each lane has the accumulator of its words. Carries out of a lane stay in its top
word until the end; the shift passes each lane's lowest word to the lane below.

Numbers are almost reduced. For a, b < R the sum after the last row is (a b + q n) / R < R + n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference.modmul.carry_chain import Chain, less_modulus_if_above
from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words

Row = Callable[[int], int]
"""Word j of a row's factor."""


@dataclass
class Accumulator:
    """``sum even[j] W^j + sum odd[j] W^(j+1) + top W^(k+1)`` of a lane with k words, k even."""

    words: int
    bits: int
    even: list[int] = field(init=False)
    odd: list[int] = field(init=False)
    top: int = 0

    def __post_init__(self) -> None:
        """All words are 0."""
        assert self.words >= 2 and self.words % 2 == 0
        self.even = [0] * self.words
        self.odd = [0] * self.words

    @property
    def value(self) -> int:
        """The number that the accumulator represents."""
        w = self.bits
        return (
            from_words(self.even, w) + (from_words(self.odd, w) << w) + (self.top << (w * (self.words + 1)))
        )

    def _add_products(self, chain: Chain, offset: int, first: int, row: Row, factor: int) -> None:
        total = self.odd if offset else self.even
        for j in range(first, self.words, 2):
            at = j - offset
            total[at : at + 2] = chain.madc_wide_cc(row(j), factor, total[at], total[at + 1])

    def add_row(self, row: Row, factor: int, first: int = 0, above: int = 0) -> None:
        """Add ``factor`` times the words ``first`` .. of ``row``, and ``above`` at word k.

        >>> s = Accumulator(2, 8)
        >>> s.add_row((200, 255).__getitem__, 255)
        >>> s.value == (200 + 255 * 256) * 255
        True
        """
        chain = Chain(self.bits)
        self._add_products(chain, 1, first | 1, row, factor)
        self.top = chain.addc(self.top, 0)
        if first + first % 2 < self.words:
            chain = Chain(self.bits)
            self._add_products(chain, 0, first + first % 2, row, factor)
            self.odd[-1] = chain.addc_cc(self.odd[-1], above)
            self.top = chain.addc(self.top, 0)

    def shift(self, incoming: int) -> tuple[list[int], list[int], int]:
        """Even and odd words after a shift by one word, before the lowest even word gets its carry."""
        return self.odd[:], [*self.even[2:], incoming, self.top], self.even[1]

    def shift_and_add_row(self, incoming: int, row: Row, factor: int) -> None:
        """Shift by a word, ``incoming`` enters at the top; then :meth:`add_row`, in one pass.

        The carry of the addition that merges the two lowest words enters the chain of the odd products.
        """
        chain = Chain(self.bits)
        self.even, self.odd, merged = self.shift(incoming)
        self.even[0] = chain.add_cc(self.even[0], merged)
        self._add_products(chain, 1, 1, row, factor)
        self.top = chain.addc(0, 0)
        chain = Chain(self.bits)
        self._add_products(chain, 0, 0, row, factor)
        self.odd[-1] = chain.addc_cc(self.odd[-1], 0)
        self.top = chain.addc(self.top, 0)

    def merged(self, incoming: int) -> int:
        """The number after the shift that ends the last row."""
        even, odd, low = self.shift(incoming)
        w = self.bits
        return from_words(even, w) + low + (from_words(odd, w) << w)


@dataclass(frozen=True)
class Row32:
    """An odd modulus of ``words`` words in each of ``lanes`` lanes; elements are integers below R."""

    n: int
    words: int
    lanes: int = 1
    bits: int = 32

    def __post_init__(self) -> None:
        """Reject moduli without Montgomery form."""
        if self.n < 1 or self.n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        if self.n >= self.radix:
            raise ValueError("too few words")

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (self.bits * self.words * self.lanes)

    @property
    def n0(self) -> int:
        """``-1/n mod W``."""
        w = self.bits
        return -word_inverse(self.n % (1 << w), w) % (1 << w)

    def _lanes_of(self, value: int) -> list[Words]:
        words = to_words(value, self.words * self.lanes, self.bits)
        return [words[i : i + self.words] for i in range(0, len(words), self.words)]

    def mul(self, a: int, b: int) -> int:
        """``a b / R mod n``, below R, for a, b < R.

        >>> Row32(101, words=2, bits=8).mul(65535, 65535) % 101 == 65535**2 * pow(2**16, -1, 101) % 101
        True
        """
        rows, n = self._lanes_of(a), self._lanes_of(self.n)
        s = [Accumulator(self.words, self.bits) for _ in rows]
        for b_i in to_words(b, self.words * self.lanes, self.bits):
            for lane, (lane_sum, incoming) in enumerate(zip(s, self._handed_down(s), strict=True)):
                lane_sum.shift_and_add_row(incoming, rows[lane].__getitem__, b_i)
            self._add_quotient_row(s, n)
        return self._almost_reduced(s)

    def sqr(self, a: int) -> int:
        """``a^2 / R mod n``, below R, for a < R, in one lane.

        Row i of a square is ``a_i (a_i W^i + sum over j > i of 2 a_j W^j)``. It is added at word i while
        the lowest word of the sum is word i too.
        """
        assert self.lanes == 1
        words = to_words(a, self.words, self.bits)
        n = self._lanes_of(self.n)[0]
        s = Accumulator(self.words, self.bits)
        self._add_square_row(s, words, 0)
        self._add_quotient_row([s], [n])
        for i in range(1, self.words):
            q = (s.odd[0] + s.even[1]) * self.n0 % (1 << self.bits)
            s.shift_and_add_row(0, n.__getitem__, q)
            self._add_square_row(s, words, i)
            assert s.value < 3 << (self.bits * (self.words + 1)), "top may grow"
        return self._almost_reduced([s])

    def _add_square_row(self, s: Accumulator, words: Sequence[int], i: int) -> None:
        doubled = to_words(2 * from_words(words, self.bits), len(words) + 1, self.bits)

        def row(j: int) -> int:
            return words[i] if j == i else doubled[j] & ~1 if j == i + 1 else doubled[j]

        s.add_row(row, words[i], i, words[i] * doubled[-1] if i + i % 2 < self.words else 0)

    @staticmethod
    def _handed_down(s: Sequence[Accumulator]) -> list[int]:
        """The word that each lane receives in a shift: the lowest word of the lane above."""
        return [lane.even[0] for lane in s[1:]] + [0]

    def _add_quotient_row(self, s: Sequence[Accumulator], n: Sequence[Words]) -> None:
        q = s[0].even[0] * self.n0 % (1 << self.bits)
        for lane_sum, lane_n in zip(s, n, strict=True):
            lane_sum.add_row(lane_n.__getitem__, q)
        assert s[0].even[0] == 0, "q does not clear the lowest word"

    def _almost_reduced(self, s: Sequence[Accumulator]) -> int:
        value = 0
        for lane, (lane_sum, incoming) in enumerate(zip(s, self._handed_down(s), strict=True)):
            value += lane_sum.merged(incoming) << (self.bits * self.words * lane)
        return less_modulus_if_above(value, self.n, self.radix)

    def residue(self, value: int) -> int:
        """Montgomery form of any integer."""
        return value * self.radix % self.n

    def value(self, a: int) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``: the product with 1 is at most n."""
        product = self.mul(a, 1)
        assert product <= self.n
        return product % self.n
