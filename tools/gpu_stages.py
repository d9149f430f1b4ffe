# SPDX-License-Identifier: Apache-2.0
"""The stages of gpu_run.py: which commands each one runs, as a function of the settings and the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Widest modulus in bits that CGBN is compiled for.
CGBN_WIDEST = 4096
#: Exit status of pytest where no test was selected.
PYTEST_NONE_FOUND = 5
#: Programs of examples/device have names that begin with it.
EXAMPLE = "example_device_"
#: Bits of the logarithms that the stage `examples` finds, and kangaroos of a thread.
KANGAROOS = ((64, 32), (72, 16), (72, 32), (72, 64), (72, 128))


@dataclass(frozen=True)
class Settings:
    """What the command line and the environment chose."""

    root: Path
    build: Path
    third_party: Path
    cgbn: Path
    out: Path
    #: An empty folder for what the stages leave for each other.
    scratch: Path
    #: Folder of programs that were built elsewhere, or None to build here.
    programs: Path | None
    test_filter: str
    quick: bool
    widths: tuple[int, ...]
    items: int
    kernels: tuple[str, ...]
    profile: tuple[str, ...]

    @property
    def quick_option(self) -> tuple[str, ...]:
        """The option of the measuring programs."""
        return ("--quick",) if self.quick else ()

    @property
    def package(self) -> Path:
        """The folder from which Python imports the package."""
        return self.programs / "package" if self.programs else self.build / "package"

    def program(self, name: str) -> str:
        """Where a program is."""
        outside_bench = name == "manymod_tests" or name.startswith(EXAMPLE)
        folder = self.programs or (self.build if outside_bench else self.build / "bench")
        return str(folder / name)

    def report(self, name: str, card: str, suffix: str = "json") -> str:
        """The report of a stage."""
        return str(self.out / f"{name}_{card}.{suffix}")


@dataclass(frozen=True)
class Machine:
    """The facts of a machine that the plans depend on."""

    card: str
    processors: int = 1
    #: CMake folder of nanobind; "" where Python has no nanobind, pytest or NumPy.
    nanobind: str = ""
    has_ninja: bool = False
    has_ncu: bool = False
    has_third_party: bool = False
    has_cgbn_sources: bool = False
    has_cgbn_program: bool = False
    cgbn_commit: str = ""


@dataclass(frozen=True)
class Step:
    """One command of a stage."""

    command: tuple[str, ...] = ()
    #: Printed before the command, or alone.
    message: str = ""
    #: Seconds that the command may take, within those of the stage.
    limit: float | None = None
    #: The stage ends where this step fails.
    required: bool = False
    accepted: frozenset[int] = frozenset({0})
    #: File that receives the standard output; shown as well if `show`.
    output: Path | None = None
    show: bool = True
    environment: dict[str, str] = field(default_factory=dict)
    #: Steps after success, and after failure. With `otherwise` a failure is not the stage's.
    then: tuple[Step, ...] = ()
    otherwise: tuple[Step, ...] | None = None


Plan = Callable[[Settings, Machine], list[Step]]


@dataclass(frozen=True)
class Stage:
    """A part of a run, with a time limit and a report of its own."""

    name: str
    summary: str
    plan: Plan
    limit: float = 500


def note(message: str) -> Step:
    """Return a step that prints a line."""
    return Step(message=message)


def build(settings: Settings, machine: Machine, *targets: str) -> list[Step]:
    """Return the steps that configure the project and build `targets`: none with programs from elsewhere."""
    if settings.programs:
        return []
    switch = {True: "ON", False: "OFF"}
    with_python = "_core" in targets
    with_examples = any(target.startswith(EXAMPLE) for target in targets)
    definitions = {
        "CMAKE_BUILD_TYPE": "Release",
        "MANYMOD_CUDA": "ON",
        "MANYMOD_BUILD_EXAMPLES": switch[with_examples],
        "MANYMOD_BUILD_DEVICE_EXAMPLES": switch[with_examples],
        "MANYMOD_BUILD_BENCH": "ON",
        "MANYMOD_BENCH_CPU": "OFF",
        "MANYMOD_BUILD_TESTS": switch["manymod_tests" in targets],
        "MANYMOD_BUILD_PYTHON": switch[with_python],
        "Python_EXECUTABLE": sys.executable,
    }
    if with_python:
        definitions["nanobind_DIR"] = machine.nanobind
    if machine.has_third_party:
        definitions["MANYMOD_THIRD_PARTY"] = str(settings.third_party)
        definitions["FETCHCONTENT_SOURCE_DIR_GOOGLETEST"] = str(settings.third_party / "googletest")
    options = [f"-D{name}={value}" for name, value in definitions.items()]
    generator = ["-G", "Ninja"] if machine.has_ninja else []
    folder = str(settings.build)
    jobs = str(machine.processors)
    return [
        Step(("cmake", "-S", ".", "-B", folder, *options, *generator), required=True),
        Step(("cmake", "--build", folder, "--parallel", jobs, "--target", *targets), required=True),
    ]


def builds_package(settings: Settings, machine: Machine) -> bool:
    """Return whether the Python package is built here."""
    return bool(machine.nanobind) and not settings.programs


def stage_package(settings: Settings) -> list[Step]:
    """Return the steps that put the package's modules and its built extension into one folder."""
    if settings.programs:
        return []
    modules = str(settings.package / "manymod")
    install = ("cmake", "--install", str(settings.build), "--component", "python", "--prefix")
    return [
        Step(("cmake", "-E", "copy_directory", "python/manymod", modules), required=True),
        Step((*install, str(settings.package)), required=True),
    ]


