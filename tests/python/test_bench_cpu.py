# SPDX-License-Identifier: Apache-2.0
"""`manymod bench cpu`, the limit it compares with, and the loops that measure it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.python.cli_support import COMMAND, run

import bench_table
import manymod
from manymod import _core
from manymod.cli.bench import cpu_command as command
from manymod.cli.bench.cpu import (
    AUTO,
    Case,
    Contender,
    Sample,
    Series,
    Settings,
    measure,
    rows,
    variants_for,
)
from manymod.cli.bench.limit import LANES, LIMIT, mulmod_cost, power_cost
from manymod.cli.bench.quiet import CYCLES, ISSUE, QUIET, QuietMeter, Reading

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {
    "vpmadd52_zmm": {"avx512f", "avx512ifma"},
    "vpmuludq_zmm": {"avx512f"},
    "vpmuludq_ymm": {"avx2"},
    "vfmadd231pd_zmm": {"avx512f"},
    "vfmadd231pd_ymm": {"avx2", "fma"},
    "mulx": {"bmi2"},
    "add_chain": set[str](),
    "issue_width": set[str](),
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
    meter = QuietMeter(0.0005)
    found = rows(measure(case, QUICK, meter), meter)
    can = {
        variant.name
        for variant in manymod.variants()
        if variant.usable and variant.backend == "cpu" and variant.min_bits <= case.bits <= variant.max_bits
    }
    assert {row["variant"] for row in found} <= {AUTO, *can}
    assert {AUTO, "scalar64.generic"} <= {row["variant"] for row in found}
    assert {row["threads"] for row in found} == ({1, 2} if case.threads > 1 else {1})
    for row in found:
        assert row["best"] >= row["median"] > 0
        assert QUICK.repetitions <= row["samples"] <= 2 * QUICK.repetitions
        assert 0 <= row["quiet_samples"] <= row["samples"]
        assert row["disturbed"] == (row["quiet_samples"] == 0)
        assert (row["percent_of_limit"] is None) == (_core.instruction_rate(LIMIT, 0.001) is None)
        assert (row.get("threads_vs_one", 0) > 0) == (row["threads"] > 1)


def test_variants_asked_for() -> None:
    case = Case("powmod", 64, False, 1)
    assert variants_for(case, Settings(("scalar64.generic",), 1, 1)) == ["scalar64.generic"]


class Core:
    """A core whose loops run as they are told; `disturb` says what the n-th reading loses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, disturb: Callable[[int], dict[str, float]]) -> None:
        self.readings = 0
        self._disturb = disturb
        monkeypatch.setattr(_core, "instruction_rate", self.rate)

    def rate(self, name: str, _seconds: float) -> float:
        """Instructions a second at 3 GHz; that which fills the issue width is the first of a reading."""
        self.readings += name == ISSUE
        per_cycle = {CYCLES: 1.0, ISSUE: 6.0, LIMIT: 2.0}[name]
        return 3e9 * per_cycle * self._disturb(self.readings).get(name, 1.0)


SHORT = Settings(("scalar64.generic",), 0.0001, 3)
PRODUCT = Case("mulmod", 64, False, 1)


@pytest.mark.parametrize("loss", [{ISSUE: 0.6}, {LIMIT: 0.9}])
def test_disturbed_samples_are_taken_again(monkeypatch: pytest.MonkeyPatch, loss: dict[str, float]) -> None:
    core = Core(monkeypatch, lambda reading: loss if reading == 3 else {})
    meter = QuietMeter(0.0001)
    (series,) = measure(PRODUCT, SHORT, meter)
    # The third reading ends the second sample and begins the third: two more take their place.
    assert core.readings == 6
    assert [meter.is_quiet(*sample.readings) for sample in series.samples] == [True, False, False, True, True]
    (row,) = rows([series], meter)
    assert (row["samples"], row["quiet_samples"], row["disturbed"]) == (5, 3, False)
    assert row["limit"] == pytest.approx(8 * 6e9 / PRODUCT.instructions)


def test_a_small_loss_is_no_disturbance(monkeypatch: pytest.MonkeyPatch) -> None:
    core = Core(monkeypatch, lambda reading: {ISSUE: 0.95, LIMIT: 0.97} if reading % 2 else {})
    (series,) = measure(PRODUCT, SHORT, QuietMeter(0.0001))
    assert len(series.samples) == 3
    assert core.readings == 4


def test_a_row_without_an_undisturbed_sample_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Core(monkeypatch, lambda reading: {} if reading == 1 else {ISSUE: 0.5})
    meter = QuietMeter(0.0001)
    meter.read()
    (series,) = measure(PRODUCT, SHORT, meter)
    assert len(series.samples) == 6
    (row,) = rows([series], meter)
    assert row["disturbed"]
    assert row["quiet_samples"] == 0
    assert row["median"] > 0


