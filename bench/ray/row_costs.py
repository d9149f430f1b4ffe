# SPDX-License-Identifier: Apache-2.0
"""Processor time of a row of a table, from Parquet to Parquet in one thread, and its size, to plan long runs.

python bench/ray/row_costs.py -o bench/results/row_costs.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric import rsa as peer

import manymod
from manymod import ecc, rsa, tables

REPETITIONS = 5
_BATCH = {"powmod": 1024, "rsa sign": 1024}


def _numbers(count: int, bits: int) -> list[bytes]:
    source, top = random.Random(7), 1 << (bits - 1)
    return [(source.getrandbits(bits) | top | 1).to_bytes(bits // 8, "big") for _ in range(count)]


def _operation(name: str, rows: int) -> tuple[tables.Job, Any]:
    numbers = _numbers(3 * rows, 2048)
    columns = {"x": numbers[:rows], "y": numbers[rows : 2 * rows], "n": numbers[2 * rows :]}
    labels = ("base", "exp") if name == "powmod" else ("x", "y")
    operands = {labels[0]: "x", labels[1]: "y", "mod": "n"}
    job = tables.OperationJob(
        operation=tables.OPERATIONS[name], operands=operands, engine=tables.EngineOptions(threads=1)
    )
    return job, pa.table({key: pa.array(value, pa.binary(256)) for key, value in columns.items()})


def _rsa(operation: str, rows: int) -> tuple[tables.Job, Any]:
    key = rsa.PrivateKey.from_cryptography(peer.generate_private_key(65537, 2048))
    ring = rsa.KeyRing([key], threads=1)
    messages = [b"message %d" % row for row in range(rows)]
    columns = {"message": messages}
    if operation == "verify":
        columns["signature"] = list(ring.sign(messages, None, "pkcs1v15", "sha256"))
    job = tables.RsaJob(
        operation=operation,
        operands={name: name for name in columns},
        ring=ring,
        padding=rsa.Padding("pkcs1v15"),
        algorithm="sha256",
    )
    return job, pa.table(columns)


def _ecdsa(operation: str, rows: int) -> tuple[tables.Job, Any]:
    secrets, public = (list(map(bytes, keys)) for keys in ecc.P256.generate(rows))
    messages = [b"message %d" % row for row in range(rows)]
    columns = {"message": messages, "secret": secrets}
    if operation == "verify":
        signatures = list(ecc.P256.sign(secrets, messages))
        columns = {"message": messages, "signature": signatures, "public": public}
    job = tables.EccJob(
        operation=operation, operands={name: name for name in columns}, curve=ecc.P256, where={"threads": 1}
    )
    return job, pa.table(columns)


def cost(name: str, rows: int, job: tables.Job, table: Any) -> dict[str, Any]:
    """Return the processor time and the bytes of a row."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        pq.write_table(table, path, use_dictionary=False)
        times = []
        for _ in range(REPETITIONS + 1):
            begun = time.process_time()
            source = tables.open_source(path, limits=tables.BatchLimits(rows=_BATCH.get(name, 8192)))
            sink = tables.FileSink(out)
            tally = tables.run(job, source, sink)
            sink.close()
            source.close()
            times.append(time.process_time() - begun)
            assert not tally.bad_counts
        sizes = [table.nbytes, pq.read_table(out).nbytes]
    return {
        "job": name,
        "rows": rows,
        "processor_microseconds": round(1e6 * statistics.median(times[1:]) / rows, 2),
        "bytes_read": round(sizes[0] / rows),
        "bytes_written": round(sizes[1] / rows),
    }


def main() -> None:
    """Measure, and write a report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    manymod.set_threads(1)
    jobs: dict[str, tuple[int, Callable[[int], tuple[tables.Job, Any]]]] = {
        "rsa verify": (65_536, lambda rows: _rsa("verify", rows)),
        "rsa sign": (2_048, lambda rows: _rsa("sign", rows)),
        "powmod": (1_024, lambda rows: _operation("powmod", rows)),
        "mulmod": (65_536, lambda rows: _operation("mulmod", rows)),
        "ecc verify": (32_768, lambda rows: _ecdsa("verify", rows)),
        "ecc sign": (65_536, lambda rows: _ecdsa("sign", rows)),
    }
    found = []
    for name, (rows, make) in jobs.items():
        job, table = make(rows)
        found.append(cost(name, rows, job, table))
        print(json.dumps(found[-1]))
    report = {
        "what": "2048 bits, PKCS#1 v1.5, ECDSA on P-256 with keys in columns; median of "
        f"{REPETITIONS} runs after one",
        "command": "python bench/ray/row_costs.py",
        "cpu": _cpu(),
        "load_average": os.getloadavg(),
        "rows": found,
    }
    given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")


if __name__ == "__main__":
    main()
