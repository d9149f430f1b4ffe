# SPDX-License-Identifier: Apache-2.0
"""Powers by variants on an OpenCL device: whole calls with arrays of the host, checked.

    MANYMOD_OPENCL_SECRET=1 python bench/power_calls.py --model H100 --output FILE.json

Exponents are as long as the moduli, or have --exponent-bits: unless they are long, copies take most of the
time where moduli are short. Each item has its own modulus. The device is the first one with OpenCL whose
model contains what --model says. The first call compiles kernels and is not timed. A rate is that of the
fastest of the repetitions; that of the kernels alone, in variable time, is without the time that the same
call takes with exponents of 1. All results are compared with the CPU's, and some of these with Python's.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from device_calls import Report, device_of, parser_of

import manymod

VARIANTS = ("dpf52.opencl.t1", "rns_float.half.opencl.t1", "reduced_radix.opencl.t1", "cios32.opencl.t1")
#: Items of a call by the bits of the moduli: several waves of a large GPU.
ITEMS = {256: 4_194_304, 512: 1_048_576, 1024: 524_288, 1536: 131_072, 2048: 65_536, 4096: 32_768}


def operands(bits: int, exponent_bits: int, items: int) -> tuple[Any, Any, Any]:
    """Return bases, exponents and odd moduli."""
    random = np.random.default_rng(bits)
    widths = (bits // 64, exponent_bits // 64, bits // 64)
    x, y, n = (random.integers(0, 2**64, (items, width), dtype=np.uint64) for width in widths)
    n[:, 0] |= np.uint64(1)
    n[:, -1] |= np.uint64(1 << 63)
    return x, y, n


def by_python(numbers: tuple[Any, Any, Any], count: int) -> list[int]:
    """Return the first results by Python's pow."""
    columns = [[int.from_bytes(row.tobytes(), "little") for row in rows[:count]] for rows in numbers]
    return [pow(x, y, n) for x, y, n in zip(*columns, strict=True)]


def measured(
    numbers: tuple[Any, Any, Any], device: str, variant: str | None = None, *, secret: bool = False
) -> tuple[float, Any]:
    """Return how many seconds a call takes, and its results."""
    start = time.perf_counter()
    results = manymod.powmod(*numbers, device=device, variant=variant, secret=secret)
    return time.perf_counter() - start, results


def fastest(calls: Iterable[tuple[float, Any]]) -> float:
    """Return the least of the seconds of calls."""
    return min(seconds for seconds, _ in calls)


def rest_of_a_call(numbers: tuple[Any, Any, Any], device: str, variant: str, repetitions: int) -> float:
    """Return the seconds that a call takes but for its kernels: with exponents of 1 in rows as long."""
    x, y, n = numbers
    ones = np.zeros_like(y)
    ones[:, 0] = 1
    return fastest(measured((x, ones, n), device, variant) for _ in range(repetitions))


def main() -> None:
    """Write the report."""
    parser = parser_of(__doc__, repetitions=2)
    parser.add_argument("--bits", type=int, action="append", choices=list(ITEMS))
    parser.add_argument("--variant", action="append", help=f"default: {', '.join(VARIANTS)}")
    parser.add_argument("--items", type=int, help=f"default: {ITEMS}")
    parser.add_argument("--exponent-bits", type=int, help="a multiple of 64; default: as the moduli")
    options = parser.parse_args()
    device = device_of(parser, "opencl", options.model)
    report = Report(device)
    widest = {variant.name: variant.max_bits for variant in manymod.variants()}
    for bits in options.bits or ITEMS:
        items = options.items or ITEMS[bits]
        exponent_bits = options.exponent_bits or bits
        numbers = operands(bits, exponent_bits, items)
        x, y, n = (rows[:64] for rows in numbers)
        on_cpu, expected = measured(numbers, "cpu")
        sample = [int.from_bytes(row.tobytes(), "little") for row in np.asarray(expected)[:64]]
        if sample != by_python(numbers, 64):
            raise SystemExit(f"the CPU's results of {bits} bits are not Python's")
        for variant in options.variant or VARIANTS:
            if bits > widest[variant]:
                continue
            for secret in (False, True):
                first, _ = measured((x, y, n), device.name, variant, secret=secret)
                calls = [
                    measured(numbers, device.name, variant, secret=secret) for _ in range(options.repetitions)
                ]
                seconds = fastest(calls)
                row = {
                    "bits": bits,
                    "exponent_bits": exponent_bits,
                    "variant": variant,
                    "secret": secret,
                    "items": items,
                    "per_second": round(items / seconds),
                    "cpu_per_second": round(items / on_cpu),
                    "first_call_s": round(first, 3),
                    "right": all(np.array_equal(results, expected) for _, results in calls),
                }
                if not secret:
                    rest = rest_of_a_call(numbers, device.name, variant, options.repetitions)
                    row["kernels_per_second"] = round(items / (seconds - rest))
                report.add(row)
    report.write(options.output)


if __name__ == "__main__":
    main()
