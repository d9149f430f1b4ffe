# SPDX-License-Identifier: Apache-2.0
"""Measures CGBN on a CUDA device, in all its sensible shapes; see README.md beside this.

python bench/cuda/peers/run.py DRIVER [--bits 256,1024] [--quick] [--json FILE]

It makes operands, runs the driver (cgbn_driver) for each width, compares answers with pow and prints the best
shape of each width and operation. Needs Python alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WIDTHS = "128,256,384,512,1024,1536,2048,3072,4096"
BLOCKS, QUICK_BLOCKS = "128,256", "128"
#: Distinct instances of a width; the driver repeats them to fill the device.
ITEMS = 2048
#: Powers compared with pow, spread over the items; and all on which two shapes differ.
CHECKED_POWERS = 16
#: Far longer than any width takes: a driver that takes longer hangs.
DRIVER_SECONDS = 300


class Operands:
    """Instances of one width: odd moduli and exponents with their top bits set, bases below the moduli."""

    def __init__(self, bits: int) -> None:
        source = random.Random(bits)
        top = 1 << (bits - 1)
        self.bits = bits
        self.moduli = [source.getrandbits(bits) | top | 1 for _ in range(ITEMS)]
        self.exponents = [source.getrandbits(bits) | top for _ in range(ITEMS)]
        self.bases = [source.randrange(modulus) for modulus in self.moduli]

    def to_bytes(self) -> bytes:
        """What the driver reads: bases, exponents, moduli, R^2 mod moduli."""
        squares = [(1 << 2 * self.bits) % modulus for modulus in self.moduli]
        numbers = (*self.bases, *self.exponents, *self.moduli, *squares)
        return b"".join(number.to_bytes(self.bits // 8, "little") for number in numbers)

    def exponent(self, run: dict[str, Any], item: int) -> int:
        """A chain multiplies the base by itself, over and over."""
        return self.exponents[item] if run["operation"] == "power" else int(run["products"]) + 1

    def right(self, run: dict[str, Any], item: int) -> int:
        """Right answer of an item in a run, below the modulus."""
        return pow(self.bases[item], self.exponent(run, item), self.moduli[item])


class Answers:
    """What a run computed, item by item."""

    def __init__(self, operands: Operands, run: dict[str, Any], results: bytes) -> None:
        size = operands.bits // 8
        self.operands = operands
        self.run = run
        starts = range(0, len(results), size)
        self.raw = [int.from_bytes(results[at : at + size], "little") for at in starts]
        # CGBN keeps its Montgomery products below R = 2^bits, not below the modulus. Only its conversion
        # back, at the end of a power, reduces fully.
        is_power = run["operation"] == "power"
        pairs = zip(self.raw, operands.moduli, strict=False)
        self.numbers = self.raw if is_power else [number % modulus for number, modulus in pairs]

    def compare(self, right: dict[int, int]) -> None:
        """Compare with right answers; add to `checked` of the run, and to `wrong` what is wrong."""
        compared = [item for item in right if item < len(self.numbers)]
        wrong = [item for item in compared if self.numbers[item] != right[item]]
        self.run["checked"] += len(compared)
        if not self.numbers:
            self.run["wrong"] += ["no answers"]
        if wrong:
            item = min(wrong)
            self.run["wrong"] += [f"{len(wrong)} of {len(compared)} compared answers"]
            self.run["wrong_item"] = {
                "item": item,
                "base": hex(self.operands.bases[item]),
                "exponent": hex(self.operands.exponent(self.run, item)),
                "modulus": hex(self.operands.moduli[item]),
                "expected": hex(right[item]),
                "got": hex(self.raw[item]),
            }


def disagreement(found: list[Answers]) -> int | None:
    """An item of which not all have the same answer."""
    longest = max((answers.numbers for answers in found), key=len, default=[])
    for answers in found:
        for item, (mine, other) in enumerate(zip(answers.numbers, longest, strict=False)):
            if mine != other:
                return item
    return None


def judge(found: list[Answers]) -> None:
    """Mark what is wrong among runs of one operation and width: by some right answers, then by each other."""
    operands, run = found[0].operands, found[0].run
    step = ITEMS // CHECKED_POWERS if run["operation"] == "power" else 1
    right = {item: operands.right(run, item) for item in range(0, ITEMS, step)}
    for answers in found:
        answers.compare(right)
    while True:
        found = [answers for answers in found if not answers.run["wrong"]]
        item = disagreement(found)
        if item is None:
            return
        for answers in found:  # at least one is wrong, so this ends
            answers.compare({item: operands.right(run, item)})


def shape(run: dict[str, Any]) -> str:
    """Threads per instance and per block, and the window, as text."""
    window = f", window {run['window_bits']}" if run["window_bits"] else ""
    given = "" if run["converts"] else ", R^2 given"
    return f"{run['threads_per_instance']} threads, blocks of {run['threads_per_block']}{window}{given}"


def shorten(digits: str) -> str:
    """A long number by its first and last digits."""
    return digits if len(digits) <= 40 else f"{digits[:18]}..{digits[-16:]} ({len(digits) - 2} digits)"


def describe_wrong(run: dict[str, Any]) -> str:
    """What is wrong with a run, with its first wrong item where there is one."""
    lines = [f"{run['operation']:10}{run['bits']:6}  WRONG: {shape(run)}: {'; '.join(run['wrong'])}"]
    for name, value in run["wrong_item"].items():
        lines.append(f"    {name:9}{shorten(value) if isinstance(value, str) else value}")
    return "\n".join(lines)


def condense(run: dict[str, Any], report: dict[str, Any], megahertz: float) -> dict[str, Any]:
    """A run with its rate, median and best, and the rate per multiprocessor and MHz."""
    each = run["instances"] * (run["products"] or 1)
    times = run.pop("milliseconds")
    median = statistics.median(times)
    rate = each / median * 1000
    return run | {
        "bits": report["bits"],
        "repetitions": len(times),
        "milliseconds": median,
        "per_second": rate,
        "best_per_second": each / min(times) * 1000,
        "per_second_per_multiprocessor_per_mhz": rate / report["multiprocessors"] / megahertz,
    }


def measure(
    driver: str, bits: int, seconds: float, repetitions: int, blocks: str = BLOCKS
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the driver for one width. Return what it says of the device, and its runs, all judged."""
    operands = Operands(bits)
    with tempfile.TemporaryDirectory() as folder:
        given, results = Path(folder, "operands"), Path(folder, "results")
        given.write_bytes(operands.to_bytes())
        command = [driver, str(bits), str(given), str(results), str(seconds), str(repetitions), blocks]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=DRIVER_SECONDS)
        data = results.read_bytes()
    report: dict[str, Any] = json.loads(done.stdout)
    runs: list[dict[str, Any]] = report.pop("runs")
    megahertz = statistics.median(report.pop("megahertz"))
    found: dict[str, list[Answers]] = {}
    at = 0
    for run in runs:
        end = at + run.pop("results") * bits // 8
        differing = run.pop("differing_copy")
        wrong = [] if differing is None else [f"instance {differing} differs from others of its item"]
        run.update(checked=0, wrong=wrong, wrong_item={})
        found.setdefault(run["operation"], []).append(Answers(operands, run, data[at:end]))
        at = end
    for answers in found.values():
        judge(answers)
    return report | {"megahertz": megahertz}, [condense(run, report, megahertz) for run in runs]


