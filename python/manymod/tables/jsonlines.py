# SPDX-License-Identifier: Apache-2.0
"""Reading JSON Lines: as lines that are passed through, or as typed columns; their values are the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pyarrow as pa

from manymod.tables.batches import Batch, BatchLimits
from manymod.tables.errors import TableError
from manymod.tables.inputs import Input
from manymod.tables.json_rows import ColumnType, JsonRow, fit, member_texts, parse_row
from manymod.tables.sources import FileSource, naming
from manymod.tables.text_lines import readable, text_lines

__all__ = ["JsonLinesSource", "TypedJsonLinesSource"]

#: More columns than any table of integers has; rows whose keys are data would otherwise fill the memory.
MAX_COLUMNS = 10_000
#: Names of columns that a message lists, and rows in which they are looked for.
_LISTED = 21
_ALWAYS_PARSED = 100

LINE_SCHEMA = pa.schema([("line", pa.string())])


class _JsonSource(FileSource):
    """What both forms have in common. The columns are all keys of all rows, known by a first pass."""

    def __init__(self, table: Input, limits: BatchLimits, *, encoding: str | None = None) -> None:
        super().__init__(table, limits)
        self._encoding = encoding
        self.total_rows: int | None = None

    def fingerprint(self) -> dict[str, Any]:
        """Return the file's identity, the limits and the encoding."""
        return {**super().fingerprint(), "encoding": self._encoding}

    def lines(self) -> Iterator[str]:
        """Iterate over every line that is not blank, without outer blanks."""
        with naming(self._input.name):
            for line in text_lines(self._input.stream(), self._encoding, newline="\n"):
                # Stripping makes a plain str of a line that is known to be too long.
                found = line if type(line) is not str else line.strip()
                if found:
                    yield found

    def rows(self, passes: Callable[[str], bool] | None = None) -> Iterator[JsonRow]:
        """Iterate over the rows that are objects, counting all; refuse a table without any.

        After the first rows, lines for which `passes` is true are passed over.
        """
        count, objects = 0, False
        for line in self.lines():
            count += 1
            if objects and count > _ALWAYS_PARSED and passes is not None and passes(line):
                continue
            row, _ = parse_row(line)
            if row is not None:
                objects = True
                yield row
        if not objects:
            what = "no line of it is a JSON object" if count else "it is empty"
            raise TableError(f"{self._input.name}: {what}, so that its columns are unknown")
        self.total_rows = count

    def line_batches(self) -> Iterator[list[str]]:
        """Iterate over lines in groups within the limits."""
        lines: list[str] = []
        size = 0
        for line in self.lines():
            lines.append(line)
            size += len(line)
            if len(lines) >= self._limits.rows or size >= self._limits.size:
                yield lines
                lines, size = [], 0
        if lines:
            yield lines


def _parsed(lines: list[str]) -> tuple[list[JsonRow | None], dict[int, str]]:
    """Return the values of rows, None where they are bad, and what is wrong by index."""
    rows: list[JsonRow | None] = []
    problems: dict[int, str] = {}
    for index, line in enumerate(lines):
        row, problem = parse_row(line)
        rows.append(row if problem is None else None)
        if problem is not None:
            problems[index] = problem
    return rows, problems


class JsonLinesSource(_JsonSource):
    """The lines themselves, in one text column: what is not computed is passed through letter by letter."""

    schema = LINE_SCHEMA

    def names(self, wanted: Collection[str]) -> list[str]:
        """Return the names of columns: those of `wanted` that exist, and the first others, in order.

        Raises:
            TableError: if no line is an object.
        """
        found: dict[str, None] = {}
        missing = {name: f'"{name}"' for name in wanted}

        def has_none_missing(line: str) -> bool:
            # A name in JSON is itself between quotes, or has a backslash.
            return "\\" not in line and not any(quoted in line for quoted in missing.values())

        for row in self.rows(has_none_missing):
            for name in row:
                if name in wanted or len(found) < _LISTED:
                    found.setdefault(name)
                    missing.pop(name, None)
        return list(found)

    def batches(self) -> Iterator[Batch]:
        """Iterate over batches of lines, in order."""
        for lines in self.line_batches():
            members, problems = _parsed(lines)
            column = pa.array([line if line.isascii() else readable(line) for line in lines], pa.string())
            yield Batch(pa.RecordBatch.from_arrays([column], schema=self.schema), problems, members)


class TypedJsonLinesSource(_JsonSource):
    """Columns, typed by a first pass over the whole table, so that no row can contradict its type later.

    Args:
        table: the file.
        limits: size of the batches.
        encoding: None: told from the first bytes.
        floats: numbers with a fraction or an exponent become float64 where that holds them exactly; else they
            are text, as they were written.
    """

    def __init__(
        self, table: Input, limits: BatchLimits, *, encoding: str | None = None, floats: bool = True
    ) -> None:
        super().__init__(table, limits, encoding=encoding)
        self._floats = floats
        self.schema = self._scan()

    def fingerprint(self) -> dict[str, Any]:
        """Return the file's identity, the limits, the encoding, and how numbers are kept."""
        return {**super().fingerprint(), "numbers as float64": self._floats}

    def _scan(self) -> Any:
        types: dict[str, ColumnType] = {}
        for row in self.rows():
            for name, value in row.items():
                types.setdefault(name, ColumnType()).see(value)
            if len(types) > MAX_COLUMNS:
                raise TableError(
                    f"{self._input.name}: more than {MAX_COLUMNS} different keys; write JSON Lines instead"
                )
        return pa.schema([(name, seen.resolve(floats=self._floats)) for name, seen in types.items()])

    def batches(self) -> Iterator[Batch]:
        """Iterate over record batches of `schema`, in order; a bad line is a row of nulls."""
        for lines in self.line_batches():
            members, problems = _parsed(lines)
            texts: dict[int, dict[str, str]] = {}
            try:
                columns = [self._column(field, lines, members, texts) for field in self.schema]
            except (ValueError, OverflowError) as error:  # so are Arrow's errors of values
                raise TableError(
                    f"{self._input.name} has changed since its columns were determined"
                ) from error
            yield Batch(pa.RecordBatch.from_arrays(columns, schema=self.schema), problems, members)

    @staticmethod
    def _column(
        field: Any, lines: list[str], members: list[JsonRow | None], texts: dict[int, dict[str, str]]
    ) -> Any:
        """Return a column; `texts` gathers the `member_texts` of the rows for which it is needed."""
        name, dtype = field.name, field.type
        values = [None if row is None else row.get(name) for row in members]
        cells = [fit(value, dtype) for value in values]
        for index, (value, cell) in enumerate(zip(values, cells, strict=True)):
            if cell is None and value is not None:
                if index not in texts:
                    texts[index] = member_texts(lines[index])
                cells[index] = texts[index][name]
        return pa.array(cells, dtype)
