# SPDX-License-Identifier: Apache-2.0
"""Channels computed in floating point: the four representations of a residue and their exactness.

Source: A. Moss, D. Page, N. P. Smart, *Toward Acceleration of RSA Using 3D Graphics Hardware* (IMA CC 2007),
section 4.1: half-word (implementations A and B), full-word by multi-precision arithmetic (its experiments
failed on hardware that did not round correctly), smooth (D), paired (E); the packed half-words of
implementation C are half-words to arithmetic. Ranges and proofs are in docs/rns/floating_point.md.

p is the precision, 24 for binary32. Every operation is one of
:class:`reference.modmul.rns_float.binary_float.BinaryFloat`; those that must not round are asserted not to.

Printed slip: the last line of the smooth multiplication, ``(t3 s(t3) m) + t6``, stands for the sum t3 + t6
reduced by m once where it is m or more, without ever exceeding m: (t3 - m) + t6, and m more if negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

from reference.modmul.rns.bases import Condition, require
from reference.modmul.rns_float.binary_float import BinaryFloat

R = TypeVar("R")


class Channel(Protocol[R]):
    """Arithmetic modulo one modulus on residues of type R."""

    @property
    def modulus(self) -> int:
        """The modulus m."""
        ...

    @property
    def largest_digit(self) -> int:
        """The largest integer that :meth:`load` accepts."""
        ...

    def load(self, digit: int) -> R:
        """The residue of an integer 0 <= digit <= largest_digit."""
        ...

    def digit(self, a: R) -> int:
        """The integer in [0, m) that the residue represents."""
        ...

    def mul(self, a: R, b: R) -> R:
        """The residue of a b."""
        ...

    def add(self, a: R, b: R) -> R:
        """The residue of a + b."""
        ...

    def sub(self, a: R, b: R) -> R:
        """The residue of a - b."""
        ...


def lifted(f: BinaryFloat, x: int, m: int) -> int:
    """The residue in [0, m) of x in [-m, m): x + m where x < 0."""
    assert -m <= x < m
    return f.exact(x + m) if x < 0 else x


@dataclass(frozen=True)
class HalfWord:
    """Residues in [0, m), 3 <= m, m^2 <= 2^p: products are integers that need no rounding.

    >>> HalfWord(4093).mul(4092, 4091)
    2
    """

    modulus: int
    float: BinaryFloat = field(default=BinaryFloat())

    def __post_init__(self) -> None:
        """Reject what the proof does not cover."""
        require(self.conditions())

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequality of "Half words"."""
        yield "half word", self.modulus >= 3 and self.modulus**2 <= self.float.whole

    @property
    def largest_digit(self) -> int:
        """2^p - m, whose rounded quotient times m is a value."""
        return self.float.whole - self.modulus

    def load(self, digit: int) -> int:
        """``x mod m``: the quotient of rounded operations is off by one at most."""
        f, m = self.float, self.modulus
        assert 0 <= digit <= self.largest_digit
        q = math.floor(f.mul(digit, f.reciprocal(m)))
        r = f.exact(digit - f.exact(q * m))
        assert -m <= r < 2 * m
        return lifted(f, f.exact(r - m) if r >= m else r, m)

    def digit(self, a: int) -> int:
        """The residue itself."""
        assert 0 <= a < self.modulus
        return a

    def mul(self, a: int, b: int) -> int:
        """The product, which is exact: a b <= (m - 1)^2 <= 2^p - m."""
        return self.load(self.float.exact(a * b))

    def add(self, a: int, b: int) -> int:
        """The result takes one conditional addition."""
        return lifted(self.float, self.float.exact(self.float.exact(a - self.modulus) + b), self.modulus)

    def sub(self, a: int, b: int) -> int:
        """The result takes one conditional addition."""
        return lifted(self.float, self.float.exact(a - b), self.modulus)


@dataclass(frozen=True)
class FullWord:
    """Odd 3 <= m < 2^p, residues centred: abs(a) <= (m - 1) / 2. Products as exact pairs h + l.

    With ``fused`` there is a fused multiply-add; without it products are split by Dekker's method.

    >>> FullWord(16777213).digit(FullWord(16777213).mul(-8388606, 8388606))
    4194303
    """

    modulus: int
    float: BinaryFloat = field(default=BinaryFloat())
    fused: bool = True

    def __post_init__(self) -> None:
        """Reject what the proof does not cover."""
        require(self.conditions())

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequality of "Full words"."""
        yield "full word", self.modulus % 2 == 1 and 3 <= self.modulus < self.float.whole

    def _centred(self, x: int) -> int:
        """The centred residue of abs(x) < 3 m / 2, by one addition or subtraction of m."""
        m, half = self.modulus, self.modulus // 2
        x = self.float.exact(x - m) if x > half else self.float.exact(x + m) if x < -half else x
        assert abs(x) <= half
        return x

    @property
    def largest_digit(self) -> int:
        """The largest integer below 2 m and 2^p."""
        return min(2 * self.modulus, self.float.whole) - 1

    def load(self, digit: int) -> int:
        """The residue takes at most two subtractions."""
        assert 0 <= digit <= self.largest_digit
        return self._centred(self.float.exact(digit - self.modulus) if digit >= self.modulus else digit)

    def digit(self, a: int) -> int:
        """The result takes one conditional addition."""
        assert abs(a) <= self.modulus // 2
        return lifted(self.float, a, self.modulus)

    def mul(self, a: int, b: int) -> int:
        """``a b = h + l``: h less its rounded multiple of m, centred; plus l, centred again."""
        f, m = self.float, self.modulus
        high, low = f.two_product(a, b) if self.fused else f.two_product_split(a, b)
        q = f.rint(f.mul(high, f.reciprocal(m)))
        remainder = self._remainder(high, q)
        assert abs(remainder) < m and 4 * abs(low) < m
        return self._centred(f.exact(self._centred(remainder) + low))

    def _remainder(self, high: int, q: int) -> int:
        """``h - q m``: one fused operation, or two subtractions, the first exact by Sterbenz's lemma."""
        f, m = self.float, self.modulus
        if self.fused:
            return f.exact(f.fma(-q, m, high))
        product_high, product_low = f.two_product_split(q, m)
        return f.exact(f.exact(high - product_high) - product_low)

    def add(self, a: int, b: int) -> int:
        """The sum is below m in magnitude and is centred."""
        return self._centred(self.float.exact(a + b))

    def sub(self, a: int, b: int) -> int:
        """The difference is below m in magnitude and is centred."""
        return self._centred(self.float.exact(a - b))


