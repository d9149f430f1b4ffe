# SPDX-License-Identifier: Apache-2.0
"""Many inverses modulo one n from a single inversion.

Source: P. L. Montgomery, *Speeding the Pollard and elliptic curve methods of factorization*, Math. Comp. 48
(1987), section 10.3.1: invert the product of all, then peel the factors off from the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def invert_all(values: Sequence[int], n: int, invert: Callable[[int], int]) -> list[int | None]:
    """Inverse of each value modulo ``n``, ``None`` for those that have none.

    ``invert`` raises ``ValueError`` where there is no inverse. A product is invertible exactly if all its
    factors are: where the whole block fails, it is halved until the culprits stand alone, so g bad items in
    a block of N cost O(g log N) inversions.

    >>> from reference.modinv.safegcd import invmod
    >>> invert_all([1, 2, 3, 4], 9, lambda x: invmod(x, 9))
    [1, 5, None, 7]
    """
    if not values:
        return []
    prefix = [values[0] % n]
    for value in values[1:]:
        prefix.append(prefix[-1] * value % n)
    try:
        running = invert(prefix[-1])
    except ValueError:
        if len(values) == 1:
            return [None]
        half = len(values) // 2
        return invert_all(values[:half], n, invert) + invert_all(values[half:], n, invert)
    result: list[int | None] = [None] * len(values)
    for i in range(len(values) - 1, 0, -1):
        result[i] = running * prefix[i - 1] % n
        running = running * values[i] % n
    result[0] = running % n
    return result
