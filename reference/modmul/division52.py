# SPDX-License-Identifier: Apache-2.0
"""x y and x y + z mod n by long division in digits of 52 bits (technique division52), by estimated digits.

Source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the reciprocal in two digits: own.
"""

from __future__ import annotations

__all__ = ["digits_for", "multiply_add", "reciprocal"]

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


def multiply_add(x: int, y: int, z: int, n: int, limbs: int, error: int = 0) -> int | None:
    """x y + z mod n, or None where the kernels give the lane up.

    They do at a remainder that is not below D, as an estimate that is too small may leave it.

    >>> multiply_add(5, 7, 12, 11, 1)
    3
    """
    digits = digits_for(limbs)
    assert n.bit_length() > 64 * (limbs - 1) and n.bit_length() <= 64 * limbs, "n has its top limb"
    assert x.bit_length() <= n.bit_length(), "x fits"
    assert y.bit_length() <= 64 * limbs and z.bit_length() <= 64 * limbs, "y and z fit"
    shift = DIGIT_BITS * digits - n.bit_length()
    d = n << shift
    v = reciprocal(d, digits, error)
    dividend = (x << shift) * y + (z << shift)
    remainder = dividend >> (DIGIT_BITS * digits)
    assert remainder < d, "the upper half is below D"
    for row in reversed(range(digits)):
        first, second = divmod(remainder >> (DIGIT_BITS * (digits - 2)), W)
        # Each product by a digit of V is rounded down to what the sum keeps.
        v1, v0 = divmod(v, W)
        low = second + first * v1 % W + (second * v1 >> DIGIT_BITS) + (first * v0 >> DIGIT_BITS)
        q = first + (first * v1 >> DIGIT_BITS) + (low >> DIGIT_BITS)
        if first >= W or q >= W:
            return None
        digit = dividend >> (DIGIT_BITS * row) & (W - 1)
        remainder = (remainder << DIGIT_BITS) + digit - q * d
        assert 0 <= remainder < 2 * d, "the estimate is never too large, and too small by less than 2"
    return remainder % d >> shift
