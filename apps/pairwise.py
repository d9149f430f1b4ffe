# SPDX-License-Identifier: Apache-2.0
"""Measures an application beside a peer: both in turns, so that what slows the machine slows both."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import manymod

__all__ = ["Row", "compare", "pin_to_one_cpu", "report", "single", "table"]


@dataclass(frozen=True)
class Row:
    """Items a second of both; the ratio is the median of the ratios within a round."""

    what: str
    items: int
    rate: float
    peer: str
    peer_rate: float | None
    ratio: float | None


def _short(rate: float) -> str:
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if rate >= 0.9995 * unit:
            return f"{rate / unit:.3g}{name}"
    return f"{rate:.3g}"


def table(results: Iterable[dict[str, Any]]) -> str:
    """The table in Markdown of rows as a report has them.

    >>> rows = [Row("add", 10, 1234.5, "peer", 100.0, 12.34), Row("sum", 10, 999_800.0, "-", None, None)]
    >>> print(table(row.__dict__ for row in rows))
    | items a second | manymod | peer | ratio |
    | --- | ---: | ---: | ---: |
    | add | 1.23 k | 100 | 12.3x |
    | sum | 1 M | - | - |
    """
    lines = ["| items a second | manymod | peer | ratio |", "| --- | ---: | ---: | ---: |"]
    for row in results:
        peer = "-" if row["peer_rate"] is None else _short(row["peer_rate"])
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.1f}x"
        lines.append(f"| {row['what']} | {_short(row['rate'])} | {peer} | {ratio} |")
    return "\n".join(lines)


#: how long a contender runs in a round, at least about
ROUND_SECONDS = 0.25


def _has_gpu() -> bool:
    return any(device.backend != "cpu" for device in manymod.devices())


def _seconds(run: Callable[[], Any], times: int = 1) -> float:
    """Processor time, which does not count what others do on the machine; with a GPU, time on the clock."""
    clock = time.perf_counter if _has_gpu() else time.process_time
    start = clock()
    for _ in range(times):
        run()
    return clock() - start


def _times(run: Callable[[], Any]) -> int:
    """How often to run something in a round, after a first run that warms it up."""
    run()
    return max(1, round(ROUND_SECONDS / max(_seconds(run), 1e-4)))


def compare(
    what: str,
    items: int,
    ours: Callable[[], Any],
    peer: str,
    peer_items: int,
    theirs: Callable[[], Any],
    rounds: int = 7,
) -> Row:
    """Medians of rounds that each run `ours` on `items` and then `theirs` on `peer_items`."""
    times, peer_times = _times(ours), _times(theirs)
    rates, peer_rates = [], []
    for _ in range(rounds):
        rates.append(items * times / _seconds(ours, times))
        peer_rates.append(peer_items * peer_times / _seconds(theirs, peer_times))
    ratio = statistics.median(a / b for a, b in zip(rates, peer_rates, strict=True))
    return Row(what, items, statistics.median(rates), peer, statistics.median(peer_rates), ratio)


def single(what: str, items: int, ours: Callable[[], Any], rounds: int = 7) -> Row:
    """The median of as many rounds where there is no peer."""
    times = _times(ours)
    rate = statistics.median(items * times / _seconds(ours, times) for _ in range(rounds))
    return Row(what, items, rate, "-", None, None)


def pin_to_one_cpu() -> None:
    """Keep this process, and the threads that it starts from now on, on one CPU; not where a GPU computes."""
    if _has_gpu():
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    manymod.set_threads(1)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def report(rows: list[Row], path: Path | None, packages: tuple[str, ...], **conditions: Any) -> None:
    """Print the rows, and write them with the machine and the versions as JSON where a path is given."""
    results = [row.__dict__ for row in rows]
    print(table(results))
    if path is None:
        return
    contents = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": _processor(),
        "versions": {"manymod": manymod.__version__, "python": platform.python_version()}
        | {name: version(name) for name in packages},
        "threads": manymod.get_threads(),
        "devices": [device.name for device in manymod.devices()],
        "method": f"{'time with a GPU' if _has_gpu() else 'processor time on one CPU'}; medians of rounds in"
        " which both ran for a quarter second or more; ratio: median of the ratios within a round",
        **conditions,
        "results": results,
    }
    path.write_text(json.dumps(contents, indent=2) + "\n", encoding="utf-8")
