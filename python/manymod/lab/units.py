# SPDX-License-Identifier: Apache-2.0
"""Units that papers print their figures in, and how figures of different hardware compare."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COUNTS", "UNITS", "Unit", "better_by", "from_rate", "normalised", "text"]


@dataclass(frozen=True)
class Unit:
    """A unit: how it is written, and whether more of it is better.

    Attributes:
        label: what follows a number.
        more_is_better: of rates; not of times and counts.
        times_rate: value x rate, a constant, for times of one operation; 0 for rates and counts.
    """

    label: str
    more_is_better: bool
    times_rate: float = 0


UNITS = {
    "per_second": Unit("/s", True),
    "nanoseconds": Unit("ns", False, 1e9),
    "microseconds": Unit("us", False, 1e6),
    "mean_ms": Unit("ms", False, 1e3),
    "step_us": Unit("us", False),
    "latency_ms": Unit("ms", False),
    "cycles": Unit("cycles", False),
    "instructions": Unit("instructions", False),
    "instructions_per_cycle": Unit("instructions/cycle", True),
    "threads_per_instance": Unit("threads", False),
}

#: Units of what is counted, not timed.
COUNTS = {"instructions", "instructions_per_cycle", "threads_per_instance"}


def from_rate(unit: str, rate: float) -> float:
    """A rate in operations a second, in a unit for rates or times of one operation.

    >>> from_rate("nanoseconds", 2e9), from_rate("per_second", 5.0)
    (0.5, 5.0)
    """
    known = UNITS[unit]
    return known.times_rate / rate if known.times_rate else rate


def better_by(unit: str, ours: float, theirs: float) -> float:
    """The factor by which `ours` is better; below 1: worse.

    >>> better_by("per_second", 30, 10), better_by("latency_ms", 30, 10)
    (3.0, 0.3333333333333333)
    """
    return ours / theirs if UNITS[unit].more_is_better else theirs / ours


def normalised(unit: str, value: float, units: float, mhz: float) -> float:
    """A figure by multiprocessor (or core) and MHz: a rate divided by both, a time multiplied.

    >>> round(normalised("per_second", 1081e6, 22, 1075))
    45708
    """
    return value / (units * mhz) if UNITS[unit].more_is_better else value * units * mhz


def text(value: float | None) -> str:
    """A number to three digits, with a prefix of the SI.

    >>> text(12219e6), text(0.0265), text(37.8), text(1500), text(None)
    ('12.2 G', '0.0265', '37.8', '1.5 k', '')
    """
    if value is None:
        return ""
    for scale, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= scale:
            return f"{value / scale:.3g}{prefix}"
    return f"{value:.3g}"
