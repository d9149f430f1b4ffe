# SPDX-License-Identifier: Apache-2.0
"""`bench/rsa_verify_bench.py` on the processor: one row for each key's length, number of items and kind."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench/rsa_verify_bench.py"


def test_a_table_by_bits_and_items(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    report = tmp_path / "report.json"
    table = ["--bits", "1024", "2048", "--items", "1", "40", "--operands", "arrays, messages"]
    options = ["--device", "cpu", "--runs", "1", "--json", str(report)]
    finished = subprocess.run(
        [sys.executable, SCRIPT, *table, *options], capture_output=True, text=True, timeout=240, check=False
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(report.read_text(encoding="utf-8"))["rows"]
    wanted = list(itertools.product([1024, 2048], [1, 40], ["arrays, messages"]))
    assert [(row["bits"], row["items"], row["operands"]) for row in found] == wanted
    assert len(finished.stdout.splitlines()) == len(wanted)
