# SPDX-License-Identifier: Apache-2.0
"""Memory of a run over a large table, whatever the size of its row groups and record batches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LIMIT = 500 << 20
ROWS, WIDTH, COLUMNS = 300_000, 256, 5

# ru_maxrss would count the parent's memory too; the peak of the process's own address space does not.
PROGRAM = """
import sys
from pathlib import Path
from manymod.cli.main import main
try:
    main(sys.argv[1:], prog_name="manymod")
finally:
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak memory is read from Linux's /proc"
)


@pytest.fixture(scope="module")
def large_columns() -> Any:
    """384 MB of numbers of 2048 bits, in one chunk."""
    source = np.random.default_rng(1)
    columns = {}
    for name in ("n", "b", "x", "y", "z")[:COLUMNS]:
        data = source.integers(0, 256, (ROWS, WIDTH), np.uint8)
        data[:, 0] |= 128
        buffers = [None, pa.py_buffer(data)]
        columns[name] = pa.FixedSizeBinaryArray.from_buffers(pa.binary(WIDTH), ROWS, buffers)
    return pa.table(columns)


def write_one_row_group(table: Any, path: Path) -> None:
    """One row group, hardly compressible."""
    pq.write_table(table, path, row_group_size=ROWS, use_dictionary=False)


def write_one_batch(table: Any, path: Path) -> None:
    """One record batch."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_batch(table.to_batches()[0])


def peak_memory(table: Path, out: Path, *operands: str) -> int:
    """Most bytes that a run of addmod held at a time."""
    command = [sys.executable, "-c", PROGRAM, "addmod", str(table), "-o", str(out), *operands]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert out.stat().st_size > table.stat().st_size
    return int(finished.stdout.split()[-1]) << 10


@linux
@pytest.mark.parametrize(
    ("name", "write"),
    [("parquet", write_one_row_group), ("arrow", write_one_batch)],
    ids=["parquet", "arrow"],
)
def test_memory_is_bounded(tmp_path: Path, large_columns: Any, name: str, write: Any) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    write(large_columns, table)
    assert table.stat().st_size > 350 << 20
    assert peak_memory(table, out, "--x", "b", "--y", "x", "--mod", "n") < LIMIT


@linux
@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_memory_is_bounded_where_cells_are_large(tmp_path: Path, name: str) -> None:
    cell = np.random.default_rng(2).bytes(1 << 20)
    rows = pa.table({"b": pa.array(range(400)), "cell": [bytes([i % 256]) + cell for i in range(400)]})
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    if name == "parquet":
        pq.write_table(rows, table, use_dictionary=False, write_batch_size=4)
    else:
        write_one_batch(rows, table)
    assert table.stat().st_size > 400 << 20
    assert peak_memory(table, out, "--x", "b", "--y", "-7", "--mod", "5", "--result", "r") < LIMIT
