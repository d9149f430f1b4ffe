#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run every fuzzing harness by libFuzzer for some time, and print how many inputs each has run.

C++ harnesses (``tests/fuzz/*_fuzz.cpp``) are built with the newest Clang on PATH that has libFuzzer, into
``build/fuzz``; those in Python (``tests/fuzz/*_fuzz.py``) run with atheris. What is missing is skipped and
named. Inputs that reached something new are kept in ``build/fuzz/corpus/NAME`` for the next run. One that
fails is kept in ``build/fuzz/failures``, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sanitizing_compiler import definitions, newest_clang

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
FAILURES = BUILD / "failures"
#: Inputs of operations hold choices, those of parsers whole files.
LONGEST_INPUT = {
    "calls": 300,
    "rsa_calls": 400,
    "rsa_numbers": 400,
    "operands": 300,
    "parts": 300,
    "rsa": 400,
}
LONGEST_FILE = 4096
EMPTY_PROGRAM = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'


@dataclass(frozen=True)
class Outcome:
    """What became of one harness."""

    name: str
    inputs: int
    failed: bool
    log: Path


def build() -> list[str]:
    """Build the C++ harnesses. Returns their names, none without a compiler for them."""
    compiler = newest_clang("fuzzer,address,undefined", EMPTY_PROGRAM)
    if compiler is None:
        print(
            "skipped: no Clang with libFuzzer was found for the C++ harnesses: "
            "install clang-19 and libclang-rt-19-dev"
        )
        return []
    subprocess.run(
        ["cmake", "--preset", "fuzz", *definitions(compiler)],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(["cmake", "--build", BUILD, "--target", "manymod_fuzzers"], check=True)
    return sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))


def python_names() -> list[str]:
    """Return the names of the harnesses in Python, none without atheris."""
    if importlib.util.find_spec("atheris") is None:
        print("skipped: atheris is not installed, which the harnesses in Python need: pip install atheris")
        return []
    return sorted(path.name.removesuffix("_fuzz.py") for path in (ROOT / "tests/fuzz").glob("*_fuzz.py"))


def inputs_run(log: str) -> int:
    r"""Return the number of inputs that a log of libFuzzer states last.

    >>> inputs_run("#2\tINITED cov: 3\n#4096\tpulse  cov: 9\nstat::number_of_executed_units: 5000\n")
    5000
    >>> inputs_run("#2\tINITED cov: 3\n#4096\tpulse  cov: 9\n==1== ERROR")
    4096
    """
    found = re.findall(r"^(?:#|stat::number_of_executed_units: )(\d+)", log, re.MULTILINE)
    return int(found[-1]) if found else 0


def run(name: str, program: Sequence[str | Path], seconds: int) -> Outcome:
    """Run a harness, and leave what it prints in NAME.log."""
    corpus, seeds, log = BUILD / "corpus" / name, ROOT / "tests/fuzz/corpus" / name, BUILD / f"{name}.log"
    corpus.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT.get(name, LONGEST_FILE)}",
        f"-artifact_prefix={FAILURES}/{name}-",
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
    ]
    with open(log, "w", encoding="utf-8") as file:
        command = [*program, corpus, *[seeds] * seeds.is_dir(), *options]
        finished = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False)
    text = log.read_text(encoding="utf-8", errors="replace")
    return Outcome(name, inputs_run(text), finished.returncode != 0, log)


def main() -> int:
    """Build, run and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600, help="of each harness, default: %(default)s")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="at a time, default: %(default)s"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all harnesses")
    arguments = parser.parse_args()
    programs: dict[str, list[str | Path]] = {name: [BUILD / f"{name}_fuzz"] for name in build()}
    for name in python_names():
        programs[name] = [sys.executable, "-m", "tests.fuzz.run", name, "--atheris"]
    if unknown := set(arguments.names) - set(programs):
        parser.error(f"no harness {', '.join(sorted(unknown))}; there are {', '.join(sorted(programs))}")
    FAILURES.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        chosen = arguments.names or programs
        outcomes = list(pool.map(lambda name: run(name, programs[name], arguments.seconds), chosen))
    for outcome in outcomes:
        result = f"FAILED, see {outcome.log} and {FAILURES}" if outcome.failed else "ok"
        print(f"{outcome.name:<12} {outcome.inputs:>12,} inputs  {result}")
    print(f"{'total':<12} {sum(outcome.inputs for outcome in outcomes):>12,} inputs")
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
