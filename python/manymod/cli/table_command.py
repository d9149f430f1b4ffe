# SPDX-License-Identifier: Apache-2.0
"""The commands that run an operation over a table: options, messages and exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
from rich.console import Console

import manymod
from manymod.cli.operation_job import OperationJob
from manymod.cli.operations import EngineOptions, Operation
from manymod.cli.parts import PartsError
from manymod.cli.progress import RowProgress
from manymod.cli.shape import OperandError, OutputNames
from manymod.cli.sources import TableError
from manymod.cli.table import EXTENSIONS, Outcome, TableJob, run_table

__all__ = ["FILES", "FILE_FORMATS", "STATUS_COLUMN", "job_options", "run_job", "run_options", "table_command"]

EXIT_FAILURE = 1
EXIT_BAD_ROWS = 3
EXIT_INTERRUPTED = 130

FORMATS = click.Choice(["parquet", "csv", "jsonl", "arrow", "arrows"])
#: Smallest memory bound: the interpreter and its libraries alone take most of it.
MIN_MEMORY = 200 << 20

HELP = """{summary}

Reads TABLE (Parquet, CSV, JSON Lines, Arrow IPC) in batches and writes its columns, a result column and a
status column to OUT. An operand is a column name or an integer (decimal or 0x hexadecimal); a name that is
both is a column. Columns may hold integers, decimals of scale 0, text (decimal or 0x hexadecimal) or bytes
(big-endian, unsigned). Results have the type of the first operand's column, or of the modulus's where the
first cannot hold every result.

The status is "ok" or the name of what is wrong with the row, and the result is then null. Exit codes: 0 all
rows are ok, 3 some are not, 1 failure, 2 usage, 130 interrupted. An interrupted run leaves OUT.parts; the
same command with --resume goes on from there.
"""


def _memory(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    """Bytes of a size such as 400M or 2GiB."""
    match = re.fullmatch(r"(\d+)\s*([kMGT]?)(?:i?B)?", value, re.ASCII | re.IGNORECASE)
    if not match:
        raise click.BadParameter(f"{value!r} is not a size; say for instance 400M")
    size = int(match[1]) << 10 * ("kmgt".find(match[2].lower()) + 1 if match[2] else 0)
    if size < MIN_MEMORY:
        raise click.BadParameter(f"{value} is too little; at least {MIN_MEMORY >> 20}M is needed")
    return size


def _format(path: Path, given: str | None, option: str) -> str:
    if path.suffix.lower() in {".gz", ".bz2", ".xz", ".zst"}:
        verb = "decompress it first" if option == "--input-format" else "compress it afterwards"
        raise click.UsageError(f"{path}: compressed tables are not supported; {verb}")
    if given:
        return given
    try:
        return EXTENSIONS[path.suffix.lower()]
    except KeyError:
        known = ", ".join(EXTENSIONS)
        raise click.UsageError(f"{path}: unknown extension (known: {known}); say {option}") from None


_PATH = click.Path(dir_okay=False, path_type=Path)
_IN_PATH = click.Path(exists=True, dir_okay=False, path_type=Path)

#: Options that every table command has.
FILES: list[Callable[[Any], Any]] = [
    click.argument("table", type=_IN_PATH),
    click.option("-o", "--output", required=True, type=_PATH, metavar="OUT", help="Table to write."),
]
STATUS_COLUMN: Callable[[Any], Any] = click.option(
    "--status-column", default="status", show_default=True, help="Name of the status column."
)
FILE_FORMATS: list[Callable[[Any], Any]] = [
    click.option("--input-format", type=FORMATS, help="Format of TABLE, else by its extension."),
    click.option("--output-format", type=FORMATS, help="Format of OUT, else by its extension."),
]


def run_options(batch_rows: int) -> list[Callable[[Any], Any]]:
    """Options on how a table command runs; none of them changes a result."""
    return [
        click.option("--threads", type=click.IntRange(0, 1024), default=0, help="CPU threads; 0: all."),
        click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:K."),
        click.option("--variant", help="Variant by name; see `manymod info`."),
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
        click.option("--resume", is_flag=True, help="Go on from the parts of an interrupted run."),
        click.option("--restart", is_flag=True, help="Discard the parts of an interrupted run."),
        click.option(
            "--progress/--no-progress", default=True, help="Progress bar, where stderr is a terminal."
        ),
    ]


def _operand_options(operation: Operation) -> list[Callable[[Any], Any]]:
    return [
        click.option(f"--{name}", name, required=True, metavar="COLUMN|INTEGER", help=f"Operand {name}.")
        for name in operation.operands
    ]


def _options(operation: Operation) -> list[Callable[[Any], Any]]:
    options = [
        *FILES,
        *_operand_options(operation),
        click.option("--result", default="result", show_default=True, help="Name of the result column."),
        STATUS_COLUMN,
        click.option(
            "--result-format",
            type=click.Choice(["dec", "hex", "bytes"]),
            help="Write results as this instead.",
        ),
        *FILE_FORMATS,
    ]
    if operation.secret:
        options.append(
            click.option("--secret", is_flag=True, help="Time and memory access independent of the values.")
        )
    return [*options, *run_options(operation.batch_rows)]


def table_command(operation: Operation) -> click.Command:
    """The command that runs `operation` over a table."""

    def callback(**options: Any) -> None:
        sys.exit(run_job(_job(operation, options), options["progress"]))

    for option in reversed(_options(operation)):
        callback = option(callback)
    return click.command(
        operation.name, help=HELP.format(summary=operation.summary), short_help=operation.summary
    )(callback)


def job_options(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of a `TableJob` but for `names`, checked."""
    table, output = options["table"], options["output"]
    if options["resume"] and options["restart"]:
        raise click.UsageError("--resume and --restart exclude each other")
    if output.exists() and output.samefile(table):
        raise click.UsageError("OUT is TABLE: write to another file")
    if output.exists() and not output.is_file():
        raise click.UsageError(f"{output} is not a regular file")
    if not output.parent.is_dir():
        raise click.UsageError(f"{output.parent} is not a directory")
    return {
        "input_format": _format(table, options["input_format"], "--input-format"),
        "output_format": _format(output, options["output_format"], "--output-format"),
        **{
            name: options[name]
            for name in ("table", "output", "batch_rows", "memory", "checkpoint", "resume", "restart")
        },
    }