def python_path(settings: Settings) -> dict[str, str]:
    """Return the environment in which Python finds the package."""
    others = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(settings.package), *([others] if others else [])])}


def with_modules(settings: Settings, modules: str, what: str, *command: str) -> Step:
    """Return the step that runs a Python program if the package and `modules` are there, or says why not."""
    environment = python_path(settings)
    skipped = note(f"{what}: skipped, they need {modules} and the package")
    probe = (sys.executable, "-c", f"import manymod, {modules}")
    run = Step((sys.executable, *command), environment=environment)
    return Step(probe, environment=environment, then=(run,), otherwise=(skipped,))


def measure(name: str, report: str | None = None, *options: str) -> Plan:
    """Return the plan of a stage that builds a measuring program and runs it."""

    def plan(settings: Settings, machine: Machine) -> list[Step]:
        file = settings.report(report or name, machine.card)
        command = (settings.program(name), *settings.quick_option, *options, "--json", file)
        return [*build(settings, machine, name), Step(command)]

    return plan


def gpu_tests(root: Path) -> list[str]:
    """Return the files of Python tests that are marked `gpu`; others may need packages that are not there."""
    files = sorted((root / "tests/python").glob("test_*.py"))
    return [str(file.relative_to(root)) for file in files if "mark.gpu" in file.read_text(encoding="utf-8")]


def plan_check(settings: Settings, machine: Machine) -> list[Step]:
    """C++ tests, and the Python tests where a package is built here."""
    with_python = builds_package(settings, machine)
    results = settings.out / "gpu/check.results.json"
    tests = (settings.program("manymod_tests"), f"--gtest_filter={settings.test_filter}")
    steps = build(settings, machine, "manymod_tests", *(["_core"] if with_python else []))
    steps.append(Step((*tests, f"--gtest_output=json:{results}")))
    if not with_python:
        reason = "they need pytest, nanobind and NumPy, and a build here"
        return [*steps, note(f"Python tests: skipped, {reason}")]
    pytest = (sys.executable, "-m", "pytest", "-q", "-m", "gpu", *gpu_tests(settings.root))
    accepted = frozenset({0, PYTEST_NONE_FOUND})
    return [
        *steps,
        *stage_package(settings),
        Step(pytest, accepted=accepted, environment=python_path(settings)),
    ]


def plan_kernels(settings: Settings, machine: Machine) -> list[Step]:
    """device_kernels with the options chosen."""
    return measure("device_kernels", None, *settings.kernels)(settings, machine)


