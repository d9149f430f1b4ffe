# SPDX-License-Identifier: Apache-2.0
"""A report as one page that needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from manymod.lab.report.plots import plots
from manymod.lab.report.view import COLUMNS, Line, Section, command, head, sections, skipped

__all__ = ["page", "render", "table"]

_CLASSES = {1: " what", 2: " figure", 10: " ran"}
_RATIOS = (6, 7)


def _asset(name: str) -> str:
    return resources.files("manymod.lab.report").joinpath(name).read_text(encoding="utf-8").strip()


def _cell(column: int, is_number: bool, text: str, key: float | None) -> str:
    kinds = ("number" if is_number else "") + _CLASSES.get(column, "")
    if column in _RATIOS and key is not None:
        kinds += " better" if key >= 1 else " worse"
    attributes = f' class="{kinds.strip()}"' if kinds.strip() else ""
    if key is not None:
        attributes += f' data-key="{key!r}"'
    return f"<td{attributes}>{text}</td>"


def _name(row: str) -> str:
    return f'<button type="button" title="{escape(command(row))}">{escape(row)}</button>'


def table(columns: Sequence[tuple[str, bool]], rows: Iterable[str]) -> str:
    """A table with headings to sort it by; `rows` are `tr` elements."""
    headings = "".join(
        f'<th class="{"number" if is_number else "text"}" scope="col">'
        f'<button type="button">{escape(name)}</button></th>'
        for name, is_number in columns
    )
    body = "\n".join(rows)
    content = f"<thead><tr>{headings}</tr></thead><tbody>\n{body}\n</tbody>"
    return f'<div class="scroll"><table>{content}</table></div>'


def _line(line: Line, columns: Sequence[int]) -> str:
    cells = [
        _cell(at, COLUMNS[at][1], _name(line.id) if at == 0 else escape(line.cells[at]), line.keys[at])
        for at in columns
    ]
    return f'<tr id="{escape(line.id)}">{"".join(cells)}</tr>'


def _section(section: Section, first: bool) -> str:
    parts = []
    if first:
        parts.append(f'<h2 id="paper-{section.paper}">{escape(_title(section))}</h2>')
        parts.append(f'<p class="cite">{escape(section.citation)}</p>')
    title = f"Table {section.table}" + (f": {section.title}" if section.title else "")
    parts.append(f"<h3>{escape(title)}</h3>")
    columns = section.columns
    rows = [_line(line, columns) for line in section.lines]
    parts.append(table([COLUMNS[at] for at in columns], rows))
    if section.notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in section.notes)
        parts.append(f'<ul class="notes">{items}</ul>')
    return "\n".join(parts)


def _title(section: Section) -> str:
    return f"Paper {section.paper}" if section.paper.isdigit() else section.paper.capitalize()


def _skipped(document: Mapping[str, Any]) -> str:
    groups = skipped(document)
    if not groups:
        return ""
    items = []
    for group in groups:
        names = ", ".join(group.rows)
        items.append(
            f'<li class="{group.state.split()[0]}"><strong>{group.state}</strong>: {escape(group.why)}'
            f"<details><summary>{len(group.rows)} rows</summary><code>{escape(names)}</code></details></li>"
        )
    return f'<section id="skipped"><h2>Not measured</h2><ul>{"".join(items)}</ul></section>'


def page(values: Mapping[str, str]) -> str:
    """The page with its style and script, and `values` for the names between percent signs."""
    known = {"style": _asset("page.css"), "script": _asset("page.js"), **values}
    # One pass: what is filled in may have percent signs of its own.
    return re.sub(r"%(\w+)%", lambda found: known[found[1]], _asset("page.html")) + "\n"


def render(document: Mapping[str, Any]) -> str:
    """The page."""
    shown = list(sections(document))
    first: dict[str, Section] = {}
    for section in shown:
        first.setdefault(section.paper, section)
    contents = [f'<a href="#paper-{name}">{escape(_title(section))}</a>' for name, section in first.items()]
    facts = "\n".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in head(document).items() if value
    )
    data = json.dumps({"plots": plots(document)}).replace("</", "<\\/")
    return page(
        {
            "title": "The papers' tables on this machine",
            "facts": facts,
            "command": escape(command("ROW")),
            "contents": "".join([*contents, '<a href="#skipped">Not measured</a>']),
            "sections": "\n".join(_section(section, section is first[section.paper]) for section in shown),
            "skipped": _skipped(document),
            "data": data,
        }
    )
