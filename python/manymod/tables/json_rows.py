# SPDX-License-Identifier: Apache-2.0
"""Rows of JSON Lines: their values with the text of their numbers, and Arrow types that hold them exactly."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa

from manymod.tables.text_lines import INVALID_TEXT, LINE_TOO_LONG, LongLine, encodable

__all__ = [
    "INVALID_JSON",
    "REPEATED_KEY",
    "ColumnType",
    "JsonInteger",
    "JsonNumber",
    "JsonRow",
    "fit",
    "is_object",
    "member_texts",
    "parse_row",
]

#: Statuses of rows.
INVALID_JSON = "invalid_json"
REPEATED_KEY = "repeated_key"

#: Digits that tell every float64 from every other: a number that has more is not written by a float64.
FLOAT64_DIGITS = 17
#: Digits of the widest integer column.
MAX_INTEGER_DIGITS = 38

#: Values by key: None, bool, `JsonNumber`, str, list, and tuple for an object.
JsonRow = dict[str, object]


class JsonNumber(str):
    """The text of a JSON number, exact at any size."""

    __slots__ = ()


class JsonInteger(JsonNumber):
    """The text of a JSON number without fraction or exponent."""

    __slots__ = ()


# Objects become tuples of pairs, which tells them from lists and keeps repeated keys.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=JsonInteger, parse_float=JsonNumber, parse_constant=JsonNumber
)
_BLANKS = re.compile(r"[ \t\n\r]*")


def parse_row(line: str) -> tuple[JsonRow | None, str | None]:
    """Return the object on a line without outer blanks, None where there is none; and what is wrong with it.

    A key that UTF-8 cannot hold (it has lone surrogates) is replaced by its JSON text.

    >>> parse_row('{"b": 1e400}')
    ({'b': '1e400'}, None)
    >>> parse_row('{"b": 1, "b": 2}')
    ({'b': '2'}, 'repeated_key')
    >>> parse_row("[5]")
    (None, 'invalid_json')
    """
    if isinstance(line, LongLine):
        return None, LINE_TOO_LONG
    if not line.isascii() and not encodable(line):
        return None, INVALID_TEXT
    try:
        pairs, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None, INVALID_JSON
    if not isinstance(pairs, tuple) or end != len(line):
        return None, INVALID_JSON
    row = {_name(key): value for key, value in pairs} if "\\u" in line else dict(pairs)
    return row, None if len(row) == len(pairs) else REPEATED_KEY


def is_object(problem: str | None) -> bool:
    """Whether the line of a row is a JSON object."""
    return problem is None or problem == REPEATED_KEY


def _name(key: str) -> str:
    return key if encodable(key) else json.dumps(key)


def _skip_blanks(line: str, position: int) -> int:
    found = _BLANKS.match(line, position)
    return position if found is None else found.end()


def member_texts(line: str) -> dict[str, str]:
    """Return the text of every value of a row that `parse_row` takes, by key.

    >>> member_texts('{"a" : [1.0,2], "b":1e400 }')
    {'a': '[1.0,2]', 'b': '1e400'}
    """
    texts: dict[str, str] = {}
    position = _skip_blanks(line, 1)
    while line[position] != "}":
        key, position = _DECODER.raw_decode(line, position)
        start = _skip_blanks(line, _skip_blanks(line, position) + 1)  # after the colon
        _, position = _DECODER.raw_decode(line, start)
        texts[_name(key)] = line[start:position]
        position = _skip_blanks(line, position)
        if line[position] == ",":
            position = _skip_blanks(line, position + 1)
    return texts


class ColumnType:
    """What has been seen in one key over all rows, and the narrowest column type that holds it exactly."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._low = self._high = 0

    def see(self, value: object) -> None:
        """Take one value into account."""
        if value is None:
            return
        if isinstance(value, JsonInteger) and value != "-0":
            if len(value) > MAX_INTEGER_DIGITS + 1:
                self._kinds.add("text")
                return
            number = int(value)
            self._low, self._high = min(self._low, number), max(self._high, number)
            self._kinds.add("integer")
        elif isinstance(value, JsonNumber):
            self._kinds.add("float" if _is_float64(value) else "text")
        else:
            self._kinds.add("bool" if isinstance(value, bool) else "text")

    def resolve(self, *, floats: bool) -> Any:
        """Return an Arrow type: text where no other holds every value, and for floats unless `floats`."""
        if self._kinds == {"bool"}:
            return pa.bool_()
        if self._kinds == {"integer"}:
            return self._integer()
        exact_in_float = max(-self._low, self._high) <= 1 << 53
        if floats and self._kinds and self._kinds <= {"float", "integer"} and exact_in_float:
            return pa.float64()
        return pa.string()

    def _integer(self) -> Any:
        if self._low >= -(1 << 63) and self._high < 1 << 63:
            return pa.int64()
        if self._low >= 0 and self._high < 1 << 64:
            return pa.uint64()
        return pa.decimal128(38, 0) if max(-self._low, self._high) < 10**38 else pa.string()


def _is_float64(text: str) -> bool:
    """Whether a float64 holds a number as exactly as its decimal text tells it."""
    value = float(text)
    if not math.isfinite(value):
        return not text[-1].isdigit()  # NaN and the infinities by name, not a number beyond the range
    digits = re.split("[eE]", text)[0].lstrip("-").replace(".", "").strip("0")
    return len(digits) <= FLOAT64_DIGITS and (value != 0 or not digits)


def fit(value: object, dtype: Any) -> Any:
    """Return a value as one of a column's type; text columns keep numbers as they were written.

    None stands for objects, lists and strings that UTF-8 cannot hold: `member_texts` has their text.
    """
    if value is None or isinstance(value, bool):
        return value if dtype != pa.string() or value is None else str(value).lower()
    if isinstance(value, JsonNumber):
        if pa.types.is_decimal(dtype):
            return Decimal(value)
        if pa.types.is_integer(dtype):
            return int(value)
        return float(value) if pa.types.is_floating(dtype) else str(value)
    return value if isinstance(value, str) and encodable(value) else None
