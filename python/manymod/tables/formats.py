# SPDX-License-Identifier: Apache-2.0
"""Formats of table files, and opening files of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from manymod.tables.batches import BatchLimits, Source
from manymod.tables.compression import split_codec
from manymod.tables.csv_source import CsvSource
from manymod.tables.errors import TableError
from manymod.tables.inputs import STANDARD_INPUT, Input
from manymod.tables.jsonlines import JsonLinesSource, TypedJsonLinesSource
from manymod.tables.sources import ArrowSource, ParquetSource, naming
from manymod.tables.text_lines import check_encoding

__all__ = [
    "CSV_FORMATS",
    "EXTENSIONS",
    "FORMATS",
    "TEXT_FORMATS",
    "TextOptions",
    "check_delimiter",
    "format_of",
    "open_source",
]

#: Table formats by file extension; `arrow` is the IPC file format, `arrows` the IPC stream format.
EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrows",
}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
#: Formats of text whose columns are text, by what is between their fields.
CSV_FORMATS = {"csv": ",", "tsv": "\t"}
TEXT_FORMATS = frozenset({*CSV_FORMATS, "jsonl"})


@dataclass(frozen=True)
class TextOptions:
    """How text tables are read.

    Attributes:
        delimiter: between the fields of CSV; None: that of the format.
        encoding: None: UTF-16 or UTF-32 where the file begins with their byte order mark, else UTF-8.
    """

    delimiter: str | None = None
    encoding: str | None = None


def format_of(path: Path) -> str:
    """Return the format of a file's extension, or of the one before that of a codec.

    >>> format_of(Path("keys.csv")), format_of(Path("keys.jsonl.gz"))
    ('csv', 'jsonl')

    Raises:
        TableError: if the extension is unknown.
    """
    try:
        return EXTENSIONS[split_codec(path)[0].suffix.lower()]
    except KeyError:
        raise TableError(
            f"{path}: unknown extension (known: {', '.join(EXTENSIONS)}; with .gz or .zst)"
        ) from None


def check_delimiter(text: str) -> str:
    r"""Return the delimiter that a text names: itself if it is one character, or a tab by name.

    Raises:
        ValueError: if it cannot be one.

    >>> check_delimiter("tab"), check_delimiter(r"\t"), check_delimiter(";")
    ('\t', '\t', ';')
    """
    delimiter = "\t" if text in {"tab", r"\t"} else text
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise ValueError(f"{text!r} is not one character that can stand between fields, such as ; or tab")
    return delimiter


def open_source(
    path: Path | str,
    table_format: str | None = None,
    limits: BatchLimits | None = None,
    *,
    as_lines: bool = False,
    floats: bool = True,
    text: TextOptions | None = None,
) -> Source:
    """Open a table file. Compression by gzip or Zstandard is told from its contents.

    Args:
        path: a regular file, which may be read more than once, or ``"-"``: standard input.
        table_format: one of `FORMATS`; by default that of the extension.
        limits: size of the batches.
        as_lines: take the lines of JSON Lines as they are, for an output in JSON Lines.
        floats: numbers of JSON with a fraction or exponent become float64 where all of a column fit; else
            they stay the text that they are, for an output in text.
        text: how CSV and JSON Lines are read.

    Raises:
        TableError: if it cannot be read.
        ValueError: if the delimiter or the encoding is none.
    """
    if table_format is None and path == STANDARD_INPUT:
        raise TableError("standard input has no extension: name its format")
    chosen = table_format or format_of(Path(path))
    if chosen not in FORMATS:
        raise TableError(f"{chosen!r} is none of {', '.join(FORMATS)}")
    text = text or TextOptions()
    encoding = None if text.encoding is None else check_encoding(text.encoding)
    delimiter = check_delimiter(text.delimiter or CSV_FORMATS.get(chosen, ","))
    limits = limits or BatchLimits()
    table = Input(path)
    try:
        with naming(table.name):
            if chosen in CSV_FORMATS:
                return CsvSource(table, limits, delimiter=delimiter, encoding=encoding)
            if chosen == "jsonl" and as_lines:
                return JsonLinesSource(table, limits, encoding=encoding)
            if chosen == "jsonl":
                return TypedJsonLinesSource(table, limits, encoding=encoding, floats=floats)
            return (ParquetSource if chosen == "parquet" else ArrowSource)(table, limits)
    except BaseException:
        table.close()
        raise
