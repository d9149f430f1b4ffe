# SPDX-License-Identifier: Apache-2.0
"""The measurements run, on next to nothing, and their reports are complete."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import blind_rsa.bench
import log_audit.bench
import paillier.bench
import pairwise

BENCHES: dict[str, Callable[[Path], None]] = {
    "blind_rsa": lambda path: blind_rsa.bench.bench(1024, 2, path),
    "log_audit": lambda path: log_audit.bench.bench(40, path),
    "paillier": lambda path: paillier.bench.bench(1024, 2, path),
}


@pytest.mark.parametrize("name", list(BENCHES))
def test_a_bench(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "ROUND_SECONDS", 0)
    monkeypatch.setattr(pairwise, "pin_to_one_cpu", lambda: None)
    BENCHES[name](tmp_path / "report")
    report = json.loads((tmp_path / "report").read_text())
    published = json.loads(
        (Path(__file__).parents[1] / f"bench/results/app_{name}_zen4.json").read_text(encoding="utf-8")
    )
    assert report.keys() == published.keys()
    assert [row["what"] for row in report["results"]] == [row["what"] for row in published["results"]]
    assert all(row["rate"] > 0 for row in report["results"])
