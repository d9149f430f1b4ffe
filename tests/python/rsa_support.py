# SPDX-License-Identifier: Apache-2.0
"""RSA keys for tests, and the vector files of cryptography-vectors."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa as peer

from manymod import rsa

if not rsa.supported():
    pytest.skip("this build has no RSA", allow_module_level=True)

FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric"


@functools.cache
def _keys(bits: int, _number: int) -> tuple[peer.RSAPrivateKey, rsa.PrivateKey]:
    key = peer.generate_private_key(65537, bits)
    return key, rsa.PrivateKey.from_cryptography(key)


def peer_key(bits: int = 2048, number: int = 0) -> peer.RSAPrivateKey:
    """A key of the cryptography package, the same one for the same arguments within a process."""
    return _keys(bits, number)[0]


def private_key(bits: int = 2048, number: int = 0) -> rsa.PrivateKey:
    """`peer_key` as ours."""
    return _keys(bits, number)[1]


@dataclass(frozen=True)
class Vector:
    """One item of a vector file: the key's numbers that the file gives, and the item's fields."""

    key: dict[str, int]
    fields: dict[str, str] = field(default_factory=dict)

    def bytes(self, name: str) -> bytes:
        """A field as bytes; numbers are as long as the modulus."""
        value = bytes.fromhex(self.fields[name])
        return value.rjust(self.size, b"\0") if name == "S" else value

    @property
    def size(self) -> int:
        """Bytes of the modulus."""
        return (self.key["n"].bit_length() + 7) // 8

    @property
    def hash(self) -> str:
        """Name of the hash."""
        return self.fields["SHAAlg"].lower()


def nist_vectors(name: str, last: str, first: str = "n") -> list[Vector]:
    """Items of a file ``name = value``, each of which ends with the field `last`; keys begin with `first`."""
    key: dict[str, int] = {}
    fields: dict[str, str] = {}
    found = []
    for line in (FOLDER / "RSA" / name).read_text().splitlines():
        label, equals, value = (part.strip() for part in line.partition("="))
        if not equals or label.startswith(("#", "[")):
            continue
        if label == first:
            key = {}
        if label in {"n", "e", "d", "p", "q"}:
            key[label] = int(value, 16)
        else:
            fields[label] = value
        if label == last:
            found.append(Vector(dict(key), fields))
            fields = {}
    return found


#: Labels of the RSA Laboratories' files, and the names of the numbers.
LABELS = {
    "modulus": "n",
    "public exponent": "e",
    "private exponent": "d",
    "prime 1": "p",
    "prime 2": "q",
    "prime exponent 1": "dp",
    "prime exponent 2": "dq",
    "coefficient": "qinv",
}
TEXTS = {
    "message": "message",
    "message to be signed": "message",
    "message to be encrypted": "message",
    "signature": "result",
    "signature, the rsa decryption of em": "result",
    "encryption": "result",
    "ciphertext, the rsa encryption of em": "result",
}


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """Every label and the hexadecimal digits below it."""
    label, digits = "", ""
    for line in text.splitlines():
        if line.startswith("#"):
            if label:
                yield label, digits
            label, digits = line.strip("# \t:").lower(), ""
        elif re.fullmatch(r"[0-9a-fA-F \t]+", line):
            digits += "".join(line.split())
    yield label, digits


def rsa_laboratories_vectors(name: str) -> list[Vector]:
    """Items of a file with ``# Label:`` above each number; each ends with its signature or ciphertext."""
    key: dict[str, int] = {}
    fields: dict[str, str] = {}
    found = []
    private = False
    for label, digits in _labelled((FOLDER / "RSA" / name).read_text()):
        if label in {"public key", "private key"}:
            private = label == "private key"
            key = key if private else {}
        if not digits:
            continue
        if label == "exponent":
            key["d" if private else "e"] = int(digits, 16)
        elif label in LABELS:
            key[LABELS[label]] = int(digits, 16)
        elif label in TEXTS:
            fields[TEXTS[label]] = digits
            if TEXTS[label] == "result":
                found.append(Vector(dict(key), fields))
                fields = {}
    return found


def ring_of(
    vectors: list[Vector], make: Callable[[dict[str, int]], rsa.PrivateKey | rsa.PublicKey]
) -> tuple[rsa.KeyRing, list[int]]:
    """A ring of the keys of these items, and each item's index in it."""
    keys: dict[tuple[tuple[str, int], ...], int] = {}
    indices = [keys.setdefault(tuple(sorted(vector.key.items())), len(keys)) for vector in vectors]
    return rsa.KeyRing([make(dict(key)) for key in keys]), indices


def private_of(numbers: dict[str, Any]) -> rsa.PrivateKey:
    """A key of all the numbers given."""
    return rsa.PrivateKey.from_numbers(**numbers)


def public_of(numbers: dict[str, Any]) -> rsa.PublicKey:
    """A key of n and e."""
    return rsa.PublicKey.from_numbers(n=numbers["n"], e=numbers["e"])


def by_hash(vectors: list[Vector]) -> dict[str, list[Vector]]:
    """Items by the hash of their messages."""
    groups: dict[str, list[Vector]] = {}
    for vector in vectors:
        groups.setdefault(vector.hash, []).append(vector)
    return groups