def _job(operation: Operation, options: dict[str, Any]) -> OperationJob:
    return OperationJob(
        operation=operation,
        operands={name: options[name] for name in operation.operands},
        names=OutputNames(options["result"], options["status_column"], options["result_format"] or "same"),
        engine=EngineOptions(
            options.get("secret", False), options["device"], options["variant"], options["threads"]
        ),
        **job_options(options),
    )


def run_job(job: TableJob, show_progress: bool) -> int:
    """Run a table command and say how it went. Returns the exit code."""
    console = Console(stderr=True)
    try:
        outcome = run_table(job, RowProgress(console, job.name, show_progress))
    except OperandError as error:
        raise click.UsageError(str(error)) from error
    except (TableError, PartsError, manymod.ManymodError, pa.ArrowException, OSError, MemoryError) as error:
        click.echo(f"manymod: {error or 'out of memory'}", err=True)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        click.echo("manymod: interrupted before the first row", err=True)
        return EXIT_INTERRUPTED
    return _report(job, outcome)


def _report(job: TableJob, outcome: Outcome) -> int:
    if outcome.interrupted:
        click.echo(
            f"manymod: interrupted; {outcome.rows:,} rows are kept in {outcome.parts}: "
            "the same command with --resume goes on",
            err=True,
        )
        return EXIT_INTERRUPTED
    bad = sum(outcome.bad_counts.values())
    if not bad:
        click.echo(f"manymod: {outcome.rows:,} rows written to {job.output}", err=True)
        return 0
    for row, status in outcome.bad_rows:
        click.echo(f"manymod: row {row}: {status}", err=True)
    if bad > len(outcome.bad_rows):
        click.echo(f"manymod: ... and {bad - len(outcome.bad_rows):,} more", err=True)
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(outcome.bad_counts.items()))
    click.echo(
        f"manymod: {outcome.rows:,} rows written to {job.output}, {bad:,} of them bad: {counts}", err=True
    )
    return EXIT_BAD_ROWS
