# SPDX-License-Identifier: Apache-2.0
"""Names that a job was given: which operands are columns, and which columns the output has."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from manymod.tables.batches import Source
from manymod.tables.columns import parse_integer
from manymod.tables.errors import OperandError
from manymod.tables.jsonlines import JsonLinesSource
from manymod.tables.operations import option_of

__all__ = ["BAD_LINE", "OutputNames", "check_new", "column_names", "listed", "resolve_operand"]

#: The member of a JSON Lines output that has a line which is no object.
BAD_LINE = "line"
_LISTED = 20
_HEXADECIMAL = re.compile(r"[+-]?[0-9a-fA-F]*[0-9][0-9a-fA-F]*")


@dataclass(frozen=True)
class OutputNames:
    """Names of the result and status columns, and how results are: same, dec, hex, base64 or bytes."""

    result: str = "result"
    status: str = "status"
    how: str = "same"


def column_names(source: Source, wanted: Collection[str], output: OutputNames) -> list[str]:
    """Return the names of a table's columns; of JSON lines the first, those wanted and those of the output.

    Raises:
        TableError: if the table has no rows from which they are known.
    """
    if isinstance(source, JsonLinesSource):
        return source.names({*wanted, output.result, output.status})
    return list(source.schema.names)


def listed(names: Sequence[str]) -> str:
    """Return the names of a table's columns, the first of many."""
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "") or "none"


def resolve_operand(text: str, names: Sequence[str], label: str) -> str | int:
    """Return a column's name, or the integer of a literal. A name that is both is a column.

    Raises:
        OperandError: if it is neither, or the name of several columns.
    """
    if names.count(text) > 1:
        raise OperandError(
            f"{option_of(label)} {text}: the table has {names.count(text)} columns of that name"
        )
    if text in names:
        return text
    try:
        return parse_integer(text)
    except ValueError:
        hint = " (hexadecimal begins with 0x)" if _HEXADECIMAL.fullmatch(text) else ""
        if len(names) == 1 and (separator := re.search(r"[;\t|]", names[0])):
            hint += f" (one column: give --delimiter if {separator[0]!r} separates them)"
        raise OperandError(
            f"{option_of(label)} {text}: neither a column nor an integer{hint}; columns: {listed(names)}"
        ) from None


def check_new(source: Source, names: Sequence[str], output: OutputNames) -> None:
    """Raise OperandError if an output column has the name of another."""
    for option, name in (("--result", output.result), ("--status-column", output.status)):
        if name == BAD_LINE and isinstance(source, JsonLinesSource):
            raise OperandError(f"{option} {name}: lines that are no objects are written under that name")
        if name in names:
            raise OperandError(f"the table already has a column {name!r}: choose another with {option}")
    if output.result == output.status:
        raise OperandError(f"--result and --status-column are both {output.result!r}")
