# SPDX-License-Identifier: Apache-2.0
"""Vector files of elliptic curves, curves of the cryptography package by name, and groups of curves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cryptography_vectors
from cryptography.hazmat.primitives.asymmetric import ec
from reference.ecc import curves

from manymod import ecc

FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric"
OWN = Path(__file__).parent / "vectors"

CURVES = {
    "P-256": curves.P256,
    "P-384": curves.P384,
    "P-521": curves.P521,
    "K-256": curves.SECP256K1,
    "SECP256R1": curves.P256,
    "SECP256K1": curves.SECP256K1,
    "BRAINPOOLP256R1": curves.BRAINPOOL_P256R1,
    "BRAINPOOLP384R1": curves.BRAINPOOL_P384R1,
    "BRAINPOOLP512R1": curves.BRAINPOOL_P512R1,
}
PEERS: dict[str, ec.EllipticCurve] = {
    "secp256k1": ec.SECP256K1(),
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
    "brainpoolP256r1": ec.BrainpoolP256R1(),
    "brainpoolP384r1": ec.BrainpoolP384R1(),
    "brainpoolP512r1": ec.BrainpoolP512R1(),
}

WEIERSTRASS = [ecc.Curve.named(name) for name in PEERS]
SIGNING = [*WEIERSTRASS, ecc.SM2, ecc.ED25519, ecc.ED448]
MONTGOMERY = [ecc.X25519, ecc.X448]
ALL = [*SIGNING, ecc.BN254, ecc.BLS12_381, *MONTGOMERY]


def records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Blocks of `name = value` lines, each with the section that it is in, such as `P-256,SHA-224`."""
    section, block = "", dict[str, str]()
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        heading = re.fullmatch(r"\[(.*)\]", line.strip())
        entry = re.fullmatch(r"\s*(\w+)\s*=\s*(.*?)\s*", line)
        if entry:
            block[entry[1]] = entry[2]
        elif block:
            yield section, block
            block = {}
        if heading:
            section = heading[1]


def evenly(items: list[tuple[str, dict[str, str]]], count: int) -> list[tuple[str, dict[str, str]]]:
    """At most `count` of the items, spread over all of them."""
    step = max(1, -(-len(items) // count))
    return items[::step]


def number(text: str) -> int:
    """A hexadecimal number."""
    return int(text, 16)
