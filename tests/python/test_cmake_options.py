# SPDX-License-Identifier: Apache-2.0
"""Configuring with CMake: what cannot be built although it is ON stops it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-DMANYMOD_RSA=OFF", "-DMANYMOD_BUILD_DAEMON=ON"], "DAEMON is ON, but manymod-signd needs"),
        (["-DMANYMOD_BUILD_PROVIDER=ON"], "PROVIDER is ON, but the OpenSSL provider needs"),
        (["-DMANYMOD_RSA=OFF", "-DMANYMOD_BUILD_FUZZERS=ON"], "FUZZERS is ON, but the fuzzing programs need"),
        (["-DMANYMOD_RSA=OFF"], ""),
    ],
)
def test_what_is_on_is_built_or_refused(tmp_path: Path, options: list[str], said: str) -> None:
    general = ["-DMANYMOD_CUDA=OFF", "-DMANYMOD_BUILD_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    finished = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, *general, *options], capture_output=True, text=True, check=False
    )
    assert said in " ".join(finished.stderr.split())
    assert (finished.returncode != 0) is bool(said), finished.stderr
