# SPDX-License-Identifier: Apache-2.0
"""A field with carried magnitudes: the slow twin of ``src/field/``.

An element stands for ``x R mod n`` by a number below ``magnitude * bound``. Every function asserts the
range of its operands and that of its result, so that a formula that runs here keeps to the contract of
``src/field/field.hpp`` on every backend.

Sources: libsecp256k1, ``src/field.h`` (magnitudes); Montgomery 1985 (products); Walter 1999 (no final
subtraction).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

MAX_MAGNITUDE = 8
"""Elements have at most this magnitude."""

MAX_PRODUCT = 4
"""A product of magnitudes that :meth:`Field.mul` accepts."""


@dataclass(frozen=True)
class Element:
    """A number and the magnitude that it carries."""

    number: int
    magnitude: int


@dataclass(frozen=True)
class Field:
    """Arithmetic modulo an odd ``n > 1`` with Montgomery radix ``2**radix_bits``.

    Elements of magnitude 1 are below ``bound``. With ``lazy`` sums are left as they are, as in lanes; without
    it every function brings its result below ``bound``, as on scalar code and on devices.

    >>> f = Field.in_lanes(2**255 - 19, 52)
    >>> x = f.add(f.from_int(3), f.from_int(4))
    >>> x.magnitude, f.to_int(x), f.to_int(f.mul(x, x))
    (2, 7, 49)
    >>> f.to_int(f.half(f.one())) * 2 % f.n
    1
    """

    n: int
    radix_bits: int
    bound: int
    lazy: bool

    def __post_init__(self) -> None:
        """Check what the proofs rest on."""
        assert self.n > 1
        assert self.n % 2 == 1
        assert self.n <= self.bound <= self.radix
        if self.lazy:
            assert self.bound == 2 * self.n
            assert self.radix >= MAX_MAGNITUDE * self.bound

    @classmethod
    def scalar(cls, n: int) -> Field:
        """The field on 64-bit limbs: every element is below n."""
        return cls(n, -(-n.bit_length() // 64) * 64, n, lazy=False)

    @classmethod
    def in_lanes(cls, n: int, digit_bits: int) -> Field:
        """The field in lanes: R >= 16 n, and elements of magnitude 1 are below 2 n."""
        return cls(n, -(-(n.bit_length() + 4) // digit_bits) * digit_bits, 2 * n, lazy=True)

    @classmethod
    def row32(cls, n: int) -> Field:
        """The field on devices by 32-bit words: elements are below R."""
        bits = -(-n.bit_length() // 32) * 32
        return cls(n, bits, 1 << bits, lazy=False)

    @property
    def radix(self) -> int:
        """R."""
        return 1 << self.radix_bits

    def element(self, number: int, magnitude: int) -> Element:
        """Return an element, its range checked; without ``lazy`` it is brought below the bound first."""
        assert 1 <= magnitude <= MAX_MAGNITUDE
        if not self.lazy:
            number = number % self.n if not 0 <= number < self.bound else number
        assert 0 <= number < magnitude * self.bound <= MAX_MAGNITUDE * self.bound
        return Element(number, magnitude)

    def _reduced(self, product: int) -> int:
        """``product / R`` modulo n by Montgomery's reduction, with at most n added."""
        quotient = -product * pow(self.n, -1, self.radix) % self.radix
        result, rest = divmod(product + quotient * self.n, self.radix)
        assert rest == 0
        assert result <= self.n + product // self.radix
        return result

    def zero(self) -> Element:
        """0."""
        return Element(0, 1)

    def one(self) -> Element:
        """R mod n."""
        return Element(self.radix % self.n, 1)

    def from_int(self, x: int) -> Element:
        """``x R mod n``."""
        return Element(x * self.radix % self.n, 1)

    def to_int(self, a: Element) -> int:
        """The canonical number that an element stands for."""
        result = self._reduced(a.number)
        assert result <= self.n or self.bound == self.radix
        return result % self.n

    def mul(self, a: Element, b: Element) -> Element:
        """``a b``.

        >>> f = Field.in_lanes(13, 29)
        >>> worst = f.element(4 * f.bound - 1, 4)
        >>> f.mul(worst, f.element(f.bound - 1, 1)).magnitude
        1
        >>> f.mul(worst, worst)
        Traceback (most recent call last):
        AssertionError
        """
        assert a.magnitude * b.magnitude <= MAX_PRODUCT
        return self.element(self._reduced(a.number * b.number), 1)

    def sqr(self, a: Element) -> Element:
        """``a^2``."""
        return self.mul(a, a)

    def add(self, a: Element, b: Element) -> Element:
        """``a + b``."""
        return self.element(a.number + b.number, a.magnitude + b.magnitude)

    def sub(self, a: Element, b: Element, k: int = 1) -> Element:
        """``a - b`` for b of magnitude at most k: ``a + k bound - b``."""
        assert b.magnitude <= k
        assert k in {1, 2, 4}
        multiple = k * self.bound if self.lazy else 0
        return self.element(a.number + multiple - b.number, a.magnitude + k)

    def neg(self, a: Element, k: int = 1) -> Element:
        """``-a`` for a of magnitude at most k."""
        return self.sub(self.zero(), a, k)

    def half(self, a: Element) -> Element:
        """``a / 2``: a, or a + n where a is odd, halved.

        >>> f = Field.in_lanes(13, 29)
        >>> [f.half(f.element(m * f.bound - 1, m)).magnitude for m in range(1, 8)]
        [1, 2, 2, 3, 3, 4, 4]
        """
        assert a.magnitude < MAX_MAGNITUDE
        even = a.number + self.n * (a.number % 2)
        return self.element(even // 2, a.magnitude // 2 + 1)

    def normalize_weak(self, a: Element, k: int = MAX_MAGNITUDE) -> Element:
        """``a`` with magnitude 1, for a of magnitude at most k: k/2, .., 2, 1 times the bound are subtracted.

        >>> f = Field.in_lanes(13, 29)
        >>> f.normalize_weak(f.element(8 * f.bound - 1, 8)) == f.element(f.bound - 1, 1)
        True
        """
        assert a.magnitude <= k
        assert k in {2, 4, 8}
        number = a.number
        while k > 1 and self.lazy:
            k //= 2
            if number >= k * self.bound:
                number -= k * self.bound
        return self.element(number, 1)

    def is_zero(self, a: Element) -> bool:
        """Whether an element of magnitude 1 stands for 0."""
        assert a.magnitude == 1
        return a.number % self.n == 0

    def equal(self, a: Element, b: Element) -> bool:
        """Whether two elements of magnitude 1 stand for the same residue."""
        assert a.magnitude == b.magnitude == 1
        return self.is_zero(self.normalize_weak(self.sub(a, b), 2))

    def inverse(self, a: Element) -> tuple[Element, bool]:
        """``1/a`` and True, or 0 and False where there is none.

        >>> f = Field.scalar(15)
        >>> [(f.to_int(r), exists) for r, exists in (f.inverse(f.from_int(x)) for x in (7, 6))]
        [(13, True), (0, False)]
        """
        x = self.to_int(a)
        if gcd(x, self.n) != 1:
            return self.zero(), False
        return self.from_int(pow(x, -1, self.n)), True
