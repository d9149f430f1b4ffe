# SPDX-License-Identifier: Apache-2.0
"""`manymod tune`: measures which variant is fastest where on this machine, and writes a tuning file."""

from __future__ import annotations

import time
from pathlib import Path

import click
from rich.console import Console

import manymod
from manymod.cli.bench_quiet import QuietMeter
from manymod.cli.bench_report import widths
from manymod.cli.progress import make_bar, output_console
from manymod.cli.tune_choice import choices, file_text, write_file
from manymod.cli.tune_report import choice_table, print_check, print_usage, show_table
from manymod.cli.tune_run import AUTO, OPS, Case, Settings, Times, cases, measure

__all__ = ["tune"]

BITS = (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)
QUICK_BITS = (256, 512, 1024, 2048)
#: Seconds after which a quick run begins no further case.
QUICK_LIMIT = 45


def _names(_context: click.Context, _parameter: click.Parameter, value: str) -> list[str]:
    """Operations of a comma-separated list."""
    names = [name.strip() for name in value.split(",")]
    if unknown := [name for name in names if name not in OPS]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(OPS)}")
    return list(dict.fromkeys(names))


def _settings(quick: bool) -> Settings:
    if quick:
        return Settings(seconds=0.002, repetitions=7, exponent_bits=256, every_count=False)
    return Settings(seconds=0.005, repetitions=7, exponent_bits=2048, every_count=True)


def _measure_all(wanted: list[Case], settings: Settings, limit: float, extra: list[str]) -> dict[Case, Times]:
    """Times of every case that could begin within `limit` seconds, narrow ones first."""
    start = time.monotonic()
    meter = QuietMeter(settings.seconds / 8)
    found: dict[Case, Times] = {}
    order = sorted(
        wanted, key=lambda case: case.bits
    )  # a run that is cut short has something of each operation
    with make_bar(Console(stderr=True), "cases", enabled=True) as bar:
        for case in bar.track(order, description="measuring"):
            if time.monotonic() - start <= limit:
                found[case] = measure(case, settings, extra, meter)
    return {case: found[case] for case in wanted if case in found}


@click.command(short_help="Measure which variant is fastest where on this machine.")
@click.option("--quick", is_flag=True, help="Few widths, short exponents, less than a minute.")
@click.option("--op", "ops", callback=_names, default=",".join(OPS), show_default=True, help="Operations.")
@click.option("--bits", callback=widths, help=f"Widths. [default: {','.join(map(str, BITS))}]")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("manymod.tuning"),
    show_default=True,
    help="The tuning file to write.",
)
@click.option("--check", is_flag=True, help="Compare the library's choices with the best; write nothing.")
@click.option("--show", is_flag=True, help="Print the tuning table in use; measure nothing.")
def tune(quick: bool, ops: list[str], bits: list[int] | None, output: Path, check: bool, show: bool) -> None:
    """Measure which variant is fastest where on this machine, and write a tuning file.

    Every usable variant is measured at several widths and numbers of items, with one thread: some minutes, or
    less than one with --quick.
    """
    console = output_console()
    try:
        if show:
            show_table(console)
            return
        if not check:
            manymod.load_tuning(None)  # all variants are forced, and this file may be the one to be made
        wanted = cases(ops, bits or (QUICK_BITS if quick else BITS))
        limit = QUICK_LIMIT if quick else float("inf")
        measured = _measure_all(wanted, _settings(quick), limit, [AUTO] if check else [])
    except manymod.ManymodError as error:
        raise click.ClickException(str(error)) from error
    if left_out := len(wanted) - len(measured):
        console.print(f"{left_out} of {len(wanted)} cases were left out for lack of time.")
    if check:
        print_check(measured, console)
        return
    results = {case: choices(times) for case, times in measured.items()}
    try:
        write_file(output, file_text(results))
    except OSError as error:
        raise click.ClickException(f"{output}: {error}") from error
    console.print(choice_table(results))
    print_usage(output, console)
