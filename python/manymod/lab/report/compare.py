# SPDX-License-Identifier: Apache-2.0
"""Two reports row by row, with a verdict that knows how much the samples of each vary.

A row's change is the ratio of its medians. Its error is estimated from the samples: the standard deviation of
each side by the median absolute deviation, over the root of their number, times 1.25 for a median (of normal
samples its standard error is sqrt(pi / 2) times that of the mean). Few samples may agree by chance, so that a
side counts as no more exact than `FLOOR`. A change is one if it is larger than `SIGMAS` times the error.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manymod.lab.units import better_by
from manymod.lab.work import spread

__all__ = ["Change", "changes", "markdown", "summary"]

#: Relative error of a median, at least: frequency and placement of memory differ from run to run.
FLOOR = 0.01
SIGMAS = 3.0
_MEDIAN_ERROR = math.sqrt(math.pi / 2)
#: Samples of each side without which no verdict is given.
LEAST = 3
#: What has to be equal for two measurements to compare.
_SAME = ("unit", "recipe", "on", "model", "batch", "threads")

VERDICTS = ("slower", "faster", "same", "unclear", "differs", "only one")


@dataclass(frozen=True)
class Change:
    """A row of two reports.

    Attributes:
        id: of the row.
        verdict: one of `VERDICTS`.
        before: the first report's median, None if it has none.
        after: the second's.
        factor: how many times better the second is, below 1: worse.
        error: relative standard error of the factor.
        why: what a verdict other than "faster", "slower" and "same" rests on; what else changed.
    """

    id: str
    verdict: str
    before: float | None
    after: float | None
    factor: float | None
    error: float | None
    why: str


def _error(samples: list[float]) -> float:
    return max(FLOOR, _MEDIAN_ERROR * spread(samples) / math.sqrt(len(samples)))


def _measured(entry: Mapping[str, Any] | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = entry["measurement"] if entry and entry["state"] == "measured" else None
    return found


def _change(name: str, one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> Change:
    before, after = _measured(one), _measured(other)
    if before is None or after is None:
        missing = [side for side, found in (("A", before), ("B", after)) if found is None]
        first, second = (found["value"] if found else None for found in (before, after))
        return Change(name, "only one", first, second, None, None, f"not measured in {' and '.join(missing)}")
    values = (before["value"], after["value"])
    if different := [what for what in _SAME if before.get(what) != after.get(what)]:
        told = ", ".join(f"{what} {before.get(what)} and {after.get(what)}" for what in different)
        return Change(name, "differs", *values, None, None, told)
    factor = better_by(before["unit"], after["value"], before["value"])
    error = math.hypot(_error(before["samples"]), _error(after["samples"]))
    variant = "" if before["what"] == after["what"] else f"{before['what']} then, {after['what']} now"
    fewest = min(len(before["samples"]), len(after["samples"]))
    if fewest < LEAST:
        told = f"only {fewest} samples" + (f"; {variant}" if variant else "")
        return Change(name, "unclear", *values, factor, error, told)
    if 0 in {before.get("quiet"), after.get("quiet")} and "cpu" in {before["on"]}:
        told = "another process was on the core" + (f"; {variant}" if variant else "")
        return Change(name, "unclear", *values, factor, error, told)
    verdict = "same"
    if abs(math.log(factor)) > SIGMAS * error:
        verdict = "faster" if factor > 1 else "slower"
    return Change(name, verdict, *values, factor, error, variant)


def changes(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Change]:
    """Every row that is measured in a report, in the order of the first."""
    names = dict.fromkeys([*one["rows"], *other["rows"]])
    found = [_change(name, one["rows"].get(name), other["rows"].get(name)) for name in names]
    return [change for change in found if change.before is not None or change.after is not None]


def summary(found: list[Change]) -> str:
    """Verdicts and their numbers, and the median of all factors: what the whole machine changed by."""
    counts = [f"{sum(change.verdict == verdict for change in found)} {verdict}" for verdict in VERDICTS]
    factors = [change.factor for change in found if change.factor is not None]
    overall = f"; median factor {statistics.median(factors):.3f}" if factors else ""
    return ", ".join(count for count in counts if not count.startswith("0 ")) + overall


def markdown(found: list[Change]) -> str:
    """A table, changes first."""
    lines = ["| row | verdict | A | B | factor | error | remark |", "|---|---|---:|---:|---:|---:|---|"]
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    for change in sorted(found, key=lambda change: order[change.verdict]):
        numbers = [f"{value:.4g}" if value is not None else "" for value in (change.before, change.after)]
        factor = "" if change.factor is None else f"{change.factor:.3f}x"
        error = "" if change.error is None else f"{100 * change.error:.1f} %"
        lines.append(
            f"| {change.id} | {change.verdict} | {' | '.join(numbers)} | {factor} | {error} | {change.why} |"
        )
    return "\n".join([*lines, "", summary(found)]) + "\n"
