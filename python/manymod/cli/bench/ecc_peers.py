# SPDX-License-Identifier: Apache-2.0
"""Libraries that `manymod bench ecc` measures beside manymod: OpenSSL and libsecp256k1, one item a call."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
from typing import Any, Literal, Protocol

from manymod.ecc import Curve, Key

__all__ = ["OpenSsl", "Peer", "Secp256k1"]


class Peer(Protocol):
    """One library: keys are prepared before anything is measured."""

    #: Its operations of `manymod bench ecc`.
    operations: tuple[str, ...]
    #: The encoding of its signatures.
    encoding: Literal["raw", "der"]

    def private(self, secret: bytes) -> Any:
        """A private key."""

    def public(self, point: bytes) -> Any:
        """A public key."""

    def public_of(self, key: Any) -> Any:
        """The public key of a private key of this library."""

    def sign(self, key: Any, message: bytes) -> bytes:
        """A signature."""

    def verify(self, key: Any, signature: bytes, message: bytes) -> bool:
        """True for a valid signature; any other raises or is False."""

    def exchange(self, key: Any, other: Any) -> bytes:
        """The shared secret."""

    def is_secret(self, ours: bytes, theirs: bytes) -> bool:
        """Whether manymod's shared secret is that of `exchange`."""

    def public_bytes(self, key: Any) -> bytes:
        """A public key of this library, as manymod has it."""

    def recover(self, signature: bytes, message: bytes) -> Any:
        """The public key that made a recoverable signature."""


class OpenSsl:
    """The cryptography package, as far as it has the curve."""

    def __init__(self, curve: Curve) -> None:
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415
            ec,
            ed448,
            ed25519,
            x448,
            x25519,
        )

        named: dict[str, Any] = {
            "P-256": ec.SECP256R1,
            "P-384": ec.SECP384R1,
            "P-521": ec.SECP521R1,
            "secp256k1": ec.SECP256K1,
            "brainpoolP256r1": ec.BrainpoolP256R1,
            "brainpoolP384r1": ec.BrainpoolP384R1,
            "brainpoolP512r1": ec.BrainpoolP512R1,
        }
        strings: dict[str, Any] = {
            "Ed25519": (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey),
            "Ed448": (ed448.Ed448PrivateKey, ed448.Ed448PublicKey),
            "X25519": (x25519.X25519PrivateKey, x25519.X25519PublicKey),
            "X448": (x448.X448PrivateKey, x448.X448PublicKey),
        }
        usual = {
            "P-384": hashes.SHA384(),
            "P-521": hashes.SHA512(),
            "brainpoolP384r1": hashes.SHA384(),
            "brainpoolP512r1": hashes.SHA512(),
        }
        self._curve: Any = named[curve.name]() if curve.name in named else None
        self._kinds = strings.get(curve.name)
        known = self._curve is not None or self._kinds is not None
        self.operations: tuple[str, ...] = ("sign", "verify", "exchange", "public") if known else ()
        self.encoding: Literal["raw", "der"] = "der" if curve.form == "weierstrass" else "raw"
        self._ecdsa, self._ecdh = ec.ECDSA(usual.get(curve.name, hashes.SHA256())), ec.ECDH()
        self._derive, self._public = ec.derive_private_key, ec.EllipticCurvePublicKey.from_encoded_point

    def private(self, secret: bytes) -> Any:
        """A private key."""
        if self._kinds is not None:
            return self._kinds[0].from_private_bytes(secret)
        return self._derive(int.from_bytes(secret, "big"), self._curve)

    def public(self, point: bytes) -> Any:
        """A public key."""
        if self._kinds is not None:
            return self._kinds[1].from_public_bytes(point)
        return self._public(self._curve, point)

    def public_of(self, key: Any) -> Any:
        """The public key of a private key."""
        return key.public_key()

    def sign(self, key: Any, message: bytes) -> bytes:
        """A signature: DER, or that of EdDSA."""
        signature: bytes = key.sign(message, *([] if self._kinds else [self._ecdsa]))
        return signature

    def verify(self, key: Any, signature: bytes, message: bytes) -> bool:
        """True for a valid signature, DER or that of EdDSA; any other raises."""
        return key.verify(signature, message, *([] if self._kinds else [self._ecdsa])) is None

    def exchange(self, key: Any, other: Any) -> bytes:
        """The shared secret."""
        secret: bytes = key.exchange(other) if self._kinds else key.exchange(self._ecdh, other)
        return secret

    def is_secret(self, ours: bytes, theirs: bytes) -> bool:
        """Whether both are the same."""
        return ours == theirs

    def public_bytes(self, key: Any) -> bytes:
        """A public key."""
        return Key.from_cryptography(key).public_bytes()

    def recover(self, signature: bytes, message: bytes) -> Any:
        """OpenSSL has none."""
        raise NotImplementedError


