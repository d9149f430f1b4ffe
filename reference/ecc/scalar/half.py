# SPDX-License-Identifier: Apache-2.0
"""Fractions of half length that stand for scalars, in tests of ``u G + k P = R``.

Sources: Antipa, Brown, Gallant, Lambert, Struik, Vanstone, "Accelerated verification of ECDSA signatures",
SAC 2005; Pornin, "Optimized lattice basis reduction in dimension 2, and fast Schnorr and EdDSA signature
verification", 2020.

In a group of order h n, with h a power of two and n an odd prime, rho = tau k modulo h n with an odd tau
below n. Then tau is prime to h n, and u G + k P - R is the neutral element exactly if tau u G + rho P - tau R
is. The vectors (rho, tau) are a lattice of determinant h n, which has vectors of about sqrt(h n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.scalar.variable_base import multiples, signed
from reference.modexp.recoding import signed_digits

if TYPE_CHECKING:
    from reference.ecc.groups import Group

P = TypeVar("P")
Vector = tuple[int, int]


def _length(vector: Vector) -> int:
    return max(abs(vector[0]), abs(vector[1]))


def _nearest(numerator: int, denominator: int) -> int:
    """The integer next to a quotient."""
    return (2 * numerator + abs(denominator)) // (2 * abs(denominator)) * (1 if denominator > 0 else -1)


def _minus(vector: Vector, factor: int, other: Vector) -> Vector:
    return vector[0] - factor * other[0], vector[1] - factor * other[1]


def split(k: int, n: int, cofactor: int) -> Vector:
    """``(rho, tau)``, as the lanes find it: Euclid's algorithm with least absolute remainders.

    >>> rho, tau = split(123456789, 2**31 - 1, 8)
    >>> (rho - tau * 123456789) % (8 * (2**31 - 1)), tau % 2, max(abs(rho), tau) < 2**20
    (0, 1, True)
    """
    assert 0 <= k < n
    order = cofactor * n
    short = 1 << ((order.bit_length() + 1) // 2)
    last, vector = (order, 0), (k, 1)
    while abs(vector[0]) >= short:
        last, vector = vector, _minus(last, _nearest(last[0], vector[0]), vector)
    if vector[1] % 2 == 0:
        # Both components as long, where r0 - c r1 gets shorter with c and t0 - c t1 longer.
        sign = -1 if vector[0] < 0 else 1
        vector = _minus(last, _nearest(last[0], vector[0] + sign * abs(vector[1])), vector)
    if _length(vector) >= k:
        vector = (k, 1)
    rho, tau = vector if vector[1] > 0 else (-vector[0], -vector[1])
    assert tau % 2 == 1
    assert tau < n
    assert (rho - tau * k) % order == 0
    return rho, tau


def shortest(k: int, n: int, cofactor: int) -> Vector:
    """A vector with an odd tau of a basis that is reduced by Gauss; none is shorter than half of it."""
    a, b = (cofactor * n, 0), (k, 1)
    while True:
        dot, norm = a[0] * b[0] + a[1] * b[1], b[0] * b[0] + b[1] * b[1]
        factor = _nearest(dot, norm)
        a, b = b, _minus(a, factor, b)
        if b[0] * b[0] + b[1] * b[1] >= norm:
            break
    odd = [v for v in (a, b, _minus(a, 1, b), _minus(a, -1, b)) if v[1] % 2 == 1]
    return min(odd, key=_length)


def is_sum(group: Group[P], base: P, operands: tuple[int, int, P, P], n: int, cofactor: int) -> bool:
    """Whether ``u base + k p = r`` for operands ``(u, k, p, r)``, by signed windows of 4 bits."""
    width = 4
    u, k, p, r = operands
    rho, tau = split(k, n, cofactor)
    bits = max(abs(rho), tau).bit_length()
    terms = [(rho, p), (-tau, r), (tau * u % n, base)]
    digits = [signed_digits(abs(k), width, max(bits, n.bit_length())) for k, _ in terms]
    tables = [multiples(group, point, 1 << (width - 1)) for _, point in terms]
    result = group.one()
    for i in range(len(digits[0]) - 1, -1, -1):
        for _ in range(width):
            result = group.sqr(result)
        for (scalar, _), table, term in zip(terms, tables, digits, strict=True):
            negative = (term[i] < 0) != (scalar < 0)
            result = group.mul(result, signed(group, table, abs(term[i]), negative))
    return result == group.one()
