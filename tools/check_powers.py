# SPDX-License-Identifier: Apache-2.0
"""Compares powers, as the library computes them on a GPU, with GMP's, number by number.

python tools/check_powers.py [--items N] [--bits N,..] [--variant NAME] [--device NAME] [--processes N]
  [--seconds S] [--seed N] [--json FILE]

Items have moduli of their own or share one, of all lengths that a kernel of the width serves; among them are
moduli that residue number systems refuse, and exponents and bases at the edges of their ranges. All are
computed in both timing classes. GMP runs in processes of its own, beside the GPU. Needs gmpy2, NumPy and the
package.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import importlib
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

    bits: int
    shared: bool
    number: int
    items: int


class Part(NamedTuple):
    """Items of a group that one process computes."""

    group: Group
    number: int
    items: int
    seed: int


@dataclass
class Numbers:
    """Big-endian rows: base, exponent, modulus, and the power by GMP."""

    rows: list[Bytes]

    @staticmethod
    def joined(parts: list[Numbers]) -> Numbers:
        """All of them, in order."""
        return Numbers([np.concatenate(rows) for rows in zip(*(part.rows for part in parts), strict=True)])


@dataclass
class Tally:
    """What was compared, by width, kind of moduli and timing class."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    shown: int = 0

    def add(self, group: Group, timing: str, numbers: Numbers, found: Bytes, seconds: float) -> None:
        """Compare the powers of a group."""
        wrong = differing(numbers, found)
        kind = {"bits": group.bits, "moduli": "shared" if group.shared else "each", "timing_class": timing}
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
                print(f"    {name:9}{rows[item].tobytes().hex()}")
            print(f"    {'found':9}{found[item].tobytes().hex()}")

    def total(self, name: str) -> int:
        """Of all rows."""
        return sum(row[name] for row in self.rows)


def widened(rows: Bytes, width: int) -> Bytes:
    """The same numbers in rows of a width."""
    return np.pad(rows, ((0, 0), (width - rows.shape[1], 0)))


def differing(numbers: Numbers, found: Bytes) -> list[int]:
    """Items whose power is not GMP's."""
    right = numbers.rows[3]
    if len(found) != len(right):
        return list(range(len(right)))
    return [int(item) for item in np.flatnonzero((widened(found, right.shape[1]) != right).any(axis=1))]


def groups(items: int, widths: list[int]) -> Iterator[Group]:
    """Two thirds of a width's items, of what is left, and so on down to one, with moduli of both kinds."""
    whole = sum(SHARES[bits] for bits in widths)
    for bits in widths:
        for shared in (False, True):
            left = max(3, round(items * SHARES[bits] / whole / 2))
            number = 0
            while left > 0:
                size = (2 * left + 2) // 3
                yield Group(bits, shared, number, size)
                number += 1
                left -= size


def parts(group: Group, seed: int) -> list[Part]:
    """Of a group, in order."""
    size = PART[group.bits]
    return [
        Part(group, number, min(size, group.items - first), seed)
        for number, first in enumerate(range(0, group.items, size))
    ]


def least_bits(bits: int) -> int:
    """Of the moduli that go to the kernel of a width."""
    return max((width for width in SHARES if width < bits), default=64) + 1


def modulus(source: random.Random, bits: int, *, refused: bool) -> int:
    """Odd, mostly of the full length."""
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
    """Mostly of the full length."""
    if source.randrange(EDGES) == 0:
        return source.choice((0, 1, 2, 65537, (1 << bits) - 1, source.getrandbits(64)))
    return source.getrandbits(bits)


def shared_modulus(group: Group, seed: int) -> int:
    """Of all items of a group. In one group of each width it is one that is refused."""
    source = random.Random(f"{seed} {group}")
    return modulus(source, group.bits, refused=group.number == 1)


def make(part: Part) -> Numbers:
    """Random operands of a part, and GMP's powers."""
    gmpy2 = importlib.import_module("gmpy2")
    bits = part.group.bits
    source = random.Random(str(part))
    rows: list[list[bytes]] = [[], [], [], []]
    n = shared_modulus(part.group, part.seed)
    for _ in range(part.items):
        if not part.group.shared:
            n = modulus(source, bits, refused=source.randrange(REFUSALS) == 0)
        x, y = base(source, bits, n), exponent(source, bits)
        for row, value in zip(rows, (x, y, n, int(gmpy2.powmod(x, y, n))), strict=True):
            row.append(value.to_bytes(bits // 8, "big"))
    return Numbers([np.frombuffer(b"".join(row), np.uint8).reshape(-1, bits // 8) for row in rows])


class Check:
    """A run: hands parts to processes, and their numbers, once a group is complete, to the library."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tally = Tally()
        self.gathered: dict[Group, dict[int, Numbers]] = {}
        wanted = [
            part for group in groups(options.items, options.bits) for part in parts(group, options.seed)
        ]
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
        """The library's powers of what there is of a group."""
        manymod = importlib.import_module("manymod")
        found = self.gathered.pop(group)
        numbers = Numbers.joined([found[number] for number in sorted(found)])
        x, y, n, _ = numbers.rows
        mod: Any = int.from_bytes(n[0].tobytes(), "big") if group.shared else n
        for timing in ("public", "secret"):
            start = time.monotonic()
            powers = manymod.powmod(
                x, y, mod, secret=timing == "secret", device=self.options.device, variant=self.options.variant
            )
            self.tally.add(group, timing, numbers, powers, time.monotonic() - start)

    def report(self, seconds: float) -> dict[str, Any]:
        """As JSON wants it."""
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
            "wanted": 2 * sum(part.items for part in self.wanted),
            "items": self.tally.total("items"),
            "differences": self.tally.total("differences"),
            "rows": sorted(self.tally.rows, key=lambda row: tuple(row.values())),
        }


def widths(text: str) -> list[int]:
    """Of the command line."""
    chosen = [int(bits) for bits in text.split(",")]
    unknown = [bits for bits in chosen if bits not in SHARES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(map(str, SHARES))}")
    return chosen


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=20000, help="each is compared in both timing classes")
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
            f"{row['bits']:5} bits, {row['moduli']:6} {row['timing_class']:6}: {row['items']:8,} powers in "
            f"{row['calls']} calls, {row['differences']} differ"
        )
    print(f"{report['items']:,} of {report['wanted']:,} powers compared, {report['differences']} differ")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if report["differences"] == 0 and report["items"] == report["wanted"] else 1


if __name__ == "__main__":
    sys.exit(main())
