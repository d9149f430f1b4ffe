# SPDX-License-Identifier: Apache-2.0
"""The installed package: version, typing marker, shipped headers, and the set-up tool of the Makefile."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import re
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import manymod

ROOT = Path(__file__).resolve().parents[2]


def header_version(text: str) -> str:
    return ".".join(re.findall(r"#define MM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def test_one_version_everywhere() -> None:
    version = header_version((ROOT / "include/manymod/manymod.h").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert importlib.metadata.version("manymod") == version
    assert manymod.__version__ == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_wheel_ships_types_and_headers() -> None:
    package = importlib.resources.files("manymod")
    assert (package / "py.typed").is_file()
    shipped = (package / "include" / "manymod" / "manymod.h").read_text(encoding="utf-8")
    assert shipped == (ROOT / "include/manymod/manymod.h").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def requirements() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools/requirements.py"))


def due_here(requirements: Iterable[str], extra: str) -> list[str]:
    """Return what of `requirements` this machine needs for `extra`, without the conditions."""
    parsed = [Requirement(requirement) for requirement in requirements]
    due = [one for one in parsed if one.marker is None or one.marker.evaluate({"extra": extra})]
    return sorted(f"{one.name}{one.specifier}" for one in due)


@pytest.mark.parametrize("extra", ["rsa", "demo", "test", "lint"])
def test_requirements_tool_agrees_with_the_metadata(requirements: dict[str, Any], extra: str) -> None:
    listed = requirements["requirements"](extra, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert due_here(importlib.metadata.requires("manymod") or [], extra) == due_here(listed, extra)


def test_requirements_tool_refuses_an_unknown_purpose(requirements: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match="nothing"):
        requirements["requirements"]("nothing", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
