# SPDX-License-Identifier: Apache-2.0
"""Reading CSV; a malformed line is a row of nulls with a status."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from manymod.tables.batches import Batch, BatchLimits
from manymod.tables.errors import TableError
from manymod.tables.inputs import Input
from manymod.tables.sources import FileSource, naming
from manymod.tables.text_lines import INVALID_TEXT, LINE_TOO_LONG, LongLine, encodable, text_lines

__all__ = ["INVALID_CSV", "WRONG_FIELD_COUNT", "CsvSource"]

#: Statuses of rows.
INVALID_CSV = "invalid_csv"
WRONG_FIELD_COUNT = "wrong_field_count"

#: Longest record in characters and lines; beyond it an unbalanced quote is swallowing the file.
MAX_RECORD = 16 << 20
MAX_RECORD_LINES = 100_000
#: Lines of malformed records that may be read in vain: at first, and more for each line read for good.
#: So the time for a table grows with its length, however many of its lines are bad.
FIRST_CREDIT = 1_000_000
CREDIT_PER_LINE = 16


class _Record:
    """A record: its fields, or what is wrong with it."""

    __slots__ = ("fields", "problem", "size")

    def __init__(self, fields: list[str] | None, size: int, problem: str | None = None) -> None:
        self.fields = fields
        self.size = size
        self.problem = problem


class _Lines:
    """The lines that csv.reader takes, of which those of a malformed record can be given back."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._returned: deque[str] = deque()
        self._taken: list[str] = []
        self._size = 0
        self._credit = FIRST_CREDIT

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._lines)
        self._taken.append(line)
        self._size += len(line)
        longest = min(MAX_RECORD_LINES, max(CREDIT_PER_LINE, self._credit))
        if isinstance(line, LongLine) or self._size > MAX_RECORD or len(self._taken) > longest:
            raise csv.Error("the record is too long")
        return line

    def next_record(self) -> int:
        """Forget the lines of a record; return their size."""
        size = self._size
        self._credit += CREDIT_PER_LINE * len(self._taken)
        self._taken, self._size = [], 0
        return size

    def give_back_all_but_first(self) -> str:
        """Let the next record begin on the second line of this one; return the first."""
        first, *rest = self._taken
        self._returned.extendleft(reversed(rest))
        self._credit -= len(rest)
        self._taken = [first]
        self.next_record()
        return first


def _records(lines: Iterator[str], delimiter: str) -> Iterator[_Record]:
    """Iterate over the records that are not empty.

    Where a record is malformed, its first line alone is bad: an unbalanced quote would else take the rows
    after it along, up to the next quote or the end of the table.
    """
    feed = _Lines(lines)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            line = feed.give_back_all_but_first()
            too_long = isinstance(line, LongLine) or len(line) > MAX_RECORD
            yield _Record(None, len(line), LINE_TOO_LONG if too_long else INVALID_CSV)
            continue
        size = feed.next_record()
        if fields:
            yield _Record(fields, size)


class CsvSource(FileSource):
    """CSV with a header line. Every column is text: guessing types would destroy big integers.

    Python's csv module splits the records. Arrow's reader cannot go on after an unbalanced quote, a line
    longer than a block or one that is no UTF-8.
    """

    def __init__(
        self, table: Input, limits: BatchLimits, *, delimiter: str = ",", encoding: str | None = None
    ) -> None:
        super().__init__(table, limits)
        self._how = {"delimiter": delimiter, "encoding": encoding}
        csv.field_size_limit(MAX_RECORD)
        lines = text_lines(table.stream(), encoding, newline="")
        self._records = _records(lines, delimiter)
        header = self._read_header()
        self.schema = pa.schema([(name, pa.string()) for name in header])
        self.total_rows: int | None = None

    def fingerprint(self) -> dict[str, Any]:
        """Return the file's identity, the limits, delimiter and encoding."""
        return {**super().fingerprint(), **self._how}

    def _read_header(self) -> list[str]:
        with naming(self._input.name):
            record = next(self._records, None)
        if record is None:
            raise TableError(f"{self._input.name} is empty; a CSV table starts with a line of column names")
        fields = record.fields
        if fields is None or not all(map(encodable, fields)):
            raise TableError(f"{self._input.name}: header: {record.problem or INVALID_TEXT}")
        return fields

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, in order."""
        with naming(self._input.name):
            records: list[_Record] = []
            size = 0
            for record in self._records:
                records.append(record)
                size += record.size
                if len(records) >= self._limits.rows or size >= self._limits.size:
                    yield self._batch(records)
                    records, size = [], 0
            if records:
                yield self._batch(records)

    def _batch(self, records: list[_Record]) -> Batch:
        width = len(self.schema)
        rows: list[list[str] | list[None]] = []
        problems: dict[int, str] = {}
        for index, record in enumerate(records):
            fields = record.fields
            if fields is not None and len(fields) == width:
                rows.append(fields)
                continue
            rows.append([None] * width)
            problems[index] = record.problem or WRONG_FIELD_COUNT
        try:
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        except UnicodeEncodeError:
            for index, row in enumerate(rows):
                if not all(cell is None or encodable(cell) for cell in row):
                    rows[index] = [None] * width
                    problems[index] = INVALID_TEXT
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        return Batch(pa.RecordBatch.from_arrays(columns, schema=self.schema), problems)
