# SPDX-License-Identifier: Apache-2.0
"""Two-pass Montgomery multiplication and squaring by a group of lanes.

Source
------
N. Emmart, J. Luitjens, C. Weems, C. Woolley, *Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs*:
the distributed approach of section II, with the rows of figure 6 and the two sums of figure 7.

Form
----
The notation is that of :mod:`reference.modmul.two_pass16`, with k words in each of L lanes, R = W^(k L). A
row of the product and one of the reduction alternate. The unaligned products of both are added to one sum,
which has an offset of h bits to the other, of the aligned ones, and is shifted when all rows are done.
Carries out of a lane stay in it until then. After a row each lane passes its lowest word to the lane below.

Squares: in the row of word i of lane s each lane uses its words j > i, doubled, and j = i once. Words with
i = j of different lanes are multiplied in two rows, all others in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.modmul.carry_chain import Chain, less_modulus_if_above
from reference.modmul.two_pass16 import TwoPass, hh, high, hl, lh, ll, low
from reference.repr import Words, from_words, to_words


@dataclass
class LaneSums:
    """``sum aligned[j] W^j + 2^h sum unaligned[j] W^j`` of a lane with k words, k + 1 of each.

    Between rows aligned[k] <= 3 and unaligned[k] = 0, as modmul/two_pass16/lane_sums.cuda.hpp shows.
    """

    words: int
    half_bits: int
    aligned: list[int] = field(init=False)
    unaligned: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """All words are 0."""
        self.aligned = [0] * (self.words + 1)
        self.unaligned = [0] * (self.words + 1)

    @property
    def value(self) -> int:
        """The number that the sums represent."""
        w = 2 * self.half_bits
        return from_words(self.aligned, w) + (from_words(self.unaligned, w) << self.half_bits)

    def add_rows(self, unaligned: Sequence[Sequence[int]], aligned: Sequence[int], first: int) -> None:
        """Unaligned rows from word ``first``, then an aligned one, with their carries."""
        k = self.words
        for row in unaligned:
            chain = Chain(2 * self.half_bits)
            chain.add_row(self.unaligned, first, row)
            self.unaligned[k] = chain.addc(self.unaligned[k], 0)
        chain = Chain(2 * self.half_bits)
        chain.add_row(self.aligned, first, aligned)
        self.aligned[k] = chain.addc(self.aligned[k], 0)

    def add_high_row(self, row: Sequence[int], first: int) -> int:
        """Row HH, one word higher. Returns the carry."""
        chain = Chain(2 * self.half_bits)
        chain.add_row(self.aligned, first + 1, row)
        return chain.addc(0, 0)

    def add_product_row(self, words: Sequence[int], first: int, b: int) -> None:
        """Add b times the words ``first`` .. of a lane's part of a."""
        h, x = self.half_bits, words[first:]
        self.add_rows([lh(b, x, h), hl(b, x, h)], ll(b, x, h), first)
        assert self.add_high_row(hh(b, x, h), first) == 0

    def shift(self, carry: int, incoming: int, above: int) -> None:
        """Shift by a word: ``carry`` is added above the last word, ``incoming`` and ``above`` at the last."""
        assert self.unaligned[self.words] <= 4
        top = self.aligned[self.words] + incoming + above
        w = 2 * self.half_bits
        self.aligned = [*self.aligned[1:-1], top % (1 << w), carry + (top >> w)]
        self.unaligned = [*self.unaligned[1:], 0]
        assert self.aligned[self.words] <= 3


@dataclass(frozen=True)
class TwoPassLanes:
    """An odd modulus of ``words`` words of two halves in each of ``lanes`` lanes."""

    n: int
    words: int
    lanes: int
    half_bits: int = 16

    @property
    def whole(self) -> TwoPass:
        """The same modulus for one thread."""
        return TwoPass(self.n, self.words * self.lanes, self.half_bits)

    def _lanes_of(self, value: int) -> list[Words]:
        words = to_words(value, self.words * self.lanes, 2 * self.half_bits)
        return [words[i : i + self.words] for i in range(0, len(words), self.words)]

    def _sums(self) -> list[LaneSums]:
        return [LaneSums(self.words, self.half_bits) for _ in range(self.lanes)]

    def mul(self, a: int, b: int) -> int:
        """``a b / R mod n``, below R, for a, b < R.

        >>> TwoPassLanes(101, words=1, lanes=2, half_bits=4).mul(65535, 3) * 2**16 % 101 == 65535 * 3 % 101
        True
        """
        rows, sums = self._lanes_of(a), self._sums()
        for b_i in to_words(b, self.words * self.lanes, 2 * self.half_bits):
            for lane_sums, row in zip(sums, rows, strict=True):
                lane_sums.add_product_row(row, 0, b_i)
            self._reduce_row(sums, [0] * self.lanes)
        return self._almost_reduced(sums)

    def sqr(self, a: int) -> int:
        """``a^2 / R mod n``, below R, for a < R, by rows of k - i words in each lane."""
        rows, sums = self._lanes_of(a), self._sums()
        for source in rows:
            for i, a_i in enumerate(source):
                above = []
                for lane_sums, row in zip(sums, rows, strict=True):
                    *part, top = self._square_row(row, i)
                    lane_sums.add_product_row(part, i, a_i)
                    above.append(a_i * top)
                self._reduce_row(sums, above)
        return self._almost_reduced(sums)

    def _square_row(self, row: Words, i: int) -> list[int]:
        """``a_i W^i + sum over j > i of 2 a_j W^j`` of a lane's words, with its word k."""
        w = 2 * self.half_bits
        above = from_words(row[i + 1 :], w) << (w * (i + 1))
        return list(to_words((row[i] << (w * i)) + 2 * above, self.words + 1, w))

    def _reduce_row(self, sums: Sequence[LaneSums], above: Sequence[int]) -> None:
        """Add q n for the q < W that clears the lowest word, in halves, and shift by a word."""
        h, np0 = self.half_bits, self.whole.np0
        modulus = self._lanes_of(self.n)
        q = low(sums[0].aligned[0] * np0, h)
        for s, n in zip(sums, modulus, strict=True):
            s.add_rows([], ll(q, n, h), 0)
            row = lh(q, n, h)
            s.add_rows([[row[0] + high(s.aligned[0], h), *row[1:]]], [], 0)
        q = low(sums[0].unaligned[0] * np0, h)
        carries = []
        for s, n in zip(sums, modulus, strict=True):
            s.add_rows([ll(q, n, h)], [], 0)
            row = lh(q, n, h)
            carries.append(s.add_high_row([row[0] + high(s.unaligned[0], h), *row[1:]], 0))
        outgoing = [low(s.aligned[0], h) + (low(s.unaligned[0], h) << h) for s in sums]
        assert outgoing[0] == 0, "q does not clear the lowest word"
        for s, carry, incoming, word in zip(sums, carries, [*outgoing[1:], 0], above, strict=True):
            s.shift(carry, incoming, word)

    def _almost_reduced(self, sums: Sequence[LaneSums]) -> int:
        w = 2 * self.half_bits
        value = sum(s.value << (w * self.words * lane) for lane, s in enumerate(sums))
        return less_modulus_if_above(value, self.n, self.whole.radix)
