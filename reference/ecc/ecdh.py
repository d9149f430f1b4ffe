# SPDX-License-Identifier: Apache-2.0
"""Elliptic curve Diffie-Hellman on Weierstrass curves.

Sources: NIST SP 800-56A, section 5.7.1.2; SEC 1, section 3.3.1; libsecp256k1 ``ecdh`` for the hashed form.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reference.ecc.encodings import encode_point
from reference.ecc.groups import multiply

if TYPE_CHECKING:
    from reference.ecc.curves import Affine, Weierstrass


def shared_point(curve: Weierstrass, d: int, public: Affine) -> Affine | None:
    """``h d public``, ``None`` for invalid operands and for infinity. The equation is always checked.

    Without the check a point of another curve, with a group of small order, would tell d modulo that order.
    """
    if not 0 < d < curve.n or not curve.contains(public):
        return None
    return multiply(curve, d * curve.cofactor, public)


def raw(curve: Weierstrass, d: int, public: Affine) -> bytes | None:
    """x of the shared point, with leading zero bytes."""
    point = shared_point(curve, d, public)
    return None if point is None else point[0].to_bytes(curve.bytes, "big")


def hashed(curve: Weierstrass, d: int, public: Affine) -> bytes | None:
    """SHA-256 of the compressed shared point, as libsecp256k1's default."""
    point = shared_point(curve, d, public)
    return None if point is None else hashlib.sha256(encode_point(curve, point)).digest()
