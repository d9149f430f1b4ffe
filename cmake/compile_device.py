#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile one CUDA source to a fat binary and report the registers and memory of each of its kernels.

Warnings are errors. The report is JSON: a list of {kernel, arch, registers, stack, spill_stores, spill_loads,
seconds}, the sizes in bytes.
"""

from __future__ import annotations

import argparse
import json
import re
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
    """Return the kernels of a report of `ptxas -v`."""
    kernels: list[dict[str, Any]] = []
    for line in report.splitlines():
        if entry := ENTRY.search(line):
            kernels.append({"kernel": entry["kernel"], "arch": entry["arch"]})
        elif kernels:
            for field in FIELDS:
                if found := field.search(line):
                    kernels[-1] |= {key: int(value) for key, value in found.groupdict().items()}
            if taken := COMPILE_TIME.search(line):
                kernels[-1]["seconds"] = float(taken[1]) / 1000
    return kernels


def main() -> int:
    """Compile; return nvcc's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--architectures", required=True, help="separated by commas: 80,90a,100+ptx")
    parser.add_argument("--include", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--depfile", required=True)
    parser.add_argument("--resources", required=True, type=Path)
    parser.add_argument("--lineinfo", action="store_true", help="keep source lines for profilers")
    parser.add_argument("source")
    arguments = parser.parse_args()

    command = [
        arguments.nvcc,
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
        command += code_options(architecture)
    if arguments.lineinfo:
        command.append("-lineinfo")
    command += ["-MD", "-MF", arguments.depfile, "-MT", str(arguments.output)]
    command += ["-o", str(arguments.output), arguments.source]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in (outcome.stdout + outcome.stderr).splitlines() if not CHATTER.match(line)]
    print("\n".join(said), file=sys.stderr, end="\n" if said else "")
    if outcome.returncode == 0:
        arguments.resources.write_text(
            json.dumps(resources(outcome.stderr), indent=1) + "\n", encoding="utf-8"
        )
    return outcome.returncode


if __name__ == "__main__":
    sys.exit(main())
