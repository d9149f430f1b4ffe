# SPDX-License-Identifier: Apache-2.0
"""Rates beside loops of GMP (the client) and of OpenSSL (private and public operation), on one CPU."""

from __future__ import annotations

import secrets
from pathlib import Path

import gmpy2
import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

import pairwise
from blind_rsa.encoding import encode
from blind_rsa.parties import Client, Signer
from manymod import rsa

__all__ = ["bench"]

_PEER_ITEMS = 64


def bench(bits: int, items: int, output: Path | None) -> None:
    """Measure the four steps of RSABSSA-SHA384-PSS-Randomized."""
    pairwise.pin_to_one_cpu()
    peer = generate_private_key(65537, bits)
    peer_public = peer.public_key()
    key = rsa.PrivateKey.from_cryptography(peer)
    client, signer = Client(key.public_key()), Signer(key)
    prepared = client.prepare([b"message %d" % number for number in range(items)])
    blinded, blinding = client.blind(prepared)
    blind_signatures = signer.blind_sign(blinded)
    signatures = client.finalize(blinding, blind_signatures)
    n, few = gmpy2.mpz(client.key.n), prepared[:_PEER_ITEMS]
    inverses = [gmpy2.mpz(inverse) for inverse in blinding.inverses[: len(few)]]
    pss = padding.PSS(padding.MGF1(hashes.SHA384()), 48)

    def verify_by_openssl(rows: np.ndarray) -> None:
        for row, message in zip(rows, few, strict=False):
            peer_public.verify(row.tobytes(), message, pss, hashes.SHA384())

    def peer_blind() -> None:
        for message in few:
            (number,) = encode([message], [secrets.token_bytes(48)], bits - 1)
            r = gmpy2.mpz(secrets.randbelow(int(n)))
            gmpy2.invert(r, n)
            number * gmpy2.powmod_sec(r, 65537, n) % n

    def peer_sign() -> None:
        for message in few:
            peer.sign(message, padding.PKCS1v15(), hashes.SHA256())

    def peer_finalize() -> None:
        for row, inverse in zip(blind_signatures, inverses, strict=False):
            int.from_bytes(row.tobytes(), "big") * inverse % n
        verify_by_openssl(signatures)

    count = len(few)
    rows = [
        pairwise.compare("blind", items, lambda: client.blind(prepared), "GMP", count, peer_blind),
        pairwise.compare(
            "sign", items, lambda: signer.blind_sign(blinded), "OpenSSL, PKCS#1 v1.5", count, peer_sign
        ),
        pairwise.compare(
            "finalize",
            items,
            lambda: client.finalize(blinding, blind_signatures),
            "GMP, OpenSSL",
            count,
            peer_finalize,
        ),
        pairwise.compare(
            "verify",
            items,
            lambda: client.verify(signatures, prepared),
            "OpenSSL",
            count,
            lambda: verify_by_openssl(signatures),
        ),
    ]
    pairwise.report(rows, output, ("cryptography", "gmpy2"), bits=bits)
