# SPDX-License-Identifier: Apache-2.0
"""The folder of an unfinished output: its parts, and a journal of them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from manymod.tables.errors import PartsError
from manymod.tables.folders import Folder, OutputFile
from manymod.tables.sinks import Tally

__all__ = ["JOURNAL", "Journal", "PartsFolder", "folder_of"]

JOURNAL = "journal.json"
LOCK = "lock"
TEMPORARY = ".tmp"
JOURNAL_VERSION = 2
_PART = re.compile(r"part-\d{6,}\.arrow")
_ADVICE = "use --restart to begin again"


class Journal:
    """What the parts hold, and what their contents depend on.

    Attributes:
        fingerprint: what the contents depend on.
        parts: name, size and checksum of each part, and numbers of batches, rows and bad rows up to its end.
        tally: what the parts hold together.
    """

    def __init__(self, fingerprint: Mapping[str, Any]) -> None:
        self.fingerprint = dict(fingerprint)
        self.parts: list[dict[str, Any]] = []
        self.tally = Tally()

    def next_name(self) -> str:
        """Return the name of the part after the last."""
        return f"part-{len(self.parts):06d}.arrow"

    def add(self, content: Any, tally: Tally) -> None:
        """Add a part, with which the tally is that of all."""
        self.parts.append(
            {
                "name": self.next_name(),
                "size": len(memoryview(content)),
                "sha256": hashlib.sha256(content).hexdigest(),
                "batches": tally.batches,
                "rows": tally.rows,
                "bad_counts": dict(tally.bad_counts),
            }
        )

    def cut(self, count: int) -> None:
        """Forget all parts after the first `count`."""
        self.parts = self.parts[:count]
        last = self.parts[-1] if self.parts else {"batches": 0, "rows": 0, "bad_counts": {}}
        bad_rows = [(row, status) for row, status in self.tally.bad_rows if row <= last["rows"]]
        counts = dict(last["bad_counts"])
        self.tally = Tally(last["batches"], last["rows"], bad_rows, counts, hints=self.tally.hints)

    def encode(self) -> bytes:
        """Return the journal's text, with a checksum."""
        tally = self.tally
        content = {
            "version": JOURNAL_VERSION,
            "fingerprint": self.fingerprint,
            "complete": tally.complete,
            "parts": self.parts,
            "batches": tally.batches,
            "rows": tally.rows,
            "bad_rows": tally.bad_rows,
            "bad_counts": tally.bad_counts,
            "hints": tally.hints,
        }
        return json.dumps({**content, "sha256": _checksum(content)}, indent=1).encode()

    @classmethod
    def decode(cls, text: bytes) -> Journal:
        """Return the journal of a text.

        Raises:
            PartsError: if it is another version's.
            ValueError, KeyError, TypeError: if it is damaged.
        """
        content = json.loads(text)
        if content["version"] != JOURNAL_VERSION:
            raise PartsError(f"it was written by another version of manymod; {_ADVICE}")
        if content.pop("sha256") != _checksum(content):
            raise ValueError("its checksum differs")
        journal = cls(content["fingerprint"])
        journal.parts = content["parts"]
        journal.tally = Tally(
            content["batches"],
            content["rows"],
            [(row, status) for row, status in content["bad_rows"]],
            content["bad_counts"],
            content["complete"],
            content["hints"],
        )
        return journal


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class PartsFolder:
    """OUT.parts, which only its user can enter, opened by one run.

    Args:
        output: the file that the parts will be.
        resume: parts of an earlier run may be there.
        restart: parts of an earlier run are discarded.

    Raises:
        PartsError: if there is something else of that name, or parts that may not be used.
    """

    def __init__(self, output: OutputFile, *, resume: bool, restart: bool) -> None:
        self.path = folder_of(output.target)
        with contextlib.ExitStack() as stack:
            self._parent = output.folder()
            stack.callback(self._parent.close)
            self.folder = self._enter()
            stack.callback(self.folder.close)
            self._check_contents(resume or restart)
            self._shut_others_out()
            self._lock = self._take_lock()
            stack.callback(self._lock.close)
            if restart:
                self._empty()
            self._stack = stack.pop_all()

    def _enter(self) -> Folder:
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.path.name, 0o700, dir_fd=self._parent.descriptor)
        try:
            folder = Folder(self.path, self._parent)
        except OSError as error:
            if error.errno in {errno.ENOTDIR, errno.ELOOP}:
                raise PartsError(
                    f"{self.path} is in the way: it is no directory; move it elsewhere"
                ) from error
            raise
        if folder.status().st_uid != os.geteuid():
            folder.close()
            raise PartsError(f"{self.path} is in the way: it is another user's; move it elsewhere")
        return folder

    def _shut_others_out(self) -> None:
        """Take away what other users may do; what they may have put there before is not used.

        On file systems without permissions, such as mounted Windows drives, everybody may do everything.
        """
        open_before = self.folder.status().st_mode & 0o022
        with contextlib.suppress(PermissionError):
            os.fchmod(self.folder.descriptor, 0o700)
        if open_before and not self.folder.status().st_mode & 0o022 and self.folder.names():
            raise PartsError(f"{self.path} is in the way: other users could write to it; move it elsewhere")

    def _check_contents(self, welcome: bool) -> None:
        names = self.folder.names()
        strange = {name for name in names if not _is_ours(name)}
        if strange and JOURNAL not in names:
            raise PartsError(f"{self.path} is in the way and holds no parts of manymod; move it elsewhere")
        if JOURNAL in names and not welcome:
            raise PartsError(
                f"{self.path} holds the finished parts of an interrupted run: "
                "continue from them with --resume, or begin again with --restart"
            )

    def _take_lock(self) -> IO[bytes]:
        lock = self.folder.open(LOCK, os.O_RDWR | os.O_CREAT, "rb+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise PartsError(f"another run is writing {self.path}") from None
        if not os.fstat(lock.fileno()).st_nlink:
            lock.close()
            raise PartsError(f"another run has just finished with {self.path}: try again")
        return lock

    def _empty(self) -> None:
        for name in self.folder.names() - {LOCK}:
            self.folder.remove(name)

    def load(self, fingerprint: Mapping[str, Any]) -> Journal | None:
        """Return the journal of an earlier run, None if there is none; remove parts that it does not name.

        Raises:
            PartsError: if it is damaged, or of a run with other contents.
        """
        names = self.folder.names()
        try:
            journal = Journal.decode(self.read(JOURNAL)) if JOURNAL in names else None
        except PartsError as error:
            raise PartsError(f"{self.path}: {error}") from error
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise PartsError(f"{self.path} cannot be read ({error}); {_ADVICE}") from error
        known = {LOCK, JOURNAL}
        if journal is not None:
            found = journal.fingerprint
            changed = [name for name in fingerprint if found.get(name) != fingerprint[name]]
            if changed:
                raise PartsError(
                    f"{self.path} belongs to another run ({', '.join(changed)} changed); {_ADVICE}"
                )
            known |= {part["name"] for part in journal.parts}
        for name in names - known:
            if _is_ours(name):
                self.folder.remove(name)
        return journal

    def read(self, name: str) -> bytes:
        """Return the contents of a file."""
        with self.folder.open(name) as file:
            return file.read()

    def read_part(self, part: Mapping[str, Any]) -> bytes:
        """Return the contents of a part.

        Raises:
            PartsError: if it is not as it was written.
        """
        path = self.path / part["name"]
        try:
            content = self.read(part["name"])
        except OSError as error:
            raise PartsError(f"{path} cannot be read ({error.strerror})") from error
        if len(content) != part["size"] or hashlib.sha256(content).hexdigest() != part["sha256"]:
            raise PartsError(f"{path} is damaged")
        return content

    def replace(self, name: str, content: Any) -> None:
        """Write a file as a whole, durably, in place of what has its name."""
        temporary = name + TEMPORARY
        try:
            with self.folder.create(temporary) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self.folder.move(temporary, self.folder, name)
        except BaseException:
            self.folder.remove(temporary)
            raise
        self.folder.sync()

    def close(self, keep: bool) -> None:
        """Give the folder up, and remove it unless it is to be kept."""
        if not keep:
            with contextlib.suppress(OSError):
                for name in self.folder.names():
                    self.folder.remove(name)
                os.rmdir(self.path.name, dir_fd=self._parent.descriptor)
        self._stack.close()


def folder_of(path: Path) -> Path:
    """Return the path of the folder of parts of an output."""
    return path.with_name(path.name + ".parts")


def _is_ours(name: str) -> bool:
    plain = name.removesuffix(TEMPORARY)
    return plain in {JOURNAL, LOCK, "output"} or _PART.fullmatch(plain) is not None
