#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare signatures, verdicts and shared secrets that a device computes with those of the CPU.

    python tools/check_curves.py --device cuda --items 20000

Every scheme on every curve is signed in each encoding and with each source of nonces. Signatures that a
key and a message determine must be equal; others must be valid for the CPU. Of the signatures that are
verified, one in seven is damaged, and both devices must give the same verdicts. Messages have 0 to 99 bytes.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from typing import Any

from manymod import VariantError, ecc

CURVES = [
    *("P256", "P384", "P521", "SECP256K1", "SM2", "ED25519", "ED448"),
    *("BRAINPOOL_P256R1", "BRAINPOOL_P384R1", "BRAINPOOL_P512R1", "BN254", "BLS12_381"),
]
EXCHANGES = [
    *("P256", "P384", "P521", "SECP256K1", "X25519", "X448"),
    *("BRAINPOOL_P256R1", "BRAINPOOL_P384R1", "BRAINPOOL_P512R1", "BN254", "BLS12_381"),
]


def ways(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], bool]]:
    """Give options of signing and verifying, and whether the signatures are determined, for a curve."""
    if name.startswith("ED"):
        for policy in ("rfc8032", "strict", "zip215"):
            yield {}, {"policy": policy}, True
        yield {"context": b"context"}, {"context": b"context"}, True
        return
    for encoding in ("raw", "der"):
        for nonces in ("deterministic", "hedged"):
            yield {"encoding": encoding, "nonces": nonces}, {"encoding": encoding}, nonces != "hedged"
    if name == "SECP256K1":
        for nonces in ("deterministic", "hedged"):
            yield {"scheme": "bip340", "nonces": nonces}, {"scheme": "bip340"}, nonces != "hedged"


def damaged(signatures: list[bytes], source: random.Random) -> list[bytes]:
    """Flip a bit of every seventh signature."""
    result = []
    for item, signature in enumerate(signatures):
        changed = bytearray(signature)
        if item % 7 == 3:
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
        result.append(bytes(changed))
    return result


def check(name: str, device: str, items: int, source: random.Random) -> Iterator[str]:
    """Give a line for each difference between the device and the CPU."""
    curve = getattr(ecc, name)
    secrets, keys = curve.generate(items, device="cpu")
    if not (curve.public_keys(secrets, device=device) == keys).all():
        yield f"{name}: public keys differ"
    messages = [source.randbytes(item % 100) for item in range(items)]
    for signing, verifying, determined in ways(name):
        found = curve.sign(secrets, messages, device=device, **signing)
        if determined and found != curve.sign(secrets, messages, device="cpu", **signing):
            yield f"{name}, {signing}: signatures differ"
        public = keys[:, 1:33] if signing.get("scheme") == "bip340" else keys
        public = public.copy()
        if not all(curve.verify(public, found, messages, device="cpu", **verifying)):
            yield f"{name}, {signing}: signatures are not valid"
        given = damaged(found, source)
        verdicts = [
            list(curve.verify(public, given, messages, device=where, **verifying))
            for where in (device, "cpu")
        ]
        if verdicts[0] != verdicts[1]:
            yield f"{name}, {verifying}: verdicts differ"


def check_exchange(name: str, device: str, items: int) -> Iterator[str]:
    """Give a line if shared secrets differ."""
    curve = getattr(ecc, name)
    secrets, _ = curve.generate(items, device="cpu")
    _, keys = curve.generate(items, device="cpu")
    found, expected = (curve.exchange(secrets, keys, device=where) for where in (device, "cpu"))
    if not (found == expected).all():
        yield f"{name}: shared secrets differ"


def check_sm2_exchange(device: str, items: int) -> Iterator[str]:
    """Give a line if keys of SM2 key exchanges differ."""
    pairs = [ecc.SM2.generate(items, device="cpu") for _ in range(4)]
    own, ephemeral = (pair[0] for pair in pairs[:2])
    keys, points = (pair[1] for pair in pairs[2:])
    found, expected = (
        ecc.SM2.sm2_exchange(own, ephemeral, keys, points, confirm=True, device=where)
        for where in (device, "cpu")
    )
    if not (found == expected).all():
        yield "SM2: exchanged keys differ"


def check_points(name: str, device: str, items: int, source: random.Random) -> Iterator[str]:
    """Give a line if sums of two points, or of multiples of many, differ."""
    curve = getattr(ecc, name)
    points, others = (curve.generate(items, device="cpu")[1] for _ in range(2))
    others[::5] = points[::5]
    cases = {
        "random": [source.randrange(1 << 250) for _ in range(items)],
        "equal": [source.randrange(1 << 250)] * items,
        "short": [source.randrange(40) for _ in range(items)],
    }
    sums = [curve.add(points, others, device=where) for where in (device, "cpu")]
    if not (sums[0] == sums[1]).all():
        yield f"{name}: sums of two points differ"
    for title, scalars in cases.items():
        found, expected = (curve.msm(scalars, others, device=where) for where in (device, "cpu"))
        if bytes(found) != bytes(expected):
            yield f"{name}, {title} scalars: sums of multiples differ"


def timed(title: str, differences: Iterator[str]) -> int:
    """Print what is different, or why nothing is; return differences."""
    begin = time.perf_counter()
    try:
        lines = list(differences)
    except VariantError as error:
        print(f"{title}: {error}")
        return 0
    print("\n".join(lines) or f"{title}: equal", f"({time.perf_counter() - begin:.1f} s)", flush=True)
    return len(lines)


def main() -> int:
    """Compare all curves; return 1 if there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--curves", nargs="+", default=CURVES)
    arguments = parser.parse_args()
    source = random.Random(7)
    failures = 0
    for name in arguments.curves:
        failures += timed(name, check(name, arguments.device, arguments.items, source))
        points = check_points(name, arguments.device, arguments.items, source)
        failures += timed(f"{name}, sums", points)
    for name in EXCHANGES:
        failures += timed(f"{name}, exchange", check_exchange(name, arguments.device, arguments.items))
    failures += timed("SM2 key exchange", check_sm2_exchange(arguments.device, arguments.items))
    return int(failures != 0)


if __name__ == "__main__":
    raise SystemExit(main())
