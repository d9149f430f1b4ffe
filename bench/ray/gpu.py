# SPDX-License-Identifier: Apache-2.0
"""Tables through a GPU, from Parquet to Parquet: in one process, and by actors of Ray that share the GPU.

    python bench/ray/gpu.py --rows 400000 -o bench/results/ray_gpu.json

All ways read the same file. Their files are compared column by column, and samples of the first one with
Python's pow or the cryptography package. Times are of the whole run, with the start of actors and their first
use of the GPU; `rows_per_second` counts from the first report of progress on.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as peer
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from verify import Clock

import manymod
from manymod import ray as bulk
from manymod import rsa, tables

#: Rows that are compared with Python's pow or with the cryptography package.
SAMPLES = 50
#: Moduli and bases that are made; rows repeat them.
DISTINCT = 2000
_BITS = 1024
_LIMITS = tables.BatchLimits(rows=1 << 16)


@dataclass(frozen=True)
class RingOf:
    """Loads the key that signs."""

    path: Path
    device: str

    def __call__(self) -> rsa.KeyRing:
        """Return a ring of one key."""
        return rsa.KeyRing([rsa.PrivateKey.from_pem(self.path.read_bytes())], device=self.device)


@dataclass(frozen=True)
class Workload:
    """A job, the table that it reads, and what says whether a row of the answer is right."""

    name: str
    job: tables.Job
    columns: dict[str, list[bytes]]
    result: str
    is_right: Callable[[dict[str, list[bytes]], int, bytes], bool]


def powers(rows: int, device: str) -> Workload:
    """Return powers of 1024 bits with a modulus in each row."""
    source, size = random.Random(11), _BITS // 8
    made = [[source.getrandbits(_BITS) | 1 for _ in range(DISTINCT)] for _ in range(3)]
    columns = {
        name: [numbers[row % DISTINCT].to_bytes(size, "big") for row in range(rows)]
        for name, numbers in zip("ben", made, strict=True)
    }

    def is_right(table: dict[str, list[bytes]], row: int, answer: bytes) -> bool:
        base, exponent, modulus = (int.from_bytes(table[name][row], "big") for name in "ben")
        return int.from_bytes(answer, "big") == pow(base, exponent, modulus)

    job = tables.OperationJob(
        operation=tables.OPERATIONS["powmod"],
        operands={"base": "b", "exp": "e", "mod": "n"},
        engine=tables.EngineOptions(device=device),
    )
    return Workload("powmod", job, columns, "result", is_right)


def signatures(rows: int, device: str, folder: Path) -> Workload:
    """Return RSA-2048 signatures by one key."""
    key = peer.generate_private_key(65537, 2048)
    path = folder / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    def is_right(table: dict[str, list[bytes]], row: int, answer: bytes) -> bool:
        return answer == key.sign(table["message"][row], padding.PKCS1v15(), hashes.SHA256())

    job = tables.RsaJob(
        operation="sign",
        operands={"message": "message"},
        ring=RingOf(path, device),
        padding=rsa.Padding("pkcs1v15"),
        algorithm="sha256",
    )
    columns = {"message": [b"message number %d" % row for row in range(rows)]}
    return Workload("rsa sign", job, columns, "result", is_right)


def in_one_process(work: Workload, path: Path, out: Path, clock: Clock) -> None:
    """Run without Ray."""
    source, sink = tables.open_source(path, limits=_LIMITS), tables.FileSink(out)
    try:
        assert not tables.run(work.job, source, sink, progress=clock).bad_counts
    finally:
        sink.close()
        source.close()


def by_actors(actors: int, work: Workload, path: Path, out: Path, clock: Clock) -> None:
    """Run with so many actors on the GPU."""
    threads = max(1, (os.cpu_count() or 1) // actors)
    workers = bulk.Workers(count=actors, threads=threads, gpus=bulk.gpu_share(actors))
    tally = bulk.parquet_to_parquet(work.job, path, out, workers=workers, limits=_LIMITS, progress=clock)
    assert not tally.bad_counts


def column(path: Path, name: str) -> list[bytes]:
    """Return a column of a file or of a folder of files."""
    files = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
    return [value for file in files for value in pq.read_table(file, columns=[name])[name].to_pylist()]


def measured(work: Workload, folder: Path, group: int, actors: list[int]) -> list[dict[str, Any]]:
    """Return the rates of a workload in one process and by actors, whose answers are compared."""
    path = folder / "in.parquet"
    pq.write_table(pa.table(work.columns), path, use_dictionary=False, row_group_size=group)
    ways: dict[str, Callable[[Workload, Path, Path, Clock], None]] = {
        "one process": in_one_process,
        **{f"actors: {number}": functools.partial(by_actors, number) for number in actors},
    }
    found, first = [], None
    for number, (way, run) in enumerate(ways.items()):
        out = folder / f"out{number}{'' if number else '.parquet'}"
        clock, begun = Clock(), time.perf_counter()
        run(work, path, out, clock)
        seconds = time.perf_counter() - begun
        answers = column(out, work.result)
        if first is None:
            picked = random.Random(1).sample(range(len(answers)), SAMPLES)
            assert all(work.is_right(work.columns, row, answers[row]) for row in picked)
            first = answers
        assert answers == first
        found.append(
            {
                "job": work.name,
                "way": way,
                "rows_per_second": round(clock.rate(warm=0)),
                "seconds": round(seconds, 2),
            }
        )
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    """Measure, and write a report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--group-rows", type=int, default=20_000)
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 4], help="default: 1 4")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    with bulk.connected(quiet=True), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        for number, work in enumerate(
            (powers(given.rows, given.device), signatures(given.rows, given.device, folder))
        ):
            (folder / str(number)).mkdir()
            found += measured(work, folder / str(number), given.group_rows, given.actors)
    report = {
        "what": "powers of 1024 bits with a modulus in each row; RSA-2048 signatures (PKCS#1 v1.5) by one "
        "key; Parquet to Parquet on one GPU",
        "command": f"python bench/ray/gpu.py {' '.join(sys.argv[1:])}",
        "device": given.device,
        "gpus": [
            device.model for device in manymod.devices() if device.backend == given.device.partition(":")[0]
        ],
        "processors": os.cpu_count(),
        "versions": {"manymod": manymod.__version__, "ray": ray.__version__, "pyarrow": pa.__version__},
        "rows": given.rows,
        "group_rows": given.group_rows,
        "runs": found,
    }
    given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
