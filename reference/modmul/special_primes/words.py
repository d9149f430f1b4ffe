# SPDX-License-Identifier: Apache-2.0
"""Special primes on 32-bit words with carry chains, one number a thread: what ``row32`` becomes for them.

Sources: Emmart, Luitjens, Weems, Woolley 2016 (rows; even and odd products in separate chains); Solinas 1999
(the primes); Montgomery 1985. The reductions are own.

W = 2^32, and smaller in tests. Numbers are k words, any value below W^k (P-521: below 2^522): almost reduced.
``wide`` counts 32 x 32 + 64-bit multiply-adds (IMAD.WIDE), ``mul`` multiplications of words with one word of
product, ``add`` additions and ``funnel`` shifts across two words.

========== ===== ============================================================== ==============
prime      words reduction                                                      wide: mul, sqr
========== ===== ============================================================== ==============
secp256k1  8     fold at W^8: W^8 = W + 977; 8 products by 977, one for the top 73, 45
2^255 - 19 8     fold at W^8: W^8 = 38; 8 products by 38                        72, 44
P-256      8     Montgomery, 3 words at once: -1/p = 1 mod W^3                  64, 36
SM2        8     Montgomery, 2 words at once: -1/p = 1 mod W^2                  64, 36
P-384      12    Montgomery, 3 words at once: -1/p = 1 + W + W^2 mod W^3        144, 78
P-521      17    the product's upper bits, shifted by 521, are added            289, 153
========== ===== ============================================================== ==============

No Montgomery reduction here multiplies: quotients are words of the sum, and p is powers of W.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reference.modmul.carry_chain import Chain
from reference.repr import from_words, to_words

Words = list[int]


@dataclass
class CountingChain(Chain):
    """A carry chain that counts, with subtractions: the flag is then a borrow."""

    counts: Counter[str] = field(default_factory=Counter)

    def add_cc(self, a: int, b: int) -> int:
        """``a + b``."""
        self.counts["add"] += 1
        return super().add_cc(a, b)

    def addc_cc(self, a: int, b: int) -> int:
        """``a + b + carry``."""
        self.counts["add"] += 1
        return super().addc_cc(a, b)

    def addc(self, a: int, b: int) -> int:
        """``a + b + carry``, which must be a word."""
        self.counts["add"] += 1
        return super().addc(a, b)

    def madc_wide_cc(self, a: int, b: int, low: int, high: int) -> tuple[int, int]:
        """Words of ``a b + low + high W + carry``."""
        self.counts["wide"] += 1
        flag = self.flag
        assert 0 <= a <= self.mask
        assert 0 <= b <= self.mask
        total = a * b + low + (high << self.bits) + flag
        self.flag = total >> 2 * self.bits
        return total & self.mask, total >> self.bits & self.mask

    def subc_cc(self, a: int, b: int) -> int:
        """``a - b - borrow``."""
        self.counts["add"] += 1
        total = a - b - self.flag
        self.flag = int(total < 0)
        return total & self.mask


class WordField:
    """Products and squares of k words of ``bits`` bits; :meth:`reduce` is the prime's."""

    words: int
    montgomery: bool  #: whether ``mul`` divides by R = W^k

    def __init__(self, bits: int = 32) -> None:
        self.bits = bits
        self.counts: Counter[str] = Counter()

    @property
    def p(self) -> int:
        """The prime (for 32-bit words)."""
        raise NotImplementedError

    @property
    def bound(self) -> int:
        """Numbers are below it."""
        return 1 << (self.bits * self.words)

    @property
    def radix(self) -> int:
        """R: ``mul`` computes ``a b / R``."""
        return 1 << (self.bits * self.words) if self.montgomery else 1

    def chain(self) -> CountingChain:
        """A new chain, flag 0."""
        return CountingChain(self.bits, counts=self.counts)

    def mul(self, a: int, b: int) -> int:
        """``a b / R`` modulo p, below ``bound``, for a, b < bound."""
        assert max(a, b) < self.bound
        x, y = (to_words(value, self.words, self.bits) for value in (a, b))
        result = from_words(self.reduce(self._product(x, y)), self.bits)
        assert result < self.bound
        return result

    def sqr(self, a: int) -> int:
        """``a^2 / R`` modulo p, below ``bound``."""
        assert a < self.bound
        result = from_words(self.reduce(self._square(to_words(a, self.words, self.bits))), self.bits)
        assert result < self.bound
        return result

    def reduce(self, t: Words) -> Words:
        """2 k words divided by R modulo p: k words."""
        raise NotImplementedError

    def _rows(self, x: Sequence[int], y: Sequence[int], above: bool) -> Words:
        """``sum x_j y_i W^(i + j)`` over all j, or over j > i: even and odd words apart."""
        size = len(x) + len(y)
        halves = ([0] * (size + 2), [0] * (size + 2))  # even places; odd places, stored one lower
        for i, factor in enumerate(y):
            for parity in (0, 1):
                first = i + 1 if above else 0
                columns = [j for j in range(first, len(x)) if j % 2 == parity]
                if not columns:
                    continue
                odd = (i + parity) % 2
                chain, total = self.chain(), halves[odd]
                for j in columns:
                    at = i + j - odd
                    total[at : at + 2] = chain.madc_wide_cc(x[j], factor, total[at], total[at + 1])
                top = i + columns[-1] + 2 - odd
                total[top] = chain.addc(total[top], 0)
        even, odd_words = halves
        chain = self.chain()
        merged = [even[0]] + [chain.addc_cc(even[j], odd_words[j - 1]) for j in range(1, size)]
        assert chain.flag == 0
        return merged

    def _product(self, x: Sequence[int], y: Sequence[int]) -> Words:
        """k^2 wide products."""
        return self._rows(x, y, above=False)

    def _square(self, x: Sequence[int]) -> Words:
        """k (k + 1) / 2 wide products: cross products, doubled by shifts, then the squares in one chain."""
        cross = self._rows(x, x, above=True)
        assert cross[0] == 0
        result = [0] + [self._funnel(a, b, self.bits - 1) for a, b in pairwise(cross)]
        chain = self.chain()
        for j, word in enumerate(x):
            result[2 * j : 2 * j + 2] = chain.madc_wide_cc(word, word, result[2 * j], result[2 * j + 1])
        assert chain.flag == 0
        return result

    def _funnel(self, low: int, high: int, shift: int) -> int:
        """The low word of ``(low + high W) / 2^shift``."""
        self.counts["funnel"] += 1
        return (low | high << self.bits) >> shift & ((1 << self.bits) - 1)

    def _add_at(self, t: Words, at: int, addend: Sequence[int]) -> int:
        """Add words at word ``at``, carries to the end of t; returns the carry."""
        chain = self.chain()
        for j in range(at, len(t)):
            t[j] = chain.addc_cc(t[j], addend[j - at] if j - at < len(addend) else 0)
        return chain.flag

    def _subtract_at(self, t: Words, at: int, end: int, words: Sequence[int]) -> int:
        """Subtract words at word ``at``, borrows up to word ``end`` of t; returns the borrow."""
        chain = self.chain()
        for j in range(at, end):
            t[j] = chain.subc_cc(t[j], words[j - at] if j - at < len(words) else 0)
        return chain.flag

    def _less(self, words: Sequence[int], borrow: int) -> Words:
        """``words - borrow``, not negative."""
        result = list(words)
        assert self._subtract_at(result, 0, len(result), [borrow]) == 0
        return result

    def _shifted(self, q: Sequence[int], minus: bool) -> Words:
        """``Q W - Q`` if ``minus``, else ``Q W + Q``; one word more than Q, or two."""
        chain, result = self.chain(), [0, *q]
        if minus:
            return [chain.subc_cc(a, b) for a, b in zip(result, [*q, 0], strict=True)]
        sums = [q[0]] + [chain.addc_cc(a, b) for a, b in zip(q, [*q[1:], 0], strict=True)]
        return [*sums, chain.addc(0, 0)]


