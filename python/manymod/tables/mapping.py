# SPDX-License-Identifier: Apache-2.0
"""A job as a plain function of Arrow tables, for engines that split tables and run functions on the pieces."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from manymod.errors import CryptoError, DeviceError, Status
from manymod.tables.batches import Batch, BatchLimits, MemorySource
from manymod.tables.job import Computed, Job, Work
from manymod.tables.status import STATUS_NAMES

__all__ = ["RETRIES", "TableFunction", "batch_mapper"]

#: How often a batch is computed again whose device, memory or randomness failed.
RETRIES = 3
_FAILURES = (DeviceError, CryptoError, MemoryError)
_NOT_COMPUTED = STATUS_NAMES[Status.NOT_COMPUTED]
_log = logging.getLogger(__name__)


class TableFunction:
    """A function from Arrow tables to Arrow tables: their columns, the results and the statuses.

    Args:
        job: what is done with every row.
        limits: rows that are computed at a time.
        retries: how often a batch is computed again after its device, its memory or the source of randomness
            failed. After that its rows have the status ``not_computed``.

    It can be pickled if the job can. Keys are loaded, plans made and columns checked by the first call in a
    process, and again only where the columns change. Calls may run in several threads.

    >>> from manymod import tables
    >>> job = tables.OperationJob(
    ...     operation=tables.OPERATIONS["mulmod"], operands={"x": "a", "y": "10", "mod": "n"}
    ... )
    >>> TableFunction(job)(pa.table({"a": [2, 5], "n": [7, 0]})).to_pydict()
    {'a': [2, 5], 'n': [7, 0], 'result': [6, None], 'status': ['ok', 'zero_modulus']}
    """

    def __init__(self, job: Job, limits: BatchLimits | None = None, *, retries: int = RETRIES) -> None:
        if retries < 0:
            raise ValueError(f"retries must not be negative: {retries}")
        self._job = job
        self._limits = limits
        self._retries = retries
        self._forget()

    def _forget(self) -> None:
        self._loaded: Job | None = None
        self._bound: tuple[Any, Work] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without keys and plans."""
        return {"_job": self._job, "_limits": self._limits, "_retries": self._retries}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def load(self) -> Job:
        """Return the job with its keys, which are loaded once."""
        if self._loaded is None:
            self._loaded = self._job.loaded()
        return self._loaded

    def output_schema(self, schema: Any) -> Any:
        """Return the Arrow schema of the output for tables of a schema.

        Raises:
            OperandError: if a name does not fit the columns.
        """
        return self._work(schema).schema

    def computed(self, table: Any) -> Iterator[Computed]:
        """Iterate over the computed batches of a table or record batch, in order.

        Raises:
            OperandError: if a name does not fit the columns.
        """
        work = self._work(table.schema)
        for batch in MemorySource(table, self._limits).batches():
            yield self._compute(work, batch)

    def __call__(self, table: Any) -> Any:
        """Return the output of a table or record batch, as a table."""
        schema = self._work(table.schema).schema
        return pa.Table.from_batches([computed.rows for computed in self.computed(table)], schema)

    def _work(self, schema: Any) -> Work:
        bound = self._bound
        if bound is None or not bound[0].equals(schema, check_metadata=True):
            source = MemorySource(schema.empty_table())
            work = self.load().bind(source)
            # A device or a variant that is not there fails the job here, and not row by row.
            work.compute(Batch(pa.RecordBatch.from_pylist([], schema=source.schema)))
            self._bound = bound = (schema, work)
        return bound[1]

    def _compute(self, work: Work, batch: Batch) -> Computed:
        for attempt in range(self._retries + 1):
            try:
                return work.compute(batch)
            except _FAILURES as error:
                _log.warning("attempt %d of %d failed: %r", attempt + 1, self._retries + 1, error)
        rows = batch.rows.num_rows
        problems = {**dict.fromkeys(range(rows), _NOT_COMPUTED), **batch.problems}
        return work.compute(Batch(batch.rows, problems, batch.members))


def batch_mapper(
    job: Job, limits: BatchLimits | None = None, *, retries: int = RETRIES
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function from an iterable of record batches to an iterator of them.

    This is what Spark's ``mapInArrow`` takes. Arguments are those of `TableFunction`; the function that is
    returned can be pickled if the job can.

    >>> from manymod import tables
    >>> job = tables.OperationJob(
    ...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "101"}
    ... )
    >>> batch = pa.record_batch({"b": [2, 5]})
    >>> [rows.column("result").to_pylist() for rows in batch_mapper(job)([batch, batch])]
    [[8, 24], [8, 24]]
    """
    return _BatchMapper(TableFunction(job, limits, retries=retries))


class _BatchMapper:
    """`TableFunction` over an iterable."""

    def __init__(self, function: TableFunction) -> None:
        self._function = function

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for computed in self._function.computed(batch):
                yield computed.rows
