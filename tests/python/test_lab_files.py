# SPDX-License-Identifier: Apache-2.0
"""Files of `manymod lab` that are damaged, or that cannot be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.python.cli_support import run as run_cli

from manymod.lab.store import StoreError, read

REPORT = Path(__file__).parent / "vectors" / "lab_report.json"


def damaged(*where: str, value: Any = None, absent: bool = False) -> dict[str, Any]:
    """The stored report with one member changed, or without it; `*` is the first measured row."""
    report = read(REPORT)
    first = next(name for name, entry in report["rows"].items() if entry["state"] == "measured")
    *path, last = (first if name == "*" else name for name in where)
    found: Any = report
    for name in path:
        found = found[name]
    if absent:
        del found[last]
    else:
        found[last] = value
    return report


@pytest.mark.parametrize(
    "report",
    [
        damaged("machine", absent=True),
        damaged("machine", "cpu", absent=True),
        damaged("machine", "gpu"),
        damaged("rows", absent=True),
        damaged("rows", value=[1]),
        damaged("rows", "*", value=5),
        damaged("rows", "*", "state", value="odd"),
        damaged("rows", "*", "row", absent=True),
        damaged("rows", "*", "row", "figure", value={"unit": "furlongs"}),
        damaged("rows", "*", "measurement", absent=True),
        damaged("rows", "*", "measurement", "value", value=0),
        damaged("rows", "*", "measurement", "value", value="many"),
        damaged("rows", "*", "measurement", "value", value=float("nan")),
        damaged("rows", "*", "measurement", "samples", value=[]),
    ],
)
def test_damaged_reports_are_refused_in_one_line(report: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report))
    for command in (("render", path), ("compare", REPORT, path)):
        refused = run_cli("lab", *command)
        assert refused.code == 1
        assert f"{path} is damaged: " in refused.err.replace("\n", "")


def test_a_report_nested_too_deep_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("[" * 100_000)
    with pytest.raises(StoreError, match=r"r\.json: "):
        read(path)


@pytest.mark.parametrize("ending", ["json", "html", "md"])
def test_what_cannot_be_written_is_refused_before_measuring(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"r.{ending}").mkdir()
    refused = run_cli("lab", "-o", tmp_path / "r", "--only", "001/3/cpu", "--quick", "1")
    assert (refused.code, "is a directory" in refused.err) == (1, True)
    assert "001/3/cpu" not in refused.err
    for name in (".", "/"):
        refused = run_cli("lab", "-o", name, "--only", "001/3/cpu", "--quick", "1")
        assert (refused.code, "has no name of a file" in refused.err) == (2, True)


def test_outputs_that_are_to_be_read_are_refused(tmp_path: Path) -> None:
    before = REPORT.read_text()
    first, second, page = (tmp_path / name for name in ("a.json", "b.json", "page.html"))
    for path in (first, second, page):
        path.write_text(before)
    link = tmp_path / "link"
    link.symlink_to(second)
    measure = ("--only", "001/3/cpu", "--quick", "1")
    for command, name in (
        (("compare", first, second, "-o", first), "OUT is FIRST"),
        (("compare", first, second, "-o", link), "OUT is SECOND"),
        (("render", page), "page.html is REPORT"),
        (("-o", tmp_path / "a", *measure, "--report", f"cgbn={first}"), "a.json is --report cgbn"),
    ):
        refused = run_cli("lab", *command)
        assert refused.code == 2
        assert f"{name}: write to another file" in " ".join(refused.err.split())
    assert {path.read_text() for path in (first, second, page)} == {before}
    nowhere = run_cli("lab", "compare", first, second, "-o", tmp_path / "nosuch" / "c.md")
    assert (nowhere.code, "nosuch is not a directory" in nowhere.err) == (2, True)


@pytest.mark.parametrize("command", ["render", "compare"])
def test_a_full_disk_names_the_file(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "r.json"
    report.write_text(REPORT.read_text())

    def full(*_arguments: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    out = {"render": tmp_path / "r.html", "compare": tmp_path / "c.md"}[command]
    arguments = () if command == "render" else (REPORT, "-o", out)
    failed = run_cli("lab", command, report, *arguments)
    assert (failed.code, failed.err) == (1, f"manymod: {out}: No space left on device\n")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
