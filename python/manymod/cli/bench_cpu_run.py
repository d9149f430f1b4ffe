# SPDX-License-Identifier: Apache-2.0
"""Rates of the CPU variants, all of them in turn in every repetition, beside the limit measured with them."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import _core
from manymod.cli.bench_limit import LANES, LIMIT, mulmod_cost, power_cost
from manymod.plan import OPERATIONS

__all__ = ["AUTO", "Case", "Contender", "LimitMeter", "Settings", "measure", "random_items", "variants_for"]

#: The dispatcher's own choice, as a contender.
AUTO = "auto"
#: Items that are different; a larger batch repeats them.
_DISTINCT = 64
_CHECKED = 8


@dataclass(frozen=True)
class Case:
    """An operation (powmod in class secret, mulmod), a width, a modulus kind, a batch and its threads.

    With more than one thread, each variant also runs with one.
    """

    op: str
    bits: int
    shared: bool
    batch: int
    threads: int = 1

    @property
    def secret(self) -> bool:
        """Timing class secret."""
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
    """Whether it computes the case itself: vector techniques take no products with a modulus per item."""
    return case.shared or case.op == "powmod" or variant.technique == "scalar64"


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


Item = tuple[int, int, int]


def random_items(case: Case, seed: int) -> list[Item]:
    """Random items: odd moduli and exponents of full length, other operands below the modulus."""
    source = random.Random(seed)  # noqa: S311 (operands to time, no keys)
    top = 1 << (case.bits - 1)
    shared = source.getrandbits(case.bits) | top | 1
    items = []
    for _ in range(min(case.batch, _DISTINCT)):
        n = shared if case.shared else source.getrandbits(case.bits) | top | 1
        y = source.getrandbits(case.bits) | top if case.op == "powmod" else source.randrange(n)
        items.append((source.randrange(n), y, n))
    return items


@dataclass
class Contender:
    """A variant with prepared arrays: a run is one call into the library and nothing else."""

    name: str
    case: Case
    threads: int
    items: list[Item]
    calls: int = 1
    rates: list[float] = field(default_factory=list)

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


class LimitMeter:
    """The rate of the limit's instruction, and whether the core was this process's alone.

    A neighbour on the core's other hardware thread takes part of the multiplier, though none of this thread's
    processor time: the instruction then completes fewer times a cycle.
    """

    #: Share of the best rate a cycle that counts as undisturbed.
    QUIET = 0.93

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._best_per_cycle = 0.0

    def measure(self) -> tuple[float | None, bool]:
        """Instructions a second (None where the CPU lacks it), and whether undisturbed."""
        rate = _core.instruction_rate(LIMIT, self._seconds)
        cycles = _core.instruction_rate("add_chain", self._seconds)
        if rate is None or cycles is None:
            return None, True
        self._best_per_cycle = max(self._best_per_cycle, rate / cycles)
        return rate, rate / cycles >= self.QUIET * self._best_per_cycle


def _contenders(case: Case, settings: Settings) -> list[Contender]:
    items = random_items(case, settings.seed)
    numbers_of_threads = (1, case.threads) if case.threads > 1 else (1,)
    return [
        Contender(name, case, threads, items)
        for name in variants_for(case, settings)
        for threads in numbers_of_threads
    ]


def _percent(rates: Sequence[float], limits: Sequence[float]) -> float | None:
    """Median over the repetitions of the share of that repetition's limit."""
    if not limits:
        return None
    return 100 * statistics.median(rate / limit for rate, limit in zip(rates, limits, strict=True))


def _row(contender: Contender, limits: Sequence[float], one: Contender) -> dict[str, Any]:
    """The report on a contender; `one` is the same with one thread."""
    case, rates, threads = contender.case, contender.rates, contender.threads
    row: dict[str, Any] = {
        "op": case.op,
        "bits": case.bits,
        "modulus": case.modulus,
        "batch": case.batch,
        "threads": threads,
        "variant": contender.name,
        "runs": contender.variant,
        "median": statistics.median(rates),
        "best": max(rates),
        "limit": statistics.median(limits) * threads if limits else None,
        "percent_of_limit": _percent(rates, [limit * threads for limit in limits]),
        "call_us": 1e6 * case.batch / statistics.median(rates),
        "checked": True,
    }
    if threads > 1:
        row["threads_vs_one"] = statistics.median(a / b for a, b in zip(rates, one.rates, strict=True))
    return row


def measure(case: Case, settings: Settings, meter: LimitMeter) -> list[dict[str, Any]]:
    """A row for each variant that can run the case. Raises ArithmeticError for a wrong answer.

    A disturbed repetition is made again, up to as many times as there are repetitions.
    """
    contenders = _contenders(case, settings)
    if not contenders:
        return []
    for contender in contenders:
        contender.prepare(settings.seconds)
    limits: list[float] = []
    repeats = settings.repetitions
    kept = 0
    while kept < settings.repetitions:
        before, quiet_before = meter.measure()
        rates = [contender.measure() for contender in contenders]
        after, quiet_after = meter.measure()
        if not (quiet_before and quiet_after) and repeats:
            repeats -= 1
            continue
        kept += 1
        for contender, rate in zip(contenders, rates, strict=True):
            contender.rates.append(rate)
        if before is not None and after is not None:
            limits.append(LANES * (before + after) / 2 / case.instructions)
    alone = {contender.name: contender for contender in contenders if contender.threads == 1}
    return [_row(contender, limits, alone[contender.name]) for contender in contenders]
