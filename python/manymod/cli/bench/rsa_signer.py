# SPDX-License-Identifier: Apache-2.0
"""A `Signer` under load: its peak, and how long requests take that come at a part of that rate."""

from __future__ import annotations

import time
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manymod.rsa import KeyRing, PrivateKey, Signer

__all__ = ["DEADLINE", "measure_signer"]

DEADLINE = 1e-3
#: Rate of requests, in parts of the peak, while latencies are taken.
LOAD = 0.5
QUANTILES = (0.5, 0.9, 0.99)
#: Share of the requests that warm up: the first batches are not like those of a continuous load.
_WARM_UP = 0.1


@dataclass
class _Load:
    """Requests that come at random, at a mean rate, whether or not earlier ones are answered."""

    signer: Signer
    rate: float
    asked: list[float] = field(default_factory=list)
    answered: dict[int, float] = field(default_factory=dict)

    def run(self, seconds: float) -> None:
        source = np.random.default_rng(1)
        futures: list[Future[bytes]] = []
        start = due = time.perf_counter()
        while due < start + seconds:
            due += source.exponential(1 / self.rate)
            if (early := due - time.perf_counter()) > 0:
                time.sleep(early)
            futures.append(self._ask(len(futures)))
        wait(futures)
        for future in futures:
            future.result()

    def _ask(self, number: int) -> Future[bytes]:
        self.asked.append(time.perf_counter())
        future = self.signer.submit(b"message %d" % number)

        def answered(_: Future[bytes]) -> None:  # on the thread that hands out answers
            self.answered[number] = time.perf_counter()

        future.add_done_callback(answered)
        return future


def _peak(signer: Signer, seconds: float) -> float:
    """Requests a second with more waiting at all times than a batch takes."""
    count = 256
    while True:
        start = time.perf_counter()
        futures = [signer.submit(b"message %d" % number) for number in range(count)]
        wait(futures)
        taken = time.perf_counter() - start
        if taken >= seconds:
            return count / taken
        count *= 2


def _latencies(load: _Load, batch: float) -> dict[str, Any]:
    """Quantiles, and the shares of requests that were answered within two times.

    `in_time`: the deadline and the median time of a batch; `in_time_of_two`: and as much again, for one that
    found as many batches being signed as may be.
    """
    counted = range(int(len(load.asked) * _WARM_UP), len(load.asked))
    taken = np.array([load.answered[number] - load.asked[number] for number in counted])
    return {
        "requests": len(taken),
        "latency_us": {str(q): float(np.quantile(taken, q)) * 1e6 for q in QUANTILES},
        "batch_us": batch * 1e6,
        "in_time": float(np.mean(taken <= DEADLINE + batch)),
        "in_time_of_two": float(np.mean(taken <= DEADLINE + 2 * batch)),
    }


def measure_signer(
    key: PrivateKey, padding: Any, hash_algorithm: Any, threads: int, seconds: float
) -> dict[str, Any]:
    """Peak requests a second; latencies at half of it."""
    ring = KeyRing([key], device="cpu", threads=threads)
    with Signer(ring, padding, hash_algorithm, deadline=DEADLINE) as signer:
        peak = _peak(signer, seconds)
    with Signer(ring, padding, hash_algorithm, deadline=DEADLINE) as signer:
        load = _Load(signer, LOAD * peak)
        load.run(4 * seconds)
        found = signer.statistics()
    return {
        "threads": threads,
        "peak": peak,
        "offered": load.rate,
        "deadline_us": DEADLINE * 1e6,
        "mean_batch": found.signed / found.batches,
        **_latencies(load, found.computing[0.5]),
    }
