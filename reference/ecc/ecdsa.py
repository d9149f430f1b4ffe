# SPDX-License-Identifier: Apache-2.0
"""ECDSA: signing with a given, deterministic or hedged nonce, verification, recovery of the public key.

Sources: FIPS 186-5, section 6; SEC 1, section 4.1; RFC 6979. Low s: BIP 62 and libsecp256k1, which signs with
s <= n / 2 and rejects others; other curves' verifiers must accept both s and n - s.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.ecc.groups import JacobianGroup, multiply
from reference.ecc.scalar import double_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.ecc.curves import Affine, Weierstrass


@dataclass(frozen=True)
class Signature:
    """r, s, and the recovery id: bit 0 the parity of R's y, bit 1 whether R's x was n or more."""

    r: int
    s: int
    recovery_id: int


def digest_integer(digest: bytes, n: int) -> int:
    """The leftmost bits of a digest, as many as n has: bits2int of RFC 6979. It may be n or more.

    Digests are cut by their fixed length, not by the length of their number. P-521 takes all of SHA-512.

    >>> hex(digest_integer(bytes.fromhex("00ff"), 2**11 + 5)), digest_integer(b"", 7)
    ('0xf', 0)
    """
    excess = 8 * len(digest) - n.bit_length()
    value = int.from_bytes(digest, "big")
    return value >> excess if excess > 0 else value


def nonces(n: int, d: int, digest: bytes, hash_name: str, extra: bytes = b"") -> Iterator[int]:
    """RFC 6979, section 3.2: candidates in [1, n), without end; ``extra`` is that of section 3.6.

    A candidate takes the leftmost bits of as many HMACs as needed: for P-521 66 bytes, shifted by 7.
    """
    size = -(-n.bit_length() // 8)
    reduced = digest_integer(digest, n) % n
    seed = d.to_bytes(size, "big") + reduced.to_bytes(size, "big") + extra
    length = hmac.new(b"", b"", hash_name).digest_size
    key, value = bytes(length), b"\x01" * length
    for separator in (b"\x00", b"\x01"):
        key = hmac.digest(key, value + separator + seed, hash_name)
        value = hmac.digest(key, value, hash_name)
    while True:
        candidate = b""
        while len(candidate) < size:
            value = hmac.digest(key, value, hash_name)
            candidate += value
        k = digest_integer(candidate[:size], n)
        if 0 < k < n:
            yield k
        key = hmac.digest(key, value + b"\x00", hash_name)
        value = hmac.digest(key, value, hash_name)


def sign_with_nonce(
    curve: Weierstrass, d: int, digest: bytes, k: int, *, low_s: bool = False
) -> Signature | None:
    """The signature with nonce k, 0 < d, k < n; ``None`` where r or s is 0, and needs another nonce."""
    n = curve.n
    assert 0 < d < n
    assert 0 < k < n
    point = multiply(curve, k, curve.generator)
    assert point is not None
    r = point[0] % n
    s = pow(k, -1, n) * (digest_integer(digest, n) + r * d) % n
    if r == 0 or s == 0:
        return None
    recovery_id = point[1] % 2 + 2 * (point[0] >= n)
    if low_s and s > n // 2:
        return Signature(r, n - s, recovery_id ^ 1)
    return Signature(r, s, recovery_id)


def sign(
    curve: Weierstrass, d: int, digest: bytes, hash_name: str, *, extra: bytes = b"", low_s: bool = False
) -> Signature:
    """RFC 6979; hedged against faults and side channels where ``extra`` is random."""
    candidates = (
        sign_with_nonce(curve, d, digest, k, low_s=low_s)
        for k in nonces(curve.n, d, digest, hash_name, extra)
    )
    return next(signature for signature in candidates if signature is not None)


def verify(
    curve: Weierstrass, public: Affine, digest: bytes, r: int, s: int, *, require_low_s: bool = False
) -> bool:
    """Whether (r, s) is a signature; False for anything out of range, before any reduction; never raises.

    x(R) = r modulo n is compared without an inversion: r Z^2 = X, or (r + n) Z^2 = X where r + n < p. An r of
    p or more, on curves with n > p, is no x; reduced modulo p it could be one.
    """
    n, p = curve.n, curve.p
    if not (0 < r < n and 0 < s < n) or (require_low_s and s > n // 2) or not curve.contains(public):
        return False
    inverse = pow(s, -1, n)
    u1, u2 = digest_integer(digest, n) * inverse % n, r * inverse % n
    group = JacobianGroup(curve)
    x, _, z = double_base.interleaved(group, u1, group.point(curve.generator), u2, group.point(public))
    if not z:
        return False
    zz = z.sqr()
    return any(x == group.field(value) * zz for value in (r, r + n) if value < p)


def recover(curve: Weierstrass, digest: bytes, r: int, s: int, recovery_id: int) -> Affine | None:
    """The public key Q = (s R - e G) / r, or ``None``: out of range, R not on the curve, or Q infinity.

    Ids 2 and 3 say that x(R) = r + n, which must be below p.
    """
    n = curve.n
    if not (0 < r < n and 0 < s < n and 0 <= recovery_id < 4) or curve.cofactor != 1:
        return None
    point = curve.lift_x(r + n * (recovery_id >> 1), recovery_id & 1)
    if point is None:
        return None
    inverse = pow(r, -1, n)
    u1, u2 = -digest_integer(digest, n) * inverse % n, s * inverse % n
    group = JacobianGroup(curve)
    result = double_base.interleaved(group, u1, group.point(curve.generator), u2, group.point(point))
    return group.affine(result)
