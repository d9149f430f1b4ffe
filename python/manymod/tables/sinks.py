# SPDX-License-Identifier: Apache-2.0
"""Where the batches of an output go: memory, or a file (a file that a run can resume: parts.py)."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from manymod.tables.formats import format_of
from manymod.tables.sources import naming
from manymod.tables.writers import Replacement

__all__ = ["BAD_ROWS_KEPT", "FileSink", "MemorySink", "Sink", "Tally"]

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
    """A table file, which appears whole or not at all.

    Args:
        path: the file to write or to replace.
        table_format: one of `FORMATS`; by default that of the extension.
    """

    def __init__(self, path: Path, table_format: str | None = None) -> None:
        self._path = path
        self._format = table_format or format_of(path)
        self._stack = contextlib.ExitStack()
        self._replacement: Replacement | None = None

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:  # noqa: ARG002
        """Begin a temporary file in the same folder."""
        with naming(self._path):
            self._replacement = self._stack.enter_context(Replacement(self._path, schema, self._format))
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
