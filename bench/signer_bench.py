# SPDX-License-Identifier: Apache-2.0
"""What a `Signer` costs beside the arithmetic: processor time and requests a second of its ways to ask.

python bench/signer_bench.py [FILE.json] [--device cuda] [--bits 2048] [--threads 16] [--seconds 2]

Without ``--bits`` requests are raised to the power 3 modulo a number of 1024 bits, which is nearly free; what
the same powers take in one call of the ring is measured too and subtracted. With ``--bits`` they are signed
with a key of that size, PKCS#1 v1.5 and SHA-256.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric import rsa as foreign

import manymod
from manymod import _core, rsa
from manymod._batch_signer import BatchSigner, Scheme
from manymod._byte_items import items
from manymod.rsa.padding import NO_PADDING

#: Items of an array, and single requests that are asked for before the first answer is looked at.
ARRAY, WINDOW = 1 << 16, 1 << 10
NUMBER = bytes(96) + bytes(range(1, 33))  # of 1024 bits, below every modulus


class Powers(BatchSigner):
    """Answers requests with their cube modulo a number."""

    def __init__(self, ring: rsa.KeyRing, **options: Any) -> None:
        def add(service: _core.SigningService) -> tuple[int, int]:
            number = service.add_rsa(ring._calls.handle, _core.MM_RSA_PUBLIC, NO_PADDING)
            return number, number

        width = ring._calls.handle.max_modulus_bytes
        scheme = Scheme(
            add, bytes, items, lambda *_: (width, width), True, len(ring), ring.threads, lambda _: False
        )
        super().__init__(scheme, **options)


def measured(seconds: float, ask: Callable[[], int]) -> dict[str, float]:
    """Requests a second, and processor time of all threads for each, of an action that asks for some."""
    ask()
    count, began, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        count += ask()
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"requests_per_second": count / wall, "cpu_us_per_request": cpu / count * 1e6}


def ways(signer: BatchSigner, message: bytes, threads: int, seconds: float) -> dict[str, dict[str, float]]:
    """Every way to ask."""
    rows = np.broadcast_to(np.frombuffer(message, np.uint8), (ARRAY, len(message))).copy()
    listed = [message] * ARRAY

    def arrays(messages: Any) -> int:
        for future in [signer.submit_many(messages) for _ in range(4)]:
            future.result()
        return 4 * ARRAY

    def singles(_: int = 0) -> int:
        for future in [signer.submit(message) for _ in range(WINDOW)]:
            future.result()
        return WINDOW

    def blocking(_: int = 0) -> int:
        for _ in range(64):
            signer.sign(message)
        return 64

    async def coroutines() -> int:
        await asyncio.gather(*(signer.asign(message) for _ in range(WINDOW)))
        return WINDOW

    loop = asyncio.new_event_loop()
    with ThreadPoolExecutor(threads) as pool, contextlib.closing(loop):
        return {
            "submit_many, uint8[N, W]": measured(seconds, lambda: arrays(rows)),
            "submit_many, list": measured(seconds, lambda: arrays(listed)),
            "submit, 1 thread": measured(seconds, singles),
            f"submit, {threads} threads": measured(
                seconds, lambda: sum(pool.map(singles, range(4 * threads)))
            ),
            "sign, 1 thread": measured(seconds, blocking),
            f"sign, {threads} threads": measured(
                seconds, lambda: sum(pool.map(blocking, range(4 * threads)))
            ),
            "asign, one loop": measured(seconds, lambda: loop.run_until_complete(coroutines())),
        }


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bits", type=int)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    exponent = 3 if given.bits is None else 65537
    key = rsa.PrivateKey.from_cryptography(foreign.generate_private_key(exponent, given.bits or 1024))
    ring = rsa.KeyRing([key], device=given.device)
    message = NUMBER if given.bits is None else NUMBER[-32:]
    rows = np.broadcast_to(np.frombuffer(message, np.uint8), (ARRAY, len(message))).copy()
    signer: BatchSigner
    if given.bits is None:
        signer, alone = Powers(ring), lambda: len(ring.raw_public(rows))
    else:
        signer = rsa.Signer(ring, "pkcs1v15", "sha256")
        alone = lambda: len(ring.sign(rows, None, "pkcs1v15", "sha256"))  # noqa: E731
    with signer:
        report = {"one call of the ring": measured(given.seconds, alone)}
        report.update(ways(signer, message, given.threads, given.seconds))
    engine = report["one call of the ring"]["cpu_us_per_request"]
    for way, found in report.items():
        found["cpu_us_beside_arithmetic"] = found["cpu_us_per_request"] - engine
        print(
            f"{way:26} {found['requests_per_second']:12,.0f}/s {found['cpu_us_per_request']:8.2f} us of CPU,"
            f" {found['cpu_us_beside_arithmetic']:6.2f} beside the arithmetic"
        )
    if given.report is not None:
        facts = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "devices": [device.model for device in manymod.devices()],
            "python": sys.version.split()[0],
            "bits": given.bits,
            "ways": report,
        }
        given.report.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
