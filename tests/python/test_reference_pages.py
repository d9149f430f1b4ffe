# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference that list names by hand have all that is public."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import click
import pytest

from manymod.cli.main import LAZY, main

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES = {
    "manymod": "python.md",
    "manymod.ecc": "python-ecc.md",
    "manymod.frames": "python-frames.md",
    "manymod.ray": "python-ray.md",
    "manymod.rsa": "python-rsa.md",
    "manymod.tables": "python-tables.md",
}
#: Names that the pages of rsa and ecc leave to another page.
ELSEWHERE = {
    "InvalidKeyError": "python.md",
    "ItemError": "python.md",
    "ItemValueError": "python.md",
    "Prehashed": "python-rsa.md",
    "SignerClosedError": "python-rsa.md",
    "SignerFullError": "python-rsa.md",
    "SignerStatistics": "python-rsa.md",
}


def entries(page: str) -> set[str]:
    """The names that a page has entries of, and those that it has in backticks."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    directives = re.findall(r"^\.\. (?:auto\w+|py:data):: (\w+)$", text, re.MULTILINE)
    return {*directives, *re.findall(r"`(\w+)`", text)}


@pytest.mark.parametrize("module", PAGES)
def test_the_page_of_a_module_has_all_its_names(module: str) -> None:
    page = PAGES[module]
    names = {*importlib.import_module(module).__all__} - {"__version__"}
    missing = {name for name in names - entries(page) if name not in entries(ELSEWHERE.get(name, page))}
    assert missing == set()


def test_every_page_of_python_is_compared() -> None:
    assert {path.name for path in REFERENCE.glob("python*.md")} == {*PAGES.values()}


def test_the_page_of_the_command_line_has_all_commands() -> None:
    """Sphinx finds those that the group has when it is imported, and no others."""
    text = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. click:: manymod\.cli\S*:(\w+)$", text, re.MULTILINE))
    assert shown == {"main", *LAZY}
    assert {*main.list_commands(click.Context(main))} == {*main.commands, *LAZY}
