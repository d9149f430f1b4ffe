# SPDX-License-Identifier: Apache-2.0
"""Reading Parquet and Arrow IPC in record batches with bounded memory."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from manymod.tables.batches import Batch, BatchLimits, plain_batch, plain_schema, rebatch
from manymod.tables.errors import TableError
from manymod.tables.inputs import Input
from manymod.tables.text_columns import safe_batch, without_invalid_text

__all__ = ["ArrowSource", "FileSource", "ParquetSource", "naming"]

#: Rows decoded at a time before batches are put together by size.
DECODE_ROWS = 1024


@contextlib.contextmanager
def naming(name: Path | str) -> Iterator[None]:
    """Name the user's file in errors, also in those of a temporary file that replaces it."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output wants no more, which is no fault
    except (pa.ArrowException, TableError, UnicodeDecodeError) as error:
        text = str(error)
        raise TableError(text if str(name) in text else f"{name}: {text}") from error
    except OSError as error:
        raise TableError(f"{name}: {error.strerror or error}") from error


@contextlib.contextmanager
def _locating(place: str) -> Iterator[None]:
    """Say in Arrow's errors which part of a table cannot be read."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{place} cannot be read: {error}") from error


class FileSource:
    """What sources of files have in common: the table's bytes, the limits, and errors that name the file.

    The source closes the input.
    """

    def __init__(self, table: Input, limits: BatchLimits) -> None:
        self._input = table
        self._limits = limits

    def fingerprint(self) -> dict[str, Any]:
        """Return the file's identity, the format and the limits."""
        return {
            **self._input.fingerprint(),
            "input format": type(self).__name__,
            "--memory or --batch-rows": [self._limits.rows, self._limits.size],
        }

    def fraction(self) -> float:
        """Return how much of the table has been read, 0 to 1."""
        return self._input.fraction()

    def close(self) -> None:
        """Release the table."""
        self._input.close()


class ParquetSource(FileSource):
    """Parquet, page by page: the size of the row groups does not matter, that of the largest page does.

    Args:
        table: the file.
        limits: size of the batches.
        groups: the row groups to read; None: all.
    """

    def __init__(self, table: Input, limits: BatchLimits, groups: range | None = None) -> None:
        super().__init__(table, limits)
        self._bytes = table.file()
        options: dict[str, Any] = {"memory_map": False, "buffer_size": 1 << 18, "pre_buffer": False}
        try:
            self._file = pq.ParquetFile(self._bytes, page_checksum_verification=True, **options)
            # Columns read as dictionaries keep text that is not UTF-8, which otherwise fails the row group.
            schema = self._file.schema_arrow
            dictionaries = [field.name for field in schema if pa.types.is_dictionary(field.type)]
            if dictionaries:
                options["read_dictionary"] = dictionaries
                self._file = pq.ParquetFile(self._bytes, page_checksum_verification=True, **options)
        except BaseException:
            self._bytes.close()
            raise
        self._read_rows = 0
        self.schema = plain_schema(self._file.schema_arrow)
        metadata = self._file.metadata
        self._groups = range(metadata.num_row_groups) if groups is None else groups
        self.total_rows: int | None = sum(metadata.row_group(group).num_rows for group in self._groups)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        with naming(self._input.name):
            for batch in rebatch(self._pieces(), self.schema, self._limits):
                yield Batch(*without_invalid_text(batch))

    def _pieces(self) -> Iterator[Any]:
        for group in self._groups:
            metadata = self._file.metadata.row_group(group)
            fitting = self._limits.size * metadata.num_rows // max(1, metadata.total_byte_size)
            rows = min(DECODE_ROWS, self._limits.rows, max(1, fitting))
            start = self._read_rows
            with _locating(f"row group {group + 1} (rows {start + 1:,} to {start + metadata.num_rows:,})"):
                for piece in self._file.iter_batches(batch_size=rows, row_groups=[group], use_threads=False):
                    self._read_rows += piece.num_rows
                    yield plain_batch(piece, self.schema)

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return self._read_rows / max(1, self.total_rows or 0)

    def close(self) -> None:
        """Release the file."""
        self._file.close()
        self._bytes.close()
        super().close()


class ArrowSource(FileSource):
    """Arrow IPC, file or stream format, memory mapped; a compressed record batch has to fit into memory."""

    def __init__(self, table: Input, limits: BatchLimits) -> None:
        super().__init__(table, limits)
        with table.file() as file:
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:
                raise TableError(f"{table.name} is empty") from error
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
        batches, number = self._record_batches(), 0
        while True:
            number += 1
            with _locating(f"record batch {number}"):
                batch = next(batches, None)
                if batch is None:
                    return
                for start in range(0, batch.num_rows, rows):
                    piece = batch.slice(start, rows)
                    yield plain_batch(safe_batch(piece), self.schema)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        with naming(self._input.name):
            for batch in rebatch(self._pieces(), self.schema, self._limits):
                yield Batch(*without_invalid_text(batch))
                if hasattr(mmap, "MADV_DONTNEED"):
                    self._map.madvise(mmap.MADV_DONTNEED)

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return self._done
