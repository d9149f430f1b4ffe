# SPDX-License-Identifier: Apache-2.0
r"""Rates of RSA verification from Python, by what signatures and messages are given as and how many they are.

    python bench/rsa_verify_bench.py --device cuda --items 1000000
    python bench/rsa_verify_bench.py --device cuda --operands "arrays, messages" --bits 2048 4096 \
        --items 1024 4096 16384 65536 262144 1048576 --json FILE.json

PKCS#1 v1.5 with SHA-256, one key of each length. One signature of each call is wrong, which it has to find.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
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
#: What signatures and messages are given as.
CASES = (
    "arrays, digests",
    "arrays, messages",
    "lists, digests",
    "lists, messages",
    "array of signatures, list of messages",
)


Case = tuple[Any, Any, Any]


def arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--items", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--bits", type=int, nargs="+", default=[2048], help="of new keys")
    parser.add_argument("--key", help="file of a private key, instead of new ones")
    parser.add_argument("--operands", choices=list(CASES), action="append", help="default: all")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", help="write the report to this file")
    return parser.parse_args()


def median_seconds(call: Callable[[], Any], runs: int, wrong: int) -> float:
    """Return the median time of `runs` calls after one to warm up; they refuse the item `wrong` alone."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        if np.flatnonzero(~np.asarray(result)).tolist() != [wrong]:
            raise RuntimeError("a verdict is not right")
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
    signatures = signatures[rows]
    signatures[items // 2, -1] ^= 1
    return signatures, made[rows], digests[rows]


def cases(arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> dict[str, Case]:
    """Return the signatures, messages and algorithm of the calls to measure."""
    signatures, messages, digests = arrays
    signature_list, message_list = list(map(bytes, signatures)), list(map(bytes, messages))
    hashed = rsa.Prehashed("sha256")
    values = (
        (signatures, digests, hashed),
        (signatures, messages, "sha256"),
        (signature_list, list(map(bytes, digests)), hashed),
        (signature_list, message_list, "sha256"),
        (signatures, message_list, "sha256"),
    )
    return dict(zip(CASES, values, strict=True))


def main() -> None:
    """Measure and print a table."""
    given = arguments()
    keys = [key_of(given.key, bits) for bits in ([0] if given.key else given.bits)]
    rows = []
    for key, items in itertools.product(keys, given.items):
        ring = rsa.KeyRing([key], device=given.device, threads=given.threads)
        of_items = cases(operands(ring, items))
        for name in given.operands or CASES:
            signed, texts, algorithm = of_items[name]
            call = partial(ring.verify, signed, texts, 0, "pkcs1v15", algorithm)
            seconds = median_seconds(call, given.runs, items // 2)
            row = {"bits": key.key_size, "items": items, "operands": name, "seconds": seconds}
            rows.append(row | {"items_per_second": items / seconds})
            rate = items / seconds / 1e6
            print(f"{key.key_size:5} {items:8} {name:40} {seconds * 1e3:9.2f} ms {rate:8.2f} M/s", flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({**vars(given), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
