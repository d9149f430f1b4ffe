# SPDX-License-Identifier: Apache-2.0
"""A table through one modular operation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod import _core, _run
from manymod.intarray import IntArray, lengths_in_bits
from manymod.tables import columns
from manymod.tables.batches import Batch, Source
from manymod.tables.errors import OperandError, TableError
from manymod.tables.integers import (
    IntegerColumn,
    encode_binary,
    encode_decimals,
    encode_integers,
    encode_text,
    read_column,
    read_texts,
)
from manymod.tables.job import Computed, Job, RowProgress, Work
from manymod.tables.jsonlines import INVALID_JSON, JsonInteger, JsonLinesSource, parse_row
from manymod.tables.operands import OutputNames, check_new, resolve_operand
from manymod.tables.operations import EngineOptions, Operation, RowFunction, RowValues, option_of
from manymod.tables.status import RowStatuses

__all__ = ["OperationJob"]

NEGATIVE_RESULT = "negative_result"


@dataclass(frozen=True, kw_only=True)
class OperationJob(Job):
    """An operation on the rows of a table.

    Attributes:
        operation: one of `OPERATIONS`.
        operands: the name of a column, or the text of an integer, by label: those of `Operation.operands`,
            for a product of powers ``base1``, ``exp1``, ``base2``, ...
        names: names of the columns that are added, and how results are written.
        engine: where and how it runs.
    """

    operation: Operation
    operands: Mapping[str, str]
    names: OutputNames = field(default_factory=OutputNames)
    engine: EngineOptions = field(default_factory=EngineOptions)

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.operation.name

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, operands, timing class and output columns."""
        return {
            "operation": self.operation.name,
            "operands": dict(self.operands),
            "timing class": "secret" if self.engine.secret else "public",
            "result column": self.names.result,
            "status column": self.names.status,
            "result format": self.names.how,
        }

    def bind(self, source: Source) -> Work:
        """Return the work on the rows of a source; every name is checked.

        Raises:
            OperandError: if an operand or an output column does not fit the table.
        """
        labels = self.operation.labels(self.operands)
        lines = isinstance(source, JsonLinesSource)
        names = source.names() if isinstance(source, JsonLinesSource) else list(source.schema.names)
        found = {label: resolve_operand(self.operands[label], names, label) for label in labels}
        check_new(names, self.names)
        function = self.operation.bind(found, self.engine)
        if lines:
            return LineWork(self, labels, found, function)
        return ColumnWork(self, source.schema, labels, found, function)


@dataclass
class _Operands:
    """Operands of a batch: columns, and integers that stand for every row."""

    values: list[IntegerColumn | int]
    statuses: RowStatuses

    def widths(self) -> list[NDArray[np.uint32]]:
        """Limbs of each row, by operand; those of results are as many as those of the modulus."""
        widths = [value.widths() for value in self.values if not isinstance(value, int)]
        modulus = self.values[-1]
        return widths if isinstance(modulus, int) or not widths else [*widths, widths[-1]]


@dataclass
class _Results:
    """Results of some rows, 0 where not present, and bytes of each modulus, or of the one for all."""

    values: IntArray
    present: NDArray[np.bool_] | None
    sizes: NDArray[np.int64] | int


