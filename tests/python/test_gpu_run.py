# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_run.py: which commands its stages run, and how it runs them. No GPU takes part."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import gpu_run  # noqa: E402
import gpu_stages  # noqa: E402
from gpu_stages import STAGES, Machine, Settings, Stage, Step  # noqa: E402
from gpu_stages_run import TIMED_OUT, run_stage  # noqa: E402

SCRATCH = Path("/scratch")


def settings(*arguments: str) -> Settings:
    return gpu_run.settings_of(gpu_run.parse_arguments(["check", *arguments]), SCRATCH)


def flat(steps: Iterable[Step]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        found += [step, *flat(step.then), *flat(step.otherwise or ())]
    return found


def plan(stage: str, machine: Machine, *arguments: str) -> list[Step]:
    return flat(STAGES[stage].plan(settings(*arguments), machine))


def commands(steps: Iterable[Step]) -> list[str]:
    return [" ".join(step.command) for step in steps if step.command]


@pytest.fixture(autouse=True)
def no_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OUT",
        "CGBN_ROOT",
        "GPU_PROGRAMS",
        "GPU_QUICK",
        "GPU_ITEMS",
        "GPU_WIDTHS",
        "GPU_STAGE_LIMIT",
    ):
        monkeypatch.delenv(name, raising=False)


def test_programs_built_elsewhere_are_not_built() -> None:
    for stage in STAGES:
        built = commands(plan(stage, Machine("h200", has_ncu=True), "--programs", "/there"))
        assert not any(command.startswith("cmake --build build/gpu") for command in built), stage
    assert commands(plan("kernels", Machine("h200"), "--programs", "/there", "--out", "o", "--quick")) == [
        "/there/device_kernels --quick --json o/device_kernels_h200.json"
    ]


def test_build_configures_for_its_targets() -> None:
    configure, build, run = commands(plan("rsa", Machine("h200", processors=7, has_ninja=True)))
    assert "-DMANYMOD_BUILD_TESTS=OFF" in configure
    assert "-DMANYMOD_BUILD_PYTHON=OFF" in configure
    assert "THIRD_PARTY" not in configure
    assert configure.endswith("-G Ninja")
    assert build == "cmake --build build/gpu --parallel 7 --target rsa_end_to_end"
    assert run == "build/gpu/bench/rsa_end_to_end --json bench/results/rsa_end_to_end_h200.json"
    configure = commands(plan("check", Machine("h200", nanobind="/nb", has_third_party=True)))[0]
    for option in ("BUILD_TESTS=ON", "BUILD_PYTHON=ON", "nanobind_DIR=/nb", "MANYMOD_THIRD_PARTY="):
        assert option in configure


def test_python_tests_of_gpus_are_found() -> None:
    assert "tests/python/test_device_arrays_gpu.py" in gpu_stages.gpu_tests(gpu_run.ROOT)
    assert "tests/python/test_operations.py" not in gpu_stages.gpu_tests(gpu_run.ROOT)


def test_python_tests_need_a_package_of_this_build() -> None:
    def skips(machine: Machine, *arguments: str) -> bool:
        steps = plan("check", machine, *arguments)
        assert any("pytest" in step.command for step in steps) != any(
            "skipped" in step.message for step in steps
        )
        return any("skipped" in step.message for step in steps)

    assert not skips(Machine("h200", nanobind="/nb"))
    assert skips(Machine("h200"))
    assert skips(Machine("h200", nanobind="/nb"), "--programs", "/there")


