# SPDX-License-Identifier: Apache-2.0
"""Whole calls with arrays of the host, on one GPU and on all of them in turns, results compared.

    python bench/cuda/several_gpus.py --output bench/results/several_gpus_CARD.json

The first call of each, which makes tables and memory, is not timed, and results go to arrays that are there.
A rate is that of the median of the repetitions, a ratio the median of the ratios of neighbouring calls.
Powers have a random odd modulus for each item and are compared with Python's pow in a sample; all results on
several GPUs are compared with those on one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from limb_arrays import number, random_powers

import manymod
from manymod import ecc, rsa

#: Items of a call by bits: some tenths of a second on one H100.
POWERS = {256: 4_000_000, 512: 4_000_000, 1024: 1_600_000, 2048: 400_000, 4096: 140_000}
RSA = {2048: 800_000, 3072: 400_000, 4096: 300_000}
CURVES = ("P-256", "secp256k1", "P-384", "Ed25519")
CURVE_ITEMS = 4_000_000
#: What the items of a call of RSA or on a curve repeat.
DISTINCT = 1000
SAMPLE = 20


@dataclass
class Workload:
    """One kind of call: `call` takes the name of a device."""

    operation: str
    bits: int | str
    items: int
    call: Callable[[str], Any]
    right: Callable[[Any], bool]


def powers(scale: float) -> Iterator[Workload]:
    """Powers with exponents as long as the moduli."""
    random = np.random.default_rng(1)
    for bits, most in POWERS.items():
        items = max(SAMPLE, round(most * scale))
        bases, exponents, moduli = random_powers(random, items, bits)

        results = np.zeros_like(moduli)

        def call(device: str, given: Any = (bases, exponents, moduli), out: Any = results) -> Any:
            return manymod.powmod(*given, device=device, out=out)

        def right(results: Any, given: Any = (bases, exponents, moduli)) -> bool:
            rows = np.linspace(0, len(results) - 1, SAMPLE).astype(int)
            return all(number(results[i]) == pow(*(number(array[i]) for array in given)) for i in rows)

        yield Workload("powmod", bits, items, call, right)


def tiled(rows: Any, items: int) -> Any:
    """Return so many rows that repeat the given ones."""
    return np.tile(rows, (-(-items // len(rows)), 1))[:items]


def signatures(scale: float) -> Iterator[Workload]:
    """RSA signatures, PKCS #1 v1.5, of messages of 32 bytes by one key."""
    random = np.random.default_rng(2)
    for bits, most in RSA.items():
        items = max(SAMPLE, round(most * scale))
        key = rsa.PrivateKey.from_cryptography(generate_private_key(65537, bits))
        messages = tiled(random.integers(0, 256, (DISTINCT, 32), dtype=np.uint8), items)
        rings: dict[str, rsa.KeyRing] = {}
        results = np.zeros((items, bits // 8), np.uint8)

        def call(device: str, given: Any = (key, messages, rings, results)) -> Any:
            key, messages, rings, out = given
            ring = rings.setdefault(device, rsa.KeyRing([key], device=device))
            return ring.sign(messages, 0, "pkcs1v15", "sha256", out=out)

        def right(results: Any, key: Any = key, messages: Any = messages) -> bool:
            sample = slice(0, SAMPLE)
            return all(
                key.public_key().verify(results[sample], messages[sample], "pkcs1v15", "sha256").tolist()
            )

        yield Workload("RSA sign", bits, items, call, right)


def on_curves(scale: float) -> Iterator[Workload]:
    """Signing with derived nonces and without a check, and verification, with a key for each item."""
    random = np.random.default_rng(3)
    items = max(SAMPLE, round(CURVE_ITEMS * scale))
    for name in CURVES:
        curve = ecc.Curve.named(name)
        few_secrets, few_keys = curve.generate(DISTINCT)
        few_messages = random.integers(0, 256, (DISTINCT, 32), dtype=np.uint8)
        few_signatures = curve.sign(few_secrets, few_messages, device="cpu")
        secrets, keys, messages, expected = (
            tiled(rows, items) for rows in (few_secrets, few_keys, few_messages, few_signatures)
        )

        results = np.zeros_like(expected)

        def sign(device: str, curve: Any = curve, given: Any = (secrets, messages, results)) -> Any:
            return curve.sign(*given[:2], device=device, check=False, out=given[2])

        def verify(device: str, curve: Any = curve, given: Any = (keys, expected, messages)) -> Any:
            return curve.verify(*given, device=device)

        def equal(results: Any, expected: Any = expected) -> bool:
            return bool(np.array_equal(results, expected))

        yield Workload("sign", name, items, sign, equal)
        yield Workload("verify", name, items, verify, lambda results: bool(np.all(results)))


PARTS = {"powers": powers, "rsa": signatures, "curves": on_curves}


def seconds_of(work: Workload, device: str) -> tuple[float, Any]:
    """Return the time of one call and its results."""
    start = time.perf_counter()
    results = work.call(device)
    return time.perf_counter() - start, results


def measured(work: Workload, repetitions: int) -> dict[str, Any]:
    """Return one row of the report."""
    one, results = seconds_of(work, "cuda:0")
    right = work.right(results)
    expected = np.array(results)
    results[...] = 0
    _, others = seconds_of(work, "cuda")
    right = right and bool(np.array_equal(expected, others))
    alone, together = [], []
    for _ in range(repetitions):
        one, _ = seconds_of(work, "cuda:0")
        alone.append(one)
        together.append(seconds_of(work, "cuda")[0])
    ratios = [a / b for a, b in zip(alone, together, strict=True)]
    return {
        "operation": work.operation,
        "bits": work.bits,
        "items": work.items,
        "one_per_second": round(work.items / statistics.median(alone)),
        "all_per_second": round(work.items / statistics.median(together)),
        "ratio": round(statistics.median(ratios), 3),
        "right": right,
    }


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of items")
    parser.add_argument("--seconds", type=float, default=600.0, help="after so many no other row begins")
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    cards = [device.model for device in manymod.devices() if device.name.startswith("cuda")]
    if not cards:
        parser.error("there is no GPU")
    rows = []
    start = time.perf_counter()
    for part in options.part or PARTS:
        for work in PARTS[part](options.scale):
            if time.perf_counter() - start > options.seconds:
                break
            rows.append(measured(work, options.repetitions))
            print(json.dumps(rows[-1]), flush=True)
    if options.output is not None:
        report = {
            "cards": cards,
            "threads": manymod.get_threads(),
            "version": manymod.__version__,
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "rows": rows,
        }
        options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
