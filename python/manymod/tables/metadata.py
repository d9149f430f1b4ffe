# SPDX-License-Identifier: Apache-2.0
"""Metadata of the schema of an output: that of the table which was read, with the new columns in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["with_columns"]

_PANDAS = b"pandas"
#: pandas' description of an index of columns whose labels are text.
_TEXT_LABELS = {"field_name": None, "pandas_type": "unicode", "numpy_type": "object"}


def with_columns(schema: Any, fields: Sequence[Any]) -> Any:
    """Return a schema with more columns, which pandas' metadata describes too if there is any.

    Unless it names a type with nulls, pandas reads integers with nulls as floats, which rounds them.
    """
    metadata = dict(schema.metadata or {})
    if _PANDAS in metadata:
        metadata[_PANDAS] = _extended(metadata[_PANDAS], fields)
    return pa.schema([*schema, *fields], metadata=metadata or None)


def _extended(text: bytes, fields: Sequence[Any]) -> bytes:
    """Return pandas' metadata with more columns, or as it was if it is not as pandas writes it."""
    try:
        content = json.loads(text)
        columns, indices, labels = (content[key] for key in ("columns", "index_columns", "column_indexes"))
        first_index = len(columns) - sum(isinstance(index, str) for index in indices)
        columns[first_index:first_index] = [_description(field) for field in fields]
        if [label["pandas_type"] for label in labels] != ["unicode"]:
            # The names of the new columns are no numbers, times or tuples, as the others are.
            name = labels[0]["name"] if len(labels) == 1 else None
            content["column_indexes"] = [{"name": name, **_TEXT_LABELS, "metadata": {"encoding": "UTF-8"}}]
    except (ValueError, KeyError, TypeError):
        return text
    return json.dumps(content).encode()


def _description(field: Any) -> dict[str, Any]:
    """Return pandas' description of a column that may have nulls."""
    types, dtype = pa.types, field.type
    kind, array, metadata = "object", "object", None
    if types.is_integer(dtype):
        kind = str(dtype)
        array = kind.replace("int", "Int").replace("uI", "UI")
    elif types.is_boolean(dtype):
        kind, array = "bool", "boolean"
    elif types.is_decimal(dtype):
        kind, metadata = "decimal", {"precision": dtype.precision, "scale": dtype.scale}
    elif types.is_string(dtype) or types.is_large_string(dtype):
        kind = "unicode"
    elif types.is_binary(dtype) or types.is_large_binary(dtype) or types.is_fixed_size_binary(dtype):
        kind = "bytes"
    return {
        "name": field.name,
        "field_name": field.name,
        "pandas_type": kind,
        "numpy_type": array,
        "metadata": metadata,
    }
