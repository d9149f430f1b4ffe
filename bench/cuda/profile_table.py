# SPDX-License-Identifier: Apache-2.0
"""Prints how busy the pipes were and what warps waited for, from ncu's counters.

python bench/cuda/profile_table.py PROFILE.csv

The file is what `ncu --set full --csv --page raw device_kernels --profile` prints. Each kernel was launched
twice: for multiplications, then for squarings.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

from device_report import MISSING, Cells, markdown

#: Columns of the table of pipes, and the counters that they are.
COUNTERS = {
    "ms": ("gpu__time_duration.sum",),
    "issued a clock": ("sm__inst_issued.avg.per_cycle_active", "sm__inst_executed.avg.per_cycle_active"),
    "eligible warps": ("smsp__warps_eligible.avg.per_cycle_active",),
    "registers": ("launch__registers_per_thread",),
    "L2, %": ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed",),
    "DRAM, %": ("dram__throughput.avg.pct_of_peak_sustained_elapsed",),
}
PIPE = re.compile(r"sm__(?:inst_executed_)?pipe_(\w+?)(?:_cycles_active)?\.avg\.pct_of_peak_sustained_active")
STALL = re.compile(r"smsp__average_warps?_issue_stalled_(\w+?)_per_issue_active\.ratio")
#: Seconds by the name of their unit.
TO_MILLISECONDS = {"nsecond": 1e-6, "ns": 1e-6, "usecond": 1e-3, "us": 1e-3, "msecond": 1.0, "ms": 1.0}
#: Pipes and stalls below these are left out.
LEAST_PERCENT, LEAST_STALL = 3.0, 0.05

Launch = dict[str, str]


def launches(path: Path) -> tuple[Launch, list[Launch]]:
    """Units, and the counters of each launch."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return (rows[0], rows[1:]) if rows else ({}, [])


def value(launch: Launch, counter: str) -> float | None:
    """A counter, if it was measured."""
    text = (launch.get(counter) or "").replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def shares(launch: Launch, pattern: re.Pattern[str], least: float) -> str:
    """Counters of a kind by name, the largest first."""
    found: dict[str, float] = {}
    for name in launch:
        match, number = pattern.fullmatch(name), value(launch, name)
        if match and number is not None and number >= least and not match[1].endswith("_not_issued"):
            found[match[1]] = max(number, found.get(match[1], 0.0))
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {number:.3g}" for name, number in ordered) or MISSING


def counter(launch: Launch, units: Launch, column: str) -> str:
    """A cell of the table of pipes."""
    for name in COUNTERS[column]:
        number = value(launch, name)
        if number is not None:
            scale = TO_MILLISECONDS.get(units.get(name, ""), 1.0) if column == "ms" else 1.0
            return f"{number * scale:.3g}"
    return MISSING


def render(path: Path) -> str:
    """The tables."""
    units, found = launches(path)
    seen: set[str] = set()
    pipes: list[Cells] = []
    for launch in found:
        kernel = launch["Kernel Name"].split("(")[0]
        operation = "sqr" if kernel in seen else "mul"
        seen.add(kernel)
        cells = [counter(launch, units, column) for column in COUNTERS]
        busy, stalled = shares(launch, PIPE, LEAST_PERCENT), shares(launch, STALL, LEAST_STALL)
        pipes.append([kernel, operation, *cells, busy, stalled])
    heading = [
        "kernel",
        "operation",
        *COUNTERS,
        "pipes, % of their peak",
        "warps stalled, by issued instruction",
    ]
    return markdown(heading, pipes) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", type=Path)
    print(render(parser.parse_args(arguments).profile), end="")


if __name__ == "__main__":
    main()
