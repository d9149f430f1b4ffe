# SPDX-License-Identifier: Apache-2.0
"""How many vpmadd52 the operations need at least, in 52-bit digits with eight instances in a vector.

The count is of digit products alone: carries, table selection, conversions and loads come on top in any real
kernel and share the ports. With L = ceil(bits / 52) digits, and two instructions for a digit product (its low
and its high half):

* a product takes 2L^2, a square L(L+1) (the products off the diagonal once, then doubled);
* a Montgomery reduction takes 2L^2 + L (L quotient digits, one low half each, times L digits);
* a power of a `bits`-bit exponent by fixed windows of w bits takes bits - w squarings, ceil(bits / w) - 1
  multiplications by table entries and 2^w - 2 multiplications to make the table; w from 4 to 6, the cheapest;
* a modular multiplication takes two Montgomery multiplications.

>>> power_cost(1024), power_cost(2048), power_cost(4096)
(1638160, 12560280, 95855282)
"""

from __future__ import annotations

__all__ = ["LANES", "LIMIT", "montgomery_product_cost", "montgomery_square_cost", "mulmod_cost", "power_cost"]

#: Name of the loop whose rate is the limit.
LIMIT = "vpmadd52_zmm"
#: Instances in a vector.
LANES = 8


def _digits(bits: int) -> int:
    return -(-bits // 52)


def _reduction(digits: int) -> int:
    return 2 * digits * digits + digits


def _montgomery_product(digits: int) -> int:
    return 2 * digits * digits + _reduction(digits)


def _montgomery_square(digits: int) -> int:
    return digits * (digits + 1) + _reduction(digits)


def montgomery_product_cost(bits: int) -> int:
    """Instructions of one vector of Montgomery multiplications."""
    return _montgomery_product(_digits(bits))


def montgomery_square_cost(bits: int) -> int:
    """Instructions of one vector of Montgomery squarings."""
    return _montgomery_square(_digits(bits))


def mulmod_cost(bits: int) -> int:
    """Instructions of one vector of modular multiplications."""
    return 2 * _montgomery_product(_digits(bits))


def power_cost(bits: int) -> int:
    """Instructions of one vector of modular powers, modulus and exponent of `bits` bits."""
    digits = _digits(bits)

    def with_window(width: int) -> int:
        products = -(-bits // width) - 1 + (1 << width) - 2
        return (bits - width) * _montgomery_square(digits) + products * _montgomery_product(digits)

    return min(with_window(width) for width in (4, 5, 6))
