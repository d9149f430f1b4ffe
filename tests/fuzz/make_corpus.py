#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the seeds of the harness `rsa_key` from the test keys of ``tests/cpp/rsa/test_primes.hpp``.

The seeds are committed, since encrypted keys have a random salt. The first byte of a seed chooses the
options of the call: 0 gives the password.
"""

from __future__ import annotations

import re
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

FOLDER = Path(__file__).resolve().parent
PRIMES = FOLDER.parent / "cpp" / "rsa" / "test_primes.hpp"
PASSWORD = b"password"


def first_key() -> rsa.RSAPrivateKey:
    """Return the key of 1024 bits, the first of the header."""
    digits = re.findall(r'"([0-9a-f]+)"', PRIMES.read_text(encoding="utf-8"))
    p, q = int(digits[0] + digits[1], 16), int(digits[2] + digits[3], 16)
    e = int(digits[4], 16)
    d = pow(e, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(e, p * q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def encodings() -> dict[str, bytes]:
    """Return the seeds by name, without their first bytes."""
    key = first_key()
    seeds: dict[str, bytes] = {}
    plain = serialization.NoEncryption()
    secret = serialization.BestAvailableEncryption(PASSWORD)
    for name, encoding in (("der", serialization.Encoding.DER), ("pem", serialization.Encoding.PEM)):
        pkcs1 = serialization.PrivateFormat.TraditionalOpenSSL
        pkcs8 = serialization.PrivateFormat.PKCS8
        seeds[f"pkcs1.{name}"] = key.private_bytes(encoding, pkcs1, plain)
        seeds[f"pkcs8.{name}"] = key.private_bytes(encoding, pkcs8, plain)
        seeds[f"encrypted.{name}"] = key.private_bytes(encoding, pkcs8, secret)
        public = key.public_key()
        seeds[f"public-pkcs1.{name}"] = public.public_bytes(encoding, serialization.PublicFormat.PKCS1)
        seeds[f"public-spki.{name}"] = public.public_bytes(
            encoding, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    seeds["legacy.pem"] = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, secret
    )
    seeds["openssh.pem"] = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, plain
    )
    curve_key = ec.derive_private_key(12345, ec.SECP256R1())
    seeds["ec.pem"] = curve_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    )
    return seeds


def main() -> None:
    """Write the files."""
    folder = FOLDER / "corpus" / "rsa_key"
    folder.mkdir(parents=True, exist_ok=True)
    for name, encoded in encodings().items():
        (folder / name).write_bytes(b"\0" + encoded)


if __name__ == "__main__":
    main()
