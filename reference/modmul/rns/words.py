# SPDX-License-Identifier: Apache-2.0
"""One channel's arithmetic in 32-bit words: Montgomery's reduction, Shoup's product, remainders of byte sums.

Sources
-------
- P. L. Montgomery, *Modular Multiplication Without Trial Division* (1985).
- V. Shoup's product with a constant, in the form of D. Harvey, *Faster Arithmetic for Number-Theoretic
  Transforms* (2014).

Bound 1 of a residue means that it is corrected, to below m; a bound lambda above 1 means that the result, an
integer below lambda m, is not corrected. docs/rns/theory.md, "Channels of 32-bit words".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Bound = int | Fraction

WORD = 1 << 32


def largest_below(bound: Bound, m: int) -> int:
    """The largest integer below ``bound m``.

    >>> largest_below(Fraction(3, 2), 7), largest_below(2, 7)
    (10, 13)
    """
    limit = Fraction(bound) * m
    return -(-limit.numerator // limit.denominator) - 1


def corrected(v: int, m: int, word: int = WORD) -> int:
    """The residue of v < 2 m, by a minimum of words.

    >>> corrected(5, 7), corrected(12, 7)
    (5, 5)
    """
    assert 0 <= v < 2 * m <= word
    return min(v, (v - m) % word)


def reduction_holds(total: int, m: int, bound: Bound) -> bool:
    """Whether a total of at most ``total`` reduces to less than ``bound m`` in 32-bit words."""
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
        r = corrected(v, m)
    else:
        r = v
    assert 0 <= r <= largest_below(bound, m) < WORD
    assert (r * WORD - total) % m == 0
    return r


def shoup_quotient(c: int, m: int, word: int = WORD) -> int:
    """The second word of a constant c: ``floor(2^32 c / m)``."""
    assert 0 <= c < m
    return c * word // m


def shoup_holds(largest: int, m: int, bound: Bound) -> bool:
    """Whether products of x <= ``largest`` with constants are below ``bound m`` in 32-bit words."""
    return largest < WORD and Fraction(WORD + largest, WORD) <= bound and bound * m <= WORD


def shoup_product(x: int, c: int, m: int, word: int = WORD) -> int:
    """``x c mod m`` below ``(1 + x / 2^32) m``: a high word, and two low ones.

    >>> shoup_product(2**32 - 1, 5, 7) % 7 == (2**32 - 1) * 5 % 7
    True
    """
    assert 0 <= x < word
    quotient = x * shoup_quotient(c, m, word) // word
    r = (x * c - quotient * m) % word
    assert r == x * c - quotient * m, "more than a word"
    assert r * word < (word + x) * m
    return r


def remainder_holds(largest_low: int, largest_quotient: int, m: int, byte: int = 8) -> bool:
    """**range of remainder**: whether S_0 and q up to these have remainders below 2 m.

    >>> remainder_holds(2**31 - 2 * 19 - 100 * 19, 100, 2**31 - 19)
    True
    """
    half = 1 << (4 * byte - 1)
    delta = half - m
    return delta > 0 and largest_low + largest_quotient * delta <= half - 2 * delta


def largest_for_any_entries(byte_sum: int, m: int) -> tuple[int, int]:
    """The largest S_0 and q of bytes with at most this sum, times any entries below m.

    >>> largest_for_any_entries(2**17, 2**31 - 1)
    (33423360, 131071)
    """
    return 255 * byte_sum, byte_sum * (m - 1) >> 31


def largest_remainder(largest_low: int, largest_quotient: int, m: int, byte: int = 8) -> int:
    """The largest uncorrected remainder for S_0 and q up to these.

    >>> largest_remainder(255, 100, 2**31 - 19) == 2**31 - 2**8 + 255 + 1900
    True
    """
    half = 1 << (4 * byte - 1)
    return half - (1 << byte) + largest_low + largest_quotient * (half - m)


def remainder_quotient(sums: Sequence[int], narrow: bool, byte: int = 8) -> int:
    """``floor(P / 2^15)`` for ``P = S_2 + 2^8 S_3 + floor(S_1 / 2^8)``; ``narrow``: P is one word.

    >>> remainder_quotient([255, 255, 255, 2**24], False) == 2**24 >> 7
    True
    """
    word = 1 << (4 * byte)
    _, s1, s2, s3 = sums
    if narrow:
        high = s2 + (s3 << byte) + (s1 >> byte)
        assert high < word, "the narrow quotient overflows"
        return high >> (2 * byte - 1)
    middle = s2 + (s1 >> byte)
    high = s3 + (middle >> byte)
    assert middle < word > high
    return high >> (byte - 1)


def remainder(sums: Sequence[int], m: int, bound: Bound = 1, narrow: bool = False, byte: int = 8) -> int:
    """``T = S_0 + 2^8 S_1 + 2^16 S_2 + 2^24 S_3 mod m``, S_b < 2^31: in [0, m), or below 2 m.

    >>> remainder([1, 2, 3, 2**30], 2**31 - 1) == (1 + 2 * 2**8 + 3 * 2**16 + 2**54) % (2**31 - 1)
    True
    """
    word = 1 << (4 * byte)
    assert len(sums) == 4 and all(0 <= s < word >> 1 for s in sums)
    total = sum(s << (byte * b) for b, s in enumerate(sums))
    quotient = remainder_quotient(sums, narrow, byte)
    rest = total - quotient * (word >> 1)
    assert 0 <= rest <= (word >> 1) - (1 << byte) + sums[0]
    r = (total - quotient * m) % word
    assert r == total - quotient * m == rest + quotient * ((word >> 1) - m) < 2 * m
    return corrected(r, m, word) if bound == 1 else r