def test_rns_takes_one_width_at_a_time_and_cgbn_those_that_it_has() -> None:
    machine = Machine("h200", has_cgbn_sources=True, cgbn_commit="0123abc")
    steps = plan("rns", machine, "--widths", "1024,8192", "--items", "0")
    measured = [step for step in steps if "--sweep" in step.command]
    assert [step.command[step.command.index("--bits") + 1] for step in measured] == ["1024", "8192"]
    assert all(step.limit == 100 and not step.required for step in measured)
    joins = [i for i, step in enumerate(steps) if "bench/cuda/rns_report.py" in step.command]
    assert all(steps.index(step) + 1 in joins for step in measured)
    (peer,) = (command for command in commands(steps) if "peers/run.py" in command)
    assert "--note CGBN 0123abc --bits 1024 --json /scratch/peer.json" in peer
    assert not any("check_powers" in command for command in commands(steps))
    steps = plan("rns", machine, "--widths", "8192")
    assert not any("peers/run.py" in command for command in commands(steps))
    (compare,) = (command for command in commands(steps) if "check_powers" in command)
    assert "--bits 8192 --items 530000" in compare
    assert "--items 20000" in " ".join(commands(plan("rns", machine, "--quick")))


def test_papers_do_without_counters() -> None:
    assert len(plan("papers", Machine("h200"))) == 1
    (counting,) = STAGES["papers"].plan(settings("--programs", "/there"), Machine("h200", has_ncu=True))
    (with_counters,) = counting.then
    assert "--ncu" in with_counters.command
    assert counting.otherwise is not None
    assert "--ncu" not in counting.otherwise[-1].command


def test_names_of_stages() -> None:
    for arguments in (["pack", "check"], ["chek"], []):
        with pytest.raises(SystemExit, match="2"):
            gpu_run.parse_arguments(arguments)
    names = [stage.name for stage in gpu_stages.stages_named(["bench", "papers"])]
    assert names == ["kernels", "peers", "end_to_end", "papers"]


def python(code: str) -> Step:
    return Step((sys.executable, "-c", code))


def run(folder: Path, steps: list[Step], limit: float = 60) -> tuple[bool, str, dict[str, object]]:
    stage = Stage("toy", "", lambda *_: steps)
    passed = run_stage(stage, steps, folder, limit)
    report: dict[str, object] = json.loads((folder / "toy.json").read_text())
    assert report["passed"] == passed
    return passed, (folder / "toy.log").read_text(), report


def test_failure_of_a_step(tmp_path: Path) -> None:
    fails, prints = python("exit(3)"), python("print('after')")
    passed, log, _ = run(tmp_path, [fails, prints])
    assert (passed, log) == (False, "after\n")
    passed, log, _ = run(tmp_path, [dataclasses.replace(fails, required=True), prints])
    assert (passed, log) == (False, "")
    passed, log, _ = run(tmp_path, [dataclasses.replace(fails, accepted=frozenset({3})), prints])
    assert (passed, log) == (True, "after\n")
    handled = dataclasses.replace(fails, then=(python("print('then')"),), otherwise=(Step(message="else"),))
    assert run(tmp_path, [handled, prints])[:2] == (True, "else\nafter\n")
    assert run(tmp_path, [Step(("/no/such/program",))])[:2] == (
        False,
        "/no/such/program: No such file or directory\n",
    )


def test_output_and_results(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    step = python("import sys; print('table'); print('warning', file=sys.stderr)")
    _, log, _ = run(tmp_path, [dataclasses.replace(step, output=copy)])
    assert copy.read_text() == "table\n"
    assert sorted(log.split()) == ["table", "warning"]
    _, log, _ = run(tmp_path, [dataclasses.replace(step, output=copy, show=False)])
    assert log == "warning\n"
    (tmp_path / "toy.results.json").write_text('{"tests": 7}')
    assert run(tmp_path, [])[2]["results"] == {"tests": {"tests": 7}}
    assert not (tmp_path / "toy.results.json").exists()


def test_limits(tmp_path: Path) -> None:
    # What the step started ends with it.
    step = python(
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    )
    start = time.monotonic()
    passed, log, report = run(tmp_path, [dataclasses.replace(step, limit=0.5), python("print('after')")])
    assert (passed, report["timed_out"]) == (False, False)
    assert log.endswith("its time was up\nafter\n")
    passed, log, report = run(tmp_path, [step, python("print('after')")], limit=0.5)
    assert (passed, report["timed_out"]) == (False, True)
    assert "after" not in log
    assert time.monotonic() - start < 50
    assert TIMED_OUT == 124
