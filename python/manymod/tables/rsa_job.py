# SPDX-License-Identifier: Apache-2.0
"""A table through RSA: sign, verify, encrypt or decrypt every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod.rsa import KeyRing, Padding
from manymod.tables import columns
from manymod.tables.batches import Batch, Source
from manymod.tables.errors import OperandError
from manymod.tables.integers import read_column
from manymod.tables.job import Computed, Job, RowProgress, Work
from manymod.tables.operands import OutputNames, check_new, listed
from manymod.tables.status import RowStatuses

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
            problems[row] = "is_null"
            continue
        try:
            values[row] = convert(cell)
        except ValueError:
            problems[row] = problem
    return values, problems


@dataclass(frozen=True)
class _Operands:
    values: dict[str, list[bytes]]
    keys: list[int] | None
    statuses: RowStatuses


@dataclass(frozen=True, kw_only=True)
class RsaJob(Job):
    """An RSA operation on the rows of a table.

    Attributes:
        operation: ``sign``, ``verify``, ``encrypt`` or ``decrypt``.
        operands: names of the columns of `OPERANDS`.
        ring: the keys.
        key_column: the column of each row's key's index, or None for the first key.
        padding: of every row.
        algorithm: of signatures.
        message_is_hex: text in the message column is hexadecimal, and not itself the message.
        names: names of the columns that are added; results are written as ``bytes``, ``hex`` or,
            decrypted, ``text``.
    """

    operation: str
    operands: Mapping[str, str]
    ring: KeyRing
    padding: Padding
    key_column: str | None = None
    algorithm: Any = None
    message_is_hex: bool = False
    names: OutputNames = field(default_factory=lambda: OutputNames(how="bytes"))

    @property
    def name(self) -> str:
        """The operation's name."""
        return f"rsa {self.operation}"

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, columns, keys and padding."""
        return {
            "operation": self.name,
            "operands": dict(self.operands),
            "keys": [key.fingerprint for key in self.ring],
            "key column": self.key_column,
            "padding": [repr(self.padding), repr(self.algorithm), self.message_is_hex],
            "result column": self.names.result,
            "status column": self.names.status,
            "result format": self.names.how,
        }

    def bind(self, source: Source) -> RsaWork:
        """Return the work on the rows of a source; every name is checked.

        Raises:
            OperandError: if a name does not fit the columns.
        """
        check_new(source.schema.names, self.names)
        for label, name in self.operands.items():
            _check_column(source.schema, label, name, {"bytes", "text"}, "bytes")
        if self.key_column is not None:
            _check_column(source.schema, "key-column", self.key_column, {"integer", "text"}, "key indices")
        return RsaWork(self, source.schema)


def _check_column(schema: Any, label: str, name: str, kinds: set[str], what: str) -> None:
    if schema.names.count(name) != 1:
        raise OperandError(f"--{label} {name}: not one column of the table; columns: {listed(schema.names)}")
    dtype = schema.field(name).type
    if columns.column_kind(dtype) not in kinds:
        raise OperandError(f"--{label} {name}: a column of type {dtype} holds no {what}")


class RsaWork(Work):
    """An RSA operation bound to the columns of a table."""

    def __init__(self, job: RsaJob, schema: Any) -> None:
        self._job = job
        result = pa.binary() if job.names.how == "bytes" else pa.string()
        self._result_type = pa.bool_() if job.operation == "verify" else result
        fields = [pa.field(job.names.result, self._result_type), pa.field(job.names.status, pa.string())]
        self.schema = pa.schema([*schema, *fields], metadata=schema.metadata)

    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute the rows of a batch."""
        operands = self._operands(batch)
        good = operands.statuses.ok()
        rows = np.flatnonzero(good).tolist()
        computed, statuses = self._compute(operands, rows, progress)
        codes = np.zeros(len(good), np.uint8)
        codes[rows] = statuses
        operands.statuses.mark_items(codes)
        results: list[Any] = [None] * len(good)
        for row, value, status in zip(rows, computed, statuses.tolist(), strict=True):
            results[row], problem = (None, None) if status else self._outcome(value)
            if problem is not None:
                operands.statuses.mark_row(row, problem)
        arrays = [
            *batch.rows.columns,
            pa.array(results, self._result_type),
            operands.statuses.column(),
        ]
        output = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        return Computed(output, operands.statuses.bad())

    def _operands(self, batch: Batch) -> _Operands:
        job, statuses = self._job, RowStatuses(batch.rows.num_rows, batch.problems)
        values: dict[str, list[bytes]] = {}
        for label, name in job.operands.items():
            column = batch.rows.column(batch.rows.schema.get_field_index(name))
            convert: Callable[[Any], bytes] = bytes
            if columns.column_kind(column.type) == "text":
                plain = label == "message" and not job.message_is_hex
                convert = str.encode if plain else _hexadecimal
            values[label], problems = _read_bytes(column.to_pylist(), convert, "not_hexadecimal")
            for row, problem in problems.items():
                statuses.mark_row(row, f"{label}_{problem}")
        if job.key_column is None:
            return _Operands(values, None, statuses)
        indices = read_column(batch.rows.column(batch.rows.schema.get_field_index(job.key_column)))
        statuses.mark(indices.null, "key_is_null")
        statuses.mark(indices.invalid, "key_not_an_integer")
        # An index of more than 64 bits is as absent as the one after the last.
        absent = len(job.ring)
        keys = [min(max(key, -1), absent) for key in indices.rows(0, indices.count).to_ints()]
        return _Operands(values, keys, statuses)

    def _compute(
        self, operands: _Operands, rows: list[int], progress: RowProgress | None
    ) -> tuple[list[Any], NDArray[np.uint8]]:
        """Return results and statuses of these rows."""
        job = self._job
        batches = [[values[row] for row in rows] for values in operands.values.values()]
        keys = None if operands.keys is None else [operands.keys[row] for row in rows]
        how = [job.padding] if job.algorithm is None else [job.padding, job.algorithm]
        function = getattr(job.ring, job.operation)
        results: tuple[list[Any], NDArray[np.uint8]]
        results = function(*batches, keys, *how, errors="status", progress=progress)
        return results

    def _outcome(self, value: Any) -> tuple[Any, str | None]:
        """Return a row's cell, and what is wrong with it."""
        job = self._job
        if job.operation == "verify":
            return value, None if value else INVALID_SIGNATURE
        if job.names.how == "hex":
            return "0x" + value.hex(), None
        if job.names.how == "text":
            try:
                return value.decode(), None
            except UnicodeDecodeError:
                return None, _NOT_TEXT
        return value, None
