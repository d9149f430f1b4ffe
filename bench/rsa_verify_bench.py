# SPDX-License-Identifier: Apache-2.0
"""Rates of RSA verification from Python, by what signatures and messages are given as.

python bench/rsa_verify_bench.py --device cuda --items 1000000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from manymod import rsa

#: Signatures that are made; calls on more items repeat them.
SIGNED = 4096
MESSAGE_BYTES = 32


def arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, default=2048, help="of a new key")
    parser.add_argument("--key", help="file of a private key, instead of a new one")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", help="write the report to this file")
    return parser.parse_args()


def median_seconds(call: Callable[[], Any], runs: int) -> float:
    """Return the median time of `runs` calls after one to warm up."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        if not np.all(result):
            raise RuntimeError("a good signature was refused")
    return sorted(times[1:])[runs // 2]


def key_of(file: str | None, bits: int) -> rsa.PrivateKey:
    """Return the key in `file`, or one that the cryptography package makes."""
    if file is not None:
        return rsa.PrivateKey.from_pem(Path(file).read_bytes())
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key  # noqa: PLC0415

    return rsa.PrivateKey.from_cryptography(generate_private_key(65537, bits))


def operands(ring: rsa.KeyRing, items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return signatures, messages and digests as arrays of rows."""
    made = np.random.default_rng(1).integers(0, 256, (min(items, SIGNED), MESSAGE_BYTES), np.uint8)
    signatures = ring.sign(made, 0, "pkcs1v15", "sha256")
    digests = np.array([list(hashlib.sha256(row.tobytes()).digest()) for row in made], np.uint8)
    rows = np.arange(items) % len(made)
    return signatures[rows], made[rows], digests[rows]


def main() -> None:
    """Measure and print a table."""
    given = arguments()
    ring = rsa.KeyRing([key_of(given.key, given.bits)], device=given.device, threads=given.threads)
    signatures, messages, digests = operands(ring, given.items)
    signature_list, message_list = list(map(bytes, signatures)), list(map(bytes, messages))
    hashed = rsa.Prehashed("sha256")
    cases: dict[str, tuple[Any, Any, Any]] = {
        "arrays, digests": (signatures, digests, hashed),
        "arrays, messages": (signatures, messages, "sha256"),
        "lists, digests": (signature_list, list(map(bytes, digests)), hashed),
        "lists, messages": (signature_list, message_list, "sha256"),
        "array of signatures, list of messages": (signatures, message_list, "sha256"),
    }
    rows = []
    for name, (signed, texts, algorithm) in cases.items():
        call = partial(ring.verify, signed, texts, 0, "pkcs1v15", algorithm)
        seconds = median_seconds(call, given.runs)
        rows.append({"operands": name, "seconds": seconds, "items_per_second": given.items / seconds})
        print(f"{name:40} {seconds * 1e3:9.2f} ms {given.items / seconds / 1e6:8.2f} M/s", flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({**vars(given), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
