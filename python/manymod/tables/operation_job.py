# SPDX-License-Identifier: Apache-2.0
"""A table through one modular operation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod import _core, _run
from manymod._limbs import lengths_in_bits
from manymod.intarray import IntArray
from manymod.tables import columns
from manymod.tables.batches import Batch, Source
from manymod.tables.errors import OperandError
from manymod.tables.integers import (
    IntegerColumn,
    encode_base64,
    encode_binary,
    encode_decimals,
    encode_integers,
    encode_text,
    read_cells,
)
from manymod.tables.job import Computed, Job, RowProgress, Work
from manymod.tables.json_rows import JsonNumber
from manymod.tables.jsonlines import JsonLinesSource, TypedJsonLinesSource
from manymod.tables.line_output import LineOutput
from manymod.tables.metadata import with_columns
from manymod.tables.notations import AUTO
from manymod.tables.operands import OutputNames, check_new, column_names, resolve_operand
from manymod.tables.operations import EngineOptions, Operation, RowFunction, RowValues, option_of
from manymod.tables.status import RowStatuses

__all__ = ["OperationJob"]

NEGATIVE_RESULT = "negative_result"
_HINT = (
    "column {name!r} has cells of hexadecimal digits without 0x, which are no integers, and cells of decimal "
    "digits are decimal: if its numbers are hexadecimal, give --notation {name}=hex"
)


@dataclass(frozen=True, kw_only=True)
class OperationJob(Job):
    """An operation on the rows of a table.

    Attributes:
        operation: one of `OPERATIONS`.
        operands: the name of a column, or the text of an integer, by label: those of `Operation.operands`,
            for a product of powers ``base1``, ``exp1``, ``base2``, ...
        names: names of the columns that are added, and how results are written.
        engine: where and how it runs.
        notation: of integers in columns of text, one of `NOTATIONS`.
        column_notations: the same for some columns, by name.
    """

    operation: Operation
    operands: Mapping[str, str]
    names: OutputNames = field(default_factory=OutputNames)
    engine: EngineOptions = field(default_factory=EngineOptions)
    notation: str = AUTO
    column_notations: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.operation.name

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, operands, their notations, timing class and output columns."""
        return {
            "operation": self.operation.name,
            "operands": dict(self.operands),
            "notations": [self.notation, dict(self.column_notations)],
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
        names = column_names(source, set(self.operands.values()), self.names)
        found = {label: resolve_operand(self.operands[label], names, label) for label in labels}
        check_new(source, names, self.names)
        for name in self.column_notations:
            if name not in found.values():
                raise OperandError(f"--notation {name}: not the column of an operand")
        function = self.operation.bind(found, self.engine)
        if isinstance(source, JsonLinesSource):
            return LineWork(self, labels, found, function)
        of_json = isinstance(source, TypedJsonLinesSource)
        return ColumnWork(self, source.schema, labels, found, function, any_type=of_json)

    def notation_of(self, column: str) -> str:
        """Return how text in a column is read."""
        return self.column_notations.get(column, self.notation)


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
    #: the index of the operand whose notation the text of results has; None: none
    template: int | None

    def __init__(
        self,
        job: OperationJob,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
        is_text: Callable[[str], bool],
    ) -> None:
        self.labels = list(labels)
        self.operands = [operands[label] for label in labels]
        self.job = job
        self._function = function
        self._secret = job.engine.secret
        first = next((name for name in self.operands if isinstance(name, str)), None)
        #: how results are written
        self.how = job.names.how
        if self.how == "same" and first is not None and is_text(first) and job.notation_of(first) == "base64":
            self.how = "base64"

    def read(self, batch: Batch) -> _Operands:
        """Return the operands of a batch."""
        values = [
            name if isinstance(name, int) else read_cells(batch.cells(name), self.job.notation_of(name))
            for name in self.operands
        ]
        return _Operands(values, RowStatuses(batch.rows.num_rows, batch.problems))

    def hexadecimal(self, operands: _Operands, start: int, count: int) -> NDArray[np.bool_] | None:
        """Return which results of the rows from `start` on are hexadecimal text; None: none is."""
        if self.how in {"hex", "bytes"}:
            return np.ones(count, np.bool_)
        column = operands.values[self.template] if self.how == "same" and self.template is not None else None
        if not isinstance(column, IntegerColumn) or column.hexadecimal is None:
            return None
        return column.hexadecimal[start : start + count]

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return an Arrow array of the results of the rows from `start` on."""
        raise NotImplementedError

    def assemble(self, batch: Batch, operands: _Operands, results: Any) -> Any:
        """Return the output rows of a batch."""
        raise NotImplementedError

    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute the rows of a batch, in runs of bounded memory."""
        operands = self.read(batch)
        hints = []
        for label, name, value in zip(self.labels, self.operands, operands.values, strict=True):
            if not isinstance(value, int):
                operands.statuses.mark(value.null, f"{label}_is_null")
                operands.statuses.mark(value.invalid, f"{label}_not_an_integer")
                if value.misread:
                    hints.append(_HINT.format(name=name))
        count = batch.rows.num_rows
        widths = operands.widths()
        ends = _core.split_runs(widths, 0, _run.RUN_BYTES) if widths and count else [count]
        arrays, start = [], 0
        for stop in ends:
            results = self._run(operands, start, stop, count, progress)
            arrays.append(self.encode(operands, start, results))
            start = stop
        output = self.assemble(batch, operands, arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays))
        return Computed(output, operands.statuses.bad(), tuple(hints))

    def _run(
        self, operands: _Operands, start: int, stop: int, total: int, progress: RowProgress | None
    ) -> _Results:
        """Compute rows [start, stop), those that are ok."""
        every = [value if isinstance(value, int) else value.rows(start, stop) for value in operands.values]
        good = operands.statuses.ok()[start:stop]
        rows = None if good.all() else np.flatnonzero(good)
        count = stop - start if rows is None else len(rows)
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
    """Arrow columns in, the same columns and two more out.

    Args:
        job: what is done.
        schema: of the table.
        labels: of the operands.
        operands: columns' names and integers, by label.
        function: computes rows.
        any_type: operands are not read from the columns, so that their types say nothing about them.
    """

    def __init__(
        self,
        job: OperationJob,
        schema: Any,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
        *,
        any_type: bool = False,
    ) -> None:
        def kind_of(name: str) -> str | None:
            return columns.column_kind(columns.plain_type(schema.field(name).type))

        super().__init__(job, labels, operands, function, lambda name: any_type or kind_of(name) == "text")
        for label, name in zip(self.labels, self.operands, strict=True):
            if isinstance(name, str) and not any_type and kind_of(name) is None:
                dtype = schema.field(name).type
                raise OperandError(f"{option_of(label)} {name}: a column of type {dtype} holds no integers")
        for name in job.column_notations:
            if not any_type and kind_of(name) != "text":
                raise OperandError(
                    f"--notation {name}: a column of type {schema.field(name).type} is no text"
                )
        self._types = [
            columns.plain_type(schema.field(name).type) if isinstance(name, str) else None
            for name in self.operands
        ]
        self._result_type, self.template = self._choose_result()
        self._kind = columns.column_kind(self._result_type)
        self.unsigned = self._kind == "bytes" or self.how == "base64"
        fields = [pa.field(job.names.result, self._result_type), pa.field(job.names.status, pa.string())]
        self.schema = with_columns(schema, fields)

    def _choose_result(self) -> tuple[Any, int | None]:
        """Return the type of results, and the index of the operand whose notation their text has.

        Without a format of its own a result has the type of the first column operand if that holds every
        possible result, else the type of the modulus's column if that does, else it is text.
        """
        literal, modulus = self.operands[-1], self._types[-1]
        if self.how in {"dec", "hex", "base64"}:
            return pa.string(), None
        if self.how == "bytes":
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

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return an Arrow array of the results of the rows from `start` on."""
        dtype, values, present = self._result_type, results.values, results.present
        if self.how == "base64":
            return encode_base64(values, present, results.sizes).cast(dtype)
        if self._kind == "text":
            hexadecimal = self.hexadecimal(operands, start, len(values))
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


class LineWork(_OperationWork):
    """JSON lines in, the same lines with two more members out."""

    def __init__(
        self,
        job: OperationJob,
        labels: Sequence[str],
        operands: Mapping[str, str | int],
        function: RowFunction,
    ) -> None:
        super().__init__(job, labels, operands, function, lambda _: True)
        self.unsigned = self.how in {"bytes", "base64"}
        self.template = next((i for i, name in enumerate(self.operands) if isinstance(name, str)), None)
        self._output = LineOutput(job.names)
        self.schema = self._output.schema

    def encode(self, operands: _Operands, start: int, results: _Results) -> Any:
        """Return the text of the results of the rows from `start` on."""
        count = len(results.values)
        if self.how == "base64":
            return encode_base64(results.values, results.present, results.sizes)
        hexadecimal = self.hexadecimal(operands, start, count)
        digits = None
        if self.how == "bytes":
            digits = np.broadcast_to(np.asarray(2 * np.asarray(results.sizes), np.uint32), (count,)).copy()
        return encode_text(results.values, results.present, hexadecimal, digits)

    def assemble(self, batch: Batch, operands: _Operands, results: Any) -> Any:
        """Return the lines of the batch with result and status."""
        texts = results.to_pylist()
        cells: Sequence[object] = [None] * len(texts)
        if self.template is not None:
            cells = batch.cells(str(self.operands[self.template]))
        members = [self._member(text, cell) for text, cell in zip(texts, cells, strict=True)]
        return self._output.assemble(batch, members, operands.statuses)

    def _member(self, text: str | None, cell: object) -> str | None:
        """JSON of a result: a number where the cell that it follows is no text, else text."""
        number = self.how == "same" and (not isinstance(cell, str) or isinstance(cell, JsonNumber))
        return text if text is None or number else json.dumps(text)
