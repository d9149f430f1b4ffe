# SPDX-License-Identifier: Apache-2.0
"""Reading Parquet, CSV and Arrow IPC in record batches with bounded memory (JSON Lines: jsonlines.py)."""

from __future__ import annotations

import contextlib
import csv
import io
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from manymod.tables.batches import Batch, BatchLimits, plain_batch, plain_schema, rebatch
from manymod.tables.errors import TableError

__all__ = [
    "ArrowSource",
    "CsvSource",
    "FileSource",
    "ParquetSource",
    "naming",
    "refuse_unreadable",
]

#: Rows decoded at a time before batches are put together by size.
DECODE_ROWS = 1024
#: Longest CSV cell; beyond it an unbalanced quote is swallowing the file.
MAX_CSV_CELL = 16 << 20


#: How compressed files begin: gzip, bzip2, xz, Zstandard.
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")


def refuse_unreadable(path: Path) -> None:
    """Raise TableError for what is no regular file, or compressed as a whole."""
    if not path.is_file():
        raise TableError(f"{path} is not a regular file; tables are read more than once")
    with open(path, "rb") as file:
        if file.read(6).startswith(COMPRESSED):
            raise TableError(f"{path} is compressed, which is not supported; decompress it first")


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the user's file in Arrow's errors, and in errors of a temporary file that replaces it."""
    try:
        yield
    except pa.ArrowException as error:
        text = str(error)
        raise TableError(text if str(path) in text else f"{path}: {text}") from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error


class FileSource:
    """What sources of files have in common: the path, the limits, and errors that name the file."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        self._path = path
        self._limits = limits

    def fingerprint(self) -> dict[str, Any]:
        """Return the file's path, size and modification time, and the limits."""
        status = self._path.stat()
        return {
            "input": str(self._path.resolve()),
            "input size": status.st_size,
            "input modification time": status.st_mtime_ns,
            "input format": type(self).__name__,
            "batch": [self._limits.rows, self._limits.size],
        }


class ParquetSource(FileSource):
    """Parquet, page by page: the size of the row groups does not matter, that of the largest page does."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        super().__init__(path, limits)
        self._file = pq.ParquetFile(path, memory_map=False, buffer_size=1 << 18, pre_buffer=False)
        self._read_rows = 0
        self.schema = plain_schema(self._file.schema_arrow)
        self.total_rows: int | None = self._file.metadata.num_rows

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        with naming(self._path):
            yield from map(Batch, rebatch(self._pieces(), self.schema, self._limits))

    def _pieces(self) -> Iterator[Any]:
        for group in range(self._file.num_row_groups):
            metadata = self._file.metadata.row_group(group)
            fitting = self._limits.size * metadata.num_rows // max(1, metadata.total_byte_size)
            rows = min(DECODE_ROWS, self._limits.rows, max(1, fitting))
            for piece in self._file.iter_batches(batch_size=rows, row_groups=[group], use_threads=False):
                self._read_rows += piece.num_rows
                yield plain_batch(piece, self.schema)

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return self._read_rows / max(1, self.total_rows or 0)

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class ArrowSource(FileSource):
    """Arrow IPC, file or stream format, memory mapped; a compressed record batch has to fit into memory."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        super().__init__(path, limits)
        with open(path, "rb") as file:
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:
                raise TableError(f"{path} is empty") from error
        self._buffer = pa.py_buffer(self._map)
        self._is_file = self._map[:6] == b"ARROW1"
        self._done = 0.0
        if self._is_file:
            reader = pa.ipc.open_file(pa.BufferReader(self._buffer))
            self._count = reader.num_record_batches
        else:
            reader = pa.ipc.open_stream(pa.BufferReader(self._buffer))
        self.schema = plain_schema(reader.schema)
        self.total_rows: int | None = None

    def _record_batches(self) -> Iterator[Any]:
        source = pa.BufferReader(self._buffer)
        if self._is_file:
            reader = pa.ipc.open_file(source)
            for index in range(self._count):
                self._done = index / self._count
                yield reader.get_batch(index)
        else:
            for batch in pa.ipc.open_stream(source):
                yield batch
                self._done = source.tell() / len(self._map)

    def _pieces(self) -> Iterator[Any]:
        rows = min(DECODE_ROWS, self._limits.rows)
        for batch in self._record_batches():
            for start in range(0, batch.num_rows, rows):
                piece = batch.slice(start, rows)
                piece.validate(full=True)
                yield plain_batch(piece, self.schema)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        with naming(self._path):
            for batch in rebatch(self._pieces(), self.schema, self._limits):
                yield Batch(batch)
                if hasattr(mmap, "MADV_DONTNEED"):
                    self._map.madvise(mmap.MADV_DONTNEED)

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return self._done

    def close(self) -> None:
        """Release the file; the map goes when the last batch that looks into it does."""


class CsvSource(FileSource):
    """CSV in UTF-8 with a header line. Every column is text: guessing types would destroy big integers."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        super().__init__(path, limits)
        self._bytes = open(path, "rb")  # noqa: SIM115 (closed by close())
        self._file = io.TextIOWrapper(self._bytes, encoding="utf-8-sig", newline="")
        self._size = max(1, path.stat().st_size)
        csv.field_size_limit(MAX_CSV_CELL)
        self._reader = csv.reader(self._file, strict=True)
        try:
            self._header = self._read_header()
        except TableError:
            self.close()
            raise
        self.schema = pa.schema([(name, pa.string()) for name in self._header])
        self.total_rows: int | None = None

    def _read_header(self) -> list[str]:
        try:
            return next(self._reader)
        except StopIteration:
            message = f"{self._path} is empty; a CSV table starts with a line of column names"
            raise TableError(message) from None
        except (csv.Error, UnicodeDecodeError) as error:
            raise TableError(f"{self._path}: header: {error}") from error

    def _rows(self) -> Iterator[list[str]]:
        number = 0
        try:
            for row in self._reader:
                if not row:
                    continue
                number += 1
                if len(row) != len(self._header):
                    raise TableError(
                        f"{self._path}: row {number} (line {self._reader.line_num}) has {len(row)} fields, "
                        f"the header has {len(self._header)}"
                    )
                yield row
        except (csv.Error, UnicodeDecodeError) as error:
            raise TableError(f"{self._path}: after row {number}: {error}") from error

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        rows: list[list[str]] = []
        size = 0
        for row in self._rows():
            rows.append(row)
            size += sum(map(len, row))
            if len(rows) >= self._limits.rows or size >= self._limits.size:
                yield Batch(self._batch(rows))
                rows, size = [], 0
        if rows:
            yield Batch(self._batch(rows))

    def _batch(self, rows: list[list[str]]) -> Any:
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return min(1.0, self._bytes.tell() / self._size)

    def close(self) -> None:
        """Release the file."""
        self._file.close()
