# SPDX-License-Identifier: Apache-2.0
"""A job as a plain function of Arrow tables, for engines that split tables and map functions over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from manymod.tables.batches import BatchLimits, MemorySource
from manymod.tables.job import Computed, Job, Work

__all__ = ["TableFunction"]


class TableFunction:
    """A function from Arrow tables to Arrow tables: their columns, the results and the statuses.

    Args:
        job: what is done with every row.
        limits: rows that are computed at a time.

    It can be pickled if the job can. Keys are loaded, plans made and columns checked by the first call in a
    process, and again only where the columns change. Calls may run in several threads.

    >>> from manymod import tables
    >>> job = tables.OperationJob(
    ...     operation=tables.OPERATIONS["mulmod"], operands={"x": "a", "y": "10", "mod": "n"}
    ... )
    >>> TableFunction(job)(pa.table({"a": [2, 5], "n": [7, 0]})).to_pydict()
    {'a': [2, 5], 'n': [7, 0], 'result': [6, None], 'status': ['ok', 'zero_modulus']}
    """

    def __init__(self, job: Job, limits: BatchLimits | None = None) -> None:
        self._job = job
        self._limits = limits
        self._forget()

    def _forget(self) -> None:
        self._loaded: Job | None = None
        self._bound: tuple[Any, Work] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without keys and plans."""
        return {"_job": self._job, "_limits": self._limits}

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
            yield work.compute(batch)

    def __call__(self, table: Any) -> Any:
        """Return the output of a table or record batch, as a table."""
        schema = self._work(table.schema).schema
        return pa.Table.from_batches([computed.rows for computed in self.computed(table)], schema)

    def over(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Iterate over the output's record batches, of an iterable of record batches.

        The method itself, ``TableFunction(job).over``, is what Spark's ``mapInArrow`` takes.

        >>> from manymod import tables
        >>> job = tables.OperationJob(
        ...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "101"}
        ... )
        >>> batch = pa.record_batch({"b": [2, 5]})
        >>> [rows["result"].to_pylist() for rows in TableFunction(job).over([batch, batch])]
        [[8, 24], [8, 24]]
        """
        for batch in batches:
            for computed in self.computed(batch):
                yield computed.rows

    def _work(self, schema: Any) -> Work:
        bound = self._bound
        if bound is None or not bound[0].equals(schema, check_metadata=True):
            self._bound = bound = (schema, self.load().bind(MemorySource(schema.empty_table())))
        return bound[1]
