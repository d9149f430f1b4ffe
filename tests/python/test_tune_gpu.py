# SPDX-License-Identifier: Apache-2.0
"""`manymod tune --device cuda`: choices from made-up times, the file, and machines without a GPU."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.python.cli_support import COMMAND, run

import manymod
from manymod.cli.tune import case as tune_case
from manymod.cli.tune.case import Case, Target
from manymod.cli.tune.file import Base, complete_rows, file_text
from manymod.cli.tune.gpu_choice import (
    GpuChoice,
    crossover,
    gap_rows,
    gpu_choices,
    gpu_ranges,
    gpu_rows,
    middles,
    time_text,
)
from manymod.cli.tune.gpu_measure import CPU, GpuSettings, GpuTimes

COUNTS = (64, 256, 1024, 4096, 16384, 65536)
CASE = Case("powmod", False, 1024)
HAS_CUDA = any(variant.backend == "cuda" for variant in manymod.variants())
SETTINGS = GpuSettings("cuda", seconds=0.0, longest=0.5, repetitions=3, patience=1.0)
pytestmark = pytest.mark.usefixtures("own_rows")


def per_item(seconds: Callable[[int], float]) -> dict[int, float]:
    return {count: seconds(count) / count * 1e9 for count in COUNTS}


def device(latency: float, rate: float) -> dict[int, float]:
    return per_item(lambda count: max(latency, count / rate))


def test_crossover() -> None:
    gains = {64: 0.25, 256: 0.5, 1024: 2.0, 4096: 4.0}
    counts = sorted(gains)
    assert crossover(counts, gains.__getitem__) == 512
    gains[1024] = 1.9
    assert crossover(counts, gains.__getitem__) == 768
    gains[256] = 1.0
    assert crossover(counts, gains.__getitem__) == 1024
    gains[1024] = math.inf
    gains[256] = 0.5
    assert crossover(counts, gains.__getitem__) == 1024
    gains[4096] = 1.04
    assert crossover(counts, gains.__getitem__) is None
    assert crossover(counts, lambda _count: 1.05) == 64
    assert crossover([1, 4], lambda count: count / 3.7) == 4


def test_choices_from_times() -> None:
    times = {
        "dpf52.cuda.t1": device(10e-3, 4e6),
        "row32.cuda.t1": device(8e-3, 3e6),
        "dpf52.cuda.t8": device(2e-3, 2e6),
        "row32.cuda.t8": device(1.9e-3, 1.8e6),
        CPU: per_item(lambda count: count * 2e-6),
    }
    found = GpuTimes(times, frozenset({65536}))
    large, middle, small = gpu_choices(found)
    assert (large.variant, large.companion, large.count) == ("dpf52.cuda.t1", "row32.cuda.t1", 65536)
    assert (middle.variant, middle.companion, middle.count) == ("dpf52.cuda.t8", "row32.cuda.t8", 16384)
    assert (small.variant, small.companion) == ("row32.cuda.t8", None)
    assert 16384 < large.min_items <= 65536
    assert small.min_items == 1024
    assert large.gain == pytest.approx(8)
    assert large.cpu_scaled
    assert large.evidence(1024, 16) == "1024 bits, 65536 items: 16.4 ms; CPU, 16 threads about 131 ms (8.0x)"
    assert large.companion_evidence(1024) == "1024 bits, 65536 items: 21.8 ms; 0.75 of dpf52.cuda.t1's rate"
    times[CPU] = per_item(lambda count: count * 0.2e-6)
    assert gpu_choices(found) == []
    times[CPU] = per_item(lambda count: count * 1e-3)
    assert gpu_choices(found)[-1].min_items == 64


def test_a_variant_below_the_crossover_is_no_choice() -> None:
    found = GpuTimes(
        {
            "dpf52.cuda.t1": device(30e-3, 4e6),
            "row32.cuda.t32": device(2e-3, 0.5e6),
            CPU: per_item(lambda count: count * 1.9e-6),
        },
        frozenset(),
    )
    (only,) = gpu_choices(found)
    assert only.variant == "dpf52.cuda.t1"
    assert only.companion == "row32.cuda.t32"
    assert only.gain > 1


def test_companions_are_measured() -> None:
    found = GpuTimes(
        {
            "dpf52.opencl.t16": device(2e-3, 4e6),
            "reduced_radix.opencl.t1": per_item(lambda count: math.inf),
            CPU: per_item(lambda count: count * 20e-6),
        },
        frozenset(),
    )
    assert {choice.companion for choice in gpu_choices(found)} == {None}


def test_gpus_without_a_technique_have_their_own_choices() -> None:
    times = {
        "rns.cuda.t2": device(4e-3, 8e6),
        "dpf52.cuda.t1": device(10e-3, 4e6),
        "row32.cuda.t1": device(11e-3, 3e6),
        "dpf52.cuda.t8": device(2e-3, 2e6),
        "row32.cuda.t8": device(3e-3, 1.5e6),
        CPU: per_item(lambda count: count * 20e-6),
    }
    found = GpuTimes(times, frozenset())
    own = _found_by(gpu_choices(found), {"rns", "dpf52", "row32"})
    elsewhere = _found_by(gpu_choices(found), {"dpf52", "row32"})
    assert own == {64: "CPU", 1024: "dpf52.cuda.t8", 16384: "rns.cuda.t2", 65536: "rns.cuda.t2"}
    assert elsewhere == {
        64: "CPU",
        1024: "dpf52.cuda.t8",
        16384: "dpf52.cuda.t8",
        65536: "dpf52.cuda.t1",
    }
    slow_doubles = _found_by(gpu_choices(found), {"row32"})
    assert slow_doubles[65536] == "row32.cuda.t1"
    assert slow_doubles[1024] == "row32.cuda.t8"


def test_gpus_with_compact_kernels_alone_have_choices_for_the_others() -> None:
    times = {
        "rns.compact.cuda.t2": device(4e-3, 8e6),
        "row32.cuda.t1": device(11e-3, 3e6),
        "row32.cuda.t8": device(3e-3, 1.5e6),
        CPU: per_item(lambda count: count * 20e-6),
    }
    chosen = gpu_choices(GpuTimes(times, frozenset()))
    assert [(choice.variant, choice.elsewhere) for choice in chosen] == [
        ("rns.compact.cuda.t2", False),
        ("row32.cuda.t1", True),
        ("row32.cuda.t8", False),
    ]


def test_no_choice_is_hidden_from_gpus_without_a_technique() -> None:
    times = {
        "rns.cuda.t2": device(1e-3, 8e6),
        "row32.cuda.t1": device(1.5e-3, 3e6),
        CPU: per_item(lambda count: count * 20e-6),
    }
    chosen = gpu_choices(GpuTimes(times, frozenset()))
    assert [(choice.variant, choice.elsewhere) for choice in chosen] == [
        ("rns.cuda.t2", False),
        ("row32.cuda.t1", True),
    ]
    assert chosen[1].min_items >= chosen[0].min_items
    times["rns.cuda.t2"] = device(5e-3, 8e6)
    chosen = gpu_choices(GpuTimes(times, frozenset()))
    assert [choice.variant for choice in chosen] == ["rns.cuda.t2", "row32.cuda.t1"]
    del times["row32.cuda.t1"]
    (only,) = gpu_choices(GpuTimes(times, frozenset()))
    assert only.variant == "rns.cuda.t2"


def test_the_cpu_is_beaten_in_the_middle_of_the_widths() -> None:
    found = GpuTimes(
        {"row32.cuda.t1": device(1e-3, 3e6), CPU: per_item(lambda count: count * 3e-6)}, frozenset()
    )
    (at_the_end,) = gpu_choices(found)
    (in_the_middle,) = gpu_choices(found, 0.75)
    assert (at_the_end.min_items, in_the_middle.min_items) == (384, 768)
    assert gpu_choices(found, 0.25) == []
    cases = [Case("powmod", False, bits) for bits in (768, 1024, 8192)]
    assert list(middles(cases).values()) == [0.75, pytest.approx(0.875, abs=1e-3), 0.75]


def _found_by(chosen: list[GpuChoice], techniques: set[str]) -> dict[int, str]:
    """The variants that a GPU with these techniques comes to first."""
    names = [
        (name, choice.min_items)
        for choice in chosen
        for name in (choice.variant, choice.companion)
        if name is not None and name.split(".")[0] in techniques
    ]
    return {
        count: next((name for name, least in names if least <= count), "CPU")
        for count in (64, 1024, 16384, 65536)
    }


def test_text_of_times() -> None:
    times = {0.4: "0.4 ns", 87.14: "87.1 ns", 999.6: "1 us", 18_240_000: "18.2 ms", 2.5e9: "2.5 s"}
    assert {time: time_text(time) for time in times} == times
    assert time_text(123.4e9) == "123 s"


def test_widths_are_those_of_the_next_kernel() -> None:
    assert gpu_ranges([2048, 512, 1024]) == {512: (1, 512), 1024: (513, 1024), 2048: (1025, 16384)}


def test_companions_have_as_many_items_and_come_next() -> None:
    choice = GpuChoice("dpf52.cuda.t4", 768, 4096, 800.0, 4800.0, False, "row32.cuda.t8", 1000.0)
    plain = GpuChoice("row32.cuda.t32", 96, 256, 9000.0, 10000.0, False)
    rows = gpu_rows({Case("powmod", True, 512): [], CASE: [choice, plain]}, 16)
    assert [(row.variant, row.min_items) for row in rows] == [
        ("dpf52.cuda.t4", 768),
        ("row32.cuda.t8", 768),
        ("row32.cuda.t32", 96),
    ]
    assert {(row.op, row.secret, row.min_bits, row.max_bits) for row in rows} == {("powmod", False, 1, 16384)}
    assert "0.80 of dpf52.cuda.t4's rate" in rows[1].evidence


@pytest.mark.skipif(not HAS_CUDA, reason="this build has no CUDA")
def test_the_file_is_read_back(tmp_path: Path) -> None:
    choice = GpuChoice("dpf52.cuda.t4", 1 << 20, 4096, 800.0, 4800.0, False, "row32.cuda.t8", 1000.0)
    measured = gpu_rows({CASE: [choice], Case("mulmod", False, 1024): []}, 16)
    kept = manymod.tuning().rows
    gaps = gap_rows([Case("mulmod", False, 1024)], kept)
    reach = {("powmod", False): {CASE.bits: (1, 16384)}, ("mulmod", False): {1024: (1, 16384)}}
    rows = complete_rows([*measured, *gaps], reach, Base(kept), "cuda")
    file = tmp_path / "t"
    file.write_text(file_text(rows, 'A "GPU" \\ \N{MICRO SIGN}', "made up"))
    table = manymod.load_tuning(file)
    assert table.notes == ()
    assert table.processor == 'A "GPU" \\ ?'
    assert table.rows[: len(rows)] == tuple(rows)
    cpu = [row for row in kept if (row.op, row.secret) == ("powmod", False) and ".cuda." not in row.variant]
    assert [row for row in rows if (row.op, row.secret) == ("powmod", False)] == [*measured, *cpu]
    assert any((row.op, row.secret) == ("powmod", True) for row in table.rows[len(rows) :])


def test_gaps_are_filled_by_what_the_library_chooses_on_the_cpu() -> None:
    case = Case("sqrmod", False, 256)

    def row(least: int, most: int, variant: str) -> manymod.TuningRow:
        return manymod.TuningRow("sqrmod", False, least, most, 1, variant, "x")

    target = Target("cpu", None, 0)
    rows = gap_rows([case], [row(10, 100, "scalar64.generic"), row(1, 16384, "abacus")])
    assert {(found.min_bits, found.max_bits) for found in rows} == {(1, 9), (101, 16384)}
    for count, bits in itertools.product((1, 2, 3, 4, 7, 8, 1000), (9, 16384)):
        first = next(row for row in rows if row.max_bits == bits and row.min_items <= count)
        assert first.variant == target.choice(Case("sqrmod", False, bits), count)
    assert gap_rows([case], [row(1, 16384, "scalar64.generic")]) == []
    assert gap_rows([case], [row(1, 300, "scalar64.generic"), row(200, 16384, "scalar64.generic")]) == []


def test_without_a_gpu(tmp_path: Path) -> None:
    command = [*COMMAND, "tune", "--device", "cuda", "--output", str(tmp_path / "t")]
    hidden = {**os.environ, "MANYMOD_HIDE_CUDA": "1"}
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=hidden)
    assert finished.returncode == 1
    assert re.search("Error: no GPU to tune for: .+", finished.stderr)
    assert "Traceback" not in finished.stderr
    assert not list(tmp_path.iterdir())


def test_unusable_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = manymod.Device("cuda:0", "Old", "cuda", ("sm_50",), 1, 0, "is too old")
    own = manymod.devices()[:1]
    monkeypatch.setattr(manymod, "devices", lambda: [*own, gpu])
    monkeypatch.setattr(manymod, "cuda_support", lambda: manymod.CudaSupport(True, "13.0", ""))
    for name, words in (
        ("cuda", "cuda:0: is too old"),
        ("cuda:3", "no device cuda:3; devices here: cpu, cuda:0"),
    ):
        finished = run("tune", "--device", name)
        assert finished.code == 1
        assert words in finished.err


def test_operands_of_products_of_powers() -> None:
    case = Case("multi_powmod", False, 100)
    batch = tune_case.make_batch(case, 100, 3, seed=1)
    tune_case.make_runner(case, 100, Target("cpu", None, 1), batch)(batch)()
    assert batch.y is not None
    bases, exps = (manymod.IntArray.from_limbs(limbs).to_ints() for limbs in (batch.x, batch.y))
    n, result = (manymod.IntArray.from_limbs(limbs).to_ints() for limbs in (batch.n, batch.result))
    assert len(bases) == 2 * len(n)
    for index, modulus in enumerate(n):
        terms = range(2 * index, 2 * index + 2)
        assert result[index] == math.prod(pow(bases[t], exps[t], modulus) for t in terms) % modulus
    assert not np.any(batch.status)
