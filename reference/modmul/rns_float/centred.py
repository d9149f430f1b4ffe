# SPDX-License-Identifier: Apache-2.0
"""Centred channels: remainders by quotients rounded to the nearest integer, without corrections.

Source: own, after A. Moss, D. Page, N. P. Smart, *Toward Acceleration of RSA Using 3D Graphics Hardware* (IMA
CC 2007), section 4.1. Ranges and proofs are in docs/rns/floating_point.md, "Centred channels". Every
operation is one of :class:`reference.modmul.rns_float.binary_float.BinaryFloat`; those that must not round
are asserted not to.
"""

from __future__ import annotations

from fractions import Fraction

from reference.modmul.rns_float.binary_float import BinaryFloat

SMALLEST_MODULUS = 5


def quotient(f: BinaryFloat, m: int, x: int) -> int:
    """``x / m`` by the rounded reciprocal, rounded to the nearest integer: one fused operation, one sum."""
    i = f.reciprocal(m)
    assert abs(x * Fraction(i)) < f.whole >> 2
    magic = 3 << (f.precision - 2)
    return f.exact(f.add(f.fma(x, i, magic), -magic))


def reduce(f: BinaryFloat, m: int, x: int) -> int:
    """``x mod m``, at most m / 2 + 1 in magnitude, for ``abs(x) <= 2^p``: inequality (8).

    >>> [reduce(BinaryFloat(), 4093, x) for x in (4092, 2047, -2047, 2**24)]
    [-1, -2046, 2046, 9]
    """
    assert m >= SMALLEST_MODULUS and abs(x) <= f.whole
    r = f.exact(f.fma(-quotient(f, m, x), m, x))
    assert 2 * abs(r) <= m + 2
    return r


def reduced_product(f: BinaryFloat, m: int, a: int, b: int) -> int:
    """``a b mod m``, at most m in magnitude, for ``abs(a b) <= m (2^(p-2) - 1)``: inequality (9).

    >>> reduced_product(BinaryFloat(), 5505023, 5505023 - 1, 2752511)
    -2752511
    """
    assert SMALLEST_MODULUS <= m <= f.whole and abs(a * b) <= m * ((f.whole >> 2) - 1)
    high = int(f.mul(a, b))
    low = f.exact(f.fma(a, b, -high))
    remainder = f.exact(f.fma(-quotient(f, m, high), m, high))
    r = f.exact(f.add(remainder, low))
    assert abs(r) <= m
    return r
