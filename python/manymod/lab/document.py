# SPDX-License-Identifier: Apache-2.0
"""Whether a report's JSON has what those who read it rely on: files are edited, cut short and mixed up."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from manymod.lab.units import UNITS

__all__ = ["problem"]

_Test = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _unit(value: Any) -> bool:
    return _text(value) and value in UNITS


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_number, value))


def _optional(test: _Test) -> _Test:
    return lambda value: value is None or test(value)


_DOCUMENT: Mapping[str, _Test] = {"machine": _object, "settings": _object, "rows": _object}
_MACHINE: Mapping[str, _Test] = {
    "cpu": _text,
    "cpus": _positive,
    "cpu_features": _texts,
    "versions": _object,
    "date": _text,
    "commit": _optional(_text),
}
_GPU: Mapping[str, _Test] = {"model": _text, "multiprocessors": _positive, "driver": _text, "cuda": _text}
_ROW: Mapping[str, _Test] = {
    "id": _text,
    "paper": _text,
    "table": _text,
    "what": _text,
    "bits": _number,
    "figure": _optional(_object),
    "per_unit": lambda value: isinstance(value, bool),
}
_FIGURE: Mapping[str, _Test] = {"value": _optional(_number), "unit": _unit, "hardware": _object}
_HARDWARE: Mapping[str, _Test] = {
    "name": _text,
    "units": _optional(_positive),
    "mhz": _optional(_positive),
}
_MEASUREMENT: Mapping[str, _Test] = {
    "value": _positive,
    "unit": _unit,
    "samples": _numbers,
    "spread": _number,
    "what": _text,
    "recipe": _text,
    "on": _text,
    **dict.fromkeys(("rate", "batch", "threads", "mhz", "units", "percent_of_limit"), _optional(_number)),
    "commit": _optional(_text),
    "others": _optional(lambda value: _object(value) and all(map(_number, value.values()))),
}
_PLAN: Mapping[str, _Test] = {"samples": _positive, "seconds": _number}
_STATES = ("measured", "skipped", "left", "failed")


def _misfit(where: str, found: Any, shape: Mapping[str, _Test]) -> str:
    """The first member of an object that is not as it has to be; a member that is absent counts as null."""
    if not isinstance(found, dict):
        return f"{where} is no object"
    bad = [name for name, fits in shape.items() if not fits(found.get(name))]
    return f"{where} has no proper {bad[0]!r}" if bad else ""


def _entry_problem(name: str, entry: Any) -> str:
    where = f"row {name}"
    if not isinstance(entry, dict) or entry.get("state") not in _STATES:
        return f"{where} has no proper 'state'"
    row: Any = entry.get("row")
    if damage := _misfit(where, row, _ROW):
        return damage
    if (figure := row.get("figure")) is not None:
        about = f"the figure of {where}"
        if "value" not in figure:  # null where the paper printed none
            return f"{about} has no proper 'value'"
        if damage := _misfit(about, figure, _FIGURE) or _misfit(about, figure["hardware"], _HARDWARE):
            return damage
    if "plan" in entry and (damage := _misfit(f"the plan of {where}", entry["plan"], _PLAN)):
        return damage
    if entry["state"] == "measured":
        return _misfit(f"the measurement of {where}", entry.get("measurement"), _MEASUREMENT)
    return _misfit(where, entry, {"why": _text})


def problem(document: Mapping[str, Any]) -> str:
    """What is wrong with a report; empty where nothing is.

    >>> problem({"machine": {}, "settings": {}, "rows": {}})
    "the machine has no proper 'cpu'"
    """
    if damage := _misfit("the report", document, _DOCUMENT):
        return damage
    machine = document["machine"]
    if damage := _misfit("the machine", machine, _MACHINE):
        return damage
    if "gpu" in machine and (damage := _misfit("the GPU", machine["gpu"], _GPU)):
        return damage
    found = (_entry_problem(name, entry) for name, entry in document["rows"].items())
    return next(filter(None, found), "")
