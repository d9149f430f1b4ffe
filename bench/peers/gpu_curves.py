# SPDX-License-Identifier: Apache-2.0
"""Measures gECC, UltrafastSecp256k1 and manymod's curves on one CUDA device; see README.md.

python bench/peers/gpu_curves.py BUILD [--items 65536,262144,1048576] [--json FILE]

BUILD is the folder that gpu_curves.sh filled. A driver that is not there, or fails, leaves its rows out; what
it said is in the report. Every answer for the distinct items is compared with manymod's on the processor.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gpu_curve_libraries import LIBRARIES, OPERATIONS
from kernel_clock import KernelClock, KernelClockError
from numpy.typing import NDArray

from manymod import ecc

Bytes = NDArray[np.uint8]
Row = dict[str, Any]

#: As many as gECC's initialisers repeat; of its signatures it repeats the first 1024.
DISTINCT = 3972
ITEMS = "65536,262144,1048576"
REPETITIONS = 7
#: Far longer than a driver takes.
DRIVER_SECONDS = 120
METHOD = (
    f"medians of {REPETITIONS} runs. kernels: operands and results in device memory; of peers by events "
    "around their launches, in the fastest of some grids; of manymod by CUPTI's records: the time in which "
    "a kernel of the call ran. calls: from arrays on the host to arrays on the host, which for peers are "
    f"copies to and from ordinary memory around the kernels. {DISTINCT} distinct items, repeated; every "
    "seventh signature to verify is spoilt. Answers compared with manymod's on the processor."
)
#: The prime of SM2's field.
SM2_PRIME = (1 << 256) - (1 << 224) - (1 << 96) + (1 << 64) - 1
HASHES = {"SM2": "sm3", "secp256k1": "sha256"}


def little(rows: Bytes) -> Bytes:
    """Big-endian numbers of 32 bytes as little-endian ones, or back."""
    return np.ascontiguousarray(rows[:, ::-1])


class Operands:
    """Distinct items on a curve, and what is right for them."""

    def __init__(self, curve: ecc.Curve, name: str) -> None:
        self.curve, self.name = curve, name
        self.hash = ecc.Prehashed(HASHES[name])
        self.secrets, _ = curve.generate(DISTINCT)
        self.nonces, _ = curve.generate(DISTINCT)
        # Numbers below the order, as the peers want digests.
        self.digests, _ = curve.generate(DISTINCT)
        others, self.points = curve.generate(DISTINCT)
        self.signatures = self._sign(others, self.digests, self.nonces)
        self.valid = np.arange(DISTINCT) % 7 != 3
        self.signatures[~self.valid, 31] ^= 2

    def _sign(self, secrets: Bytes, digests: Bytes, nonces: Bytes, device: str = "cpu") -> Bytes:
        # SM2 has no deterministic nonces that both libraries know.
        how: dict[str, Any] = {"nonces": nonces} if self.name == "SM2" else {"check": False}
        made: Bytes = self.curve.sign(secrets, digests, algorithm=self.hash, device=device, **how)
        return made

    def to_bytes(self) -> bytes:
        """What the drivers read."""
        x, y = self.points[:, 1:33], self.points[:, 33:]
        r, s = self.signatures[:, :32], self.signatures[:, 32:]
        columns = (self.secrets, self.nonces, x, y, self.digests, r, s)
        return np.stack([little(column) for column in columns], axis=1).tobytes()

    def calls(self, items: int) -> dict[str, Callable[[str], Any]]:
        """Calls of manymod on so many items, by operation; each takes the name of a device."""
        at = np.arange(items) % DISTINCT
        secrets, nonces, digests = self.secrets[at], self.nonces[at], self.digests[at]
        points, signatures = self.points[at], self.signatures[at]
        curve = self.curve
        return {
            "base": lambda device: curve.multiply(nonces, device=device),
            "multiply": lambda device: curve.multiply(nonces, points, device=device),
            "sign": lambda device: self._sign(secrets, digests, nonces, device),
            "verify": lambda device: curve.verify(
                points, signatures, digests, algorithm=self.hash, device=device
            ),
        }


@dataclass
class Answers:
    """What is right for the distinct items: points, signatures and verdicts."""

    base: Bytes
    multiply: Bytes
    sign: Bytes
    verify: NDArray[np.bool_]

    def wrong(self, operation: str, found: NDArray[Any]) -> int:
        """How many of the first answers differ; all, where they have another shape."""
        right = getattr(self, operation)[: len(found)]
        if right.shape != found.shape:
            return max(1, len(found))
        return int(np.count_nonzero((right != found).reshape(len(found), -1).any(axis=1)))


def decode(form: str, data: bytes) -> NDArray[Any]:
    """What a driver wrote, as manymod has it; LIBRARIES has the forms."""
    if form == "compressed":
        return np.frombuffer(data, np.uint8).reshape(-1, 33)
    if form == "byte":
        return np.asarray(np.frombuffer(data, np.uint8) != 0)
    if form == "word":
        return np.asarray(np.frombuffer(data, "<u4") != 0)
    pairs = np.frombuffer(data, np.uint8).reshape(-1, 2, 32)[:, :, ::-1]
    if form == "montgomery":
        inverse = pow(1 << 256, -1, SM2_PRIME)
        numbers = [int.from_bytes(row, "big") * inverse % SM2_PRIME for row in pairs.reshape(-1, 32)]
        points = np.frombuffer(b"".join(number.to_bytes(32, "big") for number in numbers), np.uint8)
        return np.insert(points.reshape(-1, 64), 0, 4, axis=1)
    return pairs.reshape(-1, 64)


def compressed(points: Bytes) -> Bytes:
    """Uncompressed points in the other form."""
    return np.concatenate([points[:, 64:] % 2 + 2, points[:, 1:33]], axis=1).astype(np.uint8)


def rates(times: list[float], items: int) -> Row:
    """Rates of repetitions, in seconds."""
    return {
        "repetitions": len(times),
        "per_second": items / statistics.median(times),
        "best_per_second": items / min(times),
    }


@dataclass
class Driven:
    """What a driver left: lines of JSON, results, and what it said if it failed."""

    lines: list[Row]
    results: bytes
    failure: str


def drive(driver: Path, operands: Operands, items: str) -> Driven:
    """Run a driver. What it measured before it failed counts."""
    with tempfile.TemporaryDirectory() as folder:
        given, results, said = Path(folder, "operands"), Path(folder, "results"), Path(folder, "said")
        given.write_bytes(operands.to_bytes())
        results.touch()
        command = [str(driver), str(given), str(results), str(REPETITIONS), items]
        failure = ""
        with said.open("wb") as output:
            try:
                done = subprocess.run(
                    command, stdout=output, stderr=subprocess.PIPE, check=False, timeout=DRIVER_SECONDS
                )
            except subprocess.TimeoutExpired:
                failure = f"ended after {DRIVER_SECONDS} s"
            else:
                if done.returncode != 0:
                    failure = done.stderr.decode(errors="replace")[-500:] or f"status {done.returncode}"
        # gECC prints lines of its own, too.
        lines = [line for line in said.read_text(errors="replace").splitlines() if line.startswith('{"')]
        return Driven([json.loads(line) for line in lines], results.read_bytes(), failure)


def peer_rows(library: str, driven: Driven, operands: Operands, answers: Answers) -> list[Row]:
    """The runs of a driver. Every row has the facts of the device, as `device`."""
    device, *runs = driven.lines or [{}]
    rows, begin, data = [], 0, driven.results
    for run in runs:
        what = LIBRARIES[library].operations[run["operation"]]
        found = decode(what.form, data[begin : begin + run["bytes"]])
        begin += run["bytes"]
        if what.form == "compressed":
            right = compressed(getattr(answers, what.same_as))
            wrong = int(np.count_nonzero((right != found).any(axis=1)))
        else:
            wrong = answers.wrong(what.same_as, found)
        common: Row = {
            "library": library,
            "curve": operands.name,
            "operation": run["operation"],
            "same_as": what.same_as,
            "items": run["items"],
            "constant_time": what.constant_time,
            "checked": len(found),
            "wrong": wrong,
            "copies_differ": run["differing"] >= 0,
            "right": wrong == 0 and run["differing"] < 0,
            "shape": run["shape"],
        }
        for scope, name in (("kernels", "milliseconds"), ("calls", "call_milliseconds")):
            if run[name]:
                times = [value / 1000 for value in run[name]]
                rows.append(common | {"scope": scope} | rates(times, run["items"]))
    return [row | {"device": device} for row in rows]


def timed(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measure_own(operands: Operands, answers: Answers, items: int, clock: KernelClock | None) -> list[Row]:
    """The same operations of manymod: whole calls, or with a clock the kernels within them."""
    rows = []
    for operation, call in operands.calls(items).items():
        everything = np.asarray(call("cuda"))
        found = everything[:DISTINCT]
        copies = found[np.arange(items) % len(found)]
        wrong = answers.wrong(operation, found) + np.count_nonzero(
            np.reshape(everything != copies, (items, -1)).any(axis=1)
        )
        seconds = clock.seconds if clock else timed
        times = [seconds(functools.partial(call, "cuda")) for _ in range(REPETITIONS)]
        rows.append(
            {
                "library": "manymod",
                "curve": operands.name,
                "operation": operation,
                "same_as": operation,
                "items": items,
                "constant_time": operation != "verify",
                "checked": len(found),
                "wrong": wrong,
                "right": wrong == 0,
                "scope": "kernels" if clock else "calls",
                **rates(times, items),
            }
        )
    return rows


def ratios(rows: list[Row]) -> list[Row]:
    """How many times as fast as a peer's manymod's operation is, of as many items, where both are right."""
    own = {
        (row["curve"], row["operation"], row["items"], row["scope"]): row
        for row in rows
        if row["library"] == "manymod" and row["right"]
    }
    return [
        {
            "curve": row["curve"],
            "operation": row["same_as"],
            "items": row["items"],
            "scope": row["scope"],
            "peer": row["library"],
            "peer_operation": row["operation"],
            "peer_right": row["right"],
            "peer_constant_time": row["constant_time"],
            "ratio": mine["per_second"] / row["per_second"],
        }
        for row in rows
        if row["library"] != "manymod"
        and (mine := own.get((row["curve"], row["same_as"], row["items"], row["scope"])))
    ]


def show(rows: list[Row]) -> None:
    """Print rows as they come."""
    for row in rows:
        verdict = "" if row["right"] else f"  {row['wrong']} of {row['checked']} WRONG"
        print(
            f"{row['library']:10}{row['curve']:10}{row['operation']:21}{row['items']:9}{row['scope']:>9}"
            f"{row['per_second'] / 1e6:10.2f} M/s{verdict}",
            flush=True,
        )


class Session:
    """What is measured, in one report."""

    def __init__(self, build: Path, items: str) -> None:
        self.build, self.items = build, items
        self.rows: list[Row] = []
        self.failed: dict[str, str] = {}

    def attempt(self, what: str, measure: Callable[[], list[Row]]) -> None:
        """Measure; a failure is kept, and the rest goes on."""
        begin = time.perf_counter()
        try:
            found = measure()
        except (OSError, ValueError, RuntimeError, KernelClockError, subprocess.SubprocessError) as error:
            self.failed[what] = str(error)
            print(f"{what}: FAILED: {error}", flush=True)
            return
        self.rows += found
        show(found)
        print(f"{what}: {time.perf_counter() - begin:.1f} s", flush=True)

    def peer(self, library: str, operands: Operands, answers: Answers) -> list[Row]:
        """Rows of a peer; a failure is kept beside them."""
        items = ",".join([self.items, *map(str, LIBRARIES[library].more_items)])
        driven = drive(self.build / f"{library}_driver", operands, items)
        if driven.failure:
            self.failed[library] = driven.failure
            print(f"{library}: FAILED: {driven.failure}", flush=True)
        return peer_rows(library, driven, operands, answers)

    def run(self, cupti: str | None) -> None:
        """Measure all peers, then manymod's calls, then its kernels, which CUPTI may slow down."""
        prepared = {}
        for name, curve in (("SM2", ecc.SM2), ("secp256k1", ecc.SECP256K1)):
            operands = Operands(curve, name)
            calls = operands.calls(DISTINCT)
            prepared[name] = operands, Answers(**{op: np.asarray(calls[op]("cpu")) for op in OPERATIONS})
        for library, facts in LIBRARIES.items():
            operands, answers = prepared[facts.curve]
            self.attempt(library, functools.partial(self.peer, library, operands, answers))
        sizes = [int(size) for size in self.items.split(",")]
        clock: KernelClock | None = None
        for scope in ("calls", "kernels"):
            if scope == "kernels":
                try:
                    clock = KernelClock(cupti)
                except KernelClockError as error:
                    self.failed["kernels of manymod"] = str(error)
                    print(f"kernels of manymod: FAILED: {error}", flush=True)
                    return
            for name, (operands, answers) in prepared.items():
                for size in sizes:
                    measure = functools.partial(measure_own, operands, answers, size, clock)
                    self.attempt(f"manymod, {scope}, {name}, {size}", measure)

    def report(self, commit: str) -> Row:
        """The report."""
        facts: Row = {}
        for row in self.rows:
            facts = row.pop("device", facts)
        return {
            "bench": "gpu_curves",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": commit,
            "driver": driver_version(),
            **facts,
            "peers": json.loads((self.build / "peers.json").read_text(encoding="utf-8")),
            "notes": {
                f"{library} {name}": what.note
                for library, facts in LIBRARIES.items()
                for name, what in facts.operations.items()
            },
            "method": METHOD,
            "rows": self.rows,
            "ratios": ratios(self.rows),
            "failed": self.failed,
        }


def driver_version() -> str:
    """What nvidia-smi calls the driver of the first device."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def main() -> int:
    """Measure and report. Nonzero where a part failed or manymod is wrong; peers may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="folder of the drivers and of peers.json")
    parser.add_argument("--items", default=ITEMS)
    parser.add_argument("--cupti", help="libcupti.so, where it is not found")
    parser.add_argument("--commit", default="unknown", help="manymod's, said in the report")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    session = Session(options.build, options.items)
    session.run(options.cupti)
    report = session.report(options.commit)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    right = all(row["right"] for row in session.rows if row["library"] == "manymod")
    return 0 if right and not session.failed else 1


if __name__ == "__main__":
    sys.exit(main())
