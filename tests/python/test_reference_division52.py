# SPDX-License-Identifier: Apache-2.0
"""The oracle of division52: quotient digits are never too large, and lanes are given up only at long runs."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from reference.modmul.division52 import RECIPROCAL_ERROR, W, multiply_add, reciprocal_in_doubles


@pytest.mark.parametrize("limbs", [1, 2, 3, 4, 6, 8, 13, 16])
def test_products_of_random_numbers(limbs: int) -> None:
    source = random.Random(limbs)
    for _ in range(100):
        n = source.getrandbits(64 * limbs) | 1 << source.randrange(64 * (limbs - 1) + 1, 64 * limbs)
        x, y = source.randrange(n), source.randrange(n)
        for z in (0, source.getrandbits(64 * limbs)):
            for error in (0, RECIPROCAL_ERROR):
                assert multiply_add(x, y, z, n, limbs, error) == (x * y + z) % n
            assert multiply_add(x, y, z, n, limbs, doubles=True) == (x * y + z) % n


@pytest.mark.parametrize("limbs", [1, 2, 4, 16])
def test_products_next_to_powers_of_two(limbs: int) -> None:
    top = 1 << 64 * limbs
    for n in (top - 1, top - 2, top // 2, top // 2 + 1, top // 3, 3 * top // 4):
        for x in (0, 1, 2, n - 1, n // 2, n - n // 3):
            for y in (0, 1, n - 1, n // 2 + 1):
                for z in (0, n, top - 1):
                    found = multiply_add(x, y, z, n, limbs, RECIPROCAL_ERROR)
                    assert found in ((x * y + z) % n, None)
                    assert multiply_add(x, y, z, n, limbs, doubles=True) in ((x * y + z) % n, None)


def test_reciprocals_in_doubles_are_rounded_down() -> None:
    source = random.Random(1)
    half = W // 2
    for d1 in (half, half + 1, W - 1, W - 2, *(source.randrange(half, W) for _ in range(200))):
        for d0 in (0, 1, W - 1, source.randrange(W)):
            v1, v0 = reciprocal_in_doubles(d1, d0)
            assert abs(v0) < Fraction(1, 1 << 48)
            # D / W^L is less than (d1 W + d0 + 1) / W^2, and at least (d1 W + d0) / W^2.
            assert v1 + v0 <= Fraction(W * W, d1 * W + d0 + 1)
            assert Fraction(W * W, d1 * W + d0) - v1 - v0 < Fraction(1, 1 << 94)


@pytest.mark.parametrize("limbs", [1, 2, 5, 16])
def test_greatest_dividends(limbs: int) -> None:
    """The oracle asserts that the upper half is below D."""
    top = (1 << 64 * limbs) - 1
    for bits in range(64 * limbs - 63, 64 * limbs + 1):
        for n in (1 << bits - 1, (1 << bits) - 1, 3 << bits >> 2):
            x = (1 << bits) - 1
            found = multiply_add(x, top, top, n, limbs, RECIPROCAL_ERROR)
            assert n < 2 or found in ((x * top + top) % n, None)
