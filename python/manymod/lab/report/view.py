# SPDX-License-Identifier: Apache-2.0
"""A report's rows as they are shown: the paper's figure, ours, their ratio, the limit, what ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manymod.lab import catalogue
from manymod.lab.units import UNITS, better_by, normalised, text

__all__ = ["COLUMNS", "Line", "Section", "Skipped", "command", "head", "sections", "skipped"]

#: Headings of a table, and whether numbers are below them.
COLUMNS = (
    ("row", False),
    ("what", False),
    ("paper", True),
    ("paper, normalised", True),
    ("here", True),
    ("here, normalised", True),
    ("ratio", True),
    ("normalised ratio", True),
    ("of limit", True),
    ("spread", True),
    ("ran", False),
)
#: State of rows that were measured in a way that is not the preferred one.
COUNTERPART = "measured otherwise"
#: Samples of which none was undisturbed are marked.
DISTURBED = "disturbed"


@dataclass(frozen=True)
class Line:
    """A row: cells in the order of `COLUMNS`, numbers to sort them by, and a remark."""

    id: str
    cells: tuple[str, ...]
    keys: tuple[float | None, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A table of a paper."""

    paper: str
    citation: str
    table: str
    title: str
    lines: tuple[Line, ...]

    @property
    def columns(self) -> list[int]:
        """Those of `COLUMNS` that have something in them."""
        return [at for at in range(len(COLUMNS)) if any(line.cells[at] for line in self.lines)]

    @property
    def notes(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys(note for line in self.lines for note in line.notes))


@dataclass(frozen=True)
class Skipped:
    """Rows that were not measured, for one reason."""

    why: str
    state: str
    rows: tuple[str, ...]


def command(row: str) -> str:
    """The command that measures a row alone."""
    return f"manymod lab --again --only {row}"


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return (
        f"{text(value)}{UNITS[unit].label}" if unit == "per_second" else f"{text(value)} {UNITS[unit].label}"
    )


def _ran(measurement: Mapping[str, Any]) -> str:
    """What ran, where, at which clock, when."""
    parts = [str(measurement["what"]), f"on {measurement.get('model', measurement.get('device', '?'))}"]
    if threads := measurement.get("threads"):
        parts.append(f"{threads} thread" + ("s" if threads > 1 else ""))
    if batch := measurement.get("batch"):
        parts.append(f"batch {batch:,}")
    if mhz := measurement.get("mhz"):
        parts.append(f"{mhz:,.0f} MHz")
    if driver := measurement.get("driver"):
        parts.append(f"driver {driver}")
    parts += [str(measurement[name]) for name in ("program", "library", "derived") if measurement.get(name)]
    parts += [
        f"commit {(measurement.get('commit') or 'unknown')[:12]}",
        str(measurement.get("date", ""))[:16],
    ]
    if measurement.get("on") == "cpu" and measurement.get("quiet") == 0:
        parts.append(DISTURBED)
    return ", ".join(parts)


