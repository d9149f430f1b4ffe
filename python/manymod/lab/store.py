# SPDX-License-Identifier: Apache-2.0
"""The report of a run as JSON, which is also its state: it is saved after each row.

A document has `format`, `machine`, `settings`, and `rows`: for each row its definition (so that a report can
be read when the catalogue has changed) but for the ways to measure it, its `state` and what was measured.
States are

* ``measured``: `measurement` has the value in the unit of the figure and every sample;
* ``skipped``: this machine, or this build, cannot measure it; `why` says what would help;
* ``left``: the time of the run was over;
* ``failed``: an answer was wrong or the call failed; `why` says which.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manymod.lab.document import problem
from manymod.tables import OutputFile

__all__ = ["FORMAT", "Store", "StoreError", "read"]

FORMAT = "manymod lab 1"


class StoreError(Exception):
    """A file is no report of the lab, or of another machine."""


def read(path: Path) -> dict[str, Any]:
    """A report.

    Raises:
        StoreError: if the file is none, or a damaged one.
        OSError: if it cannot be read.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StoreError(f"{path} is no report of manymod lab")
    if damage := problem(document):
        raise StoreError(f"{path} is damaged: {damage}")
    return dict(document)


def _who(machine: Mapping[str, Any]) -> tuple[Any, ...]:
    """What must be equal for rows of two runs to stand in one report."""
    return machine.get("cpu"), machine.get("cpus"), machine.get("gpu", {}).get("model")


class Store:
    """The state of a run in a file.

    Raises:
        StoreError: if the file is there and no report, or one of another machine.
    """

    def __init__(self, path: Path, machine: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.path = path
        rows: dict[str, Any] = {}
        if path.exists():
            earlier = read(path)
            if _who(earlier["machine"]) != _who(machine):
                raise StoreError(f"{path} is of another machine: name another file, or delete it")
            rows = earlier["rows"]
        self.document: dict[str, Any] = {
            "format": FORMAT,
            "machine": dict(machine),
            "settings": dict(settings),
            "rows": rows,
        }

    def is_measured(self, row: str) -> bool:
        """Whether a row needs no further measurement."""
        return bool(self.document["rows"].get(row, {}).get("state") == "measured")

    def put(self, row: str, entry: Mapping[str, Any]) -> None:
        """Set a row and save all."""
        self.document["rows"][row] = dict(entry)
        self.save()

    def arrange(self, order: Mapping[str, int]) -> None:
        """Put the rows in order; those that it does not have come last."""
        rows = self.document["rows"]
        self.document["rows"] = {
            name: rows[name] for name in sorted(rows, key=lambda name: order.get(name, len(order)))
        }

    def save(self) -> None:
        """Write the file anew, in one step: a run that is stopped meanwhile leaves the one before."""
        OutputFile(self.path).write((json.dumps(self.document, indent=1) + "\n").encode())
