# SPDX-License-Identifier: Apache-2.0
"""A table through an operation with keys, such as a signature of every row."""

from __future__ import annotations

import base64
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod.errors import Status
from manymod.tables import columns
from manymod.tables.batches import Batch, Source
from manymod.tables.errors import OperandError
from manymod.tables.integers import read_cells
from manymod.tables.job import Computed, Job, RowProgress, Work
from manymod.tables.json_rows import JsonNumber
from manymod.tables.jsonlines import JsonLinesSource, TypedJsonLinesSource
from manymod.tables.line_output import LineOutput
from manymod.tables.metadata import with_columns
from manymod.tables.notations import from_base64, from_hexadecimal
from manymod.tables.operands import OutputNames, check_new, column_names, listed
from manymod.tables.status import RowStatuses

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["INVALID_SIGNATURE", "TEXT_ENCODINGS", "KeyJob", "KeyWork"]

#: How text stands for bytes: name, conversion, and what a cell is not that cannot be converted.
TEXT_ENCODINGS: dict[str, tuple[Callable[[str], bytes], str]] = {
    "text": (str.encode, "not_text"),
    "hex": (from_hexadecimal, "not_hexadecimal"),
    "base64": (from_base64, "not_base64"),
}
INVALID_SIGNATURE = "invalid_signature"
_NOT_TEXT = "not_text"


def _read_cells(cells: Any, encoding: str) -> tuple[Any, dict[int, str]]:
    """Return the bytes of `Batch.cells` as an Arrow array, and by row what is wrong with a cell.

    Rows with something wrong hold no bytes, or null. A column of bytes, or of text that is the bytes itself,
    is taken without a copy; other cells are converted one by one.
    """
    if not isinstance(cells, list):
        cells = columns.plain_array(cells)
        if (binary := _as_binary(cells, encoding)) is not None:
            null = np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False)) if cells.null_count else ()
            return binary, dict.fromkeys(map(int, null), "is_null")
    values, problems = _read_bytes(_listed_cells(cells), encoding)
    return pa.array(values, pa.large_binary()), problems


def _as_binary(array: Any, encoding: str) -> Any:
    """Return a column over the same memory whose values are the bytes of its cells; None if there is none."""
    types = pa.types
    if (
        types.is_fixed_size_binary(array.type)
        or types.is_binary(array.type)
        or types.is_large_binary(array.type)
    ):
        return array
    if encoding == "text" and types.is_string(array.type):
        return array.cast(pa.binary())
    if encoding == "text" and types.is_large_string(array.type):
        return array.cast(pa.large_binary())
    return None


def _read_bytes(cells: Sequence[Any], encoding: str) -> tuple[list[bytes], dict[int, str]]:
    """Return the bytes of cells, none where they hold none, and by row what is wrong there.

    A cell holds bytes, or text in the encoding. Anything else of JSON is not the text that it is written as.
    """
    convert, problem = TEXT_ENCODINGS[encoding]
    values, problems = [b""] * len(cells), {}
    for row, cell in enumerate(cells):
        try:
            if isinstance(cell, bytes):
                values[row] = cell
            elif isinstance(cell, str) and not isinstance(cell, JsonNumber):
                values[row] = convert(cell)
            else:
                problems[row] = "is_null" if cell is None else problem
        except ValueError:
            problems[row] = problem
    return values, problems


def _listed_cells(cells: Any) -> list[Any]:
    """Return `Batch.cells` as a list."""
    return cells if isinstance(cells, list) else list(columns.plain_array(cells).to_pylist())


@dataclass(frozen=True)
class _Operands:
    #: Arrow arrays of bytes
    values: dict[str, Any]
    keys: list[int] | None
    statuses: RowStatuses


