# SPDX-License-Identifier: Apache-2.0
"""Parquet tables in pieces: consecutive row groups of one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from manymod.tables import TableError
from manymod.tables.sources import naming

__all__ = ["Piece", "PieceTable"]

#: A piece has at least this many bytes of columns, where the file has them: to open and close its files, and
#: to tell of it, then takes little time.
PIECE_BYTES = 32 << 20
#: Pieces of large tables become larger rather than more than this, if their files are not more.
MOST_PIECES = 8192


@dataclass(frozen=True)
class Piece:
    """Row groups of a file.

    Attributes:
        index: position among all pieces.
        path: the file, which every actor can read under this name.
        start: the first row group.
        stop: the one after the last.
        rows: number of rows.
    """

    index: int
    path: str
    start: int
    stop: int
    rows: int


class PieceTable:
    """A Parquet file, or all of a folder and its folders, in the order of their names.

    Attributes:
        schema: the Arrow schema of the first file.
        pieces: in the order of the rows.

    Raises:
        TableError: if there is no such file, or it cannot be read.
    """

    def __init__(self, path: Path, least: int = PIECE_BYTES) -> None:
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise TableError(f"{path}: no file in it ends in .parquet")
        footers = [_footer(file) for file in files]
        self.schema: Any = footers[0].schema.to_arrow_schema()
        size = sum(footer.row_group(k).total_byte_size for footer in footers for k in _groups(footer))
        least = max(least, size // MOST_PIECES)
        self.pieces: Sequence[Piece] = list(_pieces(files, footers, least))
        self.files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(piece.rows for piece in self.pieces)


def _footer(path: Path) -> Any:
    with naming(path):
        return pq.read_metadata(path)


def _groups(footer: Any) -> range:
    return range(footer.num_row_groups)


def _pieces(files: Sequence[Path], footers: Sequence[Any], least: int) -> Iterator[Piece]:
    index = 0
    for path, footer in zip(files, footers, strict=True):
        start = size = rows = 0
        for group in _groups(footer):
            metadata = footer.row_group(group)
            size += metadata.total_byte_size
            rows += metadata.num_rows
            if size >= least or group + 1 == footer.num_row_groups:
                yield Piece(index, str(path.resolve()), start, group + 1, rows)
                index += 1
                start, size, rows = group + 1, 0, 0
