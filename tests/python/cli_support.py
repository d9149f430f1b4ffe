# SPDX-License-Identifier: Apache-2.0
"""Running the command in this process or another, and reading the tables it writes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from manymod.cli.main import main

COMMAND = [sys.executable, "-m", "manymod"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Finished:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments], prog_name="manymod")
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
    return Finished(code, out.getvalue(), err.getvalue())


def start(*arguments: object, held_after: int | None = None) -> subprocess.Popen[str]:
    """Start the command in a process of its own, which after so many batches waits for a signal."""
    held = [] if held_after is None else [sys.executable, "-m", "tests.python.held_cli", str(held_after)]
    command = [*(held or COMMAND), *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


@contextlib.contextmanager
def interrupted_at(call: int, owner: type, method: str) -> Iterator[None]:
    """Let a call of a method, counted from 1 on, end as Ctrl-C ends it."""
    original, calls = getattr(owner, method), []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return original(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, method, interrupted)
        yield


def write_table(path: Path, rows: list[Row], schema: Any = None) -> None:
    """Write rows in the format of the extension; CSV and JSON take the values as they are."""
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(rows[0])
            writer.writerows(row.values() for row in rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        write_arrow(path, pa.Table.from_pylist(rows, schema=schema))


def write_arrow(path: Path, table: Any) -> None:
    """Write an Arrow table as Parquet or Arrow IPC."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    opener = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, opener(file, table.schema) as writer:
        writer.write_table(table)


def read_arrow(path: Path) -> Any:
    """Read Parquet or Arrow IPC."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    opener = pa.ipc.open_stream if path.suffix == ".arrows" else pa.ipc.open_file
    with pa.OSFile(str(path), "rb") as file:
        return opener(file).read_all()


def read_table(path: Path) -> list[Row]:
    """Rows of any table; CSV cells are text."""
    if path.suffix in {".csv", ".tsv"}:
        with path.open(newline="") as file:
            delimiter = "\t" if path.suffix == ".tsv" else ","
            return [dict(row) for row in csv.DictReader(file, delimiter=delimiter)]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    rows: list[Row] = read_arrow(path).to_pylist()
    return rows


def power_rows(count: int, bits: int, seed: int) -> list[Row]:
    """Rows with a base, an exponent and an odd modulus as decimal text."""
    source = random.Random(seed)
    top = 1 << (bits - 1)
    return [
        {
            "id": str(index),
            "b": str(source.getrandbits(bits)),
            "e": str(source.getrandbits(bits) | top),
            "n": str(source.getrandbits(bits) | top | 1),
        }
        for index in range(count)
    ]


def leftovers(path: Path) -> list[str]:
    """Names beside an output that are neither it nor the inputs given."""
    return sorted(entry.name for entry in path.parent.iterdir() if path.name in entry.name and entry != path)
