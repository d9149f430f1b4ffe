# SPDX-License-Identifier: Apache-2.0
"""Integers biased towards what breaks modular arithmetic, from a seeded generator.

Uniformly random operands almost never carry across several words, reach the boundary of a conditional
subtraction, or have a zero word. These operands often do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

LIMB_BITS = 64

EDGE_WIDTHS = tuple(
    sorted(
        {1, 2, 3, 7, 8, 31, 32, 33, 521, 16383, 16384}
        | {limbs * LIMB_BITS + offset for limbs in (1, 2, 3, 4, 6, 8, 9, 16, 32, 64) for offset in (-1, 0, 1)}
        | {320, 448, 640, 1536, 3072, 8192}
    )
)
"""Bit lengths around limb boundaries and around the sizes with separate code, and the common key sizes."""


def runs(rng: random.Random, bits: int) -> int:
    """An integer of at most ``bits`` bits made of long runs of ones and zeros."""
    value, position, ones = 0, 0, rng.random() < 0.5
    while position < bits:
        length = min(bits - position, rng.choice((1, 2, 31, 32, 33, 63, 64, 65, rng.randrange(1, bits + 1))))
        if ones:
            value |= ((1 << length) - 1) << position
        position, ones = position + length, not ones
    return value


def limb_pattern(rng: random.Random, bits: int) -> int:
    """An integer below ``2**bits`` whose limbs are each one of the edge values 0, 1, 2^63, 2^64 - 1, .."""
    limbs = -(-bits // LIMB_BITS)
    edge = (0, 1, 2, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, (1 << 64) - 2, rng.getrandbits(64))
    value = sum(rng.choice(edge) << (LIMB_BITS * i) for i in range(limbs))
    return value & ((1 << bits) - 1)


def exact_width(value: int, bits: int) -> int:
    """``value`` cut to ``bits`` bits with the top bit set."""
    return (value & ((1 << bits) - 1)) | 1 << (bits - 1)


def moduli(rng: random.Random, bits: int, *, odd: bool) -> list[int]:
    """Moduli of exactly ``bits`` bits, at least one modulus; only odd ones if ``odd``.

    All ones; the top bit alone (and the low bit if odd); a low limb of all ones (n0' = 1) and of 1
    (n0' = -1); limbs of edge values; runs; uniform. Even ones: 2^k m for k at and around limb boundaries.
    """
    ones, top = (1 << bits) - 1, 1 << (bits - 1)
    low_limb = (1 << LIMB_BITS) - 1
    chosen = [
        ones,
        top | 1,
        ones ^ (low_limb - 1) if bits > LIMB_BITS else ones,
        exact_width(top | low_limb, bits),
        ones - (1 << (bits // 2)) if bits > 2 else ones,
        exact_width(limb_pattern(rng, bits), bits) | 1,
        exact_width(runs(rng, bits), bits) | 1,
        exact_width(rng.getrandbits(bits), bits) | 1,
    ]
    if odd:
        return [n | 1 for n in chosen]
    chosen += [top, ones - 1 if bits > 1 else ones]
    for k in {1, 2, 63, 64, 65, 128, bits // 2, bits - 2}:
        if 0 < k < bits:
            chosen.append(exact_width((rng.getrandbits(bits) | 1) << k, bits))
    return chosen


def operands(rng: random.Random, n: int, count: int) -> list[int]:
    """``count`` integers of any sign and size, most of them near boundaries of arithmetic modulo ``n``."""
    bits = abs(n).bit_length() or 1
    limb_top = 1 << (-(-bits // LIMB_BITS) * LIMB_BITS)
    near = [0, 1, 2, abs(n) - 1, abs(n), abs(n) + 1, 2 * abs(n) - 1, limb_top - 1, limb_top, 1 << (bits - 1)]
    result = []
    for _ in range(count):
        kind = rng.randrange(8)
        if kind < 3:
            value = rng.choice(near)
        elif kind == 3:
            value = (1 << rng.randrange(bits + 1)) - rng.randrange(2)
        elif kind == 4:
            value = limb_pattern(rng, bits)
        elif kind == 5:
            value = runs(rng, bits)
        elif kind == 6:
            value = rng.getrandbits(rng.choice((2 * bits, 2 * bits + 1, 3 * bits + 64)))
        else:
            value = rng.getrandbits(bits)
        result.append(-value if rng.random() < 0.25 else value)
    return result


def exponents(rng: random.Random, bits: int, count: int) -> list[int]:
    """``count`` exponents of at most ``bits`` bits: 0, 1, powers of two, long runs, uniform."""
    result = []
    for _ in range(count):
        kind = rng.randrange(6)
        if kind == 0:
            value = rng.choice((0, 1, 2, 3, 65537)) & ((1 << bits) - 1)
        elif kind == 1:
            value = (1 << rng.randrange(bits + 1)) - 1
        elif kind == 2:
            value = 1 << rng.randrange(bits)
        elif kind == 3:
            value = runs(rng, bits)
        else:
            value = rng.getrandbits(bits)
        result.append(value)
    return result