def test_what_is_quiet_is_judged_by_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = True
    Core(monkeypatch, lambda _reading: {ISSUE: 0.85} if busy else {})
    meter = QuietMeter(0.0001)
    (series,) = measure(PRODUCT, SHORT, meter)
    assert not rows([series], meter)[0]["disturbed"]
    busy = False
    meter.read()
    assert rows([series], meter)[0]["disturbed"]


def test_a_neighbour_that_stays_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    Core(monkeypatch, lambda _reading: {ISSUE: 0.6})
    meter = QuietMeter(0.0001)
    assert rows(measure(PRODUCT, SHORT, meter), meter)[0]["disturbed"]


def test_rows_use_undisturbed_samples_alone() -> None:
    quiet = Reading({ISSUE: 6.0, LIMIT: 2.0}, 6e9)
    busy = Reading({ISSUE: 3.0, LIMIT: 2.0}, 5e9)
    meter = QuietMeter(0.0001)
    meter._seen = {ISSUE: [6.0], LIMIT: [2.0]}
    limit = LANES * 6e9 / PRODUCT.instructions
    samples = [(0.5, quiet, quiet), (0.25, quiet, busy), (0.3, busy, quiet), (0.2, busy, busy)]
    one, two = (
        Series(
            PRODUCT,
            AUTO,
            "scalar64.adx",
            threads,
            [Sample(share * threads * limit, (before, after)) for share, before, after in samples],
        )
        for threads in (1, 2)
    )
    for row in rows([one, two], meter):
        assert row["percent_of_limit"] == pytest.approx(50)
        assert (row["samples"], row["quiet_samples"]) == (4, 1)
    assert rows([one, two], meter)[1]["threads_vs_one"] == pytest.approx(2)


def test_one_reading_in_twenty_may_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    Core(monkeypatch, lambda reading: {ISSUE: 1.3} if reading % 25 == 0 else {})
    meter = QuietMeter(0.0001)
    readings = [meter.read() for _ in range(200)]
    assert meter.best() == {ISSUE: pytest.approx(6), LIMIT: pytest.approx(2)}
    assert meter.is_quiet(*readings)


def test_without_loops_nothing_counts_as_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "instruction_rate", lambda _name, _seconds: None)
    meter = QuietMeter(0.0001)
    (row,) = rows(measure(PRODUCT, SHORT, meter), meter)
    assert not row["disturbed"]
    assert row["limit"] is row["percent_of_limit"] is None


def test_the_table_marks_disturbed_rows() -> None:
    meter = QuietMeter(0.0005)
    (row,) = rows(measure(PRODUCT, SHORT, meter), meter)
    row["percent_of_limit"] = 12.5
    cells = {flag: [*command._table([row | {"disturbed": flag}]).columns[9].cells] for flag in (False, True)}
    assert cells == {False: ["12.5 %"], True: ["12.5 % *"]}


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
    monkeypatch.setattr(command, "Settings", lambda **words: Settings(**{**words, "seconds": 0.0005}))
    file = tmp_path / "cpu.json"
    finished = run("bench", "cpu", "--quick", "--bits", "64", "--threads", 2, "--output", file)
    assert finished.code == 0, finished.err
    report = json.loads(file.read_text())
    assert report["bench"] == "cpu"
    assert set(report["instructions"]) == set(_core.instruction_names())
    cases = {(row["op"], row["modulus"], row["batch"], row["threads"]) for row in report["results"]}
    assert {("powmod", "each", 8, 1), ("powmod", "shared", 64, 1), ("powmod", "each", 512, 2)} <= cases
    assert {("mulmod", "each", 4096, 1), ("mulmod", "shared", 4096, 1)} <= cases
    assert all({"disturbed", "quiet_samples"} <= set(row) for row in report["results"])
    assert report["best_a_cycle"].keys() <= QUIET.keys()
    assert "percent of limit" in finished.out
    assert AUTO in finished.out


def test_report_as_a_markdown_table() -> None:
    meter = QuietMeter(0.0005)
    found = rows(measure(Case("mulmod", 64, False, 64), QUICK, meter), meter)
    fastest = max((row for row in found if row["variant"] != AUTO), key=lambda row: float(row["median"]))
    lines = bench_table.render_cpu({"bench": "cpu", "results": found}).splitlines()
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
    monkeypatch.setattr("manymod.cli.bench.cpu.variants_for", lambda _case, _settings: [])
    finished = run("bench", "cpu", "--quick", "--bits", "64")
    assert finished.code == 1
    assert "no variant" in finished.err