def _modulus_sizes(modulus: RowValues) -> NDArray[np.int64] | int:
    """Bytes of each modulus, at least 1."""
    if isinstance(modulus, int):
        return columns.modulus_bytes(modulus)
    return np.maximum(1, (lengths_in_bits(modulus.limbs) + 7) // 8)


class _OperationWork(Work):
    """What columns and JSON lines have in common."""

    #: whether results are written as bytes, which hold no sign
    unsigned: bool

    def __init__(
        self,
        job: OperationJob,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
    ) -> None:
        self.labels = list(labels)
        self.operands = [operands[label] for label in labels]
        self.names = job.names
        self._function = function
        self._secret = job.engine.secret

    def read(self, batch: Batch) -> _Operands:
        """Return the operands of a batch."""
        raise NotImplementedError

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return an Arrow array of the results of the rows from `start` on."""
        raise NotImplementedError

    def assemble(self, batch: Batch, operands: _Operands, results: Any) -> Any:
        """Return the output rows of a batch."""
        raise NotImplementedError

    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute the rows of a batch, in runs of bounded memory."""
        operands = self.read(batch)
        for label, value in zip(self.labels, operands.values, strict=True):
            if not isinstance(value, int):
                operands.statuses.mark(value.null, f"{label}_is_null")
                operands.statuses.mark(value.invalid, f"{label}_not_an_integer")
        count = batch.rows.num_rows
        widths = operands.widths()
        ends = _core.split_runs(widths, 0, _run.RUN_BYTES) if widths else [count]
        arrays, start = [], 0
        for stop in ends:
            results = self._run(operands, start, stop, count, progress)
            arrays.append(self.encode(operands, start, results))
            start = stop
        output = self.assemble(batch, operands, arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays))
        return Computed(output, operands.statuses.bad())

    def _run(
        self, operands: _Operands, start: int, stop: int, total: int, progress: RowProgress | None
    ) -> _Results:
        """Compute rows [start, stop), those that are ok."""
        good = operands.statuses.ok()[start:stop]
        rows = None if good.all() else np.flatnonzero(good)
        count = stop - start if rows is None else len(rows)
        every = [value if isinstance(value, int) else value.rows(start, stop) for value in operands.values]
        values = every if rows is None else [_take(value, rows) for value in every]
        advance = None if progress is None else (lambda done, _: progress(start + done, total))
        results, statuses = self._function(values, count, advance)
        sizes = _modulus_sizes(every[-1]) if self.unsigned else 0
        if self._secret:
            for value in (*every, *values):
                if isinstance(value, IntArray):
                    value.limbs.fill(0)
        if rows is not None:
            results, statuses = _spread(results, rows, len(good)), _spread_statuses(statuses, rows, len(good))
        operands.statuses.mark_items(statuses, start)
        negative = results.negative if self.unsigned else None
        if negative is not None:
            operands.statuses.mark(negative, NEGATIVE_RESULT, start)
            results.limbs[negative] = 0
        present = operands.statuses.ok()[start:stop]
        return _Results(results, None if present.all() else present, sizes)


def _take(value: RowValues, rows: NDArray[np.intp]) -> RowValues:
    if isinstance(value, int):
        return value
    signs = value._negative
    return IntArray._make(value.limbs[rows], None if signs is None else signs[rows])


def _spread(values: IntArray, rows: NDArray[np.intp], count: int) -> IntArray:
    """`values` at these rows of `count`, 0 elsewhere."""
    limbs = np.zeros((count, values.limbs.shape[1]), np.uint64)
    limbs[rows] = values.limbs
    signs = None
    if values._negative is not None:
        signs = np.zeros(count, np.uint8)
        signs[rows] = values._negative
    return IntArray._make(limbs, signs)


def _spread_statuses(statuses: NDArray[np.uint8], rows: NDArray[np.intp], count: int) -> NDArray[np.uint8]:
    spread = np.zeros(count, np.uint8)
    spread[rows] = statuses
    return spread