def best_runs(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fastest right run of each operation at one width, among those measured in most repetitions."""
    best = []
    for name in dict.fromkeys(run["operation"] for run in runs):
        right = [run for run in runs if run["operation"] == name and not run["wrong"]]
        most = max((run["repetitions"] for run in right), default=0)
        full = [run for run in right if run["repetitions"] == most]
        best += sorted(full, key=lambda run: float(run["per_second"]))[-1:]
    return best


def driver_version() -> str:
    """What nvidia-smi calls the driver of the first device."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def cuda_version(number: int) -> str:
    """13000 as 13.0."""
    return f"{number // 1000}.{number % 1000 // 10}"


def print_width(bits: int, runs: list[dict[str, Any]]) -> None:
    """The best runs of a width, and what is wrong with others."""
    for run in best_runs(runs):
        normal = run["per_second_per_multiprocessor_per_mhz"]
        print(
            f"{run['operation']:10}{bits:6}{run['per_second']:18,.0f}{normal:15.4g}"
            f"{run['milliseconds']:9.2f}  {shape(run)}"
        )
    for run in runs:
        if run["wrong"]:
            print(describe_wrong(run))


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("--bits", default=WIDTHS)
    parser.add_argument("--blocks", help=f"threads per block; {BLOCKS}, or {QUICK_BLOCKS} with --quick")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--note", default="", help="said in the report, such as CGBN's commit")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Parse, measure, print. Nonzero where a shape is wrong or the driver failed at a width."""
    options = parse_arguments()
    seconds, repetitions = (0.01, 3) if options.quick else (0.05, 7)
    blocks = options.blocks or (QUICK_BLOCKS if options.quick else BLOCKS)
    device: dict[str, Any] = {}
    runs: list[dict[str, Any]] = []
    best: list[dict[str, Any]] = []
    failed: dict[int, str] = {}
    print(f"{'operation':10}{'bits':>6}{'a second':>18}{'of SM and MHz':>15}{'ms':>9}  shape")
    for bits in map(int, options.bits.split(",")):
        start = time.monotonic()
        try:
            device, found = measure(options.driver, bits, seconds, repetitions, blocks)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            failed[bits] = str(error)
            print(f"{'':10}{bits:6}  FAILED: {error}", flush=True)
            continue
        runs += found
        best += best_runs(found)
        print_width(bits, found)
        parts = ", ".join(f"{name} {spent:.1f}" for name, spent in device.pop("seconds").items())
        print(f"{'':10}{bits:6}  in {time.monotonic() - start:.1f} s; driver: {parts}", flush=True)
    if not device:
        return 1
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "peer": "CGBN",
        "note": options.note,
        "card": device["card"],
        "multiprocessors": device["multiprocessors"],
        "megahertz": device["megahertz"],
        "driver": driver_version(),
        "cuda": cuda_version(device["cuda_runtime"]),
        "cuda_of_driver": cuda_version(device["cuda_of_driver"]),
        "method": "kernels alone, timed by events; medians of "
        f"{repetitions} repetitions, shapes in turn, of about {seconds} s, or two waves if these are longer; "
        "shapes far slower than the best: one repetition. An odd modulus of full length to each instance. "
        "power: exponents of full length, conversions included. chain: Montgomery multiplications in "
        "sequence. Answers compared with pow, and between shapes.",
        "failed": failed,
        "best": best,
        "runs": runs,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(
        f"{report['card']}, {report['megahertz']:.0f} MHz, driver {report['driver']}, CUDA {report['cuda']}"
    )
    wrong = sum(bool(run["wrong"]) for run in runs)
    if wrong:
        print(f"{wrong} of {len(runs)} runs are wrong")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
