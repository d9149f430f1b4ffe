# SPDX-License-Identifier: Apache-2.0
"""Whole calls on curves with arrays of the host, on a GPU and on the CPU, results compared.

    MANYMOD_OPENCL_SECRET=1 python bench/curve_calls.py --backend opencl --model H100 --output FILE.json
    python bench/curve_calls.py --backend cuda --items 16384 65536 262144 --output FILE.json

The device is the first one of the backend whose model contains what --model says. The first call loads or
compiles kernels and is timed by itself. A rate is that of the fastest of the repetitions.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from device_calls import Report, device_of, parser_of

from manymod import ecc

CURVES = ("P-256", "secp256k1", "P-384", "Ed25519", "X25519")
#: What the items of a call repeat.
DISTINCT = 1024


def tiled(rows: Any, items: int) -> Any:
    """Return so many rows that repeat the given ones."""
    return np.tile(rows, (-(-items // len(rows)), 1))[:items]


def calls(curve: ecc.Curve, items: int) -> dict[str, Callable[[str], Any]]:
    """Return the calls to measure, of the device's name."""
    few_secrets, few_keys = curve.generate(DISTINCT)
    secrets, keys = tiled(few_secrets, items), tiled(few_keys, items)
    others = np.roll(keys, 1, axis=0)
    public: dict[str, Callable[[str], Any]] = {
        "public_keys": lambda device: curve.public_keys(secrets, device=device)
    }
    exchange = {"exchange": lambda device: curve.exchange(secrets, others, device=device)}
    if curve == ecc.X25519:
        return public | exchange
    few_messages = np.random.default_rng(1).integers(0, 256, (DISTINCT, 32), dtype=np.uint8)
    messages = tiled(few_messages, items)
    signatures = tiled(curve.sign(few_secrets, few_messages, device="cpu"), items)
    return (
        public
        | ({} if curve == ecc.ED25519 else exchange)
        | {
            "sign": lambda device: curve.sign(secrets, messages, device=device),
            "verify": lambda device: curve.verify(keys, signatures, messages, device=device),
            "msm": lambda device: curve.msm(secrets, keys, device=device),
        }
    )


def measured(call: Callable[[str], Any], device: str, repetitions: int) -> tuple[float, float, Any]:
    """Return the seconds of the first call and of the fastest of the others, and the results."""
    seconds = []
    for _ in range(repetitions + 1):
        start = time.perf_counter()
        results = call(device)
        seconds.append(time.perf_counter() - start)
    return seconds[0], min(seconds[1:]), results


def compared(call: Callable[[str], Any], items: int, device: str, repetitions: int) -> dict[str, Any]:
    """Return the rates of a call on a device and on the CPU, and whether their results are the same."""
    first, seconds, results = measured(call, device, repetitions)
    _, on_cpu, expected = measured(call, "cpu", 1)
    return {
        "per_second": round(items / seconds),
        "cpu_per_second": round(items / on_cpu),
        "first_call_s": round(first, 3),
        "right": bool(np.array_equal(results, expected)),
    }


def main() -> None:
    """Write the report."""
    parser = parser_of(__doc__, repetitions=3)
    parser.add_argument("--backend", choices=("cuda", "opencl"), default="opencl")
    parser.add_argument("--curve", action="append", help=f"default: {', '.join(CURVES)}")
    parser.add_argument("--items", type=int, nargs="+", default=[262_144], help="default: 262144")
    options = parser.parse_args()
    if options.backend == "opencl" and os.environ.get("MANYMOD_OPENCL_SECRET") != "1":
        parser.error("without MANYMOD_OPENCL_SECRET=1 the CPU computes with secrets")
    device = device_of(parser, options.backend, options.model)
    report = Report(device)
    for name, items in itertools.product(options.curve or CURVES, options.items):
        for operation, call in calls(ecc.Curve.named(name), items).items():
            row = {"curve": name, "operation": operation, "items": items}
            report.add(row | compared(call, items, device.name, options.repetitions))
    report.write(options.output)


if __name__ == "__main__":
    main()
