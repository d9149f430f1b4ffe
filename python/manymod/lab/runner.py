# SPDX-License-Identifier: Apache-2.0
"""Measures rows one after the other, saves each, and says why it skips one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import manymod
from manymod.cli.bench.report import utc_now
from manymod.lab.document import measurement_problem
from manymod.lab.machine import Machine
from manymod.lab.model import Row, RowError, Unavailable
from manymod.lab.peers.adapters import peer
from manymod.lab.recipes import arithmetic, programs, schemes
from manymod.lab.store import Store
from manymod.lab.units import COUNTS, from_rate
from manymod.lab.work import Plan, Result, Work, race, spread

__all__ = ["Settings", "run"]

_Recipe = Callable[[Mapping[str, Any], Machine, Plan], "list[Work] | list[Result]"]

RECIPES: dict[str, _Recipe] = {
    "power": arithmetic.power,
    "chain": arithmetic.chain,
    "product": arithmetic.product,
    "rsa": schemes.rsa,
    "point": schemes.point,
    "device_kernels": programs.device_kernels,
    "paper003": programs.paper003,
    "rns_figure3": programs.rns_figure3,
    "counters": programs.counters,
    "montgomery": programs.montgomery,
    "peer": peer,
}
#: What a GPU's engine says of kernels that a build left out.
_NO_KERNEL = "has no kernel"
_NO_TIME = "the time of the run was over: the same command goes on"


@dataclass(frozen=True)
class Settings:
    """Of a run.

    Attributes:
        plan: how long each row is measured.
        minutes: after so many no further row begins; 0: all are measured.
        devices: where: "cuda" and "cpu", or one of them.
        again: whether rows that are measured are measured again.
    """

    plan: Plan
    minutes: float
    devices: tuple[str, ...]
    again: bool


@dataclass
class _Runner:
    machine: Machine
    settings: Settings

    def __post_init__(self) -> None:
        # Rows of several tables that measure the same share one measurement.
        self._done: dict[str, list[Result]] = {}

    def entry(self, row: Row) -> dict[str, Any]:
        """A row's definition, state and measurement."""
        begin = time.perf_counter()
        reasons: list[str] = []
        outcome: dict[str, Any] = {"state": "skipped"}
        for measure in row.measures:
            if measure["on"] not in self.settings.devices:
                reasons.append(f"not asked for: {measure['on']}")
                continue
            try:
                measurement = _measurement(row, measure, self._results(measure))
            except Unavailable as reason:
                reasons.append(str(reason))
            except (RowError, manymod.ManymodError, MemoryError) as error:
                if _NO_KERNEL in str(error):
                    reasons.append(f"{error}: comparison kernels left out")
                    continue
                outcome = {"state": "failed", "why": f"{type(error).__name__}: {error}"}
                break
            else:
                plan = self.settings.plan
                outcome = {
                    "state": "measured",
                    "measurement": measurement,
                    "plan": {"samples": plan.samples, "seconds": plan.seconds},
                }
                if reasons:  # of ways that were preferred
                    outcome["instead"] = "; ".join(dict.fromkeys(reasons))
                break
        if outcome["state"] == "skipped":
            outcome["why"] = "; ".join(dict.fromkeys(reasons))
        return {"row": row.as_dict(), **outcome, "seconds": round(time.perf_counter() - begin, 3)}

    def _results(self, measure: Mapping[str, Any]) -> list[Result]:
        key = json.dumps(measure, sort_keys=True)
        if key not in self._done:
            self._done[key] = self._measure(measure)
        return self._done[key]

    def _measure(self, measure: Mapping[str, Any]) -> list[Result]:
        machine, on = self.machine, measure["on"]
        prepared = RECIPES[measure["by"]](measure, machine, self.settings.plan)
        finished = [one for one in prepared if isinstance(one, Result)]
        if finished:
            return [self._with_origin(result, {}) for result in finished]
        works = [one for one in prepared if isinstance(one, Work)]
        begin = time.perf_counter()
        results = race(works, self.settings.plan, machine.meter if on == "cpu" else None)
        mhz = machine.cpu_mhz() if on == "cpu" else machine.gpu_mhz(begin)
        limits = {work.name: work.limit for work in works}
        found = []
        for result in results:
            facts: dict[str, Any] = {"mhz": mhz, "units": self._units(on, result)}
            limit = limits[result.name]
            value = limit(mhz) if limit and mhz else None
            if value:
                facts |= {"limit": value, "percent_of_limit": 100 * result.median / value}
            found.append(self._with_origin(result, facts))
        return found

    def _units(self, on: str, result: Result) -> float:
        if on == "cuda":
            return self.machine.require_gpu().units
        return min(float(result.facts.get("threads", 1)), float(self.machine.facts["cpus"]))

    def _with_origin(self, result: Result, facts: Mapping[str, Any]) -> Result:
        """With what every measurement tells of its origin, unless its program told."""
        known = self.machine.facts
        on_cpu = str(result.facts.get("device", "cpu")) == "cpu"
        gpu = known.get("gpu", {})
        origin = {
            "model": known["cpu"] if on_cpu else gpu.get("model"),
            "driver": None if on_cpu else gpu.get("driver"),
            "commit": known["commit"],
            "date": utc_now(),
        }
        told = {name: value for name, value in result.facts.items() if value is not None}
        return Result(result.name, result.samples, {**origin, **facts, **told}, result.quiet)


