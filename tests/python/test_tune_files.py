# SPDX-License-Identifier: Apache-2.0
"""`manymod tune` of every kind of device over files that are there already, with times that are made up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.python import fake_gpu
from tests.python.cli_support import run

import manymod
from manymod.cli.tune import command as tune_command
from manymod.cli.tune.case import Case
from manymod.cli.tune.cpu_measure import AUTO
from manymod.cli.tune.gpu_measure import CPU, GpuTimes
from manymod.cli.tune.report import times_remarks

#: Runs the command for each pair of a device and a time: the nanoseconds an item that `variant` takes for any
#: number of items, where the CPU takes 1000.
PROGRAM = """
import json, sys
import manymod
from manymod.cli.tune import command
from manymod.cli.tune.gpu_measure import CPU, GpuTimes
from tests.python.cli_support import run

given = json.load(sys.stdin)
backend = given["backend"]
if backend == "opencl" and (obstacle := manymod.opencl_support().obstacle):
    print(json.dumps(obstacle))
    sys.exit()

def measure(case, *_):
    return {name: {1: nanoseconds, 16: nanoseconds} for name, nanoseconds in given["cpu"].items()}

def measure_gpu(*_):
    times = {given["variant"]: taken, CPU: 1000.0}
    return GpuTimes({name: {64: time, 65536: time} for name, time in times.items()}, frozenset())

command.measure, command.measure_gpu = measure, measure_gpu
ended = []
for device, taken in given["runs"]:
    finished = run("tune", "--quick", "--device", device, "--op", "sqrmod", "-o", given["file"])
    with open(given["file"]) as file:
        ended.append([finished.code, finished.out, finished.err, file.read()])
print(json.dumps([[device.model for device in manymod.devices() if device.backend == backend][0], ended]))
"""
#: A file of another machine: a GPU of each kind and a processor, with variants that this build does not have.
OTHERS = {
    "cuda": "sqrmod\tpublic\t1\t16384\t100\trow32.cuda.t99\tof a GPU",
    "opencl": "sqrmod\tpublic\t1\t16384\t50\tdpf52.opencl.t99\tof another",
    "cpu": "sqrmod\tpublic\t1\t16384\t1\tabacus\tof a CPU",
}
MULMOD = "mulmod\tpublic\t1\t16384\t1\tscalar64.generic\tof a CPU"
HEADER = "manymod-tuning\t1\tOther GPU; Other CPU\ttoday"
TEXT = "\n".join([HEADER, *OTHERS.values(), MULMOD, ""])
CPU_TIMES = {"scalar64.generic": 5.0, "scalar64.adx": 6.0}
VARIANTS = {"cuda": "row32.cuda.t1", "opencl": "reduced_radix.opencl.t1"}

pytestmark = pytest.mark.usefixtures("own_rows")


def rows(text: str, op: str = "sqrmod") -> list[str]:
    return [line for line in text.splitlines() if line.startswith(op)]


def of(backend: str, lines: list[str]) -> list[str]:
    """The rows of a backend."""
    names = {line: line.split("\t")[5].split(".") for line in lines}
    return [
        line for line in lines if next((part for part in names[line] if part in VARIANTS), "cpu") == backend
    ]


def runs(file: Path, backend: str, *devices: tuple[str, float]) -> tuple[str, list[list[Any]]]:
    """The model of the backend's device, and how the runs end, one for each device and time an item."""
    given = {"backend": backend, "variant": VARIANTS[backend], "cpu": CPU_TIMES, "file": str(file)}
    environment = fake_gpu.environment()
    if backend == "opencl":
        environment = {**os.environ, "MANYMOD_HIDE_CUDA": "1"}
        del environment["MANYMOD_HIDE_OPENCL"]
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        input=json.dumps({**given, "runs": devices}),
        env={**environment, "COLUMNS": "300"},
        cwd=fake_gpu.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    if isinstance(found, str):
        pytest.skip(found)
    model, ended = found
    return model, ended


