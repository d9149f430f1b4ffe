# SPDX-License-Identifier: Apache-2.0
"""The bytes of a table: a regular file or standard input, decompressed, and read as often as needed."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from manymod.tables.compression import CODEC_NAMES, codec_of_bytes, decompressing
from manymod.tables.errors import TableError

__all__ = ["STANDARD_INPUT", "Input"]

#: What stands for standard input in place of a path.
STANDARD_INPUT = "-"
_COPIED_AT_A_TIME = 1 << 20


class Input:
    """An open table file, or a copy of standard input in a temporary file without a name.

    Standard input can be read only once, and tables are read more often: to know their columns, and by a run
    that is resumed. The copy is where `tempfile` puts files (``TMPDIR``); nobody else can open it.

    Args:
        path: a regular file, or `STANDARD_INPUT`.

    Raises:
        TableError: if it is neither, or compressed by something else than the codecs known.
    """

    def __init__(self, path: Path | str) -> None:
        self.name = "standard input" if path == STANDARD_INPUT else str(path)
        if path == STANDARD_INPUT:
            self._file, self._identity = _copy_of_standard_input()
        else:
            self._file, self._identity = _regular_file(Path(path))
        self._opened: list[IO[bytes]] = []
        self._size = os.fstat(self._file.fileno()).st_size
        self._codec = codec_of_bytes(os.pread(self._file.fileno(), 6, 0))
        if self._codec is not None and self._codec not in CODEC_NAMES:
            self.close()
            raise TableError(
                f"{self.name} is compressed by {self._codec}, which is not supported (supported: "
                f"{', '.join(CODEC_NAMES)}); decompress it first"
            )

    def stream(self) -> IO[bytes]:
        """Return what is inside, from the beginning. Only the stream returned last may be read."""
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        return decompressing(self._duplicate(self._file), self._codec)

    def file(self) -> IO[bytes]:
        """Return a file of what is inside, for random access; what is compressed is decompressed to it."""
        if self._codec is None:
            os.lseek(self._file.fileno(), 0, os.SEEK_SET)
            return self._duplicate(self._file)
        copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed by close())
        self._opened.append(copy)
        with self.stream() as stream:
            while piece := stream.read(_COPIED_AT_A_TIME):
                _write(copy, piece)
        copy.seek(0)
        return self._duplicate(copy)

    def _duplicate(self, file: IO[bytes]) -> IO[bytes]:
        """Return a file that can be closed alone, at the same position."""
        duplicate = os.fdopen(os.dup(file.fileno()), "rb")
        self._opened.append(duplicate)
        return duplicate

    def fraction(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        return min(1.0, os.lseek(self._file.fileno(), 0, os.SEEK_CUR) / max(1, self._size))

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells this table from another, ready for JSON."""
        return dict(self._identity)

    def close(self) -> None:
        """Release the file and everything that was opened."""
        for file in (self._file, *self._opened):
            file.close()


def _write(copy: IO[bytes], piece: bytes) -> None:
    """Append to a temporary copy; errors name its folder, as the file has no name."""
    try:
        written = 0
        while written < len(piece):  # what is not buffered may be written in pieces
            written += copy.write(piece[written:])
    except OSError as error:
        raise TableError(
            f"{tempfile.gettempdir()}: {error.strerror}, where the table is copied to; TMPDIR names another "
            "folder"
        ) from error


def _regular_file(path: Path) -> tuple[IO[bytes], dict[str, Any]]:
    if not path.is_file():  # a pipe is not even opened: that would wait for a writer
        raise TableError(
            f"{path} is not a regular file; tables are read more than once (give a pipe as standard input: -)"
        )
    file = open(path, "rb")  # noqa: SIM115 (closed by close())
    status = os.fstat(file.fileno())
    return file, {
        "input": str(path.resolve()),
        "input size": status.st_size,
        "input modification time": status.st_mtime_ns,
    }


def _copy_of_standard_input() -> tuple[IO[bytes], dict[str, Any]]:
    """Copy standard input; its contents stand for it when a run is resumed."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise TableError("standard input is closed, or has no bytes")
    copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed by close())
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(_COPIED_AT_A_TIME):
        _write(copy, piece)
        digest.update(piece)
        size += len(piece)
    return copy, {"input": STANDARD_INPUT, "input size": size, "input digest": digest.hexdigest()}
