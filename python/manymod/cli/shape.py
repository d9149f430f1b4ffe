# SPDX-License-Identifier: Apache-2.0
"""From the columns of a batch to operands, and from results to the columns of the output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from manymod.cli import columns
from manymod.cli.jsonlines import INVALID_JSON, parse_row
from manymod.cli.operations import Operation
from manymod.cli.sources import Batch, TableError

__all__ = ["ColumnShape", "LineShape", "Operands", "OutputNames", "Shape", "check_new", "resolve_operand"]

NEGATIVE_RESULT = "negative_result"


class OperandError(ValueError):
    """An operand, or the name of an output column, does not fit the table."""


@dataclass(frozen=True)
class OutputNames:
    """Names of the result and status columns, and how results are written: same, dec, hex or bytes."""

    result: str
    status: str
    how: str = "same"


@dataclass
class Operands:
    """Integers of a batch: a list per column operand, one integer per literal; and what is wrong, by row."""

    values: list[list[int] | int]
    problems: dict[int, str]
    templates: Sequence[object] | None

    def moduli(self) -> list[int] | int:
        """The last operand."""
        return self.values[-1]


class Shape(Protocol):
    """How rows of one kind of source become operands and output rows."""

    schema: Any

    def operands(self, batch: Batch) -> Operands:
        """Read the operands of a batch."""

    def output(
        self, batch: Batch, operands: Operands, results: Sequence[int | None], statuses: Sequence[str]
    ) -> Any:
        """The batch with its results; a result is None where the status is not ``ok``."""

    def writes_bytes(self) -> bool:
        """Whether results are written as bytes, which hold no sign."""


def resolve_operand(text: str, names: Sequence[str], option: str) -> str | int:
    """A column name, or the integer of a literal. A name that is both is a column."""
    if names.count(text) > 1:
        raise OperandError(f"{option} {text}: the table has {names.count(text)} columns of that name")
    if text in names:
        return text
    try:
        return columns.parse_integer(text)
    except ValueError:
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise OperandError(
            f"{option} {text}: neither a column nor an integer; columns: {listed or 'none'}"
        ) from None


def check_new(names: Sequence[str], output: OutputNames) -> None:
    """Raise OperandError if an output column has the name of another."""
    for option, name in (("--result", output.result), ("--status-column", output.status)):
        if name in names:
            raise OperandError(f"the table already has a column {name!r}: choose another with {option}")
    if output.result == output.status:
        raise OperandError(f"--result and --status-column are both {output.result!r}")


class ColumnShape:
    """Arrow columns in, the same columns and two more out."""

    def __init__(
        self, schema: Any, operation: Operation, operands: Mapping[str, str | int], output: OutputNames
    ) -> None:
        check_new(schema.names, output)
        self._operands = [operands[name] for name in operation.operands]
        self._labels = operation.operands
        self._how = output.how
        self._types = [schema.field(name).type if isinstance(name, str) else None for name in self._operands]
        for label, name, dtype in zip(self._labels, self._operands, self._types, strict=True):
            if dtype is not None and columns.column_kind(dtype) is None:
                raise OperandError(f"--{label} {name}: a column of type {dtype} holds no integers")
        self._result_type, self._template = self._choose_result()
        self.schema = schema.append(pa.field(output.result, self._result_type)).append(
            pa.field(output.status, pa.string())
        )

    def _choose_result(self) -> tuple[Any, int | None]:
        """Result type and the operand whose text the results follow.

        Without a format of its own a result has the type of the first column operand if that holds every
        possible result, else the type of the modulus column, which always does.
        """
        literal, modulus = self._operands[-1], self._types[-1]
        if self._how in ("dec", "hex"):
            return pa.string(), None
        if self._how == "bytes":
            if isinstance(literal, int):
                return pa.binary(columns.modulus_bytes(literal)), None
            return (modulus if pa.types.is_fixed_size_binary(modulus) else pa.binary()), None
        span = columns.type_span(modulus) if isinstance(literal, str) else (min(literal, 0), max(literal, 0))
        wanted = columns.result_span(span)
        first = next((i for i, dtype in enumerate(self._types) if dtype is not None), None)
        for index in (first, len(self._types) - 1):
            dtype = self._types[index] if index is not None else None
            if dtype is not None and columns.holds(dtype, wanted):
                return dtype, index
        return pa.string(), None

    def writes_bytes(self) -> bool:
        """Whether results are written as bytes, which hold no sign."""
        return columns.column_kind(self._result_type) == "bytes"

    def operands(self, batch: Batch) -> Operands:
        """Read the operands of a batch."""
        values: list[list[int] | int] = []
        problems = dict(batch.problems)
        templates: Sequence[object] | None = None
        for index, (label, name, dtype) in enumerate(
            zip(self._labels, self._operands, self._types, strict=True)
        ):
            if isinstance(name, int):
                values.append(name)
                continue
            cells = batch.rows.column(batch.rows.schema.get_field_index(name)).to_pylist()
            integers, wrong = columns.read_cells(cells, columns.column_kind(dtype))
            values.append(integers)
            for row, problem in wrong.items():
                problems.setdefault(row, f"{label}_{problem}")
            if index == self._template:
                templates = cells
        return Operands(values, problems, templates)

    def output(
        self, batch: Batch, operands: Operands, results: Sequence[int | None], statuses: Sequence[str]
    ) -> Any:
        """The batch with its results."""
        encoded = columns.encode(results, operands.moduli(), self._result_type, self._how, operands.templates)
        arrays = [*batch.rows.columns, encoded, pa.array(statuses, pa.string())]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class LineShape:
    """JSON lines in, the same lines with two more members out; everything else is kept letter by letter."""

    def __init__(
        self,
        names: Sequence[str],
        operation: Operation,
        operands: Mapping[str, str | int],
        output: OutputNames,
    ) -> None:
        check_new(names, output)
        self._labels = operation.operands
        self._operands = [operands[name] for name in operation.operands]
        self._names = output
        self.schema = pa.schema([("line", pa.string())], metadata={b"finished": b"lines"})

    def writes_bytes(self) -> bool:
        """Whether results are written as bytes, which hold no sign."""
        return self._names.how == "bytes"

    def operands(self, batch: Batch) -> Operands:
        """Read the operands of a batch."""
        rows = [parse_row(line) for line in batch.rows.column(0).to_pylist()]
        self._check_free(rows)
        problems = {index: INVALID_JSON for index, row in enumerate(rows) if row is None}
        values: list[list[int] | int] = []
        templates: Sequence[object] | None = None
        for label, name in zip(self._labels, self._operands, strict=True):
            if isinstance(name, int):
                values.append(name)
                continue
            cells = [None if row is None else row.get(name) for row in rows]
            integers, wrong = columns.read_cells(cells, None)
            values.append(integers)
            for index, problem in wrong.items():
                problems.setdefault(index, f"{label}_{problem}")
            templates = cells if templates is None else templates
        return Operands(values, problems, templates)

    def _check_free(self, rows: Sequence[dict[str, Any] | None]) -> None:
        for row in rows:
            if row is not None:
                for name in (self._names.result, self._names.status):
                    if name in row:
                        raise TableError(f"a row already has a member {name!r}: choose another name")

    def output(
        self, batch: Batch, operands: Operands, results: Sequence[int | None], statuses: Sequence[str]
    ) -> Any:
        """The batch with its results."""
        lines = [
            self._line(line, self._member(value, index, operands), statuses[index])
            for index, (line, value) in enumerate(zip(batch.rows.column(0).to_pylist(), results, strict=True))
        ]
        return pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], schema=self.schema)

    def _member(self, value: int | None, index: int, operands: Operands) -> str:
        """JSON text of a result: a number where the cell it answers is a number, else text."""
        how = self._names.how
        template = None if operands.templates is None else operands.templates[index]
        if value is None:
            return "null"
        if how == "same" and not isinstance(template, str):
            return str(value)
        return json.dumps(columns.text_result(value, index, operands.moduli(), how, operands.templates))

    def _line(self, line: str, result: str, status: str) -> str:
        names = self._names
        members = f"{json.dumps(names.result)}: {result}, {json.dumps(names.status)}: {json.dumps(status)}"
        if status == INVALID_JSON:
            return f'{{"line": {json.dumps(line, ensure_ascii=False)}, {members}}}'
        body = line[:-1].rstrip()
        return body + ("" if body == "{" else ", ") + members + "}"
