# SPDX-License-Identifier: Apache-2.0
"""Rates beside loops of OpenSSL's verification, which neither read nor hash a tree, on one CPU."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

import pairwise
from log_audit.audit import audit
from log_audit.entries import Entry, SigningKeys, encode_entry, read_entries
from log_audit.generation import generate

__all__ = ["bench"]

_PEER_ITEMS = 256


def _verify_by_openssl(entries: list[Entry], keys: SigningKeys) -> None:
    pkcs1v15, sha256, ecdsa = padding.PKCS1v15(), hashes.SHA256(), ec.ECDSA(hashes.SHA256())
    for entry in entries:
        key = keys.keys[entry.key]
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(entry.signature, entry.message, pkcs1v15, sha256)
        else:
            key.verify(entry.signature, entry.message, ecdsa)


def _nothing_bad(index: int, reason: str) -> None:
    raise RuntimeError(f"entry {index}: {reason}")


def _audit(data: bytes, keys: SigningKeys) -> None:
    audit(io.BytesIO(data), keys, _nothing_bad)


def bench(count: int, output: Path | None) -> None:
    """Measure a log of `count` entries, and the same of the entries of one kind alone.

    Raises:
        ValueError: if there are so few entries that all of them are of one kind.
    """
    pairwise.pin_to_one_cpu()
    stream = io.BytesIO()
    keys, _, _ = generate(stream, count)
    stream.seek(0)
    entries = list(read_entries(stream))
    if len({int(keys.kinds[entry.key]) for entry in entries}) < 2:
        raise ValueError(f"not both kinds of keys have entries among {count}: measure more")
    rows = []
    for what, chosen in (
        ("audit, half RSA-2048, half P-256", entries),
        ("audit, RSA-2048 alone", [entry for entry in entries if keys.kinds[entry.key] == 0]),
        ("audit, P-256 alone", [entry for entry in entries if keys.kinds[entry.key] == 1]),
    ):
        data = b"".join(encode_entry(entry.key, entry.signature, entry.message) for entry in chosen)
        few = chosen[:_PEER_ITEMS]
        ours, theirs = partial(_audit, data, keys), partial(_verify_by_openssl, few, keys)
        rows.append(pairwise.compare(what, len(chosen), ours, "OpenSSL", len(few), theirs))
    pairwise.report(rows, output, ("cryptography",), entries=count)
