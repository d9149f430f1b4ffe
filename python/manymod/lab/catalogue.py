# SPDX-License-Identifier: Apache-2.0
"""The rows of all papers, from their files in `papers/`.

A paper's file has its tables as printed, and `rows`: rules, each of which turns the figures of one table into
rows. A rule has

* `table`, and `where`: which of the table's rows (members and the values that they have);
* `field` and `unit`: the member that holds the figure, a number or numbers by width;
* `id` and `what`, `note`: texts with the row's members in braces, `bits` among them;
* `hardware`: a name in `hardware.json`, or such a text;
* `per_unit`: whether figures compare by multiprocessor and MHz;
* `measures`: ways to measure it; a value such as ``"{bits}"`` is the member itself.

A rule with `values`, a list of members for each row, needs no table: its rows have no figure.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

from manymod.lab.model import Figure, Row, hardware_of

__all__ = ["PAPERS", "document", "hardware", "load", "select"]

#: Files of `papers/`; the last two belong to no paper.
PAPERS = ("000", "001", "002", "003", "004", "sweep", "peer")


def _read(name: str) -> dict[str, Any]:
    text = resources.files("manymod.lab").joinpath(f"papers/{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def document(paper: str) -> dict[str, Any]:
    """A paper's file.

    >>> document("002")["tables"]["II"]["title"]
    'Performance of multiply and reduce'
    """
    return _read(paper)


def hardware() -> dict[str, Any]:
    """What papers measured on, by name."""
    return _read("hardware")


def _filled(value: Any, members: Mapping[str, Any]) -> Any:
    """`value` with members in place of names in braces; a text that is one name alone is the member."""
    if isinstance(value, dict):
        return {name: _filled(inner, members) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, members) for inner in value]
    if not isinstance(value, str):
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    return members[alone[1]] if alone else value.format_map(members)


def _cells(rule: Mapping[str, Any], tables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The members of each figure of a rule, and the figure."""
    if "values" in rule:
        for members in rule["values"]:
            yield dict(members), None
        return
    for row in tables[rule["table"]]["rows"]:
        if any(row.get(name) != value for name, value in rule.get("where", {}).items()):
            continue
        figures = row[rule["field"]]
        if not isinstance(figures, dict):
            yield dict(row), figures
            continue
        for bits, figure in figures.items():
            yield {**row, "bits": int(bits)}, figure


def _rows(paper: str, known: Mapping[str, Any]) -> Iterator[Row]:
    content = document(paper)
    for rule in content["rows"]:
        for members, value in _cells(rule, content.get("tables", {})):
            table = _filled(rule["table"], members)
            figure = None
            if "field" in rule:
                machine = hardware_of(known, _filled(rule["hardware"], members))
                figure = Figure(value, rule["unit"], machine)
            yield Row(
                id=f"{paper}/{table}/{_filled(rule['id'], members)}",
                paper=paper,
                table=str(table),
                what=_filled(rule["what"], members),
                bits=int(members["bits"]),
                figure=figure,
                per_unit=bool(rule.get("per_unit")),
                measures=tuple(_filled(rule["measures"], members)),
                note=_filled(rule.get("note", ""), members),
            )


def load(papers: Iterable[str] = PAPERS) -> list[Row]:
    """All rows, in the order of the papers.

    Raises:
        ValueError: if two rows have one id.

    >>> len({row.id for row in load()}) == len(load()) > 150
    True
    """
    known = hardware()
    rows = [row for paper in papers for row in _rows(paper, known)]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise ValueError(f"two rows are {row.id}")
        seen.add(row.id)
    return rows


def select(rows: Iterable[Row], wanted: Iterable[str]) -> list[Row]:
    """The rows whose id is one of `wanted`, begins with it, or matches it as a pattern; or all.

    Raises:
        KeyError: with the one that fits no row.

    >>> [row.id for row in select(load(["002"]), ["002/II/*/512"])]
    ['002/II/780ti_row32/512', '002/II/980ti_row32/512', '002/II/980ti_two_pass16/512']
    """
    rows, patterns = list(rows), list(wanted)

    def fits(row: Row, pattern: str) -> bool:
        return row.id == pattern or row.id.startswith(f"{pattern}/") or fnmatch.fnmatchcase(row.id, pattern)

    for pattern in patterns:
        if not any(fits(row, pattern) for row in rows):
            raise KeyError(pattern)
    return [row for row in rows if not patterns or any(fits(row, pattern) for pattern in patterns)]
