# SPDX-License-Identifier: Apache-2.0
"""Writing Parquet, CSV, JSON Lines and Arrow IPC to a binary file, and what they cannot hold."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from manymod.tables.compression import CODEC_NAMES, compressing, split_codec
from manymod.tables.errors import TableError
from manymod.tables.formats import CSV_FORMATS, TEXT_FORMATS
from manymod.tables.texts import (
    TWIN_FIELDS,
    csv_text,
    has_twin_fields,
    json_value,
    plain_values,
    refusal_of_text,
)

__all__ = [
    "COMPRESSIONS",
    "FINISHED_LINES",
    "Writer",
    "check_compression",
    "check_writable",
    "open_writer",
    "output_compression",
]

#: Parquet row groups are cut at about this many bytes of columns.
ROW_GROUP_BYTES = 24 << 20
#: What an output can be compressed with.
COMPRESSIONS = ("none", *CODEC_NAMES)
#: Schema of finished lines of JSON. No table of a user's has it, whatever its metadata, as outputs have more
#: columns.
FINISHED_LINES = pa.schema([("line", pa.string())], metadata={b"manymod.finished_lines": b"1"})


class Writer(Protocol):
    """A table being written."""

    def write(self, batch: Any) -> None:
        """Append a record batch."""

    def close(self) -> None:
        """Finish the table, and close the file."""


class ParquetWriter:
    """Parquet; batches are gathered into row groups of a size that depends on the data alone."""

    def __init__(self, file: IO[bytes], schema: Any, compression: str | None) -> None:
        self._schema = schema
        self._file = file
        self._writer = pq.ParquetWriter(file, schema, compression=compression or "snappy")
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
        """Finish the table, and close the file."""
        with self._file:
            self._flush()
            self._writer.close()


class ArrowWriter:
    """Arrow IPC, in the file format (compressed inside) or the stream format (as a whole)."""

    def __init__(self, file: IO[bytes], schema: Any, stream: bool, compression: str | None) -> None:
        codec = None if compression == "none" else compression
        if stream:
            self._file = compressing(file, codec)
            self._writer = pa.ipc.new_stream(self._file, schema)
        else:
            self._file = file
            self._writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression=codec))

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Finish the table, and close the file."""
        with self._file:
            self._writer.close()


class _TextWriter:
    """A text file in UTF-8, which may be compressed as a whole."""

    def __init__(self, file: IO[bytes], compression: str | None) -> None:
        packed = compressing(file, None if compression == "none" else compression)
        self._file = io.TextIOWrapper(packed, encoding="utf-8", newline="")

    def close(self) -> None:
        """Finish the table, and close the file."""
        self._file.close()


