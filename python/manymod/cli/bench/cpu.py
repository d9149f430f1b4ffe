# SPDX-License-Identifier: Apache-2.0
"""Rates of the CPU variants, measured alternately, each with the limit measured at the same time."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import _core
from manymod.cli.bench.limit import LANES, mulmod_cost, power_cost
from manymod.cli.bench.operands import Item, random_items
from manymod.cli.bench.quiet import QuietMeter, Reading
from manymod.plan import OPERATIONS

__all__ = [
    "AUTO",
    "Case",
    "Contender",
    "Sample",
    "Series",
    "Settings",
    "measure",
    "rows",
    "variants_for",
]

#: The dispatcher's own choice, as a contender.
AUTO = "auto"
#: Items that are different; a larger batch repeats them.
_DISTINCT = 64
_CHECKED = 8


@dataclass(frozen=True)
class Case:
    """An operation (constant-time powmod, mulmod), a width, a modulus kind, a batch and its threads.

    With more than one thread, each variant also runs with one.
    """

    op: str
    bits: int
    shared: bool
    batch: int
    threads: int = 1

    @property
    def secret(self) -> bool:
        """Whether it is constant-time."""
        return self.op == "powmod"

    @property
    def modulus(self) -> str:
        """Modulus kind."""
        return "shared" if self.shared else "each"

    @property
    def instructions(self) -> int:
        """Instructions that the limit counts, for a vector of instances."""
        return power_cost(self.bits) if self.op == "powmod" else mulmod_cost(self.bits)

    def oracle(self, x: int, y: int, n: int) -> int:
        """The right answer."""
        return pow(x, y, n) if self.op == "powmod" else x * y % n


@dataclass(frozen=True)
class Settings:
    """How to measure: which variants (None: all that can run), and for how long."""

    variants: Sequence[str] | None
    seconds: float
    repetitions: int
    seed: int = 1


def _computes(variant: manymod.Variant, case: Case) -> bool:
    """Whether it computes the case itself: some take products with one modulus alone."""
    return case.shared or case.op not in variant.shared_modulus_ops


def variants_for(case: Case, settings: Settings) -> list[str]:
    """The dispatcher's choice and the CPU variants that can run a case, or those asked for among them."""
    fitting = [
        variant.name
        for variant in manymod.variants()
        if variant.usable
        and variant.backend == "cpu"
        and variant.min_bits <= case.bits <= variant.max_bits
        and case.op in (variant.secret_ops if case.secret else variant.public_ops)
        and _computes(variant, case)
    ]
    names = [AUTO, *fitting]
    return names if settings.variants is None else [name for name in names if name in settings.variants]


