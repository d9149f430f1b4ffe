# SPDX-License-Identifier: Apache-2.0
"""What the pipe that a technique's products go through allows, if it never waited and nothing else took time.

On CPUs with AVX-512 IFMA the count of vpmadd52 (`manymod.cli.bench.limit`) by their measured rate. On GPUs
the products of digits by what a multiprocessor starts in a clock, as `bench/cuda/pipe_limits.hpp` has it;
of `rns`, whose pipes that file counts, no limit is given here.
"""

from __future__ import annotations

from dataclasses import dataclass

from manymod import _core
from manymod.cli.bench.limit import (
    LANES,
    LIMIT,
    montgomery_product_cost,
    montgomery_square_cost,
    mulmod_cost,
    power_cost,
)

__all__ = ["Operations", "cpu_limit", "gpu_limit", "power_operations"]

_READING = 0.01
_WINDOWS = (4, 5, 6)


@dataclass(frozen=True)
class Operations:
    """Montgomery multiplications and squarings of one operation."""

    products: float
    squares: float


def power_operations(bits: int) -> Operations:
    """Of a power of a `bits`-bit exponent by fixed windows, the cheapest of 4 to 6 bits.

    >>> power_operations(1024)
    Operations(products=232, squares=1018)
    """
    costs = [Operations(-(-bits // w) - 1 + (1 << w) - 2, bits - w) for w in _WINDOWS]
    return min(costs, key=lambda cost: cost.products + cost.squares)


def _clocks(technique: str, bits: int) -> tuple[float, float] | None:
    """Clocks of a multiprocessor for a multiplication and a squaring."""
    words = -(-bits // 32)
    if technique.startswith("rns"):
        return None
    if technique.startswith("fios.radix16"):
        digits, a_clock, factor = 2 * words, 64.0, 1
    elif technique.startswith("two_pass16"):
        reduction = 4 * words**2 + 2 * words
        return (4 * words**2 + reduction) / 64, (2 * words**2 + words + reduction) / 64
    elif technique.startswith("dpf52"):
        digits, a_clock, factor = -(-(bits + 2) // 52), 64.0, 3
    else:
        digits, a_clock, factor = words, 32.0, 1
    reduction = digits**2 + digits
    square = digits * (digits + 1) // 2
    return factor * (digits**2 + reduction) / a_clock, factor * (square + reduction) / a_clock


def gpu_limit(
    technique: str, bits: int, operations: Operations, multiprocessors: int, mhz: float
) -> float | None:
    """Operations a second of a GPU; None for techniques whose pipes are not counted here.

    >>> gpu_limit("row32", 256, Operations(1, 0), 132, 1980.0)
    61496470588.23529
    """
    clocks = _clocks(technique, bits)
    if clocks is None:
        return None
    product, square = clocks
    return multiprocessors * mhz * 1e6 / (operations.products * product + operations.squares * square)


def cpu_limit(operation: str, bits: int, threads: int) -> float | None:
    """Operations a second of so many threads; None without AVX-512 IFMA, or for an operation not counted."""
    costs = {
        "power": power_cost,
        "multiply": montgomery_product_cost,
        "square": montgomery_square_cost,
        "mulmod": mulmod_cost,
    }
    rate = _core.instruction_rate(LIMIT, _READING)
    if rate is None or operation not in costs:
        return None
    return threads * LANES * rate / costs[operation](bits)
