# SPDX-License-Identifier: Apache-2.0
"""Hashing to the curve P-256 in batches: the suite P256_XMD:SHA-256_SSWU_RO_ of RFC 9380, section 8.2.

Every step on a hashed message is a constant-time operation of manymod on arrays of one width, or an
operation of numpy on each limb, without branches on values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manymod import IntArray, Plan
from psi.hashing import hash_to_field

__all__ = ["ORDER", "hash_to_curve"]

# SEC 2, section 2.4.2; FIPS 186-5 and SP 800-186.
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
A = P - 3
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
Z = P - 10
_ROOT = pow(10, (P + 1) // 4, P)  # of -Z, which is a square; p = 3 modulo 4
_FIELD_BYTES = 48  # L of the suite

_Limbs = NDArray[np.uint64]  # uint64[N, 4], numbers below p
_Mask = NDArray[np.uint64]  # uint64[N, 1]: all bits set or none

_mul = Plan("mulmod", modulus=P, secret=True)
_fma = Plan("fmamod", modulus=P, secret=True)
_sub = Plan("submod", modulus=P, secret=True)
_power = Plan("powmod", modulus=P, secret=True)


def _equal(x: _Limbs, y: _Limbs) -> _Mask:
    return _mask(np.bitwise_or.reduce(x ^ y, axis=1) == 0)


def _mask(flags: NDArray[np.bool_]) -> _Mask:
    mask: _Mask = np.uint64(0) - flags.astype(np.uint64)
    return mask[:, None]


def _select(mask: _Mask, if_set: _Limbs, otherwise: _Limbs) -> _Limbs:
    return (if_set & mask) | (otherwise & ~mask)


def _sqrt_ratio(u: _Limbs, v: _Limbs) -> tuple[_Mask, _Limbs]:
    """Whether u / v is a square, and a root of it, or else of Z u / v; v != 0 (RFC 9380, F.2.1.2)."""
    uv = _mul(u, v)
    root = _mul(_power(_mul(_mul(v, v), uv), (P - 3) // 4), uv)
    is_square = _equal(_mul(_mul(root, root), v), u)
    return is_square, _select(is_square, root, _mul(root, _ROOT))


def _map_to_curve(u: _Limbs) -> tuple[_Limbs, _Limbs, _Limbs]:
    """Points (x / d, y) of field elements, d != 0: simplified SWU (RFC 9380, section 6.6.2 and F.2)."""
    zero = np.zeros_like(u)
    zu2 = _mul(_mul(u, u), Z)
    t = _fma(zu2, zu2, zu2)
    numerator = _mul(_fma(t, 1, 1), B)
    z_row = np.broadcast_to(IntArray.from_ints([Z]).limbs, u.shape)
    d = _mul(_select(_equal(t, zero), z_row, _sub(zero, t)), A)
    d2 = _mul(d, d)
    d3 = _mul(d2, d)
    # x^3 + A x + B = gx / d^3 of x = numerator / d
    gx = _fma(_fma(numerator, numerator, _mul(d2, A)), numerator, _mul(d3, B))
    is_square, root = _sqrt_ratio(gx, d3)
    x = _select(is_square, numerator, _mul(zu2, numerator))
    y = _select(is_square, root, _mul(_mul(zu2, u), root))
    same_sign = _mask((u[:, 0] & 1) == (y[:, 0] & 1))
    return x, d, _select(same_sign, y, _sub(zero, y))


def _sums(x: _Limbs, d: _Limbs, y: _Limbs) -> tuple[_Limbs, _Limbs]:
    """Affine sums of points (x / d, y), the first half of the rows plus the second, with one inversion each.

    The points of a pair have different x: that they have the same has a probability of 2^-255 for outputs of
    a hash, and is an ArithmeticError.
    """
    half = len(x) // 2
    y0, y1 = y[:half], y[half:]
    x0, x1 = _mul(x[:half], d[half:]), _mul(x[half:], d[:half])  # over the common denominator
    common = _mul(d[:half], d[half:])
    difference = _sub(x1, x0)
    inverse = _power(_mul(difference, common), P - 2)
    if not inverse.any(axis=1).all():
        raise ArithmeticError("two field elements of a message are mapped to points with the same x")
    inverse_common = _mul(inverse, difference)
    affine0 = _mul(x0, inverse_common)
    slope = _mul(_mul(_sub(y1, y0), _mul(inverse, common)), common)
    x_sum = _sub(_sub(_mul(slope, slope), affine0), _mul(x1, inverse_common))
    return x_sum, _sub(_mul(slope, _sub(affine0, x_sum)), y0)


def hash_to_curve(messages: Sequence[bytes], tag: bytes) -> NDArray[np.uint8]:
    """Points of P-256 of messages, uncompressed: ``uint8[N, 65]``. Constant-time but for their lengths.

    Args:
        messages: of any lengths.
        tag: the domain separation tag, 1 to 255 bytes.

    The suite is indifferentiable from a random oracle (RFC 9380, section 10.1). The cofactor is 1.
    """
    if not messages:
        return np.zeros((0, 65), np.uint8)
    elements = IntArray.concatenate(hash_to_field(messages, tag, _FIELD_BYTES, 2))
    x, y = _sums(*_map_to_curve(_fma(elements.limbs, 1, 0)))
    points = np.empty((len(messages), 65), np.uint8)
    points[:, 0] = 4
    points[:, 1:33] = IntArray.from_limbs(x).to_bytes(32)
    points[:, 33:] = IntArray.from_limbs(y).to_bytes(32)
    return points
