# SPDX-License-Identifier: Apache-2.0
"""bench/cuda/tables.py, on a report made up here."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("device_tables", ROOT / "bench/cuda/tables.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = load()


def row(operation: str, bits: int, rate: float, technique: str = "row32", **members: Any) -> dict[str, Any]:
    """A row as device_kernels writes it; 100 multiprocessors at 1000 MHz."""
    words = members.pop("words", bits // 32)
    threads = members.pop("threads", 1)
    kernel = f"{technique.replace('.', '_')}_{threads}x{words // threads}"
    base = {
        "operation": operation,
        "bits": bits,
        "technique": technique.split(".")[0],
        "form": technique,
        "kernel": kernel,
        "threads_per_instance": threads,
        "digits_per_thread": words // threads,
        "words": words,
        "instances": 1000,
        "blocks": 3,
        "occupancy": 4,
        "milliseconds": 1e6 / rate,
        "mhz": 1000.0,
        "per_second": rate,
        "clocks": 1e11 / rate,
        "pipe": "IMAD.WIDE",
        "percent_of_limit": 75.4,
        "checked": 16,
        "compared": 0,
        "wrong": 0,
    }
    return base | members


def power(bits: int, rate: float, timing_class: str, window: int = 5, **members: Any) -> dict[str, Any]:
    return row("power", bits, rate, timing_class=timing_class, window_bits=window, **members)


ROWS = [
    row("mul", 256, 2.0e9),
    row("mul", 256, 3.0e9, technique="two_pass16"),
    row("mul", 256, 9.9e9, technique="dpf52", wrong=1, wrong_what="item 7 is not what the CPU computes"),
    row("sqr", 256, 4.0e9),
    row("mul", 160, 5.0e9, technique="fios.radix16_local"),
    row("mul", 160, 1.0e10, technique="fios.radix32_registers"),
    row("mul_1024", 160, 1.0e8, technique="fios.radix16_local"),
    {"operation": "cpu_mulmod", "bits": 160, "instances": 1024, "nanoseconds": 30.0},
    power(1024, 2.0e6, "secret", threads=4),
    power(1024, 2.5e6, "public", threads=4),
    power(1024, 1.0e6, "secret", technique="dpf52", threads=4),
    power(1024, 1.6e6, "secret", window=4, threads=4),
    row("latency", 1024, 1e5, milliseconds=3.0, instances=32, window_bits=5, threads=4),
    row("latency", 1024, 1e5, milliseconds=1.5, instances=32, window_bits=5, threads=8),
    row("sustained", 1024, 9.0e5, technique="dpf52", warm_up_runs=100, instances=19200, threads=4),
    {"operation": "failed", "what": "row32_32x8", "message": "out of memory"},
]
REPORT = {
    "card": "Card of Tests",
    "multiprocessors": 100,
    "mhz": 1000.0,
    "driver": "1.2",
    "cuda": "13.0",
    "rows": ROWS,
}
PEER = {
    "best": [
        {"operation": "chain", "bits": 256, "per_second": 1.5e9},
        {"operation": "power", "bits": 1024, "per_second": 1.0e6},
    ]
}


def rendered(part: str, instructions: dict[tuple[str, str], float] | None = None) -> str:
    return str(tables.render(REPORT, PEER, instructions or {}, part))


def section(text: str, title: str) -> list[list[str]]:
    """Cells of the first table after a heading that contains `title`."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("#") and title in line)
    first = next(i for i in range(start, len(lines)) if lines[i].startswith("|"))
    last = next((i for i in range(first, len(lines)) if not lines[i].startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first + 2 : last]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.123456, "0.123"),
        (999.0, "999"),
        (1500.0, "1.5 k"),
        (2.5e9, "2.5 G"),
        (999.9e3, "1000 k"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert tables.number(value) == text


def test_best_shape_leaves_out_what_is_wrong() -> None:
    cells = section(rendered("best"), "Montgomery multiplication")
    assert [line[:3] for line in cells] == [
        ["160", "fios.radix32_registers", "1x5"],
        ["256", "two_pass16", "1x8"],
    ]
    assert cells[1][3:] == ["3 of 4 blocks", "3 G", "33.3", "75 % of IMAD.WIDE", "30 k", "1.5 G", "2.00x"]
    assert cells[0][-2:] == ["-", "-"]


def test_wrong_and_failed_rows_come_first() -> None:
    text = rendered("summary")
    assert text.startswith("**WRONG**: mul, dpf52_1x8, 256 bits: item 7 is not what the CPU computes")
    assert "**FAILED**: row32_32x8: out of memory" in text.splitlines()


def test_scanning_is_compared_within_one_shape_and_window() -> None:
    cells = section(rendered("best"), "Time of secret powers")
    assert cells == [["1024", "row32", "4x8", "-", "1.25x"], ["1024", "dpf52", "4x8", "-", "-"]]


def test_latency_takes_the_least() -> None:
    cells = section(rendered("best"), "Milliseconds of a batch")
    assert cells == [["32", "3 (row32)", "1.5 (row32)", "1.5 (row32 8x4)"]]


def test_two_pass_tables() -> None:
    text = rendered("papers", {("two_pass16_1x8", "mul"): 3.25})
    assert section(text, "Table II: Performance of multiply")[-2:] == [
        ["Card of Tests", "row32", "-", "2 G", "-", "-"],
        ["Card of Tests", "two_pass16", "-", "3 G", "-", "-"],
    ]
    assert section(text, "Table IV")[1] == ["Card of Tests", "mul", "-", "3.25", "-", "-"]
    assert section(text, "Table V")[-1] == ["Card of Tests", "two_pass16", "-", "30 k", "-", "-"]
    assert "--profile" not in text
    assert "--profile" in rendered("papers")


def test_wide_sample_tables() -> None:
    text = rendered("papers")
    lines = section(text, "Table II: Performance for three sizes")
    assert lines[0] == ["GTX Titan Black", "1024", "2880", "1", "162 k", "17.8", "12.1"]
    assert lines[-1] == ["Card of Tests", "1024", "19200", "100", "900 k", "1.11", "9"]
    # 1e6 / (100 1000) 15 889
    assert section(text, "Table III: Performance comparison")[-2] == [
        "dpf52 here, by SM and MHz",
        "Card of Tests",
        "133 k",
        "-",
        "-",
    ]


def test_fios_tables() -> None:
    text = rendered("papers")
    lines = section(text, "Table 1: Modular addition")
    assert ["Card of Tests", "multiply, radix16, 64 blocks of 16 threads", "local", "10", *"----"] in lines
    assert ["Card of Tests", "multiply, radix16, full card", "local", "0.2", *"----"] in lines
    lines = section(text, "Table 2: The register version")
    assert ["radix32 here, full card, nanoseconds", "0.1", *"----"] in lines
    assert ["radix32 here, speedup", "300.00x", *"----"] in lines


def test_summary_with_and_without_peer() -> None:
    assert section(rendered("summary"), "Summary") == [
        ["1024", "-", "-", "2,000", "2,500", "row32 4x8", "1,000", "2.00x"]
    ]
    assert "CGBN" not in tables.render(REPORT, None, {}, "summary")


def test_profile_of_ncu(tmp_path: Path) -> None:
    name = tables.INSTRUCTIONS
    long = tmp_path / "details.csv"
    long.write_text(
        f'==PROF== Connected\n"ID","Kernel Name","Metric Name","Metric Value"\n'
        f'"0","two_pass16_1x4(ProgramJob)","{name}","3.10"\n'
        f'"0","two_pass16_1x4(ProgramJob)","other","9"\n'
        f'"1","two_pass16_1x4(ProgramJob)","{name}","2.90"\n'
    )
    expected = {("two_pass16_1x4", "mul"): 3.1, ("two_pass16_1x4", "sqr"): 2.9}
    assert tables.profiled(long) == expected
    raw = tmp_path / "raw.csv"
    raw.write_text(
        f'"ID","Kernel Name","{name}"\n"","","inst/cycle"\n'
        '"0","two_pass16_1x4","3.10"\n"1","two_pass16_1x4","2.90"\n'
    )
    assert tables.profiled(raw) == expected
    assert tables.profiled(None) == {}


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage, peer = tmp_path / "bench.json", tmp_path / "peer.json"
    stage.write_text(json.dumps({"stage": "bench", "results": {"device_kernels": REPORT}}))
    peer.write_text(json.dumps(PEER))
    tables.main([str(stage), "--peer", str(peer)])
    assert capsys.readouterr().out == rendered("all")
