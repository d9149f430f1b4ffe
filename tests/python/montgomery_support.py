# SPDX-License-Identifier: Apache-2.0
"""What the tests of several Montgomery multiplications of the oracle have in common."""

from __future__ import annotations

from typing import Any

__all__ = ["power"]


def power(m: Any, base: int, exponent: int) -> int:
    """The value of a power that the products and squares of `m` give, from the exponent's top bit on."""
    result, factor = m.residue(1), m.residue(base)
    for bit in f"{exponent:b}":
        result = m.sqr(result)
        if bit == "1":
            result = m.mul(result, factor)
    value: int = m.value(result)
    return value
