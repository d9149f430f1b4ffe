# SPDX-License-Identifier: Apache-2.0
"""The C++ headers: a compiler that is set to an older C++ says first of all which one they need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).resolve().parents[2] / "include"


@pytest.mark.parametrize("header", sorted(path.name for path in (INCLUDE / "manymod").glob("*.hpp")))
def test_older_language_is_refused_by_name(tmp_path: Path, header: str) -> None:
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = tmp_path / "user.cpp"
    source.write_text(f'#include "manymod/{header}"\n', encoding="utf-8")
    command = [*compiler.split(), "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", str(source)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in finished.stderr.splitlines() if "error:" in line]
    assert "compile with -std=c++20" in errors[0]
