# SPDX-License-Identifier: Apache-2.0
"""Known answers of curves, which `manymod selftest` compares every variant with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from manymod import Status, ecc

__all__ = ["CURVE_OPERATIONS", "KNOWN", "curve_variants", "private_keys", "short_digest", "wrong_answers"]

#: What is tested, and in which timing class.
CURVE_OPERATIONS = {
    "public_keys": "secret",
    "points": "public",
    "sign": "secret",
    "verify": "public",
    "exchange": "secret",
}
MESSAGE = b"manymod selftest"
#: More than one vector of any width, with a rest.
ITEMS = 17

#: The answers for both private keys of a curve, by `short_digest`: public keys, signatures, and the secret
#: that they share. reference/ecc gives the same (tests/python/test_cli_selftest_curves.py).
KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    "P-256": {
        "public_keys": ("6b772ae407353498", "1e4b09cd04349dab"),
        "sign": ("01c89781a1f1eb68", "baba79c697073048"),
        "exchange": ("9ef83814f5f3a3e4",),
    },
    "P-384": {
        "public_keys": ("fdbfd92e57fba8fe", "02537a16ea2832e3"),
        "sign": ("60de2f81df49827a", "7c5e6c816b422865"),
        "exchange": ("1e01b7be462241cc",),
    },
    "P-521": {
        "public_keys": ("ec39901cb386e95a", "48ce1c523f133aea"),
        "sign": ("0ec9a161a2b283c2", "1ce59959d5352f16"),
        "exchange": ("0752bcfced80458f",),
    },
    "secp256k1": {
        "public_keys": ("36a6eddcb07fd4e9", "f3e0539f488c9cb1"),
        "sign": ("144c36385706b2c8", "03cba5b860a2a682"),
        "exchange": ("e3f0db722155b371",),
    },
    "SM2": {
        "public_keys": ("7aaaaad211572118", "45c502e3d4b18897"),
        "sign": ("66bafcba9299f23d", "0185867af05889ff"),
        "exchange": ("3e0f73187b3e0636",),
    },
    "brainpoolP256r1": {
        "public_keys": ("5c756e0cecfed5a5", "b87f9aefc28dadc6"),
        "sign": ("b9c8cd154f5e4624", "9af37f0c18542dc6"),
        "exchange": ("7e821a575dfb1c28",),
    },
    "brainpoolP384r1": {
        "public_keys": ("c8ec5572dfb1b00e", "d66178e5bd3aba29"),
        "sign": ("2f4f56002aa0efff", "9cd1c541d7a28ffb"),
        "exchange": ("3dab6dc8e3b3b9ef",),
    },
    "brainpoolP512r1": {
        "public_keys": ("b8c6499d29fc40df", "5407062e90be4184"),
        "sign": ("23b7dd0ac9ddb548", "25891ba0b625da6a"),
        "exchange": ("0be74f286402baaf",),
    },
    "BN254": {
        "public_keys": ("e96d3521f108a85e", "2b4d2fa7c540e692"),
        "sign": ("bb855b4ffba27aee", "5a28263126f83db1"),
        "exchange": ("f606826b5fc73a21",),
    },
    "BLS12-381": {
        "public_keys": ("74f37cce172e25d9", "14d2500a0dda2f38"),
        "sign": ("fa28360cb5ae3bee", "00582b5ebdae7de2"),
        "exchange": ("ab0bcae117def1b9",),
    },
    "Ed25519": {
        "public_keys": ("2425c19421631ee4", "71908b927b7490a4"),
        "sign": ("3f35089223429399", "a4c3410e84fb11e1"),
    },
    "X25519": {"public_keys": ("d7a85dbf5b81a2f6", "f78adfe94d540372"), "exchange": ("78020b36c5838be2",)},
    "Ed448": {
        "public_keys": ("1b3380d7ecfde26c", "b62e870430238c8e"),
        "sign": ("a63498ae80b06793", "0097fe0d34618f5c"),
    },
    "X448": {"public_keys": ("5aa25bddd6e432bd", "98b45f0eb3323477"), "exchange": ("f5a030cb594fa5a0",)},
}


def private_keys(curve: ecc.Curve) -> list[bytes]:
    """Two private keys, which begin with a zero byte: below the order of the curve."""
    return [
        bytes(1) + hashlib.shake_256(f"{curve.name} {number}".encode()).digest(curve.secret_bytes - 1)
        for number in (1, 2)
    ]


def short_digest(answer: bytes) -> str:
    """What stands for an answer in `KNOWN`: eight bytes of its SHA-256."""
    return hashlib.sha256(answer).hexdigest()[:16]


def curve_variants() -> list[str]:
    """Names of the variants that this machine can run on some curve."""
    if not ecc.supported():
        return []
    usable = {name for curve in ecc.named_curves() for name in ecc.variants(curve)}
    return [name for name in ecc.variants() if name in usable]


def wrong_answers(operation: str, variant: str) -> Iterator[tuple[int, list[str]]]:
    """The number of items on each curve that has the operation, and what is wrong with some of them."""
    for curve in ecc.named_curves():
        if variant not in ecc.variants(curve) or operation not in _operations(curve):
            continue
        faults = _faults(curve, operation, variant)
        yield ITEMS, [f"{curve.name}: {operation}(item {item}) {fault}" for item, fault in faults]


def _operations(curve: ecc.Curve) -> list[str]:
    return [
        "public_keys",
        *(["points"] if curve.form == "weierstrass" else []),
        *(["sign", "verify"] if curve.signature_bytes else []),
        *(["exchange"] if curve.form != "edwards" else []),
    ]


def _faults(curve: ecc.Curve, operation: str, variant: str) -> Iterator[tuple[int, str]]:
    how: dict[str, Any] = {"variant": variant, "errors": "status"}
    both = private_keys(curve)
    secrets = [both[item % 2] for item in range(ITEMS)]
    if operation == "verify":
        yield from _wrong_verdicts(curve, secrets, how)
        return
    compressed = [_compressed(curve, key) for key in curve.public_keys(secrets, variant=variant)]
    peers = [curve.public_keys(both[1 - item % 2], variant=variant) for item in range(ITEMS)]
    calls: dict[str, Callable[[], Any]] = {
        "public_keys": lambda: curve.public_keys(secrets, **how),
        "points": lambda: curve.points(compressed, **how),
        "sign": lambda: curve.sign(secrets, MESSAGE, **how),
        "exchange": lambda: curve.exchange(secrets, peers, **how),
    }
    known = KNOWN[curve.name]["public_keys" if operation == "points" else operation]
    answers, statuses = calls[operation]()
    for item, (answer, status) in enumerate(zip(answers, statuses, strict=True)):
        if status != Status.OK:
            yield item, f"has the status {Status(int(status)).name}"
        elif short_digest(answer) != known[item % len(known)]:
            yield item, f"is not the known answer, but {answer.hex()}"


def _compressed(curve: ecc.Curve, key: bytes) -> bytes:
    """A public key without its y; on curves of other forms itself."""
    return bytes([2 + key[-1] % 2]) + key[1 : 1 + len(key) // 2] if curve.form == "weierstrass" else key


def _wrong_verdicts(curve: ecc.Curve, secrets: list[bytes], how: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Of signatures every third of which has a wrong bit."""
    where = {"variant": how["variant"]}
    signatures = curve.sign(secrets, MESSAGE, **where)
    good = [item % 3 != 0 for item in range(len(secrets))]
    for item, valid in enumerate(good):
        if not valid:
            signatures[item] = bytes([*signatures[item][:-1], signatures[item][-1] ^ 1])
    verdicts, _ = curve.verify(curve.public_keys(secrets, **where), signatures, MESSAGE, **how)
    for item, (verdict, wanted) in enumerate(zip(verdicts, good, strict=True)):
        if verdict != wanted:
            yield item, f"is {wanted}, got {verdict}"