class Secp256k1:
    """libsecp256k1 through ctypes, where the system has the library; digests are those of hashlib."""

    operations: tuple[str, ...] = ("sign", "verify", "exchange", "public", "recover")
    encoding: Literal["raw", "der"] = "raw"
    _UNCOMPRESSED, _POINT_BYTES = 2, 65

    def __init__(self) -> None:
        name = ctypes.util.find_library("secp256k1")
        if name is None:
            raise ImportError("libsecp256k1")
        self._library = ctypes.CDLL(name)
        self._library.secp256k1_context_create.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.secp256k1_context_create(1))

    def _call(self, name: str, *arguments: Any) -> None:
        if getattr(self._library, f"secp256k1_{name}")(self._context, *arguments) != 1:
            raise ArithmeticError(f"secp256k1_{name} fails")

    def private(self, secret: bytes) -> bytes:
        """A private key."""
        return secret

    def public(self, point: bytes) -> Any:
        """A public key, parsed."""
        key = ctypes.create_string_buffer(64)
        self._call("ec_pubkey_parse", key, point, ctypes.c_size_t(len(point)))
        return key

    def public_of(self, key: bytes) -> Any:
        """The public key of a private key."""
        public = ctypes.create_string_buffer(64)
        self._call("ec_pubkey_create", public, key)
        return public

    def sign(self, key: bytes, message: bytes) -> bytes:
        """r || s, with the nonce of RFC 6979."""
        signature, raw = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
        self._call("ecdsa_sign", signature, hashlib.sha256(message).digest(), key, None, None)
        self._call("ecdsa_signature_serialize_compact", raw, signature)
        return raw.raw

    def verify(self, key: Any, signature: bytes, message: bytes) -> bool:
        """Whether r || s is valid."""
        parsed = ctypes.create_string_buffer(64)
        self._call("ecdsa_signature_parse_compact", parsed, signature)
        self._call("ecdsa_verify", parsed, hashlib.sha256(message).digest(), key)
        return True

    def exchange(self, key: bytes, other: Any) -> bytes:
        """SHA-256 of the compressed encoding of the shared point."""
        secret = ctypes.create_string_buffer(32)
        self._call("ecdh", secret, other, key, None, None)
        return secret.raw

    def is_secret(self, ours: bytes, theirs: bytes) -> bool:
        """Whether `ours`, x of the shared point, belongs to `theirs`."""
        return theirs in {hashlib.sha256(sign + ours).digest() for sign in (b"\2", b"\3")}

    def public_bytes(self, key: Any) -> bytes:
        """The uncompressed encoding."""
        point, size = ctypes.create_string_buffer(self._POINT_BYTES), ctypes.c_size_t(self._POINT_BYTES)
        self._call("ec_pubkey_serialize", point, ctypes.byref(size), key, ctypes.c_uint(self._UNCOMPRESSED))
        return point.raw

    def recover(self, signature: bytes, message: bytes) -> Any:
        """The public key of r || s || v."""
        parsed, key = ctypes.create_string_buffer(65), ctypes.create_string_buffer(64)
        self._call(
            "ecdsa_recoverable_signature_parse_compact", parsed, signature[:64], ctypes.c_int(signature[64])
        )
        self._call("ecdsa_recover", key, parsed, hashlib.sha256(message).digest())
        return key