class FoldedWords(WordField):
    """W^8 = c or W^8 = W + c modulo p: secp256k1 and 2^255 - 19."""

    words = 8
    montgomery = False

    def __init__(self, c: int, with_word: bool, bits: int = 32) -> None:
        super().__init__(bits)
        self.c, self.with_word = c, with_word

    @property
    def p(self) -> int:
        """W^8 - W - c, or the odd part of W^8 - c."""
        value = (1 << (8 * self.bits)) - self.c - ((1 << self.bits) if self.with_word else 0)
        return value if value % 2 else value // 2

    def reduce(self, t: Words) -> Words:
        """``low + high c (+ high W)``: even words of high in one chain, odd words in another; then again."""
        low, high = [*t[:8], 0], t[8:]
        odd = [*high, 0] if self.with_word else [0] * 9
        for start, total in ((0, low), (1, odd)):
            chain = self.chain()
            for j in range(start, 8, 2):
                at = j - start
                total[at : at + 2] = chain.madc_wide_cc(high[j], self.c, total[at], total[at + 1])
            total[8] = chain.addc(total[8], 0)
        chain = self.chain()
        sums = [low[0]] + [chain.addc_cc(low[j], odd[j - 1]) for j in range(1, 9)]
        above = chain.addc(odd[8], 0)
        assert above <= (1 if self.with_word else 0)
        return self._fold_top(sums[:8], sums[8], above)

    def _fold_top(self, r: Words, top: int, above: int) -> Words:
        """Add ``(top + above W)`` times c (+ W) at the bottom; a carry out of that once more.

        The second carry leaves a number below (2 W + c)^2, so that a third cannot come.
        """
        if self.with_word:
            self.counts["mul"] += 1
            low, high = self.chain().madc_wide_cc(top, self.c, 0, above * self.c)
            chain = self.chain()
            addend = [low, chain.add_cc(high, top), chain.addc(above, 0)]
        else:
            addend = [self._short_product(top)]
        carry = self._add_at(r, 0, addend)
        again = [self._short_product(carry), carry] if self.with_word else [self._short_product(carry)]
        assert self._add_at(r, 0, again) == 0
        return r

    def _short_product(self, x: int) -> int:
        """``x c``, one word."""
        self.counts["mul"] += 1
        assert x * self.c < 1 << self.bits
        return x * self.c


