# SPDX-License-Identifier: Apache-2.0
"""Parquet to Parquet: actors read and write files themselves, so that no row goes through another process."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import ray

from manymod import __version__, set_threads
from manymod.errors import ManymodError
from manymod.ray.datasets import check_portable
from manymod.ray.pieces import Piece, PieceTable
from manymod.ray.shards import ShardFolder, read_tally, shard_path, write_tally
from manymod.ray.workers import Ledger, Workers
from manymod.tables import (
    BatchLimits,
    FileSink,
    Job,
    MemorySource,
    PersistentJob,
    TableError,
    TableProgress,
    Tally,
    run,
)
from manymod.tables.inputs import Input
from manymod.tables.sources import ParquetSource
from manymod.tables.writers import check_writable

__all__ = ["parquet_to_parquet"]


class PieceActor:
    """Runs pieces of a table from file to file; keys are loaded once.

    Args:
        job: what is done; of a job with keys, `ring` is a function that loads them.
        limits: rows that are computed at a time.
        workers: how many threads and retries.
        ledger: counts how often a piece is begun.
        folder: where outputs are written.
        compression: of outputs.
    """

    def __init__(
        self,
        job: Job,
        limits: BatchLimits,
        workers: Workers,
        ledger: Ledger,
        folder: Path,
        compression: str | None,
    ) -> None:
        set_threads(workers.threads)
        self._job = job.loaded()
        self._limits = limits
        self._retries = workers.retries
        self._ledger = ledger
        self._folder = folder
        self._compression = compression

    def __call__(self, pieces: Any) -> Any:
        """Return indices of pieces and what became of each, pickled: a tally or an error of the package.

        Of an exception that was raised, Ray would pass on the text alone.
        """
        found = [Piece(**row) for row in pieces.to_pylist()]
        answers = [pickle.dumps(self._answer(piece)) for piece in found]
        return pa.table({"index": [piece.index for piece in found], "answer": answers})

    def _answer(self, piece: Piece) -> Tally | ManymodError:
        try:
            return self._run(piece)
        except ManymodError as error:
            return error

    def _run(self, piece: Piece) -> Tally:
        """Run a piece; what an earlier actor has left of it is overwritten."""
        name = str(piece.index)
        job = PersistentJob(self._job, self._ledger.attempts_left(name, self._retries))
        with contextlib.ExitStack() as stack:
            source = ParquetSource(Input(piece.path), self._limits, range(piece.start, piece.stop))
            stack.callback(source.close)
            sink = FileSink(shard_path(self._folder, piece.index), "parquet", self._compression)
            stack.callback(sink.close)
            tally = run(job, source, sink)
        write_tally(self._folder, piece.index, tally)
        self._ledger.end(name)
        return tally


def parquet_to_parquet(
    job: Job,
    table: str | Path,
    output: str | Path,
    *,
    workers: Workers | None = None,
    limits: BatchLimits | None = None,
    compression: str | None = None,
    resume: bool = False,
    restart: bool = False,
    progress: TableProgress | None = None,
) -> Tally:
    """Run a job over Parquet files, in as many actors as there is room for.

    Args:
        job: what is done with every row. Of a job with keys, `ring` is a function that returns them. It is
            called once here, to check the job, and once by every actor.
        table: a file, or a folder of files that end in ``.parquet``. Rows are divided by row groups.
        output: a folder that is made, of files whose names are in the order of the rows. It appears when all
            rows are there; until then they are in OUT.parts.
        workers: the actors that compute. All of their machines see `table` and `output` under these names.
        limits: rows that are computed at a time.
        compression: of the files, one of `tables.COMPRESSIONS`.
        resume: begin with the parts of an interrupted run.
        restart: discard them.
        progress: called with rows done and in all.

    Returns:
        Numbers of rows and of bad rows, and the first of these.

    Raises:
        OperandError: if a name does not fit the columns.
        TableError: if the table cannot be read or written.
        PartsError: if there are parts that cannot, or may not, be used.
        TypeError: if the job cannot be pickled, as with a `KeyRing` in place of a function.
    """
    table, output = Path(table), Path(output)
    if output.resolve().is_relative_to(table.resolve()):
        raise TableError(f"{output} would be among the files of {table}: write elsewhere")
    check_portable(job)
    workers, limits = workers or Workers(), limits or BatchLimits()
    pieces = PieceTable(table)
    loaded = PersistentJob(job.loaded())
    work = loaded.bind(MemorySource(pieces.schema.empty_table()))
    check_writable(work.schema, "parquet", compression)
    ranges = [[piece.path, piece.start, piece.stop] for piece in pieces.pieces]
    whole = {**loaded.fingerprint(), "files": pieces.files, "pieces": ranges, "version": __version__}
    folder = ShardFolder(output, whole, resume=resume, restart=restart)
    with contextlib.closing(folder):
        tallies = {piece.index: read_tally(folder.path, piece.index) for piece in pieces.pieces}
        missing = [piece for piece in pieces.pieces if tallies[piece.index] is None]
        done = pieces.rows - sum(piece.rows for piece in missing)
        report = progress or (lambda _done, _total: None)
        report(done, pieces.rows)
        where = (folder.path, compression)
        for index, tally in _answers(missing, job, limits, workers, where):
            tallies[index] = tally
            done += tally.rows
            report(done, pieces.rows)
        if not pieces.pieces:
            _write_empty(work.schema, shard_path(folder.path, 0), compression)
        total = Tally(complete=True)
        for piece in pieces.pieces:
            total.append(tallies[piece.index] or Tally())
        folder.finish()
    return total


def _write_empty(schema: Any, shard: Path, compression: str | None) -> None:
    """Write an output without rows, as its columns would be lost with no file at all."""
    with contextlib.closing(FileSink(shard, "parquet", compression)) as sink:
        sink.open(schema, {})
        sink.finish()


def _answers(
    pieces: list[Piece], job: Job, limits: BatchLimits, workers: Workers, where: tuple[Path, str | None]
) -> Iterator[tuple[int, Tally]]:
    """Iterate over the indices of pieces and what became of them, as they are finished."""
    if not pieces:
        return
    rows = pa.Table.from_pylist([asdict(piece) for piece in pieces])
    dataset = ray.data.from_arrow([rows.slice(index, 1) for index in range(len(pieces))])
    dataset.context.enable_progress_bars = False
    workers = replace(workers, count=min(workers.number(), len(pieces)))  # others would have nothing to do
    answers = dataset.map_batches(
        PieceActor,
        fn_constructor_args=(job, limits, workers, Ledger(), *where),
        batch_format="pyarrow",
        udf_modifying_row_count=False,
        **workers.options(rows=1),
    )
    for row in answers.iter_rows():
        answer: Tally | ManymodError = pickle.loads(row["answer"])  # noqa: S301 - by our own actors
        if isinstance(answer, ManymodError):
            raise answer
        yield row["index"], answer
