# SPDX-License-Identifier: Apache-2.0
"""A table through one operation: read, compute, keep parts, and put the output together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import manymod
from manymod.cli.interrupt import InterruptGuard
from manymod.cli.jsonlines import JsonLinesSource, TypedJsonLinesSource
from manymod.cli.operations import EngineOptions, Operation, run_batch
from manymod.cli.parts import PartsStore
from manymod.cli.progress import RowProgress
from manymod.cli.shape import (
    NEGATIVE_RESULT,
    ColumnShape,
    LineShape,
    Operands,
    OutputNames,
    Shape,
    resolve_operand,
)
from manymod.cli.sinks import write_table
from manymod.cli.sources import (
    ArrowSource,
    Batch,
    BatchLimits,
    CsvSource,
    ParquetSource,
    Source,
    TableError,
    arrow_message,
    refuse_compressed,
)

__all__ = ["EXTENSIONS", "Outcome", "TableJob", "run_table"]

#: Table formats by file extension; `arrow` is the IPC file format, `arrows` the IPC stream format.
EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrows",
}

#: Memory of the interpreter and its libraries before any table is read.
BASE_MEMORY = 160 << 20
#: Bytes that a batch costs at its peak for each byte read: columns, Python integers, limbs, results, parts.
BATCH_FACTOR = 24


@dataclass(frozen=True)
class TableJob:
    """Everything one table command was asked for. Operands are the texts given, by operand name."""

    operation: Operation
    table: Path
    output: Path
    operands: Mapping[str, str]
    names: OutputNames
    engine: EngineOptions
    input_format: str
    output_format: str
    batch_rows: int
    memory: int
    checkpoint: float = 5.0
    resume: bool = False
    restart: bool = False

    def limits(self) -> BatchLimits:
        """Size of a batch, from the memory allowed."""
        return BatchLimits(self.batch_rows, max(1 << 18, (self.memory - BASE_MEMORY) // BATCH_FACTOR))

    def fingerprint(self) -> dict[str, Any]:
        """What must be the same for parts of an earlier run to be of use."""
        status = self.table.stat()
        return {
            "input": str(self.table.resolve()),
            "input size": status.st_size,
            "input modification time": status.st_mtime_ns,
            "operation": self.operation.name,
            "operands": dict(self.operands),
            "result column": self.names.result,
            "status column": self.names.status,
            "result format": self.names.how,
            "timing class": "secret" if self.engine.secret else "public",
            "formats": [self.input_format, self.output_format],
            "batch": [self.limits().rows, self.limits().size],
            "versions": [manymod.__version__, pa.__version__],
        }


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    rows: int
    bad_rows: list[tuple[int, str]]
    bad_counts: dict[str, int]
    interrupted: bool = False
    parts: Path | None = None


def open_table(job: TableJob, stack: contextlib.ExitStack) -> tuple[Source, Shape]:
    """The source, closed by `stack`, and the way from its rows to the output's, with every name checked."""
    limits = job.limits()
    refuse_compressed(job.table)
    if job.input_format == "jsonl" and job.output_format == "jsonl":
        lines = JsonLinesSource(job.table, limits)
        stack.callback(lines.close)
        names = lines.names()
        return lines, LineShape(names, job.operation, _resolve(job, names), job.names)
    kinds: dict[str, Callable[[Path, BatchLimits], Source]] = {
        "parquet": ParquetSource,
        "csv": CsvSource,
        "jsonl": TypedJsonLinesSource,
    }
    with _naming(job.table):
        source = kinds.get(job.input_format, ArrowSource)(job.table, limits)
    stack.callback(source.close)
    names = list(source.schema.names)
    return source, ColumnShape(source.schema, job.operation, _resolve(job, names), job.names)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file the user gave in Arrow's errors and in those of the temporary file beside an output."""
    try:
        yield
    except pa.ArrowException as error:
        raise TableError(arrow_message(path, error)) from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error


def _batches(source: Source, path: Path) -> Iterator[Batch]:
    with _naming(path):
        yield from source.batches()


def _resolve(job: TableJob, names: list[str]) -> dict[str, str | int]:
    return {label: resolve_operand(text, names, f"--{label}") for label, text in job.operands.items()}


def run_table(job: TableJob, progress: RowProgress) -> Outcome:
    """Run the whole table. Interrupted, it leaves parts that a run with `resume` goes on from."""
    with InterruptGuard() as guard, contextlib.ExitStack() as stack:
        source, shape = open_table(job, stack)
        with _naming(job.output):
            store = PartsStore(
                job.output, shape.schema, job.fingerprint(), job.checkpoint, job.resume, job.restart
            )
        stack.callback(store.close)
        try:
            with progress:
                if not store.complete:
                    _compute(job, source, shape, store, guard, progress)
                with _naming(job.output):
                    write_table(job.output, shape.schema, job.output_format, store.stream())
        except KeyboardInterrupt:
            return Outcome(store.rows, store.bad_rows, store.bad_counts, interrupted=True, parts=store.folder)
        except BaseException:
            if not store.rows:
                store.remove()
            raise
        guard.ignore()
        store.remove()
    return Outcome(store.rows, store.bad_rows, store.bad_counts)


def _compute(
    job: TableJob,
    source: Source,
    shape: Shape,
    store: PartsStore,
    guard: InterruptGuard,
    progress: RowProgress,
) -> None:
    done = 0
    try:
        for index, batch in enumerate(_batches(source, job.table)):
            progress.start(done, batch.rows.num_rows, source)
            if index >= store.batches:
                output, bad = _run_rows(job, shape, batch, done, progress)
                with guard.shield():
                    store.add(output, bad)
            done += batch.rows.num_rows
            progress.finish(done, source)
    except KeyboardInterrupt:
        store.flush()
        raise
    with guard.shield():
        store.flush(complete=True)


def _run_rows(
    job: TableJob, shape: Shape, batch: Any, first: int, progress: RowProgress
) -> tuple[Any, list[tuple[int, str]]]:
    operands = shape.operands(batch)
    count = batch.rows.num_rows
    good = [row for row in range(count) if row not in operands.problems]
    values = _select(operands, good, count)
    computed, names = run_batch(job.operation, values, len(good), job.engine, progress.advance)
    results: list[int | None] = [None] * count
    statuses = [operands.problems.get(row, "ok") for row in range(count)]
    signless = shape.writes_bytes()
    for row, value, name in zip(good, computed, names, strict=True):
        statuses[row] = NEGATIVE_RESULT if name == "ok" and signless and value < 0 else name
        results[row] = value if statuses[row] == "ok" else None
    bad = [(first + row + 1, status) for row, status in enumerate(statuses) if status != "ok"]
    return shape.output(batch, operands, results, statuses), bad


def _select(operands: Operands, rows: list[int], count: int) -> list[list[int] | int]:
    if len(rows) == count:
        return operands.values
    return [
        column if isinstance(column, int) else [column[row] for row in rows] for column in operands.values
    ]
