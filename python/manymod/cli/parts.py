# SPDX-License-Identifier: Apache-2.0
"""Finished parts of a run, kept beside the output until it is complete: what a run can be resumed from."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from manymod.cli.sinks import fsync_directory

try:
    import fcntl
except ImportError:  # no advisory locks on this platform: two runs on one output are not told apart
    fcntl = None  # type: ignore[assignment]

__all__ = ["BAD_ROWS_KEPT", "PartsError", "PartsStore"]

JOURNAL = "journal.json"
LOCK = "lock"
JOURNAL_VERSION = 1
#: A part is written when it has this many bytes, or after the seconds asked for, whichever comes first.
PART_BYTES = 8 << 20
#: Bad rows that are listed one by one.
BAD_ROWS_KEPT = 20


class PartsError(Exception):
    """The parts beside the output cannot be used; the message says what to do."""


class PartsStore:
    """Record batches computed so far, in OUT.parts: Arrow IPC streams and a journal, written atomically."""

    def __init__(
        self,
        output: Path,
        schema: Any,
        fingerprint: Mapping[str, Any],
        seconds: float,
        resume: bool = False,
        restart: bool = False,
    ) -> None:
        self._seconds = seconds
        self.folder = output.with_name(output.name + ".parts")
        self._schema = schema
        self._pending: list[Any] = []
        self._pending_bytes = 0
        self._last_write = time.monotonic()
        known = self._open(resume, restart)
        try:
            self._journal: dict[str, Any] = self._load(fingerprint) if known else self._start(fingerprint)
        except BaseException:
            self.close()
            raise

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
                    "go on from them with --resume, or begin again with --restart"
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
        self._journal = journal
        self._save()
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

    def _save(self) -> None:
        self._write(JOURNAL, json.dumps(self._journal, indent=1).encode())

    def _write(self, name: str, content: Any) -> None:
        temporary = self.folder / (name + ".tmp")
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.folder / name)
        fsync_directory(self.folder)

    @property
    def batches(self) -> int:
        """Batches that need not be computed again."""
        return int(self._journal["batches"])

    @property
    def complete(self) -> bool:
        """Whether every batch is there."""
        return bool(self._journal["complete"])

    @property
    def rows(self) -> int:
        """Rows kept and pending."""
        pending = sum(int(batch.num_rows) for batch in self._pending)
        return int(self._journal["rows"]) + pending

    @property
    def bad_counts(self) -> dict[str, int]:
        """Bad rows by status."""
        counts: dict[str, int] = self._journal["bad_counts"]
        return counts

    @property
    def bad_rows(self) -> list[tuple[int, str]]:
        """The first bad rows: number (from 1) and status."""
        return [(int(row), str(status)) for row, status in self._journal["bad_rows"]]

    def add(self, batch: Any, bad: list[tuple[int, str]]) -> None:
        """Keep one finished batch and its bad rows."""
        self._pending.append(batch)
        self._pending_bytes += batch.nbytes
        listed = self._journal["bad_rows"]
        listed.extend(bad[: BAD_ROWS_KEPT - len(listed)])
        for _, status in bad:
            self.bad_counts[status] = self.bad_counts.get(status, 0) + 1
        if self._pending_bytes >= PART_BYTES or time.monotonic() - self._last_write >= self._seconds:
            self.flush()

    def flush(self, complete: bool = False) -> None:
        """Write pending batches as a part, and the journal."""
        if self._pending:
            name = f"part-{len(self._journal['parts']):06d}.arrow"
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, self._schema) as writer:
                for batch in self._pending:
                    writer.write_batch(batch)
            content = sink.getvalue()
            self._write(name, content)
            self._journal["parts"].append({"name": name, "size": content.size})
            self._journal["batches"] += len(self._pending)
            self._journal["rows"] = self.rows
            self._pending, self._pending_bytes = [], 0
        self._journal["complete"] = complete
        self._save()
        self._last_write = time.monotonic()

    def stream(self) -> Iterator[Any]:
        """Every finished batch, in order."""
        for part in self._journal["parts"]:
            with pa.OSFile(str(self.folder / part["name"])) as file, pa.ipc.open_stream(file) as reader:
                yield from reader

    def close(self) -> None:
        """Leave the parts as they are, to be resumed."""
        self._lock.close()

    def remove(self) -> None:
        """Remove the parts: the output is in place."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)
        self.close()
