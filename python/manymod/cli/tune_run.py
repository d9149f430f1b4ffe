# SPDX-License-Identifier: Apache-2.0
"""Time per item of every usable variant, for small and large numbers of items."""

from __future__ import annotations

import functools
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import _core
from manymod.cli.bench_quiet import QuietMeter
from manymod.plan import OPERATIONS

__all__ = ["AUTO", "OPS", "Case", "Settings", "Times", "cases", "library_choice", "measure"]

#: Operations that are tuned, with whether one item is so short that large batches need a measurement too.
OPS = {"powmod": False, "mulmod": True, "sqrmod": True, "fixed_base_powmod": False}
FIXED_BASE = "fixed_base_powmod"
#: Stands for the library's own choice where a variant's name is expected.
AUTO = "auto"
#: Numbers of items of the first round, after which variants that are far behind at all of them are dropped.
FIRST_ROUND = (1, 2, 4, 8, 16, 1024)
#: Items that leave no part of a vector unused, with two vectors in lockstep either.
FULL_VECTORS = 16
#: How far behind that is.
FAR_BEHIND = 1.6

#: How often a sample is taken at most, to have it undisturbed.
ATTEMPTS = 4

#: Nanoseconds an item, by variant and number of items.
Times = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
class Case:
    """An operation in a timing class at a width."""

    op: str
    secret: bool
    bits: int

    @property
    def shared_modulus(self) -> bool:
        """Products are timed with one modulus for all: with one for each item, vectors do not take them."""
        return self.op != "powmod"  # a fixed base has one modulus by its nature

    @property
    def timing(self) -> str:
        """Name of the timing class."""
        return "secret" if self.secret else "public"

    def variants(self) -> list[manymod.Variant]:
        """Those that can run it here."""
        return [
            variant
            for variant in manymod.variants()
            if variant.usable
            and self.op in (variant.secret_ops if self.secret else variant.public_ops)
            and variant.min_bits <= self.bits <= variant.max_bits
        ]


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


def cases(ops: Iterable[str], widths: Sequence[int]) -> list[Case]:
    """Every case that some variant can run, narrow ones first."""
    every = (Case(op, secret, bits) for op in ops for secret in (False, True) for bits in sorted(set(widths)))
    return [case for case in every if case.variants()]


@dataclass(frozen=True)
class _Batch:
    """Operands and room for results: odd moduli of full length, other operands below them."""

    count: int
    x: NDArray[np.uint64]
    y: NDArray[np.uint64] | None
    n: NDArray[np.uint64]
    result: NDArray[np.uint64]
    status: NDArray[np.uint8]


def _batch(case: Case, settings: Settings, count: int) -> _Batch:
    source = random.Random(settings.seed)  # noqa: S311 (operands to time, no keys)
    top = 1 << (case.bits - 1)
    distinct = 1 if case.shared_modulus else count
    moduli = [source.getrandbits(case.bits) | top | 1 for _ in range(distinct)] * (count // distinct)
    columns = [[source.randrange(n) for n in moduli]]
    if case.op == "mulmod":
        columns.append([source.randrange(n) for n in moduli])
    elif case.op != "sqrmod":
        length = min(case.bits, settings.exponent_bits)
        columns.append([source.getrandbits(length) | 1 << (length - 1) for _ in range(count)])
    x, *y, n = (manymod.IntArray.from_ints(column).limbs for column in (*columns, moduli[:distinct]))
    status = np.zeros(count, dtype=np.uint8)
    return _Batch(count, x, y[0] if y else None, n, np.zeros((count, n.shape[1]), dtype=n.dtype), status)


def _plan(case: Case, variant: str) -> _core.Plan:
    name = None if variant == AUTO else variant
    shared = int(case.shared_modulus)
    return _core.Plan(OPERATIONS[case.op], int(case.secret), shared, case.bits, "auto", name, 1)


def _call(case: Case, settings: Settings, variant: str, batch: _Batch) -> Callable[[], Any]:
    """One call, by the extension itself: manymod.Plan spends more on Python than on a short operation."""
    results = (batch.result, None, batch.status, None, 0, batch.count)
    if case.op != FIXED_BASE:
        operands = (batch.x, None, batch.y, None, batch.n, None)
        return functools.partial(_plan(case, variant).run, batch.count, 0, *operands, *results)
    length = min(case.bits, settings.exponent_bits)
    choice = (int(case.secret), length, "auto", None if variant == AUTO else variant, 1)
    assert batch.y is not None  # noqa: S101 (for the type checker: powers have exponents)
    comb = _core.FixedBase(batch.x[:1], None, batch.n, None, *choice)
    return functools.partial(comb.run, batch.count, batch.y, None, *results)


def library_choice(case: Case, count: int) -> str:
    """The variant that the library runs so many items by."""
    if case.op != FIXED_BASE:
        return _plan(case, AUTO).variant_for(count)
    n = 1 << (case.bits - 1) | 1
    fixed = manymod.FixedBase(2, n, exponent_bits=1, secret=case.secret, threads=1)
    return fixed.variant_for(count)


def _seconds(call: Callable[[], Any], at_least: float) -> float:
    """Seconds of one call, from as many as take `at_least` together.

    Processor time of the one thread: what other processes take meanwhile does not count.
    """
    start = time.process_time()
    calls = 0
    while True:
        call()
        calls += 1
        elapsed = time.process_time() - start
        if elapsed >= at_least:
            return elapsed / calls


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
        """All variants in turn at each number of items, over and over: what disturbs one disturbs all."""
        batches = {count: _batch(self._case, self._settings, count) for count in counts}
        calls = {
            (count, name): _call(self._case, self._settings, name, batch)
            for count, batch in batches.items()
            for name in names
        }
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
            taken = _seconds(call, self._settings.seconds)
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
