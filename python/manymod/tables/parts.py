# SPDX-License-Identifier: Apache-2.0
"""Output files that an interrupted run can resume: finished parts are kept until the output is complete."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from manymod._core import version
from manymod.tables.errors import PartsError
from manymod.tables.sinks import Sink, Tally
from manymod.tables.sources import naming
from manymod.tables.writers import fsync_directory, write_table

try:
    import fcntl
except ImportError:  # no advisory locks on this platform: two runs on one output are not told apart
    fcntl = None  # type: ignore[assignment]

__all__ = ["ResumableFile"]

JOURNAL = "journal.json"
LOCK = "lock"
JOURNAL_VERSION = 1
#: A part is written when it has this many bytes, or after the seconds asked for, whichever comes first.
PART_BYTES = 8 << 20


class ResumableFile(Sink):
    """A table file whose finished batches are kept in OUT.parts until it is whole.

    Args:
        path: the file to write or to replace.
        table_format: one of `FORMATS`.
        seconds: batches are kept at least this often.
        resume: begin with the parts of an interrupted run.
        restart: discard them.

    The parts are Arrow IPC streams and a journal, each of which is replaced as a whole.
    """

    def __init__(
        self,
        path: Path,
        table_format: str,
        *,
        seconds: float = 5.0,
        resume: bool = False,
        restart: bool = False,
    ) -> None:
        self.folder = path.with_name(path.name + ".parts")
        self._path = path
        self._format = table_format
        self._seconds = seconds
        self._modes = (resume, restart)
        self._schema: Any = None
        self._lock: IO[bytes] | None = None
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._last_write = time.monotonic()
        self._journal: dict[str, Any] = {}
        self._open_parts = False  # whether they are this run's
        self._finished = False
        #: what is there, kept or pending
        self.tally = Tally()

    def open(self, schema: Any, fingerprint: Mapping[str, Any]) -> Tally:
        """Take the folder of parts, and return what of the output they hold.

        Raises:
            PartsError: if there are parts that cannot, or may not, be used.
        """
        whole = {**fingerprint, "output format": self._format, "versions": [version(), pa.__version__]}
        self._schema = schema
        with naming(self._path):
            known = self._open(*self._modes)
            self._journal = self._load(whole) if known else self._start(whole)
        journal = self._journal
        self.tally = Tally(
            int(journal["batches"]),
            int(journal["rows"]),
            [(int(row), str(status)) for row, status in journal["bad_rows"]],
            dict(journal["bad_counts"]),
            bool(journal["complete"]),
            [str(hint) for hint in journal.get("hints", [])],
        )
        self._open_parts = True
        return self.tally

    def _open(self, resume: bool, restart: bool) -> bool:
        """Take the folder; True if it holds the parts of an earlier run that are to be used."""
        if self.folder.exists():
            entries = {entry.name for entry in self.folder.iterdir()} - {LOCK}
            if entries and JOURNAL not in entries:
                raise PartsError(
                    f"{self.folder} is in the way and holds no parts of manymod; move it elsewhere"
                )
            if entries and not resume and not restart:
                raise PartsError(
                    f"{self.folder} holds the finished parts of an interrupted run: "
                    "continue from them with --resume, or begin again with --restart"
                )
        self.folder.mkdir(exist_ok=True)
        self._lock = self._take_lock()
        known = (self.folder / JOURNAL).exists()
        if known and restart:
            for entry in self.folder.iterdir():
                if entry.name != LOCK:
                    entry.unlink()
            return False
        return known

    def _take_lock(self) -> IO[bytes]:
        lock = open(self.folder / LOCK, "wb")  # noqa: SIM115 (held as long as the store)
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                raise PartsError(f"another run is writing {self.folder}") from None
        return lock

    def _start(self, fingerprint: Mapping[str, Any]) -> dict[str, Any]:
        journal = {
            "version": JOURNAL_VERSION,
            "fingerprint": dict(fingerprint),
            "complete": False,
            "parts": [],
            "batches": 0,
            "rows": 0,
            "bad_rows": [],
            "bad_counts": {},
        }
        self._save(journal)
        return journal

    def _load(self, fingerprint: Mapping[str, Any]) -> dict[str, Any]:
        advice = "use --restart to begin again"
        try:
            journal: dict[str, Any] = json.loads((self.folder / JOURNAL).read_text(encoding="utf-8"))
            if journal["version"] != JOURNAL_VERSION:
                raise PartsError(f"{self.folder} was written by another version of manymod; {advice}")
            found = journal["fingerprint"]
            changed = [name for name in fingerprint if found.get(name) != fingerprint[name]]
            if changed:
                raise PartsError(
                    f"{self.folder} belongs to another run ({', '.join(changed)} changed); {advice}"
                )
            for part in journal["parts"]:
                if (self.folder / part["name"]).stat().st_size != part["size"]:
                    raise PartsError(f"{self.folder / part['name']} is damaged; {advice}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PartsError(f"{self.folder} cannot be read ({error}); {advice}") from error
        return journal

    def _save(self, journal: Mapping[str, Any]) -> None:
        self._replace(JOURNAL, json.dumps(journal, indent=1).encode())

    def _replace(self, name: str, content: Any) -> None:
        temporary = self.folder / (name + ".tmp")
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.folder / name)
        fsync_directory(self.folder)

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
        if self._pending:
            name = f"part-{len(self._journal['parts']):06d}.arrow"
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, self._schema) as writer:
                for batch in self._pending:
                    writer.write_batch(batch)
            content = sink.getvalue()
            self._replace(name, content)
            self._journal["parts"].append({"name": name, "size": content.size})
            self._pending, self._pending_bytes = [], 0
        self._journal.update(dataclasses.asdict(tally))
        self._save(self._journal)
        self._last_write = time.monotonic()

    def finish(self) -> None:
        """Put the output together from the parts, and in place."""
        with naming(self._path):
            write_table(self._path, self._schema, self._format, self._stream())
        self._finished = True

    def _stream(self) -> Iterator[Any]:
        """Iterate over every finished batch, in order."""
        for part in self._journal["parts"]:
            with pa.OSFile(str(self.folder / part["name"])) as file, pa.ipc.open_stream(file) as reader:
                yield from reader

    def close(self) -> None:
        """Remove the parts if the output is in place or they are empty; else leave them, to be resumed."""
        if self._lock is None:
            return
        if self._open_parts and (self._finished or not self.tally.rows):
            with contextlib.suppress(OSError):
                shutil.rmtree(self.folder)
        self._lock.close()
        self._lock = None
