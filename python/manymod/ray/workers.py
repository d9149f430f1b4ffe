# SPDX-License-Identifier: Apache-2.0
"""Actors that compute: each loads keys, makes plans and opens its GPU once, and is then given many blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import ray

import manymod
from manymod.tables import BatchLimits, Job, TableFunction
from manymod.tables.mapping import RETRIES

__all__ = ["BlockActor", "Workers"]


@dataclass(frozen=True, kw_only=True)
class Workers:
    """How many actors compute, and what each of them has.

    Attributes:
        count: number of actors; None: as many as the cluster's processors, or its GPUs, are enough for.
        threads: CPU threads of each actor, where a job does not say how many.
        cpus: logical processors that Ray sets aside for each; None: half of `threads`, so that the tasks that
            read and write always find one. They take little time beside the computation.
        gpus: GPUs that Ray sets aside for each; an actor sees those alone. Without one, it sees none.
        restarts: how often an actor that died is started again. Its block is then computed again.
    """

    count: int | None = None
    threads: int = 1
    cpus: float | None = None
    gpus: float = 0.0
    restarts: int = 3

    def __post_init__(self) -> None:
        if (self.count is not None and self.count < 1) or self.threads < 1 or self.restarts < 0:
            raise ValueError(f"at least one actor and one thread, and no negative number of restarts: {self}")

    def number(self) -> int:
        """Return how many actors there will be in the cluster that this process is connected to."""
        if self.count is not None:
            return self.count
        resources = ray.cluster_resources()
        if self.gpus:
            return max(1, int(resources.get("GPU", 0) / self.gpus))
        return max(1, int(resources.get("CPU", 1) / self.threads))

    def options(self) -> dict[str, Any]:
        """Return the keywords of ``Dataset.map_batches``."""
        return {
            "compute": ray.data.ActorPoolStrategy(size=self.number()),
            "num_cpus": self.threads / 2 if self.cpus is None else self.cpus,
            "num_gpus": self.gpus or None,
            "max_restarts": self.restarts,
            "max_task_retries": self.restarts,
        }


class BlockActor:
    """Computes blocks of a dataset, a batch at a time.

    Args:
        job: of a job with keys, `ring` is a function that loads them.
        limits: rows that are computed at a time.
        threads: CPU threads.
    """

    def __init__(self, job: Job, limits: BatchLimits | None, threads: int) -> None:
        manymod.set_threads(threads)
        self._function = TableFunction(job, limits, retries=RETRIES)
        self._function.load()

    def __call__(self, block: Any) -> Iterator[Any]:
        """Iterate over the computed batches of a block."""
        if not block.num_rows:
            yield self._function(block)
        for computed in self._function.computed(block):
            yield pa.Table.from_batches([computed.rows])