class _UnixLines:
    r"""Rows of CSV whose end \r\n becomes \n.

    Before Python 3.13 `csv.writer` quotes a carriage return only if the end of a line has one.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: str) -> None:
        """Write a row."""
        self._file.write(row[:-2] + "\n")


class CsvWriter(_TextWriter):
    """CSV in UTF-8; bytes are written as 0x hexadecimal, nested values as JSON, nulls as empty cells."""

    def __init__(self, file: IO[bytes], schema: Any, compression: str | None, delimiter: str) -> None:
        super().__init__(file, compression)
        self._writer = csv.writer(_UnixLines(self._file), delimiter=delimiter, lineterminator="\r\n")
        self._writer.writerow(schema.names)

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        columns = [[csv_text(value) for value in values] for values in _columns(batch)]
        self._writer.writerows(zip(*columns, strict=True))


class JsonLinesWriter(_TextWriter):
    """JSON Lines; integers are exact, bytes are 0x hexadecimal text. Finished lines pass as they are."""

    def __init__(self, file: IO[bytes], schema: Any, compression: str | None) -> None:
        super().__init__(file, compression)
        self._names = schema.names
        self._finished = schema.equals(FINISHED_LINES, check_metadata=True)

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        self._file.writelines(line + "\n" for line in self._lines(batch))

    def _lines(self, batch: Any) -> Iterable[str]:
        if self._finished:
            lines: list[str] = batch.column(0).to_pylist()
            return lines
        columns = [[json_value(value) for value in values] for values in _columns(batch)]
        rows = (dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True))
        return (json.dumps(row, ensure_ascii=False) for row in rows)


def _columns(batch: Any) -> list[list[Any]]:
    """Return the values of each column of a batch."""
    found = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            found.append(plain_values(column))
        except ValueError as error:  # Arrow's and Python's own errors of values are ValueErrors
            raise TableError(f"column {name}: {error}") from error
    return found


def open_writer(file: IO[bytes], schema: Any, table_format: str, compression: str | None = None) -> Writer:
    """Return a writer of the named format to a binary file, which it closes.

    Args:
        file: opened for writing.
        schema: the table's Arrow schema.
        table_format: one of `FORMATS`.
        compression: one of `COMPRESSIONS`; by default Parquet has its usual one, other formats none.
    """
    if table_format == "parquet":
        return ParquetWriter(file, schema, compression)
    if table_format in CSV_FORMATS:
        return CsvWriter(file, schema, compression, CSV_FORMATS[table_format])
    if table_format == "jsonl":
        return JsonLinesWriter(file, schema, compression)
    return ArrowWriter(file, schema, table_format == "arrows", compression)


def output_compression(path: Path, table_format: str, given: str | None) -> str | None:
    """Return the compression of an output: the one given, or that of its name.

    Raises:
        TableError: if they contradict each other or the format.
    """
    plain, codec = split_codec(path)
    if codec is None:
        return given
    if table_format in {"parquet", "arrow"}:
        raise TableError(
            f"{path}: {table_format} is compressed inside: name it {plain.name} and choose a compression"
        )
    if given not in {None, codec}:
        raise TableError(f"{path}: the name says {codec}, not {given}")
    return codec


def check_compression(table_format: str, compression: str | None) -> None:
    """Raise TableError if a format does not have a compression."""
    if table_format == "arrow" and compression == "gzip":
        raise TableError("Arrow files cannot be compressed by gzip: choose zstd")


def check_writable(schema: Any, table_format: str, compression: str | None = None) -> None:
    """Find out before any row is computed whether a format can hold a table.

    Raises:
        TableError: if it cannot; the message names the column and its type.
    """
    check_compression(table_format, compression)
    if table_format != "jsonl" and schema.equals(FINISHED_LINES, check_metadata=True):
        raise TableError(f"JSON lines as they are can be written to JSON Lines only, not to {table_format}")
    if table_format in {"parquet", "jsonl"}:
        name, count = max(Counter(schema.names).items(), key=lambda found: found[1], default=("", 0))
        if count > 1:
            raise TableError(
                f"the table has {count} columns of the name {name!r}, which {table_format} cannot hold: "
                "rename them, or write another format"
            )
    reasons: dict[Any, str | None] = {}
    for field in schema:
        if field.type not in reasons:
            reasons[field.type] = _refusal(field.type, table_format)
        if (reason := reasons[field.type]) is not None:
            raise TableError(
                f"column {field.name} of type {field.type} cannot be written to {table_format}: {reason}; "
                "write another format, or leave the column out"
            )


def _refusal(dtype: Any, table_format: str) -> str | None:
    """Return why a format cannot hold columns of a type, None if it can."""
    if table_format in TEXT_FORMATS and (reason := refusal_of_text(dtype)):
        return reason
    if table_format == "parquet" and has_twin_fields(dtype):
        return TWIN_FIELDS
    schema = pa.schema([pa.field("column", dtype)])
    try:
        writer = open_writer(io.BytesIO(), schema, table_format)
        if table_format in TEXT_FORMATS or table_format == "parquet":
            writer.write(pa.record_batch([pa.nulls(1, dtype)], schema=schema))
        writer.close()
    except (pa.ArrowException, TableError, OSError, TypeError, ValueError) as error:
        return str(error).partition("\n")[0]
    return None
