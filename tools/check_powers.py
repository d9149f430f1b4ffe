# SPDX-License-Identifier: Apache-2.0
"""Compares powers, as the library computes them on a GPU, with GMP's, number by number.

python tools/check_powers.py [--operations NAME,..] [--items N] [--bits N,..] [--variant NAME] [--device NAME]
  [--processes N] [--seconds S] [--seed N] [--json FILE]

Powers, powers of a fixed base and products of powers, where items have moduli of their own or share one, of
all lengths that a kernel of the width serves; among them are moduli that residue number systems refuse, and
exponents and bases at the edges of their ranges. Each is computed in all timing classes of its operation. GMP
runs in processes of its own, beside the GPU. Needs gmpy2, NumPy and the package.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import importlib
import itertools
import json
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

POWERS, FIXED, PRODUCTS = "powmod", "fixed_base_powmod", "multi_powmod"
#: Part of all items by operation.
OPERATIONS = {POWERS: 0.8, FIXED: 0.1, PRODUCTS: 0.1}
#: Powers in a product, in turns; the largest calls have the first of these.
TERMS = (2, 5, 1, 3)
#: Part of all items by width: GMP takes 1000 times as long for 8192 bits as for 512.
SHARES = {512: 0.35, 1024: 0.33, 1536: 0.16, 2048: 0.1, 3072: 0.03, 4096: 0.02, 6144: 0.006, 8192: 0.004}
#: Items that GMP takes about half a second for.
PART = {512: 8192, 1024: 1024, 1536: 512, 2048: 256, 3072: 64, 4096: 32, 6144: 16, 8192: 8}
#: Channels of base B for all widths (src/modmul/rns/bases.hpp): no multiple of one is computed in residues.
REFUSED_PRIMES = (2147477879, 2147477851, 2147477807)
#: One item in so many has a number at the edge of its range.
EDGES = 16
#: One modulus in so many is a multiple of such a prime.
REFUSALS = 256
SHOWN = 3


class Group(NamedTuple):
    """Items of one call in each timing class."""

    operation: str
    bits: int
    shared: bool
    number: int
    items: int

    @property
    def terms(self) -> int:
        """Powers in each result."""
        return TERMS[self.number % len(TERMS)] if self.operation == PRODUCTS else 1

    @property
    def timing_classes(self) -> tuple[str, ...]:
        """Timing classes that the operation can be computed in."""
        return ("public",) if self.operation == PRODUCTS else ("public", "secret")

    @property
    def kind(self) -> dict[str, Any]:
        """What reports add up items by: operation, width in bits, and whether moduli are shared."""
        moduli = "shared" if self.shared else "each"
        return {"operation": self.operation, "bits": self.bits, "moduli": moduli}


class Part(NamedTuple):
    """Items of a group that one process computes."""

    group: Group
    number: int
    items: int
    seed: int


@dataclass
class Numbers:
    """Big-endian: bases and exponents [item, term, byte], moduli and GMP's results [item, byte]."""

    rows: list[Bytes]

    @staticmethod
    def joined(parts: list[Numbers]) -> Numbers:
        """Numbers of all parts, in the order of the parts."""
        return Numbers([np.concatenate(rows) for rows in zip(*(part.rows for part in parts), strict=True)])


@dataclass
class Tally:
    """What was compared, by operation, width, kind of moduli and timing class."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    shown: int = 0

    def add(self, group: Group, timing: str, numbers: Numbers, found: Bytes, seconds: float) -> None:
        """Compare the results of a group."""
        wrong = differing(numbers, found)
        kind = group.kind | {"timing_class": timing}
        row = next((row for row in self.rows if row.items() >= kind.items()), None)
        if row is None:
            row = kind | {"calls": 0, "items": 0, "differences": 0, "seconds": 0.0}
            self.rows.append(row)
        row["calls"] += 1
        row["items"] += len(found)
        row["differences"] += len(wrong)
        row["seconds"] += seconds
        for item in wrong[: SHOWN - self.shown]:
            self.shown += 1
            print(f"DIFFERS: {kind}, item {item} of {len(found)}")
            for name, rows in zip(("base", "exponent", "modulus", "GMP"), numbers.rows, strict=True):
                for number in rows[item].reshape(-1, rows.shape[-1]):
                    print(f"    {name:9}{number.tobytes().hex()}")
            print(f"    {'found':9}{found[item].tobytes().hex()}")

    def total(self, name: str) -> int:
        """Sum of a count over all rows."""
        return sum(row[name] for row in self.rows)


def integer(number: Bytes) -> int:
    """The integer that big-endian bytes encode."""
    return int.from_bytes(number.tobytes(), "big")


def widened(rows: Bytes, width: int) -> Bytes:
    """The same numbers in rows of a width."""
    return np.pad(rows, ((0, 0), (width - rows.shape[1], 0)))


def differing(numbers: Numbers, found: Bytes) -> list[int]:
    """Items whose result is not GMP's."""
    right = numbers.rows[3]
    if len(found) != len(right):
        return list(range(len(right)))
    return [int(item) for item in np.flatnonzero((widened(found, right.shape[1]) != right).any(axis=1))]


