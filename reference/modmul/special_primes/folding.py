# SPDX-License-Identifier: Apache-2.0
"""Primes p = 2^m - c with a small c: secp256k1 (c = 2^32 + 977), 2^255 - 19, and 2^521 - 1 in radix 2^29.

Sources: Crandall 1992; libsecp256k1 ``field_5x52_int128_impl.h`` (folding at 2^(w L), then at 2^m).

With L digits, s = w L - m and f = c 2^s, 2^(w L) = f modulo p. The columns of a product are folded twice:

1. columns L .. 2 L - 1 get their carries; each times f is added L columns below;
2. what is above bit m of the number then, T, times c is added at the bottom.

Numbers below 2^(w L) are operands: sums of up to 2^s numbers need no reduction, in radix 2^52 16 for
secp256k1 and 32 for 2^255 - 19. 2^521 - 1 has s = 1 in radix 2^29, and a top digit of up to 32 bits instead,
as its upper columns are shifted, not multiplied. The result of ``mul`` is below 2^m + 2^(m - 8).

Why folding, and not Montgomery's reduction: f has one digit (w = 52), so that a fold costs 2 L vpmadd52. A
row of Montgomery's reduction modulo secp256k1's p would cost 4 (p', the high half of q c, both halves of q
2^256), 20 in all, where both folds together cost 12. Numbers need no conversion either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.modmul.special_primes.digits import Digits
from reference.modmul.special_primes.machine import Ifma
from reference.repr import to_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modmul.special_primes.machine import Columns, Machine


class Folding(Digits):
    """p = 2^m - c.

    >>> from reference.modmul.special_primes.machine import Ifma
    >>> f = Folding(256, 2**32 + 977, Ifma())
    >>> f.number(f.canonical(f.mul(f.digits(2**255), f.digits(4)))) == 2 * (2**32 + 977)
    True
    """

    def __init__(
        self, m: int, c: int, machine: Machine, length: int | None = None, headroom: int = 0
    ) -> None:
        super().__init__((1 << m) - c, machine, length or -(-m // machine.w), headroom)
        self.m, self.c = m, c
        self.slack = self.bits - m
        assert 1 <= self.slack < machine.w
        fold_bits = c.bit_length() + self.slack
        # Column L gets something from the first fold: a high half, or a second digit of f.
        self.spills = not machine.wide or fold_bits > machine.w
        top_bits = max(machine.word_bits - machine.w, fold_bits) + self.slack + 1
        self.low_half_suffices = top_bits + c.bit_length() <= machine.w

    def mul(self, a: Sequence[int], b: Sequence[int]) -> Columns:
        """``a b`` modulo p, below 2^m + 2^(m - 8), for a, b < 2^(w L)."""
        return self.reduce(self.product(a, b))

    def sqr(self, a: Sequence[int]) -> Columns:
        """``a^2`` modulo p, as :meth:`mul`."""
        return self.reduce(self.square(a))

    def mul_small(self, a: Sequence[int], k: int) -> Columns:
        """``k a`` for a digit k: L products, no first fold (a24 of X25519's ladder)."""
        t = [0] * (self.length + 1)
        for i, x in enumerate(a):
            self.machine.add_product(t, i, x, k)
        self.carry(t, 0, self.length, mask=True)
        return self._fold_top(t, spilled=True)

    def reduce(self, t: Columns) -> Columns:
        """2 L columns modulo p.

        Columns of products of 29-bit digits are so wide that the lower half needs its carries before the
        top of the number can be read; those of 52-bit digits exceed a digit by a few bits only.
        """
        machine, length = self.machine, self.length
        wide = machine.wide
        self.carry(t, 0 if wide else length, 2 * length - 1, mask=False)
        assert t[-1] < 1 << machine.w + 2 * self.headroom, "the product exceeds its columns"
        low = [machine.factor(x) if wide else x for x in t[:length]] + [0]
        for k in range(length - 1):
            self._add_multiple(low, k, machine.factor(t[length + k]), self.c << self.slack)
        self._add_multiple(low, length - 1, t[-1], self.c << self.slack)
        return self._fold_top(low, spilled=self.spills)

    def _add_multiple(self, t: Columns, k: int, x: int, constant: int) -> None:
        """Add ``x constant`` at column k; powers of two by shifts where those are no products."""
        machine = self.machine
        for j, digit in enumerate(to_words(constant, -(-constant.bit_length() // machine.w), machine.w)):
            if digit & (digit - 1) == 0:
                machine.add_power(t, k + j, x, digit.bit_length() - 1)
            else:
                machine.add_product(t, k + j, x, digit)

    def _fold_top(self, t: Columns, *, spilled: bool = False) -> Columns:
        """What is above bit m, read without the carries from below, times c at the bottom; then carries.

        ``spilled``: there is a column L. Without the carries the number that is left is below 2^m + (columns
        above their digits), which the last carries bring to the top digit: at most 2^(m - 8) more.
        """
        machine, top_bits = self.machine, self.machine.w - self.slack
        top = machine.shift_right(t[self.length - 1], top_bits)
        if spilled:
            above = machine.shift_left(t[self.length], self.slack) if self.slack else t[self.length]
            top = machine.add(top, above)
        t = [*t[: self.length - 1], machine.low(t[self.length - 1], top_bits)]
        if self.low_half_suffices and isinstance(machine, Ifma):
            assert top * self.c <= machine.mask
            machine.add_low(t, 0, top, self.c)
        else:
            for k, part in enumerate(self._factors(top, split=machine.wide and spilled)):
                self._add_multiple(t, k, part, self.c)
        result = self.exact(t)
        assert self.number(result) < (1 << self.m) + (1 << max(self.m - 8, 0)) or machine.w < 16
        return result

    def _factors(self, top: int, *, split: bool) -> list[int]:
        """T as factors of the multiplier: one digit, or two."""
        machine = self.machine
        if not split:
            assert top <= machine.mask, "T is no factor"
            return [top]
        return [machine.low(top, machine.w), machine.shift_right(top, machine.w)]

    def normalize_weak(self, a: Sequence[int]) -> Columns:
        """A number below 2^(w L) brought below 2^m + 2^(m - 8)."""
        return self._fold_top(list(a))

    def canonical(self, a: Sequence[int]) -> Columns:
        """The number in [0, p): a + c reaches 2^m exactly if the weakly reduced a is p or more."""
        machine = self.machine
        a = self._fold_top(self._fold_top(list(a)))
        top_bits = machine.w - self.slack
        tested = list(a)
        self._add_multiple(tested, 0, 1, self.c)
        self.carry(tested, 0, self.length - 1, mask=True)
        above = machine.shift_right(tested[-1], top_bits)
        assert above <= 1, "the number is 2 p or more"
        t = list(a)
        self._add_multiple(t, 0, above, self.c)
        self.carry(t, 0, self.length - 1, mask=True)
        t[-1] = machine.low(t[-1], top_bits)
        assert self.number(t) < self.p
        return t