class P256Words(WordField):
    """p = W^8 - W^7 + W^6 + W^3 - 1; R = W^8."""

    words = 8
    montgomery = True

    @property
    def p(self) -> int:
        """P-256's prime for 32-bit words."""
        w = self.bits
        return (1 << 8 * w) - (1 << 7 * w) + (1 << 6 * w) + (1 << 3 * w) - 1

    def reduce(self, t: Words) -> Words:
        """Words 0 to 2, 3 to 5, 6 and 7 as quotients Q: add Q W^3 + (Q - Q W + Q W^2) W^6, drop Q."""
        t, carry = list(t), 0
        for at, size in ((0, 3), (3, 3), (6, 2)):
            q = t[at : at + size]
            # Q (1 + W^2) - Q W is not negative and below W^(size + 2): what the sum carries, the difference
            # borrows.
            chain, u = self.chain(), [*q, 0, 0]
            u[2:] = [chain.addc_cc(x, y) for x, y in zip(u[2:], q, strict=True)]
            assert self._subtract_at(u, 1, len(u), q) == chain.flag
            addend = [*q, *([0] * (3 - size)), *u]
            carry += self._add_at(t, at + 3, addend)
        assert carry <= 1
        return self._less_p_where(t[8:], carry)

    def _less_p_where(self, r: Words, carry: int) -> Words:
        """``r + carry W^8 - carry p``: below W^8, as the sum of all rows is below W^8 + p."""
        words = to_words(self.p, self.words, self.bits)
        assert self._subtract_at(r, 0, self.words, [x * carry for x in words]) == carry
        return r


