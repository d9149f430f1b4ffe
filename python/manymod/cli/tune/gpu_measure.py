# SPDX-License-Identifier: Apache-2.0
"""Times of the GPU variants, and of the CPU with all its threads, from few items to a full card.

A sample is a call of a plan from and to arrays on the host, as users make it, in wall time. Results agree.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod.cli.bench.contenders import seconds_per_call
from manymod.cli.tune.case import Batch, Case, Target, make_batch, make_runner
from manymod.cli.tune.cpu_measure import AUTO, FAR_BEHIND, Times
from manymod.cli.tune.facts import comparison_only, technique, threads_per_instance, wants_fast_doubles

__all__ = ["CPU", "GPU_OPS", "GpuSettings", "GpuTimes", "measure_gpu"]

GPU_OPS = ("powmod", "fixed_base_powmod", "multi_powmod", "mulmod", "sqrmod")
#: Stands for the library's choice on the CPU, with all threads, where a variant's name is expected.
CPU = "CPU"
#: Techniques that only some GPUs can run: their kernels are for the tensor cores of certain generations.
SOME_GPUS = ("rns",)
#: Techniques that every GPU of their backend can run.
EVERYWHERE = ("row32", "reduced_radix")
#: From this number of items on, variants for comparison are dropped if they take `LESS_THAN_BEST` times as
#: long as another variant; below, like all variants, if they take `FAR_BEHIND` times as long.
LOOK = 16384
LESS_THAN_BEST = 1.1
#: The first number of items, which then grows by the factor `STEP` up to `MAX_COUNT`. Smaller numbers are
#: measured only where a GPU wins at the first.
FIRST_COUNT = 64
STEP = 4
MAX_COUNT = 1 << 20
#: Most bytes of the operands and results of a call.
MAX_BYTES = 1 << 28
#: Variants within this factor of the best get all repetitions.
CONTEST = 1.25
#: Samples after which a variant may be dropped; fewer if they take longer than so many seconds together.
LOOKS = 3
LOOK_SECONDS = 0.15
#: A card is full where `STEP` times as many items make the best variant faster by less than this factor.
FULL = 1.05
#: Least seconds of a call that shows whether the card is full.
FULL_SECONDS = 0.03
#: Seconds of a call for which the time that its first run spends on allocations matters little.
LONG = 0.1
#: Calls of up to `USUAL` items may take `LONGER` times the usual limit: fewer items do not fill a large card.
USUAL = 16384
LONGER = 4


@dataclass(frozen=True)
class GpuSettings:
    """How to measure.

    A sample takes `seconds` at least. It consists of calls that take about `longest` at most, or, of few
    items, `LONGER` times that. At each number of items there are up to `repetitions` samples, as long as they
    take less than `patience` seconds together.
    """

    device: str
    seconds: float
    longest: float
    repetitions: int
    patience: float
    seed: int = 1


@dataclass(frozen=True)
class GpuTimes:
    """Nanoseconds an item by variant, CPU and AUTO among them, and number of items; inf: too slow to ask.

    `scaled`: numbers of items whose time on the CPU is that of fewer, in proportion.
    """

    times: Times
    scaled: frozenset[int]

    @property
    def gpu(self) -> Times:
        """Of the GPU's variants."""
        return {name: by_count for name, by_count in self.times.items() if name not in {CPU, AUTO}}

    @property
    def cpu(self) -> dict[int, float]:
        """Of the CPU with all threads."""
        return dict(self.times[CPU])

    def without(self, techniques: tuple[str, ...]) -> GpuTimes:
        """The numbers of items, and the times, that GPU variants of other techniques were measured with."""
        left = {name: times for name, times in self.times.items() if technique(name) not in techniques}
        gpu = [left[name] for name in self.gpu if name in left]
        counts = [count for count in self.cpu if any(math.isfinite(times[count]) for times in gpu)]
        return GpuTimes(
            {name: {count: times[count] for count in counts} for name, times in left.items()}, self.scaled
        )

    def best(self, count: int) -> str:
        """The fastest GPU variant for this number of items."""
        return min(self.gpu, key=lambda name: self.times[name][count])

    def gain(self, count: int) -> float:
        """Time on the CPU over that of the fastest GPU variant."""
        return self.times[CPU][count] / self.times[self.best(count)][count]


def _availability(name: str) -> int:
    """A rank that is higher for variants that more GPUs can use: these are measured even where others win."""
    return 2 if technique(name) in EVERYWHERE else 1 if wants_fast_doubles(name) else 0


def _undisturbed(taken: dict[int, float]) -> dict[int, float]:
    """Seconds by number of items, lowered to the least of more items: a longer time was a disturbance."""
    counts = sorted(taken, reverse=True)
    least = itertools.accumulate((taken[count] for count in counts), min)
    return dict(zip(counts, least, strict=True))


