# SPDX-License-Identifier: Apache-2.0
"""SM2: signatures and key exchange (GB/T 32918.2 and 32918.3) with the hash SM3 of OpenSSL.

The digest is SM3(ZA || message), where ZA hashes the signer's identity, the curve and the public key.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reference.ecc.curves import SM2, Affine
from reference.ecc.groups import AffineGroup, JacobianGroup, multiply
from reference.ecc.scalar import double_base

if TYPE_CHECKING:
    from collections.abc import Sequence

CURVE = SM2
DEFAULT_ID = b"1234567812345678"


def sm3(*parts: bytes) -> bytes:
    """SM3 by libcrypto.

    >>> sm3(b"abc").hex()[:16]
    '66c7f0f462eeedd9'
    """
    return hashlib.new("sm3", b"".join(parts)).digest()


def _bytes(*values: int) -> bytes:
    return b"".join(value.to_bytes(32, "big") for value in values)


def za(public: Affine, identity: bytes = DEFAULT_ID) -> bytes:
    """``SM3(bits of the identity || identity || a || b || G || public)``."""
    if len(identity) >= 8192:
        raise ValueError("an identity has at most 8191 bytes")
    curve = _bytes(CURVE.a % CURVE.p, CURVE.b, *CURVE.generator)
    return sm3((8 * len(identity)).to_bytes(2, "big"), identity, curve, _bytes(*public))


def public_key(d: int) -> Affine:
    """d G, for d in [1, n - 2]: n - 1 has no inverse of 1 + d."""
    if not 0 < d < CURVE.n - 1:
        raise ValueError("an SM2 key is in [1, n - 2]")
    point = multiply(CURVE, d, CURVE.generator)
    assert point is not None
    return point


def sign_with_nonce(d: int, message: bytes, k: int, identity: bytes = DEFAULT_ID) -> tuple[int, int] | None:
    """(r, s), or ``None`` where r = 0, r + k = n or s = 0: the caller needs another nonce."""
    n = CURVE.n
    e = int.from_bytes(sm3(za(public_key(d), identity), message), "big")
    point = multiply(CURVE, k, CURVE.generator)
    assert point is not None
    r = (e + point[0]) % n
    s = pow(1 + d, -1, n) * (k - r * d) % n
    return None if r == 0 or r + k == n or s == 0 else (r, s)


def verify(public: Affine, message: bytes, r: int, s: int, identity: bytes = DEFAULT_ID) -> bool:
    """Whether (r, s) is a signature; never raises. The sum r + s must not be 0 modulo n."""
    n = CURVE.n
    if not (0 < r < n and 0 < s < n) or not CURVE.contains(public):
        return False
    t = (r + s) % n
    if t == 0:
        return False
    e = int.from_bytes(sm3(za(public, identity), message), "big")
    group = JacobianGroup(CURVE)
    sums = double_base.interleaved(group, s, group.point(CURVE.generator), t, group.point(public))
    point = group.affine(sums)
    return point is not None and (e + point[0]) % n == r


def derive(data: bytes, length: int) -> bytes:
    """The key derivation function of GB/T 32918.4, 5.4.3: SM3 of the data and a counter."""
    blocks = [sm3(data, counter.to_bytes(4, "big")) for counter in range(1, -(-length // 32) + 1)]
    return b"".join(blocks)[:length]


def exchange(
    own: tuple[int, int],
    peer: Sequence[Affine],
    identities: tuple[bytes, bytes],
    length: int,
    *,
    initiator: bool,
) -> bytes | None:
    """The shared key of one side: ``own`` = (key, ephemeral key), ``peer`` = their public points.

    ``identities`` are the initiator's and the responder's. ``None`` for points off the curve or infinity.
    """
    if not all(CURVE.contains(point) for point in peer):
        return None
    d, r = own
    own_points = (public_key(d), multiply(CURVE, r, CURVE.generator))
    assert own_points[1] is not None
    t = (d + _reduced(own_points[1][0]) * r) % CURVE.n
    peer_sum = AffineGroup(CURVE).mul(peer[0], multiply(CURVE, _reduced(peer[1][0]), peer[1]))
    shared = multiply(CURVE, t, peer_sum)
    if shared is None:
        return None
    publics = (own_points[0], peer[0]) if initiator else (peer[0], own_points[0])
    hashes = [za(public, identity) for public, identity in zip(publics, identities, strict=True)]
    return derive(_bytes(*shared) + b"".join(hashes), length)


def _reduced(x: int) -> int:
    """``2^127 + (x mod 2^127)``: w = ceil(256 / 2) - 1."""
    return (1 << 127) + (x & ((1 << 127) - 1))
