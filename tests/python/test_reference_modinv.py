# SPDX-License-Identifier: Apache-2.0
"""The oracle's inversion: exhaustive for small moduli and batch lengths, random for large."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.modinv.safegcd import (
    divstep,
    invert_fixed,
    invert_variable,
    invmod,
    iteration_bound,
    iteration_bound_half,
    transition,
)
from reference.modinv.simultaneous import invert_all


def python_inverse(x: int, n: int) -> int | None:
    return pow(x, -1, n) if math.gcd(x, n) == 1 else None


@pytest.mark.parametrize("steps", [2, 3, 6, 62])
def test_every_small_inverse(steps: int) -> None:
    for n in range(1, 130, 2):
        for x in range(n):
            expected = python_inverse(x, n)
            assert invert_fixed(x, n, steps) == expected
            assert invert_fixed(x, n, steps, half=True) == expected
            assert invert_variable(x, n, steps) == expected


@pytest.mark.parametrize("bits", range(2, 10))
def test_bounds_hold_for_every_small_pair(bits: int) -> None:
    """The longest run over all odd f < 2^bits and 0 <= g <= 2^bits stays within the stated bounds."""
    for start, bound in ((2, iteration_bound(bits)), (1, iteration_bound_half(bits))):
        longest = 0
        for f in range(1, 1 << bits, 2):
            # Theorem 11.2 is on f^2 + 4 g^2 <= 5 2^(2 bits).
            for g in range((1 << bits) + 1):
                eta2, a, b, count = start, f, g, 0
                while b:
                    eta2, a, b = divstep(eta2, a, b)
                    count += 1
                assert abs(a) == math.gcd(f, g)
                longest = max(longest, count)
        assert longest <= bound


@given(st.integers(-9, 9), st.integers(0, 2**62 - 1), st.integers(0, 2**62 - 1), st.integers(1, 62))
def test_matrix_equals_single_steps(eta2: int, half: int, g: int, steps: int) -> None:
    f = 2 * half + 1
    after, t = transition(eta2, f & ((1 << steps) - 1) | 1, g & ((1 << steps) - 1), steps)
    state = (eta2, f, g)
    for _ in range(steps):
        state = divstep(*state)
    assert state == (after, t.u * f + t.v * g >> steps, t.q * f + t.r * g >> steps)


@given(st.integers(-(2**600), 2**600), st.integers(0, 2**521))
@settings(max_examples=60, deadline=None)
def test_inverse_random(x: int, half: int) -> None:
    n = 2 * half + 1
    expected = python_inverse(x, n)
    assert invert_fixed(x, n) == expected
    assert invert_fixed(x, n, half=True) == expected
    assert invert_variable(x, n) == expected


@pytest.mark.parametrize("bits", [64, 128, 256, 1024, 2048])
def test_inverse_worst_cases(bits: int) -> None:
    for n in (2**bits - 1, 2 ** (bits - 1) + 1, 2**bits - 2 ** (bits // 2) + 1):
        for x in (0, 1, 2, n - 1, n - 2, n // 2, 2 ** (bits - 1), 3 * (n // 3)):
            expected = python_inverse(x, n)
            assert invert_fixed(x, n) == expected
            assert invert_fixed(x, n, half=True) == expected
            assert invert_variable(x, n) == expected


@given(st.lists(st.integers(-(2**70), 2**70), max_size=20), st.sampled_from([1, 9, 105, 2**61 - 1, 3**40]))
@settings(deadline=None)
def test_simultaneous_inversion(values: list[int], n: int) -> None:
    assert invert_all(values, n, partial(_invert, n=n)) == [python_inverse(x, n) for x in values]


def _invert(x: int, n: int) -> int:
    return invmod(x, n)


def test_simultaneous_inversion_needs_one_inversion_for_a_good_block() -> None:
    calls = 0

    def invert(x: int) -> int:
        nonlocal calls
        calls += 1
        return invmod(x, 2**61 - 1)

    invert_all(range(1, 1000), 2**61 - 1, invert)
    assert calls == 1
    calls = 0
    assert invert_all([*range(1, 513), 0], 2**61 - 1, invert)[-1] is None
    assert calls <= 2 * 10 + 1
