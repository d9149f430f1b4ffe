# SPDX-License-Identifier: Apache-2.0
"""The result that each operation must have: by Python's integers, or by GMP where gmpy2 is installed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

try:
    import gmpy2
except ImportError:
    gmpy2 = None

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, ZERO_MODULUS, NOT_INVERTIBLE, EVEN_MODULUS = 0, 1, 2, 3
"""Item statuses of the C ABI (``MM_OK``, ``MM_ITEM_*``)."""

PYTHON_LIMIT = 1 << 27
"""Above this many bit operations (length^2 times exponent length) GMP computes."""

INVERSE_LIMIT = 2048
"""GMP computes inverses modulo longer moduli."""


@dataclass(frozen=True)
class Answer:
    """Result and status of one item; the result is 0 where the status is not ``OK``."""

    value: int
    status: int = OK


def power(x: int, y: int, n: int) -> int:
    """``pow(x, y, n)`` for n != 0; ``ValueError`` where the inverse that it needs does not exist.

    Python computes signs and everything that is cheap, GMP long powers modulo |n|.
    """
    bits = abs(n).bit_length()
    if gmpy2 is None or bits * bits * abs(y).bit_length() <= PYTHON_LIMIT:
        return pow(x, y, n)
    if y < 0:
        x, y = inverse(x, n), -y
    return int(gmpy2.powmod(x, y, abs(n))) % n


def inverse(x: int, n: int) -> int:
    """``pow(x, -1, n)`` for gcd(x, n) = 1; GMP computes long inverses."""
    if gmpy2 is None or n.bit_length() <= INVERSE_LIMIT:
        return pow(x, -1, n)
    return int(gmpy2.invert(x, abs(n))) % n


def answer(op: str, x: int, y: int, n: int, *, secret: bool = False) -> Answer:
    """The answer of ``op`` (a name of the public interface) on x, y and n; unused operands are ignored."""
    if n == 0:
        return Answer(0, ZERO_MODULUS)
    if secret and n % 2 == 0:
        return Answer(0, EVEN_MODULUS)
    needs_inverse = op == "invmod" or (op == "powmod" and y < 0)
    if needs_inverse and math.gcd(x, n) != 1:
        return Answer(0, NOT_INVERTIBLE)
    if op == "powmod":
        return Answer(power(x, y, n))
    if op == "invmod":
        return Answer(inverse(x, n))
    value = {"addmod": x + y, "submod": x - y, "negmod": -x, "mulmod": x * y, "sqrmod": x * x}[op]
    return Answer(value % n)


def product_of_powers(bases: Sequence[int], exponents: Sequence[int], n: int) -> Answer:
    """The answer of ``multi_powmod`` for one item."""
    value = 1
    for x, y in zip(bases, exponents, strict=True):
        factor = answer("powmod", x, y, n)
        if factor.status != OK:
            return factor
        value = value * factor.value
    return Answer(value % n) if n else Answer(0, ZERO_MODULUS)
