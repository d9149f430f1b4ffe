# SPDX-License-Identifier: Apache-2.0
"""Montgomery products by OpenCL techniques, kernels alone, compared with Python's integers.

    python bench/opencl/kernel_products.py --model H100 --output FILE.json

Kernels are compiled from the sources of this tree by the driver of the first device whose name contains what
--model says; the library is not needed. Each work-item, or group of them, multiplies a number of its own by
another one many times, or squares it. A rate is that of the fastest of the repetitions, less the time of a
launch without products. `--check` launches a few products only, as on devices that compute on the CPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import time
from ctypes import c_uint
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencl_api import BuildError, Device

ROOT = Path(__file__).resolve().parents[2]
BLOCK = 64
#: Numbers that differ from each other, of which the operands of a launch are copies.
DISTINCT = 128
#: Products of 256 bits in a timed launch; of other lengths as many fewer as they take longer.
PRODUCTS = 3_000_000_000
ITEMS = 131_072


TECHNIQUES = ("dpf52", "reduced_radix", "cios32")
#: Lengths of the moduli that shapes are measured with.
LENGTHS = (128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
#: Moduli of dpf52 and reduced_radix are below R / 2^HEADROOM_BITS.
HEADROOM_BITS = 2


def radix_bits(technique: str, digits: int) -> int:
    """Return log2 R of numbers with so many digits."""
    if technique == "cios32":
        return 32 * digits
    if technique == "dpf52":
        return 52 * digits
    return (29 if digits <= 32 else 28 if digits <= 128 else 27) * digits


@dataclass(frozen=True)
class Shape:
    """A kernel: of `threads` work-items with `per_thread` digits each."""

    technique: str
    bits: int
    threads: int
    per_thread: int

    @property
    def radix_bits(self) -> int:
        """log2 R."""
        return radix_bits(self.technique, self.threads * self.per_thread)

    @property
    def local_words(self) -> int:
        """Words of local memory of a work-item, as the technique's shapes.opencl.hpp has them."""
        if self.threads > 1:
            return (6 if self.technique == "dpf52" else 4) * self.per_thread
        return 2 * self.per_thread if self.technique == "dpf52" and 8 < self.per_thread <= 20 else 0


def shapes(technique: str) -> list[Shape]:
    """Return shapes of the technique's source, with the longest of LENGTHS that each serves.

    Where several of as many work-items have the same, that of the fewest digits.
    """
    if technique == "cios32":  # whose shapes are in no such file
        return [Shape(technique, 32 * words, 1, words) for words in (8, 16, 32, 64)]
    text = (ROOT / "src" / "modmul" / technique / "shapes.opencl.hpp").read_text(encoding="utf-8")
    found: dict[tuple[int, int], Shape] = {}
    listed = re.findall(r"SHAPE\((\d+), (\d+)\)", text)
    for threads, per_thread in sorted((int(threads), int(digits)) for threads, digits in listed):
        most = radix_bits(technique, threads * per_thread) - HEADROOM_BITS
        bits = max((length for length in LENGTHS if length <= most), default=0)
        if bits:
            found.setdefault((threads, bits), Shape(technique, bits, threads, per_thread))
    return list(found.values())


def source(technique: str) -> str:
    """Return the text of the technique's multiplier and of the kernel around it."""
    spec = importlib.util.spec_from_file_location("embed_opencl", ROOT / "cmake" / "embed_opencl.py")
    assert spec is not None
    assert spec.loader is not None
    embedding = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(embedding)
    src, seen = ROOT / "src", set[Path]()
    kernels = src / "gpu" / "opencl" / "kernels"
    parts = [kernels / "job.clh", kernels / "negative_inverse.clh"]
    parts += [src / "modmul" / technique / "multiplier.clh", Path(__file__).with_name("products.cl")]
    return "".join(embedding.expanded(path, src, seen) for path in parts)


