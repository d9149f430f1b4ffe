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
        parts += [_row([name for name, _ in COLUMNS])]
        parts += [_row(["---:" if is_number else "---" for _, is_number in COLUMNS])]
        parts += [_row(line.cells) for line in section.lines]
        notes = dict.fromkeys(line.note for line in section.lines if line.note)
        parts += [text for note in notes for text in ("", note)]
    if groups := skipped(document):
        parts += ["", "## Not measured"]
        for group in groups:
            parts += [
                "",
                f"- **{group.state}**: {group.why}",
                f"  ({len(group.rows)}: {', '.join(group.rows)})",
            ]
    return "\n".join(parts) + "\n"
