# SPDX-License-Identifier: Apache-2.0
"""Timing of calls; loops of several libraries take turns, so that what a machine does meanwhile meets all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

__all__ = [
    "RATIOS",
    "BatchSettings",
    "Contender",
    "elapsed",
    "in_pool",
    "interleaved",
    "medians",
    "repeated",
    "seconds_per_call",
]

#: Ratios of rates in reports: by name, the rates that are divided.
RATIOS = {
    "one_vs_openssl": ("manymod", "openssl"),
    "threads_vs_openssl_threads": ("manymod_threads", "openssl_threads"),
    "threads_vs_one": ("manymod_threads", "manymod"),
    "one_vs_libsecp256k1": ("manymod", "libsecp256k1"),
    "one_vs_crypto_mb": ("manymod", "crypto_mb"),
    "ring_vs_crypto_mb": ("manymod_ring", "crypto_mb"),
    "bare_vs_crypto_mb": ("manymod_bare", "crypto_mb"),
}
#: Calls of which a latency is the median; the first one warms up and is left out.
_LATENCIES = 101


@dataclass(frozen=True)
class BatchSettings:
    """How to measure: threads of the columns with several, items of a batch, seconds, repetitions."""

    threads: int
    batch: int
    seconds: float
    repetitions: int


@dataclass(frozen=True)
class Contender:
    """A library that takes its turn: `loop` computes `count` items and returns their results."""

    count: int
    loop: Callable[[], Sequence[Any]]


def elapsed(loop: Callable[[], Any]) -> tuple[float, Any]:
    """Wall seconds of a call, and its answer."""
    start = time.perf_counter()
    answer = loop()
    return time.perf_counter() - start, answer


def seconds_per_call(call: Callable[[], Any], at_least: float, clock: Callable[[], float]) -> float:
    """Seconds of one call by a clock, from as many calls as take `at_least` seconds together."""
    start, calls = clock(), 0
    while True:
        call()
        calls += 1
        taken = clock() - start
        if taken >= at_least:
            return taken / calls


def repeated(loop: Callable[[], Sequence[Any]], count: int, seconds: float) -> Contender:
    """Calls of `loop`, of `count` items each, for about `seconds`."""
    loop()
    rounds = max(1, round(seconds / max(elapsed(loop)[0], 1e-6)))

    def many() -> Sequence[Any]:
        answer: Sequence[Any] = []
        for _ in range(rounds):
            answer = loop()
        return answer

    return Contender(rounds * count, many)


def in_pool(
    pool: ThreadPoolExecutor, threads: int, items: Sequence[Any], call: Callable[[Any], Any]
) -> list[Any]:
    """The results of `call` for all items, by threads that take every `threads`-th one."""
    parts = [items[start::threads] for start in range(threads)]
    done = list(pool.map(lambda part: [call(item) for item in part], parts))
    return [done[index % threads][index // threads] for index in range(len(items))]


def interleaved(contenders: Mapping[str, Contender], repetitions: int) -> dict[str, dict[str, float]]:
    """Medians of rates in items a second, and of their ratios within a repetition, and spreads of rates.

    A spread is (highest - lowest) / median.
    """
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            rates[name].append(contender.count / elapsed(contender.loop)[0])
    return {
        "rates": {name: statistics.median(values) for name, values in rates.items()},
        "spreads": {
            name: (max(values) - min(values)) / statistics.median(values) for name, values in rates.items()
        },
        "ratios": {
            name: statistics.median(a / b for a, b in zip(rates[own], rates[peer], strict=True))
            for name, (own, peer) in RATIOS.items()
            if own in rates and peer in rates
        },
    }


def medians(calls: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds of single calls."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_LATENCIES):
        for name, call in calls.items():
            times[name].append(elapsed(call)[0])
    return {name: statistics.median(values[1:]) * 1e6 for name, values in times.items()}
