# SPDX-License-Identifier: Apache-2.0
"""Binary floating point of any precision, round to nearest, ties to even, with unlimited exponents.

Values are rationals, so that every rounding error is known. Precision 24 agrees with binary32 wherever the
channels use it: their magnitudes are in [2^-24, 2^48].

Sources: T. J. Dekker, *A floating-point technique for extending the available precision* (1971); J.-M. Muller
et al., *Handbook of Floating-Point Arithmetic*, chapter 4 (two-product, Veltkamp's splitting).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Number = int | Fraction


@dataclass(frozen=True)
class BinaryFloat:
    """A format with ``precision`` bits of significand, the leading one included; u = 2^-precision."""

    precision: int = 24

    @property
    def whole(self) -> int:
        """2^precision: integers up to this magnitude are values."""
        return 1 << self.precision

    def nearest(self, x: Number) -> Number:
        """The value nearest to x, the even one of two: ``abs(nearest(x) - x) <= u abs(x)``.

        >>> [int(BinaryFloat(3).nearest(x)) for x in (7, 9, 11, 13)]
        [7, 8, 12, 12]
        """
        if isinstance(x, int):
            excess = x.bit_length() - self.precision
            return x if excess <= 0 else round(Fraction(x, 1 << excess)) << excess
        if x == 0:
            return 0
        length = abs(x.numerator).bit_length() - x.denominator.bit_length()
        unit = Fraction(2) ** (length - self.precision)
        if round(x / unit).bit_length() > self.precision:
            unit *= 2
        return round(x / unit) * unit

    def is_value(self, x: Number) -> bool:
        """Whether x is a value, which needs no rounding."""
        return self.nearest(x) == x

    def exact(self, x: Number) -> int:
        """The integer x, asserted to be a value: an operation that does not round."""
        assert x.denominator == 1 and self.is_value(int(x)), "inexact"
        return int(x)

    def fma(self, a: Number, b: Number, c: Number) -> Number:
        """``nearest(a b + c)`` of three values."""
        assert self.is_value(a) and self.is_value(b) and self.is_value(c)
        return self.nearest(a * b + c)

    def add(self, a: Number, b: Number) -> Number:
        """``nearest(a + b)``."""
        return self.fma(a, 1, b)

    def mul(self, a: Number, b: Number) -> Number:
        """``nearest(a b)``."""
        return self.fma(a, b, 0)

    def reciprocal(self, m: int) -> Number:
        """``nearest(1 / m)``."""
        return rounded_reciprocal(self, m)

    def rint(self, x: Number) -> int:
        """The integer nearest to a value below 2^(precision-2): 3/2 2^(precision-1) is added and subtracted.

        >>> [BinaryFloat(24).rint(Fraction(n, 4)) for n in (-3, -2, 5, 6)]
        [-1, 0, 1, 2]
        """
        limit = 1 << (self.precision - 2)
        assert -limit < x < limit
        magic = 3 << (self.precision - 2)
        return self.exact(self.add(self.add(x, magic), -magic))

    def two_product(self, a: int, b: int) -> tuple[int, int]:
        """``(h, l)``: h = nearest(a b), h + l = a b, by a fused multiply-add."""
        high = self.mul(a, b)
        low = self.fma(a, b, -high)
        return self.exact(high), self.exact(low)

    def split(self, a: int) -> tuple[int, int]:
        """Veltkamp's splitting: ``a = high + low`` in p - s and, with a sign, s - 1 bits, s = ceil(p / 2)."""
        c = self.mul((1 << (-(-self.precision // 2))) + 1, a)
        high = self.add(c, -self.add(c, -a))
        low = self.add(a, -high)
        return self.exact(high), self.exact(low)

    def two_product_split(self, a: int, b: int) -> tuple[int, int]:
        """Dekker's method: :meth:`two_product` without a fused operation; every product of halves is exact.

        >>> BinaryFloat().two_product_split(16777213, 4099), BinaryFloat().two_product(16777213, 4099)
        ((68769792000, 4087), (68769792000, 4087))
        """
        high = self.mul(a, b)
        (a1, a0), (b1, b0) = self.split(a), self.split(b)
        error = self.exact(-high)
        for part in (a1 * b1, a1 * b0, a0 * b1, a0 * b0):
            error = self.exact(error + self.exact(part))
        return self.exact(high), error


@cache
def rounded_reciprocal(f: BinaryFloat, m: int) -> Number:
    """``f.nearest(1 / m)``, cached."""
    return f.nearest(Fraction(1, m))
