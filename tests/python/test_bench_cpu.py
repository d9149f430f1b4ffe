# SPDX-License-Identifier: Apache-2.0
"""`manymod bench cpu`, the limit it compares with, and the loops that measure it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.python.cli_support import COMMAND, run

import manymod
from manymod import _core
from manymod.cli.bench_cpu_run import AUTO, Case, Contender, LimitMeter, Settings, measure, variants_for
from manymod.cli.bench_limit import LIMIT, mulmod_cost, power_cost

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {
    "vpmadd52_zmm": {"avx512f", "avx512ifma"},
    "vpmuludq_zmm": {"avx512f"},
    "vpmuludq_ymm": {"avx2"},
    "vfmadd231pd_zmm": {"avx512f"},
    "vfmadd231pd_ymm": {"avx2", "fma"},
    "mulx": {"bmi2"},
    "add_chain": set[str](),
}
QUICK = Settings(variants=None, seconds=0.0005, repetitions=2)


def test_instruction_rates_where_the_hardware_has_them() -> None:
    features = set(manymod.devices()[0].features)
    for name in _core.instruction_names():
        rate = _core.instruction_rate(name, 0.001)
        assert (rate is not None) == (NEEDS[name] <= features), name
        assert rate is None or rate > 0


def test_instruction_rates_of_hidden_and_unknown_instructions() -> None:
    assert _core.instruction_rate("no such instruction", 0.001) is None
    script = "from manymod import _core; print(_core.instruction_rate('vpmadd52_zmm', 0.001))"
    command = [COMMAND[0], "-c", script]
    environment = os.environ | {"MANYMOD_HIDE_CPU": "avx512ifma"}
    hidden = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert hidden.stdout.strip() == "None"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 11])
def test_instruction_rate_refuses_durations(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        _core.instruction_rate(LIMIT, seconds)


def test_cost_of_a_power_by_counting_digit_products() -> None:
    """The closed forms against loops over the digits of schoolbook arithmetic."""
    digits = 20  # 1024 bits
    product = sum(2 for _ in range(digits) for _ in range(digits))
    square = sum(2 for i in range(digits) for j in range(i, digits))
    reduction = sum(1 + 2 * digits for _ in range(digits))
    assert mulmod_cost(1024) == 2 * (product + reduction)
    costs = [
        (1024 - w) * (square + reduction) + (-(-1024 // w) - 1 + 2**w - 2) * (product + reduction)
        for w in (4, 5, 6)
    ]
    assert power_cost(1024) == min(costs)


@pytest.mark.parametrize(
    "case",
    [
        Case("powmod", 64, False, 9),
        Case("powmod", 100, True, 70, threads=2),
        Case("mulmod", 65, False, 100),
        Case("mulmod", 128, True, 1),
    ],
)
def test_every_variant_that_can_run_a_case_is_measured(case: Case) -> None:
    rows = measure(case, QUICK, LimitMeter(0.0005))
    can = {
        variant.name
        for variant in manymod.variants()
        if variant.usable and variant.backend == "cpu" and variant.min_bits <= case.bits <= variant.max_bits
    }
    assert {row["variant"] for row in rows} <= {AUTO, *can}
    assert {AUTO, "scalar64.generic"} <= {row["variant"] for row in rows}
    assert {row["threads"] for row in rows} == ({1, 2} if case.threads > 1 else {1})
    for row in rows:
        assert row["best"] >= row["median"] > 0
        assert (row["percent_of_limit"] is None) == (_core.instruction_rate(LIMIT, 0.001) is None)
        assert (row.get("threads_vs_one", 0) > 0) == (row["threads"] > 1)


def test_variants_asked_for() -> None:
    case = Case("powmod", 64, False, 1)
    assert variants_for(case, Settings(("scalar64.generic",), 1, 1)) == ["scalar64.generic"]


def test_disturbed_repetitions_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {LIMIT: iter([6e9, 6e9, 3e9, 6e9, 6e9, 5e9, *[6e9] * 8]), "add_chain": iter([3e9] * 14)}
    monkeypatch.setattr(_core, "instruction_rate", lambda name, _seconds: next(rates[name]))
    case = Case("mulmod", 64, False, 1)
    rows = measure(case, Settings(("scalar64.generic",), 0.0001, 3), LimitMeter(0.0001))
    # Two of the first five repetitions are out: each takes two rates, so four of the 14 are left.
    assert len(rows) == 1
    assert len(list(rates[LIMIT])) == 4
    assert rows[0]["limit"] == pytest.approx(8 * 6e9 / case.instructions)


def test_wrong_answers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    contender = Contender("scalar64.generic", Case("mulmod", 64, False, 64), 1, [(3, 5, 2**63 + 1)] * 64)
    contender.prepare(0.0001)
    contender.items = [(3, 5, 2**63 + 1)] * 63 + [(2, 5, 2**63 + 1)]
    with pytest.raises(ArithmeticError, match="item 63 is wrong"):
        contender.prepare(0.0001)


def test_operands_repeat_in_long_batches() -> None:
    items = [(1, 2, 2**65 + 3), (3, 4, 2**65 + 5)]
    contender = Contender("scalar64.generic", Case("mulmod", 66, False, 5), 1, items)
    contender.run()
    assert np.array_equal(contender._result[:, 0], [2, 12, 2, 12, 2])


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "cpu.json"
    finished = run("bench", "cpu", "--quick", "--bits", "64", "--threads", 2, "--json", file)
    assert finished.code == 0, finished.err
    report = json.loads(file.read_text())
    assert report["bench"] == "cpu"
    assert set(report["instructions"]) == set(_core.instruction_names())
    cases = {(row["op"], row["modulus"], row["batch"], row["threads"]) for row in report["results"]}
    assert {("powmod", "each", 8, 1), ("powmod", "shared", 64, 1), ("powmod", "each", 512, 2)} <= cases
    assert {("mulmod", "each", 4096, 1), ("mulmod", "shared", 4096, 1)} <= cases
    assert "percent of limit" in finished.out
    assert AUTO in finished.out


def test_report_as_a_markdown_table() -> None:
    spec = importlib.util.spec_from_file_location("bench_table", ROOT / "tools/bench_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = measure(Case("mulmod", 64, False, 64), QUICK, LimitMeter(0.0005))
    fastest = max((row for row in rows if row["variant"] != AUTO), key=lambda row: float(row["median"]))
    lines = module.render_cpu({"bench": "cpu", "results": rows}).splitlines()
    assert len(lines) == 3
    assert f"| mulmod | 64 | 64 | 1 | {fastest['variant']} |" in lines[2]


def test_command_usage() -> None:
    finished = run("bench", "cpu", "--variant", "nosuch")
    assert finished.code == 2
    assert "scalar64.generic" in finished.err
    assert run("bench", "cpu", "--bits", "5").code == 2
    misplaced = run("bench", "--quick", "cpu")
    assert misplaced.code == 2
    assert "options go after cpu" in misplaced.err


def test_command_with_nothing_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manymod.cli.bench_cpu_run.variants_for", lambda _case, _settings: [])
    finished = run("bench", "cpu", "--quick", "--bits", "64")
    assert finished.code == 1
    assert "no variant" in finished.err
