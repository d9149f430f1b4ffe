# SPDX-License-Identifier: Apache-2.0
"""Types of columns that hold integers: integer, decimal, float, text and big-endian bytes."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from manymod._arrow_operands import MAX_DECIMAL_DIGITS

__all__ = [
    "MAX_DECIMAL_DIGITS",
    "Span",
    "column_kind",
    "holds",
    "modulus_bytes",
    "parse_integer",
    "plain_array",
    "plain_type",
    "result_span",
    "type_span",
]


_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)", re.ASCII)

#: Lowest and highest integer; None where there is no bound.
Span = tuple[int | None, int | None]


def parse_integer(text: str) -> int:
    """Exact integer from decimal or ``0x`` hexadecimal text, with an optional sign and outer blanks.

    Raises ValueError for anything else, also for the ``_`` and the non-ASCII digits that ``int`` takes.

    >>> parse_integer(" -0xff"), parse_integer("007")
    (-255, 7)
    """
    text = text.strip(" \t\r\n")
    if not _INTEGER.fullmatch(text):
        raise ValueError("not an integer")
    return int(text, 16 if "x" in text or "X" in text else 10)


def plain_type(dtype: Any) -> Any:
    """Return the type of a column's values where they are encoded by a dictionary or as runs."""
    while pa.types.is_dictionary(dtype) or pa.types.is_run_end_encoded(dtype):
        dtype = dtype.value_type
    return dtype


def plain_array(array: Any) -> Any:
    """Return an array of `plain_type`."""
    while plain_type(array.type) != array.type:
        of_dictionary = pa.types.is_dictionary(array.type)
        array = array.dictionary_decode() if of_dictionary else pc.run_end_decode(array)
    return array


def column_kind(dtype: Any) -> str | None:
    """One of ``integer``, ``decimal``, ``float``, ``text``, ``bytes``, ``null``; None: it holds no integers.

    Floats and decimals with a scale hold integers as far as their values are whole. Types of null hold none.
    """
    types = pa.types
    if types.is_integer(dtype):
        return "integer"
    if types.is_decimal(dtype):
        return "decimal"
    if types.is_floating(dtype):
        return "float"
    if types.is_string(dtype) or types.is_large_string(dtype) or str(dtype) == "string_view":
        return "text"
    if (
        types.is_binary(dtype)
        or types.is_large_binary(dtype)
        or types.is_fixed_size_binary(dtype)
        or str(dtype) == "binary_view"
    ):
        return "bytes"
    return "null" if types.is_null(dtype) else None


def type_span(dtype: Any) -> Span:
    """Range of the integers a column type can hold, all of them.

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
    if kind == "decimal" and dtype.scale == 0:
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
    """Whether a column type holds every integer of a range, exactly."""
    kind = column_kind(dtype)
    if kind not in {"integer", "decimal", "text", "bytes"} or (kind == "decimal" and dtype.scale != 0):
        return False
    low, high = type_span(dtype)
    return (low is None or (wanted[0] is not None and low <= wanted[0])) and (
        high is None or (wanted[1] is not None and wanted[1] <= high)
    )


def modulus_bytes(modulus: int) -> int:
    """Length of a modulus in bytes, at least 1: the length of a result written as bytes."""
    return max(1, (modulus.bit_length() + 7) // 8)
