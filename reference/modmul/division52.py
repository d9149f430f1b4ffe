# SPDX-License-Identifier: Apache-2.0
"""x y and x y + z mod n by long division in digits of 52 bits (technique division52), by estimated digits.

Source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the reciprocals in two digits and in
two doubles, and their bounds: own.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

__all__ = [
    "digits_for",
    "double",
    "in_digits",
    "in_doubles",
    "multiply_add",
    "reciprocal",
    "reciprocal_in_doubles",
]

DIGIT_BITS = 52
W = 1 << DIGIT_BITS
#: What the kernels' reciprocals are rounded down by, in units of W^-2.
RECIPROCAL_ERROR = 1 << 7


def digits_for(limbs: int) -> int:
    """Digits of a modulus of so many 64-bit limbs: at least one bit is left."""
    return limbs * 64 // DIGIT_BITS + 1


def reciprocal(d: int, digits: int, error: int = 0) -> int:
    """(W^L / D - 1) W^2, rounded down, less `error`.

    >>> reciprocal(3 * W**2 // 4, 2) * 3 // W**2
    0
    """
    assert W**digits <= 2 * d < 2 * W**digits, "D has its top bit"
    exact: int = W ** (digits + 2) // d - W**2
    return max(0, exact - error)


def double(x: Fraction) -> Fraction:
    """The double next to x toward zero, exponents aside.

    >>> double(Fraction(2**54 + 3)) == 2**54
    True
    """
    if x == 0:
        return x
    magnitude = abs(x)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    ulp = Fraction(2) ** (exponent - 53)
    while magnitude / ulp >= 1 << 53:
        ulp *= 2
    while magnitude / ulp < 1 << 52:
        ulp /= 2
    rounded = (magnitude // ulp) * ulp
    return rounded if x > 0 else -rounded


def reciprocal_in_doubles(d1: int, d0: int) -> tuple[Fraction, Fraction]:
    """V = W^L / D as v1 + v0, rounded down, from the top two digits of D.

    >>> reciprocal_in_doubles(W // 2, 0)[0] < 2
    True
    """
    a, b = Fraction(d1, W), Fraction(d0 + 1, W * W)
    v1 = double(1 / double(double(a + b) + Fraction(1, W)))
    missing = double(double(1 - a * v1) - b * v1)
    return v1, double(missing * v1)


Estimate = Callable[[int, int], int]


def in_digits(v: int) -> Estimate:
    """The quotient digit of the top two digits of a remainder by V = 1 + v / W^2, in integers."""
    v1, v0 = divmod(v, W)

    def estimate(first: int, second: int) -> int:
        # Each product by a digit of V is rounded down to what the sum keeps.
        low = second + first * v1 % W + (second * v1 >> DIGIT_BITS) + (first * v0 >> DIGIT_BITS)
        return first + (first * v1 >> DIGIT_BITS) + (low >> DIGIT_BITS)

    return estimate


def in_doubles(v1: Fraction, v0: Fraction) -> Estimate:
    """The same by V = v1 + v0 in doubles, each operation of which rounds toward zero."""

    def estimate(first: int, second: int) -> int:
        if first >= W:
            return W  # the lane is given up, whatever the digit
        whole = double(first * v1 + W)
        rest = double(first * v1 - (whole - W))
        assert rest == first * v1 - (whole - W), "both parts of the product are exact"
        below = double(second * (v1 / W) + double(first * v0))
        return int(double(whole + double(rest + below))) - W

    return estimate


def multiply_add(
    x: int, y: int, z: int, n: int, limbs: int, error: int = 0, *, doubles: bool = False
) -> int | None:
    """x y + z mod n, or None where the kernels give the lane up.

    They do at a remainder that is not below D, as an estimate that is too small may leave it. `error` is what
    a reciprocal in digits is rounded down by; `doubles`: estimates in doubles instead, by a second digit
    without the carry from below, which may be as much as 4 L.

    >>> multiply_add(5, 7, 12, 11, 1), multiply_add(5, 7, 12, 11, 1, doubles=True)
    (3, 3)
    """
    digits = digits_for(limbs)
    assert n.bit_length() > 64 * (limbs - 1) and n.bit_length() <= 64 * limbs, "n has its top limb"
    assert x.bit_length() <= n.bit_length(), "x fits"
    assert y.bit_length() <= 64 * limbs and z.bit_length() <= 64 * limbs, "y and z fit"
    shift = DIGIT_BITS * digits - n.bit_length()
    d = n << shift
    if doubles:
        top = d >> DIGIT_BITS * (digits - 2)
        estimate = in_doubles(*reciprocal_in_doubles(*divmod(top, W)))
    else:
        estimate = in_digits(reciprocal(d, digits, error))
    dividend = (x << shift) * y + (z << shift)
    remainder = dividend >> (DIGIT_BITS * digits)
    assert remainder < d, "the upper half is below D"
    for row in reversed(range(digits)):
        top = remainder >> (DIGIT_BITS * (digits - 2))
        first, second = divmod(max(0, top - 4 * digits) if doubles else top, W)
        q = estimate(first, second)
        if first >= W or q >= W:
            return None
        digit = dividend >> (DIGIT_BITS * row) & (W - 1)
        remainder = (remainder << DIGIT_BITS) + digit - q * d
        assert 0 <= remainder < 2 * d, "the estimate is never too large, and too small by less than 2"
    return remainder % d >> shift
