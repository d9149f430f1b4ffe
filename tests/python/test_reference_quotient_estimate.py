# SPDX-License-Identifier: Apache-2.0
"""The bounds of reductions by estimates of a quotient: all small numbers, and the edges of large ones."""

from __future__ import annotations

import random

import pytest
from reference.modmul import quotient_estimate as estimate


def check(a: int, p: int, error: int = 0) -> None:
    r = estimate.reduce(a, p, error)
    assert 0 <= r < 2 * p
    assert r % p == a % p


def test_all_numbers_modulo_small_primes() -> None:
    for p in range(3, 200, 2):
        for a in range(17 * p):
            check(a, p)


@pytest.mark.parametrize("bits", [11, 12, 13, 14, 20, 64, 255, 256, 381, 640])
def test_edges_of_quotients(bits: int) -> None:
    generator = random.Random(bits)
    lowest, highest = 1 << (bits - 1), (1 << bits) - 1
    unit = estimate.unit_bit(highest)
    primes = {lowest + 1, highest, lowest + (1 << unit) - 1, highest - (1 << unit) + 1 | 1}
    primes |= {generator.randrange(lowest + 1, highest, 2) for _ in range(20)}
    for p in primes:
        errors = range(-8, 9) if estimate.unit_bit(p) > 0 else [0]
        for multiple in range(1, 17):
            for a in (multiple * p, multiple * p + 1, (multiple + 1) * p - 1):
                for error in errors:
                    check(a, p, error)
