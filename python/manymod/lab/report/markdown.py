# SPDX-License-Identifier: Apache-2.0
"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manymod.lab.report.view import COLUMNS, command, head, sections, skipped

__all__ = ["render"]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def render(document: Mapping[str, Any]) -> str:
    """The text."""
    parts = ["# The papers' tables on this machine", ""]
    parts += [f"- {name}: {value}" for name, value in head(document).items() if value]
    parts += ["", f"A row alone: `{command('ROW')}`."]
    paper = ""
    for section in sections(document):
        if section.paper != paper:
            paper = section.paper
            parts += ["", f"## {section.paper}: {section.citation}"]
        parts += ["", f"### Table {section.table}: {section.title}".rstrip(": "), ""]
        columns = section.columns
        parts += [_row([COLUMNS[at][0] for at in columns])]
        parts += [_row(["---:" if COLUMNS[at][1] else "---" for at in columns])]
        parts += [_row([line.cells[at] for at in columns]) for line in section.lines]
        parts += [text for note in section.notes for text in ("", note)]
    if groups := skipped(document):
        parts += ["", "## Not measured"]
        for group in groups:
            parts += [
                "",
                f"- **{group.state}**: {group.why}",
                f"  ({len(group.rows)}: {', '.join(group.rows)})",
            ]
    return "\n".join(parts) + "\n"
