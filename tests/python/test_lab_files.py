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


#: What reports of programs tell of their origin.
ORIGIN = {"card": "a card", "multiprocessors": 1, "driver": "1", "date": "today", "commit": "abc"}
#: A row of the lab, the program that measures it, and the row of that one's report.
KERNEL = (
    "001/3/E/largest",
    "rns_figure3",
    {"form": "pairs", "specialised": True, "exponentiation": "binary", "instances": 47104}
    | {"kernel": "k", "per_second": 5.0},
)
PRODUCT = (
    "003/1/mul/local/160",
    "device_kernels",
    {"operation": "mul_1024", "form": "fios.radix32_local", "bits": 160, "kernel": "k", "per_second": 5},
)
POINT = (
    "003/3/add/local/160",
    "paper003",
    {"operation": "add", "form": "radix32_local", "launch": "paper", "bits": 160, "a_is_minus_three": True}
    | {"per_second": 5.0},
)
CGBN = ("peer/powmod/cgbn/256", "cgbn", {"operation": "power", "bits": 256, "wrong": [], "per_second": 5})
GECC = (
    "peer/SM2/gecc/256",
    "gecc",
    {"library": "gecc", "operation": "multiply", "scope": "kernels", "right": True}
    | {"per_second": 5, "items": 8, "shape": "a grid"},
)


def measured_from(
    folder: Path, row: str, program: str, rows: list[dict[str, Any]], **origin: Any
) -> dict[str, Any]:
    """What `manymod lab` keeps of one of its rows by a report of a program, in a file that it can read."""
    report, out = folder / "report.json", folder / "lab"
    report.write_text(json.dumps({**ORIGIN, **origin, "rows": rows, "best": rows}))
    command = ("--device", "cuda", "--report", f"{program}={report}", "--only", row, "--quick", "1")
    finished = run_cli("lab", "-o", out, *command)
    entry: dict[str, Any] = read(out.with_suffix(".json"))["rows"][row]
    assert finished.code == (0 if entry["state"] == "measured" else 1)
    return entry


@pytest.mark.parametrize("what", [KERNEL, PRODUCT, POINT, CGBN, GECC])
def test_rows_of_programs_have_their_rates(what: tuple[str, str, dict[str, Any]], tmp_path: Path) -> None:
    row, program, found = what
    entry = measured_from(tmp_path, row, program, [{**found, "per_second": 4}, found])
    assert (entry["state"], entry["measurement"]["rate"]) == ("measured", 5)


@pytest.mark.parametrize("what", [KERNEL, POINT, CGBN, GECC])
@pytest.mark.parametrize(
    "rate", ["x", None, 0, -1, True, [5], float("nan"), float("inf"), pytest.param(10**400, id="huge")]
)
def test_a_row_without_a_rate_fails(rate: Any, what: tuple[str, str, dict[str, Any]], tmp_path: Path) -> None:
    row, program, found = what
    entry = measured_from(tmp_path, row, program, [found, {**found, "per_second": rate}])
    assert (entry["state"], entry["why"]) == (
        "failed",
        f"RowError: a row of {program} has no proper 'per_second'",
    )


@pytest.mark.parametrize(
    ("what", "name"),
    [(KERNEL, "kernel"), (KERNEL, "per_second"), (PRODUCT, "kernel"), (GECC, "shape")],
)
def test_a_row_that_lacks_a_member_fails(
    what: tuple[str, str, dict[str, Any]], name: str, tmp_path: Path
) -> None:
    row, program, found = what
    del (lacking := dict(found))[name]
    entry = measured_from(tmp_path, row, program, [lacking])
    assert (entry["state"], entry["why"]) == (
        "failed",
        f"RowError: a row of {program} has no proper {name!r}",
    )


@pytest.mark.parametrize(
    ("member", "changed", "origin"),
    [
        ("mhz", {"mhz": "fast"}, {}),
        ("units", {}, {"multiprocessors": "all"}),
        ("commit", {}, {"commit": 7}),
        ("value", {"per_second": 5e-324}, {}),  # in milliseconds it is no number
    ],
)
def test_no_report_is_written_that_would_be_refused(
    member: str, changed: dict[str, Any], origin: dict[str, Any], tmp_path: Path
) -> None:
    row, program, found = KERNEL
    entry = measured_from(tmp_path, row, program, [{**found, **changed}], **origin)
    assert entry["state"] == "failed"
    assert entry["why"].endswith(f"the measurement of row {row} has no proper {member!r}")


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
