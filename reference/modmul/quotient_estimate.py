# SPDX-License-Identifier: Apache-2.0
"""Reductions modulo a prime p that is known at run time, of numbers a < 17 p to below 2 p.

As in Barrett 1986, with a quotient of few bits: the top bits of a times a reciprocal of those of p, without
carrying the digits below, so that the top of a is wrong by at most 16 units. The unit ``u = 2^unit_bit`` is
chosen such that p has 12 bits in units; see ``src/modmul/montgomery_lanes/arithmetic.hpp``.
"""

from __future__ import annotations

UNIT_BITS = 12
RECIPROCAL_BITS = 32


def unit_bit(p: int) -> int:
    """log2 of the unit.

    >>> [unit_bit(p) for p in (5, 4095, 2**256 - 189)]
    [0, 0, 244]
    """
    return max(p.bit_length() - UNIT_BITS, 0)


def slack(p: int) -> int:
    """What is taken off the top of a: as much as digits that are not carried may be worth."""
    return 8 if unit_bit(p) > 0 else 0


def reciprocal(p: int) -> int:
    """floor(2^32 / P), P the least number of units above p, or p itself in units of 1."""
    unit = unit_bit(p)
    return (1 << RECIPROCAL_BITS) // ((p >> unit) + (1 if unit > 0 else 0))


def reduce(a: int, p: int, error: int = 0) -> int:
    """a less a multiple of p, below 2 p.

    On input: p <= a < 17 p, or 0 <= a in units of 1; -8 <= error <= 8, and 0 in units of 1: by how much the
    top of a is wrong.

    >>> reduce(1000, 101)
    91
    """
    top = (a >> unit_bit(p)) + error - slack(p)
    return a - (top * reciprocal(p) >> RECIPROCAL_BITS) * p
