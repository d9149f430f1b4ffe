# SPDX-License-Identifier: Apache-2.0
"""Random operands of measurements: odd moduli of full length, and other numbers below all such moduli."""

from __future__ import annotations

import random

import numpy as np

from manymod._limbs import Limbs, limbs_for

__all__ = ["Item", "full_length", "odd_moduli", "random_items", "residues"]

#: Base or factor, exponent or factor, modulus.
Item = tuple[int, int, int]


def random_items(bits: int, count: int, *, shared: bool, powers: bool, seed: int) -> list[Item]:
    """Random items of an operation on two operands, as Python integers.

    Args:
        bits: length of the moduli, all bits of which count: the highest one is set.
        count: number of items.
        shared: whether all of them have one modulus.
        powers: the second operand is an exponent as long as the modulus, otherwise a number below it.
        seed: of the random numbers.

    >>> [(x < n, y < n, n % 2, n.bit_length()) for x, y, n in random_items(
    ...     64, 2, shared=False, powers=False, seed=1)]
    [(True, True, 1, 64), (True, True, 1, 64)]
    """
    source = random.Random(seed)  # noqa: S311 - operands to time, no keys
    top = 1 << (bits - 1)
    shared_modulus = source.getrandbits(bits) | top | 1
    items = []
    for _ in range(count):
        n = shared_modulus if shared else source.getrandbits(bits) | top | 1
        y = source.getrandbits(bits) | top if powers else source.randrange(n)
        items.append((source.randrange(n), y, n))
    return items


def _below(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random numbers below 2^bits, one a row."""
    limbs = source.integers(0, 1 << 64, size=(count, limbs_for(bits)), dtype=np.uint64)
    limbs[:, -1] &= np.uint64((2 << (bits - 1) % 64) - 1)
    return limbs


def full_length(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random numbers of exactly `bits` bits, ``uint64[count, L]``."""
    limbs = _below(source, count, bits)
    limbs[:, -1] |= np.uint64(1 << (bits - 1) % 64)
    return limbs


def odd_moduli(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random odd numbers of exactly `bits` bits, ``uint64[count, L]``."""
    limbs = full_length(source, count, bits)
    limbs[:, 0] |= np.uint64(1)
    return limbs


def residues(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random numbers below 2^(bits - 1), and so below every modulus of `bits` bits, ``uint64[count, L]``."""
    limbs = _below(source, count, bits)
    limbs[:, -1] &= np.uint64((1 << (bits - 1) % 64) - 1)
    return limbs
