# SPDX-License-Identifier: Apache-2.0
"""Output files that an interrupted run can resume: finished parts are kept until the output is complete."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from manymod._core import version
from manymod.tables.errors import PartsError
from manymod.tables.folders import OutputFile, target_of
from manymod.tables.journal import JOURNAL, Journal, PartsFolder, folder_of
from manymod.tables.replacement import Replacement, write_table
from manymod.tables.sinks import Sink, Tally
from manymod.tables.sources import naming
from manymod.tables.writers import check_writable, output_compression

__all__ = ["ResumableFile"]

#: A part is written when it has this many bytes, or after the seconds asked for, whichever comes first.
PART_BYTES = 8 << 20
OUTPUT = "output.tmp"


class ResumableFile(Sink):
    """A table file whose finished batches are kept in OUT.parts until it is whole.

    Args:
        path: the file to write or to replace; where it is a symbolic link, the file that this leads to.
        table_format: one of `FORMATS`. A run may be resumed with another.
        compression: one of `COMPRESSIONS`; by default that of the extension.
        seconds: batches are kept at least this often.
        resume: begin with the parts of an interrupted run.
        restart: discard them.

    The parts are Arrow IPC streams, with checksums in a journal; each file is replaced as a whole. Only the
    user can read them.

    Attributes:
        folder: where the parts are.
        finished: whether the output is in place.
        damage: what is wrong with a part that is computed again, None if nothing is.
    """

    def __init__(
        self,
        path: Path,
        table_format: str,
        *,
        compression: str | None = None,
        seconds: float = 5.0,
        resume: bool = False,
        restart: bool = False,
    ) -> None:
        self.folder = folder_of(target_of(path))
        self.finished = False
        self.damage: str | None = None
        self._path = path
        self._format = table_format
        self._compression = output_compression(path, table_format, compression)
        self._seconds = seconds
        self._modes = {"resume": resume, "restart": restart}
        self._schema: Any = None
        self._parts: PartsFolder | None = None
        self._refusing = False
        self._journal = Journal({})
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._last_write = time.monotonic()

    @property
    def kept_rows(self) -> int:
        """Number of rows in the parts, which a run can resume after."""
        return self._journal.tally.rows if self._journal.parts else 0

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:
        """Take the folder of parts, and return what of the output they hold.

        Raises:
            TableError: if the file cannot be written, or the format cannot hold the columns.
            PartsError: if there are parts that cannot, or may not, be used.
        """
        check_writable(schema, self._format, self._compression)
        self._schema = schema
        self._output = OutputFile(self._path)
        whole = {**fingerprint, "versions": [version(), pa.__version__]}
        with naming(self.folder):
            self._parts = PartsFolder(self._output, **self._modes)
            self._refusing = True
            journal = self._parts.load(whole)
            self._journal = Journal(whole) if journal is None else journal
            self._refusing = False
            if journal is None:
                self._save()
            else:
                self._check_parts()
        return copy.deepcopy(self._journal.tally)

    @property
    def _opened(self) -> PartsFolder:
        assert self._parts is not None  # noqa: S101 - open() was called
        return self._parts

    def _check_parts(self) -> None:
        """Forget the parts from the first on that is damaged: their rows are computed again."""
        for index, part in enumerate(self._journal.parts):
            try:
                self._opened.read_part(part)
            except PartsError as error:
                self._journal.cut(index)
                self.damage = f"{error}; all after {self._journal.tally.rows:,} rows are computed again"
                self._save()
                return

    def _save(self) -> None:
        self._opened.replace(JOURNAL, self._journal.encode())

    def write(self, rows: Any, tally: Tally) -> None:
        """Append a record batch; it is kept now or with later ones."""
        self._pending.append(rows)
        self._pending_bytes += rows.nbytes
        if self._pending_bytes >= PART_BYTES or time.monotonic() - self._last_write >= self._seconds:
            self._flush(tally)

    def suspend(self, tally: Tally) -> None:
        """Keep what is pending."""
        self._flush(tally)

    def complete(self, tally: Tally) -> None:
        """Keep what is pending, and that all batches are there."""
        self._flush(tally)

    def _flush(self, tally: Tally) -> None:
        """Write pending batches as a part, and the journal."""
        with naming(self.folder):
            if self._pending:
                self._write_part(tally)
            self._journal.tally = copy.deepcopy(tally)
            self._save()
        self._last_write = time.monotonic()

    def _write_part(self, tally: Tally) -> None:
        """Write pending batches as a part, and note it in the journal, which is not written yet."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._schema) as writer:
            for batch in self._pending:
                writer.write_batch(batch)
        content = sink.getvalue()
        self._opened.replace(self._journal.next_name(), content)
        self._journal.add(content, tally)
        self._pending, self._pending_bytes = [], 0

    def finish(self) -> None:
        """Put the output together from the parts, and in place."""
        folder = self._opened.folder
        with naming(self._path):
            folder.remove(OUTPUT)
            arguments = (self._schema, self._format, self._compression, folder, OUTPUT)
            write_table(Replacement(self._output, *arguments), self._batches())
        self.finished = True

    def _batches(self) -> Iterator[Any]:
        """Iterate over every finished batch, in order."""
        for part in self._journal.parts:
            with pa.ipc.open_stream(self._opened.read_part(part)) as reader:
                yield from reader

    def close(self) -> None:
        """Remove the parts if the output is in place or they are empty; else leave them, to be resumed.

        Parts that were refused are left as they are: another command may be able to use them.
        """
        parts, self._parts = self._parts, None
        if parts is not None:
            parts.close(keep=self._refusing or (bool(self._journal.parts) and not self.finished))