@dataclass(frozen=True, kw_only=True)
class KeyJob(Job):
    """An operation with keys on the rows of a table.

    Attributes:
        family: ``rsa`` or ``ecc``.
        operation: its name in the family.
        operands: names of columns, by what is in them.
        ring: the keys of the family, or a function that returns them. It is called where the job runs, so
            that no key is pickled with such a job.
        key_column: the column of each row's key: its index or name. None: every row has the first key.
        key_names: indices of keys by name.
        keys_by_index: an integer in the key column is an index, and no name.
        encodings: how text in a column of operands stands for bytes, one of `TEXT_ENCODINGS`; by default
            messages are the text itself, and the others hexadecimal.
        names: names of the columns that are added; results are written as ``bytes``, ``hex``, ``base64`` or,
            decrypted, ``text``.
    """

    family: str
    operation: str
    operands: Mapping[str, str]
    ring: Any
    key_column: str | None = None
    key_names: Mapping[str, int] = field(default_factory=dict)
    keys_by_index: bool = True
    encodings: Mapping[str, str] = field(default_factory=dict)
    names: OutputNames = field(default_factory=lambda: OutputNames(how="bytes"))

    #: type of the family's keys
    RING: ClassVar[type]
    #: statuses of signatures that are not valid, besides OK
    VERDICTS: ClassVar[frozenset[Status]] = frozenset()

    def loaded(self) -> Self:
        """Return the job with its keys in this process.

        Raises:
            TypeError: if the function for the keys returns something else.
        """
        if not callable(self.ring):
            return self
        ring = self.ring()
        if not isinstance(ring, self.RING):
            name = f"{self.RING.__module__.removesuffix('.ring')}.{self.RING.__name__}"
            raise TypeError(f"the function for the keys returned {type(ring).__name__}, not a {name}")
        return replace(self, ring=ring)

    @property
    def keys(self) -> Any:
        """The ring of a job that is loaded."""
        if callable(self.ring):
            raise TypeError("the keys of this job are not loaded: use loaded()")
        return self.ring

    @property
    def key_count(self) -> int:
        """The number of keys that rows can name."""
        return 0 if self.keys is None else len(self.keys)

    @property
    def name(self) -> str:
        """The operation's name."""
        return f"{self.family} {self.operation}"

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, columns and keys."""
        return {
            "operation": self.name,
            "operands": dict(self.operands),
            "key column": self.key_column and [self.key_column, dict(self.key_names), self.keys_by_index],
            "encodings": dict(self.encodings),
            "result column": self.names.result,
            "status column": self.names.status,
            "result format": self.names.how,
        }

    @abstractmethod
    def call(
        self, values: Mapping[str, Any], keys: list[int] | None, progress: RowProgress | None
    ) -> tuple[Any, NDArray[np.uint8]]:
        """Compute results, as an Arrow array of bytes or verdicts, and statuses.

        Args:
            values: Arrow arrays of the bytes of rows, by what they are.
            keys: indices of the rows' keys, `key_count` for one that there is not; None: the first one.
            progress: called with the number of rows done and in all.
        """

    def bind(self, source: Source) -> KeyWork:
        """Return the work on the rows of a source; every name is checked.

        Raises:
            OperandError: if a name does not fit the columns.
        """
        wanted = dict(self.operands)
        if self.key_column is not None:
            wanted["key-column"] = self.key_column
        names = column_names(source, wanted.values(), self.names)
        check_new(source, names, self.names)
        of_json = isinstance(source, (JsonLinesSource, TypedJsonLinesSource))
        for label, name in wanted.items():
            if names.count(name) != 1:
                raise OperandError(f"--{label} {name}: not one column of the table; columns: {listed(names)}")
            if not of_json:
                _check_type(label, name, source.schema.field(name).type)
        if isinstance(source, JsonLinesSource):
            return LineKeyWork(self, source.schema)
        return KeyWork(self, source.schema)

    def encoding_of(self, label: str) -> str:
        """Return how text in the column of an operand stands for bytes."""
        return self.encodings.get(label, "text" if label == "message" else "hex")


def _check_type(label: str, name: str, dtype: Any) -> None:
    """Raise OperandError if a column of this type holds nothing that the operand can be."""
    kind = columns.column_kind(columns.plain_type(dtype))
    if label == "key-column":
        good, what = kind in {"integer", "decimal", "float", "text", "null"}, "indices or names of keys"
    else:
        good, what = kind in {"bytes", "text", "null"}, "bytes"
    if not good:
        raise OperandError(f"--{label} {name}: a column of type {dtype} holds no {what}")


class KeyWork(Work):
    """An operation with keys bound to the columns of a table."""

    def __init__(self, job: KeyJob, schema: Any) -> None:
        self._job = job
        result = pa.binary() if job.names.how == "bytes" else pa.string()
        self._result_type = pa.bool_() if job.operation == "verify" else result
        fields = [pa.field(job.names.result, self._result_type), pa.field(job.names.status, pa.string())]
        self.schema = with_columns(schema, fields)

    def compute(self, batch: Batch, progress: RowProgress | None = None) -> Computed:
        """Compute the rows of a batch."""
        operands = self._operands(batch)
        statuses = operands.statuses
        good = statuses.ok()
        rows = np.flatnonzero(good)
        computed, of_items = self._compute(operands, None if good.all() else rows, progress)
        codes = np.zeros(len(good), np.uint8)
        codes[rows] = of_items
        statuses.mark_items(codes)
        has_result = good & (codes == Status.OK)
        if self._job.operation == "verify":
            has_result |= good & np.isin(codes, [int(status) for status in self._job.VERDICTS])
            valid = np.zeros(len(good), np.bool_)
            valid[rows] = computed.to_numpy(zero_copy_only=False)
            statuses.mark(has_result & ~valid, INVALID_SIGNATURE)
        results = self._written(_at_rows(computed, rows, has_result), statuses)
        return Computed(self.assemble(batch, results, statuses), statuses.bad())

    def assemble(self, batch: Batch, results: Any, statuses: RowStatuses) -> Any:
        """Return the columns of the batch, the results and the statuses.

        Args:
            batch: the batch.
            results: an Arrow array, null where a row has none.
            statuses: of the rows.
        """
        arrays = [*batch.rows.columns, results.cast(self._result_type), statuses.column()]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _operands(self, batch: Batch) -> _Operands:
        job, statuses = self._job, RowStatuses(batch.rows.num_rows, batch.problems)
        values: dict[str, Any] = {}
        for label, name in job.operands.items():
            values[label], problems = _read_cells(batch.cells(name), job.encoding_of(label))
            for row, problem in problems.items():
                statuses.mark_row(row, f"{label}_{problem}")
        keys = None if job.key_column is None else self._keys(batch.cells(job.key_column), statuses)
        return _Operands(values, keys, statuses)

    def _keys(self, cells: Any, statuses: RowStatuses) -> list[int]:
        """Return the index of every row's key; a key that is absent has the index after the last."""
        job = self._job
        absent = job.key_count
        if not job.keys_by_index:
            names = _listed_cells(cells)
            statuses.mark(np.array([name is None for name in names], np.bool_), "key_is_null")
            return [job.key_names.get(_key_name(name), absent) for name in names]
        indices = read_cells(cells)
        # An index of more than 64 bits is as absent as the one after the last.
        keys = [min(max(key, -1), absent) for key in indices.rows(0, indices.count).to_ints()]
        invalid = indices.invalid
        if invalid is not None and job.key_names:
            names = _listed_cells(cells)
            for row in np.flatnonzero(invalid).tolist():
                if (key := job.key_names.get(_key_name(names[row]))) is not None:
                    keys[row], invalid[row] = key, False
        statuses.mark(indices.null, "key_is_null")
        statuses.mark(invalid, "key_not_an_integer")
        return keys

    def _compute(
        self, operands: _Operands, rows: NDArray[np.intp] | None, progress: RowProgress | None
    ) -> tuple[Any, NDArray[np.uint8]]:
        """Return results and statuses of these rows, or of all."""
        values, keys = operands.values, operands.keys
        if rows is not None:
            values = {label: array.take(pa.array(rows)) for label, array in values.items()}
            keys = None if keys is None else [keys[row] for row in rows.tolist()]
        return self._job.call(values, keys, progress)

    def _written(self, results: Any, statuses: RowStatuses) -> Any:
        """Return results as they are written; what cannot be written so is null and has a status."""
        how = self._job.names.how
        if self._job.operation == "verify" or how == "bytes":
            return results
        cells: list[str | None] = []
        for row, value in enumerate(results.to_pylist()):
            cell = None if value is None else _text_of(value, how)
            if value is not None and cell is None:
                statuses.mark_row(row, _NOT_TEXT)
            cells.append(cell)
        return pa.array(cells, pa.string())