class Sm2Words(P256Words):
    """p = W^8 - W^7 - W^3 + W^2 - 1; R = W^8."""

    @property
    def p(self) -> int:
        """SM2's prime for 32-bit words."""
        w = self.bits
        return (1 << 8 * w) - (1 << 7 * w) - (1 << 3 * w) + (1 << 2 * w) - 1

    def reduce(self, t: Words) -> Words:
        """Two words as a quotient Q, four times, with V = Q W - Q: subtract V W^2, add V W^7.

        A borrow that reaches word 7 is taken from V there, which is not 0 then.
        """
        t, carry = list(t), 0
        for at in range(0, 8, 2):
            v = self._shifted(t[at : at + 2], minus=True)
            borrow = self._subtract_at(t, at + 2, at + 7, v)
            carry += self._add_at(t, at + 7, self._less(v, borrow))
        assert carry <= 1
        return self._less_p_where(t[8:], carry)


class P384Words(P256Words):
    """p = W^12 - W^4 - W^3 + W - 1; R = W^12."""

    words = 12

    @property
    def p(self) -> int:
        """P-384's prime for 32-bit words."""
        w = self.bits
        return (1 << 12 * w) - (1 << 4 * w) - (1 << 3 * w) + (1 << w) - 1

    def reduce(self, t: Words) -> Words:
        """Three words T at once, with Q = T (1 + W + W^2) mod W^3.

        T + Q (W - 1) is h W^3. Then Q (1 + W) - h, not negative, is subtracted at word 3, and Q is added at
        word 12.
        """
        t, carry = list(t), 0
        for at in range(0, 12, 3):
            low = t[at : at + 3]
            q = self._quotient(low)
            chain = self.chain()
            shifted = self._shifted(q, minus=True)
            cleared = [chain.addc_cc(a, b) for a, b in zip([*low, 0], shifted, strict=True)]
            assert cleared[:3] == [0, 0, 0]
            s = self._shifted(q, minus=False)
            assert self._subtract_at(s, 0, len(s), [cleared[3]]) == 0
            borrow = self._subtract_at(t, at + 3, at + 12, s)
            carry += self._add_at(t, at + 12, self._less(q, borrow))
        assert carry <= 1
        return self._less_p_where(t[12:], carry)

    def _quotient(self, low: Sequence[int]) -> Words:
        """``T (1 + W + W^2) mod W^3`` by additions of words, carries out of the top dropped."""
        chain = self.chain()
        q = [low[0], chain.add_cc(low[1], low[0]), chain.addc_cc(low[2], low[1])]
        self.counts["add"] += 1
        q[2] = (q[2] + low[0]) & chain.mask
        return q


class P521Words(WordField):
    """p = 2^(16 w + s) - 1, s = 9 for 32-bit words; numbers below 2^(16 w + s + 1)."""

    words = 17
    montgomery = False

    def __init__(self, bits: int = 32, extra: int = 9) -> None:
        super().__init__(bits)
        self.exponent = 16 * bits + extra

    @property
    def p(self) -> int:
        """2^521 - 1 for 32-bit words."""
        return (1 << self.exponent) - 1

    @property
    def bound(self) -> int:
        """Twice the prime and 2."""
        return 2 << self.exponent

    def reduce(self, t: Words) -> Words:
        """Upper bits, shifted down by 17 funnel shifts, added to the lower ones; then the bits above again.

        A product is below 2^(2 e + 2): the upper part is below 2^(e + 2), and the sum below 2^(e + 2) + 2^e.
        After the second fold the number is below 2^e + 5.
        """
        shift = self.exponent % self.bits
        low = [*t[:16], t[16] & ((1 << shift) - 1)]
        high = [self._funnel(a, b, shift) for a, b in pairwise(t[16:])]
        assert t[33] >> shift == 0
        chain = self.chain()
        sums = [chain.addc_cc(a, b) for a, b in zip(low, high, strict=True)]
        assert chain.flag == 0
        excess = sums[16] >> shift
        sums[16] &= (1 << shift) - 1
        assert excess <= 4
        assert self._add_at(sums, 0, [excess]) == 0
        return sums
