# SPDX-License-Identifier: Apache-2.0
"""A job that goes on where a device fails: another attempt, and at last a status in place of results."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from manymod.errors import CryptoError, DeviceError, Status
from manymod.tables.batches import Batch, Source
from manymod.tables.job import Computed, Job, RowProgress, Work
from manymod.tables.status import STATUS_NAMES

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PersistentJob"]

_FAILURES = (DeviceError, CryptoError, MemoryError)
_NOT_COMPUTED = STATUS_NAMES[Status.NOT_COMPUTED]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PersistentJob(Job):
    """A job each of whose batches is computed again where its device, memory or randomness failed.

    Attributes:
        job: what is done.
        attempts: how often at most a batch is computed. After that its rows have the status ``not_computed``;
            with 0, all of them have.

    Binding it raises the error of a device or a variant that is not there at all.
    """

    job: Job
    attempts: int = 4

    @property
    def name(self) -> str:
        """That of the job."""
        return self.job.name

    def loaded(self) -> Self:
        """Return the job with its keys in this process."""
        return replace(self, job=self.job.loaded())

    def fingerprint(self) -> dict[str, Any]:
        """Return that of the job: results are the same after any number of attempts."""
        return self.job.fingerprint()

    def bind(self, source: Source) -> Work:
        """Return the work on the rows of a source.

        Raises:
            OperandError: if a name does not fit the columns.
        """
        work = self.job.bind(source)
        if self.attempts:
            work.compute(Batch(pa.RecordBatch.from_pylist([], schema=source.schema)))
        return PersistentWork(work, self.attempts)


class PersistentWork(Work):
    """The work of a `PersistentJob`."""

    def __init__(self, work: Work, attempts: int) -> None:
        self.schema = work.schema
        self._work = work
        self._attempts = attempts

    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute a batch."""
        for attempt in range(1, self._attempts + 1):
            try:
                return self._work.compute(batch, progress)
            except _FAILURES as error:
                _log.warning("attempt %d of %d failed: %r", attempt, self._attempts, error)
        problems = {**dict.fromkeys(range(batch.rows.num_rows), _NOT_COMPUTED), **batch.problems}
        return self._work.compute(replace(batch, problems=problems))
