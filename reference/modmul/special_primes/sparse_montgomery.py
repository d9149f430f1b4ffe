# SPDX-License-Identifier: Apache-2.0
"""Montgomery's reduction for primes p = -1 + (a few signed powers of two): P-256, SM2, P-384.

Sources: Montgomery 1985; Gueron, Krasnov 2015 (P-256 is Montgomery-friendly: -1/p = 1 modulo 2^96). The
complemented quotient digits are own.

Row i adds q p 2^(w i) with the q that clears column i. As p = -1 + sum of +-2^e:

- Where no e is below w, q is column i itself: no multiplication by p'. Then -q clears the column, and what
  is above w bits of it is its carry: no product for the lowest digit either. That holds for P-256 (2^96),
  SM2 (2^64), and P-384 in radix 2^29 (2^32).
- P-384 in radix 2^52 has 2^32: p' = 1 + 2^32, so q is the column times that, one vpmadd52. Columns start at
  2^w - 1, which makes the carry floor(column / 2^w) as in ``reference/modmul/ifma52.py``; the low product
  with p_0 = 2^32 - 1 is left out.
- The powers of one column are one factor, such as 2^48 - 2^16. A negative factor -m takes the complement of
  q: (2^w - 1 - q) m is -q m but for (2^w - 1) m, and these constants telescope over the rows to
  m 2^(w (c + L)) - m 2^(w c). Columns start at +m and, L columns above, at -m: no instruction. To keep all
  columns that are shifted positive, -m is spread as 2^w - m, 2^w - 1, .., and -1 in the top column.

Why Montgomery, and not a fold as Solinas has it: p has no small c, a fold at 2^(w L) costs as many products
as the rows, and its carries run twice.

Bounds. For a b < 2^k R the result (a b + Q p) / R, Q < R, is below 2^k + p. Operands a, b < 2^(m + h) with
2 h <= w L - m give a result below 2^m + p: h = 2 in radix 2^52 for P-256, 16 for P-384. A column is at most
(2 L - 1) + 2 (number of factors) halves, with starts of 3 2^w: below 2^57.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from reference.modmul.special_primes.digits import Digits
from reference.modmul.special_primes.machine import Ifma, Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modmul.special_primes.machine import Columns

Term = tuple[int, int]
"""(sign, exponent) of +-2^exponent."""


class SparseMontgomery(Digits):
    """p = -1 + sum of ``terms``, R = 2^(w L).

    >>> f = SparseMontgomery([(1, 256), (-1, 224), (1, 192), (1, 96)], Ifma())
    >>> f.value(f.mul(f.residue(3), f.residue(5)))
    15
    """

    def __init__(self, terms: Sequence[Term], machine: Machine, length: int | None = None) -> None:
        p = sum(sign << exponent for sign, exponent in terms) - 1
        super().__init__(p, machine, length or -(-(p.bit_length() + 2) // machine.w))
        w = machine.w
        low = [exponent for _, exponent in terms if exponent < w]
        assert len(low) <= 1
        self.low = low[0] if low else None
        assert self.low is None or isinstance(machine, Ifma)
        assert self.low is None or 2 * self.low >= w, "p' has more than two terms"
        self.factors = self._factors([term for term in terms if term[1] >= w])
        self.start = self._start()
        self.k0 = -pow(p, -1, 1 << w) % (1 << w)
        assert self.k0 == (1 if self.low is None else 1 + (1 << self.low))

    def _factors(self, terms: Sequence[Term]) -> list[tuple[int, int]]:
        """(column, signed factor) of each product of a row; for vpmadd52 those of one column together."""
        w, columns = self.machine.w, defaultdict(list)
        for sign, exponent in terms:
            columns[exponent // w].append(sign << exponent % w)
        if isinstance(self.machine, Ifma):
            return [(column, sum(parts)) for column, parts in sorted(columns.items())]
        return [(column, part) for column, parts in sorted(columns.items()) for part in parts]

    def _start(self) -> Columns:
        """What the columns start at: biases of the lower half, and the constants of the negative factors."""
        w, length = self.machine.w, self.length
        start = [0] * (2 * length)
        if self.low is not None:
            start[:length] = [self.machine.mask] * length
        for column, factor in self.factors:
            if factor > 0:
                continue
            start[column] -= factor
            above = column + length
            if above < 2 * length - 1:
                start[above] += (1 << w) + factor
                for k in range(above + 1, 2 * length - 1):
                    start[k] += self.machine.mask
                start[-1] -= 1
            else:
                start[above] += factor
        assert all(x >= 0 for x in start[:-1])
        return start

    def mul(self, a: Sequence[int], b: Sequence[int]) -> Columns:
        """``a b / R`` modulo p, below ``a b / R + p``."""
        return self._checked(self.reduce(self.product(a, b, self.start)), self.number(a) * self.number(b))

    def sqr(self, a: Sequence[int]) -> Columns:
        """``a^2 / R`` modulo p."""
        return self._checked(self.reduce(self.square(a, self.start)), self.number(a) ** 2)

    def _checked(self, result: Columns, product: int) -> Columns:
        value = self.number(result)
        assert value * (1 << self.bits) % self.p == product % self.p
        assert value << self.bits < product + (self.p << self.bits)
        return result

    def reduce(self, t: Columns) -> Columns:
        """2 L columns, which began with ``start``, divided by R modulo p."""
        machine, length = self.machine, self.length
        for i in range(length):
            q = self._quotient(t, i)
            t[i + 1] = machine.add(t[i + 1], machine.shift_right(t[i], machine.w))
            if self.low is not None:
                assert isinstance(machine, Ifma)
                machine.add_high(t, i + 1, q, (1 << self.low) - 1)
            complement = machine.complement(q) if any(factor < 0 for _, factor in self.factors) else 0
            for column, factor in self.factors:
                self._add_multiple(t, i + column, q if factor > 0 else complement, abs(factor))
        return self.exact(t[length:])

    def _quotient(self, t: Columns, i: int) -> int:
        """The digit that clears column i: the column, or with p' = 1 + 2^e its product by that."""
        machine = self.machine
        if self.low is None:
            return machine.factor(t[i])
        assert isinstance(machine, Ifma)
        # The column is biased by 2^w - 1: (t + 1) p' = t + t 2^e + p' modulo 2^w.
        sums = [machine.add(t[i], self.k0)]
        machine.add_low(sums, 0, machine.factor(t[i]), 1 << self.low)
        return machine.factor(sums[0])

    def _add_multiple(self, t: Columns, k: int, x: int, factor: int) -> None:
        if factor & (factor - 1) == 0:
            self.machine.add_power(t, k, x, factor.bit_length() - 1)
        else:
            self.machine.add_product(t, k, x, factor)

    def residue(self, value: int) -> Columns:
        """Montgomery form of any integer."""
        return self.digits((value << self.bits) % self.p)

    def value(self, a: Sequence[int]) -> int:
        """The integer in [0, p): the product with 1 is at most p."""
        product = self.number(self.mul(a, self.digits(1)))
        assert product <= self.p
        return product % self.p