@pytest.mark.parametrize("backend", ["cuda", "opencl"])
def test_a_file_of_every_kind_of_device(tmp_path: Path, backend: str) -> None:
    """Rows of what is measured are replaced; all others are kept, also of variants of another build."""
    if backend == "cuda":
        fake_gpu.needed()
    file = tmp_path / "my.tuning"
    file.write_text(TEXT)
    faster, slower = (backend, 100.0), (backend, 2000.0)
    model, ended = runs(file, backend, ("cpu", 0), faster, (f"{backend}:0", 50.0), slower, ("cpu", 0))
    other = "opencl" if backend == "cuda" else "cuda"
    own = manymod.devices()[0].model
    assert [(code, err.count("Error")) for code, _, err, _ in ended] == [(0, 0)] * 5
    texts = [text for *_, text in ended]
    assert all(OTHERS[other] in rows(text) and MULMOD in text for text in texts)

    assert of(backend, rows(texts[0])) == [OTHERS[backend]]
    measured = of("cpu", rows(texts[0]))
    assert len(measured) == 8  # four widths in two timing classes
    assert all("scalar64.generic" in row and "5 ns an item" in row for row in measured)
    assert texts[0].split("\t")[2] == f"{own}; Other GPU; Other CPU"

    for index, gain in ((1, "10.0x"), (2, "20.0x")):
        replaced = of(backend, rows(texts[index]))
        assert replaced
        assert all(VARIANTS[backend] in row and gain in row for row in replaced)
        assert of("cpu", rows(texts[index])) == measured
        assert texts[index].split("\t")[2] == f"{model}; {own}; Other GPU; Other CPU"
    assert of(backend, rows(texts[3])) == []  # the CPU is faster
    assert of("cpu", rows(texts[3])) == of("cpu", rows(texts[4])) == measured

    for (_, out, _, _), kept in zip(ended, (3, 10, 10, 10, 2), strict=True):
        assert f"Kept {kept} rows that {file} had and that were not measured: " in out


def test_one_row_that_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune_command, "measure", lambda *_: {"scalar64.generic": {1: 5.0, 16: 5.0}})
    file = tmp_path / "my.tuning"
    file.write_text(f"{HEADER}\n{MULMOD}\n")
    finished = run("tune", "--quick", "--op", "sqrmod", "-o", file)
    assert f"Kept a row that {file} had and that was not measured: mulmod." in finished.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT[: TEXT.index("row32")], "line 2"),
        (TEXT[:10], "is no tuning file"),
        ("", "is no tuning file"),
        ("manymod-tuning is my notes", "line 1"),
        ("precious", "is no tuning file"),
        (f"{TEXT}cubemod\tpublic\t1\t2\t1\tabacus\tx\n", "line 6: no operation 'cubemod'"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "cuda", "opencl"])
def test_files_that_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, text: str, message: str
) -> None:
    """Truncated ones, foreign ones, and those of a later version."""
    monkeypatch.setattr(tune_command, "_check_gpu", None)  # none of them gets there
    file = tmp_path / "my.tuning"
    file.write_text(text)
    finished = run("tune", "--device", device, "-o", file)
    assert (finished.code, message in finished.err, str(file) in finished.err) == (1, True, True)
    assert file.read_text() == text
    assert [entry.name for entry in tmp_path.iterdir()] == ["my.tuning"]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "manymod: interrupted"),
        (manymod.DeviceError("cuda:0: lost"), 1, "Error: cuda:0: lost"),
        (MemoryError(), 1, "manymod: out of memory"),
    ],
)
def test_runs_that_do_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    calls = []

    def measure(*_: object) -> dict[str, dict[int, float]]:
        calls.append(1)
        if len(calls) == 3:
            raise error
        return {"scalar64.generic": {1: 5.0, 16: 5.0}}

    monkeypatch.setattr(tune_command, "measure", measure)
    file = tmp_path / "my.tuning"
    file.write_text(TEXT)
    finished = run("tune", "--quick", "--op", "sqrmod", "-o", file)
    assert (finished.code, finished.err.strip().splitlines()[-1]) == (code, said)
    assert file.read_text() == TEXT
    assert [entry.name for entry in tmp_path.iterdir()] == ["my.tuning"]


def test_a_link_to_a_pipe_is_no_place_for_a_file() -> None:
    """As /dev/stdout before a pipe, which nothing is read from."""
    reading, writing = os.pipe()
    try:
        finished = run("tune", "-o", f"/dev/fd/{writing}")
        assert (finished.code, "is not a regular file" in finished.err) == (1, True)
    finally:
        os.close(reading)
        os.close(writing)


def test_variants_that_had_no_turn_are_not_told_of() -> None:
    case = Case("sqrmod", False, 64)
    never = {"row32.cuda.t1": {64: 2e3}, "row32.cuda.t2": {64: float("inf")}, CPU: {64: 1e3}, AUTO: {64: 1e3}}
    told = times_remarks({case: GpuTimes(never, frozenset())})
    assert [line.split(", ")[1].split(":")[0] for line in told] == ["row32.cuda.t1", CPU, AUTO]
