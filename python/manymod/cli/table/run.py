# SPDX-License-Identifier: Apache-2.0
"""Running a job over table files: options, the run, messages and exit codes."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click
import pyarrow as pa
from rich.console import Console

from manymod import tables
from manymod.cli.exit_codes import EXIT_FAILURE, EXIT_INTERRUPTED
from manymod.cli.failures import say, told
from manymod.cli.interrupt import InterruptGuard
from manymod.cli.options import (
    STANDARD_STREAM,
    NumberRange,
    Option,
    StreamPath,
    device_option,
    threads_option,
    variant_option,
)
from manymod.cli.outputs import refuse_inputs
from manymod.cli.progress import RowProgress
from manymod.cli.table.cluster import RAY_OPTIONS, Cluster, ClusterRun, cluster_of
from manymod.errors import ManymodError
from manymod.tables.formats import TextOptions, check_delimiter
from manymod.tables.text_lines import check_encoding, encodable
from manymod.tables.writers import check_compression

__all__ = [
    "FILES",
    "FILE_FORMATS",
    "STATUS_COLUMN",
    "TableFiles",
    "run_job",
    "run_options",
    "table_files",
    "text_callback",
]

EXIT_BAD_ROWS = 3

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


def _check_text(text: str) -> str:
    if not encodable(text):
        raise ValueError("it is not text in UTF-8")
    return text


#: Callback of options whose text goes into the output or the computation.
text_callback = _checked(_check_text)

#: What messages call the options that name files to read.
_NAMES_OF_INPUTS = {"table": "TABLE", "keys": "a --key", "password_file": "the --password-file"}

#: Options that every table command has.
FILES: list[Option] = [
    click.argument("table", type=StreamPath(exists=True, dir_okay=True)),
    click.option(
        "-o",
        "--output",
        type=StreamPath(),
        metavar="OUT",
        required=True,
        help="Table to write; -: standard output.",
    ),
]
STATUS_COLUMN: Option = click.option(
    "--status-column",
    default="status",
    show_default=True,
    callback=text_callback,
    help="Name of the status column.",
)
FILE_FORMATS: list[Option] = [
    click.option("--input-format", type=_FORMATS, help="Format of TABLE, else by its extension."),
    click.option("--output-format", type=_FORMATS, help="Format of OUT, else by its extension."),
    click.option(
        "--output-compression",
        type=click.Choice(tables.COMPRESSIONS),
        help="Compression of OUT, else by its extension.",
    ),
    click.option(
        "--delimiter",
        callback=_checked(check_delimiter),
        metavar="CHARACTER",
        help="Between the fields of a CSV TABLE: one character, or tab. Else a comma.",
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
            "--memory",
            callback=_memory,
            metavar="SIZE",
            default="400M",
            show_default=True,
            help=f"Bound on memory used, such as 2G; at least {MIN_MEMORY >> 20}M.",
        ),
        click.option(
            "--checkpoint",
            type=NumberRange(0),
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
        *RAY_OPTIONS,
    ]


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """The files of a table command, and how a run over them goes; `output` is None for standard output."""

    table: Path | str
    output: Path | None
    input_format: str
    output_format: str
    output_compression: str | None
    text: TextOptions
    limits: tables.BatchLimits
    checkpoint: float
    resume: bool
    restart: bool
    progress: bool
    cluster: Cluster | None

    @property
    def output_name(self) -> str:
        """What messages call the output."""
        return "standard output" if self.output is None else str(self.output)

    def open_source(self) -> tables.Source:
        """Open the table so that what is copied stays as it was written, as far as the output can tell."""
        return tables.open_source(
            self.table,
            self.input_format,
            self.limits,
            as_lines=self.output_format == "jsonl",
            floats=self.output_format not in tables.CSV_FORMATS,
            text=self.text,
        )

    def runner(self) -> _LocalRun | ClusterRun:
        """What runs a job over the table: this process, or the actors of a cluster."""
        if self.cluster is None:
            return _LocalRun(self)
        arguments = {
            "table": self.table,
            "output": self.output,
            "limits": self.limits,
            "compression": self.output_compression,
            "resume": self.resume,
            "restart": self.restart,
        }
        return ClusterRun(self.cluster, arguments, self.progress)

    def sink(self) -> tables.ResumableFile | tables.StreamSink:
        """The output."""
        if self.output is None:
            return tables.StreamSink(_standard_output(), self.output_format, self.output_compression)
        return tables.ResumableFile(
            self.output,
            self.output_format,
            compression=self.output_compression,
            seconds=self.checkpoint,
            resume=self.resume,
            restart=self.restart,
        )


def _input_format(path: Path | str, given: str | None) -> str:
    if given is None and path == STANDARD_STREAM:
        raise click.UsageError("standard input has no extension: give --input-format")
    return given or _format_of(Path(path), "--input-format")


def _format_of(path: Path, option: str) -> str:
    try:
        return tables.format_of(Path(path))
    except tables.TableError as error:
        raise click.UsageError(f"{error}; give {option}") from error


def _check_output(output: Path, options: dict[str, Any]) -> None:
    """Refuse an output that cannot be written, or that is one of the files to read."""
    try:
        tables.OutputFile(output)
    except tables.TableError as error:
        raise click.UsageError(str(error)) from error
    given = ((name, value if isinstance(value, tuple) else (value,)) for name, value in options.items())
    refuse_inputs(
        output,
        (
            (_NAMES_OF_INPUTS.get(name, name), path)
            for name, values in given
            for path in values
            if name != "output" and isinstance(path, Path)
        ),
    )


def _standard_output() -> IO[bytes]:
    stream: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if stream is None:
        raise click.ClickException("standard output is closed, or takes no bytes")
    return stream


def _check_standard_output(options: dict[str, Any]) -> None:
    """Refuse what standard output cannot be."""
    if options["resume"] or options["restart"]:
        raise click.UsageError("standard output keeps no parts: --resume and --restart are for files")
    if options["output_format"] is None:
        raise click.UsageError("standard output has no extension: give --output-format")
    stream = _standard_output()
    text = options["output_format"] in tables.TEXT_FORMATS and options["output_compression"] in {None, "none"}
    if stream.isatty() and not text:
        raise click.UsageError("binary tables are not written to a terminal: redirect standard output")
    table = options["table"]
    with contextlib.suppress(OSError):  # a stream without a file descriptor
        if isinstance(table, Path) and os.path.samestat(os.fstat(stream.fileno()), table.stat()):
            raise click.UsageError("standard output is TABLE: write to another file")


def table_files(options: dict[str, Any]) -> TableFiles:
    """The files that the options of a table command name, checked."""
    table, output = options["table"], options["output"]
    if options["resume"] and options["restart"]:
        raise click.UsageError("--resume and --restart exclude each other")
    cluster = cluster_of(options)
    if cluster is not None:
        options |= {"input_format": "parquet", "output_format": "parquet"}
    elif table != STANDARD_STREAM and table.is_dir():
        raise click.UsageError(f"{table} is a directory: --ray reads the Parquet files of one")
    compression = options["output_compression"]
    if output == STANDARD_STREAM:
        output, output_format = None, options["output_format"]
        _check_standard_output(options)
    else:
        _check_output(output, options)
        output_format = options["output_format"] or _format_of(output, "--output-format")
    try:
        if output is not None:
            compression = tables.output_compression(output, output_format, compression)
        check_compression(output_format, compression)
    except tables.TableError as error:
        raise click.UsageError(str(error)) from error
    input_format = _input_format(table, options["input_format"])
    if options["delimiter"] and input_format not in tables.CSV_FORMATS:
        raise click.UsageError(f"--delimiter is for CSV, and {table} is {input_format}")
    if options["encoding"] and input_format not in tables.TEXT_FORMATS:
        raise click.UsageError(f"--encoding is for CSV and JSON Lines, and {table} is {input_format}")
    return TableFiles(
        table=table,
        output=output,
        input_format=input_format,
        output_format=output_format,
        output_compression=compression,
        text=TextOptions(options["delimiter"], options["encoding"]),
        limits=tables.BatchLimits.within(options["memory"], options["batch_rows"]),
        cluster=cluster,
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
    runner = files.runner()
    try:
        tally = runner.run(job)
        said = None if hint is None else hint(tally)
        return _report(files, tally, [*tally.hints, *([said] if said else [])])
    except tables.OperandError as error:
        raise click.UsageError(str(error)) from error
    except BrokenPipeError:
        raise
    except (ManymodError, pa.ArrowException, OSError, MemoryError) as error:
        kept = runner.kept()
        say(f"manymod: {told(error)}{kept and '; ' + kept}")
        return EXIT_FAILURE
    except KeyboardInterrupt:
        say(f"manymod: interrupted; {runner.kept() or 'nothing is kept'}")
        return EXIT_INTERRUPTED


class _LocalRun:
    """A run in this process."""

    def __init__(self, files: TableFiles) -> None:
        self._files = files
        self._sink = files.sink()

    def run(self, job: tables.Job) -> tables.Tally:
        """Run a job, and return what became of it."""
        sink = self._sink
        bar = RowProgress(Console(stderr=True), job.name, self._files.progress)
        with InterruptGuard() as guard, contextlib.ExitStack() as stack:
            source = self._files.open_source()
            stack.callback(source.close)
            stack.callback(sink.close)
            with bar:
                tally = tables.run(job, source, sink, progress=bar, shield=guard.shield)
            guard.ignore()
        if isinstance(sink, tables.ResumableFile) and sink.damage is not None:
            say(f"manymod: {sink.damage}")
        return tally

    def kept(self) -> str:
        """What a run that did not finish has left, and how to go on; nothing if it has left nothing."""
        sink = self._sink
        if not isinstance(sink, tables.ResumableFile) or not sink.kept_rows:
            return ""
        if sink.finished:
            return "the output is complete"
        return f"{sink.kept_rows:,} rows are kept in {sink.folder}: the same command with --resume continues"


def _report(files: TableFiles, tally: tables.Tally, hints: Sequence[str]) -> int:
    bad = sum(tally.bad_counts.values())
    if not bad:
        say(f"manymod: {tally.rows:,} rows written to {files.output_name}")
        return 0
    for row, status in tally.bad_rows:
        say(f"manymod: row {row}: {status}")
    if bad > len(tally.bad_rows):
        say(f"manymod: ... and {bad - len(tally.bad_rows):,} more")
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(tally.bad_counts.items()))
    say(f"manymod: {tally.rows:,} rows written to {files.output_name}, {bad:,} of them bad: {counts}")
    for hint in hints:
        say(f"manymod: hint: {hint}")
    return EXIT_BAD_ROWS
