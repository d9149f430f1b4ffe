# SPDX-License-Identifier: Apache-2.0
"""Actors that compute: how many there are, what each has, and how often they are given the same rows."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import Any

import ray

__all__ = ["Ledger", "Workers"]

#: Rows of a batch of a dataset, of which blocks are put together for a GPU: it is full with fewer of most
#: operations, and of RSA-4096 they have some 70 MB.
GPU_ROWS = 1 << 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """How many actors compute, and what each of them has.

    Attributes:
        count: number of actors; None: as many as the processors of the cluster are enough for, or its GPUs.
        threads: CPU threads of each actor, where a job does not say how many.
        cpus: logical processors that Ray sets aside for each; None: half of `threads`, so that the tasks that
            read and write always find one. They take little time beside the computation.
        gpus: GPUs that Ray sets aside for each, which are all that it sees; of a fraction, several share one.
        retries: how often rows are given to an actor again after one died of them, and a batch is computed
            again whose device, memory or randomness failed. After that their status is ``not_computed``.
    """

    count: int | None = None
    threads: int = 1
    cpus: float | None = None
    gpus: float = 0.0
    retries: int = 3

    def __post_init__(self) -> None:
        if (self.count is not None and self.count < 1) or self.threads < 1 or self.retries < 0:
            raise ValueError(f"at least one actor and one thread, and no negative number of retries: {self}")

    def number(self) -> int:
        """Return how many actors there will be in the cluster that this process is connected to."""
        if self.count is not None:
            return self.count
        resources = ray.cluster_resources()
        if self.gpus:
            return max(1, int(resources.get("GPU", 0) / self.gpus))
        return max(1, int(resources.get("CPU", 1) / self.threads))

    def options(self, rows: int | None = None) -> dict[str, Any]:
        """Return the keywords of ``Dataset.map_batches``.

        Args:
            rows: of a batch; None: those of a block. Ray refuses that for actors with GPUs, whose batches
                have `GPU_ROWS` rows then.
        """
        return {
            "batch_size": GPU_ROWS if rows is None and self.gpus else rows,
            "compute": ray.data.ActorPoolStrategy(size=self.number()),
            "num_cpus": self.threads / 2 if self.cpus is None else self.cpus,
            "num_gpus": self.gpus or None,
        }


class _Counts:
    """How often each piece of work was begun and not ended."""

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()

    def begin(self, piece: str) -> int:
        """Count a beginning, and return how many there were before."""
        self._begun[piece] += 1
        return self._begun[piece] - 1

    def end(self, piece: str) -> None:
        """Forget a piece that is done."""
        del self._begun[piece]


class Ledger:
    """An actor that counts how often each piece of work was begun, and outlives those that die of it.

    Ray starts an actor that died anew and gives it the same rows, without end. Rows that kill actors, for
    want of memory for instance, are found here and given up. The actor ends when nothing refers to it.
    """

    def __init__(self) -> None:
        remote = ray.remote(_Counts).options(num_cpus=0, max_restarts=-1, max_task_retries=-1)
        self._counts: Any = remote.remote()

    def attempts_left(self, piece: str, retries: int) -> int:
        """Count a beginning, and return how many more there may be, this one included; 0: none."""
        deaths: int = ray.get(self._counts.begin.remote(piece))
        if deaths:
            _log.warning("%s is begun again: %d actors died of it", piece, deaths)
        return max(0, retries + 1 - deaths)

    def end(self, piece: str) -> None:
        """Forget a piece that is done."""
        self._counts.end.remote(piece)