def _normal(entry: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The paper's figure and ours by multiprocessor (core) and MHz, where the paper compares so."""
    row, measured = entry["row"], entry["measurement"]
    figure = row.get("figure")
    if not figure or not row["per_unit"]:
        return None, None
    unit, hardware = figure["unit"], figure["hardware"]
    theirs = ours = None
    if figure["value"] and hardware.get("units") and hardware.get("mhz"):
        theirs = normalised(unit, figure["value"], hardware["units"], hardware["mhz"])
    if measured.get("units") and measured.get("mhz"):
        ours = normalised(unit, measured["value"], measured["units"], measured["mhz"])
    return theirs, ours


def _ratio(unit: str, ours: float | None, theirs: float | None) -> float | None:
    return None if not ours or not theirs else better_by(unit, ours, theirs)


def line(entry: Mapping[str, Any]) -> Line:
    """A measured row."""
    row, measured = entry["row"], entry["measurement"]
    figure = row.get("figure") or {"value": None, "unit": measured["unit"], "hardware": {"name": ""}}
    unit = figure["unit"]
    theirs, ours = _normal(entry)
    ratio = _ratio(unit, measured["value"], figure["value"])
    # Table V of paper 002 has figures that are normalised already: the raw ones do not compare.
    if figure["hardware"]["name"] == "one multiprocessor and MHz":
        ratio = None
    by_unit = _ratio(unit, ours, theirs)
    limit = measured.get("percent_of_limit")
    printed = _with_unit(figure["value"], unit)
    if printed and figure["hardware"]["name"]:
        printed += f" ({figure['hardware']['name']})"
    cells = (
        row["id"],
        row["what"],
        printed,
        text(theirs),
        _with_unit(measured["value"], unit),
        text(ours),
        "" if ratio is None else f"{text(ratio)}x",
        "" if by_unit is None else f"{text(by_unit)}x",
        "" if limit is None else f"{limit:.0f} %",
        f"{100 * measured['spread']:.1f} %" if len(measured["samples"]) > 1 else "",
        _ran(measured),
    )
    keys = (
        None,
        None,
        figure["value"],
        theirs,
        measured["value"],
        ours,
        ratio,
        by_unit,
        limit,
        measured["spread"],
        None,
    )
    notes = [row.get("note", "")]
    if others := measured.get("others"):
        rates = ", ".join(f"{name} {text(rate)}/s" for name, rate in others.items())
        notes.append(f"Other variants, {row['bits']} bits: {rates}.")
    return Line(row["id"], cells, keys, tuple(filter(None, notes)))


def sections(document: Mapping[str, Any]) -> Iterator[Section]:
    """Tables with at least one measured row, in the order of the report."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for entry in document["rows"].values():
        if entry["state"] == "measured":
            groups.setdefault((entry["row"]["paper"], entry["row"]["table"]), []).append(line(entry))
    for (paper, table), lines in groups.items():
        content = catalogue.document(paper) if paper in catalogue.PAPERS else {}
        title = content.get("tables", {}).get(table, {}).get("title", "")
        yield Section(paper, content.get("citation", ""), table, title, tuple(lines))


def skipped(document: Mapping[str, Any]) -> list[Skipped]:
    """Rows that were not measured, by reason; failures first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, entry in document["rows"].items():
        if entry["state"] != "measured":
            groups.setdefault((entry["state"], entry["why"]), []).append(name)
        elif entry.get("instead"):
            groups.setdefault((COUNTERPART, entry["instead"]), []).append(name)
    order = {"failed": 0, "left": 1, "skipped": 2, COUNTERPART: 3}
    found = [Skipped(why, state, tuple(rows)) for (state, why), rows in groups.items()]
    return sorted(found, key=lambda group: order[group.state])


def _method(document: Mapping[str, Any]) -> str:
    """How rows were measured: a report may have rows of several runs, each with samples of its own."""
    method = str(document["settings"].get("method", ""))
    timed = [
        entry
        for entry in document["rows"].values()
        if entry["state"] == "measured" and not entry["measurement"].get("program")
    ]
    plans = Counter(
        (plan["samples"], plan["seconds"]) for plan in (entry.get("plan") for entry in timed) if plan
    )
    if not plans:  # reports of 0.1.0 have one statement for all rows
        return method
    told = [f"{samples} samples of at least {seconds:g} s" for samples, seconds in plans]
    if plans.total() < len(timed) or len(plans) > 1:
        told = [f"{plan} ({rows} rows)" for plan, rows in zip(told, plans.values(), strict=True)]
    return f"medians of {' and of '.join(told)}, {method}"


def head(document: Mapping[str, Any]) -> dict[str, str]:
    """The machine and the run in a few lines."""
    machine = document["machine"]
    states = [entry["state"] for entry in document["rows"].values()]
    counts = ", ".join(
        f"{states.count(state)} {state}"
        for state in ("measured", "skipped", "left", "failed")
        if state in states
    )
    gpu = machine.get("gpu")
    versions = ", ".join(f"{name} {value}" for name, value in machine["versions"].items())
    return {
        "processor": f"{machine['cpu']}, {machine['cpus']} CPUs: {' '.join(machine['cpu_features'])}",
        "GPU": f"{gpu['model']}, {gpu['multiprocessors']} multiprocessors, driver {gpu['driver']}, "
        f"CUDA {gpu['cuda']}"
        if gpu
        else "none",
        "software": f"{versions}, commit {machine.get('commit') or 'unknown'}",
        "date": str(machine["date"]),
        "rows": counts,
        "method": _method(document),
    }
