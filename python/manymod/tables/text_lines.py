# SPDX-License-Identifier: Apache-2.0
"""The lines of a text table in any encoding; a line that cannot be decoded, or is too long, is told apart."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import IO

from manymod.tables.errors import TableError

__all__ = [
    "INVALID_TEXT",
    "LINE_TOO_LONG",
    "LongLine",
    "check_encoding",
    "encodable",
    "readable",
    "text_lines",
]

#: Longest line in characters; beyond it the file is no table of lines.
MAX_LINE = 64 << 20
#: Characters that are kept of a longer one.
_KEPT_OF_LONG_LINE = 200

#: Statuses of rows.
INVALID_TEXT = "invalid_text"
LINE_TOO_LONG = "line_too_long"

#: Stands before bytes that could not be decoded. No decoder makes it, and no encoder takes it.
_MARK = "\udcff"
_BEGINNINGS = [
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


def _mark_undecodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    undecodable = error.object[error.start : error.end]
    return _MARK + "".join(f"\\x{byte:02x}" for byte in undecodable), error.end


_ERRORS = "manymod.mark_undecodable"
codecs.register_error(_ERRORS, _mark_undecodable)


class LongLine(str):
    """The beginning of a line that is longer than `MAX_LINE`."""

    __slots__ = ()


def check_encoding(name: str) -> str:
    """Return the name of a text encoding that Python knows, and whose undecodable bytes can be escaped.

    Raises:
        ValueError: if there is none of that name.

    >>> check_encoding("latin1"), check_encoding("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        io.TextIOWrapper(io.BytesIO(), name, _ERRORS).read()  # which idna and punycode refuse
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise ValueError(f"{name!r} is no text encoding, such as utf-8, utf-16, latin-1, cp1252") from None


def encodable(text: str) -> bool:
    """Whether UTF-8, and so a column of text, can hold a text: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def readable(line: str) -> str:
    """Return a line whose undecodable bytes are escaped, as text that can be encoded."""
    return line.replace(_MARK, "")


def text_lines(stream: IO[bytes], encoding: str | None, *, newline: str) -> Iterator[str]:
    """Iterate over the lines of a stream, with their ends; the stream is closed at the end.

    Undecodable bytes are escaped behind a mark, so that the line is not `encodable`; a line that is too long
    is a `LongLine`.

    Args:
        stream: bytes, from the beginning.
        encoding: None: UTF-16 or UTF-32 if it begins with their byte order mark, else UTF-8.
        newline: as in `open`.

    Raises:
        TableError: if nothing of it is text in this encoding.
    """
    buffered = io.BufferedReader(stream) if not hasattr(stream, "peek") else stream  # type: ignore[type-var]
    with io.TextIOWrapper(buffered, encoding or _encoding(buffered.peek(4)), _ERRORS, newline) as text:
        try:
            line = text.readline(MAX_LINE).removeprefix("\ufeff")
            while line:
                yield _beginning_of_long_line(line, text) if _is_cut(line) else line
                line = text.readline(MAX_LINE)
        except UnicodeError as error:
            raise TableError(f"not text in {text.encoding}: {error}") from error


def _encoding(head: bytes) -> str:
    return next((name for begin, name in _BEGINNINGS if head.startswith(begin)), "utf-8")


def _is_cut(line: str) -> bool:
    """Whether a line that readline(MAX_LINE) returned goes on behind that limit."""
    return len(line) >= MAX_LINE and not line.endswith(("\r", "\n"))


def _beginning_of_long_line(line: str, text: io.TextIOWrapper) -> LongLine:
    """Read and drop the rest of a line that is cut. Returns what is kept of its beginning."""
    while (rest := text.readline(MAX_LINE)) and not rest.endswith(("\r", "\n")):
        pass
    return LongLine(line[:_KEPT_OF_LONG_LINE])
