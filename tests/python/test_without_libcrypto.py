# SPDX-License-Identifier: Apache-2.0
"""Builds without libcrypto: what stands in for RSA and curves compiles, tests that need them are left out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/cpp"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
#: Inner parts of RSA and curves, and the functions of their C interfaces.
NEEDS_LIBCRYPTO = re.compile(r'^#include "(crypto|ecc|rsa)/|\bmm_(ecc|rsa)_\w+\(', re.MULTILINE)
#: Folders with programs of their own: they are built from chosen sources, or not without libcrypto.
OWN_PROGRAMS = {"msan", "privileged", "provider"}


def test_stand_ins_compile_in_one_unit(tmp_path: Path) -> None:
    """As in a unity build, which includes both in one source."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    unit = tmp_path / "unit.cpp"
    unit.write_text("".join(f'#include "{ROOT}/src/{layer}/missing.cpp"\n' for layer in ("ecc", "rsa")))
    command = [
        *compiler.split(),
        "-std=c++20",
        "-fsyntax-only",
        f"-I{ROOT}/include",
        f"-I{ROOT}/src",
        str(unit),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def left_out() -> re.Pattern[str]:
    """Return which tests a build without libcrypto leaves out, as CMake is told."""
    text = (ROOT / "cmake/ManymodTests.cmake").read_text(encoding="utf-8")
    found = re.search(
        r'NOT manymod_libcrypto\)\s+list\(FILTER test_sources EXCLUDE REGEX\s+"([^"]+)"\)', text
    )
    assert found
    return re.compile(found[1])


def with_its_headers(source: Path) -> str:
    """Return the text of a test and of the headers below tests/cpp that it includes."""
    seen: dict[Path, str] = {}
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in seen and path.exists():
            seen[path] = path.read_text(encoding="utf-8")
            waiting += [TESTS / name for name in INCLUDE.findall(seen[path])]
    return "".join(seen.values())


def test_what_needs_libcrypto_is_left_out() -> None:
    pattern = left_out()
    kept = [
        source
        for source in TESTS.rglob("*.cpp")
        if source.relative_to(TESTS).parts[0] not in OWN_PROGRAMS
        and "fake_cuda" not in source.parts
        and not pattern.search(source.relative_to(ROOT).as_posix())
    ]
    assert len(kept) > 100
    assert [str(source) for source in kept if NEEDS_LIBCRYPTO.search(with_its_headers(source))] == []
