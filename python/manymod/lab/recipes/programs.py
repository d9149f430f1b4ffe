# SPDX-License-Identifier: Apache-2.0
"""Rows by the measuring programs of `bench/`, run here or by a report that one of them left earlier."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manymod.lab import document
from manymod.lab.machine import Machine
from manymod.lab.model import RowError, Unavailable
from manymod.lab.recipes.params import Params
from manymod.lab.work import Plan, Result

__all__ = [
    "PROGRAMS",
    "check_row",
    "counters",
    "device_kernels",
    "montgomery",
    "paper003",
    "read_report",
    "rns_figure3",
]


#: Programs whose rows the lab takes: the CMake target and what switches it on.
PROGRAMS = {
    "device_kernels": "cmake -DMANYMOD_CUDA=ON -DMANYMOD_BUILD_BENCH=ON, target device_kernels",
    "paper003": "cmake -DMANYMOD_CUDA=ON -DMANYMOD_BUILD_BENCH=ON, target paper003",
    "rns_figure3": "cmake -DMANYMOD_CUDA=ON -DMANYMOD_BUILD_BENCH=ON, target rns_figure3",
    "manymod_bench": "cmake -DMANYMOD_BUILD_BENCH=ON, target manymod_bench",
}
_COUNTER = "sm__inst_executed.avg.per_cycle_active"
_LIMIT_SECONDS = 300
#: What a report tells of its origin.
_FACTS = ("card", "multiprocessors", "driver", "date", "commit")

#: Reports by program and options, of this process.
_reports: dict[tuple[str, ...], dict[str, Any]] = {}


def _run(command: Sequence[str]) -> str:
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=_LIMIT_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise RowError(f"{Path(command[0]).name}: {error}") from error


def read_report(file: Path, name: str, facts: Sequence[str] = (), rows: str = "rows") -> dict[str, Any]:
    """The report of a program, which has these facts and, as member `rows`, a list of what was measured.

    Raises:
        RowError: if the file is none.
    """
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RowError(f"{file}: {error}") from error
    measured = report.get(rows) if isinstance(report, dict) else None
    if not isinstance(measured, list) or not all(isinstance(row, dict) for row in measured):
        raise RowError(f"{file} is no report of {name}: it has no {rows!r}")
    if missing := [fact for fact in facts if fact not in report]:
        raise RowError(f"{file} is no report of {name}: it has no {missing[0]!r}")
    return dict(report)


def check_row(row: Mapping[str, Any], name: str, texts: Sequence[str] = ()) -> None:
    """Raise RowError unless a row of a program's report has a rate and these members as text."""
    shape = {**dict.fromkeys(texts, document.text), "per_second": document.positive}
    if damage := document.misfit(f"a row of {name}", row, shape):
        raise RowError(damage)


def _report(name: str, options: Sequence[str], machine: Machine, on: str) -> dict[str, Any]:
    """The report of a program: an earlier one if the run was given it, else a new one, made once."""
    earlier = machine.reports.get(name)
    key = (name, str(earlier)) if earlier else (name, *options)
    if key not in _reports:
        if earlier:
            _reports[key] = read_report(earlier, name, _FACTS)
        else:
            if on == "cuda":
                machine.require_gpu()
            program = machine.program(name, PROGRAMS[name])
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "report.json"
                _run([str(program), "--quick", *options, "--json", str(file)])
                _reports[key] = json.loads(file.read_text(encoding="utf-8"))
    return _reports[key]


def _found(
    report: Mapping[str, Any], wanted: Mapping[str, Any], name: str, texts: Sequence[str] = ()
) -> dict[str, Any]:
    """The fastest row with the wanted members.

    Args:
        report: of a program.
        wanted: members and their values.
        name: the program.
        texts: further members, which are text.

    Raises:
        Unavailable: if there is none.
        RowError: if such a row has no rate or lacks a text, or the answers of the fastest were wrong.
    """
    rows = [
        row for row in report["rows"] if all(row.get(member) == value for member, value in wanted.items())
    ]
    if not rows:
        raise Unavailable(f"{name} has no row with {', '.join(f'{k} {v}' for k, v in wanted.items())}")
    for row in rows:
        check_row(row, name, texts)
    best: dict[str, Any] = max(rows, key=lambda row: row["per_second"])
    if best.get("wrong"):
        raise RowError(f"{name}: {best['wrong']} answers are wrong")
    return best


