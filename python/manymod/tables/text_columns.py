# SPDX-License-Identifier: Apache-2.0
"""Arrow columns of text whose bytes are no UTF-8: the rows are bad, the others are not."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from manymod.tables.nested import mapped_type
from manymod.tables.text_lines import INVALID_TEXT

__all__ = ["safe_batch", "without_invalid_text"]


#: Types of the same layout in place of those of text.
_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def _bytes_type(dtype: Any) -> Any:
    """Return a type with bytes in place of text of the same layout, also inside of it."""
    return mapped_type(dtype, _BYTES.get)


def _as_bytes(column: Any) -> Any:
    """Return a column with bytes in place of text, as far as Arrow can look at it in this way."""
    if pa.types.is_dictionary(column.type):
        values = _as_bytes(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values, safe=False)
    dtype = _bytes_type(column.type)
    return column if dtype == column.type else column.view(dtype)


def safe_batch(batch: Any) -> Any:
    """Return a batch from outside, checked: no offset or index in it leads out of its buffers.

    Raises:
        ArrowInvalid: if one does.
    """
    for column in batch.columns:
        _as_bytes(column).validate(full=True)
    return batch


def without_invalid_text(batch: Any) -> tuple[Any, dict[int, str]]:
    """Return a batch with nulls in place of cells whose text is no UTF-8, and by index the status of rows."""
    problems: dict[int, str] = {}
    columns = batch.columns
    for number, column in enumerate(columns):
        if _bytes_type(column.type) == column.type or _is_valid(column):
            continue
        plain = column
        if str(column.type) == "string_view":  # of which Arrow cannot take single rows
            plain = column.view(pa.binary_view()).cast(pa.large_binary()).view(pa.large_string())
        bad = [not _is_valid(plain.take(pa.array([row]))) for row in range(len(plain))]
        problems.update((row, INVALID_TEXT) for row, is_bad in enumerate(bad) if is_bad)
        kept = pa.array([None if is_bad else row for row, is_bad in enumerate(bad)], pa.int64())
        mended = plain.take(kept)
        columns[number] = mended if mended.type == column.type else mended.cast(column.type)
    return (pa.RecordBatch.from_arrays(columns, schema=batch.schema) if problems else batch), problems


def _is_valid(column: Any) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
