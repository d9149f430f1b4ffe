# SPDX-License-Identifier: Apache-2.0
"""Arrow columns of text whose bytes are no UTF-8: the rows are bad, the others are not."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from manymod.tables.text_lines import INVALID_TEXT

__all__ = ["safe_batch", "without_invalid_text"]


def _bytes_type(dtype: Any) -> Any | None:
    """Return the type of bytes with the layout of a type of text, None for any other type."""
    if pa.types.is_string(dtype):
        return pa.binary()
    if pa.types.is_large_string(dtype):
        return pa.large_binary()
    return pa.binary_view() if str(dtype) == "string_view" else None


def _as_bytes(column: Any) -> Any:
    """Return a column of text, or of a dictionary of text, as one of bytes; any other as it is."""
    if pa.types.is_dictionary(column.type):
        values = _as_bytes(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values, safe=False)
    dtype = _bytes_type(column.type)
    return column if dtype is None else column.view(dtype)


def safe_batch(batch: Any) -> Any:
    """Return a batch from outside, checked: no offset or index in it leads out of its buffers.

    Raises:
        ArrowInvalid: if one does, or text inside of nested columns is no UTF-8.
    """
    for column in batch.columns:
        _as_bytes(column).validate(full=True)
    return batch


def without_invalid_text(batch: Any) -> tuple[Any, dict[int, str]]:
    """Return a batch with nulls in place of text that is no UTF-8, and the status of their rows by index."""
    problems: dict[int, str] = {}
    columns = batch.columns
    for number, column in enumerate(columns):
        as_bytes = _bytes_type(column.type)
        if as_bytes is None:
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            cells = column.view(as_bytes).to_pylist()
            for row, cell in enumerate(cells):
                if cell is not None and not _is_utf8(cell):
                    cells[row], problems[row] = None, INVALID_TEXT
            columns[number] = pa.array(cells, as_bytes).view(column.type)
    return (pa.RecordBatch.from_arrays(columns, schema=batch.schema) if problems else batch), problems


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
