# SPDX-License-Identifier: Apache-2.0
"""A table through one command: read, compute, keep parts, and put the output together."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import manymod
from manymod.cli.interrupt import InterruptGuard
from manymod.cli.jsonlines import TypedJsonLinesSource
from manymod.cli.parts import PartsStore
from manymod.cli.progress import RowProgress
from manymod.cli.shape import OutputNames, Shape
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
    refuse_unreadable,
)

__all__ = ["EXTENSIONS", "Outcome", "TableJob", "open_columns", "run_table"]

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


@dataclass(frozen=True, kw_only=True)
class TableJob(ABC):
    """Everything a table command was asked for. What is done with the rows, subclasses know."""

    table: Path
    output: Path
    names: OutputNames
    input_format: str
    output_format: str
    batch_rows: int
    memory: int
    checkpoint: float = 5.0
    resume: bool = False
    restart: bool = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of what is done, for people."""

    @abstractmethod
    def open(self, stack: contextlib.ExitStack) -> tuple[Source, Shape]:
        """The source, closed by `stack`, and how its rows become the output's; every name is checked."""

    @abstractmethod
    def run_rows(
        self, shape: Any, batch: Batch, first: int, progress: RowProgress
    ) -> tuple[Any, list[tuple[int, str]]]:
        """The output of a batch, and its bad rows: number (from 1, after `first` earlier ones) and status."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What results depend on besides the table."""

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
            **self.settings(),
            "result column": self.names.result,
            "status column": self.names.status,
            "result format": self.names.how,
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


def open_columns(job: TableJob, stack: contextlib.ExitStack) -> Source:
    """The table as typed columns, closed by `stack`."""
    refuse_unreadable(job.table)
    kinds: dict[str, Callable[[Path, BatchLimits], Source]] = {
        "parquet": ParquetSource,
        "csv": CsvSource,
        "jsonl": TypedJsonLinesSource,
    }
    with _naming(job.table):
        source = kinds.get(job.input_format, ArrowSource)(job.table, job.limits())
    stack.callback(source.close)
    return source


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


def run_table(job: TableJob, progress: RowProgress) -> Outcome:
    """Run the whole table. Interrupted, it leaves parts that a run with `resume` goes on from."""
    with InterruptGuard() as guard, contextlib.ExitStack() as stack:
        source, shape = job.open(stack)
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
                output, bad = job.run_rows(shape, batch, done, progress)
                with guard.shield():
                    store.add(output, bad)
            done += batch.rows.num_rows
            progress.finish(done, source)
    except KeyboardInterrupt:
        store.flush()
        raise
    with guard.shield():
        store.flush(complete=True)
