# SPDX-License-Identifier: Apache-2.0
"""The commands that run an operation over a table, one for each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from manymod.cli.options import Option
from manymod.cli.table.run import (
    FILE_FORMATS,
    FILES,
    STATUS_COLUMN,
    run_job,
    run_options,
    table_files,
    text_callback,
)
from manymod.tables import EngineOptions, Operation, OperationJob, OutputNames
from manymod.tables.notations import AUTO, NOTATIONS
from manymod.tables.operations import term_labels

__all__ = ["table_command"]

HELP = """{summary}

Reads TABLE (Parquet, CSV, JSON Lines, Arrow IPC) in batches and writes its columns, a result column and a
status column to OUT. TABLE may be - for standard input, and compressed by gzip or Zstandard. An operand is a
column name or an integer (decimal or 0x hexadecimal); a name that is both is a column. Columns may hold
integers, decimals, floats with whole values, text (as --notation says) or bytes (big-endian, unsigned).
Results have the type of the first operand's column, or of the modulus's where the first cannot hold every
result.{more}

The status is "ok" or the name of what is wrong with the row, and the result is then null. Exit codes: 0 all
rows are ok, 3 some are not, 1 failure, 2 usage, 130 interrupted. An interrupted run leaves OUT.parts; the
same command with --resume continues from there.
"""
REPEATED = "\n\nGive --base and --exp once for each term: the first --exp belongs to the first --base."
FIXED = "\n\nThe base and the modulus are one integer each, for which a comb is computed once."


def _operand_options(operation: Operation) -> list[Option]:
    options = []
    for name in operation.operands:
        repeated, fixed = name in operation.repeated, name in operation.fixed
        options.append(
            click.option(
                f"--{name}",
                name,
                required=True,
                multiple=repeated,
                metavar="INTEGER" if fixed else "COLUMN|INTEGER",
                help=("The modulus n" if name == "mod" else f"Operand {name}")
                + ("; once for each term." if repeated else "."),
            )
        )
    return options


def _notations(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """The notation of all columns, and those of single ones."""
    every, single = AUTO, {}
    for value in values:
        column, separator, notation = value.rpartition("=")
        if notation not in NOTATIONS:
            raise click.BadParameter(f"{notation!r} is none of {', '.join(NOTATIONS)}")
        if separator:
            single[column] = notation
        else:
            every = notation
    return every, single


def _options(operation: Operation) -> list[Option]:
    options = [
        *FILES,
        *_operand_options(operation),
        click.option(
            "--result",
            default="result",
            show_default=True,
            callback=text_callback,
            help="Name of the result column.",
        ),
        STATUS_COLUMN,
        click.option(
            "--result-format",
            type=click.Choice(["dec", "hex", "base64", "bytes"]),
            help="Write results as this instead.",
        ),
        click.option(
            "--notation",
            "notations",
            multiple=True,
            callback=_notations,
            metavar="[COLUMN=]NOTATION",
            help="Of integers in text, in all columns or in one: auto (decimal, or hexadecimal after 0x), "
            "dec, hex (with or without 0x), base64 (of bytes, big-endian).",
        ),
        *FILE_FORMATS,
    ]
    if operation.secret:
        options.append(
            click.option(
                "--secret", is_flag=True, help="Constant-time: independent of the values; odd moduli."
            )
        )
    return [*options, *run_options(operation.batch_rows)]


def _operands(operation: Operation, options: dict[str, Any]) -> dict[str, str]:
    """Operands by label."""
    found: dict[str, str] = {}
    terms = {len(options[name]) for name in operation.repeated}
    if len(terms) > 1:
        raise click.UsageError("a product needs as many --base as --exp")
    for term in range(1, max(terms, default=0) + 1):
        labels = term_labels(operation.repeated, term)
        found.update(zip(labels, (options[name][term - 1] for name in operation.repeated), strict=True))
    found.update({name: options[name] for name in operation.operands if name not in operation.repeated})
    return found


def _job(operation: Operation, options: dict[str, Any]) -> OperationJob:
    notation, column_notations = options["notations"]
    return OperationJob(
        operation=operation,
        notation=notation,
        column_notations=column_notations,
        operands=_operands(operation, options),
        names=OutputNames(options["result"], options["status_column"], options["result_format"] or "same"),
        engine=EngineOptions(
            options.get("secret", False), options["device"], options["variant"], options["threads"]
        ),
    )


def table_command(operation: Operation) -> click.Command:
    """The command that runs `operation` over a table."""

    def callback(**options: Any) -> None:
        files = table_files(options)
        sys.exit(run_job(_job(operation, options), files))

    for option in reversed(_options(operation)):
        callback = option(callback)
    more = REPEATED if operation.repeated else FIXED if operation.fixed else ""
    text = HELP.format(summary=operation.summary, more=more)
    return click.command(operation.name, help=text, short_help=operation.summary)(callback)
