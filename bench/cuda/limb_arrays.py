# SPDX-License-Identifier: Apache-2.0
"""Numbers as rows of limbs, for the benchmarks beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def random_limbs(random: np.random.Generator, items: int, bits: int) -> NDArray[np.uint64]:
    """Return random numbers of so many bits, a multiple of 64; the top bit of each limb is clear."""
    return random.integers(0, 2**63, (items, bits // 64), dtype=np.uint64)


def random_powers(
    random: np.random.Generator, items: int, bits: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return bases, exponents, and odd moduli whose top bit is set."""
    bases, exponents, moduli = (random_limbs(random, items, bits) for _ in range(3))
    moduli[:, 0] |= np.uint64(1)
    moduli[:, -1] |= np.uint64(1 << 63)
    return bases, exponents, moduli


def number(row: NDArray[np.uint64]) -> int:
    """Return the number of limbs."""
    return int.from_bytes(row.astype("<u8").tobytes(), "little")
