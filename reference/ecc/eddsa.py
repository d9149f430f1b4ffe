# SPDX-License-Identifier: Apache-2.0
"""EdDSA: Ed25519, Ed25519ctx, Ed25519ph, Ed448, Ed448ph, with named policies of verification.

Sources: RFC 8032; Chalkias, Garillot, Nikolaenko, *Taming the many EdDSAs*, SSR 2020 (how verifiers differ);
ZIP 215; ed25519-dalek ``verify_strict``.

========= ========================== ============================ =====================================
policy    encodings of A and R       points of small order        equation
========= ========================== ============================ =====================================
rfc8032   canonical                  accepted                     S B - k A encodes to the bytes of R
strict    canonical                  A and R of order <= h rejected the same
zip215    y >= p and -0 accepted     accepted                     h (S B - k A - R) = 0
========= ========================== ============================ =====================================

S >= L is always rejected, and the original bytes of A and R are hashed. A verdict for a batch is a random
linear combination of zip215's equation: the other equations have no batch form, as terms of small order
cancel by chance. Signing takes the private key alone: a public key that a caller gives can make two
signatures of one message with one R, which reveal the key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from reference.ecc.curves import EDWARDS448, EDWARDS25519, Affine, Edwards
from reference.ecc.groups import EdwardsGroup, multiply_edwards

Policy = Literal["rfc8032", "strict", "zip215"]


@dataclass(frozen=True)
class Scheme:
    """An instance of EdDSA. ``prefix`` is dom2 or dom4 up to its flag, empty for plain Ed25519."""

    name: str
    curve: Edwards
    size: int
    hash: Callable[[bytes], bytes]
    prefix: bytes = b""
    prehash: Callable[[bytes], bytes] | None = None

    def dom(self, context: bytes) -> bytes:
        """What every hash begins with."""
        if not self.prefix:
            if context:
                raise ValueError(f"{self.name} has no context")
            return b""
        if len(context) > 255:
            raise ValueError("a context has at most 255 bytes")
        return self.prefix + bytes([self.prehash is not None, len(context)]) + context

    def hash_integer(self, *parts: bytes) -> int:
        """The hash as a little-endian integer."""
        return int.from_bytes(self.hash(b"".join(parts)), "little")


def _shake(data: bytes) -> bytes:
    return hashlib.shake_256(data).digest(114)


def _sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


_DOM2 = b"SigEd25519 no Ed25519 collisions"
ED25519 = Scheme("Ed25519", EDWARDS25519, 32, _sha512)
ED25519CTX = Scheme("Ed25519ctx", EDWARDS25519, 32, _sha512, _DOM2)
ED25519PH = Scheme("Ed25519ph", EDWARDS25519, 32, _sha512, _DOM2, _sha512)
ED448 = Scheme("Ed448", EDWARDS448, 57, _shake, b"SigEd448")
ED448PH = Scheme(
    "Ed448ph", EDWARDS448, 57, _shake, b"SigEd448", lambda data: hashlib.shake_256(data).digest(64)
)


def encode(scheme: Scheme, point: Affine) -> bytes:
    """y, little-endian, with the parity of x in the top bit."""
    x, y = point
    return (y | x % 2 << (8 * scheme.size - 1)).to_bytes(scheme.size, "little")


def decode(scheme: Scheme, data: bytes, *, canonical: bool = True) -> Affine | None:
    """The point, or ``None``. Not ``canonical``: y is reduced, and x = 0 with the sign bit set is (0, y)."""
    p, curve = scheme.curve.p, scheme.curve
    if len(data) != scheme.size:
        return None
    value = int.from_bytes(data, "little")
    sign, y = value >> (8 * scheme.size - 1), value & ((1 << (8 * scheme.size - 1)) - 1)
    if y >= p:
        # Ed448's encodings have 7 bits above those of p: only p .. 2^448 - 1 are reduced.
        if canonical or y >> p.bit_length():
            return None
        y %= p
    x = curve.field.sqrt(curve.x_squared(y))
    if x is None or (x == 0 and sign and canonical):
        return None
    return (x if x % 2 == sign else -x % p), y


def expand(scheme: Scheme, private: bytes) -> tuple[int, bytes]:
    """The clamped scalar and the prefix of nonces (RFC 8032, sections 5.1.5 and 5.2.5)."""
    if len(private) != scheme.size:
        raise ValueError(f"a private key of {scheme.name} has {scheme.size} bytes")
    digest = scheme.hash(private)
    top = scheme.curve.n.bit_length() + 1
    scalar = int.from_bytes(digest[: scheme.size], "little") & ((1 << top) - scheme.curve.cofactor)
    return scalar | 1 << top, digest[scheme.size :]


def public_key(scheme: Scheme, private: bytes) -> bytes:
    """A = s B."""
    return encode(scheme, multiply_edwards(scheme.curve, expand(scheme, private)[0], scheme.curve.generator))


def sign(scheme: Scheme, private: bytes, message: bytes, context: bytes = b"") -> bytes:
    """R || S."""
    scalar, prefix = expand(scheme, private)
    public, n = public_key(scheme, private), scheme.curve.n
    dom = scheme.dom(context)
    message = scheme.prehash(message) if scheme.prehash else message
    r = scheme.hash_integer(dom, prefix, message) % n
    first = encode(scheme, multiply_edwards(scheme.curve, r, scheme.curve.generator))
    k = scheme.hash_integer(dom, first, public, message) % n
    return first + ((r + k * scalar) % n).to_bytes(scheme.size, "little")


@dataclass(frozen=True)
class _Parts:
    a: Affine
    r: Affine
    s: int
    k: int


def _parts(
    scheme: Scheme, public: bytes, message: bytes, signature: bytes, context: bytes, canonical: bool
) -> _Parts | None:
    """What both verifiers need; ``None`` where a length, an encoding or the range of S is wrong."""
    size, curve = scheme.size, scheme.curve
    if len(signature) != 2 * size:
        return None
    a = decode(scheme, public, canonical=canonical)
    r = decode(scheme, signature[:size], canonical=canonical)
    s = int.from_bytes(signature[size:], "little")
    if a is None or r is None or s >= curve.n:
        return None
    message = scheme.prehash(message) if scheme.prehash else message
    return _Parts(
        a, r, s, scheme.hash_integer(scheme.dom(context), signature[:size], public, message) % curve.n
    )


def verify(
    scheme: Scheme,
    public: bytes,
    message: bytes,
    signature: bytes,
    context: bytes = b"",
    policy: Policy = "rfc8032",
) -> bool:
    """Whether the policy accepts the signature; never raises for any bytes of key and signature."""
    curve, group = scheme.curve, EdwardsGroup(scheme.curve)
    parts = _parts(scheme, public, message, signature, context, policy != "zip215")
    if parts is None:
        return False
    if policy == "strict" and any(
        multiply_edwards(curve, curve.cofactor, q) == (0, 1) for q in (parts.a, parts.r)
    ):
        return False
    s_b = multiply_edwards(curve, parts.s, curve.generator)
    found = group.mul(s_b, multiply_edwards(curve, parts.k, group.inv(parts.a)))
    if policy == "zip215":
        difference = group.mul(found, group.inv(parts.r))
        return multiply_edwards(curve, curve.cofactor, difference) == (0, 1)
    return encode(scheme, found) == signature[: scheme.size]


def verify_batch(
    scheme: Scheme,
    items: Sequence[tuple[bytes, bytes, bytes]],
    draw: Callable[[int], int],
    context: bytes = b"",
) -> bool:
    """One verdict for (public, message, signature) items under zip215; ``draw(128)`` gives 128 random bits.

    ``h (sum z S B - sum z R - sum z k A) = 0`` with random z: a bad item passes with a chance of 2^-128.
    """
    curve, group = scheme.curve, EdwardsGroup(scheme.curve)
    total, s_sum = (0, 1), 0
    for public, message, signature in items:
        parts = _parts(scheme, public, message, signature, context, canonical=False)
        if parts is None:
            return False
        z = draw(128)
        s_sum += z * parts.s
        for scalar, point in ((z, parts.r), (z * parts.k % curve.n, parts.a)):
            total = group.mul(total, multiply_edwards(curve, scalar, group.inv(point)))
    total = group.mul(total, multiply_edwards(curve, s_sum % curve.n, curve.generator))
    return multiply_edwards(curve, curve.cofactor, total) == (0, 1)
