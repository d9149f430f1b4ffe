# SPDX-License-Identifier: Apache-2.0
"""Each fuzzing harness in Python for some seconds (``MANYMOD_FUZZ_SECONDS``), on mutations of its seeds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.run import HARNESSES

ROOT = Path(__file__).resolve().parents[2]
SECONDS = os.environ.get("MANYMOD_FUZZ_SECONDS", "5")
#: The same inputs on every machine that is fast enough.
INPUTS = "20000"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``tests.fuzz.run`` in a folder of its own, where it leaves an input that fails."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.fuzz.run", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", HARNESSES)
def test_harness(name: str, tmp_path: Path) -> None:
    """No input fails, hangs or ends the process."""
    finished = run(name, "--seconds", SECONDS, "--inputs", INPUTS, folder=tmp_path)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "inputs, seed 1" in finished.stdout


def test_input_that_fails(tmp_path: Path) -> None:
    """An input that fails is left in a file, its number and the seed are printed, and the file repeats it."""
    broken = tmp_path / "sitecustomize.py"
    broken.write_text(
        "import manymod\n"
        "right = manymod.mulmod\n"
        "def wrong(*operands, **options):\n"
        "    answer = right(*operands, **options)\n"
        "    return [value + 1 for value in answer] if isinstance(answer, list) else answer\n"
        "manymod.mulmod = wrong\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tests.fuzz.run", "operands", "--seconds", "60"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    for given in ([], ["failed-operands"]):
        finished = subprocess.run(
            [*command, *given], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 1, finished.stdout
        assert "of seed 1 fails" in finished.stdout
        assert "AssertionError: mulmod(" in finished.stderr
        assert (tmp_path / "failed-operands").stat().st_size
