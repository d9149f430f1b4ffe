# SPDX-License-Identifier: Apache-2.0
"""What `manymod tune` prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

import manymod
from manymod.cli.tune_choice import Choice
from manymod.cli.tune_run import AUTO, Case, Times, library_choice

__all__ = ["choice_table", "print_check", "print_usage", "rows_table", "show_table"]


def _items(choice: Choice) -> str:
    if choice.max_items is None:
        return f"{choice.min_items}+"
    return (
        str(choice.min_items)
        if choice.min_items == choice.max_items
        else f"{choice.min_items}-{choice.max_items}"
    )


def _time(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f"{nanoseconds:,.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def choice_table(results: Mapping[Case, Sequence[Choice]]) -> Table:
    """The choices made, with the measurement beside each."""
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


def rows_table(table_in_use: manymod.Tuning) -> Table:
    """The rows of a tuning table, with the measurement beside each choice."""
    source = table_in_use.source or "of this build"
    rows = Table(
        title=Text(f"Tuning table {source}: {table_in_use.processor}, {table_in_use.date}"),
        title_justify="left",
    )
    for heading in ("operation", "timing", "bits", "items from", "variant", "measurement"):
        rows.add_column(heading)
    for row in table_in_use.rows:
        timing = "secret" if row.secret else "public"
        bits = f"{row.min_bits}-{row.max_bits}"
        rows.add_row(row.op, timing, bits, str(row.min_items), Text(row.variant), Text(row.evidence))
    return rows


def show_table(console: Console) -> None:
    """Print the tuning table in use."""
    table = manymod.tuning()
    console.print(rows_table(table))
    for note in table.notes:
        console.print(note, markup=False)


def print_check(measured: Mapping[Case, Times], console: Console) -> None:
    """Print the library's own choice beside the best variant, and what it loses."""
    table = Table(title="The library's choice beside the best variant measured", title_justify="left")
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