def _at_rows(computed: Any, rows: NDArray[np.intp], has_result: NDArray[np.bool_]) -> Any:
    """Return the results `computed` of `rows` among all rows, those without a result null."""
    if has_result.all():
        return computed
    places = np.zeros(len(has_result), np.int64)
    places[rows] = np.arange(len(rows))
    return computed.take(pa.array(places, mask=~has_result))


def _text_of(value: bytes, how: str) -> str | None:
    """Return bytes as text; None if they are none."""
    if how == "hex":
        return "0x" + value.hex()
    if how == "base64":
        return base64.b64encode(value).decode()
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _key_name(cell: object) -> str:
    """Return the name that a cell of the key column is; that of nothing in it is no name of a file."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell) if isinstance(cell, (str, int, Decimal)) and not isinstance(cell, bool) else ""


class LineKeyWork(KeyWork):
    """An operation with keys on JSON lines, which are kept letter by letter."""

    def __init__(self, job: KeyJob, schema: Any) -> None:
        super().__init__(job, schema)
        self._output = LineOutput(job.names)
        self.schema = self._output.schema

    def assemble(self, batch: Batch, results: Any, statuses: RowStatuses) -> Any:
        """Return the lines of the batch with result and status."""
        members = [None if result is None else _json(result) for result in results.to_pylist()]
        return self._output.assemble(batch, members, statuses)


def _json(result: Any) -> str:
    """JSON of a result: bytes are hexadecimal text."""
    value = "0x" + result.hex() if isinstance(result, bytes) else result
    return json.dumps(value, ensure_ascii=False)
