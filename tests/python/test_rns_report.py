# SPDX-License-Identifier: Apache-2.0
"""bench/cuda: the joined report of the technique rns, its tables, the figure, and ncu's counters."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> types.ModuleType:
    sys.path.insert(0, str(ROOT / "bench/cuda"))  # as if it were run
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


tables, rns_report, plot, profile_table = map(load, ("tables", "rns_report", "plot", "profile_table"))


def row(operation: str, bits: int, rate: float, moduli: str = "each", **members: Any) -> dict[str, Any]:
    """A row as device_kernels writes it; 100 multiprocessors at 1000 MHz."""
    base = {
        "operation": operation,
        "bits": bits,
        "technique": "rns",
        "form": "rns",
        "kernel": f"rns_{bits}" + ("_shared" if moduli == "shared" else ""),
        "threads_per_instance": 2,
        "digits_per_thread": bits // 64,
        "moduli": moduli,
        "instances": 1000,
        "blocks": 1,
        "occupancy": 1,
        "milliseconds": 1e6 / rate,
        "mhz": 1000.0,
        "per_second": rate,
        "clocks": 1e11 / rate,
        "pipe": "IMAD",
        "percent_of_limit": 60.4,
        "percent_of_pipes": {"IMAD": 60.4, "tensor": 35.6, "IMAD.WIDE and tensor": 71.2},
        "wrong": 0,
    }
    return base | members


def power(bits: int, rate: float, moduli: str, timing_class: str, window: int) -> dict[str, Any]:
    return row("power", bits, rate, moduli, timing_class=timing_class, window_bits=window)


def document(rows: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    base = {
        "card": "Card of Tests",
        "multiprocessors": 100,
        "mhz": 1000.0,
        "driver": "1.2",
        "cuda": "13.0",
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "0123abc",
        "wrong": 0,
        "failed": 0,
        "rows": rows,
    }
    return base | members


KERNELS = {
    1024: document(
        [
            row("mul", 1024, 5.0e9),
            row("sqr", 1024, 5.5e9),
            row("mul", 1024, 6.0e9, "shared"),
            row("sqr", 1024, 6.5e9, "shared"),
            power(1024, 4.0e6, "each", "public", 4),
            power(1024, 4.2e6, "each", "public", 5),
            power(1024, 3.5e6, "each", "secret", 4),
            power(1024, 5.0e6, "shared", "public", 5),
            row("batch", 1024, 2.0e6, waves=0.5, instances=500),
            row("batch", 1024, 4.0e6, waves=1.0, instances=1000),
        ]
    ),
    3072: document(
        [
            row("mul", 3072, 8.0e8, mhz=1400.0, matrix_bytes=2600.0, matrix_bytes_per_clock=20.8),
            row("sqr", 3072, 9.9e9, wrong=1, wrong_what="3 moduli are refused"),
        ],
        wrong=1,
    ),
}
PEER = {
    "runs": [
        {
            "operation": name,
            "bits": bits,
            "per_second": rate,
            "converts": converts,
            "repetitions": 7,
            "wrong": [],
        }
        for name, bits, rate, converts in (
            ("chain", 1024, 2.5e9, True),
            ("power", 1024, 2.0e6, True),
            ("power", 1024, 2.1e6, False),
        )
    ]
}
CHECK = {"items": 1500, "wanted": 2000, "differences": 0, "variant": "rns.cuda.t2", "gmp": "GMP 6.3.0"}


@pytest.fixture
def joined(tmp_path: Path) -> dict[str, Any]:
    """The report of widths of which one is missing, read again."""
    for bits, one in KERNELS.items():
        (tmp_path / f"kernels_{bits}.json").write_text(json.dumps(one))
    (tmp_path / "kernels_4096.json").write_text('{"card": "cut sh')
    (tmp_path / "peer.json").write_text(json.dumps(PEER))
    (tmp_path / "check.json").write_text(json.dumps(CHECK))
    path = tmp_path / "rns.json"
    rns_report.main([str(tmp_path), "--bits", "1024,3072,4096", "--json", str(path)])
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def cells(text: str, title: str) -> list[list[str]]:
    """Of the table after a heading."""
    lines = text.split(f"### {title}\n", 1)[1].splitlines()
    table = [
        line
        for line in lines[: next((i for i, a in enumerate(lines) if a[:1] == "#"), len(lines))]
        if "|" in line
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def rendered(report: dict[str, Any]) -> str:
    return str(tables.render(tables.Report(report), report["peer"], {}, "rns"))


def test_join_keeps_what_there_is(joined: dict[str, Any]) -> None:
    assert (joined["wrong"], joined["failed"], joined["mhz"]) == (1, 1, 1000.0)
    assert joined["peer"] == PEER
    assert joined["check"] == CHECK
    rows = KERNELS[1024]["rows"] + KERNELS[3072]["rows"]
    assert joined["rows"][:-1] == rows
    assert joined["rows"][-1]["what"] == "4096 bits"


def test_join_of_kernels_alone(tmp_path: Path) -> None:
    (tmp_path / "kernels_1024.json").write_text(json.dumps(KERNELS[1024]))
    report = rns_report.join(tmp_path, [1024])
    assert report["peer"] is None
    assert report["failed"] == 0
    assert "Results were not compared" in rendered(report)
    with pytest.raises(SystemExit, match="1"):
        rns_report.main([str(tmp_path), "--bits", "2048", "--json", str(tmp_path / "no.json")])
    assert not (tmp_path / "no.json").exists()


def test_multiplications(joined: dict[str, Any]) -> None:
    assert cells(rendered(joined), "Multiplications") == [
        ["1024", "each", "5,000", "5,500", "20", "60 %", "36 %", "71 %", "-", "2,500", "2.00x"],
        ["1024", "shared", "6,000", "6,500", "16.7", "60 %", "36 %", "71 %", "-", "2,500", "2.40x"],
        ["3072", "each", "800", "-", "125", "60 %", "36 %", "71 %", "20.8", "-", "-"],
    ]


def test_powers(joined: dict[str, Any]) -> None:
    pipes, peers = ["60 %", "36 %", "71 %", "-"], ["2,000", "2,100"]
    assert cells(rendered(joined), "Powers") == [
        ["1024", "each", "4,200 (5)", "3,500 (4)", *pipes, *peers, "2.10x, 2.00x", "1.75x, 1.67x"],
        ["1024", "shared", "5,000 (5)", "-", *pipes, *peers, "2.50x, 2.38x", "-, -"],
    ]


def test_batches(joined: dict[str, Any]) -> None:
    text = rendered(joined)
    assert cells(text, "Powers by batch, thousands a second, variable-time") == [
        ["1024", "each", "1000", "2,000", "4,000"]
    ]
    assert "| 0.5 waves | 1 waves |" in text


def test_trouble_and_check_are_said(joined: dict[str, Any]) -> None:
    text = rendered(joined)
    assert "**WRONG**: sqr, rns_3072, 3072 bits: 3 moduli are refused" in text
    assert "**FAILED**: 4096 bits: device_kernels left no report" in text
    assert "1,500 results (of 2,000 that were wanted) by rns.cuda.t2" in text
    assert "GMP 6.3.0: 0 differ" in text


def test_a_shared_modulus_is_no_rate_of_others(joined: dict[str, Any]) -> None:
    report = tables.Report(joined)
    assert report.rate("mul", bits=1024) == 5.0e9
    assert report.rate("mul", bits=1024, moduli="shared") == 6.0e9


def test_reports_of_one_card_together(joined: dict[str, Any]) -> None:
    other = document(
        [row("mul", 1024, 4.0e9, technique="row32", form="row32"), row("mul", 256, 6.0e10, technique="row32")]
    )
    del other["rows"][0]["moduli"]  # as reports from before it was said
    report = tables.Report(other, joined)
    assert report.best("mul", bits=1024)["technique"] == "rns"
    assert report.widths("mul") == [256, 1024, 3072]
    assert report.document["peer"] == PEER
    lines = str(tables.render(report, PEER, {}, "best")).splitlines()
    assert any(line.startswith("| 1024 | rns | 2x16 |") and "60 % of IMAD" in line for line in lines)


def test_series_of_the_figure(joined: dict[str, Any]) -> None:
    other = document([row("mul", 1024, 4.0e9, technique="row32"), row("mul", 64, 6.0e10, technique="row32")])
    report = tables.Report(other, joined)
    assert plot.series(report, tables.Peer(PEER), "mul", {}) == [
        ("row32", [(1024, 4.0e9)]),
        ("rns", [(1024, 5.0e9), (3072, 8.0e8)]),
        ("CGBN", [(1024, 2.5e9)]),
    ]


def test_rates_by_those_of_cgbn() -> None:
    found = [plot.Series("rns", [(512, 6.0), (1024, 3.0)]), plot.Series("CGBN", [(1024, 2.0), (2048, 1.0)])]
    assert plot.relative(found) == [("rns", [(1024, 1.5)]), ("CGBN", [(1024, 1.0), (2048, 1.0)])]
    assert plot.relative(found[:1]) == []


def test_figure(joined: dict[str, Any], tmp_path: Path) -> None:
    report, svg = tmp_path / "report.json", tmp_path / "images" / "figure.svg"
    report.write_text(json.dumps(joined))
    plot.main([str(report), "--svg", str(svg)])
    text = "".join(ET.parse(svg).getroot().itertext())
    for wanted in ("rns", "CGBN", "Card of Tests, 2026-01-02", "bits of the modulus"):
        assert wanted in text
    first = svg.read_bytes()
    plot.main([str(report), "--svg", str(svg)])
    assert svg.read_bytes() == first


def test_counters_of_ncu(tmp_path: Path) -> None:
    counters = {
        "ID": ("", "0", "1"),
        "Kernel Name": ("", "rns_1024(ProgramJob)", "rns_1024(ProgramJob)"),
        "gpu__time_duration.sum": ("usecond", "1,500.5", "1,400"),
        "launch__registers_per_thread": ("register/thread", "168", "168"),
        "sm__inst_executed.avg.per_cycle_active": ("inst/cycle", "1.43", "n/a"),
        "sm__inst_executed_pipe_fmaheavy.avg.pct_of_peak_sustained_active": ("%", "48.3", "50"),
        "sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active": ("%", "61.25", "60"),
        "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active": ("%", "0.1", "0"),
        "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": ("inst", "1.25", "1.5"),
        "smsp__average_warps_issue_stalled_wait_not_issued_per_issue_active.ratio": ("inst", "1.1", "1"),
    }
    lines = ["==PROF== Connected to process 7"]
    lines.append(",".join(f'"{name}"' for name in counters))
    lines += [",".join(f'"{values[i]}"' for values in counters.values()) for i in range(3)]
    path = tmp_path / "profile.csv"
    path.write_text("\n".join(lines) + "\n")
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in profile_table.render(path).splitlines()
    ]
    assert found[2:] == [
        [
            "rns_1024",
            "mul",
            "1.5",
            "1.43",
            "-",
            "168",
            "-",
            "-",
            "tensor_op_imma 61.2, fmaheavy 48.3",
            "wait 1.25",
        ],
        ["rns_1024", "sqr", "1.4", "-", "-", "168", "-", "-", "tensor_op_imma 60, fmaheavy 50", "wait 1.5"],
    ]


STUB_KERNELS = """#!{python}
import json, sys
options = sys.argv[1:]
bits = int(options[options.index("--bits") + 1])
if bits == 3072:
    sys.exit(1)
