# SPDX-License-Identifier: Apache-2.0
"""RSA-2048 verification from Parquet to Parquet, with Ray and without, one after the other.

    python bench/ray/verify.py --rows 400000 --repetitions 3 -o bench/results/ray_verify.json

Both read the same file and use the same number of threads. The rate of a run is that of its rows after the
first tenth, so that the start of actors, which does not depend on the rows, is not in it; the time in all is
reported beside it. On a shared machine, processor time tells more than the time that passed: give two numbers
of rows, and the report has the processor time of a further row.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as peer
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import manymod
from manymod import ray as bulk
from manymod import rsa, tables

#: Signatures that are made; rows repeat them.
DISTINCT = 500
_WARM = 0.1


@dataclass(frozen=True)
class RingOf:
    """Loads the key that signed."""

    path: Path
    threads: int

    def __call__(self) -> rsa.KeyRing:
        """Return a ring of one key."""
        return rsa.KeyRing([rsa.PublicKey.from_pem(self.path.read_bytes())], threads=self.threads)


@dataclass
class Clock:
    """Times of the progress of a run."""

    begun: float = field(default_factory=time.perf_counter)
    points: list[tuple[int, float]] = field(default_factory=list)

    def __call__(self, done: int, _total: int | None) -> None:
        """Rows are done."""
        self.points.append((done, time.perf_counter()))

    def rate(self, warm: float = _WARM) -> float:
        """Rows a second after the first report with that share of the rows, by default a tenth."""
        last, end = self.points[-1]
        first, start = next(point for point in self.points if point[0] >= warm * last)
        assert last > first, "too few rows: all were done at the first report of progress"
        return (last - first) / (end - start)


def write_input(folder: Path, rows: int, group: int) -> tuple[Path, Path]:
    """Write a table of signatures and the key."""
    key = peer.generate_private_key(65537, 2048)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "key.pem").write_bytes(pem)
    messages = [f"message number {number}".encode() for number in range(DISTINCT)]
    signatures = [key.sign(message, padding.PKCS1v15(), hashes.SHA256()) for message in messages]
    path = folder / "in.parquet"
    names = ["id", "message", "signature"]
    with pq.ParquetWriter(path, _schema(), use_dictionary=False) as writer:
        for start in range(0, rows, group):
            numbers = range(start, min(rows, start + group))
            picked = [number % DISTINCT for number in numbers]
            columns = [list(numbers), [messages[k] for k in picked], [signatures[k] for k in picked]]
            writer.write_table(pa.table(dict(zip(names, columns, strict=True)), schema=_schema()))
    return path, folder / "key.pem"


def _schema() -> Any:
    return pa.schema([("id", pa.int64()), ("message", pa.binary()), ("signature", pa.binary(256))])


def job_with(key: Path, threads: int) -> tables.RsaJob:
    """Return the verification of every row."""
    return tables.RsaJob(
        operation="verify",
        operands={"message": "message", "signature": "signature"},
        ring=RingOf(key, threads),
        padding=rsa.Padding("pkcs1v15"),
        algorithm="sha256",
        names=tables.OutputNames("valid", "status"),
    )


def alone(path: Path, key: Path, out: Path, threads: int, limits: tables.BatchLimits) -> Clock:
    """Run without Ray."""
    clock = Clock()
    source = tables.open_source(path, limits=limits)
    sink = tables.FileSink(out)
    try:
        tally = tables.run(job_with(key, threads), source, sink, progress=clock)
    finally:
        sink.close()
        source.close()
    assert not tally.bad_counts
    return clock


def spread(path: Path, key: Path, out: Path, workers: bulk.Workers, limits: tables.BatchLimits) -> Clock:
    """Run with Ray."""
    clock = Clock()
    job = job_with(key, workers.threads)
    tally = bulk.parquet_to_parquet(job, path, out, workers=workers, limits=limits, progress=clock)
    assert not tally.bad_counts
    return clock


class Processes:
    """Processor time and memory of this process and of all that it started, by /proc, twice a second."""

    def __init__(self) -> None:
        self._ticks: dict[int, int] = {}
        self._memory: dict[int, int] = {}
        self._actors: set[int] = set()
        self._before: dict[int, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Processes:
        self._look()
        self._before = dict(self._ticks)
        self._memory.clear()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self._look()

    def _look(self) -> None:
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (status := _read(entry / "stat")):
                fields = status.rpartition(b")")[2].split()
                parents[int(entry.name)] = int(fields[1])
        for pid in parents:
            if _descends(pid, parents):
                self._note(pid)

    def _note(self, pid: int) -> None:
        folder = Path(f"/proc/{pid}")
        fields = _read(folder / "stat").rpartition(b")")[2].split()
        pages = _read(folder / "statm").split()
        if fields and len(pages) > 2:
            self._ticks[pid] = int(fields[11]) + int(fields[12])
            private = (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")
            self._memory[pid] = max(self._memory.get(pid, 0), private)
            if b"PieceActor" in _read(folder / "cmdline"):
                self._actors.add(pid)

    def report(self) -> dict[str, float]:
        """Return processor time, in seconds, and the most private memory of a process, in bytes.

        Those of this process, of actors, and of what else Ray runs.
        """
        kinds: dict[str, list[int]] = {"driver": [], "actors": [], "ray": []}
        for pid in self._ticks:
            kind = "driver" if pid == os.getpid() else "actors" if pid in self._actors else "ray"
            kinds[kind].append(pid)
        found: dict[str, float] = {}
        for kind, pids in kinds.items():
            ticks = sum(self._ticks[pid] - self._before.get(pid, 0) for pid in pids)
            found[f"{kind}_processor_seconds"] = round(ticks / os.sysconf("SC_CLK_TCK"), 2)
            found[f"{kind}_bytes"] = max((self._memory.get(pid, 0) for pid in pids), default=0)
        return found


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def measured(run: Callable[[], Clock]) -> dict[str, float]:
    """Return what a run took."""
    with Processes() as processes:
        begun = time.perf_counter()
        clock = run()
        whole = time.perf_counter() - begun
    return {
        "rows_per_second": round(clock.rate()),
        "seconds_in_all": round(whole, 2),
        **processes.report(),
    }


def compared(
    folder: Path, rows: int, group: int, workers: bulk.Workers, limits: tables.BatchLimits
) -> dict[str, dict[str, float]]:
    """Return what the same table took without Ray and with it."""
    path, key = write_input(folder, rows, group)
    threads = workers.threads * workers.number()
    return {
        "without_ray": measured(lambda: alone(path, key, folder / "a.parquet", threads, limits)),
        "with_ray": measured(lambda: spread(path, key, folder / "out", workers, limits)),
    }


def main() -> None:
    """Measure, and write a report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[400_000])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--processors", type=int, default=2)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--batch-rows", type=int, default=8192)
    parser.add_argument("--group-rows", type=int, default=20_000)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    limits = tables.BatchLimits(rows=given.batch_rows)
    workers = bulk.Workers(count=given.actors, threads=max(1, given.processors // given.actors))
    report: dict[str, Any] = {
        "what": "RSA-2048 verification (PKCS#1 v1.5, SHA-256), Parquet to Parquet",
        "command": f"python bench/ray/verify.py {' '.join(sys.argv[1:])}",
        "cpu": _cpu(),
        "versions": {"manymod": manymod.__version__, "ray": ray.__version__, "pyarrow": pa.__version__},
        "load_average": os.getloadavg(),
        "runs": [],
    }
    ray.init(
        address="local",
        num_cpus=given.processors,
        object_store_memory=100 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    for repetition in range(given.repetitions):
        for rows in given.rows:
            with tempfile.TemporaryDirectory() as name:
                results = compared(Path(name), rows, given.group_rows, workers, limits)
            report["runs"].append({"rows": rows, "repetition": repetition, **results})
            print(json.dumps(report["runs"][-1]))
            _summarise(report)
            given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _summarise(report: dict[str, Any]) -> None:
    """Add the medians of the runs so far, and what a further row costs."""
    runs: dict[int, list[dict[str, Any]]] = {}
    for run in report["runs"]:
        runs.setdefault(run["rows"], []).append(run)
    report["medians"] = {rows: _medians(of_rows) for rows, of_rows in runs.items()}
    if len(runs) > 1:
        report["processor_microseconds_of_a_further_row"] = _further(report["medians"])


def _medians(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {
        kind: {name: statistics.median(run[kind][name] for run in runs) for name in runs[0][kind]}
        for kind in ("without_ray", "with_ray")
    }


def _further(medians: dict[int, dict[str, dict[str, float]]]) -> dict[str, float]:
    """Return the processor time of a row more: what a start costs is in none of them."""
    few, many = min(medians), max(medians)
    names = ("driver_processor_seconds", "actors_processor_seconds", "ray_processor_seconds")
    found: dict[str, float] = {}
    for kind in ("without_ray", "with_ray"):
        for name in names:
            more = medians[many][kind][name] - medians[few][kind][name]
            found[f"{kind}_{name.partition('_')[0]}"] = round(1e6 * more / (many - few), 3)
    return found


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


if __name__ == "__main__":
    main()