def _in_unit(unit: str, rate: float, facts: Mapping[str, Any]) -> float:
    """A rate in the unit of a figure."""
    if unit == "latency_ms":
        return 1e3 * float(facts.get("operations_per_call", 1)) / rate
    if unit == "step_us":
        return 1e6 * float(facts.get("batch", 1)) / rate
    if unit == "cycles":
        if facts["mhz"] is None:
            raise Unavailable("the system does not tell the processor's clock rate")
        return 1e6 * float(facts["mhz"]) / rate
    if unit == "threads_per_instance":
        return float(facts["threads_per_instance"])
    if unit in COUNTS:
        return rate
    return from_rate(unit, rate)


def _measurement(row: Row, measure: Mapping[str, Any], results: Sequence[Result]) -> dict[str, Any]:
    unit = row.figure.unit if row.figure else "per_second"
    best = results[0]
    values = [_in_unit(unit, rate, best.facts) for rate in best.samples]
    middle = _in_unit(unit, best.median, best.facts)
    found = {
        "unit": unit,
        "value": middle,
        "samples": values,
        "spread": spread(values),
        "quiet": best.quiet,
        "what": best.name,
        "recipe": measure["by"],
        "on": measure["on"],
        **({} if unit in COUNTS else {"rate": best.median}),
        **best.facts,
        **({"others": {one.name: one.median for one in results[1:]}} if len(results) > 1 else {}),
    }
    if damage := measurement_problem(row.id, found):  # a report with it would be refused
        raise RowError(damage)
    return found


def _interleaved(rows: Sequence[Row]) -> list[Row]:
    """Rows of all papers by turns, so that a run that is cut short has something of each."""
    total = Counter(row.paper for row in rows)
    seen: Counter[str] = Counter()
    places = []
    for row in rows:
        places.append(seen[row.paper] / total[row.paper])
        seen[row.paper] += 1
    return [row for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]


def run(
    rows: Sequence[Row], machine: Machine, settings: Settings, store: Store
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Measure rows, saving each; yields every one that is not kept from before, with its entry."""
    runner = _Runner(machine, settings)
    end = time.monotonic() + 60 * settings.minutes if settings.minutes else None
    for row in _interleaved(rows):
        if store.is_measured(row.id) and not settings.again:
            continue
        if end is not None and time.monotonic() > end:
            entry: dict[str, Any] = {"row": row.as_dict(), "state": "left", "why": _NO_TIME, "seconds": 0}
        else:
            entry = runner.entry(row)
        # What was measured before is not given up for a row that could not be measured again.
        if entry["state"] in {"measured", "failed"} or not store.is_measured(row.id):
            store.put(row.id, entry)
        yield row, entry