def peer_steps(settings: Settings, machine: Machine, *options: str) -> list[Step]:
    """Return the steps that build CGBN's driver and run it, if there is a driver or its sources."""
    commit = f"CGBN {machine.cgbn_commit}".rstrip()
    if machine.has_cgbn_program:
        driver, steps = settings.program("cgbn_driver"), []
    elif machine.has_cgbn_sources:
        folder = "build/cuda-peers"
        driver = f"{folder}/cgbn_driver"
        definitions = (f"-DCGBN_ROOT={settings.cgbn}", "-DCMAKE_BUILD_TYPE=Release")
        steps = [
            Step(("cmake", "-S", "bench/cuda/peers", "-B", folder, *definitions), required=True),
            Step(("cmake", "--build", folder, "--parallel", str(machine.processors)), required=True),
        ]
    else:
        hint = "CGBN_ROOT; `gpu_run.py pack` gets them"
        return [note(f"CGBN: skipped, no sources at {settings.cgbn} ({hint})")]
    run = (
        sys.executable,
        "bench/cuda/peers/run.py",
        driver,
        *settings.quick_option,
        "--note",
        commit,
        *options,
    )
    return [*steps, Step(run)]


def plan_peers(settings: Settings, machine: Machine) -> list[Step]:
    """CGBN on the same card."""
    return peer_steps(settings, machine, "--json", settings.report("cgbn", machine.card))


def comparison_steps(settings: Settings, file: Path) -> list[Step]:
    """Return the steps that compare results of the technique rns with GMP's."""
    if settings.items == 0:
        return []
    widths = ",".join(map(str, settings.widths))
    compare = (
        "tools/check_powers.py",
        "--variant",
        "rns.cuda.t2",
        "--device",
        "cuda",
        "--bits",
        widths,
        "--items",
        str(settings.items),
        "--seconds",
        "150",
        "--json",
        str(file),
    )
    return [with_modules(settings, "gmpy2, numpy", "results against GMP's", *compare)]


def plan_curves(settings: Settings, machine: Machine) -> list[Step]:
    """Results on curves beside the processor's, where there is a package."""
    with_python = builds_package(settings, machine)
    steps = [*build(settings, machine, "_core"), *stage_package(settings)] if with_python else []
    items = "1000" if settings.quick else "20000"
    compare = ("tools/check_curves.py", "--device", "cuda", "--items", items)
    return [*steps, with_modules(settings, "numpy", "results on curves", *compare)]


def plan_rns(settings: Settings, machine: Machine) -> list[Step]:
    """One width at a time: one that fails or hangs costs no other. Each step writes the report anew."""
    parts = settings.scratch
    report = settings.report("rns", machine.card)
    widths = ",".join(map(str, settings.widths))
    join = (sys.executable, "bench/cuda/rns_report.py", str(parts), "--bits", widths, "--json", report)
    with_python = builds_package(settings, machine)
    steps = build(settings, machine, "device_kernels", *(["_core"] if with_python else []))
    for bits in map(str, settings.widths):
        options = ("--technique", "rns", "--bits", bits, "--sweep", *settings.quick_option)
        file = str(parts / f"kernels_{bits}.json")
        steps += [Step((settings.program("device_kernels"), *options, "--json", file), limit=100), Step(join)]
    if common := ",".join(str(width) for width in settings.widths if width <= CGBN_WIDEST):
        steps += peer_steps(settings, machine, "--bits", common, "--json", str(parts / "peer.json"))
    steps.append(Step(join))
    if with_python:
        steps += stage_package(settings)
    steps += [*comparison_steps(settings, parts / "check.json"), Step(join)]
    return [*steps, Step((sys.executable, "bench/cuda/tables.py", report, "--part", "rns"))]


def plan_papers(settings: Settings, machine: Machine) -> list[Step]:
    """The papers' tables, with instructions per cycle where ncu can count them."""
    report = settings.report("device_kernels", machine.card)
    if not Path(report).exists():
        report = f"bench/results/device_kernels_{machine.card}.json"
    output = Path(settings.report("papers", machine.card, "md"))
    tables = (sys.executable, "bench/cuda/tables.py", report, "--part", "papers")
    without = Step(tables, output=output)
    if not machine.has_ncu:
        return [without]
    counters = settings.out / "gpu/papers.csv"
    count = (
        "ncu",
        "--csv",
        "--metrics",
        "sm__inst_executed.avg.per_cycle_active",
        settings.program("device_kernels"),
        "--profile",
        "--technique",
        "two_pass16",
    )
    empty = note("ncu: no counters; table IV of the two-pass paper stays empty")
    with_counters = Step((*tables, "--ncu", str(counters)), output=output)
    counting = Step(count, output=counters, show=False, then=(with_counters,), otherwise=(empty, without))
    return [*build(settings, machine, "device_kernels"), counting]