report = json.loads(open({report!r}).read())
json.dump(report, open(options[options.index("--json") + 1], "w"))
"""


def test_stage_continues_after_a_failure(tmp_path: Path) -> None:
    """`tools/gpu_run.py rns` with programs that imitate those of a GPU machine."""
    sample, program = tmp_path / "sample.json", tmp_path / "programs" / "device_kernels"
    sample.write_text(json.dumps(KERNELS[1024]))
    program.parent.mkdir()
    program.write_text(STUB_KERNELS.format(python=sys.executable, report=str(sample)))
    program.chmod(0o755)
    package = tmp_path / "programs/package/manymod/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("raise ImportError\n")
    environment = os.environ | {
        "GPU_PROGRAMS": str(program.parent),
        "GPU_WIDTHS": "3072,1024",
        "OUT": str(tmp_path / "out"),
        "CGBN_ROOT": str(tmp_path / "none"),
        "MANYMOD_COMMIT": "0123abc",
    }
    done = subprocess.run(
        [sys.executable, ROOT / "tools/gpu_run.py", "rns"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    (report,) = (tmp_path / "out").glob("rns_*.json")
    rows = json.loads(report.read_text())["rows"]
    assert [one["operation"] for one in rows] == [
        *(one["operation"] for one in KERNELS[1024]["rows"]),
        "failed",
    ]
    assert "CGBN: skipped" in done.stdout
    assert "results against GMP's: skipped" in done.stdout
    stage = json.loads((tmp_path / "out/gpu/rns.json").read_text())
    assert (stage["passed"], stage["timed_out"], stage["commit"]) == (False, False, "0123abc")
