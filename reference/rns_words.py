# SPDX-License-Identifier: Apache-2.0
"""One channel's arithmetic in 32-bit words: Montgomery's reduction with and without its correction.

Source: P. L. Montgomery, *Modular Multiplication Without Trial Division* (1985). A residue bound 1 means
corrected, below m; a bound lambda above 1 means that the result, an integer below lambda m, is left as it is.
docs/rns.md, "Channels of 32-bit words".
"""

from __future__ import annotations

from fractions import Fraction

Bound = int | Fraction

WORD = 1 << 32


def largest_below(bound: Bound, m: int) -> int:
    """Largest integer below ``bound m``.

    >>> largest_below(Fraction(3, 2), 7), largest_below(2, 7)
    (10, 13)
    """
    limit = Fraction(bound) * m
    return -(-limit.numerator // limit.denominator) - 1


def reduction_holds(total: int, m: int, bound: Bound) -> bool:
    """A total of at most ``total`` reduces to less than ``bound m`` in 32-bit words."""
    if bound == 1:
        return total < m * WORD and 2 * m <= WORD
    return total <= (bound - 1) * WORD * m and bound * m <= WORD


def montgomery_reduce(total: int, m: int, bound: Bound = 1) -> int:
    """``total / 2^32 mod m``: in [0, m) by a minimum of words, or below ``bound m``.

    >>> [montgomery_reduce(5 * 2**32 + 7, 7, bound) for bound in (1, 2)]
    [5, 12]
    """
    q = -total * pow(m, -1, WORD) % WORD
    assert 0 <= total <= total + q * m < 1 << 64
    v = (total + q * m) >> 32
    if bound == 1:
        assert total < m * WORD
        r = min(v, (v - m) % WORD)
    else:
        r = v
    assert 0 <= r <= largest_below(bound, m) < WORD
    assert (r * WORD - total) % m == 0
    return r
