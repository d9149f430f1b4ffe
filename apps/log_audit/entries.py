# SPDX-License-Identifier: Apache-2.0
"""Entries of a log as a stream of bytes, and the keys that sign them.

An entry is the number of its key (2 bytes), the length of its signature (2), the length of its message (4),
all big-endian, then signature and message. All of it is the leaf of the Merkle tree.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric import rsa as peer_rsa

from manymod import ecc, rsa

__all__ = [
    "MAX_KEYS",
    "MAX_MESSAGE",
    "MAX_SIGNATURE",
    "Entry",
    "LogError",
    "SigningKeys",
    "encode_entry",
    "read_entries",
]

MAX_KEYS = 1 << 16
MAX_SIGNATURE = 2048  # bytes: that of RSA-16384
MAX_MESSAGE = 1 << 20
_HEADER = struct.Struct(">HHI")
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)


class LogError(ValueError):
    """The stream is no log from some entry on.

    Attributes:
        index: that entry's.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"entry {index}: {reason}")
        self.index = index


class Entry(NamedTuple):
    """One entry; `encoded` is all of it."""

    key: int
    signature: bytes
    message: bytes
    encoded: bytes


def encode_entry(key: int, signature: bytes, message: bytes) -> bytes:
    """The bytes of an entry."""
    return _HEADER.pack(key, len(signature), len(message)) + signature + message


def _read(log: BinaryIO, size: int) -> bytes:
    """`size` bytes, fewer at the end alone: raw streams return what they have."""
    data = log.read(size)
    while 0 < len(data) < size and (more := log.read(size - len(data))):
        data += more
    return data


def read_entries(log: BinaryIO) -> Iterator[Entry]:
    """The entries of a stream, one at a time.

    Raises:
        LogError: if it ends within an entry, or an entry is longer than one may be.
    """
    index = 0
    while header := _read(log, _HEADER.size):
        if len(header) < _HEADER.size:
            raise LogError(index, "the log ends within its header")
        key, signature_size, message_size = _HEADER.unpack(header)
        if signature_size > MAX_SIGNATURE or message_size > MAX_MESSAGE:
            raise LogError(index, f"{signature_size} bytes of signature and {message_size} of message")
        body = _read(log, signature_size + message_size)
        if len(body) < signature_size + message_size:
            raise LogError(index, "the log ends within it")
        yield Entry(key, body[:signature_size], body[signature_size:], header + body)
        index += 1


def _loaded(number: int, block: bytes) -> peer_rsa.RSAPublicKey | ec.EllipticCurvePublicKey:
    """The key of a block of PEM."""
    try:
        key = serialization.load_pem_public_key(block)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(f"key {number}: {error}") from None
    if not isinstance(key, (peer_rsa.RSAPublicKey, ec.EllipticCurvePublicKey)):
        raise ValueError(f"key {number} is neither of RSA nor of ECDSA")
    return key


def _converted(
    number: int, key: peer_rsa.RSAPublicKey | ec.EllipticCurvePublicKey
) -> rsa.PublicKey | ecc.Key:
    """The key for manymod."""
    try:
        if isinstance(key, peer_rsa.RSAPublicKey):
            return rsa.PublicKey.from_cryptography(key)
        return ecc.Key.from_cryptography(key)
    except ValueError as error:
        raise ValueError(f"key {number}: {error}") from None


class SigningKeys:
    """The public keys of a log's signers, RSA and elliptic curves mixed; entries name them by their number.

    Args:
        keys: of the cryptography package: RSA for PKCS#1 v1.5 with SHA-256, curves for ECDSA with their usual
            hash and signatures in DER.

    Raises:
        ValueError: if there is no key, or naming one that manymod does not have.

    Attributes:
        kinds: of each key, a row of `places`: 0 for RSA, 1 for ECDSA.
        places: of each key, its index in the ring of its kind.
        rsa: a ring of the RSA keys, None if there are none.
        ecc: likewise.
    """

    def __init__(self, keys: Sequence[peer_rsa.RSAPublicKey | ec.EllipticCurvePublicKey]) -> None:
        kinds = (peer_rsa.RSAPublicKey, ec.EllipticCurvePublicKey)
        if not keys or not all(isinstance(key, kinds) for key in keys):
            raise ValueError("expected keys of RSA or ECDSA, one at least")
        converted = [_converted(number, key) for number, key in enumerate(keys)]
        rsa_keys = [key for key in converted if isinstance(key, rsa.PublicKey)]
        ec_keys = [key for key in converted if isinstance(key, ecc.Key)]
        self.keys = list(keys)
        self.kinds = np.array([isinstance(key, ec.EllipticCurvePublicKey) for key in keys], np.int64)
        self.places = np.where(self.kinds == 0, np.cumsum(self.kinds == 0), np.cumsum(self.kinds)) - 1
        self.rsa = rsa.KeyRing(rsa_keys) if rsa_keys else None
        self.ecc = ecc.KeyRing(ec_keys) if ec_keys else None

    @classmethod
    def from_pem(cls, data: bytes) -> SigningKeys:
        """Of the blocks of a PEM file, in their order.

        Raises:
            ValueError: if there is none, or one is damaged or of another algorithm: without it, entries would
                name other keys than they do.
        """
        if b"-----" in _PEM.sub(b"", data):
            raise ValueError("a block of PEM is no public key, or its first or last line is damaged")
        return cls([_loaded(number, block) for number, block in enumerate(_PEM.findall(data))])

    def to_pem(self) -> bytes:
        """A PEM file of the keys."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return b"".join(key.public_bytes(serialization.Encoding.PEM, form) for key in self.keys)
