# SPDX-License-Identifier: Apache-2.0
"""The Makefile refuses what it cannot do, and shares build folders with the CMake presets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def dry_run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Copy the Makefile to `folder` and let make say what it would do."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "Makefile", folder)
    command = ["make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def interpreter(path: Path, version: str) -> None:
    """Make a program that answers as an interpreter of this version does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    interpreter(tmp_path / "clone/.venv/bin/python", "/usr 3.11")
    interpreter(tmp_path / "same", "/usr 3.11")
    interpreter(tmp_path / "other", "/usr 3.12")
    return tmp_path / "clone"


def test_another_interpreter_than_that_of_the_venv_is_refused(clone: Path) -> None:
    for program in ("other", "missing"):
        refused = dry_run(clone, f"PYTHON={clone.parent / program}", "lint-python")
        assert refused.returncode != 0
        assert "make clean" in refused.stderr
    for arguments in (
        ["PYTHON=../same", "lint-python"],
        ["PYTHON=../other", "clean"],
        ["PYTHON=../other", "wheels"],
    ):
        assert "another interpreter" not in dry_run(clone, *arguments).stderr


def test_folders_with_a_space_are_refused(tmp_path: Path) -> None:
    refused = dry_run(tmp_path / "my clone", "help")
    assert refused.returncode != 0
    assert "whose path has a space" in refused.stderr


def test_presets_use_the_generator_of_the_makefile() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    base = next(preset for preset in presets if preset["name"] == "base")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^export CMAKE_GENERATOR \?= (\w+)$", makefile, re.MULTILINE) == [base["generator"]]
    assert all(preset["name"] == "base" or preset["inherits"] == "base" for preset in presets)
