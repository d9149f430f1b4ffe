# SPDX-License-Identifier: Apache-2.0
"""Integers that lean towards the edges of words, digits and limbs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from manymod import IntArray

__all__ = [
    "EDGE_BITS",
    "edge_values",
    "integers",
    "ints_of_bytes",
    "ints_of_limbs",
    "limbs_of",
    "mixed",
    "positive",
]

#: Around CPython's 30-bit digits, 64-bit limbs, blocks of 32 digits (15 limbs), and wide.
EDGE_BITS = (
    1,
    2,
    29,
    30,
    31,
    59,
    60,
    61,
    63,
    64,
    65,
    89,
    90,
    127,
    128,
    129,
    256,
    930,
    959,
    960,
    961,
    1919,
    2048,
    4099,
)


def edge_values() -> Iterator[int]:
    """0, powers of two and their neighbours, long runs of ones; both signs."""
    yield 0
    for bits in EDGE_BITS:
        power = 1 << bits
        for value in (power - 1, power, power + 1, (power - 1) ^ (power >> 1), power - (1 << bits // 2)):
            yield value
            yield -value


def positive(max_bits: int = 4200) -> st.SearchStrategy[int]:
    """Non-negative integers, edge-biased."""
    bits = st.one_of(st.sampled_from([b for b in EDGE_BITS if b <= max_bits]), st.integers(1, max_bits))
    near_power = st.builds(lambda b, d: max(0, (1 << b) + d), bits, st.integers(-2, 2))
    run_of_ones = st.builds(lambda high, low: abs((1 << high) - (1 << low)), bits, bits)
    uniform = bits.flatmap(lambda b: st.integers(0, (1 << b) - 1))
    return st.one_of(st.integers(0, 3), near_power, run_of_ones, uniform)


def integers(max_bits: int = 4200) -> st.SearchStrategy[int]:
    """Integers of both signs, edge-biased."""
    return st.builds(lambda value, negative: -value if negative else value, positive(max_bits), st.booleans())


def mixed(source: random.Random, count: int, max_bits: int, *, signed: bool = True) -> list[int]:
    """`count` random integers of mixed widths."""
    values = [source.getrandbits(source.randrange(1, max_bits + 1)) for _ in range(count)]
    return [-value if signed and source.random() < 0.5 else value for value in values]


def limbs_of(values: list[int]) -> Any:
    """Limbs of integers, uint64[N, L]."""
    return IntArray.from_ints(values).limbs


def ints_of_limbs(limbs: Any) -> list[int]:
    """The integers of an answer that must be limbs."""
    assert limbs.dtype == np.uint64
    return IntArray.from_limbs(limbs).to_ints()


def ints_of_bytes(rows: Any) -> list[int]:
    """The integers of an answer that must be bytes."""
    assert isinstance(rows, np.ndarray)
    return IntArray.from_bytes(rows).to_ints()
