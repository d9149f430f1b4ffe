# SPDX-License-Identifier: Apache-2.0
"""Montgomery products with digits by sums: all numbers of a toy width, and binary32 at the ends of ranges."""

from __future__ import annotations

import math
import random

from reference.modmul.rns_float.binary_float import BinaryFloat
from reference.modmul.rns_float.centred import reduce
from reference.modmul.rns_float.summed import SummedMontgomery, centred

#: Products above 2^(5 + 2); 4 terms of 18 / 2 times 16 / 2 and a remainder are values of 9 bits.
TOY_B, TOY_A = (7, 5, 11), (13, 17)
#: The largest primes of half words in turn: products above 2^(64 + 2).
B = (4093, 4073, 4057, 4027, 4021, 4007)
A = (4091, 4079, 4051, 4049, 4019, 4013)
BITS = 64


def szabo_tanaka(base: tuple[int, ...], x: int) -> list[int]:
    """Return the digits by divisions of all channels at each step."""
    f = BinaryFloat()
    rest = [centred(x, m) for m in base]
    digits = []
    for i, m in enumerate(base):
        digits.append(reduce(f, m, rest[i]))
        rest = [centred((r - digits[i]) * pow(m, -1, q), q) if j > i else 0
                for j, (r, q) in enumerate(zip(rest, base, strict=True))]  # fmt: skip
    return digits


def test_every_product_of_a_toy_width() -> None:
    f = BinaryFloat(9)
    for n in (3, 29, 31):
        multiplier = SummedMontgomery(TOY_B, TOY_A, n, f)
        inverse = pow(math.prod(TOY_B), -1, n)
        for x in range(32):
            for y in range(n):
                product = multiplier.mul(multiplier.element(x), multiplier.element(y))
                assert multiplier.integer(product) == x * y * inverse % n


def test_chains_at_the_ends() -> None:
    draw = random.Random(3)
    for n in (2**BITS - 59, 2**BITS - 1, 3, draw.getrandbits(BITS) | 1):
        multiplier = SummedMontgomery(B, A, n)
        inverse = pow(math.prod(B), -1, n)
        for x in (2**BITS - 1, 0, 1, draw.getrandbits(BITS)):
            element, value = multiplier.element(x), x
            for _ in range(3):
                element, value = multiplier.mul(element, element), value * value * inverse % n
            last = multiplier.mul(element, multiplier.element(n - 1))
            assert multiplier.integer(last) == -value * inverse % n


def test_digits_are_those_of_szabo_and_tanaka() -> None:
    multiplier = SummedMontgomery(B, A, 3)
    draw = random.Random(4)
    for x in (0, 1, math.prod(B) - 1, draw.getrandbits(BITS)):
        assert multiplier.digits(B, multiplier.over_places(B, x)) == szabo_tanaka(B, x)
