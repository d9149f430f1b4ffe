# SPDX-License-Identifier: Apache-2.0
"""Whether a report's JSON has what those who read it rely on: files are edited, cut short and mixed up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from manymod.lab.units import UNITS

__all__ = ["measurement_problem", "misfit", "positive", "problem", "text"]

_Test = Callable[[Any], bool]


def _number(value: Any) -> bool:
    largest = sys.float_info.max
    return isinstance(value, int | float) and not isinstance(value, bool) and -largest <= value <= largest


def positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return _number(value) and value > 0


def text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def _unit(value: Any) -> bool:
    return text(value) and value in UNITS


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(text, value))


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_number, value))


def _optional(test: _Test) -> _Test:
    return lambda value: value is None or test(value)


_DOCUMENT: Mapping[str, _Test] = {"machine": _object, "settings": _object, "rows": _object}
_MACHINE: Mapping[str, _Test] = {
    "cpu": text,
    "cpus": positive,
    "cpu_features": _texts,
    "versions": _object,
    "date": text,
    "commit": _optional(text),
}
_GPU: Mapping[str, _Test] = {"model": text, "multiprocessors": positive, "driver": text, "cuda": text}
_ROW: Mapping[str, _Test] = {
    "id": text,
    "paper": text,
    "table": text,
    "what": text,
    "bits": _number,
    "figure": _optional(_object),
    "per_unit": lambda value: isinstance(value, bool),
}
_FIGURE: Mapping[str, _Test] = {"value": _optional(_number), "unit": _unit, "hardware": _object}
_HARDWARE: Mapping[str, _Test] = {
    "name": text,
    "units": _optional(positive),
    "mhz": _optional(positive),
}
_MEASUREMENT: Mapping[str, _Test] = {
    "value": positive,
    "unit": _unit,
    "samples": _numbers,
    "spread": _number,
    "what": text,
    "recipe": text,
    "on": text,
    **dict.fromkeys(("rate", "batch", "threads", "mhz", "units", "percent_of_limit"), _optional(_number)),
    "commit": _optional(text),
    "others": _optional(lambda value: _object(value) and all(map(_number, value.values()))),
}
_PLAN: Mapping[str, _Test] = {"samples": positive, "seconds": _number}
_STATES = ("measured", "skipped", "left", "failed")


def misfit(where: str, found: Any, shape: Mapping[str, _Test]) -> str:
    """What is wrong with an object, by its first member that is not as it has to be; empty where nothing is.

    A member that is absent counts as null.

    >>> misfit("row 5", {"bits": 64}, {"bits": positive, "kernel": text})
    "row 5 has no proper 'kernel'"
    """
    if not isinstance(found, dict):
        return f"{where} is no object"
    bad = [name for name, fits in shape.items() if not fits(found.get(name))]
    return f"{where} has no proper {bad[0]!r}" if bad else ""


def measurement_problem(row: str, measurement: Any) -> str:
    """What is wrong with the measurement of a row; empty where nothing is.

    >>> measurement_problem("001/3", {"value": 0})
    "the measurement of row 001/3 has no proper 'value'"
    """
    return misfit(f"the measurement of row {row}", measurement, _MEASUREMENT)


def _entry_problem(name: str, entry: Any) -> str:
    where = f"row {name}"
    if not isinstance(entry, dict) or entry.get("state") not in _STATES:
        return f"{where} has no proper 'state'"
    row: Any = entry.get("row")
    if damage := misfit(where, row, _ROW):
        return damage
    if (figure := row.get("figure")) is not None:
        about = f"the figure of {where}"
        if "value" not in figure:  # null where the paper printed none
            return f"{about} has no proper 'value'"
        if damage := misfit(about, figure, _FIGURE) or misfit(about, figure["hardware"], _HARDWARE):
            return damage
    if "plan" in entry and (damage := misfit(f"the plan of {where}", entry["plan"], _PLAN)):
        return damage
    if entry["state"] == "measured":
        return measurement_problem(name, entry.get("measurement"))
    return misfit(where, entry, {"why": text})


def problem(document: Mapping[str, Any]) -> str:
    """What is wrong with a report; empty where nothing is.

    >>> problem({"machine": {}, "settings": {}, "rows": {}})
    "the machine has no proper 'cpu'"
    """
    if damage := misfit("the report", document, _DOCUMENT):
        return damage
    machine = document["machine"]
    if damage := misfit("the machine", machine, _MACHINE):
        return damage
    if "gpu" in machine and (damage := misfit("the GPU", machine["gpu"], _GPU)):
        return damage
    found = (_entry_problem(name, entry) for name, entry in document["rows"].items())
    return next(filter(None, found), "")
