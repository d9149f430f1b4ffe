# SPDX-License-Identifier: Apache-2.0
"""Schnorr signatures of BIP 340 on secp256k1, with its batch verification.

Public keys and R are 32 bytes of x; y is even. Messages have any length.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reference.ecc.curves import SECP256K1, Affine
from reference.ecc.groups import AffineGroup, JacobianGroup, multiply
from reference.ecc.scalar import double_base, pippenger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CURVE = SECP256K1


def tagged_hash(tag: str, *parts: bytes) -> bytes:
    """``SHA256(SHA256(tag) || SHA256(tag) || data)``."""
    prefix = hashlib.sha256(tag.encode()).digest()
    return hashlib.sha256(prefix + prefix + b"".join(parts)).digest()


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _even(d: int) -> tuple[int, Affine]:
    """The scalar of d G or -d G, whichever has an even y, and that point."""
    point = multiply(CURVE, d, CURVE.generator)
    assert point is not None
    if point[1] % 2 == 0:
        return d, point
    return CURVE.n - d, (point[0], CURVE.p - point[1])


def public_key(secret: bytes) -> bytes:
    """x of d G; ``ValueError`` for d = 0 or d >= n."""
    d = _integer(secret)
    if len(secret) != 32 or not 0 < d < CURVE.n:
        raise ValueError("a secret key is 32 bytes, in [1, n)")
    return _even(d)[1][0].to_bytes(32, "big")


def sign(secret: bytes, message: bytes, aux: bytes) -> bytes:
    """The signature with 32 bytes of auxiliary randomness."""
    public = public_key(secret)
    d, _ = _even(_integer(secret))
    masked = (d ^ _integer(tagged_hash("BIP0340/aux", aux))).to_bytes(32, "big")
    k = _integer(tagged_hash("BIP0340/nonce", masked, public, message)) % CURVE.n
    if k == 0:
        raise ValueError("the nonce is 0")
    k, point = _even(k)
    r = point[0].to_bytes(32, "big")
    s = (k + _challenge(r, public, message) * d) % CURVE.n
    return r + s.to_bytes(32, "big")


def _challenge(r: bytes, public: bytes, message: bytes) -> int:
    return _integer(tagged_hash("BIP0340/challenge", r, public, message)) % CURVE.n


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether R = s G - e P is a point with even y and x = r; never raises."""
    if len(public) != 32 or len(signature) != 64:
        return False
    point = CURVE.lift_x(_integer(public), 0)
    r, s = _integer(signature[:32]), _integer(signature[32:])
    if point is None or r >= CURVE.p or s >= CURVE.n:
        return False
    e = _challenge(signature[:32], public, message)
    group = JacobianGroup(CURVE)
    g, q = group.point(CURVE.generator), group.point(point)
    found = group.affine(double_base.interleaved(group, s, g, CURVE.n - e, q))
    return found is not None and found[1] % 2 == 0 and found[0] == r


def verify_batch(items: Sequence[tuple[bytes, bytes, bytes]], draw: Callable[[int], int]) -> bool:
    """One verdict for (public, message, signature) items: sum a s G = sum a R + sum a e P, first a = 1."""
    group, affine = JacobianGroup(CURVE), AffineGroup(CURVE)
    scalars, points, s_sum = [], [], 0
    for i, (public, message, signature) in enumerate(items):
        if len(public) != 32 or len(signature) != 64:
            return False
        r, s = _integer(signature[:32]), _integer(signature[32:])
        key, nonce_point = CURVE.lift_x(_integer(public), 0), CURVE.lift_x(r, 0)
        if key is None or nonce_point is None or s >= CURVE.n:
            return False
        a = 1 if i == 0 else 1 + draw(128)
        scalars += [a, a * _challenge(signature[:32], public, message) % CURVE.n]
        points += [group.point(nonce_point), group.point(key)]
        s_sum += a * s
    scalars.append(s_sum % CURVE.n)
    points.append(group.point(affine.inv(CURVE.generator)))
    return group.affine(pippenger.multi_multiply(group, scalars, points, 256)) is None
