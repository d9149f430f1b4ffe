# SPDX-License-Identifier: Apache-2.0
"""Products of the OpenCL techniques' multipliers, kernels alone, against Python's integers.

The operands have digits at the edges of dpf52's bounds. Through PoCL where there is no GPU.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> list[dict[str, int | str]]:
    script = ROOT / "bench" / "opencl" / "kernel_products.py"
    command = [sys.executable, str(script), "--check", *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0 and "no device" in finished.stderr:
        pytest.skip(finished.stderr)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


@pytest.fixture(autouse=True)
def _loader() -> None:
    try:
        ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        pytest.skip("there is no OpenCL")


# A shape of each form: unrolled, with an operand in local memory, by tiles, and by a group of work-items.
@pytest.mark.parametrize("bits", ["128", "256", "768", "1024", "1536"])
def test_dpf52(bits: str) -> None:
    rows = run("--technique", "dpf52", "--bits", bits)
    assert len(rows) == (3 if bits == "1024" else 1)
    for row in rows:
        assert row.get("wrong") == 0, row


@pytest.mark.parametrize("technique", ["reduced_radix", "cios32"])
def test_other_techniques(technique: str) -> None:
    (row,) = run("--technique", technique, "--bits", "256")
    assert row.get("wrong") == 0, row
