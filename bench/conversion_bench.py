# SPDX-License-Identifier: Apache-2.0
"""What surrounds the arithmetic: conversions, and a batched call's overhead, on one core.

python bench/conversion_bench.py [FILE.json]
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

import manymod

COUNT, BITS = 100_000, 2048
CALL_COUNT, CALL_BITS = 1000, 256


def milliseconds(action: Callable[[], object], repetitions: int) -> dict[str, float]:
    """Best and median time of `action`, whose result is dropped outside the timed part."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = action()
        times.append((time.perf_counter() - start) * 1e3)
        del result
    return {"best_ms": min(times), "median_ms": statistics.median(times)}


def conversions() -> dict[str, Any]:
    """100,000 integers of 2048 bits in and out, each round trip checked."""
    integers = [random.getrandbits(BITS) | 1 << (BITS - 1) for _ in range(COUNT)]
    mpz = list(map(gmpy2.mpz, integers))
    array = manymod.IntArray.from_ints(integers)
    if array.to_ints() != integers or manymod.IntArray.from_ints(mpz).to_ints() != integers:
        raise ArithmeticError("a conversion is wrong")
    length = BITS // 8
    return {
        "ints_in": milliseconds(lambda: manymod.IntArray.from_ints(integers), 9),
        "ints_out": milliseconds(array.to_ints, 9),
        "mpz_in": milliseconds(lambda: manymod.IntArray.from_ints(mpz), 9),
        "mpz_out": milliseconds(array.to_mpz, 9),
        "int_to_bytes_loop": milliseconds(lambda: [x.to_bytes(length, "little") for x in integers], 5),
    }


def calls() -> dict[str, Any]:
    """mulmod of 1,000 x 256-bit limb arrays, one thread."""
    rng = np.random.default_rng(1)
    x, y, n = (rng.integers(0, 2**63, (CALL_COUNT, CALL_BITS // 64), dtype=np.uint64) for _ in range(3))
    n[:, 0] |= np.uint64(1)
    n[:, -1] |= np.uint64(1 << 63)
    shared = int.from_bytes(n[0].tobytes(), "little")
    return {
        "mulmod_each": milliseconds(lambda: manymod.mulmod(x, y, n, threads=1), 500),
        "mulmod_shared": milliseconds(lambda: manymod.mulmod(x, y, shared, threads=1), 500),
    }


def main() -> None:
    """Measure and write the report."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("report", type=Path, nargs="?", metavar="FILE.json", help="the report, also printed")
    output: Path | None = parser.parse_args().report
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": manymod.devices()[0].model,
        "versions": {
            "manymod": manymod.__version__,
            "gmpy2": gmpy2.version(),
            "python": sys.version.split()[0],
        },
        f"conversions_{COUNT}_x_{BITS}_bits": conversions(),
        f"calls_{CALL_COUNT}_x_{CALL_BITS}_bits": calls(),
    }
    text = json.dumps(report, indent=2) + "\n"
    if output is not None:
        output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
