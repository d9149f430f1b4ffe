# SPDX-License-Identifier: Apache-2.0
"""Writing Parquet, CSV, JSON Lines and Arrow IPC, to a temporary name that is then moved into place."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Replacement", "Writer", "fsync_directory", "open_writer", "write_table"]

#: Parquet row groups are cut at about this many bytes of columns.
ROW_GROUP_BYTES = 24 << 20


class Writer(Protocol):
    """A table being written."""

    def write(self, batch: Any) -> None:
        """Append a record batch."""

    def close(self) -> None:
        """Finish the file."""


class ParquetWriter:
    """Parquet; batches are gathered into row groups of a size that depends on the data alone."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema)
        self._pending: list[Any] = []
        self._size = 0

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        self._pending.append(batch)
        self._size += batch.nbytes
        if self._size >= ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            table = pa.Table.from_batches(self._pending, self._schema)
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._pending, self._size = [], 0

    def close(self) -> None:
        """Finish the file."""
        self._flush()
        self._writer.close()


class ArrowWriter:
    """Arrow IPC, in the file or the stream format."""

    def __init__(self, path: Path, schema: Any, stream: bool) -> None:
        self._file = pa.OSFile(str(path), "wb")
        self._writer = (pa.ipc.new_stream if stream else pa.ipc.new_file)(self._file, schema)

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
        self._file.close()


class CsvWriter:
    """CSV in UTF-8; bytes are written as 0x hexadecimal, nested values as JSON, nulls as empty cells."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 (closed by close())
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(schema.names)

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        columns = [[csv_text(value) for value in python_values(column)] for column in batch.columns]
        self._writer.writerows(zip(*columns, strict=True))

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


class JsonLinesWriter:
    """JSON Lines; integers are exact, bytes are 0x hexadecimal text. Finished lines pass as they are."""

    def __init__(self, path: Path, schema: Any, finished_lines: bool) -> None:
        self._file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 (closed by close())
        self._names = schema.names
        self._finished = finished_lines

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        self._file.writelines(line + "\n" for line in self._lines(batch))

    def _lines(self, batch: Any) -> Iterable[str]:
        if self._finished:
            lines: list[str] = batch.column(0).to_pylist()
            return lines
        columns = [[json_value(value) for value in python_values(column)] for column in batch.columns]
        rows = (dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True))
        return (json.dumps(row, ensure_ascii=False) for row in rows)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def python_values(column: Any) -> list[Any]:
    """Python values of an Arrow array; times as Arrow writes them, so that no nanosecond is lost."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        column = column.cast(pa.int64() if pa.types.is_duration(column.type) else pa.string())
    values: list[Any] = column.to_pylist()
    return values


def json_value(value: Any) -> Any:
    """A value JSON can hold: bytes as 0x text, whole decimals as integers, NaN and infinities as text."""
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, Decimal):
        return (
            int(value)
            if value == value.to_integral_value() and value.as_tuple().exponent == 0
            else str(value)
        )
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def csv_text(value: Any) -> str:
    """The text of a CSV cell."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(json_value(value), ensure_ascii=False)
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)


def open_writer(path: Path, schema: Any, table_format: str) -> Writer:
    """Return a writer of the named format."""
    if table_format == "parquet":
        return ParquetWriter(path, schema)
    if table_format == "csv":
        return CsvWriter(path, schema)
    if table_format == "jsonl":
        return JsonLinesWriter(path, schema, finished_lines=schema.metadata == {b"finished": b"lines"})
    return ArrowWriter(path, schema, stream=table_format == "arrows")


class Replacement:
    """A table that takes the place of `path` as a whole, or not at all."""

    def __init__(self, path: Path, schema: Any, table_format: str) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.tmp")
        self._arguments = (schema, table_format)
        self._writer: Writer | None = None

    def __enter__(self) -> Self:
        """Begin a temporary file in the same folder."""
        self._writer = open_writer(self._temporary, *self._arguments)
        return self

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        assert self._writer is not None  # noqa: S101 - entered
        self._writer.write(batch)

    def commit(self) -> None:
        """Make the file durable and move it into place."""
        self._close()
        with open(self._temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(self._temporary, self._path)
        fsync_directory(self._path.parent)

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def __exit__(self, *_: object) -> None:
        """Remove what was not moved into place."""
        try:
            self._close()
        finally:
            self._temporary.unlink(missing_ok=True)


def write_table(path: Path, schema: Any, table_format: str, batches: Iterable[Any]) -> None:
    """Write a whole table so that `path` holds either what it held before or all of the table."""
    with Replacement(path, schema, table_format) as table:
        for batch in batches:
            table.write(batch)
        table.commit()


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
