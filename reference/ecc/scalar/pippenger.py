# SPDX-License-Identifier: Apache-2.0
"""Sums of many multiples, ``sum k_t P_t``, by buckets.

Source: Pippenger 1976; signed digits halve the buckets. ``reference/modexp/multi.py`` is the same without
inverses.

:func:`fold` is how lanes add up buckets: in rounds of additions that do not depend on each other.

Equal points, opposite points and infinity meet in buckets whenever callers repeat a point: additions are
complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.modexp.recoding import signed_digit_count, signed_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.ecc.groups import Group

P = TypeVar("P")


def cost(terms: int, bits: int, width: int) -> int:
    """Additions and doublings: a window takes one addition a term, 2 2^(width - 1) for the buckets."""
    return signed_digit_count(bits, width) * (terms + (1 << width) + width)


def best_width(terms: int, bits: int) -> int:
    """The width of least :func:`cost`.

    >>> [best_width(terms, 256) for terms in (1, 100, 10_000, 1_000_000)]
    [2, 5, 10, 16]
    """
    return min(range(2, 17), key=lambda width: (cost(terms, bits, width), width))


def fold(group: Group[P], buckets: Sequence[P]) -> list[P]:
    """The sums ``T_i`` with ``sum (j + 1) B_j = sum 2^i T_i`` for 2^k buckets ``B_j``, k > 0.

    ``sum j B_j`` over 2 h buckets is that over h buckets ``B_j + B_(j + h)``, and h times the upper ones.
    """
    sums: list[P] = []
    rest = list(buckets)
    while len(rest) > 1:
        half = len(rest) // 2
        total = group.one()
        for bucket in rest[half:]:
            total = group.mul(total, bucket)
        sums.append(total)
        rest = [group.mul(low, high) for low, high in zip(rest[:half], rest[half:], strict=True)]
    sums.reverse()
    # All buckets once, beside bit 0 of j.
    sums[0] = group.mul(sums[0], rest[0])
    return sums


def multi_multiply(
    group: Group[P], scalars: Sequence[int], points: Sequence[P], bits: int, width: int | None = None
) -> P:
    """``sum k_t P_t``, windows from the top; the neutral element for no terms."""
    width = width or best_width(len(points), bits)
    columns = [signed_digits(k, width, bits) for k in scalars]
    result = group.one()
    for position in range(signed_digit_count(bits, width) - 1, -1, -1):
        for _ in range(width):
            result = group.sqr(result)
        buckets = [group.one()] * ((1 << (width - 1)) + 1)
        for point, column in zip(points, columns, strict=True):
            digit = column[position]
            if digit:
                addend = group.inv(point) if digit < 0 else point
                buckets[abs(digit)] = group.mul(buckets[abs(digit)], addend)
        running = total = group.one()
        for bucket in reversed(buckets[1:]):
            running = group.mul(running, bucket)
            total = group.mul(total, running)
        result = group.mul(result, total)
    return result
