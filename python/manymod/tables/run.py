# SPDX-License-Identifier: Apache-2.0
"""A table through a job: batches from a source, computed, to a sink."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from manymod.tables.batches import Source
from manymod.tables.job import Job, Work
from manymod.tables.sinks import Sink, Tally

__all__ = ["TableProgress", "run"]

#: Called with the number of rows done and the number in all: None where nothing is known of it, and where a
#: source does not know it before the end, a guess from the share of the table that has been read.
TableProgress = Callable[[int, int | None], Any]

#: Makes a context in which no KeyboardInterrupt is raised.
_Shield = Callable[[], contextlib.AbstractContextManager[Any]]


class _Progress:
    """Progress over the rows of a source."""

    def __init__(self, report: TableProgress | None, source: Source) -> None:
        self._report = report
        self._source = source
        self._base = 0
        self._total: int | None = None

    def begin(self, done: int, rows: int) -> None:
        """A batch of `rows` rows begins after `done` rows."""
        self._base = done
        self._set_total(done + rows)
        self.advance(0, rows)

    def advance(self, done_in_batch: int, _rows: int) -> None:
        """So many rows of the batch are computed."""
        if self._report is not None:
            self._report(self._base + done_in_batch, self._total)

    def end(self, done: int) -> None:
        """All rows up to `done` are computed."""
        self._set_total(done)
        self._base = done
        self.advance(0, 0)

    def _set_total(self, rows_read: int) -> None:
        self._total = self._source.total_rows
        if self._total is None:
            fraction = self._source.fraction()
            self._total = round(rows_read / fraction) if fraction > 0 else None


def run(
    job: Job,
    source: Source,
    sink: Sink,
    *,
    progress: TableProgress | None = None,
    shield: _Shield = contextlib.nullcontext,
) -> Tally:
    """Run a whole table through a job.

    Args:
        job: what to do with the rows.
        source: where they come from. The caller closes it.
        sink: where they go. The caller closes it; one that can be resumed returns which batches it has.
        progress: called with rows done and in all, about ten times a second. An exception that it raises
            stops the run and is passed on.
        shield: makes a context in which no KeyboardInterrupt is raised, for what must not be done by halves.

    Returns:
        Numbers of rows and of bad rows, and the first of these.

    Raises:
        OperandError: if a name does not fit the columns.
        TableError: if the table cannot be read or written.
        KeyboardInterrupt: as it came. After it and after errors, a sink that can be resumed has kept what was
            finished.
    """
    job = job.loaded()
    work = job.bind(source)
    tally = sink.open(work.schema, {**source.fingerprint(), **job.fingerprint()})
    report = _Progress(progress, source)
    if not tally.complete:
        try:
            _compute_remaining(work, source, sink, tally, report, shield)
        except KeyboardInterrupt:
            sink.suspend(tally)
            raise
        except Exception:
            with contextlib.suppress(Exception):  # the first error is the one to know
                sink.suspend(tally)
            raise
        with shield():
            tally.complete = True
            sink.complete(tally)
    sink.finish()
    return tally


def _compute_remaining(
    work: Work, source: Source, sink: Sink, tally: Tally, report: _Progress, shield: _Shield
) -> None:
    """Compute and write the batches that the sink does not have yet."""
    kept, done = tally.batches, 0
    for index, batch in enumerate(source.batches()):
        count = batch.rows.num_rows
        report.begin(done, count)
        if index >= kept:
            computed = work.compute(batch, report.advance)
            with shield():
                tally.add(count, computed.bad, computed.hints)
                sink.write(computed.rows, tally)
        done += count
        report.end(done)