@dataclass
class Contender:
    """A variant with prepared arrays: a run is one call into the library and nothing else."""

    name: str
    case: Case
    threads: int
    items: list[Item]
    calls: int = 1

    def __post_init__(self) -> None:
        case = self.case
        variant = None if self.name == AUTO else self.name
        numbers = (OPERATIONS[case.op], int(case.secret), int(case.shared), -(-case.bits // 64) * 64)
        self._plan = _core.Plan(*numbers, "cpu", variant, self.threads)
        # Processor time leaves out what other processes take meanwhile, but adds up threads.
        self._clock = time.process_time if case.threads == 1 else time.perf_counter
        columns = [self._column(column) for column in zip(*self.items, strict=True)]
        self._modulus = columns[2][:1].copy() if case.shared else columns[2]
        self._operands = columns[:2]
        self._result = np.empty_like(columns[2])
        self._status = np.zeros(case.batch, np.uint8)

    def _column(self, values: Sequence[int]) -> NDArray[np.uint64]:
        width = -(-self.case.bits // 64) * 8
        rows = b"".join(value.to_bytes(width, "little") for value in values)
        limbs = np.frombuffer(rows, np.uint64).reshape(len(values), width // 8)
        return np.ascontiguousarray(np.resize(limbs, (self.case.batch, width // 8)))

    @property
    def variant(self) -> str:
        """What the plan runs a batch of this length by."""
        return self._plan.variant_for(self.case.batch)

    def run(self) -> None:
        """Compute the batch once."""
        x, y = self._operands
        batch = self.case.batch
        arrays = (x, None, y, None, self._modulus, None, self._result, None)
        self._plan.run(batch, 0, *arrays, self._status, None, 0, batch)

    def seconds(self) -> float:
        """Time of `calls` runs."""
        start = self._clock()
        for _ in range(self.calls):
            self.run()
        return self._clock() - start

    def prepare(self, seconds: float) -> None:
        """Check the answers of one run, then choose the number of calls that take about `seconds`."""
        self.run()
        self._check()
        self.calls = max(1, min(100_000, math.ceil(seconds / max(1e-7, self.seconds()))))

    def _check(self) -> None:
        step = max(1, self.case.batch // _CHECKED)
        rows = [*range(0, self.case.batch, step), self.case.batch - 1]
        for row in rows:
            answer = int.from_bytes(self._result[row].tobytes(), "little")
            if self._status[row] or answer != self.case.oracle(*self.items[row % len(self.items)]):
                raise ArithmeticError(
                    f"{self.name}: {self.case.op} {self.case.bits} bits, batch {self.case.batch}: "
                    f"item {row} is wrong"
                )

    def measure(self) -> float:
        """Items a second, once."""
        return self.calls * self.case.batch / self.seconds()


def _contenders(case: Case, settings: Settings) -> list[Contender]:
    count = min(case.batch, _DISTINCT)
    powers = case.op == "powmod"
    items = random_items(case.bits, count, shared=case.shared, powers=powers, seed=settings.seed)
    numbers_of_threads = (1, case.threads) if case.threads > 1 else (1,)
    return [
        Contender(name, case, threads, items)
        for name in variants_for(case, settings)
        for threads in numbers_of_threads
    ]


@dataclass(frozen=True)
class Sample:
    """Items a second, with what the meter read just before and just after."""

    rate: float
    readings: tuple[Reading, Reading]

    def limit(self, case: Case) -> float | None:
        """Items a second that the limit's instruction alone would allow one thread."""
        found = [reading.limit for reading in self.readings if reading.limit is not None]
        return LANES * statistics.mean(found) / case.instructions if found else None


@dataclass
class Series:
    """The samples of one contender."""

    case: Case
    name: str
    runs: str
    threads: int
    samples: list[Sample] = field(default_factory=list)

    def quiet(self, meter: QuietMeter) -> list[Sample]:
        """The undisturbed ones, by what the meter has seen until now."""
        return [sample for sample in self.samples if meter.is_quiet(*sample.readings)]


def measure(case: Case, settings: Settings, meter: QuietMeter) -> list[Series]:
    """Samples of each variant that can run the case. Raises ArithmeticError for a wrong answer.

    Alternates between all contenders until each has as many undisturbed samples as there are
    repetitions, or twice as many of both kinds.
    """
    contenders = _contenders(case, settings)
    found = [Series(case, it.name, it.variant, it.threads) for it in contenders]
    for contender in contenders:
        contender.prepare(settings.seconds)
    reading = meter.read()
    for repetition in range(2 * settings.repetitions):
        for contender, series in zip(contenders, found, strict=True):
            if repetition >= settings.repetitions and len(series.quiet(meter)) >= settings.repetitions:
                continue
            before, rate, reading = reading, contender.measure(), meter.read()
            series.samples.append(Sample(rate, (before, reading)))
    return found


def rows(found: Sequence[Series], meter: QuietMeter) -> list[dict[str, Any]]:
    """The report on the series of a case, from their undisturbed samples alone where there are any."""
    used = [series.quiet(meter) or series.samples for series in found]
    medians = [statistics.median(sample.rate for sample in samples) for samples in used]
    alone = {
        series.name: median for series, median in zip(found, medians, strict=True) if series.threads == 1
    }
    report = []
    for series, samples, median in zip(found, used, medians, strict=True):
        row = _row(series, samples, median, len(series.quiet(meter)))
        if series.threads > 1:
            row["threads_vs_one"] = median / alone[series.name]
        report.append(row)
    return report


def _row(series: Series, samples: Sequence[Sample], median: float, quiet: int) -> dict[str, Any]:
    case, threads = series.case, series.threads
    limits = [limit * threads for sample in samples if (limit := sample.limit(case)) is not None]
    shares = [sample.rate / limit for sample, limit in zip(samples, limits, strict=False)]
    return {
        "op": case.op,
        "bits": case.bits,
        "modulus": case.modulus,
        "batch": case.batch,
        "threads": threads,
        "variant": series.name,
        "runs": series.runs,
        "median": median,
        "best": max(sample.rate for sample in samples),
        "limit": statistics.median(limits) if limits else None,
        "percent_of_limit": 100 * statistics.median(shares) if shares else None,
        "call_us": 1e6 * case.batch / median,
        "checked": True,
        "samples": len(series.samples),
        "quiet_samples": quiet,
        "disturbed": quiet == 0,
    }
