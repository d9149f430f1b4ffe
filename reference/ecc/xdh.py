# SPDX-License-Identifier: Apache-2.0
"""X25519 and X448 (RFC 7748, section 5).

Every string of bytes is a u: the top bit of X25519's is masked, values of p or more are reduced, and points
of the twist and of small order are multiplied as any others. A result of all zeros, from a u of small order,
is reported, since the caller must reject it (RFC 7748, section 6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.ecc.curves import CURVE448, CURVE25519
from reference.ecc.scalar import ladder

if TYPE_CHECKING:
    from reference.ecc.curves import Montgomery


def clamp(curve: Montgomery, data: bytes) -> int:
    """The scalar: a multiple of the cofactor with bit ``bits - 1`` set and none above.

    >>> hex(clamp(CURVE25519, bytes([255] * 32)))[:4], clamp(CURVE25519, bytes([255] * 32)) % 8
    ('0x7f', 0)
    """
    value = int.from_bytes(data, "little")
    value &= (1 << curve.bits) - curve.cofactor
    return value | 1 << (curve.bits - 1)


def exchange(curve: Montgomery, scalar: bytes, u: bytes) -> tuple[bytes, bool]:
    """The u of the clamped scalar times u, and whether it is not all zeros."""
    size = -(-curve.bits // 8)
    if len(scalar) != size or len(u) != size:
        raise ValueError(f"{curve.name} takes {size} bytes")
    masked = int.from_bytes(u, "little") & ((1 << curve.bits) - 1)
    result = ladder.montgomery(curve, clamp(curve, scalar), masked)
    return result.to_bytes(size, "little"), result != 0


def public_key(curve: Montgomery, scalar: bytes) -> bytes:
    """The scalar times the base point."""
    size = -(-curve.bits // 8)
    return exchange(curve, scalar, curve.u.to_bytes(size, "little"))[0]


def x25519(scalar: bytes, u: bytes) -> tuple[bytes, bool]:
    """:func:`exchange` on curve25519."""
    return exchange(CURVE25519, scalar, u)


def x448(scalar: bytes, u: bytes) -> tuple[bytes, bool]:
    """:func:`exchange` on curve448."""
    return exchange(CURVE448, scalar, u)