@dataclass(frozen=True)
class Smooth:
    """m = first second, two coprime half words; residues are in [0, m), which both factors can load.

    >>> Smooth(4093, 4091).mul(16744462, 16744461) == 16744462 * 16744461 % (4093 * 4091)
    True
    """

    first: int
    second: int
    float: BinaryFloat = field(default=BinaryFloat())

    def __post_init__(self) -> None:
        """Reject what the proof does not cover."""
        require(self.conditions())

    def conditions(self) -> Iterator[Condition]:
        """Yield the inequality of "Smooth moduli"."""
        p, q, whole = self.first, self.second, self.float.whole
        yield "smooth factors", min(p, q) >= 3 and max(p, q) ** 2 <= whole and math.gcd(p, q) == 1

    @property
    def modulus(self) -> int:
        """The modulus m."""
        return self.first * self.second

    @cached_property
    def factors(self) -> tuple[HalfWord, HalfWord]:
        """The channels of the two factors."""
        return HalfWord(self.first, self.float), HalfWord(self.second, self.float)

    def parts(self, a: int) -> tuple[int, int]:
        """``(a mod first, a mod second)``."""
        p, q = self.factors
        return p.load(a), q.load(a)

    def join(self, parts: tuple[int, int]) -> int:
        """The residue with these parts: t1 to t6 of the paper."""
        (p, q), m, f = self.factors, self.modulus, self.float
        t3 = f.exact(p.mul(parts[0], pow(q.modulus, -1, p.modulus)) * q.modulus)
        t6 = f.exact(q.mul(parts[1], pow(p.modulus, -1, q.modulus)) * p.modulus)
        return lifted(f, f.exact(f.exact(t3 - m) + t6), m)

    @property
    def largest_digit(self) -> int:
        """The largest integer below 2 m and 2^p."""
        return min(2 * self.modulus, self.float.whole) - 1

    def load(self, digit: int) -> int:
        """The residue takes at most one subtraction."""
        assert 0 <= digit <= self.largest_digit
        return self.float.exact(digit - self.modulus) if digit >= self.modulus else digit

    def digit(self, a: int) -> int:
        """The residue itself."""
        assert 0 <= a < self.modulus
        return a

    def mul(self, a: int, b: int) -> int:
        """The product of the parts, joined."""
        (p, q), x, y = self.factors, self.parts(a), self.parts(b)
        return self.join((p.mul(x[0], y[0]), q.mul(x[1], y[1])))

    def add(self, a: int, b: int) -> int:
        """The result takes one conditional addition."""
        return lifted(self.float, self.float.exact(self.float.exact(a - self.modulus) + b), self.modulus)

    def sub(self, a: int, b: int) -> int:
        """The result takes one conditional addition."""
        return lifted(self.float, self.float.exact(a - b), self.modulus)


@dataclass(frozen=True)
class Paired:
    """A smooth modulus whose residues stay separate, one for each factor, until an extension needs the digit.

    >>> Paired(Smooth(13, 11)).digit(Paired(Smooth(13, 11)).mul((2, 5), (3, 7)))
    123
    """

    smooth: Smooth

    @property
    def modulus(self) -> int:
        """The product of both factors."""
        return self.smooth.modulus

    @property
    def largest_digit(self) -> int:
        """The largest integer that both parts accept."""
        return min(part.largest_digit for part in self.smooth.factors)

    def load(self, digit: int) -> tuple[int, int]:
        """The remainders modulo both factors."""
        return self.smooth.parts(digit)

    def digit(self, a: tuple[int, int]) -> int:
        """The parts, joined."""
        return self.smooth.join(a)

    def mul(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        """The result is computed in each part."""
        p, q = self.smooth.factors
        return p.mul(a[0], b[0]), q.mul(a[1], b[1])

    def add(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        """The result is computed in each part."""
        p, q = self.smooth.factors
        return p.add(a[0], b[0]), q.add(a[1], b[1])

    def sub(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        """The result is computed in each part."""
        p, q = self.smooth.factors
        return p.sub(a[0], b[0]), q.sub(a[1], b[1])
