# SPDX-License-Identifier: Apache-2.0
"""bench/cuda/tables.py, on a report made up here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    sys.path.insert(0, str(ROOT / "bench/cuda"))  # as if it were run
    spec = importlib.util.spec_from_file_location("device_tables", ROOT / "bench/cuda/tables.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
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
    row("add", 160, 2.0e10, technique="fios.radix32_registers"),
    row("sub", 160, 1.0e10, technique="fios.radix32_registers"),
    row("add_1024", 160, 1.0e9, technique="fios.radix16_shared"),
    {"operation": "cpu_addmod", "bits": 160, "instances": 1024, "nanoseconds": 4.0},
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
    "date": "2026-01-02T03:04:05+00:00",
    "commit": "0123abc",
    "rows": ROWS,
}


def peer_run(operation: str, bits: int, rate: float, converts: bool = True, **members: Any) -> dict[str, Any]:
    """A run as bench/cuda/peers/run.py reports it."""
    base = {
        "operation": operation,
        "bits": bits,
        "per_second": rate,
        "converts": converts,
        "repetitions": 7,
        "wrong": [],
    }
    return base | members


PEER = {
    "runs": [
        peer_run("chain", 256, 1.5e9),
        peer_run("chain", 256, 7.7e9, wrong=["no answers"]),
        peer_run("power", 1024, 0.8e6),
        peer_run("power", 1024, 0.9e6, repetitions=1),
        peer_run("power", 1024, 1.0e6, converts=False),
    ]
}


def call(operation: str, bits: int, rate: float, **members: Any) -> dict[str, Any]:
    """A row as end_to_end writes it."""
    base = {
        "operation": operation,
        "timing_class": "public",
        "bits": bits,
        "exponents": "each" if operation == "powmod" else "",
        "arrays": "host",
        "results": "kept",
        "device": "cuda",
        "kind": "large",
        "variant": "row32.cuda.t4",
        "items": 500000,
        "seconds": 500000 / rate,
        "items_per_second": rate,
        "bytes_per_second": 512 * rate,
        "checked": 16,
        "wrong": 0,
    }
    return base | members


CALLS = {
    "card": "Card of Tests",
    "driver": "1.2",
    "cuda": "13.0",
    "processor": "Processor of Tests",
    "processors": 16,
    "device": "cuda",
    "method": "made up",
    "resident_obstacle": "",
    "rows": [
        call("powmod", 1024, 2.0e6),
        call("powmod", 1024, 1.0e5, device="cpu"),
        call("powmod", 1024, 1.9e6, results="fresh"),
        call("powmod", 1024, 2.4e6, arrays="device"),
        call("powmod", 1024, 9.9e6, timing_class="secret", wrong=1, wrong_what="item 3 is not right"),
        call("powmod", 1024, 8.0e6, exponents="65537"),
        call("mulmod", 256, 5.0e7),
        call("powmod", 1024, 5.0e4, kind="batch", items=128, seconds=0.0025, timing_class="secret"),
        call(
            "powmod", 1024, 2.5e4, kind="batch", items=128, seconds=0.005, timing_class="secret", device="cpu"
        ),
        {"operation": "sqrmod", "bits": 256, "kind": "failed", "message": "no such device"},
    ],
}


def rendered(part: str, instructions: dict[tuple[str, str], float] | None = None) -> str:
    return str(tables.render(tables.Report(REPORT), PEER, instructions or {}, part))


def with_calls(part: str) -> str:
    return str(tables.render(tables.Report(REPORT), PEER, {}, part, CALLS))


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
    limits = ["3 of 4 blocks", "3 G", "33.3", "75 % of IMAD.WIDE", "30 k"]
    assert cells[1][3:] == [*limits, "1.5 G", "1.5 G", "2.00x, 2.00x"]
    assert cells[0][-3:] == ["-", "-", "-, -"]


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
    assert ["Card of Tests", "add, radix32, full card", "registers", "0.05", *"----"] in lines
    assert ["Card of Tests", "subtract, radix32, full card", "registers", "0.1", *"----"] in lines
    assert ["Card of Tests", "add, radix16, 64 blocks of 16 threads", "shared", "1", *"----"] in lines
    lines = section(text, "Table 2: The register version")
    assert ["mul, radix32 here, full card, nanoseconds", "0.1", *"----"] in lines
    assert ["mul, radix32 here, speedup", "300.00x", *"----"] in lines
    assert ["addmod of this library on one thread, nanoseconds", "4", *"----"] in lines
    assert ["add, radix32 here, speedup", "80.00x", *"----"] in lines


def test_summary_has_both_kinds_of_peer() -> None:
    powers = ["1024", "-", "-", "-", "2,500", "2,000"]
    assert section(rendered("summary"), "Summary") == [
        [*powers, "800", "1,000", "3.12x, 2.50x; 2.50x, 2.00x"],
    ]
    assert "CGBN" not in tables.render(tables.Report(REPORT), None, {}, "summary")
    assert section(with_calls("summary"), "Summary")[0][:8] == [*powers, "2,000 (80 %)", "-"]


def test_calls_beside_kernels_and_processor() -> None:
    text = with_calls("end_to_end")
    powers = section(text, "Powers, large batches")
    assert powers == [
        [
            *("1024", "powmod public", "500,000", "row32.cuda.t4", "2 M", "80 %", "1.02"),
            *("1.9 M", "2.4 M", "96 %", "1.23", "100 k", "20.00x"),
        ],
        [
            *("1024", "powmod public, e = 65537", "500,000", "row32.cuda.t4", "8 M", "-", "4.1"),
            *("-", "-", "-", "-", "-", "-"),
        ],
    ]
    assert section(text, "Products, large batches")[0][:5] == [
        *("256", "mulmod", "500,000", "row32.cuda.t4", "50 M"),
    ]
    assert section(text, "batch of secret powers") == [["128", "2.5", "5", "row32.cuda.t4"]]
    assert "--end-to-end" in rendered("end_to_end")


def test_calls_that_are_wrong_or_failed_are_said() -> None:
    lines = with_calls("readme").splitlines()
    assert "**WRONG**: powmod, row32.cuda.t4, 1024 bits: item 3 is not right" in lines
    assert "**FAILED**: sqrmod: no such device" in lines


def test_readme_table() -> None:
    assert section(with_calls("readme"), "README") == [
        ["1024", "2.5 M", "2 M", "2 M", "-", "800 k", "1 M", "3.12x, 2.50x", "-"]
    ]


def test_every_part_says_where_it_was_measured() -> None:
    assert rendered("papers").endswith(
        "Card of Tests, driver 1.2, CUDA 13.0, 2026-01-02T03:04:05+00:00, commit 0123abc\n"
    )


def test_profile_of_ncu(tmp_path: Path) -> None:
    name = sys.modules["paper_tables"].INSTRUCTIONS
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
    paths = {name: tmp_path / f"{name}.json" for name in ("report", "peer", "calls")}
    for name, document in (("report", REPORT), ("peer", PEER), ("calls", CALLS)):
        paths[name].write_text(json.dumps(document))
    tables.main([str(paths["report"]), "--peer", str(paths["peer"])])
    assert capsys.readouterr().out == rendered("all")
    options = ["--peer", str(paths["peer"]), "--end-to-end", str(paths["calls"]), "--part", "end_to_end"]
    tables.main([str(paths["report"]), *options])
    assert capsys.readouterr().out == with_calls("end_to_end")