@dataclass
class _Runner:
    """One of those that are compared, with medians of seconds a call by number of items."""

    name: str
    make_call: Callable[[Batch], Callable[[], Any]]
    taken: dict[int, float] = field(default_factory=dict)
    samples: list[float] = field(default_factory=list)
    call: Callable[[], Any] | None = None

    def begin(self, batch: Batch, at_least: float) -> None:
        """Take the first samples of a number of items.

        Before them contexts, combs and pinned memory are made, unless a call takes much longer than that.
        """
        self.samples = []
        self.call = self.make_call(batch)
        batch.result.fill(0)
        if self.expected(batch.count) < LONG:
            self.call()
        start = time.monotonic()
        while len(self.samples) < LOOKS and (not self.samples or time.monotonic() - start < LOOK_SECONDS):
            self.sample(batch.count, at_least)
        if batch.status.any():
            status = manymod.Status(int(batch.status.max())).name
            raise manymod.InternalError(f"{self.name} failed at {batch.count} items: {status}")

    def sample(self, count: int, at_least: float) -> None:
        """Take one more sample."""
        assert self.call is not None  # noqa: S101 (for the type checker: begun)
        self.samples.append(seconds_per_call(self.call, at_least, time.perf_counter))
        self.taken[count] = statistics.median_low(self.samples)

    def in_proportion(self, count: int) -> float:
        """Seconds that this number of items takes by the largest number measured; 0 if there is none."""
        if not self.taken:
            return 0.0
        largest = max(self.taken)
        return self.taken[largest] * count / largest

    def expected(self, count: int) -> float:
        """Seconds that this number of items takes on a GPU; 0 if unknown.

        As few items as leave most of it idle take as long as one; more, in the end, in proportion to their
        number.
        """
        if len(self.taken) < 2:
            return next(iter(self.taken.values()), 0.0)
        fewer, most = sorted(self.taken)[-2:]
        growth = max(1.0, 2 * self.taken[most] / self.taken[fewer])
        return min(self.in_proportion(count), self.taken[most] * growth)


