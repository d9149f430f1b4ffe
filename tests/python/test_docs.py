# SPDX-License-Identifier: Apache-2.0
"""The documents against the code: examples run, links resolve, what they list is what there is."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_examples_run(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, optionflags=DOCTEST_OPTIONS)
    assert results.failed == 0


def test_the_python_guide_has_examples() -> None:
    """Guards the test above: a guide without a recognised example would pass it."""
    examples = doctest.DocTestParser().get_examples((ROOT / "docs/python.md").read_text())
    assert len(examples) > 20


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_the_c_guide_shows_the_tested_example() -> None:
    """ctest compiles and runs examples/item_status.c; the guide shows the same text."""
    guide = (ROOT / "docs/c-api.md").read_text()
    assert f"```c\n{(ROOT / 'examples/item_status.c').read_text()}```" in guide


def test_the_environment_page_lists_every_variable() -> None:
    """Every MANYMOD_* variable that code or tests read is on the page, and no other."""
    reading = re.compile(r"(?:getenv\(|environ(?:\.get)?[(\[])\s*\"(MANYMOD_\w+)\"")
    sources = [
        path
        for folder in ("src", "python", "tests", "bench", "examples", "reference", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".hpp", ".c", ".py"} and path.is_file()
    ]
    read = {name for path in sources for name in reading.findall(path.read_text())}
    page = (ROOT / "docs/environment.md").read_text()
    assert read == set(re.findall(r"^\| `(MANYMOD_\w+)`", page, re.MULTILINE))


def commands_of(group: click.Group) -> Iterator[click.Command]:
    """The commands of a group and of the groups in it."""
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from commands_of(command)


def test_the_command_line_guide_names_commands_and_options_that_exist() -> None:
    from manymod.cli import main

    guide = (ROOT / "docs/cli.md").read_text()
    options = {
        option
        for command in commands_of(main)
        for parameter in command.params
        for option in [*parameter.opts, *parameter.secondary_opts]
    }
    assert set(re.findall(r"^manymod (\w+)", guide, re.MULTILINE)) <= set(main.commands)
    assert set(re.findall(r"--[a-z][\w-]*", guide)) <= options | {"--help"}
    assert {"powmod", "info", "selftest", "bench", "rsa"} <= set(main.commands)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_of_the_c_interface_are_declared(page: Path) -> None:
    """Names of the C ABI that a page mentions are declared in its headers."""
    header = "".join((ROOT / f"include/manymod/{name}.h").read_text() for name in ("manymod", "rsa"))
    mentioned = set(re.findall(r"\b(?:mm_\w+|MM_\w+)\b", page.read_text()))
    mentioned -= {"mm_", "MM_", "MM_ITEM_", "MM_ERR_"}
    assert {name for name in mentioned if not re.search(rf"\b{name}\b", header)} == set()
