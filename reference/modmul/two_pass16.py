# SPDX-License-Identifier: Apache-2.0
"""Two-pass multiplication, squaring and Montgomery reduction on half-word multipliers.

Source
------
N. Emmart, J. Luitjens, C. Weems, C. Woolley, *Optimizing Modular Multiplication for NVIDIA's Maxwell GPUs*:
section IV, figures 4 to 7.

Form
----
h-bit halves, words of w = 2h bits, W = 2^w, k words, R = W^k. A product of two halves is a word. Low by low
and high by high begin at a word boundary (*aligned*), low by high and high by low half a word above one
(*unaligned*). The first pass sums the unaligned products in whole words, the sum is shifted by h bits, the
second pass adds the aligned ones.

Two forms of each algorithm:

- :func:`figure_6` and :func:`figure_7`, the paper's pseudo-code on multiprecision integers.
- :func:`multiply`, :func:`square`, :func:`reduce`: in words, with the carries at the ends of the rows, and
  with the bounds that say how far a carry can go asserted. The paper omits the squaring.

Bounds. A row is at most (2^h - 1)^2 (R - 1) / (W - 1) = (2^h - 1) / (2^h + 1) (R - 1). So rows LH and HL up
to the i-th, each at its word, sum to less than 2 R W^i, and rows LL and HH to less than R W^(i+1): after
either pair the carry above the rows is 0 or 1.

For x < R^2 the reduction is (x + q n) / R < R + n; one n is subtracted where it is not below R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference.modmul.carry_chain import Chain, less_modulus_if_above
from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words


def low(word: int, h: int) -> int:
    """The lower half of a word."""
    return word & ((1 << h) - 1)


def high(word: int, h: int) -> int:
    """The upper half of a word."""
    return word >> h


def ll(a: int, x: Sequence[int], h: int) -> list[int]:
    """Figure 5's LL: the row of ``low(a) low(x[i])``."""
    return [low(a, h) * low(word, h) for word in x]


def lh(a: int, x: Sequence[int], h: int) -> list[int]:
    """Figure 5: the row of ``low(a) high(x[i])``.

    >>> lh(0x1234, (0x5678,), 8) == [0x34 * 0x56]
    True
    """
    return [low(a, h) * high(word, h) for word in x]


def hl(a: int, x: Sequence[int], h: int) -> list[int]:
    """Figure 5's HL: the row of ``high(a) low(x[i])``."""
    return [high(a, h) * low(word, h) for word in x]


def hh(a: int, x: Sequence[int], h: int) -> list[int]:
    """Figure 5's HH: the row of ``high(a) high(x[i])``."""
    return [high(a, h) * high(word, h) for word in x]


def figure_6(a: Words, b: Words, h: int) -> int:
    """The two-pass multiply, ``a b``.

    >>> figure_6((0x34, 0x12), (0x78, 0x56), 4) == 0x1234 * 0x5678
    True
    """
    w = 2 * h
    p = 0
    for i, b_i in enumerate(b):
        p += from_words(lh(b_i, a, h), w) << (w * i)
        p += from_words(hl(b_i, a, h), w) << (w * i)
    p <<= h
    for i, b_i in enumerate(b):
        p += from_words(ll(b_i, a, h), w) << (w * i)
        p += from_words(hh(b_i, a, h), w) << (w * (i + 1))
    return p


def figure_7(x: int, n: Words, np0: int, h: int) -> int:
    """The two-pass Montgomery reduction of ``x < R^2``, below R. ``np0 = -1/n mod 2^h``."""
    w, modulus = 2 * h, from_words(n, 2 * h)
    ones = (1 << w) - 1
    u = 0
    for _ in n:
        q = low((x & ones) * np0, h)
        x += from_words(ll(q, n, h), w)
        u += from_words(lh(q, n, h), w) + high(x & ones, h)
        assert low(x, h) == 0
        x >>= w
        q = low((u & ones) * np0, h)
        u += from_words(ll(q, n, h), w)
        x += from_words(lh(q, n, h), w) + high(u & ones, h)
        assert low(u, h) == 0
        u >>= w
    return less_modulus_if_above(x + (u << h), modulus, 1 << (w * len(n)))


def shift_half_word(p: list[int], h: int) -> None:
    """``p <<= h``, which must fit; byte permutes on the GPU."""
    value = from_words(p, 2 * h) << h
    p[:] = to_words(value, len(p), 2 * h)


def _add_aligned(
    p: list[int], rows: Sequence[tuple[int, Sequence[int], Sequence[int]]], k: int, h: int
) -> int:
    """Second pass: rows (word, LL, HH), the i-th ending below word i + k.

    The carry that is due at word i + k, at most 1, is kept until a row reaches that word. Returns the carry
    that is due at the end.
    """
    carry = 0
    for i, (at, row_ll, row_hh) in enumerate(rows):
        chain = Chain(2 * h)
        chain.add_row(p, at, row_ll)
        p[i + k] = chain.addc_cc(p[i + k], carry)
        carry = chain.addc(0, 0)
        chain.add_row(p, at + 1, row_hh)
        carry = chain.addc(carry, 0)
        assert carry <= 1
    return carry


