# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication of one instance across a vector; quotient digits take no multiplication.

Form
----
Radix W = 2^w, L digits, R = W^L, n odd, k0 = -n^-1 mod W. The multiple m = n k0 of n is -1 modulo W, so
m' = (m + 1) / W is an integer and a round's quotient digit is the lowest digit of T itself::

    q = T mod W
    (T + q m) / W = (T - q) / W + q m'

Moduli of this shape are Montgomery-friendly: M. Knezevic, F. Vercauteren, I. Verbauwhede, *Speeding Up
Bipartite Modular Multiplication*, WAIFI 2010. Here all rounds but the last two reduce by this multiple, and
the last two by n itself; the operands and the result stay below 2n.

Vectors
-------
T is a row of digits with room above w bits. The low and the high halves of a product of digits are added at
their places in the row; the quotient digit of round i - 1 reaches place 0 of round i by its low half alone,
the high half comes one round later. Only place 0 passes a carry on before the end.

Bound. With q_i < W, and m < W n,

    r = (a b + sum_{i < L-2} q_i W^i m + sum_{i >= L-2} q_i W^i n) / R < a b / R + n / W + n.

With R >= 8n: a, b < 2n + n / W give r < 2n (below 1.6 n for W >= 16); a < R, b <= n give r < 2n + n / W.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words


@dataclass(frozen=True)
class RowModulus:
    """n, k0 and m' = (n k0 + 1) / W as exact digits."""

    w: int
    n: Words
    k0: int
    friendly: Words

    @staticmethod
    def of(n: int, w: int, digits: int) -> RowModulus:
        """Prepare an odd n with 8n <= R.

        >>> modulus = RowModulus.of(7, 4, 4)
        >>> modulus.k0, from_words(modulus.friendly, 4) * 16 - 1
        (9, 63)
        """
        radix = 1 << w
        if n % 2 == 0 or 8 * n > radix**digits:
            raise ValueError("n must be odd and at most R / 8")
        k0 = -word_inverse(n % radix, w) % radix
        assert (n * k0 + 1) % radix == 0
        friendly = (n * k0 + 1) // radix
        assert friendly <= n
        return RowModulus(w, to_words(n, digits, w), k0, to_words(friendly, digits, w))

    def mul(self, a: int, b: int) -> int:
        """``a b / R mod n``, below 2n + n / W, for a, b < 2n + n / W or a < R, b <= n.

        >>> n = 2**60 - 93
        >>> r = RowModulus.of(n, 16, 4).mul(n - 2, n - 3)
        >>> r < 2 * n and r % n == 6 * pow(2, -64, n) % n
        True
        """
        w, digits = self.w, len(self.n)
        mask = (1 << w) - 1
        x, y = to_words(a, digits, w), to_words(b, digits, w)

        def low(row: Words, digit: int) -> list[int]:
            return [v * (digit & mask) & mask for v in row]

        def high(row: Words, digit: int) -> list[int]:
            return [v * (digit & mask) >> w for v in row]

        t = low(x, y[0])
        before_last = 0
        for i in range(1, digits - 1):
            last = t[0] & mask
            terms = [
                low(x, y[i]),
                high(x, y[i - 1]),
                high(self.friendly, before_last),
                low(self.friendly, last),
            ]
            t = _shift_and_add(t, terms, w)
            before_last = last
        for step in range(2):
            q = t[0] * self.k0 & mask
            t = [v + product for v, product in zip(t, low(self.n, q), strict=True)]
            assert t[0] & mask == 0, "q does not clear the lowest digit"
            terms = [high(x, y[digits - 2 + step]), high(self.n, q)]
            if step == 0:
                terms += [low(x, y[digits - 1]), high(self.friendly, before_last)]
            t = _shift_and_add(t, terms, w)
        assert max(t).bit_length() <= w + (4 * digits + 1).bit_length(), "a place grows beyond its bound"
        r = sum(v << (w * j) for j, v in enumerate(t))
        n = from_words(self.n, w)
        assert (r - 2 * n) << w < n, "the result is not below 2n + n / W"
        return r


def _shift_and_add(t: list[int], terms: list[list[int]], w: int) -> list[int]:
    """``t / W`` without its lowest digit, whose carry is added to the next place, plus the terms."""
    shifted = [*t[1:], 0]
    shifted[0] += t[0] >> w
    return [sum(column) for column in zip(shifted, *terms, strict=True)]


def exact_digits(t: list[int], w: int) -> list[int]:
    """The digits of ``sum t_j W^j`` below R: one carry of every place to the next, then single carries.

    In: places below 2^(2w-1), so that the first carry leaves digits at most W + 2^(w-1) - 2, which carry at
    most 1. One addition resolves the single carries: digits in ``over`` generate one, digits in ``full``
    propagate it.

    >>> exact_digits([16 * 3 + 15, 12, 15, 0], 4)
    [15, 15, 15, 0]
    >>> exact_digits([16 * 3 + 15, 13, 15, 0], 4)
    [15, 0, 0, 1]
    """
    radix = 1 << w
    carries = [0, *(v >> w for v in t[:-1])]
    digits = [(v % radix) + carry for v, carry in zip(t, carries, strict=True)]
    over = sum(int(v >= radix) << j for j, v in enumerate(digits))
    full = sum(int(v == radix - 1) << j for j, v in enumerate(digits))
    entering = (full + (over << 1)) ^ full
    return [(v + (entering >> j & 1)) % radix for j, v in enumerate(digits)]