def operands(bits: int, radix_bits: int) -> list[tuple[int, int, int]]:
    """Return odd moduli n and numbers below 2^bits; a quarter have edges of 52-bit digits in all three.

    Two rows have R and -R modulo n, R = 2^radix_bits: their products are R - n and the like, where a borrow
    passes lanes whose digits equal those of n.
    """
    rng = random.Random(bits)
    edges = [0, 1, 2**51 - 1, 2**51, 2**51 + 1, 2**52 - 2, 2**52 - 1]

    def of_edges() -> int:
        return sum(rng.choice(edges) << at for at in range(0, bits, 52)) % (1 << bits)

    largest = (1 << bits) - 1
    rows = [(largest, largest, largest), (1, largest, largest), (3, largest, 1), (largest, 0, largest)]
    rows += [(of_edges() | 1, of_edges(), of_edges()) for _ in range(DISTINCT // 4)]
    for _ in range(2):
        n = rng.getrandbits(bits) | 1 << (bits - 1) | 1
        rows.append((n, -pow(2, radix_bits, n) % n, pow(2, radix_bits, n)))
    while len(rows) < DISTINCT:
        n, a, b = (rng.getrandbits(bits) for _ in range(3))
        rows.append((n | 1 << (bits - 1) | 1, a, b))
    return rows


def expected(row: tuple[int, int, int], radix_bits: int, products: int, squares: int) -> int:
    """Return what the kernel computes, by Python's pow."""
    n, a, b = row
    inverse = pow(pow(2, radix_bits, n), -1, n)
    x = a * pow(b * inverse, products, n) % n
    for _ in range(squares):
        x = x * x * inverse % n
    return x * inverse % n


class Run:
    """A shape's kernel with operands in the device's memory."""

    def __init__(self, device: Device, shape: Shape, items: int) -> None:
        self.device, self.shape, self.items = device, shape, items
        options = f"-cl-std=CL1.2 -DMM_THREADS={shape.threads} -DMM_PER_THREAD={shape.per_thread}"
        options += f" -DMM_BLOCK={BLOCK}" + (" -DMM_ON_CPU=1" if device.is_cpu else "")
        start = time.perf_counter()
        self.kernel = device.kernel(source(shape.technique), options, "products")
        self.compiled_s = time.perf_counter() - start
        self.rows = operands(shape.bits, shape.radix_bits)
        self.words = -(-shape.bits // 32)
        self.buffers = []
        for column in zip(*self.rows, strict=True):
            numbers = b"".join(number.to_bytes(4 * self.words, "little") for number in column)
            self.buffers.append(device.buffer(numbers * (items // DISTINCT)))
        self.buffers.append(device.buffer(bytes(4 * self.words * items)))

    def seconds(self, products: int, squares: int) -> float:
        """Return how long a launch takes."""
        arguments: list[Any] = [*self.buffers, *map(c_uint, (self.words, products, squares))]
        local_bytes, work_items = 4 * self.shape.local_words * BLOCK, self.items * self.shape.threads
        return self.device.seconds(self.kernel, arguments, local_bytes, work_items, BLOCK)

    def wrong(self, products: int, squares: int, sample: int = DISTINCT) -> int:
        """Return how many of the first results of a launch are wrong, and 1 more if their copies differ."""
        self.seconds(products, squares)
        size = 4 * self.words
        results = self.device.read(self.buffers[-1], size * self.items)
        wrong = int(results != results[: size * DISTINCT] * (self.items // DISTINCT))
        for i, row in enumerate(self.rows[:sample]):
            value = int.from_bytes(results[size * i : size * (i + 1)], "little")
            wrong += value != expected(row, self.shape.radix_bits, products, squares)
        return wrong


def measured(device: Device, shape: Shape, repetitions: int, *, check: bool) -> dict[str, Any]:
    """Return the report on a shape."""
    row: dict[str, Any] = {
        "technique": shape.technique,
        "bits": shape.bits,
        "shape": f"{shape.threads}x{shape.per_thread}",
    }
    items = DISTINCT if check else ITEMS * 1024 // (shape.threads * max(1024, shape.bits))
    try:
        run = Run(device, shape, items - items % DISTINCT)
    except BuildError as error:
        return {**row, "error": str(error)[:500]}
    row |= {"items": run.items, "compiled_s": round(run.compiled_s, 2)}
    wrong = run.wrong(3, 0) if shape.threads > 1 else run.wrong(3, 0) + run.wrong(0, 3) + run.wrong(2, 2)
    if not check:
        count = PRODUCTS * 256**2 // (run.items * shape.bits**2) + 1
        least = min(run.seconds(0, 0) for _ in range(repetitions))
        fastest = min(run.seconds(count, 0) for _ in range(repetitions))
        row["mul_per_second"] = round(run.items * count / (fastest - least))
        wrong += run.wrong(count, 0)
        if shape.threads == 1:
            fastest = min(run.seconds(0, count) for _ in range(repetitions))
            row["sqr_per_second"] = round(run.items * count / (fastest - least))
            wrong += run.wrong(0, count, sample=8)
    return {**row, "wrong": wrong}


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="", help="default: that of the first device, GPUs before CPUs")
    parser.add_argument("--technique", action="append", choices=TECHNIQUES, help="default: all")
    parser.add_argument("--bits", type=int, action="append", help="default: 128 to 4096")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="time nothing")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    device = Device(options.model)
    rows = []
    for technique in options.technique or TECHNIQUES:
        for shape in shapes(technique):
            if not options.bits or shape.bits in options.bits:
                rows.append(measured(device, shape, options.repetitions, check=options.check))
                print(json.dumps(rows[-1]), flush=True)
    if options.output is not None:
        report = {"device": device.name, "driver": device.driver, "rows": rows}
        options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if any(row.get("wrong") != 0 for row in rows):
        raise SystemExit("some results are wrong, or a shape does not compile")


if __name__ == "__main__":
    main()
