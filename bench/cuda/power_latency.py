# SPDX-License-Identifier: Apache-2.0
"""Times of calls of few powers on a GPU, by each technique that may serve them, and of RSA signatures.

    python bench/cuda/power_latency.py --output bench/results/power_latency_CARD.json

Calls go from arrays of the host to arrays of the host; the variants take turns, and a time is the median of
the repetitions. Every item has an odd modulus of its own, and exponents are as long as moduli. All results
are compared with the processor's, a sample of them with Python's pow.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from limb_arrays import number, random_powers

import manymod
from manymod import rsa

BITS = (512, 1024, 1536, 2048, 3072, 4096)
ITEMS = (1, 32, 128, 256, 512, 1024)
TECHNIQUES = ("cox_rower", "row32", "dpf52", "rns")
REPETITIONS = 5
#: Items of a call that are compared with Python's pow.
SAMPLE = 24
RSA_BITS = (2048, 3072, 4096)
RSA_ITEMS = (1, 16, 64, 256)


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median seconds of each call; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPETITIONS):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def variants_for(bits: int, device: str) -> list[str]:
    """Return the names of the variants of TECHNIQUES on the device that compute powers of that width."""
    fitting = [
        variant
        for variant in manymod.variants()
        if variant.usable and f".{device}." in variant.name and variant.technique in TECHNIQUES
    ]
    rowers = [v for v in fitting if v.technique == "cox_rower" and v.max_bits >= bits]
    narrowest = [min(rowers, key=lambda v: v.max_bits).name] if rowers else []
    others = {f"row32.{device}.t32", f"row32.{device}.t4", f"dpf52.{device}.t8", f"rns.{device}.t2"}
    return narrowest + [v.name for v in fitting if v.name in others and v.max_bits >= bits]


def powers(bits: int, items: int, *, secret: bool) -> list[dict[str, Any]]:
    """Measure one width and number of items."""
    random = np.random.default_rng(bits + items)
    bases, exponents, moduli = random_powers(random, items, bits)
    expected = manymod.powmod(bases, exponents, moduli, device="cpu")
    for i in np.linspace(0, items - 1, min(items, SAMPLE)).astype(int):
        if number(expected[i]) != pow(number(bases[i]), number(exponents[i]), number(moduli[i])):
            raise SystemExit(f"the processor is wrong at {bits} bits")
    calls: dict[str, Callable[[], Any]] = {}
    for variant in [*variants_for(bits, "cuda"), ""]:
        out = np.zeros_like(moduli)
        chosen = {"variant": variant} if variant else {"device": "cuda"}

        def call(out: Any = out, chosen: Any = chosen) -> Any:
            operation = manymod.powmod_sec if secret else manymod.powmod
            return operation(bases, exponents, moduli, out=out, **chosen)

        if not np.array_equal(call(), expected):
            raise SystemExit(f"{variant or 'auto'} is wrong at {bits} bits, {items} items")
        calls[variant or "chosen"] = call
    found = medians(calls)
    best = min(time for name, time in found.items() if not name.startswith(("cox_rower", "chosen")))
    return [
        {"operation": "powmod", "secret": secret, "bits": bits, "items": items, "variant": name,
         "milliseconds": round(1e3 * time, 4), "of_best_other": round(time / best, 3)}
        for name, time in found.items()
    ]  # fmt: skip


def signatures(bits: int) -> list[dict[str, Any]]:
    """Measure RSA signatures by one key, PKCS #1 v1.5."""
    key = rsa.PrivateKey.from_cryptography(generate_private_key(65537, bits))
    rings = {device: rsa.KeyRing([key], device=device) for device in ("cuda", "cpu")}
    rows: list[dict[str, Any]] = []
    for items in RSA_ITEMS:
        messages = [f"message {i}".encode() for i in range(items)]

        def sign(device: str, messages: list[bytes] = messages) -> Any:
            return rings[device].sign(messages, 0, "pkcs1v15", "sha256")

        if list(map(bytes, sign("cuda"))) != list(map(bytes, sign("cpu"))):
            raise SystemExit(f"signatures of {bits} bits are wrong")
        found = medians({device: functools.partial(sign, device) for device in rings})
        rows += [
            {"operation": "sign", "bits": bits, "items": items, "device": device,
             "milliseconds": round(1e3 * time, 4)}
            for device, time in found.items()
        ]  # fmt: skip
    return rows


def main() -> None:
    """Measure, print a line for each row, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--commit", default="")
    parser.add_argument("--public", action="store_true", help="in variable time, too")
    arguments = parser.parse_args()
    device = next(found for found in manymod.devices() if found.name.startswith("cuda"))
    rows: list[dict[str, Any]] = []
    report = {
        "bench": "power_latency",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": arguments.commit,
        "card": device.model,
        "library": manymod.__version__,
        "method": (__doc__ or "").split("\n\n", 2)[2].replace("\n", " ").strip(),
        "rows": rows,
    }

    def keep(measured: list[dict[str, Any]]) -> None:
        rows.extend(measured)
        for row in measured:
            print(json.dumps(row), flush=True)
        # After each measurement, since a machine that is lent may be taken back in the middle.
        if arguments.output:
            arguments.output.write_text(json.dumps(report, indent=1) + "\n")

    for bits in RSA_BITS:
        keep(signatures(bits))
    for bits in BITS:
        for items in ITEMS:
            for secret in [True, False] if arguments.public else [True]:
                keep(powers(bits, items, secret=secret))


if __name__ == "__main__":
    main()
