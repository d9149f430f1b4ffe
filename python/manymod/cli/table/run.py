# SPDX-License-Identifier: Apache-2.0
"""Running a job over table files: options, the run, messages and exit codes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
from rich.console import Console

from manymod import tables
from manymod.cli.interrupt import InterruptGuard
from manymod.cli.options import (
    STANDARD_STREAM,
    Option,
    StreamPath,
    device_option,
    output_option,
    threads_option,
    variant_option,
)
from manymod.cli.progress import RowProgress
from manymod.errors import ManymodError
from manymod.tables.formats import TextOptions, check_delimiter
from manymod.tables.text_lines import check_encoding

__all__ = ["FILES", "FILE_FORMATS", "STATUS_COLUMN", "TableFiles", "run_job", "run_options", "table_files"]

EXIT_FAILURE = 1
EXIT_BAD_ROWS = 3
EXIT_INTERRUPTED = 130

_FORMATS = click.Choice(tables.FORMATS)
#: Smallest memory bound: the interpreter and its libraries alone take most of it.
MIN_MEMORY = 200 << 20


def _checked(check: Callable[[str], str]) -> Callable[..., str | None]:
    """Return a callback that passes an option's value through a check, where it is given."""

    def callback(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
        try:
            return None if value is None else check(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return callback


#: Options that every table command has.
FILES: list[Option] = [
    click.argument("table", type=StreamPath(exists=True)),
    output_option("Table to write.", required=True),
]
STATUS_COLUMN: Option = click.option(
    "--status-column", default="status", show_default=True, help="Name of the status column."
)
FILE_FORMATS: list[Option] = [
    click.option("--input-format", type=_FORMATS, help="Format of TABLE, else by its extension."),
    click.option("--output-format", type=_FORMATS, help="Format of OUT, else by its extension."),
    click.option(
        "--delimiter",
        callback=_checked(check_delimiter),
        metavar="CHARACTER",
        help="Between the fields of a CSV TABLE, such as ; or tab, else a comma (in .tsv a tab).",
    ),
    click.option(
        "--encoding",
        callback=_checked(check_encoding),
        metavar="NAME",
        help="Of a CSV or JSON Lines TABLE, such as latin-1, else UTF-8 or what its byte order mark says.",
    ),
]


def _memory(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    """Bytes of a size such as 400M or 2GiB."""
    match = re.fullmatch(r"(\d+)\s*([kMGT]?)(?:i?B)?", value, re.ASCII | re.IGNORECASE)
    if not match:
        raise click.BadParameter(f"{value!r} is not a size, such as 400M")
    size = int(match[1]) << 10 * ("kmgt".find(match[2].lower()) + 1 if match[2] else 0)
    if size < MIN_MEMORY:
        raise click.BadParameter(f"{value} is too little; at least {MIN_MEMORY >> 20}M is needed")
    return size


def run_options(batch_rows: int) -> list[Option]:
    """Options on how a table command runs; none of them changes a result."""
    return [
        threads_option(),
        device_option(),
        variant_option(),
        click.option(
            "--batch-rows",
            type=click.IntRange(1),
            default=batch_rows,
            show_default=True,
            help="Rows at a time.",
        ),
        click.option(
            "--memory", callback=_memory, default="400M", show_default=True, help="Bound on memory used."
        ),
        click.option(
            "--checkpoint",
            type=click.FloatRange(0),
            default=5.0,
            show_default=True,
            metavar="SECONDS",
            help="Keep finished rows for --resume at least this often.",
        ),
        click.option("--resume", is_flag=True, help="Continue from the parts of an interrupted run."),
        click.option("--restart", is_flag=True, help="Discard the parts of an interrupted run."),
        click.option(
            "--progress/--no-progress", default=True, help="Progress bar, where stderr is a terminal."
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """The files of a table command, and how a run over them goes."""

    table: Path | str
    output: Path
    input_format: str
    output_format: str
    text: TextOptions
    limits: tables.BatchLimits
    checkpoint: float
    resume: bool
    restart: bool
    progress: bool

    def open_source(self) -> tables.Source:
        """Open the table so that what is copied stays as it was written, as far as the output can tell."""
        return tables.open_source(
            self.table,
            self.input_format,
            self.limits,
            as_lines=self.output_format == "jsonl",
            floats=self.output_format != "csv",
            text=self.text,
        )

    def sink(self) -> tables.ResumableFile:
        """The output."""
        return tables.ResumableFile(
            self.output,
            self.output_format,
            seconds=self.checkpoint,
            resume=self.resume,
            restart=self.restart,
        )


def _format(path: Path | str, given: str | None, option: str) -> str:
    if given:
        return given
    if path == STANDARD_STREAM:
        raise click.UsageError(f"standard input and output have no extension: give {option}")
    try:
        return tables.format_of(Path(path))
    except tables.TableError as error:
        raise click.UsageError(f"{error}; give {option}") from error


def table_files(options: dict[str, Any]) -> TableFiles:
    """The files that the options of a table command name, checked."""
    table, output = options["table"], options["output"]
    if options["resume"] and options["restart"]:
        raise click.UsageError("--resume and --restart exclude each other")
    if output.exists() and table != STANDARD_STREAM and output.samefile(table):
        raise click.UsageError("OUT is TABLE: write to another file")
    if output.exists() and not output.is_file():
        raise click.UsageError(f"{output} is not a regular file")
    if not output.parent.is_dir():
        raise click.UsageError(f"{output.parent} is not a directory")
    return TableFiles(
        table=table,
        output=output,
        input_format=_format(table, options["input_format"], "--input-format"),
        output_format=_format(output, options["output_format"], "--output-format"),
        text=TextOptions(options["delimiter"], options["encoding"]),
        limits=tables.BatchLimits.within(options["memory"], options["batch_rows"]),
        **{name: options[name] for name in ("checkpoint", "resume", "restart", "progress")},
    )


def run_job(
    job: tables.Job, files: TableFiles, hint: Callable[[tables.Tally], str | None] | None = None
) -> int:
    """Run a table command and print its outcome. Returns the exit code.

    Args:
        job: what is done.
        files: the table and the output.
        hint: returns what may be wrong with the options, given the outcome; None: nothing.
    """
    sink = files.sink()
    try:
        tally = _run(job, files, sink)
        said = None if hint is None else hint(tally)
        return _report(files, tally, [*tally.hints, *([said] if said else [])])
    except tables.OperandError as error:
        raise click.UsageError(str(error)) from error
    except (ManymodError, pa.ArrowException, OSError, MemoryError) as error:
        click.echo(f"manymod: {error or 'out of memory'}", err=True)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        kept = f"{sink.tally.rows:,} rows are kept in {sink.folder}: the same command with --resume continues"
        message = kept if sink.folder.exists() else "before the first row"
        click.echo(f"manymod: interrupted; {message}", err=True)
        return EXIT_INTERRUPTED


def _run(job: tables.Job, files: TableFiles, sink: tables.ResumableFile) -> tables.Tally:
    bar = RowProgress(Console(stderr=True), job.name, files.progress)
    with InterruptGuard() as guard, contextlib.ExitStack() as stack:
        source = files.open_source()
        stack.callback(source.close)
        stack.callback(sink.close)
        with bar:
            tally = tables.run(job, source, sink, progress=bar, shield=guard.shield)
        guard.ignore()
    return tally


def _report(files: TableFiles, tally: tables.Tally, hints: Sequence[str]) -> int:
    bad = sum(tally.bad_counts.values())
    if not bad:
        click.echo(f"manymod: {tally.rows:,} rows written to {files.output}", err=True)
        return 0
    for row, status in tally.bad_rows:
        click.echo(f"manymod: row {row}: {status}", err=True)
    if bad > len(tally.bad_rows):
        click.echo(f"manymod: ... and {bad - len(tally.bad_rows):,} more", err=True)
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(tally.bad_counts.items()))
    click.echo(
        f"manymod: {tally.rows:,} rows written to {files.output}, {bad:,} of them bad: {counts}", err=True
    )
    for hint in hints:
        click.echo(f"manymod: hint: {hint}", err=True)
    return EXIT_BAD_ROWS
