# SPDX-License-Identifier: Apache-2.0
"""`manymod tune --device cuda`: what is measured, on a made-up machine."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.python.cli_support import run

import manymod
from manymod.cli.tune import case as tune_case
from manymod.cli.tune import command as tune_command
from manymod.cli.tune import gpu_measure as tune_gpu_run
from manymod.cli.tune.case import Batch, Case, Target
from manymod.cli.tune.cpu_measure import AUTO
from manymod.cli.tune.facts import threads_per_instance as lanes
from manymod.cli.tune.gpu_choice import (
    gpu_choices,
)
from manymod.cli.tune.gpu_measure import CPU, LOOKS, GpuSettings, measure_gpu

COUNTS = (64, 256, 1024, 4096, 16384, 65536)
CASE = Case("powmod", False, 1024)
HAS_CUDA = any(variant.backend == "cuda" for variant in manymod.variants())
SETTINGS = GpuSettings("cuda", seconds=0.0, longest=0.5, repetitions=3, patience=1.0)
pytestmark = pytest.mark.usefixtures("own_rows")


class Machine:
    """A GPU and a CPU whose calls take made-up times on a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cpu_rate: float = 0.2e6) -> None:
        self.now = 0.0
        self.cpu_rate = cpu_rate
        self.calls: list[tuple[str, int]] = []
        names = [f"{technique}.cuda.t{2**power}" for technique in ("dpf52", "row32") for power in range(6)]
        self.names = [*names, "two_pass16.cuda.t1", "fios.radix32_shared.cuda.t1"]
        self.factors = {"dpf52": 1.0, "row32": 1.2, "two_pass16": 1.5, "fios": 2.5, "rns": 0.1}
        monkeypatch.setattr(tune_gpu_run, "make_runner", self._runner)
        monkeypatch.setattr(tune_gpu_run, "time", self)
        monkeypatch.setattr(tune_command, "time", self)
        monkeypatch.setattr(Case, "variants", lambda case, backend: self._variants(case, backend))

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic

    def _variants(self, case: Case, backend: str) -> list[Any]:
        assert backend == "cuda"
        if case.secret and case.op == "mulmod":
            return []
        return [type("Named", (), {"name": name}) for name in self.names]

    def seconds(self, name: str, count: int) -> float:
        """Of a card that is full at 32768 threads; narrow groups are better once it is."""
        if name == CPU:
            return 20e-6 + count / self.cpu_rate
        factor = self.factors[name.split(".")[0]]
        threads = lanes(name)
        return factor * max(10e-3 * math.pow(threads, -0.8), count / 3e6 * math.pow(threads, 0.2))

    def _runner(self, case: Case, exponent_bits: int, target: Target, some: Batch) -> Any:
        assert (exponent_bits, some.count) == (case.bits, 1)
        name = target.variant or (CPU if target.device == "cpu" else "row32.cuda.t4")

        def make_call(batch: Batch) -> Callable[[], None]:
            def call() -> None:
                self.calls.append((name, batch.count))
                self.now += self.seconds(name, batch.count)

            return call

        return make_call


def test_measurement_of_a_made_up_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    found = measure_gpu(CASE, SETTINGS, math.inf)
    counts = sorted(found.cpu)
    assert counts[0] == 64
    assert counts[-1] >= 4 * 32768
    assert found.best(64) == "dpf52.cuda.t32"
    assert found.best(counts[-1]) == "dpf52.cuda.t1"
    for name, by_count in found.times.items():
        for count, nanoseconds in by_count.items():
            if math.isfinite(nanoseconds):
                assert nanoseconds * count == pytest.approx(1e9 * machine.seconds(name, count), rel=0.02)
    assert max(count for name, count in machine.calls if name == CPU) < 65536
    assert found.scaled == {count for count in counts if count / machine.cpu_rate > 0.25}
    for narrow in ("two_pass16.cuda.t1", "fios.radix32_shared.cuda.t1"):
        assert max(count for name, count in machine.calls if name == narrow) <= 16384
    assert math.isinf(found.times["dpf52.cuda.t32"][counts[-1]])
    assert any(math.isfinite(found.times[f"row32.cuda.t{2**power}"][counts[-1]]) for power in range(6))
    assert all(choice.gain > 1 for choice in gpu_choices(found))


def test_a_gpu_that_wins_with_few_items_is_asked_for_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, cpu_rate=100.0)
    found = measure_gpu(CASE, SETTINGS, math.inf)
    assert min(found.cpu) == 1
    assert all(math.isfinite(found.times["dpf52.cuda.t32"][count]) for count in (1, 4, 16, 64))
    assert gpu_choices(found)[-1].min_items == 1


