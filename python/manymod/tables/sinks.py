# SPDX-License-Identifier: Apache-2.0
"""Where the batches of an output go: memory, a file, or a stream (a file that a run can resume: parts.py)."""

from __future__ import annotations

import contextlib
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from manymod.tables.folders import OutputFile
from manymod.tables.formats import format_of
from manymod.tables.replacement import Replacement
from manymod.tables.sources import naming
from manymod.tables.writers import Writer, check_writable, open_writer, output_compression

__all__ = ["BAD_ROWS_KEPT", "FileSink", "MemorySink", "Sink", "StreamSink", "Tally"]

#: Bad rows that are listed one by one.
BAD_ROWS_KEPT = 20


@dataclass
class Tally:
    """What of an output is there.

    Attributes:
        batches: number of batches.
        rows: number of rows.
        bad_rows: number (from 1) and status of the first bad rows.
        bad_counts: number of bad rows by status.
        complete: whether these are all batches.
        hints: what may be wrong as a whole, a sentence each.
    """

    batches: int = 0
    rows: int = 0
    bad_rows: list[tuple[int, str]] = field(default_factory=list)
    bad_counts: dict[str, int] = field(default_factory=dict)
    complete: bool = False
    hints: list[str] = field(default_factory=list)

    def add(self, rows: int, bad: list[tuple[int, str]], hints: Sequence[str] = ()) -> None:
        """Count a batch of `rows` rows; `bad` has index and status of those that are not ok."""
        self.hints += [hint for hint in hints if hint not in self.hints]
        room = BAD_ROWS_KEPT - len(self.bad_rows)
        self.bad_rows += [(self.rows + row + 1, status) for row, status in bad[:room]]
        for _, status in bad:
            self.bad_counts[status] = self.bad_counts.get(status, 0) + 1
        self.batches += 1
        self.rows += rows

    def append(self, other: Tally) -> None:
        """Count what follows."""
        self.hints += [hint for hint in other.hints if hint not in self.hints]
        room = BAD_ROWS_KEPT - len(self.bad_rows)
        self.bad_rows += [(self.rows + row, status) for row, status in other.bad_rows[:room]]
        for status, count in other.bad_counts.items():
            self.bad_counts[status] = self.bad_counts.get(status, 0) + count
        self.batches += other.batches
        self.rows += other.rows


class Sink(ABC):
    """What a run writes to. It is used for one run."""

    @abstractmethod
    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:
        """Begin an output, and return what of it is there already.

        Args:
            schema: its Arrow schema.
            fingerprint: what its contents depend on, ready for JSON.
        """

    @abstractmethod
    def write(self, rows: Any, tally: Tally) -> None:
        """Append a record batch; `tally` counts it."""

    def suspend(self, tally: Tally) -> None:  # noqa: B027 - most sinks keep nothing
        """Keep what is there, as the run was interrupted."""

    def complete(self, tally: Tally) -> None:  # noqa: B027
        """Keep that all batches are there."""

    @abstractmethod
    def finish(self) -> None:
        """Make the output whole: all batches were written."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; what is not finished does not become an output."""


class MemorySink(Sink):
    """Collects the record batches."""

    def __init__(self) -> None:
        self.schema: Any = None
        self.batches: list[Any] = []

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:  # noqa: ARG002
        """Begin an empty table."""
        self.schema, self.batches = schema, []
        return Tally()

    def write(self, rows: Any, tally: Tally) -> None:  # noqa: ARG002
        """Append a record batch."""
        self.batches.append(rows)

    def finish(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def table(self) -> Any:
        """Return the batches as an Arrow table."""
        return pa.Table.from_batches(self.batches, self.schema)


class FileSink(Sink):
    """A table file, which appears whole or not at all, with the permissions of the one that it replaces.

    Args:
        path: the file to write or to replace; where it is a symbolic link, the file that this leads to.
        table_format: one of `FORMATS`; by default that of the extension.
        compression: one of `COMPRESSIONS`; by default that of the extension.
    """

    def __init__(self, path: Path, table_format: str | None = None, compression: str | None = None) -> None:
        self._path = path
        self._format = table_format or format_of(path)
        self._compression = output_compression(path, self._format, compression)
        self._stack = contextlib.ExitStack()
        self._replacement: Replacement | None = None

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:  # noqa: ARG002
        """Begin a temporary file in the same folder.

        Raises:
            TableError: if the file cannot be written, or the format cannot hold the columns.
        """
        check_writable(schema, self._format, self._compression)
        output = OutputFile(self._path)
        with naming(self._path):
            self._replacement = self._stack.enter_context(
                Replacement(output, schema, self._format, self._compression)
            )
        return Tally()

    def write(self, rows: Any, tally: Tally) -> None:  # noqa: ARG002
        """Append a record batch."""
        assert self._replacement is not None  # noqa: S101 - open() was called
        with naming(self._path):
            self._replacement.write(rows)

    def finish(self) -> None:
        """Put the file in place."""
        assert self._replacement is not None  # noqa: S101 - open() was called
        with naming(self._path):
            self._replacement.commit()

    def close(self) -> None:
        """Remove what is not in place."""
        self._stack.close()


class StreamSink(Sink):
    """A stream, such as standard output, to which rows go as soon as they are computed.

    Args:
        stream: a binary file; it is left open.
        table_format: one of `FORMATS`.
        compression: one of `COMPRESSIONS`, or None.
        name: what messages call it.

    A write that fails because nobody reads any more raises BrokenPipeError.
    """

    def __init__(
        self,
        stream: IO[bytes],
        table_format: str,
        compression: str | None = None,
        *,
        name: str = "standard output",
    ) -> None:
        self._stream = stream
        self._passage = _Passage(stream)
        self._format = table_format
        self._compression = compression
        self._name = Path(name)
        self._writer: Writer | None = None

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:  # noqa: ARG002
        """Begin the table.

        Raises:
            TableError: if the format cannot hold the columns.
        """
        check_writable(schema, self._format, self._compression)
        with naming(self._name):
            self._writer = open_writer(
                io.BufferedWriter(self._passage), schema, self._format, self._compression
            )
        return Tally()

    def write(self, rows: Any, tally: Tally) -> None:  # noqa: ARG002
        """Write a record batch."""
        assert self._writer is not None  # noqa: S101 - open() was called
        with naming(self._name):
            self._writer.write(rows)

    def finish(self) -> None:
        """Write the end of the table."""
        writer, self._writer = self._writer, None
        assert writer is not None  # noqa: S101 - open() was called
        with naming(self._name):
            writer.close()
            self._stream.flush()

    def close(self) -> None:
        """Leave a table that is not finished without its end, so that nobody takes it for whole."""
        writer, self._writer = self._writer, None
        if writer is not None:
            self._passage.cut = True
            writer.close()


class _Passage(io.RawIOBase):
    """A way to a binary file that stays open when this is closed; once cut, what is written is lost."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.cut = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.cut:
            self._file.write(data)
        return len(memoryview(data).cast("B"))
