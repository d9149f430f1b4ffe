# SPDX-License-Identifier: Apache-2.0
"""Reading JSON Lines: as finished lines for a JSON Lines output, or as typed columns for any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from manymod.tables.batches import Batch, BatchLimits
from manymod.tables.columns import MAX_DECIMAL_DIGITS
from manymod.tables.errors import TableError
from manymod.tables.sources import FileSource

__all__ = ["INVALID_JSON", "JsonInteger", "JsonLinesSource", "TypedJsonLinesSource", "parse_row"]

#: Longest line; beyond it the file is not JSON Lines.
MAX_LINE_BYTES = 64 << 20
#: More columns than any table of integers has; rows whose keys are data would otherwise fill the memory.
MAX_COLUMNS = 10_000

LINE_SCHEMA = pa.schema([("line", pa.string())])
INVALID_JSON = "invalid_json"


class JsonInteger(str):
    """The text of a JSON number without fraction or exponent: exact, and not converted to an int."""

    __slots__ = ()


def _json_integer(text: str) -> JsonInteger:
    if len(text) - text.startswith("-") > MAX_DECIMAL_DIGITS:
        raise ValueError("integer is too long")
    return JsonInteger(text)


_AS_TEXT = json.JSONDecoder(parse_int=JsonInteger)
_AS_CHECKED_TEXT = json.JSONDecoder(parse_int=_json_integer)
_AS_INTEGERS = json.JSONDecoder()


def parse_row(line: str, integers_as_text: bool = False) -> dict[str, Any] | None:
    """Return the object on a line without outer blanks, or None where there is no such object.

    Integers are exact: Python ints, which the interpreter limits in length (sys.set_int_max_str_digits), or
    with `integers_as_text` `JsonInteger`.
    """
    decoder = _AS_INTEGERS
    if integers_as_text:
        decoder = _AS_TEXT if len(line) <= MAX_DECIMAL_DIGITS else _AS_CHECKED_TEXT
    try:
        row, end = decoder.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and end == len(line) else None


class JsonLinesSource(FileSource):
    """The lines themselves, in one text column: what is not computed is passed through letter by letter."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        super().__init__(path, limits)
        self._file = open(path, "rb")  # noqa: SIM115 (closed by close())
        self._size = max(1, path.stat().st_size)
        self.schema = LINE_SCHEMA
        self.total_rows: int | None = None

    def names(self) -> list[str]:
        """Keys of the first row."""
        for line in self.lines():
            self._file.seek(0)
            return list(parse_row(line) or {})
        return []

    def lines(self) -> Iterator[str]:
        """Every line that is not blank, without its end."""
        self._file.seek(0)
        row = 0
        while raw := self._file.readline(MAX_LINE_BYTES):
            row += 1
            if len(raw) >= MAX_LINE_BYTES:
                raise TableError(f"{self._path}: row {row} is longer than {MAX_LINE_BYTES >> 20} MiB")
            try:
                line = raw.decode("utf-8-sig" if row == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise TableError(f"{self._path}: row {row}: {error}") from error
            if line:
                yield line
            else:
                row -= 1

    def line_batches(self) -> Iterator[list[str]]:
        """Lines in groups within the limits."""
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

    def batches(self) -> Iterator[Batch]:
        """Batches of lines, in order."""
        for lines in self.line_batches():
            yield Batch(pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], schema=self.schema))

    def fraction(self) -> float:
        """How much of the file has been read, 0 to 1."""
        return min(1.0, self._file.tell() / self._size)

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class _ColumnTypes:
    """What has been seen in one key over all rows, and the narrowest column type that holds it exactly."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.low = self.high = 0

    def see(self, value: Any) -> None:
        """Take one value into account."""
        if value is None:
            return
        kind = type(value).__name__
        self.kinds.add(kind)
        if kind == "int":
            self.low, self.high = min(self.low, value), max(self.high, value)

    def resolve(self) -> Any:
        """An Arrow type; text where nothing else holds every value."""
        if self.kinds == {"bool"}:
            return pa.bool_()
        if self.kinds == {"int"}:
            return self._integer()
        exact_in_float = max(-self.low, self.high) <= 1 << 53
        if self.kinds and self.kinds <= {"float", "int"} and exact_in_float:
            return pa.float64()
        return pa.string()

    def _integer(self) -> Any:
        if self.low >= -(1 << 63) and self.high < 1 << 63:
            return pa.int64()
        if self.low >= 0 and self.high < 1 << 64:
            return pa.uint64()
        return pa.decimal128(38, 0) if max(-self.low, self.high) < 10**38 else pa.string()


class TypedJsonLinesSource(FileSource):
    """Columns, typed by a first pass over the whole file, so that no row can contradict its type later."""

    def __init__(self, path: Path, limits: BatchLimits) -> None:
        super().__init__(path, limits)
        self._lines = JsonLinesSource(path, limits)
        try:
            self.schema, self.total_rows = self._scan()
        except BaseException:
            self.close()
            raise

    def _scan(self) -> tuple[Any, int | None]:
        types: dict[str, _ColumnTypes] = {}
        rows = 0
        for line in self._lines.lines():
            rows += 1
            for name, value in (_encodable_row(line) or {}).items():
                types.setdefault(name, _ColumnTypes()).see(value)
            if len(types) > MAX_COLUMNS:
                raise TableError(f"more than {MAX_COLUMNS} different keys; write JSON Lines instead")
        return pa.schema([(name, seen.resolve()) for name, seen in types.items()]), rows

    def batches(self) -> Iterator[Batch]:
        """Record batches of `schema`, in order; a line that is no JSON object is a row of nulls."""
        for lines in self._lines.line_batches():
            rows = [_encodable_row(line) for line in lines]
            columns = [
                pa.array([_fit((row or {}).get(field.name), field.type) for row in rows], field.type)
                for field in self.schema
            ]
            problems = {index: INVALID_JSON for index, row in enumerate(rows) if row is None}
            yield Batch(pa.RecordBatch.from_arrays(columns, schema=self.schema), problems)

    def fraction(self) -> float:
        """How much of the file has been read, 0 to 1."""
        return self._lines.fraction()

    def close(self) -> None:
        """Release the file."""
        self._lines.close()


def _encodable_row(line: str) -> dict[str, Any] | None:
    """As `parse_row`, and None too for text with lone surrogates, which no column can hold."""
    row = parse_row(line)
    if row is not None and "\\u" in line:
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return None
    return row


def _fit(value: Any, dtype: Any) -> Any:
    """A JSON value as a value of a column: text columns keep other values as their JSON text."""
    if value is None or isinstance(value, str):
        return value
    if pa.types.is_decimal(dtype):
        return Decimal(value)
    return json.dumps(value, ensure_ascii=False) if dtype == pa.string() else value
