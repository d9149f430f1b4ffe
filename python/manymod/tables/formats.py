# SPDX-License-Identifier: Apache-2.0
"""Formats of table files, and opening files of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from manymod.tables.batches import BatchLimits, Source
from manymod.tables.errors import TableError
from manymod.tables.jsonlines import JsonLinesSource, TypedJsonLinesSource
from manymod.tables.sources import ArrowSource, CsvSource, ParquetSource, naming, refuse_unreadable

__all__ = ["COMPRESSED_EXTENSIONS", "EXTENSIONS", "FORMATS", "format_of", "open_source"]

#: Table formats by file extension; `arrow` is the IPC file format, `arrows` the IPC stream format.
EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrows",
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
COMPRESSED_EXTENSIONS = frozenset({".gz", ".bz2", ".xz", ".zst"})

_SOURCES: dict[str, Callable[[Path, BatchLimits], Source]] = {
    "parquet": ParquetSource,
    "csv": CsvSource,
    "jsonl": TypedJsonLinesSource,
    "arrow": ArrowSource,
    "arrows": ArrowSource,
}


def format_of(path: Path) -> str:
    """Return the format of a file's extension.

    Raises:
        TableError: if the extension is unknown.
    """
    try:
        return EXTENSIONS[path.suffix.lower()]
    except KeyError:
        raise TableError(f"{path}: unknown extension (known: {', '.join(EXTENSIONS)})") from None


def open_source(
    path: Path, table_format: str | None = None, limits: BatchLimits | None = None, *, as_lines: bool = False
) -> Source:
    """Open a table file.

    Args:
        path: a regular file, which may be read more than once.
        table_format: one of `FORMATS`; by default that of the extension.
        limits: size of the batches.
        as_lines: take the lines of JSON Lines as they are, for an output in JSON Lines.

    Raises:
        TableError: if it cannot be read.
    """
    refuse_unreadable(path)
    chosen = table_format or format_of(path)
    if chosen not in _SOURCES:
        raise TableError(f"{chosen!r} is none of {', '.join(FORMATS)}")
    opener = JsonLinesSource if chosen == "jsonl" and as_lines else _SOURCES[chosen]
    with naming(path):
        return opener(path, limits or BatchLimits())
