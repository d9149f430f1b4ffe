# SPDX-License-Identifier: Apache-2.0
"""Logs to audit, of any length: entries signed in batches, half by RSA and half by ECDSA."""

from __future__ import annotations

import random
import time
from collections.abc import Collection
from typing import BinaryIO

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from log_audit.entries import MAX_KEYS, SigningKeys, encode_entry
from log_audit.head import TreeHead, sign_head
from log_audit.merkle import MerkleTree, leaf_hash
from manymod import ecc, rsa

__all__ = ["check_counts", "generate"]

_BATCH = 8192


class _Signers:
    """Private keys: RSA-2048 and P-256 in turns."""

    def __init__(self, count: int) -> None:
        keys = [
            ec.generate_private_key(ec.SECP256R1()) if number % 2 else generate_private_key(65537, 2048)
            for number in range(count)
        ]
        self.public = SigningKeys([key.public_key() for key in keys])
        self._rsa = rsa.KeyRing(
            [rsa.PrivateKey.from_cryptography(key) for key in keys if isinstance(key, RSAPrivateKey)]
        )
        self._ecc = ecc.KeyRing(
            [ecc.Key.from_cryptography(key) for key in keys if not isinstance(key, RSAPrivateKey)]
        )

    def sign(self, messages: list[bytes], numbers: list[int]) -> list[bytes]:
        """Signatures by the keys of these numbers."""
        signatures = [b""] * len(messages)
        for kind in (0, 1):
            items = [item for item, number in enumerate(numbers) if number % 2 == kind]
            chosen = [messages[item] for item in items]
            places = [numbers[item] // 2 for item in items]
            if not items:
                continue
            if kind == 0:
                signed = self._rsa.sign(chosen, places, "pkcs1v15", "sha256")
            else:
                signed = self._ecc.sign(chosen, places, encoding="der")
            for item, signature in zip(items, signed, strict=True):
                signatures[item] = signature
        return signatures


def check_counts(entries: int, keys: int) -> None:
    """Check what `generate` takes.

    Raises:
        ValueError: if it refuses them.
    """
    if not 2 <= keys <= MAX_KEYS or keys % 2:
        raise ValueError(f"keys must be an even number, 2 to {MAX_KEYS}, not {keys}")
    if entries < 0:
        raise ValueError(f"entries must be 0 or more, not {entries}")


def generate(
    log: BinaryIO, entries: int, *, keys: int = 8, damaged: Collection[int] = (), seed: int = 1
) -> tuple[SigningKeys, ec.EllipticCurvePublicKey, TreeHead]:
    """Write a log.

    Args:
        log: a stream that is written to.
        entries: how many, 0 or more.
        keys: signers, an even number of up to 65536, half of them of RSA.
        damaged: entries whose message differs from what was signed.
        seed: of the choice of keys.

    Returns:
        The signers' keys, the log's key and the tree head that it signed.
    """
    check_counts(entries, keys)
    signers, log_key = _Signers(keys), ec.generate_private_key(ec.SECP256R1())
    rng, tree = random.Random(seed), MerkleTree()  # noqa: S311 - nothing secret
    for first in range(0, entries, _BATCH):
        indices = range(first, min(first + _BATCH, entries))
        messages = [b"entry %d: example-%d.org" % (index, rng.getrandbits(40)) for index in indices]
        numbers = rng.choices(range(keys), k=len(messages))
        signatures = signers.sign(messages, numbers)
        for index, number, signature, message in zip(indices, numbers, signatures, messages, strict=True):
            written = message + b"!" if index in damaged else message
            encoded = encode_entry(number, signature, written)
            log.write(encoded)
            tree.append(leaf_hash(encoded))
    head = sign_head(entries, time.time_ns() // 10**6, tree.root(), ecc.Key.from_cryptography(log_key))
    return signers.public, log_key.public_key(), head
