# SPDX-License-Identifier: Apache-2.0
"""`manymod selftest`: every usable variant against Python's own arithmetic, on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod.cli.operations import status_name
from manymod.cli.progress import make_bar
from manymod.cli.selftest_cases import OPERANDS, WIDTHS, Batch, batch

__all__ = ["selftest"]


@dataclass
class Tally:
    """Results of one variant, operation and timing class."""

    variant: str
    op: str
    timing: str
    items: int = 0
    wrong: int = 0
    seconds: float = 0.0
    first: str = ""


def _runs(only: str | None) -> Iterator[Tally]:
    """Every combination that can run here."""
    for variant in manymod.variants():
        if not variant.usable or only not in (None, variant.name):
            continue
        for timing, offered in (("public", variant.public_ops), ("secret", variant.secret_ops)):
            for op in OPERANDS:
                if op in offered:
                    yield Tally(variant.name, op, timing)


def _widths(name: str) -> list[int]:
    variant = next(variant for variant in manymod.variants() if variant.name == name)
    return [bits for bits in WIDTHS if variant.min_bits <= bits <= variant.max_bits]


def _call(tally: Tally, columns: list[Any]) -> list[tuple[int, str]]:
    words: dict[str, Any] = {"variant": tally.variant, "errors": "status"}
    if tally.timing == "secret":
        words["secret"] = True
    values, statuses = getattr(manymod, tally.op)(*columns, **words)
    return [(int(value), status_name(status)) for value, status in zip(values, statuses, strict=True)]


def _compare(tally: Tally, bits: int, kind: str, case: Batch, columns: list[Any]) -> None:
    wanted = case.secret if tally.timing == "secret" else case.public
    start = time.perf_counter()
    got = _call(tally, columns)
    tally.seconds += time.perf_counter() - start
    tally.items += len(wanted)
    for index, (answer, right) in enumerate(zip(got, wanted, strict=True)):
        if answer[1] != right[1] or (right[1] == "ok" and answer[0] != right[0]):
            tally.wrong += 1
            values = ", ".join(hex(column[index]) for column in case.columns)
            tally.first = (
                tally.first or f"{bits} bits, {kind} moduli: {tally.op}({values}) is {right}, got {answer}"
            )
    if len(got) != len(wanted):
        tally.wrong += abs(len(got) - len(wanted))


def _test(tally: Tally, seed: int) -> None:
    for bits in _widths(tally.variant):
        each = batch(tally.op, bits, seed, shared=False)
        _compare(tally, bits, "mixed", each, [list(column) for column in each.columns])
        shared = batch(tally.op, bits, seed, shared=True)
        columns: list[Any] = [list(column) for column in shared.columns]
        _compare(tally, bits, "shared", shared, [*columns[:-1], columns[-1][0]])


def _table(tallies: list[Tally]) -> Table:
    table = Table("variant", "operation", "timing", title="Self-test", title_justify="left")
    for heading in ("items", "wrong", "seconds"):
        table.add_column(heading, justify="right")
    for tally in tallies:
        wrong = f"[red]{tally.wrong}" if tally.wrong else "0"
        row = (tally.variant, tally.op, tally.timing, f"{tally.items:,}", wrong, f"{tally.seconds:.2f}")
        table.add_row(*row)
    return table


@click.command(short_help="Every usable variant against Python's arithmetic, in under 30 s.")
@click.option("--variant", help="Only this variant.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random operands.")
def selftest(variant: str | None, seed: int) -> None:
    """Run every usable variant, operation, timing class and edge value; exit 1 on any difference."""
    start = time.perf_counter()
    tallies = list(_runs(variant))
    if not tallies:
        raise click.ClickException(f"no usable variant {variant!r}; see `manymod info`")
    with make_bar(Console(stderr=True), "runs", enabled=True) as bar:
        for tally in bar.track(tallies, description="testing"):
            _test(tally, seed)
    console = Console()
    console.print(_table(tallies))
    for tally in tallies:
        if tally.first:
            click.echo(f"{tally.variant}, {tally.timing}: {tally.first}", err=True)
    wrong = sum(tally.wrong for tally in tallies)
    seconds = time.perf_counter() - start
    console.print(
        f"{sum(tally.items for tally in tallies):,} items, {wrong:,} wrong, {seconds:.1f} s, seed {seed}"
    )
    sys.exit(1 if wrong else 0)
