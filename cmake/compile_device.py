#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile one CUDA source to a fat binary and report the registers and memory of each of its kernels.

Warnings are errors. The report is JSON: a list of {kernel, arch, registers, stack, spill_stores, spill_loads,
seconds}, the sizes in bytes.

A fat binary whose sources, compiler and options are those of the last call is kept: compilation takes
minutes, and isolated builds of the package call a compiler of the same version by another path each time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

# The lines of ptxas -v about a kernel, in this order.
ENTRY = re.compile(r"Compiling entry function '(?P<kernel>\w+)' for 'sm_(?P<arch>\w+)'")
FIELDS = (
    re.compile(
        r"(?P<stack>\d+) bytes stack frame, (?P<spill_stores>\d+) bytes spill stores, "
        r"(?P<spill_loads>\d+) bytes spill loads"
    ),
    re.compile(r"Used (?P<registers>\d+) registers"),
)
COMPILE_TIME = re.compile(r"Compile time = ([\d.]+) ms")
# Lines of the requested report; any other line is a message for the reader.
CHATTER = re.compile(r"^(ptxas info\s|\s+\d+ bytes stack frame)")


def code_options(architecture: str) -> list[str]:
    """Return nvcc's options for one of a list of architectures.

    >>> code_options("90a")
    ['-gencode', 'arch=compute_90a,code=sm_90a']
    >>> code_options("100+ptx")
    ['-gencode', 'arch=compute_100,code=[sm_100,compute_100]']
    """
    name, plus, kind = architecture.partition("+")
    if not re.fullmatch(r"\d+[af]?", name) or (plus and kind != "ptx"):
        raise ValueError(f"not an architecture: {architecture!r}; name them like 90a, 80 or 100+ptx")
    code = f"[sm_{name},compute_{name}]" if plus else f"sm_{name}"
    return ["-gencode", f"arch=compute_{name},code={code}"]


def resources(report: str) -> list[dict[str, Any]]:
    """Return the kernels of a report of `ptxas -v`, with the largest values of each and of what it calls."""
    kernels: list[dict[str, Any]] = []
    for line in report.splitlines():
        if entry := ENTRY.search(line):
            kernels.append({"kernel": entry["kernel"], "arch": entry["arch"]})
        elif kernels:
            for field in FIELDS:
                if found := field.search(line):
                    for key, value in found.groupdict().items():
                        kernels[-1][key] = max(kernels[-1].get(key, 0), int(value))
            if taken := COMPILE_TIME.search(line):
                kernels[-1]["seconds"] = float(taken[1]) / 1000
    return kernels


def dependencies(depfile: str) -> list[str]:
    r"""Return the files that a rule of a makefile depends on.

    >>> dependencies("a.fatbin : src/a.cu \\\n  src/with\\ blank.hpp\n")
    ['src/a.cu', 'src/with blank.hpp']
    """
    names = re.findall(r"(?:\\.|\S)+", depfile.partition(" :")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", name) for name in names]


def fingerprint(compiler: str, options: list[str], files: list[str]) -> str:
    """Return a digest of what determines a compilation; `compiler` is what nvcc prints as its version.

    Raises:
        OSError: A file is gone.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for part in (compiler, *options):
        digest.update(part.encode() + b"\0")
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + hashlib.sha256(Path(name).read_bytes()).digest())
    return digest.hexdigest()


class Record:
    """What the last compilation of a fat binary was made from, in a file beside it.

    It leaves out the headers of the CUDA toolkit, which the compiler's version stands for.
    """

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_suffix(".sources.json")

    def is_current(self, compiler: str, options: list[str]) -> bool:
        """Whether the fat binary is there and was made from the same."""
        try:
            last = json.loads(self.path.read_text(encoding="utf-8"))
            same: bool = last["fingerprint"] == fingerprint(compiler, options, last["files"])
            content = hashlib.sha256(self.output.read_bytes()).hexdigest()
            return same and last["output"] == content
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def write(self, compiler: str, options: list[str], depfile: Path, toolkit: Path) -> None:
        """Record a compilation that has just ended."""
        names = dependencies(depfile.read_text(encoding="utf-8"))
        files = [name for name in names if not Path(name).resolve().is_relative_to(toolkit)]
        record = {
            "fingerprint": fingerprint(compiler, options, files),
            "output": hashlib.sha256(self.output.read_bytes()).hexdigest(),
            "files": files,
        }
        self.path.write_text(json.dumps(record), encoding="utf-8")

    def restore(self, depfile: Path, report: Path) -> None:
        """Make the results as new; the build tool has taken the file of dependencies away."""
        files = json.loads(self.path.read_text(encoding="utf-8"))["files"]
        names = " ".join(name.replace(" ", "\\ ") for name in files)
        depfile.write_text(f"{self.output} : {names}\n", encoding="utf-8")
        for result in (self.output, report):
            result.touch()


def parse_arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--architectures", required=True, help="separated by commas: 80,90a,100+ptx")
    parser.add_argument("--include", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--depfile", required=True, type=Path)
    parser.add_argument("--resources", required=True, type=Path)
    parser.add_argument("--lineinfo", action="store_true", help="keep source lines for profilers")
    parser.add_argument("source")
    return parser.parse_args()


def main() -> int:
    """Compile; return nvcc's exit status."""
    arguments = parse_arguments()
    options = [
        "-std=c++20",
        "--expt-relaxed-constexpr",
        "-fatbin",
        "-Werror",
        "all-warnings",
        "-Xptxas",
        "-v",
        "-I",
        arguments.include,
    ]
    for architecture in arguments.architectures.split(","):
        options += code_options(architecture)
    if arguments.lineinfo:
        options.append("-lineinfo")
    options += ["-MD", "-MF", str(arguments.depfile), "-MT", str(arguments.output)]
    options += ["-o", str(arguments.output), arguments.source]
    version = subprocess.run([arguments.nvcc, "--version"], capture_output=True, text=True, check=False)
    toolkit = Path(shutil.which(arguments.nvcc) or arguments.nvcc).resolve().parent.parent
    record = Record(arguments.output)
    if arguments.resources.exists() and record.is_current(version.stdout, options):
        record.restore(arguments.depfile, arguments.resources)
        return 0
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    outcome = subprocess.run([arguments.nvcc, *options], capture_output=True, text=True, check=False)
    said = [line for line in (outcome.stdout + outcome.stderr).splitlines() if not CHATTER.match(line)]
    print("\n".join(said), file=sys.stderr, end="\n" if said else "")
    if outcome.returncode == 0:
        arguments.resources.write_text(
            json.dumps(resources(outcome.stderr), indent=1) + "\n", encoding="utf-8"
        )
        record.write(version.stdout, options, arguments.depfile, toolkit)
    return outcome.returncode


if __name__ == "__main__":
    sys.exit(main())
