# SPDX-License-Identifier: Apache-2.0
"""What recipes prepare, and how it is timed: contenders by turns, over and over."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manymod.cli.bench.contenders import seconds_per_call
from manymod.cli.bench.quiet import QuietMeter
from manymod.lab.model import RowError

__all__ = ["Plan", "Result", "Sampler", "Work", "race", "sampler", "spread"]

#: Contenders whose first call is this much slower than the best one's are sampled no further.
_FAR_BEHIND = 2.0
#: The median absolute deviation of normal samples times this is their standard deviation.
_MAD_TO_SIGMA = 1.4826

#: A rate in operations a second, from about so many seconds.
Sampler = Callable[[float], float]


@dataclass(frozen=True)
class Plan:
    """How long to measure.

    Attributes:
        samples: of each row.
        seconds: that a sample takes at least.
        longest: seconds that one call may take.
    """

    samples: int
    seconds: float
    longest: float


@dataclass(frozen=True)
class Work:
    """One contender of a row.

    Attributes:
        name: the variant, the other library, the program's kernel.
        sample: takes a sample.
        facts: what goes into the report: batch, threads, device.
        limit: operations a second that the pipe of the products allows, from the clock in MHz.
    """

    name: str
    sample: Sampler
    facts: Mapping[str, Any] = field(default_factory=dict)
    limit: Callable[[float], float | None] | None = None


@dataclass(frozen=True)
class Result:
    """Samples of a contender, rates in operations a second or values in a unit of their own.

    `quiet` is how many of them no other process disturbed; None where nobody watched, as while a program of
    `bench/` measured by itself, or counted.
    """

    name: str
    samples: tuple[float, ...]
    facts: Mapping[str, Any]
    quiet: int | None = None

    @property
    def median(self) -> float:
        """Their median."""
        return statistics.median(self.samples)


def spread(samples: Sequence[float]) -> float:
    """The standard deviation by the median absolute deviation, relative to the median; 0 for one sample.

    >>> round(spread([100, 101, 99, 100, 150]), 4)
    0.0148
    """
    middle = statistics.median(samples)
    if len(samples) < 2 or middle == 0:
        return 0.0
    return _MAD_TO_SIGMA * statistics.median(abs(value - middle) for value in samples) / abs(middle)


def sampler(call: Callable[[], Any], operations: float, *, one_thread: bool = False) -> Sampler:
    """Samples of a call that does so many operations, in wall time.

    With `one_thread` in processor time, which leaves out what other processes take meanwhile.
    """
    clock = time.process_time if one_thread else time.perf_counter

    def sample(seconds: float) -> float:
        return operations / max(seconds_per_call(call, seconds, clock), 1e-9)

    return sample


def race(contenders: Sequence[Work], plan: Plan, meter: QuietMeter | None) -> list[Result]:
    """Samples of all contenders by turns, the best first; of those far behind that of the first call alone.

    Disturbed samples, by the meter, are taken again, so long as there are no more than twice as many.
    """
    if not contenders:
        raise RowError("nothing to measure")
    first = {work.name: work.sample(0) for work in contenders}
    left = [work for work in contenders if first[work.name] * _FAR_BEHIND >= max(first.values())]
    taken: dict[str, list[tuple[float, bool]]] = {work.name: [] for work in left}
    before = meter.read() if meter else None
    for number in range(2 * plan.samples):
        for work in left:
            rate = work.sample(plan.seconds)
            after = meter.read() if meter else None
            quiet = meter is None or before is None or after is None or meter.is_quiet(before, after)
            taken[work.name].append((rate, quiet))
            before = after
        if number + 1 >= plan.samples and all(
            sum(quiet for _, quiet in taken[work.name]) >= plan.samples for work in left
        ):
            break
    results = []
    for work in contenders:
        own = taken.get(work.name, [(first[work.name], False)])
        undisturbed = [rate for rate, quiet in own if quiet]
        samples = undisturbed or [rate for rate, _ in own]
        results.append(Result(work.name, tuple(samples), work.facts, len(undisturbed)))
    return sorted(results, key=lambda result: -result.median)
