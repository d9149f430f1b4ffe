# SPDX-License-Identifier: Apache-2.0
"""2^521 - 1 in radix 2^52, without a multiplication in the reduction.

Source: own. 521 = 10 52 + 1: a fold at 2^520 would halve the upper columns. Instead of a b, ``mul`` computes
2 a b: modulo p = 2^(w (L - 1) + 1) - 1, with c_k the columns of a b and K = L - 1,

    2 a b = sum over k < K of 2 c_k 2^(w k) + sum over k >= K of c_k 2^(w (k - K)),

as 2 2^(w K) = 1. The lower columns are doubled, and the upper ones added. A number x is represented by x / 2
modulo p, its Montgomery form for the radix 1/2: 2 (x / 2) (y / 2) = (x y) / 2.

Bounds. The top digit, of weight 2^520, is below 2^26: the high half of the product of two top digits is 0 and
is left out. A result's top digit is at most 1 + 3 (2 L - 1) + 2 < 128, since what column 2 K has above one
bit is added to column 0 before the carries. So up to 2^19 results can be added without a reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.modmul.special_primes.digits import Digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modmul.special_primes.machine import Columns, Ifma


class HalvedMersenne(Digits):
    """p = 2^(w (L - 1) + 1) - 1.

    >>> from reference.modmul.special_primes.machine import Ifma
    >>> f = HalvedMersenne(Ifma(), 11)
    >>> f.p == 2**521 - 1, f.value(f.mul(f.residue(3), f.residue(5)))
    (True, 15)
    """

    def __init__(self, machine: Ifma, length: int) -> None:
        super().__init__((1 << (machine.w * (length - 1) + 1)) - 1, machine, length)

    def mul(self, a: Sequence[int], b: Sequence[int]) -> Columns:
        """``2 a b`` modulo p; top digits of a and b below 2^(w / 2)."""
        assert max(a[-1], b[-1]) < 1 << self.machine.w // 2
        return self.reduce(self.product(a, b, [0] * (2 * self.length - 1)))

    def sqr(self, a: Sequence[int]) -> Columns:
        """``2 a^2`` modulo p."""
        assert a[-1] < 1 << self.machine.w // 2
        return self.reduce(self.square(a, [0] * (2 * self.length - 1)))

    def reduce(self, t: Columns) -> Columns:
        """Columns 0 .. 2 K of a b to the digits of 2 a b."""
        machine, top = self.machine, self.length - 1
        r = [machine.add(machine.add(t[k], t[k]), t[k + top]) for k in range(top)]
        excess = machine.shift_right(t[2 * top], 1)
        r.append(machine.low(t[2 * top], 1))
        r[0] = machine.add(r[0], excess)
        result = self.exact(r)
        assert result[-1] <= 1 + 3 * (2 * self.length - 1) + 2
        return result

    def canonical(self, a: Sequence[int]) -> Columns:
        """The number in [0, p): the bits above 521 are added at the bottom, twice; p itself becomes 0."""
        machine = self.machine
        t = list(a)
        for _ in range(2):
            excess = machine.shift_right(t[-1], 1)
            t[-1] = machine.low(t[-1], 1)
            t[0] = machine.add(t[0], excess)
            t = self.exact(t)
        value = self.number(t)
        assert value <= self.p
        return self.digits(0 if value == self.p else value)

    def residue(self, value: int) -> Columns:
        """``value / 2`` modulo p."""
        return self.digits(value * pow(2, -1, self.p) % self.p)

    def value(self, a: Sequence[int]) -> int:
        """The integer in [0, p)."""
        return 2 * self.number(a) % self.p
