# SPDX-License-Identifier: Apache-2.0
"""ALGORITHMS.md: every path in it exists, and every algorithm's folder has its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ALGORITHMS.md").read_text()
FOLDERS = "src|reference|tests|bench|python|include|docs|examples|tools"
PATHS = sorted(set(re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", TEXT)))
COLUMNS = ["algorithm", "source", "code", "backends", "oracle", "test", "bench"]


def algorithm_rows() -> list[dict[str, str]]:
    """Rows of the first table."""
    lines = [line for line in TEXT.splitlines() if line.startswith("|")]
    header = next(i for i, line in enumerate(lines) if "algorithm" in line)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[header:]]
    assert cells[0] == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[2:] if len(row) == len(COLUMNS)]


ROWS = algorithm_rows()


@pytest.mark.parametrize("path", PATHS)
def test_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("row", ROWS, ids=[row["algorithm"] for row in ROWS])
def test_row_is_complete(row: dict[str, str]) -> None:
    """A row names its code, oracle, test and bench."""
    assert row["source"]
    assert row["backends"]
    for column, folder in [
        ("code", "src/"),
        ("oracle", "reference/"),
        ("test", "tests/"),
        ("bench", "bench/"),
    ]:
        assert f"`{folder}" in row[column], f"{row['algorithm']} has no {column}"


def test_every_technique_and_every_generic_algorithm_has_a_row() -> None:
    code = " ".join(row["code"] for row in ROWS)
    techniques = [path for path in (ROOT / "src/modmul").iterdir() if path.is_dir()]
    headers = [path for folder in ("modexp", "modinv") for path in (ROOT / "src" / folder).glob("*.cpp")]
    assert techniques
    missing = [p.name for p in techniques if f"src/modmul/{p.name}" not in code]
    missing += [p.name for p in headers if str(p.relative_to(ROOT).with_suffix("")) not in code]
    assert missing == []