def multiply(a: Words, b: Words, h: int) -> list[int]:
    """``a b`` in 2k words: figure 6 with its carries; the carries of a row are at most 1."""
    k = len(a)
    p = [0] * (2 * k)
    for i, b_i in enumerate(b):
        chain = Chain(2 * h)
        assert p[i + k] == 0
        for row in (lh(b_i, a, h), hl(b_i, a, h)):
            chain.add_row(p, i, row)
            p[i + k] = chain.addc(p[i + k], 0)
        assert p[i + k] <= 1
    shift_half_word(p, h)
    carry = _add_aligned(p, [(i, ll(b_i, a, h), hh(b_i, a, h)) for i, b_i in enumerate(b)], k, h)
    assert carry == 0, "the product exceeds R^2"
    return p


def square(a: Words, h: int) -> list[int]:
    """``a^2`` in 2k words with 2 k^2 + k products of halves, for the 4 k^2 of :func:`multiply`.

    Products that occur twice are summed once and doubled: those above the diagonal and, on it, one of the two
    equal unaligned ones. The aligned products of the diagonal are added afterwards.

    >>> from_words(square((0x34, 0x12), 4), 8) == 0x1234**2
    True
    """
    k, w = len(a), 2 * h
    p = [0] * (2 * k)
    for i, a_i in enumerate(a):
        chain = Chain(w)
        assert p[i + k] == 0
        chain.add_row(p, 2 * i, lh(a_i, a[i:], h))
        p[i + k] = chain.addc(0, 0)
        chain.add_row(p, 2 * i + 1, hl(a_i, a[i + 1 :], h))
        p[i + k] = chain.addc(p[i + k], 0)
    shift_half_word(p, h)
    rows = [(2 * i + 1, ll(a_i, a[i + 1 :], h), hh(a_i, a[i + 1 :], h)) for i, a_i in enumerate(a[:-1])]
    p[-1] += _add_aligned(p, rows, k, h)
    doubled = from_words(p, w) << 1
    p = list(to_words(doubled, 2 * k, w))
    chain = Chain(w)
    diagonal = [product for a_i in a for product in (low(a_i, h) ** 2, high(a_i, h) ** 2)]
    chain.add_row(p, 0, diagonal)
    assert chain.flag == 0, "the square exceeds R^2"
    return p


def _with_addend(row: list[int], addend: int, h: int) -> list[int]:
    """The row with ``addend``, a half, added to its first product."""
    total = row[0] + addend
    assert addend < 1 << h and total < 1 << (2 * h)
    return [total, *row[1:]]


def reduce(x: list[int], n: Words, np0: int, h: int) -> int:
    """``(x + q n) / R`` for ``x < R^2`` in 2k words, which are overwritten: figure 7 with its carries."""
    k, w = len(n), 2 * h
    u = [0] * k
    carry = 0
    for i in range(k):
        chain = Chain(w)
        assert from_words(u, w) << w < 2 << (w * k), "u is not below 2 R / W"
        q = low(x[i] * np0, h)
        chain.add_row(x, i, ll(q, n, h))
        x[i + k] = chain.addc_cc(x[i + k], carry)
        carry = chain.addc(0, 0)
        chain.add_row(u, 0, _with_addend(lh(q, n, h), high(x[i], h), h))
        assert chain.flag == 0, "row LH carries"

        q = low(u[0] * np0, h)
        chain.add_row(u, 0, ll(q, n, h))
        top = chain.addc(0, 0)
        chain.add_row(x, i + 1, _with_addend(lh(q, n, h), high(u[0], h), h))
        carry = chain.addc(carry, 0)
        assert carry <= 1
        assert low(x[i], h) == low(u[0], h) == 0
        u = [*u[1:], top]
    chain = Chain(w)
    result = x[k:]
    chain.add_row(result, 0, to_words(from_words(u, w) << h, k, w))
    overflow = chain.addc(carry, 0)
    assert overflow <= 1
    return from_words(result, w) + (overflow << (w * k))


@dataclass(frozen=True)
class TwoPass:
    """An odd modulus of ``words`` words of two halves; elements are integers below R."""

    n: int
    words: int
    half_bits: int = 16

    def __post_init__(self) -> None:
        """Reject moduli without Montgomery form."""
        if self.n < 1 or self.n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        if self.n >= self.radix:
            raise ValueError("too few words")

    @property
    def radix(self) -> int:
        """R."""
        return 1 << (2 * self.half_bits * self.words)

    @property
    def np0(self) -> int:
        """``-1/n mod 2^h``."""
        h = self.half_bits
        return -word_inverse(self.n % (1 << h), h) % (1 << h)

    def _words(self, value: int) -> Words:
        return to_words(value, self.words, 2 * self.half_bits)

    def _reduced(self, product: list[int]) -> int:
        result = reduce(product, self._words(self.n), self.np0, self.half_bits)
        return less_modulus_if_above(result, self.n, self.radix)

    def mul(self, a: int, b: int) -> int:
        """``a b / R mod n``, below R, for a, b < R."""
        return self._reduced(multiply(self._words(a), self._words(b), self.half_bits))

    def sqr(self, a: int) -> int:
        """``a^2 / R mod n``, below R, for a < R."""
        return self._reduced(square(self._words(a), self.half_bits))

    def residue(self, value: int) -> int:
        """Montgomery form of any integer."""
        return value * self.radix % self.n

    def value(self, a: int) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``: the product with 1 is at most n.

        >>> m = TwoPass(2**61 - 1, 2)
        >>> m.value(m.mul(m.residue(3), m.residue(5)))
        15
        """
        product = self.mul(a, 1)
        assert product <= self.n
        return product % self.n