def groups(items: int, widths: list[int], operations: list[str]) -> Iterator[Group]:
    """Two thirds of the items of a kind, of what is left, and so on down to one."""
    whole = sum(SHARES[bits] for bits in widths) * sum(OPERATIONS[name] for name in operations)
    for operation, bits in itertools.product(operations, widths):
        kinds = (True,) if operation == FIXED else (False, True)
        for shared in kinds:
            left = max(3, round(items * OPERATIONS[operation] * SHARES[bits] / whole / len(kinds)))
            number = 0
            while left > 0:
                size = (2 * left + 2) // 3
                yield Group(operation, bits, shared, number, size)
                number += 1
                left -= size


def parts(group: Group, seed: int) -> list[Part]:
    """Parts of a group, in the order of its items."""
    size = PART[group.bits]
    return [
        Part(group, number, min(size, group.items - first), seed)
        for number, first in enumerate(range(0, group.items, size))
    ]


def least_bits(bits: int) -> int:
    """Length in bits of the shortest moduli that go to the kernel of a width."""
    return max((width for width in SHARES if width < bits), default=64) + 1


def modulus(source: random.Random, bits: int, *, refused: bool) -> int:
    """A random odd modulus, mostly of the full length; `refused`: a multiple of a channel of base B."""
    if refused:
        prime = source.choice(REFUSED_PRIMES)
        return prime * (source.getrandbits(bits - 32) | 1 << (bits - 33) | 1)
    choice = source.randrange(EDGES)
    if choice == 0:
        return int(
            source.choice(((1 << bits) - 1, (1 << (bits - 1)) + 1, (1 << bits) - (1 << bits // 2) - 1))
        )
    length = source.randrange(least_bits(bits), bits + 1) if choice < EDGES // 4 else bits
    return source.getrandbits(length) | 1 << (length - 1) | 1


def base(source: random.Random, bits: int, n: int) -> int:
    """Any number of the width, which may be larger than the modulus."""
    if source.randrange(EDGES) == 0:
        return source.choice((0, 1, n - 1, n, (1 << bits) - 1))
    return source.getrandbits(bits)


def exponent(source: random.Random, bits: int) -> int:
    """A random exponent, mostly of the full length."""
    if source.randrange(EDGES) == 0:
        return source.choice((0, 1, 2, 65537, (1 << bits) - 1, source.getrandbits(64)))
    return source.getrandbits(bits)


def as_bytes(numbers: list[int], bits: int) -> Bytes:
    """Big-endian rows of that many bits."""
    joined = b"".join(number.to_bytes(bits // 8, "big") for number in numbers)
    return np.frombuffer(joined, np.uint8).reshape(-1, bits // 8)


def shared_operands(group: Group, seed: int) -> tuple[int, int]:
    """Modulus and base of all items of a group. In one group of each kind the modulus is refused."""
    source = random.Random(f"{seed} {group}")
    n = modulus(source, group.bits, refused=group.number == 1)
    return n, base(source, group.bits, n)


def make(part: Part) -> Numbers:
    """Random operands of a part, and GMP's results."""
    gmpy2 = importlib.import_module("gmpy2")
    group = part.group
    source = random.Random(str(part))
    rows: list[list[int]] = [[], [], [], []]
    n, x = shared_operands(group, part.seed)
    for _ in range(part.items):
        if not group.shared:
            n = modulus(source, group.bits, refused=source.randrange(REFUSALS) == 0)
        product = gmpy2.mpz(1)
        for _ in range(group.terms):
            if group.operation != FIXED:
                x = base(source, group.bits, n)
            y = exponent(source, group.bits)
            product = product * gmpy2.powmod(x, y, n) % n
            rows[0].append(x)
            rows[1].append(y)
        rows[2].append(n)
        rows[3].append(int(product))
    x_rows, y_rows, *others = (as_bytes(numbers, group.bits) for numbers in rows)
    shape = (part.items, group.terms, -1)
    return Numbers([x_rows.reshape(shape), y_rows.reshape(shape), *others])


class Check:
    """A run: hands parts to processes, and their numbers, once a group is complete, to the library."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tally = Tally()
        self.gathered: dict[Group, dict[int, Numbers]] = {}
        calls = groups(options.items, options.bits, options.operations)
        wanted = [part for group in calls for part in parts(group, options.seed)]
        random.Random(options.seed).shuffle(wanted)  # where time runs out, all widths have had their share
        self.wanted = wanted

    def run(self) -> None:
        """Compute and compare all, or what there is time for."""
        end = time.monotonic() + self.options.seconds
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(self.options.processes, context) as pool:
            futures = {pool.submit(make, part): part for part in self.wanted}
            try:
                for future in concurrent.futures.as_completed(futures, max(0.0, end - time.monotonic())):
                    self.gather(futures[future], future.result())
            except concurrent.futures.TimeoutError:
                pool.shutdown(wait=False, cancel_futures=True)
        for group in list(self.gathered):
            self.compute(group)

    def gather(self, part: Part, numbers: Numbers) -> None:
        """Keep a part until its group is complete."""
        found = self.gathered.setdefault(part.group, {})
        found[part.number] = numbers
        if len(found) == len(parts(part.group, part.seed)):
            self.compute(part.group)

    def compute(self, group: Group) -> None:
        """The library's results for what there is of a group."""
        found = self.gathered.pop(group)
        numbers = Numbers.joined([found[number] for number in sorted(found)])
        for timing in group.timing_classes:
            start = time.monotonic()
            results = self.results(group, timing == "secret", numbers)
            self.tally.add(group, timing, numbers, results, time.monotonic() - start)

    def results(self, group: Group, secret: bool, numbers: Numbers) -> Bytes:
        """Results of one call of the library, big-endian, [item, byte]."""
        manymod = importlib.import_module("manymod")
        x, y, n, _ = numbers.rows
        mod: Any = integer(n[0]) if group.shared else n
        where = {"device": self.options.device, "variant": self.options.variant}
        found: Bytes
        if group.operation == PRODUCTS:
            found = manymod.multi_powmod(x, y, mod, **where)
        elif group.operation == FIXED:
            fixed = manymod.FixedBase(integer(x[0]), mod, exponent_bits=group.bits, secret=secret, **where)
            found = fixed.powmod(y[:, 0])
        else:
            found = manymod.powmod(x[:, 0], y[:, 0], mod, secret=secret, **where)
        return found

    def report(self, seconds: float) -> dict[str, Any]:
        """The report as a dictionary that json.dump writes; `seconds`: time of the whole run."""
        manymod, gmpy2 = (importlib.import_module(name) for name in ("manymod", "gmpy2"))
        usable = [device for device in manymod.devices() if device.name.startswith(self.options.device)]
        return {
            "program": "tools/check_powers.py",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": os.environ.get("MANYMOD_COMMIT", ""),
            "device": self.options.device,
            "model": usable[0].model if usable else "",
            "variant": self.options.variant or "",
            "gmp": gmpy2.mp_version(),
            "seed": self.options.seed,
            "seconds": round(seconds, 1),
            "wanted": sum(part.items * len(part.group.timing_classes) for part in self.wanted),
            "items": self.tally.total("items"),
            "differences": self.tally.total("differences"),
            "rows": sorted(self.tally.rows, key=lambda row: tuple(row.values())),
        }


def widths(text: str) -> list[int]:
    """Widths in bits that the command line names, separated by commas."""
    chosen = [int(bits) for bits in text.split(",")]
    unknown = [bits for bits in chosen if bits not in SHARES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(map(str, SHARES))}")
    return chosen


def operations(text: str) -> list[str]:
    """Operations that the command line names, separated by commas."""
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in OPERATIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(OPERATIONS)}")
    return chosen


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operations", type=operations, default=list(OPERATIONS))
    parser.add_argument("--items", type=int, default=20000, help="each is compared in all timing classes")
    parser.add_argument("--bits", type=widths, default=list(SHARES))
    parser.add_argument("--variant", help="such as rns.cuda.t2; the library's choice unless said")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that GMP runs in")
    parser.add_argument("--seconds", type=float, default=600, help="after which the rest is left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Check and say what was found. Nonzero where something differs or is left out."""
    options = parse(arguments)
    start = time.monotonic()
    check = Check(options)
    check.run()
    report = check.report(time.monotonic() - start)
    for row in report["rows"]:
        print(
            f"{row['operation']:17} {row['bits']:5} bits, {row['moduli']:6} {row['timing_class']:6}: "
            f"{row['items']:8,} results in {row['calls']} calls, {row['differences']} differ"
        )
    print(f"{report['items']:,} of {report['wanted']:,} results compared, {report['differences']} differ")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if report["differences"] == 0 and report["items"] == report["wanted"] else 1


if __name__ == "__main__":
    sys.exit(main())
