# SPDX-License-Identifier: Apache-2.0
"""Batches of rows, and what every source of them offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from manymod.tables.errors import TableError
from manymod.tables.nested import mapped_field, mapped_type
from manymod.tables.text_columns import without_invalid_text

__all__ = ["Batch", "BatchLimits", "MemorySource", "Source", "rebatch"]

#: Memory of the interpreter and its libraries before any table is read.
BASE_MEMORY = 160 << 20
#: Bytes that a batch costs at its peak for each byte read: columns, limbs, results, text, parts.
BATCH_FACTOR = 24
#: Batches are not cut smaller than this, however little memory is allowed.
LEAST_BATCH = 1 << 18


@dataclass(frozen=True)
class BatchLimits:
    """A batch ends at `rows` rows or about `size` bytes, whichever comes first."""

    rows: int = 8192
    size: int = 10 << 20

    @classmethod
    def within(cls, memory: int, rows: int) -> BatchLimits:
        """Limits that keep a run within about `memory` bytes."""
        return cls(rows, max(LEAST_BATCH, (memory - BASE_MEMORY) // BATCH_FACTOR))


@dataclass(frozen=True)
class Batch:
    """Rows of a table.

    Attributes:
        rows: the record batch that is copied to the output.
        problems: by index the status of rows that could not be read.
        members: of JSON, the values of every row by key, None where it could not be read. A column of `rows`
            has one type for all its cells; these have the types that were written.
    """

    rows: Any
    problems: dict[int, str] = field(default_factory=dict)
    members: Sequence[Mapping[str, object] | None] | None = None

    def cells(self, name: str) -> Any:
        """Return what operands are read from: an Arrow array, or of JSON a list of values."""
        if self.members is None:
            return self.rows.column(self.rows.schema.get_field_index(name))
        return [None if row is None else row.get(name) for row in self.members]


class Source(Protocol):
    """A table to read.

    Batches depend on the table and the limits alone, so that a resumed run meets the same ones.

    Attributes:
        schema: the Arrow schema of the batches.
        total_rows: number of rows, None where it is not known before all are read.
    """

    schema: Any
    total_rows: int | None

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""

    def fraction(self) -> float:
        """Return how much of the table has been read, 0 to 1."""

    def fingerprint(self) -> dict[str, Any]:
        """Return what must be the same for batches to be the same, ready for JSON."""

    def close(self) -> None:
        """Release the table."""


class MemorySource:
    """An Arrow table, record batch, or sequence of record batches of one schema."""

    def __init__(self, table: Any, limits: BatchLimits | None = None) -> None:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        elif not isinstance(table, pa.Table):
            batches = list(table)
            if not batches:
                raise TableError(
                    "no record batch, so that the columns are unknown: pass an empty Arrow table"
                )
            table = pa.Table.from_batches(batches)
        self._table = table
        self._limits = limits or BatchLimits()
        self._read_rows = 0
        self.schema = plain_schema(table.schema)
        self.total_rows: int | None = table.num_rows

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        pieces = (plain_batch(piece, self.schema) for piece in self._table.to_batches())
        for rows in rebatch(pieces, self.schema, self._limits):
            self._read_rows += rows.num_rows
            yield Batch(*without_invalid_text(rows))

    def fraction(self) -> float:
        """Return how much of the table has been read, 0 to 1."""
        return self._read_rows / max(1, int(self._table.num_rows))

    def fingerprint(self) -> dict[str, Any]:
        """Return the number of rows and the limits; contents are not looked at."""
        return {"rows": self.total_rows, "batch": [self._limits.rows, self._limits.size]}

    def close(self) -> None:
        """Do nothing."""


def rebatch(pieces: Iterable[Any], schema: Any, limits: BatchLimits) -> Iterator[Any]:
    """Join small record batches into batches of at most `limits.rows` rows and about `limits.size` bytes."""
    pending: list[Any] = []
    rows = size = 0
    for piece in pieces:
        start = 0
        while start < piece.num_rows:
            fitting = (limits.size - size) * piece.num_rows // max(1, piece.nbytes)
            head = piece.slice(start, min(limits.rows - rows, max(1, fitting)))
            start += head.num_rows
            pending.append(head)
            rows += head.num_rows
            size += head.nbytes
            if rows >= limits.rows or size >= limits.size:
                yield _join(pending, schema)
                pending, rows, size = [], 0, 0
    if pending:
        yield _join(pending, schema)


def _join(pieces: list[Any], schema: Any) -> Any:
    table = pa.Table.from_batches(pieces, schema).combine_chunks()
    return table.to_batches()[0]


def decoded_type(dtype: Any) -> Any:
    """Return a type with what is dictionary-encoded in it decoded, in lists, structures and maps too.

    >>> decoded_type(pa.list_(pa.dictionary(pa.int8(), pa.string())))
    ListType(list<item: string>)
    """
    return mapped_type(dtype, _decoded)


def _decoded(dtype: Any) -> Any:
    return decoded_type(dtype.value_type) if pa.types.is_dictionary(dtype) else None


def _check_names(fields: Iterable[Any]) -> None:
    """Decode the names of fields and of those within them, which Arrow does only when asked for a name."""
    for given in fields:
        str(given.name)
        _check_names(map(given.type.field, range(given.type.num_fields)))


def plain_schema(schema: Any) -> Any:
    """Return the schema with dictionary-encoded columns decoded.

    Their dictionaries change from batch to batch.

    Raises:
        UnicodeDecodeError: if a name is not UTF-8.
    """
    _check_names(schema)
    return pa.schema([mapped_field(field, _decoded) for field in schema], metadata=schema.metadata)


def plain_batch(batch: Any, schema: Any) -> Any:
    """Return `batch` with dictionary-encoded columns decoded, as `plain_schema` gave its `schema`."""
    if batch.schema.equals(schema):
        return batch
    columns = [
        _decoded_column(column, field.type) for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _decoded_column(column: Any, dtype: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        # dictionary_decode() refuses text that is not UTF-8, which concerns only the rows that have it.
        column = column.dictionary.take(column.indices)
    return column if column.type == dtype else column.cast(dtype)
