# SPDX-License-Identifier: Apache-2.0
"""Table columns as exact integers and back: integer, decimal, text and big-endian bytes columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Context
from typing import Any

import pyarrow as pa

__all__ = [
    "MAX_DECIMAL_DIGITS",
    "NULL",
    "Span",
    "column_kind",
    "encode",
    "modulus_bytes",
    "parse_integer",
    "read_cells",
]

#: Longest decimal cell: conversion is quadratic, longer ones could stall a run. Hexadecimal has no limit.
MAX_DECIMAL_DIGITS = 100_000

_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)", re.ASCII)

#: Lowest and highest integer; None where there is no bound.
Span = tuple[int | None, int | None]

#: What is wrong with a cell.
NULL = "is_null"
NOT_AN_INTEGER = "not_an_integer"


def parse_integer(text: str) -> int:
    """Exact integer from decimal or ``0x`` hexadecimal text, with an optional sign and outer blanks.

    Raises ValueError for anything else, also for the ``_`` and the non-ASCII digits that ``int`` takes.

    >>> parse_integer(" -0xff"), parse_integer("007")
    (-255, 7)
    """
    text = text.strip(" \t\r\n")
    if not _INTEGER.fullmatch(text):
        raise ValueError(NOT_AN_INTEGER)
    return int(text, 16 if "x" in text or "X" in text else 10)


def column_kind(dtype: Any) -> str | None:
    """One of ``integer``, ``decimal``, ``text``, ``bytes``; None for a type that holds no integers."""
    types = pa.types
    if types.is_integer(dtype):
        return "integer"
    if types.is_decimal(dtype) and dtype.scale == 0:
        return "decimal"
    if types.is_string(dtype) or types.is_large_string(dtype) or str(dtype) == "string_view":
        return "text"
    if (
        types.is_binary(dtype)
        or types.is_large_binary(dtype)
        or types.is_fixed_size_binary(dtype)
        or str(dtype) == "binary_view"
    ):
        return "bytes"
    return None


def _from_bytes(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _from_any(value: object) -> int:
    """A JSON value: a number without fraction or exponent, or text."""
    if isinstance(value, str):
        return parse_integer(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(NOT_AN_INTEGER)


_CONVERTERS: dict[str | None, Callable[[Any], int]] = {
    "integer": int,
    "decimal": int,
    "text": parse_integer,
    "bytes": _from_bytes,
    None: _from_any,
}


def read_cells(cells: Sequence[object], kind: str | None) -> tuple[list[int], dict[int, str]]:
    """Integers of a column's Python values (0 where there is none) and, by row, what is wrong there.

    `kind` is that of `column_kind`, or None for untyped JSON values.
    """
    convert = _CONVERTERS[kind]
    try:
        return list(map(convert, cells)), {}
    except (AttributeError, TypeError, ValueError):
        return _read_each(cells, convert)


def _read_each(cells: Sequence[object], convert: Callable[[Any], int]) -> tuple[list[int], dict[int, str]]:
    values = [0] * len(cells)
    problems: dict[int, str] = {}
    for row, cell in enumerate(cells):
        if cell is None:
            problems[row] = NULL
            continue
        try:
            values[row] = convert(cell)
        except ValueError:
            problems[row] = NOT_AN_INTEGER
    return values, problems


def type_span(dtype: Any) -> Span:
    """Range of the integers a column type can hold.

    >>> type_span(pa.int8())
    (-128, 127)
    """
    kind = column_kind(dtype)
    if kind == "integer":
        bits = dtype.bit_width
        return (
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            if pa.types.is_signed_integer(dtype)
            else (0, (1 << bits) - 1)
        )
    if kind == "decimal":
        return 1 - 10**dtype.precision, 10**dtype.precision - 1
    if kind == "bytes":
        return (0, 256**dtype.byte_width - 1) if pa.types.is_fixed_size_binary(dtype) else (0, None)
    return None, None


def result_span(modulus: Span) -> Span:
    """Range of x mod n over a range of n: the result has the sign of n and is nearer to 0.

    >>> result_span((-10, 1000))
    (-9, 999)
    """
    low, high = modulus
    return (None if low is None else min(low + 1, 0), None if high is None else max(high - 1, 0))


def holds(dtype: Any, wanted: Span) -> bool:
    """Whether a column type holds every integer of a range."""
    low, high = type_span(dtype)
    return (low is None or (wanted[0] is not None and low <= wanted[0])) and (
        high is None or (wanted[1] is not None and wanted[1] <= high)
    )


def modulus_bytes(modulus: int) -> int:
    """Length of a modulus in bytes, at least 1: the length of a result written as bytes."""
    return max(1, (modulus.bit_length() + 7) // 8)


#: Context wide enough for every decimal256.
_EXACT = Context(prec=80)


def encode(
    values: Sequence[int | None],
    moduli: Sequence[int] | int,
    dtype: Any,
    how: str,
    templates: Sequence[object] | None,
) -> Any:
    """Arrow array of results.

    `how` is ``same`` (text follows `templates`, the cells of a column), ``dec``, ``hex`` or ``bytes``.
    Bytes are big-endian and as long as the row's modulus, or as a fixed-size type says.
    """
    kind = column_kind(dtype)
    if kind == "text":
        return pa.array(
            [text_result(value, row, moduli, how, templates) for row, value in enumerate(values)], dtype
        )
    if kind == "bytes":
        fixed = dtype.byte_width if pa.types.is_fixed_size_binary(dtype) else 0
        return pa.array(
            [
                None
                if value is None
                else value.to_bytes(fixed or modulus_bytes(_modulus(moduli, row)), "big")
                for row, value in enumerate(values)
            ],
            dtype,
        )
    if kind == "decimal":
        return pa.array([None if value is None else _EXACT.create_decimal(value) for value in values], dtype)
    return pa.array(values, dtype)


def _modulus(moduli: Sequence[int] | int, row: int) -> int:
    return moduli if isinstance(moduli, int) else moduli[row]


def text_result(
    value: int | None, row: int, moduli: Sequence[int] | int, how: str, templates: Sequence[object] | None
) -> str | None:
    """One result as text; `how` as in `encode`, bytes being hexadecimal padded to the modulus's length."""
    if value is None:
        return None
    if how == "bytes":
        return f"0x{value:0{2 * modulus_bytes(_modulus(moduli, row))}x}"
    if how == "hex":
        return hex(value)
    if how == "dec" or templates is None:
        return str(value)
    template = templates[row]
    return hex(value) if isinstance(template, str) and "x" in template.lower() else str(value)