class ColumnWork(_OperationWork):
    """Arrow columns in, the same columns and two more out."""

    def __init__(
        self,
        job: OperationJob,
        schema: Any,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
    ) -> None:
        super().__init__(job, labels, operands, function)
        self._types = [schema.field(name).type if isinstance(name, str) else None for name in self.operands]
        for label, name, dtype in zip(self.labels, self.operands, self._types, strict=True):
            if dtype is not None and columns.column_kind(dtype) is None:
                raise OperandError(f"{option_of(label)} {name}: a column of type {dtype} holds no integers")
        self._result_type, self._template = self._choose_result()
        self._kind = columns.column_kind(self._result_type)
        self.unsigned = self._kind == "bytes"
        self.schema = schema.append(pa.field(job.names.result, self._result_type)).append(
            pa.field(job.names.status, pa.string())
        )

    def _choose_result(self) -> tuple[Any, int | None]:
        """Return the type of results, and the index of the operand whose notation their text has.

        Without a format of its own a result has the type of the first column operand if that holds every
        possible result, else the type of the modulus's column, which always does.
        """
        literal, modulus = self.operands[-1], self._types[-1]
        if self.names.how in ("dec", "hex"):
            return pa.string(), None
        if self.names.how == "bytes":
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

    def read(self, batch: Batch) -> _Operands:
        """Return the operands of a batch."""
        schema = batch.rows.schema
        values = [
            name if isinstance(name, int) else read_column(batch.rows.column(schema.get_field_index(name)))
            for name in self.operands
        ]
        return _Operands(values, RowStatuses(batch.rows.num_rows, batch.problems))

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return an Arrow array of the results of the rows from `start` on."""
        dtype, values, present = self._result_type, results.values, results.present
        if self._kind == "text":
            hexadecimal = _notation(self.names.how, operands.values, self._template, start, len(values))
            return encode_text(values, present, hexadecimal).cast(dtype)
        if self._kind == "bytes":
            sizes = dtype.byte_width if pa.types.is_fixed_size_binary(dtype) else results.sizes
            return encode_binary(values, present, sizes, dtype)
        if self._kind == "decimal":
            return encode_decimals(values, present, dtype)
        return encode_integers(values, present, dtype)

    def assemble(self, batch: Batch, operands: _Operands, results: Any) -> Any:
        """Return the columns of the batch, the results and the statuses."""
        arrays = [*batch.rows.columns, results, operands.statuses.column()]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _notation(
    how: str, values: Sequence[IntegerColumn | int], template: int | None, start: int, count: int
) -> NDArray[np.bool_] | None:
    """Which results of the rows from `start` on are hexadecimal text."""
    if how in {"hex", "bytes"}:
        return np.ones(count, np.bool_)
    column = values[template] if how == "same" and template is not None else None
    if not isinstance(column, IntegerColumn) or column.hexadecimal is None:
        return None
    return column.hexadecimal[start : start + count]


@dataclass
class _Lines(_Operands):
    """Operands of JSON lines, and the cells of the first operand that is a column."""

    templates: Sequence[object] | None
    template: int | None


class LineWork(_OperationWork):
    """JSON lines in, the same lines with two more members out; everything else is kept letter by letter."""

    def __init__(
        self,
        job: OperationJob,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
    ) -> None:
        super().__init__(job, labels, operands, function)
        self.unsigned = job.names.how == "bytes"
        self._keys = (json.dumps(job.names.result), json.dumps(job.names.status))
        self.schema = pa.schema([("line", pa.string())], metadata={b"finished": b"lines"})

    def read(self, batch: Batch) -> _Operands:
        """Return the operands of a batch."""
        rows = [parse_row(line, integers_as_text=True) for line in batch.rows.column(0).to_pylist()]
        self._check_free(rows)
        problems = {index: INVALID_JSON for index, row in enumerate(rows) if row is None}
        values: list[IntegerColumn | int] = []
        templates, template = None, None
        for index, name in enumerate(self.operands):
            if isinstance(name, int):
                values.append(name)
                continue
            cells = [None if row is None else row.get(name) for row in rows]
            values.append(read_texts(cells))
            if templates is None:
                templates, template = cells, index
        return _Lines(values, RowStatuses(len(rows), problems), templates, template)

    def _check_free(self, rows: Sequence[dict[str, Any] | None]) -> None:
        for row in rows:
            if row is not None:
                for name in (self.names.result, self.names.status):
                    if name in row:
                        raise TableError(f"a row already has a member {name!r}: choose another name")

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return the text of the results of the rows from `start` on."""
        assert isinstance(operands, _Lines)  # noqa: S101 - for the type checker
        how, count = self.names.how, len(results.values)
        hexadecimal = _notation(how, operands.values, operands.template, start, count)
        digits = None
        if how == "bytes":
            digits = np.broadcast_to(np.asarray(2 * np.asarray(results.sizes), np.uint32), (count,)).copy()
        return encode_text(results.values, results.present, hexadecimal, digits)

    def assemble(self, batch: Batch, operands: _Operands, results: Any) -> Any:
        """Return the lines of the batch with result and status."""
        assert isinstance(operands, _Lines)  # noqa: S101 - for the type checker
        bad = dict(operands.statuses.bad())
        lines = [
            self._line(line, self._member(text, index, operands), bad.get(index, "ok"))
            for index, (line, text) in enumerate(
                zip(batch.rows.column(0).to_pylist(), results.to_pylist(), strict=True)
            )
        ]
        return pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], schema=self.schema)

    def _member(self, text: str | None, index: int, operands: _Lines) -> str:
        """JSON of a result: a number where the cell that it follows is no text, else text."""
        if text is None:
            return "null"
        template = None if operands.templates is None else operands.templates[index]
        number = not isinstance(template, str) or isinstance(template, JsonInteger)
        return text if self.names.how == "same" and number else f'"{text}"'

    def _line(self, line: str, result: str, status: str) -> str:
        members = f'{self._keys[0]}: {result}, {self._keys[1]}: "{status}"'  # a status is a plain word
        if status == INVALID_JSON:
            return f'{{"line": {json.dumps(line, ensure_ascii=False)}, {members}}}'
        body = line[:-1].rstrip()
        return body + ("" if body == "{" else ", ") + members + "}"
