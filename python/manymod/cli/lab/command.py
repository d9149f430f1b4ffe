# SPDX-License-Identifier: Apache-2.0
"""`manymod lab`: repeats the tables and figures of five papers on this machine, and writes one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from manymod.cli.options import NumberRange, output_option
from manymod.cli.outputs import check_output, refuse_inputs, write_output
from manymod.cli.progress import make_bar, output_console
from manymod.lab.catalogue import load, select
from manymod.lab.machine import Machine
from manymod.lab.model import Row
from manymod.lab.recipes.programs import PROGRAMS
from manymod.lab.report import html, markdown
from manymod.lab.report.compare import changes, summary
from manymod.lab.report.compare import markdown as comparison
from manymod.lab.runner import Settings, run
from manymod.lab.store import Store, StoreError, read
from manymod.lab.units import UNITS, text
from manymod.lab.work import Plan
from manymod.tables import OutputFile

__all__ = ["lab"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_REPORTS = (*(name for name in PROGRAMS if name != "manymod_bench"), "cgbn", "gecc")
#: Samples, seconds of each, and seconds of the longest call, in a quick run and in a full one.
_QUICK_SECONDS, _QUICK_LONGEST, _QUICK_MINUTES = 0.02, 5.0, 20.0
_FULL = Plan(samples=9, seconds=0.2, longest=20.0)


def _reports(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, Path]:
    """NAME=FILE of each."""
    found = {}
    for value in values:
        name, separator, file = value.partition("=")
        if not separator or name not in _REPORTS:
            raise click.BadParameter(f"{value!r}: NAME=FILE with NAME one of {', '.join(_REPORTS)}")
        if not Path(file).is_file():
            raise click.BadParameter(f"{file} is no file")
        found[name] = Path(file)
    return found


def _outputs(prefix: Path) -> tuple[Path, Path, Path]:
    """The JSON, the page, and Markdown."""
    return tuple(prefix.with_name(prefix.name + suffix) for suffix in (".json", ".html", ".md"))  # type: ignore[return-value]


def _prefix(_context: click.Context, _parameter: click.Parameter, value: Path) -> Path:
    """Where the report goes: a name, to which the endings of its files are added."""
    if not value.name:
        raise click.BadParameter(f"{str(value)!r} has no name of a file")
    return value


def _check_outputs(prefix: Path, reports: Mapping[str, Path]) -> None:
    """Refuse what cannot be written, or is to be read, before anything is measured.

    Raises:
        TableError: if one of the report's files cannot be written.
        UsageError: if it is one of `reports`.
    """
    prefix.parent.mkdir(parents=True, exist_ok=True)
    for path in _outputs(prefix):
        OutputFile(path)
        refuse_inputs(path, ((f"--report {name}", report) for name, report in reports.items()), str(path))


def _write(document: dict[str, Any], prefix: Path) -> None:
    _, page, text_file = _outputs(prefix)
    OutputFile(page).write(html.render(document).encode())
    OutputFile(text_file).write(markdown.render(document).encode())


def _line(row: Row, entry: dict[str, Any]) -> str:
    if entry["state"] != "measured":
        return f"{row.id}: {entry['state']}: {entry['why']}"
    found = entry["measurement"]
    paper = ""
    if row.figure and row.figure.value is not None:
        paper = f", paper {text(row.figure.value)}"
    return f"{row.id}: {text(found['value'])} {UNITS[found['unit']].label}{paper} ({found['what']})"


def _selected(only: tuple[str, ...]) -> list[Row]:
    try:
        return select(load(), only)
    except KeyError as error:
        raise click.BadParameter(f"no row is {error.args[0]!r}; see --list", param_hint="--only") from error


def _settings(quick: int | None, minutes: float | None, device: str, again: bool) -> Settings:
    plan = _FULL if quick is None else Plan(quick, _QUICK_SECONDS, _QUICK_LONGEST)
    usual = 0.0 if quick is None else _QUICK_MINUTES
    devices = ("cuda", "cpu") if device == "auto" else (device,)
    return Settings(plan, usual if minutes is None else minutes, devices, again)


def _described(settings: Settings) -> dict[str, Any]:
    plan = settings.plan
    return {
        "samples": plan.samples,
        "seconds": plan.seconds,
        "minutes": settings.minutes,
        "devices": list(settings.devices),
        "method": "contenders of a row by turns; one thread in processor time, else wall time; answers "
        "compared with Python's or another library's; of programs of bench/ their own medians",
    }


def _measure(rows: list[Row], machine: Machine, settings: Settings, prefix: Path) -> None:
    console = Console(stderr=True)
    store = Store(_outputs(prefix)[0], machine.facts, _described(settings))
    states: Counter[str] = Counter()
    total = sum(settings.again or not store.is_measured(row.id) for row in rows)
    try:
        with make_bar(console, "rows", enabled=True) as bar:
            task = bar.add_task("measuring", total=total)
            for row, entry in run(rows, machine, settings, store):
                states[entry["state"]] += 1
                bar.update(task, advance=1)
                if entry["state"] in {"measured", "failed"}:
                    bar.console.print(_line(row, entry), highlight=False, markup=False)
    finally:  # a run that is stopped leaves its report, too
        store.arrange({row.id: place for place, row in enumerate(load())})
        store.save()
        _write(store.document, prefix)
    told = ", ".join(f"{number} {state}" for state, number in states.items()) or "nothing was left to measure"
    console.print(f"{told}; {', '.join(map(str, _outputs(prefix)))}", highlight=False)
    if states["failed"]:
        raise click.ClickException(f"{states['failed']} rows failed: see the end of {_outputs(prefix)[2]}")


@click.group(invoke_without_command=True, short_help="The papers' tables and figures on this machine.")
@click.option(
    "-o",
    "--output",
    "prefix",
    type=click.Path(path_type=Path),
    default=Path("manymod-lab"),
    callback=_prefix,
    show_default=True,
    metavar="OUTPUT",
    help="The report is OUTPUT.html, OUTPUT.md and OUTPUT.json.",
)
@click.option(
    "--only", multiple=True, metavar="ROW", help="Rows by name, its beginning or a pattern: 002/II/980ti*."
)
@click.option(
    "--quick",
    type=click.IntRange(1, 100),
    is_flag=False,
    flag_value=3,
    default=None,
    metavar="[N]",
    help="N short samples of a row, 3 without N, and no row begins after 20 minutes.",
)
@click.option("--minutes", type=NumberRange(0), help="No row begins after so many minutes; 0: no limit.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="auto: rows of GPUs on a GPU, or their counterparts on the CPU where there is none.",
)
@click.option("--again", is_flag=True, help="Measure rows again that the report has.")
@click.option(
    "--programs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the programs of bench/, and of other libraries.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    callback=_reports,
    metavar="NAME=FILE",
    help=f"Take rows from a report of one of these programs: {', '.join(_REPORTS)}.",
)
@click.option("--list", "list_rows", is_flag=True, help="List the rows, and measure nothing.")
@click.pass_context
def lab(
    context: click.Context,
    prefix: Path,
    only: tuple[str, ...],
    quick: int | None,
    minutes: float | None,
    device: str,
    again: bool,
    programs: Path | None,
    reports: dict[str, Path],
    list_rows: bool,
) -> None:
    """Repeat the tables and figures of five papers on this machine, beside the papers' figures.

    A run goes on where an earlier one with the same OUTPUT ended.
    """
    if context.invoked_subcommand is not None:
        return
    rows = _selected(only)
    if list_rows:
        for row in rows:
            click.echo(f"{row.id}\t{row.what}")
        return
    settings = _settings(quick, minutes, device, again)
    _check_outputs(prefix, reports)
    with Machine(programs, reports) as machine:
        try:
            _measure(rows, machine, settings, prefix)
        except StoreError as error:
            raise click.ClickException(str(error)) from error


@lab.command("render", short_help="The page and Markdown of a report's JSON.")
@click.argument("report", type=_FILE)
def render(report: Path) -> None:
    """Write REPORT's page and Markdown beside it: of r.json, r.html and r.md."""
    prefix = report.with_suffix("")
    for path in _outputs(prefix)[1:]:
        refuse_inputs(path, [("REPORT", report)], str(path))
    try:
        _write(read(report), prefix)
    except StoreError as error:
        raise click.ClickException(str(error)) from error


@lab.command("compare", short_help="Two reports row by row.")
@click.argument("first", type=_FILE)
@click.argument("second", type=_FILE)
@output_option("Write all rows as Markdown to this file.")
def compare(first: Path, second: Path, output: Path | None) -> None:
    """Compare two reports' JSON: what became faster or slower by more than samples vary."""
    if output is not None:
        check_output(output, [("FIRST", first), ("SECOND", second)])
    try:
        found = changes(read(first), read(second))
    except StoreError as error:
        raise click.ClickException(str(error)) from error
    if output is not None:
        write_output(output, comparison(found))
    console = output_console()
    for change in found:
        if change.verdict in {"faster", "slower"}:
            factor = f"{change.factor:.3f}x +- {100 * (change.error or 0):.1f} %"
            console.print(f"{change.verdict:7} {change.id}: {factor} {change.why}".rstrip(), markup=False)
    console.print(summary(found), markup=False)
