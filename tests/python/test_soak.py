# SPDX-License-Identifier: Apache-2.0
"""The soak test of the package for ``MANYMOD_SOAK_SECONDS``; ``make soak`` runs it for longer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = os.environ.get("MANYMOD_SOAK_SECONDS", "10")
#: Names the library that lets allocations fail; `make test` builds it where it is looked for by default.
LIBRARY_VARIABLE = "MANYMOD_FAILING_ALLOCATIONS"


@pytest.mark.timeout(600)
def test_soak() -> None:
    """Answers are right, failures the documented ones, and memory, descriptors and threads do not grow."""
    given = os.environ.get(LIBRARY_VARIABLE)
    library = Path(given or ROOT / "build" / "release" / "libmanymod_failing_allocations.so")
    if not library.exists() and given is None:
        pytest.skip(f"no {library}: make test-python builds it, or set {LIBRARY_VARIABLE}")
    program = [sys.executable, str(ROOT / "tests/soak/soak.py")]
    finished = subprocess.run(
        [*program, "--seconds", SECONDS, "--allocations", str(library)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    failed = re.search(r" (\d+) failed allocations, seed", finished.stdout)
    assert failed is not None
    assert int(failed[1])