def test_what_other_gpus_need_is_measured_beside_much_faster_techniques(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(monkeypatch)
    machine.names = ["rns.cuda.t2", "dpf52.cuda.t1", "row32.cuda.t1", "two_pass16.cuda.t1"]
    found = measure_gpu(CASE, SETTINGS, math.inf)
    most = max(found.cpu)
    assert {name for name, times in found.gpu.items() if math.isfinite(times[most])} == set(machine.names[:3])
    assert [choice.elsewhere for choice in gpu_choices(found)] == [False, True]


def test_more_items_never_take_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    quiet = machine.seconds

    def disturbed(name: str, count: int) -> float:
        return quiet(name, count) * (30 if count == 256 else 1)

    monkeypatch.setattr(machine, "seconds", disturbed)
    found = measure_gpu(CASE, SETTINGS, math.inf)
    for by_count in found.times.values():
        times = [by_count[count] * count for count in sorted(by_count)]
        assert times == sorted(times)


def test_measurement_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for until in (0.0, 0.05, 0.2, 0.8, 3.0):
        machine = Machine(monkeypatch, cpu_rate=100.0)
        found = measure_gpu(CASE, SETTINGS, until)
        longest = max(machine.seconds(name, count) for name, count in machine.calls)
        assert machine.now <= until + (LOOKS + 1) * longest + 64 / machine.cpu_rate
        assert 64 in found.cpu
        assert found.gpu
        if until == 0.0:
            assert sorted(found.cpu) == [64]
            assert len({name for name, _count in machine.calls}) == 2


def test_variants_begin_by_what_they_are_expected_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    measure_gpu(CASE, SETTINGS, math.inf)
    first = [name for name, count in machine.calls if count == 256 and name != CPU]
    assert first[0] == "dpf52.cuda.t32"


def test_cases_get_their_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    wanted = [Case("powmod", False, bits) for bits in (4096, 64, 1024, 256)]
    given: list[tuple[int, float]] = []

    def measure_one(case: Case, until: float) -> int:
        given.append((case.bits, until - machine.now))
        machine.now = until
        return case.bits

    found = tune_command._measure_all(wanted, 100.0, measure_one, Console())
    assert given == [(64, 50.0), (256, pytest.approx(100 / 3)), (1024, pytest.approx(50 / 3)), (4096, 0.0)]
    assert machine.now == pytest.approx(100.0)
    assert list(found) == wanted


def test_the_librarys_choice_is_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    monkeypatch.setattr(
        Target,
        "choice",
        lambda _self, _case, count: "row32.cuda.t4" if count >= 65536 else "scalar64.generic",
    )
    found = measure_gpu(CASE, SETTINGS, math.inf, check=True)
    auto = found.times[AUTO]
    largest = max(auto)
    assert auto[largest] * largest == pytest.approx(1e9 * machine.seconds("row32.cuda.t4", largest))
    assert AUTO not in found.gpu


def test_a_call_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch)
    made = tune_case.make_batch

    def with_failures(*arguments: Any) -> Batch:
        batch = made(*arguments)
        batch.status[-1] = manymod.Status.ZERO_MODULUS
        return batch

    monkeypatch.setattr(tune_gpu_run, "make_batch", with_failures)
    with pytest.raises(manymod.InternalError, match="failed at 64 items: ZERO_MODULUS"):
        measure_gpu(CASE, SETTINGS, math.inf)


def test_variants_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)

    def make_runner(case: Case, exponent_bits: int, target: Target, some: Batch) -> Any:
        timed = machine._runner(case, exponent_bits, target, some)

        def make_call(batch: Batch) -> Callable[[], None]:
            call = timed(batch)

            def computing() -> None:
                call()
                batch.result[:] = 1
                if target.variant == wrong:
                    batch.result[3] = 2

            return computing

        return make_call

    monkeypatch.setattr(tune_gpu_run, "make_runner", make_runner)
    wrong = ""
    measure_gpu(CASE, SETTINGS, math.inf)
    wrong = "row32.cuda.t4"
    expected = "row32.cuda.t4 and CPU differ in item 3 of 64: powmod, timing class public, at 1024 bits"
    with pytest.raises(manymod.InternalError, match=expected):
        measure_gpu(CASE, SETTINGS, math.inf)


@pytest.mark.skipif(not HAS_CUDA, reason="this build has no CUDA")
def test_the_command_on_a_made_up_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    machine = Machine(monkeypatch)
    gpu = manymod.Device("cuda:1", "Made up", "cuda", ("sm_90",), 1, 0, "")
    own = manymod.devices()
    monkeypatch.setattr(manymod, "devices", lambda: [*own, gpu])
    monkeypatch.setattr(manymod, "cuda_support", lambda: manymod.CudaSupport(True, "13.0", ""))
    file = tmp_path / "t"
    options = ("--op", "powmod,mulmod", "--bits", "512,1024", "--output", file)
    finished = run("tune", "--device", "cuda:1", *options)
    assert finished.code == 0, finished.err
    assert "MANYMOD_TUNING" in finished.out
    monkeypatch.undo()
    table = manymod.load_tuning(file)
    assert re.search(
        r"\n# powmod secret 1024 bits, dpf52.cuda.t32: 64 items \d.*, 256 items ", file.read_text()
    )
    assert table.processor == f"Made up; {own[0].model}"
    assert table.notes == ()
    for secret in (False, True):
        rows = [row for row in table.rows if (row.op, row.secret) == ("powmod", secret)]
        gpu_part = [row for row in rows if ".cuda." in row.variant]
        assert rows[: len(gpu_part)] == gpu_part
        assert {(row.min_bits, row.max_bits) for row in gpu_part} == {(1, 512), (513, 16384)}
        for one, after in itertools.pairwise(gpu_part):
            if one.variant.startswith("dpf52"):
                assert after.variant.startswith("row32")
                assert (after.min_bits, after.min_items) == (one.min_bits, one.min_items)
        assert len(rows) > len(gpu_part)
    assert machine.calls
