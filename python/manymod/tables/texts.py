# SPDX-License-Identifier: Apache-2.0
"""Values of Arrow columns as texts of CSV and JSON Lines: exact, and without pandas."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from manymod.tables.nested import mapped_type

__all__ = ["TWIN_FIELDS", "csv_text", "has_twin_fields", "json_value", "plain_values", "refusal_of_text"]

#: The digits of Arrow's decimals, by their bits. Scales beyond them have no texts.
_MOST_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}
TWIN_FIELDS = "two fields of a structure have one name"


def text_type(dtype: Any) -> Any:
    """Return the type whose Python values are exact, for a type that can be cast to it.

    Times become texts as Arrow writes them, since Python's times have no nanoseconds; durations become
    integers; extension types and dictionaries become what they are made of.

    >>> text_type(pa.list_(pa.timestamp("ns")))
    ListType(list<item: string>)
    """
    return mapped_type(dtype, _text_in_place_of)


def _text_in_place_of(dtype: Any) -> Any:
    types = pa.types
    if isinstance(dtype, pa.BaseExtensionType):
        return text_type(dtype.storage_type)
    if types.is_dictionary(dtype):
        return text_type(dtype.value_type)
    if types.is_temporal(dtype) and not types.is_interval(dtype):
        return pa.int64() if types.is_duration(dtype) else pa.string()
    return None


def plain_values(column: Any) -> list[Any]:
    """Return the Python values of an Arrow array of a type that `refusal_of_text` has nothing against."""
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    wanted = text_type(column.type)
    values: list[Any] = (column if column.type == wanted else column.cast(wanted)).to_pylist()
    return values


def refusal_of_text(dtype: Any) -> str | None:
    """Return why values of a type have no exact text, None if they have one."""
    if pa.types.is_run_end_encoded(dtype):
        return refusal_of_text(dtype.value_type)
    wanted = text_type(dtype)
    if any(_opaque_time(inner) for inner in _inner_types(wanted)):
        return "it has times within a union, a list view or run ends"
    if has_twin_fields(dtype):
        return TWIN_FIELDS
    for inner in _inner_types(dtype):
        if pa.types.is_decimal(inner) and abs(inner.scale) > _MOST_DIGITS[inner.bit_width]:
            return f"Arrow has no texts of decimals of scale {inner.scale}"
        if pa.types.is_timestamp(inner) and inner.tz is not None:
            try:
                pa.nulls(1, inner).cast(pa.string())
            except pa.ArrowException as error:
                return str(error)
    return None


def has_twin_fields(dtype: Any) -> bool:
    """Whether two fields of a structure within a type have one name, of which most readers see one only."""
    structures = [inner for inner in _inner_types(dtype) if pa.types.is_struct(inner)]
    names = [[inner.field(index).name for index in range(inner.num_fields)] for inner in structures]
    return any(len(set(fields)) < len(fields) for fields in names)


def _opaque_time(dtype: Any) -> bool:
    """Whether a type that `text_type` leaves as it is hides times."""
    return pa.types.is_temporal(dtype) and not pa.types.is_interval(dtype)


def _inner_types(dtype: Any) -> list[Any]:
    """Return the type and all that it is made of."""
    found = [dtype]
    if isinstance(dtype, pa.BaseExtensionType):
        found += _inner_types(dtype.storage_type)
    elif pa.types.is_dictionary(dtype) or pa.types.is_run_end_encoded(dtype):
        found += _inner_types(dtype.value_type)
    else:
        for index in range(dtype.num_fields):
            found += _inner_types(dtype.field(index).type)
    return found


def json_value(value: Any) -> Any:
    """A value JSON can hold: bytes as 0x text, whole decimals as integers, NaN and infinities as text."""
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, Decimal):
        return (
            int(value)
            if value == value.to_integral_value() and value.as_tuple().exponent == 0
            else _decimal_text(value)
        )
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def _decimal_text(value: Decimal) -> str:
    """The text of a decimal; the places of small ones are written out.

    >>> _decimal_text(Decimal("0E-8")), _decimal_text(Decimal("1.50")), _decimal_text(Decimal("1.2E+3"))
    ('0.00000000', '1.50', '1.2E+3')
    """
    text = str(value)
    return format(value, "f") if "E-" in text else text


def csv_text(value: Any) -> str:
    """The text of a CSV cell."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(json_value(value), ensure_ascii=False)
    if isinstance(value, Decimal):
        return _decimal_text(value)
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)
