# SPDX-License-Identifier: Apache-2.0
"""Options on columns that the commands with keys, `manymod rsa` and `manymod ecc`, have in common."""

from __future__ import annotations

from collections.abc import Sequence

import click

from manymod.cli.options import Option
from manymod.cli.table.run import text_callback
from manymod.tables.key_job import TEXT_ENCODINGS

__all__ = ["STATUSES_HELP", "result_column_option", "result_format_option", "text_format_option"]

#: The end of a command's help.
STATUSES_HELP = """\
The status is "ok" or the name of what is wrong with the row. Exit codes: 0 all rows are ok, 3 some are not, 1
failure, 2 usage, 130 interrupted. An interrupted run leaves OUT.parts; the same command with --resume
continues from there.
"""


def text_format_option(label: str, what: str) -> Option:
    """``--LABEL-format``: how text in a column of an operand stands for bytes.

    Args:
        label: of the operand.
        what: what the cells of the column are, in the plural.
    """
    encodings = list(TEXT_ENCODINGS) if label == "message" else ["hex", "base64"]
    return click.option(
        f"--{label}-format",
        type=click.Choice(encodings),
        default=encodings[0],
        show_default=True,
        help=f"What {what} in a column of text are.",
    )


def result_column_option(operation: str) -> Option:
    """``--result``: the name of the result column."""
    return click.option(
        "--result",
        default="valid" if operation == "verify" else "result",
        show_default=True,
        callback=text_callback,
        help="Name of the result column.",
    )


def result_format_option(formats: Sequence[str]) -> Option:
    """``--result-format``: how results are written, by default in the first of these formats."""
    return click.option(
        "--result-format",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Write results as this.",
    )
