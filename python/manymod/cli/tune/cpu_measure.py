# SPDX-License-Identifier: Apache-2.0
"""Time per item of every usable CPU variant, for small and large numbers of items."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manymod.cli.bench.contenders import seconds_per_call
from manymod.cli.bench.quiet import QuietMeter
from manymod.cli.tune.case import Case, Target, make_batch, make_runner

__all__ = ["AUTO", "OPS", "Settings", "Times", "library_choice", "measure"]

#: Operations that are tuned, with whether one item is so short that large batches need a measurement too.
OPS = {"powmod": False, "mulmod": True, "sqrmod": True, "fixed_base_powmod": False}
#: Stands for the library's own choice where a variant's name is expected.
AUTO = "auto"
#: Numbers of items of the first round, after which variants that are far behind at all of them are dropped.
FIRST_ROUND = (1, 2, 4, 8, 16, 1024)
#: Items that fill all vectors, also where two are computed in lockstep.
FULL_VECTORS = 16
#: Variants that take this many times as long as the best are far behind.
FAR_BEHIND = 1.6

#: Most times that a sample is taken until one is undisturbed.
ATTEMPTS = 4

#: Nanoseconds an item, by variant and number of items.
Times = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class Settings:
    """How to measure: `seconds` a sample at least, exponents of at most `exponent_bits`."""

    seconds: float
    repetitions: int
    exponent_bits: int
    every_count: bool
    seed: int = 1

    def counts(self, case: Case, lanes: int) -> list[int]:
        """Numbers of items to measure: up to a full vector, then two of them, and large batches."""
        small = range(1, lanes + 1) if self.every_count else (n for n in FIRST_ROUND if n <= lanes)
        large = [FULL_VECTORS, 1024] if OPS[case.op] else [FULL_VECTORS]
        return sorted({1, *small, *large})


def _target(variant: str) -> Target:
    """One thread; variants by name, or the library's choice."""
    return Target("cpu", None if variant == AUTO else variant, 1)


def library_choice(case: Case, count: int) -> str:
    """The variant that the library runs so many items by, on the CPU."""
    return _target(AUTO).choice(case, count)


class _Samples:
    """Samples of one case: nanoseconds an item by variant and number of items."""

    def __init__(self, case: Case, settings: Settings, names: Sequence[str], meter: QuietMeter) -> None:
        self._case = case
        self._settings = settings
        self._meter = meter
        self._reading = meter.read()
        self._attempts = ATTEMPTS
        self._taken: dict[str, dict[int, list[float]]] = {name: {} for name in names}

    def round(self, names: Sequence[str], counts: Sequence[int], repetitions: int) -> None:
        """Alternate between the variants at each number of items, so that a disturbance affects all."""
        length = min(self._case.bits, self._settings.exponent_bits)
        batches = {
            count: make_batch(self._case, length, count, self._settings.seed) for count in (*counts, 1)
        }
        runners = {name: make_runner(self._case, length, _target(name), batches[1]) for name in names}
        calls = {(count, name): runners[name](batches[count]) for count in counts for name in names}
        for _ in range(repetitions):
            for (count, name), call in calls.items():
                self._taken[name].setdefault(count, []).append(self._sample(call) / count * 1e9)

    def _sample(self, call: Callable[[], Any]) -> float:
        """Seconds of one call, measured again where another process on the same core took its share.

        Only once, until the core is quiet again, after a sample that all attempts failed for.
        """
        taken = 0.0
        for _ in range(self._attempts):
            before = self._reading
            # Processor time of the one thread: what other processes take meanwhile does not count.
            taken = seconds_per_call(call, self._settings.seconds, time.process_time)
            self._reading = self._meter.read()
            if self._meter.is_quiet(before, self._reading):
                self._attempts = ATTEMPTS
                return taken
        self._attempts = 1
        return taken

    def times(self) -> dict[str, dict[int, float]]:
        """Medians so far."""
        return {
            name: {count: statistics.median(samples) for count, samples in sorted(by_count.items())}
            for name, by_count in self._taken.items()
        }


def _hopeful(times: Times) -> list[str]:
    """Variants that are not far behind the best at every number of items, and the two best for large ones."""
    counts = next(iter(times.values()))
    best = {count: min(by_count[count] for by_count in times.values()) for count in counts}
    leaders = sorted(times, key=lambda name: times[name][max(counts)])[:2]
    return [
        name
        for name, by_count in times.items()
        if name in leaders or any(by_count[count] <= FAR_BEHIND * best[count] for count in counts)
    ]


def measure(
    case: Case, settings: Settings, extra: Sequence[str] = (), meter: QuietMeter | None = None
) -> Times:
    """Medians of every variant that is not far behind, and of `extra` ones (AUTO), at one set of numbers."""
    variants = case.variants()
    names = [variant.name for variant in variants]
    counts = settings.counts(case, max(variant.instances for variant in variants))
    first = [count for count in counts if count in FIRST_ROUND]
    meter = meter or QuietMeter(settings.seconds / 8)
    samples = _Samples(case, settings, [*names, *extra], meter)
    samples.round([*names, *extra], first, 1)
    kept = [*_hopeful({name: samples.times()[name] for name in names}), *extra]
    samples.round(kept, [count for count in counts if count not in first], settings.repetitions)
    samples.round(kept, first, settings.repetitions - 1)
    times = samples.times()
    return {name: times[name] for name in kept}