class _Race:
    """The comparison for one case."""

    def __init__(self, case: Case, settings: GpuSettings, check: bool) -> None:
        self._case = case
        self._settings = settings
        some = self._batch(1)
        backend = settings.device.partition(":")[0]
        targets = {
            variant.name: Target(settings.device, variant.name, 0) for variant in case.variants(backend)
        }
        self._gpu = [self._runner(name, target, some) for name, target in targets.items()]
        self._cpu = self._runner(CPU, Target("cpu", None, 0), some)
        self._auto = self._runner(AUTO, Target("auto", None, 0), some) if check else None
        self._left = [runner.name for runner in self._gpu]
        self._scaled: set[int] = set()
        self._expected: tuple[str, NDArray[np.uint64]] | None = None

    def _runner(self, name: str, target: Target, some: Batch) -> _Runner:
        return _Runner(name, make_runner(self._case, self._case.bits, target, some))

    def _batch(self, count: int) -> Batch:
        return make_batch(self._case, self._case.bits, count, self._settings.seed)

    def run(self, until: float) -> GpuTimes:
        """All numbers of items, upwards from the first, then downwards; until `until` at the latest."""
        left_at_first: list[str] = []
        for count in self._upwards(until):
            self._measure(count, until)
            left_at_first = left_at_first or self._left
        self._left = left_at_first
        count = FIRST_COUNT
        while count > 1 and self._gpu_wins(count) and time.monotonic() <= until:
            count //= STEP
            self._measure(count, until)
        return self._times()

    def _upwards(self, until: float) -> Iterator[int]:
        bytes_per_item = 4 * -(-self._case.bits // 64) * 8 * self._case.terms
        count = FIRST_COUNT
        while count <= MAX_COUNT and count * bytes_per_item <= MAX_BYTES:
            if count > FIRST_COUNT and (
                self._is_too_long(count) or self._is_full(count // STEP) or time.monotonic() > until
            ):
                return
            yield count
            count *= STEP

    def _is_too_long(self, count: int) -> bool:
        least = min(runner.expected(count) for runner in self._running())
        return least > self._settings.longest * (LONGER if count <= USUAL else 1)

    def _running(self) -> list[_Runner]:
        return [runner for runner in self._gpu if runner.name in self._left]

    def _fastest(self, count: int) -> float:
        return min(runner.taken.get(count, math.inf) for runner in self._gpu)

    def _gpu_wins(self, count: int) -> bool:
        return self._fastest(count) < self._cpu.taken[count]

    def _is_full(self, count: int) -> bool:
        """Whether so many items leave no part of the card idle."""
        fewer = count // STEP
        if fewer < FIRST_COUNT or self._fastest(count) < FULL_SECONDS:
            return False
        return self._fastest(fewer) * STEP < self._fastest(count) * FULL

    def _measure(self, count: int, until: float) -> None:
        """Take one sample of each, then, alternating between them, more of those close to the best."""
        batch = self._batch(count)
        hopeful = [
            runner for runner in self._running() if runner.expected(count) <= LONGER * self._settings.longest
        ]
        others = self._others(count)
        self._expected = None
        for runner in others:
            self._begin_one(runner, batch)
        entered = self._begin(hopeful, batch, until)
        self._left = [runner.name for runner in entered]
        best = self._fastest(count)
        contest = [runner for runner in entered if runner.taken[count] <= CONTEST * best]
        enough = min(until, time.monotonic() + self._settings.patience)
        for _ in range(self._settings.repetitions - 1):
            if time.monotonic() > enough:
                break
            for runner in (*contest, *others):
                runner.sample(count, self._settings.seconds)
        self._drop(entered, count)

    def _begin(self, hopeful: list[_Runner], batch: Batch, until: float) -> list[_Runner]:
        """Those that could begin in time, the best for fewer items first; one in any case."""
        begun: list[_Runner] = []
        for runner in sorted(hopeful, key=lambda runner: runner.expected(batch.count)):
            if begun and time.monotonic() > until:
                break
            self._begin_one(runner, batch)
            begun.append(runner)
        return begun

    def _begin_one(self, runner: _Runner, batch: Batch) -> None:
        """Take its first samples, and compare its results with those of the first that began."""
        runner.begin(batch, self._settings.seconds)
        if self._expected is None:
            self._expected = (runner.name, batch.result.copy())
            return
        name, results = self._expected
        wrong = (results != batch.result).any(axis=1)
        if wrong.any():
            item = int(wrong.argmax())
            raise manymod.InternalError(
                f"{runner.name} and {name} differ in item {item} of {batch.count}: {self._case.op},"
                f" timing class {self._case.timing}, at {self._case.bits} bits"
            )

    def _others(self, count: int) -> list[_Runner]:
        """The CPU and the library's choice, unless they took too long: then scale the CPU's time."""
        found = []
        more = count > max(self._cpu.taken, default=0)
        too_long = more and self._cpu.in_proportion(count) > self._settings.longest / 2
        if too_long:
            self._cpu.taken[count] = self._cpu.in_proportion(count)
            self._scaled.add(count)
        else:
            found.append(self._cpu)
        if self._auto is not None:
            if too_long and not self._is_gpu_choice(count):
                self._auto.taken[count] = self._cpu.taken[count]
            else:
                found.append(self._auto)
        return found

    def _is_gpu_choice(self, count: int) -> bool:
        chosen = Target("auto", None, 0).choice(self._case, count)
        return any(runner.name == chosen for runner in self._gpu)

    def _drop(self, entered: list[_Runner], count: int) -> None:
        """Keep those that may be the best for more items.

        A variant far behind one that has no more threads per instance, which gain the more by more items,
        stays behind.
        """
        self._left = [
            runner.name
            for runner in entered
            if not any(self._beats(other, runner, count) for other in entered)
        ]

    @staticmethod
    def _beats(other: _Runner, runner: _Runner, count: int) -> bool:
        if threads_per_instance(other.name) > threads_per_instance(runner.name) or other is runner:
            return False
        if _availability(runner.name) > _availability(other.name):
            return False
        looked = count >= LOOK and comparison_only(runner.name)
        return other.taken[count] * (LESS_THAN_BEST if looked else FAR_BEHIND) < runner.taken[count]

    def _is_worth_it(self, runner: _Runner) -> bool:
        """Whether it is more than a variant for comparison, or clearly the best somewhere."""
        if not comparison_only(runner.name):
            return True
        others = [other for other in self._gpu if not comparison_only(other.name)]
        return any(
            taken * LESS_THAN_BEST
            < min((other.taken.get(count, math.inf) for other in others), default=math.inf)
            for count, taken in runner.taken.items()
        )

    def _times(self) -> GpuTimes:
        for runner in (*self._gpu, self._cpu):
            runner.taken = _undisturbed(runner.taken)
        gpu = [runner for runner in self._gpu if self._is_worth_it(runner)]
        runners = [*gpu, self._cpu, *([self._auto] if self._auto is not None else [])]
        counts = [count for count in sorted(self._cpu.taken) if math.isfinite(self._fastest(count))]
        return GpuTimes(
            {
                runner.name: {count: runner.taken.get(count, math.inf) / count * 1e9 for count in counts}
                for runner in runners
            },
            frozenset(self._scaled),
        )


def measure_gpu(case: Case, settings: GpuSettings, until: float, check: bool = False) -> GpuTimes:
    """Times of all variants for one case; AUTO's too with `check`.

    `until`: of the monotonic clock, from when on no further variant or number of items is begun, beyond the
    first of each.
    """
    return _Race(case, settings, check).run(until)
