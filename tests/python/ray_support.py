# SPDX-License-Identifier: Apache-2.0
"""Jobs that fail, for tests of runs that go on nevertheless. Ray's actors import this module."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manymod import rsa, tables
from manymod.tables.job import RowProgress

FailBefore = Callable[[tables.Batch], None]


@dataclass(frozen=True)
class FailingJob(tables.Job):
    """A job that calls a function before every batch."""

    job: tables.Job
    before: FailBefore

    @property
    def name(self) -> str:
        return self.job.name

    def loaded(self) -> FailingJob:
        return replace(self, job=self.job.loaded())

    def fingerprint(self) -> dict[str, Any]:
        return self.job.fingerprint()

    def bind(self, source: tables.Source) -> tables.Work:
        return FailingWork(self.job.bind(source), self.before)


class FailingWork(tables.Work):
    def __init__(self, work: tables.Work, before: FailBefore) -> None:
        self.schema = work.schema
        self._work = work
        self._before = before

    def compute(self, batch: tables.Batch, progress: RowProgress | None = None) -> tables.Computed:
        if not batch.problems:
            self._before(batch)
        return self._work.compute(batch, progress)


@dataclass(frozen=True)
class Killer:
    """Kills its process at some rows.

    Attributes:
        folder: where deaths are remembered.
        once: values of the column ``id`` of which one process dies.
        always: values of which every process dies.
    """

    folder: Path
    once: frozenset[int] = frozenset()
    always: frozenset[int] = frozenset()

    def __call__(self, batch: tables.Batch) -> None:
        found = set(batch.rows.column("id").to_pylist())
        for row in found & self.once:
            memory = self.folder / f"died-{row}"
            if not memory.exists():
                memory.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if found & self.always:
            (self.folder / f"killed-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class RingOf:
    """Loads a ring of one public key."""

    path: Path

    def __call__(self) -> rsa.KeyRing:
        return rsa.KeyRing([rsa.PublicKey.from_pem(self.path.read_bytes())])
