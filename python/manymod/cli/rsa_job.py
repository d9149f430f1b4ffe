# SPDX-License-Identifier: Apache-2.0
"""A table through RSA: sign, verify, encrypt or decrypt every row."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from manymod.cli import columns
from manymod.cli.operations import status_names
from manymod.cli.progress import RowProgress
from manymod.cli.shape import OperandError, check_new
from manymod.cli.sources import Batch, Source
from manymod.cli.table import TableJob, open_columns
from manymod.rsa import KeyRing, Padding

__all__ = ["INVALID_SIGNATURE", "OPERANDS", "RsaJob"]

#: Columns of each operation.
OPERANDS = {
    "sign": ("message",),
    "verify": ("signature", "message"),
    "encrypt": ("message",),
    "decrypt": ("ciphertext",),
}
INVALID_SIGNATURE = "invalid_signature"
_NOT_TEXT = "not_text"


def _hexadecimal(text: str) -> bytes:
    return bytes.fromhex(text.strip().removeprefix("0x"))


def _read_bytes(
    cells: Sequence[Any], convert: Callable[[Any], bytes], problem: str
) -> tuple[list[bytes], dict[int, str]]:
    """Bytes of a column's cells (none where there are none) and, by row, what is wrong there."""
    values, problems = [b""] * len(cells), {}
    for row, cell in enumerate(cells):
        if cell is None:
            problems[row] = columns.NULL
            continue
        try:
            values[row] = convert(cell)
        except ValueError:
            problems[row] = problem
    return values, problems


@dataclass(frozen=True)
class RsaShape:
    """Output columns: those of the table, the result and the status."""

    schema: Any


@dataclass(frozen=True)
class _Operands:
    values: dict[str, list[bytes]]
    keys: list[int] | None
    problems: dict[int, str]


@dataclass(frozen=True, kw_only=True)
class RsaJob(TableJob):
    """A table command's RSA operation.

    Attributes:
        operation: ``sign``, ``verify``, ``encrypt`` or ``decrypt``.
        operands: names of the columns of `OPERANDS`.
        ring: the keys.
        key_column: the column of each row's key's index, or None for the first key.
        padding: of every row.
        algorithm: of signatures.
        message_is_hex: text in the message column is hexadecimal, and not itself the message.
    """

    operation: str
    operands: Mapping[str, str]
    ring: KeyRing
    key_column: str | None
    padding: Padding
    algorithm: Any
    message_is_hex: bool

    @property
    def name(self) -> str:
        """The operation's."""
        return f"rsa {self.operation}"

    def settings(self) -> dict[str, Any]:
        """Operation, columns, keys and padding."""
        return {
            "operation": self.name,
            "operands": dict(self.operands),
            "keys": [key.fingerprint for key in self.ring],
            "key column": self.key_column,
            "padding": [repr(self.padding), repr(self.algorithm), self.message_is_hex],
        }

    def open(self, stack: contextlib.ExitStack) -> tuple[Source, Any]:
        """The source, closed by `stack`, and the output's schema; every name is checked."""
        source = open_columns(self, stack)
        schema = source.schema
        check_new(schema.names, self.names)
        for label, name in self.operands.items():
            self._check_column(schema, label, name, {"bytes", "text"}, "bytes")
        if self.key_column is not None:
            self._check_column(schema, "key-column", self.key_column, {"integer", "text"}, "key indices")
        result = pa.bool_() if self.operation == "verify" else self._result_type()
        fields = [pa.field(self.names.result, result), pa.field(self.names.status, pa.string())]
        return source, RsaShape(pa.schema([*schema, *fields], metadata=schema.metadata))

    def _result_type(self) -> Any:
        return pa.binary() if self.names.how == "bytes" else pa.string()

    @staticmethod
    def _check_column(schema: Any, label: str, name: str, kinds: set[str], what: str) -> None:
        if schema.names.count(name) != 1:
            listed = ", ".join(schema.names[:20]) + (", ..." if len(schema.names) > 20 else "")
            raise OperandError(f"--{label} {name}: not one column of the table; columns: {listed or 'none'}")
        dtype = schema.field(name).type
        if columns.column_kind(dtype) not in kinds:
            raise OperandError(f"--{label} {name}: a column of type {dtype} holds no {what}")

    def run_rows(
        self, shape: RsaShape, batch: Batch, first: int, progress: RowProgress
    ) -> tuple[Any, list[tuple[int, str]]]:
        """The output of a batch, and its bad rows."""
        operands = self._operands(batch)
        count = batch.rows.num_rows
        good = [row for row in range(count) if row not in operands.problems]
        computed, names = self._compute(operands, good, progress)
        results: list[Any] = [None] * count
        statuses = [operands.problems.get(row, "ok") for row in range(count)]
        for row, value, name in zip(good, computed, names, strict=True):
            results[row], statuses[row] = self._outcome(value, name)
        arrays = [
            *batch.rows.columns,
            pa.array(results, shape.schema.field(self.names.result).type),
            pa.array(statuses, pa.string()),
        ]
        bad = [(first + row + 1, status) for row, status in enumerate(statuses) if status != "ok"]
        return pa.RecordBatch.from_arrays(arrays, schema=shape.schema), bad

    def _operands(self, batch: Batch) -> _Operands:
        problems = dict(batch.problems)
        values: dict[str, list[bytes]] = {}
        for label, name in self.operands.items():
            cells, kind = self._cells(batch, name)
            convert: Callable[[Any], bytes] = bytes
            if kind == "text":
                plain = label == "message" and not self.message_is_hex
                convert = str.encode if plain else _hexadecimal
            values[label], wrong = _read_bytes(cells, convert, "not_hexadecimal")
            for row, problem in wrong.items():
                problems.setdefault(row, f"{label}_{problem}")
        keys = None
        if self.key_column is not None:
            keys, wrong = columns.read_cells(*self._cells(batch, self.key_column))
            for row, problem in wrong.items():
                problems.setdefault(row, f"key_{problem}")
        return _Operands(values, keys, problems)

    @staticmethod
    def _cells(batch: Batch, name: str) -> tuple[list[Any], str | None]:
        column = batch.rows.column(batch.rows.schema.get_field_index(name))
        return column.to_pylist(), columns.column_kind(column.type)

    def _compute(
        self, operands: _Operands, rows: list[int], progress: RowProgress
    ) -> tuple[list[Any], list[str]]:
        """Results and status names of these rows."""
        batches = [[values[row] for row in rows] for values in operands.values.values()]
        # An index of more than 64 bits is as absent as the one after the last.
        absent = len(self.ring)
        keys = None
        if operands.keys is not None:
            keys = [min(max(operands.keys[row], -1), absent) for row in rows]
        how = [self.padding] if self.algorithm is None else [self.padding, self.algorithm]
        function = getattr(self.ring, self.operation)
        results, statuses = function(*batches, keys, *how, errors="status", progress=progress.advance)
        return results, status_names(statuses)

    def _outcome(self, value: Any, status: str) -> tuple[Any, str]:
        """A row's cell and status."""
        if status != "ok":
            return None, status
        if self.operation == "verify":
            return value, "ok" if value else INVALID_SIGNATURE
        if self.names.how == "hex":
            return "0x" + value.hex(), "ok"
        if self.names.how == "text":
            try:
                return value.decode(), "ok"
            except UnicodeDecodeError:
                return None, _NOT_TEXT
        return value, "ok"
