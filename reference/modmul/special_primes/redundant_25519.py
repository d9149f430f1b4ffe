# SPDX-License-Identifier: Apache-2.0
"""p = 2^255 - 19 in five digits of 51 bits on a multiplier of 52 bits, for sums and products alone.

Source: the radix is that of Bernstein, Duif, Lange, Schwabe, Yang 2012, "High-speed high-security
signatures"; its split products, bounds and carries: own. With W = 2^51, W^5 = 19 modulo p. A product of
digits is lo + 2 W hi, lo < 2^52: the upper halves are summed up first and doubled, then the lower halves
are added. The kernels' code: `src/field/redundant_25519.hpp`.

Bounds. Factors have digits below W + 2^15, columns of products are below 2^59 (asserted here), and those of
sums below 2^61. So carries are below 2^10, and W + 19 2^10 < W + 2^15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

__all__ = ["BOUND", "LENGTH", "P", "Redundant25519", "W", "value"]

P = 2**255 - 19
LENGTH = 5
W = 1 << 51
#: Digits of factors, and columns of products, are below these.
BOUND, UNCARRIED = W + (1 << 15), 1 << 59
_HALF = 1 << 52
#: The digits of 2^9 p.
_LENT = [(W - 19) << 9, *[(W - 1) << 9] * (LENGTH - 1)]

Digits = Sequence[int]


def value(digits: Digits) -> int:
    """The number modulo p."""
    return sum(digit << 51 * i for i, digit in enumerate(digits)) % P


class Redundant25519:
    """One lane; ``counts`` has the instructions that multiply: halves of products, and products by 19.

    >>> f = Redundant25519()
    >>> value(f.mul([3, 0, 0, 0, 0], [0, 0, 0, 0, W - 1])) == 3 * (W - 1) * W**4 % P
    True
    >>> sum(f.counts.values())
    55
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def _high(self, a: int, b: int) -> int:
        assert a < _HALF and b < _HALF
        self.counts["high"] += 1
        return a * b // _HALF

    def _low(self, a: int, b: int) -> int:
        assert a < _HALF and b < _HALF
        self.counts["low"] += 1
        return a * b % _HALF

    def _nineteen(self, a: int) -> int:
        self.counts["nineteen"] += 1
        assert 19 * a < 1 << 64
        return 19 * a

    def _reduce(self, t: list[int]) -> list[int]:
        r = [t[i] + self._nineteen(t[i + LENGTH]) for i in range(LENGTH)]
        assert max(r) < UNCARRIED
        return r

    def mul(self, a: Digits, b: Digits) -> list[int]:
        """a b, not carried."""
        assert max(*a, *b) < BOUND
        t = [0] * (2 * LENGTH)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                t[i + j + 1] += self._high(x, y)
        t = [2 * column for column in t]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                t[i + j] += self._low(x, y)
        return self._reduce(t)

    def sqr(self, a: Digits) -> list[int]:
        """a^2, not carried, from products a_i a_j with i <= j."""
        assert max(a) < BOUND
        t = [0] * (2 * LENGTH)
        pairs = [(i, j) for i in range(LENGTH) for j in range(i + 1, LENGTH)]
        for i, j in pairs:
            t[i + j + 1] += self._high(a[i], a[j])
        t = [2 * column for column in t]
        for i, j in pairs:
            t[i + j] += self._low(a[i], a[j])
        for i, x in enumerate(a):
            t[2 * i + 1] += self._high(x, x)
        t = [2 * column for column in t]
        for i, x in enumerate(a):
            t[2 * i] += self._low(x, x)
        return self._reduce(t)

    def fix(self, a: Digits) -> list[list[int]]:
        """a W^i modulo p for each digit i of another factor."""
        rows = [list(a)]
        for _ in range(LENGTH - 1):
            rows.append(self.carry([self._nineteen(rows[-1][-1]), *rows[-1][:-1]]))
        return rows

    def mul_fixed(self, a: Digits, rows: Sequence[Digits]) -> list[int]:
        """a times a factor of ``fix``, not carried."""
        t = [0] * (LENGTH + 1)
        for x, row in zip(a, rows, strict=True):
            for j, y in enumerate(row):
                t[j + 1] += 2 * self._high(x, y)
                t[j] += self._low(x, y)
        t[0] += self._nineteen(t.pop())
        assert max(t) < UNCARRIED
        return t

    def carry(self, columns: Digits) -> list[int]:
        """Digits of a factor from columns below 2^61: every column carries into the next one at once."""
        assert max(columns) < 1 << 61
        self.counts["low"] += 1
        carries = [column // W for column in columns]
        r = [column % W + carry for column, carry in zip(columns, [0, *carries], strict=False)]
        r[0] += 19 * carries[-1]
        assert max(r) < BOUND
        return r

    def add(self, a: Digits, b: Digits) -> list[int]:
        """a + b of columns of products, carried."""
        return self.carry([x + y for x, y in zip(a, b, strict=True)])

    def sub(self, a: Digits, b: Digits) -> list[int]:
        """a - b of columns of products, carried."""
        columns = [x + lent - y for x, lent, y in zip(a, _LENT, b, strict=True)]
        assert min(columns) >= 0
        return self.carry(columns)
