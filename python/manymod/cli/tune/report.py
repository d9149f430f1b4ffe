# SPDX-License-Identifier: Apache-2.0
"""What `manymod tune` prints."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import manymod
from manymod.cli.tune.case import Case
from manymod.cli.tune.choice import Choice
from manymod.cli.tune.cpu_measure import AUTO, Times
from manymod.cli.tune.gpu_choice import GpuChoice, time_text
from manymod.cli.tune.gpu_measure import GpuTimes
from manymod.cli.tuning_rows import rows_table

__all__ = [
    "choice_table",
    "gpu_choice_table",
    "print_check",
    "print_usage",
    "show_table",
    "times_remarks",
]


def _items(choice: Choice) -> str:
    if choice.max_items is None:
        return f"{choice.min_items}+"
    return (
        str(choice.min_items)
        if choice.min_items == choice.max_items
        else f"{choice.min_items}-{choice.max_items}"
    )


def _time(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None or math.isinf(nanoseconds) else f"{nanoseconds:,.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def choice_table(results: Mapping[Case, Sequence[Choice]]) -> Table:
    """Return the choices, each with its measurement."""
    table = Table(title="Choices, with the time at the band's largest number of items", title_justify="left")
    for heading in ("operation", "timing", "bits", "items", "variant"):
        table.add_column(heading)
    for heading in ("ns an item", "runner-up", "its ns", "ratio"):
        table.add_column(heading, justify="right")
    for case, chosen in results.items():
        for choice in chosen:
            table.add_row(
                *(
                    case.op,
                    case.timing,
                    str(case.bits),
                    _items(choice),
                    choice.variant,
                    _time(choice.item_ns),
                ),
                *(choice.runner_up or "", _time(choice.runner_up_ns), _ratio(choice.ratio)),
            )
    return table


def gpu_choice_table(results: Mapping[Case, Sequence[GpuChoice]], measured: Mapping[Case, GpuTimes]) -> Table:
    """Return the choices, each with its measurement; `CPU` where it wins at large numbers."""
    table = Table(title="Choices, with the time at the band's largest number of items", title_justify="left")
    for heading in ("operation", "timing", "bits", "items from", "variant"):
        table.add_column(heading)
    for heading in ("items", "time", "CPU's time", "gain"):
        table.add_column(heading, justify="right")
    for case, chosen in results.items():
        what = (case.op, case.timing, str(case.bits))
        for choice in chosen:
            own, cpu = choice.item_ns * choice.count, choice.cpu_ns * choice.count
            name = choice.variant if choice.companion is None else f"{choice.variant} ({choice.companion})"
            name = f"elsewhere: {name}" if choice.elsewhere else name
            numbers = (str(choice.count), time_text(own), time_text(cpu), f"{choice.gain:.1f}x")
            table.add_row(*what, str(choice.min_items), name, *numbers)
        if not chosen:
            found = measured[case]
            count = max(found.cpu)
            own, cpu = found.gpu[found.best(count)][count] * count, found.cpu[count] * count
            numbers = (str(count), time_text(own), time_text(cpu), f"{found.gain(count):.1f}x")
            table.add_row(*what, "", f"CPU ({found.best(count)})", *numbers)
    return table


def times_remarks(measured: Mapping[Case, GpuTimes]) -> list[str]:
    """All that was measured, a line for each case and variant that had its turn."""
    return [
        f"{case.op} {case.timing} {case.bits} bits, {name}: "
        + ", ".join(
            f"{count} items {time_text(nanoseconds * count)}"
            for count, nanoseconds in by_count.items()
            if math.isfinite(nanoseconds)
        )
        for case, found in measured.items()
        for name, by_count in found.times.items()
        if any(map(math.isfinite, by_count.values()))
    ]


def show_table(console: Console) -> None:
    """Print the tuning table in use."""
    table = manymod.tuning()
    console.print(rows_table(table))
    for note in table.notes:
        console.print(note, markup=False)


def print_check(
    measured: Mapping[Case, Times], library_choice: Callable[[Case, int], str], console: Console
) -> None:
    """Print the library's own choice, the best variant, and the difference."""
    table = Table(title="The library's choice and the best variant measured", title_justify="left")
    for heading in ("operation", "timing", "bits", "items", "choice", "best"):
        table.add_column(heading)
    for heading in ("choice's ns", "best's ns", "regret"):
        table.add_column(heading, justify="right")
    regrets = []
    for case, times in measured.items():
        for count, own in times[AUTO].items():
            best = min((name for name in times if name != AUTO), key=lambda name: times[name][count])
            regrets.append(own / times[best][count] - 1)
            table.add_row(
                *(case.op, case.timing, str(case.bits), str(count), library_choice(case, count), best),
                *(_time(own), _time(times[best][count]), f"{regrets[-1]:+.0%}"),
            )
    console.print(table)
    console.print(f"worst regret {max(regrets):+.0%}, mean {sum(regrets) / len(regrets):+.1%}")


def print_usage(path: Path, console: Console) -> None:
    """Say where the file is and how to use it."""
    console.print(f"Written to {path}. To use it:", markup=False, soft_wrap=True)
    for line in (
        f"  export MANYMOD_TUNING={shlex.quote(str(path.resolve()))}",
        f"  manymod.load_tuning({str(path.resolve())!r})   # Python",
        f'  mm_tuning_load("{path.resolve()}");   /* C */',
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
