# SPDX-License-Identifier: Apache-2.0
"""The variants of RFC 9474, section 5, and their encoding: EMSA-PSS (RFC 8017, section 9.1.1), SHA-384."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manymod import IntArray

__all__ = ["VARIANTS", "Variant", "encode"]

_DIGEST_BYTES = 48


@dataclass(frozen=True)
class Variant:
    """A named variant.

    Attributes:
        name: as the RFC has it.
        salt_bytes: length of the salt of PSS.
        randomized: whether `Client.prepare` puts 32 random bytes before the message.
    """

    name: str
    salt_bytes: int
    randomized: bool


VARIANTS = {
    name: Variant(name, salt_bytes, name.endswith("Randomized"))
    for name, salt_bytes in (
        ("RSABSSA-SHA384-PSS-Randomized", _DIGEST_BYTES),
        ("RSABSSA-SHA384-PSSZERO-Randomized", 0),
        ("RSABSSA-SHA384-PSS-Deterministic", _DIGEST_BYTES),
        ("RSABSSA-SHA384-PSSZERO-Deterministic", 0),
    )
}


def _mask(seed: bytes, counters: Sequence[bytes]) -> bytes:
    """MGF1 (RFC 8017, appendix B.2.1), whole digests."""
    return b"".join([hashlib.sha384(seed + counter).digest() for counter in counters])


def encode(messages: Sequence[bytes], salts: Sequence[bytes], bits: int) -> IntArray:
    """EMSA-PSS-ENCODE as numbers below 2^bits, each as wide as `bits`.

    Args:
        messages: of any lengths.
        salts: one for each message, all of one length.
        bits: of the modulus less one; 8 * (48 + length of a salt) + 9 at least.
    """
    size = (bits + 7) // 8
    if any(len(salt) != len(salts[0]) for salt in salts) or len(salts) != len(messages):
        raise ValueError("each message has a salt, of the length of the others")
    masked_size = size - _DIGEST_BYTES - 1
    salt_bytes = len(salts[0]) if salts else 0
    if bits < 8 * (_DIGEST_BYTES + salt_bytes) + 9:
        raise ValueError(f"a modulus of {bits + 1} bits is too short for this variant")
    counters = [number.to_bytes(4, "big") for number in range(-(-masked_size // _DIGEST_BYTES))]
    digests = [
        hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
        for message, salt in zip(messages, salts, strict=True)
    ]
    encoded = np.zeros((len(messages), size), np.uint8)
    if len(messages):
        masks = b"".join([_mask(digest, counters)[:masked_size] for digest in digests])
        block = encoded[:, :masked_size]  # zeros, 1, salt
        block[:, masked_size - salt_bytes - 1] = 1
        block[:, masked_size - salt_bytes :] = np.frombuffer(b"".join(salts), np.uint8).reshape(
            len(salts), salt_bytes
        )
        block ^= np.frombuffer(masks, np.uint8).reshape(-1, masked_size)
        encoded[:, 0] &= 0xFF >> (8 * size - bits)
        encoded[:, masked_size:-1] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _DIGEST_BYTES)
        encoded[:, -1] = 0xBC
    return IntArray.from_bytes(encoded)