def plan_paper003(settings: Settings, machine: Machine) -> list[Step]:
    """Points by one thread each, beside the paper's tables."""
    report = settings.report("paper003", machine.card)
    tables = (sys.executable, "bench/cuda/paper003_tables.py", report)
    return [*measure("paper003")(settings, machine), Step(tables)]


def plan_examples(settings: Settings, machine: Machine) -> list[Step]:
    """The programs of examples/device, which check their answers; kangaroos print their rate as well."""
    names = [f"{EXAMPLE}{name}" for name in ("miller_rabin", "pminus1")]
    kangaroo = f"{EXAMPLE}kangaroo"
    return [
        *build(settings, machine, *(f"{name}_program" for name in (*names, kangaroo))),
        *(Step((settings.program(name),)) for name in names),
        *(Step((settings.program(kangaroo), str(bits), str(chain)), limit=90) for bits, chain in KANGAROOS),
    ]


def plan_sanitize(settings: Settings, machine: Machine) -> list[Step]:
    """The device tests under each tool of compute-sanitizer."""
    steps = build(settings, machine, "manymod_tests")
    tests = (settings.program("manymod_tests"), f"--gtest_filter={settings.test_filter}")
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        options = ("--tool", tool, "--report-api-errors", "no", "--error-exitcode", "9")
        steps.append(Step(("compute-sanitizer", *options, *tests), message=f"== {tool}"))
    return steps


def plan_profile(settings: Settings, machine: Machine) -> list[Step]:
    """Counters of the kernels chosen."""
    if not machine.has_ncu:
        return [note("profile: skipped, no ncu")]
    counters = settings.report("profile", machine.card, "csv")
    ncu = ("ncu", "--set", "full", "--csv", "--page", "raw", settings.program("device_kernels"), "--profile")
    count = (*ncu, *settings.quick_option, *settings.profile)
    return [
        *build(settings, machine, "device_kernels"),
        Step(count, output=Path(counters), show=False, required=True),
        Step((sys.executable, "bench/cuda/profile_table.py", counters)),
    ]


STAGES = {
    stage.name: stage
    for stage in (
        Stage(
            "check",
            "C++ tests that run on a device, and Python tests marked gpu",
            plan_check,
        ),
        Stage("kernels", "device_kernels: every shape of every kernel", plan_kernels),
        Stage("peers", "CGBN on the same card, where its sources are", plan_peers),
        Stage("end_to_end", "calls of plans, also on the processor", measure("end_to_end")),
        Stage("elementwise", "sums and products of arrays, beside a copy of them", measure("elementwise")),
        Stage("rsa", "calls that sign and verify, also on the processor", measure("rsa_end_to_end")),
        Stage("rns", "the technique rns, CGBN at the same widths, and results against GMP's", plan_rns),
        Stage("figure3", "powers in floating-point residues", measure("rns_figure3")),
        Stage("fields", "operations in the fields of common curves", measure("fields")),
        Stage("ecc", "points and signatures on curves, compared with libcrypto's", measure("ecc")),
        Stage(
            "ecc_calls",
            "the same and calls on host arrays, also on the processor",
            measure("ecc", "ecc_calls", "--calls"),
        ),
        Stage(
            "curves", "all operations on curves, also users' own, compared with the processor's", plan_curves
        ),
        Stage("paper003", "points by one thread each: tables 3 to 5 of the paper of fios", plan_paper003),
        Stage("examples", "programs of examples/device: users' own kernels", plan_examples),
        Stage("overlap", "tensor cores together with other instructions (9.0)", measure("pipe_overlap")),
        Stage("papers", "the papers' tables, from the report of kernels", plan_papers),
        Stage("sanitize", "the device tests under compute-sanitizer", plan_sanitize),
        Stage("profile", "counters of device_kernels, where ncu is there", plan_profile),
    )
}


def stages_named(names: Sequence[str]) -> list[Stage]:
    """Return the stages that names stand for.

    >>> [stage.name for stage in stages_named(["bench", "rns"])]
    ['kernels', 'peers', 'end_to_end', 'rns']
    """
    several = {"bench": ("kernels", "peers", "end_to_end")}
    return [STAGES[single] for name in names for single in several.get(name, (name,))]
