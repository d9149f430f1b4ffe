# SPDX-License-Identifier: Apache-2.0
"""Tables that are compressed as a whole, by gzip or Zstandard."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

__all__ = ["CODECS", "CODEC_NAMES", "codec_of_bytes", "compressing", "decompressing", "split_codec"]

#: Codecs by the last extension of a file's name.
CODECS = {".gz": "gzip", ".zst": "zstd"}
CODEC_NAMES = tuple(CODECS.values())

#: How compressed files begin. bzip2 and xz are told apart so that they can be named, not read.
_BEGINNINGS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}


def split_codec(path: Path) -> tuple[Path, str | None]:
    """Return the name without the extension of a codec, and the codec; None where there is no such extension.

    >>> split_codec(Path("keys.csv.gz"))
    (PosixPath('keys.csv'), 'gzip')
    >>> split_codec(Path("keys.csv"))
    (PosixPath('keys.csv'), None)
    """
    codec = CODECS.get(path.suffix.lower())
    return (path, None) if codec is None else (path.with_suffix(""), codec)


def codec_of_bytes(head: bytes) -> str | None:
    r"""Return what a file that begins with these bytes (at least 6) is compressed with, None: it is not.

    >>> codec_of_bytes(b"BZh91AY"), codec_of_bytes(b"b,e,m\n3")
    ('bzip2', None)
    """
    return next((codec for begin, codec in _BEGINNINGS.items() if head.startswith(begin)), None)


def compressing(file: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a file whose bytes are compressed into `file`; closing it closes both. None: `file` itself.

    What is written depends on the bytes and the codec alone: no time, no name.
    """
    return file if codec is None else cast("IO[bytes]", pa.CompressedOutputStream(file, codec))


def decompressing(file: IO[bytes], codec: str | None) -> IO[bytes]:
    """Return a file of what is compressed in `file`; closing it closes both. None: `file` itself.

    Several compressed streams that follow each other are one. Reading raises OSError where the stream is
    damaged or ends too early.
    """
    if codec is None:
        return file
    stream: Any = pa.CompressedInputStream(file, codec)
    return io.BufferedReader(stream)
