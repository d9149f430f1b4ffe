# SPDX-License-Identifier: Apache-2.0
"""Inversion modulo an odd n by division steps ("safegcd").

Sources
-------
- D. J. Bernstein, B.-Y. Yang, *Fast constant-time gcd computation and modular inversion*, TCHES 2019(3):
  section 8 (divsteps), section 9 (transition matrices), theorem 11.2 (iteration bound), section 12 (inverse).
- P. Wuille and G. Maxwell, *The safegcd implementation in libsecp256k1 explained*: updating d and e with
  the matrix of N divsteps at once, the variant that starts from delta = 1/2.
- P. Wuille, *Bounds on divsteps iterations in safegcd*: the bound for that variant, from a convex hull that
  the divsteps do not leave.

A divstep on (delta, f, g), f odd::

    delta > 0 and g odd:  (1 - delta, g, (g - f) / 2)
    otherwise:            (1 + delta, f, (g + (g mod 2) f) / 2)

After enough of them g = 0 and |f| = gcd. N divsteps depend on delta and the N low bits of f and g alone and
are one matrix over 2^N. With N = 62 its entries, |u| + |v| <= 2^62, fit signed 64-bit words.

The state variable here is ``eta2 = 2 delta``: the variants delta = 1 and delta = 1/2 are 2 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

BATCH = 62
"""Divsteps per transition matrix in the compiled code."""


class Matrix(NamedTuple):
    """``2^N`` times the transition matrix of N divsteps: (f, g) <- (u f + v g, q f + r g) / 2^N."""

    u: int
    v: int
    q: int
    r: int


def iteration_bound(bits: int) -> int:
    """Divsteps from delta = 1 that end in g = 0 for |f|, |g| <= 2^bits (Bernstein-Yang, theorem 11.2).

    >>> iteration_bound(255), iteration_bound(256)
    (738, 741)
    """
    return (49 * bits + (80 if bits < 46 else 57)) // 17


def iteration_bound_half(bits: int) -> int:
    """Divsteps from delta = 1/2 that end in g = 0 for 0 <= f, g <= 2^bits (Wuille, generic formula).

    >>> iteration_bound_half(255), iteration_bound_half(256)
    (588, 591)
    """
    return (45907 * bits + 30179) // 19929


def divstep(eta2: int, f: int, g: int) -> tuple[int, int, int]:
    """One divstep (Bernstein-Yang, section 8.1)."""
    assert f & 1
    if eta2 > 0 and g & 1:
        return 2 - eta2, g, (g - f) // 2
    return 2 + eta2, f, (g + (g & 1) * f) // 2


def transition(eta2: int, f: int, g: int, steps: int = BATCH) -> tuple[int, Matrix]:
    """``steps`` divsteps on the low bits of f and g: the new delta and the matrix (section 9)."""
    u, v, q, r = 1, 0, 0, 1
    for _ in range(steps):
        assert f & 1
        if eta2 > 0 and g & 1:
            eta2, f, g, u, v, q, r = 2 - eta2, g, (g - f) // 2, 2 * q, 2 * r, q - u, r - v
        else:
            odd = g & 1
            eta2, g, u, v, q, r = 2 + eta2, (g + odd * f) // 2, 2 * u, 2 * v, q + odd * u, r + odd * v
    assert abs(u) + abs(v) <= 1 << steps and abs(q) + abs(r) <= 1 << steps
    assert abs(u * r - v * q) == 1 << steps
    return eta2, Matrix(u, v, q, r)


@dataclass
class State:
    """f, g and d = f / x, e = g / x modulo n. Ranges: |f|, |g| <= n; -2n < d, e < n."""

    n: int
    f: int
    g: int
    d: int
    e: int
    n_inverse: int
    """n^-1 mod 2^steps."""
    steps: int

    @staticmethod
    def of(x: int, n: int, steps: int = BATCH) -> State:
        """Start from f = n, g = x, d = 0, e = 1; 0 <= x < n."""
        assert n & 1 and 0 <= x < n
        return State(n, n, x, 0, 1, pow(n, -1, 1 << steps), steps)

    def apply(self, t: Matrix) -> None:
        """Multiply (f, g) and (d, e) by t / 2^N; the second modulo n, with n added where negative."""
        n_bits = self.steps
        mask = (1 << n_bits) - 1
        f, g = t.u * self.f + t.v * self.g, t.q * self.f + t.r * self.g
        assert f & mask == 0 and g & mask == 0, "the matrix does not belong to these low bits"
        d = self.d + (self.n if self.d < 0 else 0)
        e = self.e + (self.n if self.e < 0 else 0)
        d, e = t.u * d + t.v * e, t.q * d + t.r * e
        d -= (d * self.n_inverse & mask) * self.n
        e -= (e * self.n_inverse & mask) * self.n
        assert d & mask == 0 and e & mask == 0
        self.f, self.g, self.d, self.e = f >> n_bits, g >> n_bits, d >> n_bits, e >> n_bits
        assert abs(self.f) <= self.n and abs(self.g) <= self.n
        assert -2 * self.n < self.d < self.n and -2 * self.n < self.e < self.n

    def inverse(self) -> int | None:
        """``d f mod n`` once g = 0 if the gcd |f| is 1, else ``None``."""
        assert self.g == 0, "too few divsteps"
        if abs(self.f) != 1:
            return None
        return self.d * self.f % self.n


def invert_fixed(x: int, n: int, steps: int = BATCH, *, half: bool = False) -> int | None:
    """Inverse by a number of batches that depends on the length of n alone: constant-time.

    Starts from delta = 1, or from 1/2 with ``half``, which needs a fifth fewer divsteps. The compiled
    constant-time code starts from 1/2. ``None`` where gcd(x, n) > 1; for n = 1 the inverse is 0.
    """
    bits = n.bit_length()
    bound, eta2 = (iteration_bound_half(bits), 1) if half else (iteration_bound(bits), 2)
    state, mask = State.of(x % n, n, steps), (1 << steps) - 1
    for _ in range(-(-bound // steps)):
        eta2, t = transition(eta2, state.f & mask, state.g & mask, steps)
        state.apply(t)
    return state.inverse()


def invert_variable(x: int, n: int, steps: int = BATCH) -> int | None:
    """Inverse that stops at g = 0: variable-time. ``None`` where gcd(x, n) > 1."""
    state, eta2, mask = State.of(x % n, n, steps), 2, (1 << steps) - 1
    while state.g != 0:
        eta2, t = transition(eta2, state.f & mask, state.g & mask, steps)
        state.apply(t)
    return state.inverse()


def invmod(x: int, n: int) -> int:
    """``pow(x, -1, n)`` for odd ``n >= 1``; ``ValueError`` where there is none.

    >>> invmod(3, 10**9 + 7)
    333333336
    """
    result = invert_variable(x, n)
    if result is None:
        raise ValueError("not invertible")
    return result