def _result(report: Mapping[str, Any], row: Mapping[str, Any], name: str, program: str) -> list[Result]:
    """The program's median as the one sample."""
    facts = {
        "device": "cuda:0",
        "model": report["card"],
        "units": report["multiprocessors"],
        "driver": report["driver"],
        "program": program,
        "date": report["date"],
        "commit": report["commit"],
        "mhz": row.get("mhz"),
        "batch": row.get("instances", row.get("items")),
        "checked": row.get("checked"),
        "percent_of_limit": row.get("percent_of_limit"),
        "repetitions": row.get("repetitions"),
    }
    return [Result(name, (float(row["per_second"]),), facts)]


def device_kernels(params: Params, machine: Machine, _plan: Plan) -> list[Result]:
    """A row of `device_kernels`: kernels alone, by events."""
    options = ["--technique", params["form"], "--bits", "160,192,224,256,384"]
    report = _report("device_kernels", options, machine, "cuda")
    wanted = {"operation": params["operation"], "form": params["form"], "bits": params["bits"]}
    row = _found(report, wanted, "device_kernels", ["kernel"])
    return _result(report, row, row["kernel"], "device_kernels")


def paper003(params: Params, machine: Machine, _plan: Plan) -> list[Result]:
    """A row of `paper003`: points by one thread each."""
    names = ("operation", "form", "launch", "digits", "scalars", "bits")
    wanted = {name: params[name] for name in names if name in params}
    report = _report("paper003", ["--form", params["form"]], machine, "cuda")
    row = _found(report, {"a_is_minus_three": True, **wanted}, "paper003")
    return _result(report, row, f"fios.{row['form']}", "paper003")


def rns_figure3(params: Params, machine: Machine, _plan: Plan) -> list[Result]:
    """A row of `rns_figure3`: powers in residues of binary32 channels."""
    report = _report("rns_figure3", ["--batches", "32,128,512,2048,8192,23552,47104"], machine, "cuda")
    wanted = {name: params[name] for name in ("form", "specialised", "exponentiation", "instances")}
    row = _found(report, wanted, "rns_figure3", ["kernel"])
    return _result(report, row, row["kernel"], "rns_figure3")


def counters(params: Params, machine: Machine, _plan: Plan) -> list[Result]:
    """Instructions a cycle of a multiprocessor, which ncu counts while device_kernels runs a kernel."""
    machine.require_gpu()
    program = machine.program("device_kernels", PROGRAMS["device_kernels"])
    if machine.find_program("ncu") is None:
        raise Unavailable("ncu is not there: it comes with the CUDA toolkit")
    options = ["--profile", "--technique", params["technique"], "--bits", str(params["bits"])]
    output = _run(["ncu", "--csv", "--metrics", _COUNTER, str(program), *options])
    lines = [line for line in output.splitlines() if line.startswith('"')]
    kernel, seen = f"{params['technique']}_1x{params['bits'] // 32}", []
    for row in csv.DictReader(lines):
        text = row.get("Metric Value") or row.get(_COUNTER) or ""
        if row["Kernel Name"].split("(")[0] == kernel and text.replace(".", "", 1).isdigit():
            seen.append(float(text))
    if len(seen) < 2:  # first multiplications, then squarings
        raise Unavailable("ncu counted nothing: reading counters needs rights (ERR_NVGPUCTRPERM)")
    value = seen[0] if params["operation"] == "mul" else seen[1]
    return [Result(kernel, (value,), {"device": "cuda:0", "program": "ncu, device_kernels"})]


def montgomery(params: Params, machine: Machine, _plan: Plan) -> list[Result]:
    """Instructions of a Montgomery multiplication as they execute, counted by manymod_bench, for one lane."""
    variant, bits = params["variant"], params["bits"]
    program = machine.program("manymod_bench", PROGRAMS["manymod_bench"])
    name = f"montgomery/mul/{variant}/{bits}"
    output = _run(
        [
            str(program),
            f"--benchmark_filter=^{name}$",
            "--benchmark_format=json",
            "--benchmark_min_time=0.01",
        ]
    )
    # Nothing is printed where the CPU can run none of these kernels.
    runs = json.loads(output)["benchmarks"] if output.strip() else []
    if not runs or params["of"] not in runs[0]:
        raise Unavailable(f"manymod_bench cannot run or count {name} on this processor")
    value = float(runs[0][params["of"]]) / float(runs[0].get("lanes", 1))
    return [Result(variant, (value,), {"device": "cpu", "program": "manymod_bench"})]
