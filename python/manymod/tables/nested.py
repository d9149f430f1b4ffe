# SPDX-License-Identifier: Apache-2.0
"""Arrow types of which types within lists, structures and maps are replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

__all__ = ["mapped_field", "mapped_type"]


def mapped_type(dtype: Any, replacement: Callable[[Any], Any]) -> Any:
    """Return a type with others in place of those that are to be replaced, itself or within it.

    Names and other attributes of fields stay.

    Args:
        dtype: the type.
        replacement: returns what is in place of a type, or None for one that stays but for what is within it.

    >>> mapped_type(pa.list_(pa.string()), {pa.string(): pa.binary()}.get)
    ListType(list<item: binary>)
    """
    if (other := replacement(dtype)) is not None:
        return other
    types = pa.types
    if types.is_list(dtype):
        return pa.list_(mapped_field(dtype.value_field, replacement))
    if types.is_large_list(dtype):
        return pa.large_list(mapped_field(dtype.value_field, replacement))
    if types.is_fixed_size_list(dtype):
        return pa.list_(mapped_field(dtype.value_field, replacement), dtype.list_size)
    if types.is_struct(dtype):
        fields = (dtype.field(index) for index in range(dtype.num_fields))
        return pa.struct([mapped_field(field, replacement) for field in fields])
    if types.is_map(dtype):
        key, item = (mapped_field(field, replacement) for field in (dtype.key_field, dtype.item_field))
        # Arrow makes maps with names of its own for the fields: one that does not change keeps others.
        unchanged = (key, item) == (dtype.key_field, dtype.item_field)
        return dtype if unchanged else pa.map_(key, item, dtype.keys_sorted)
    return dtype


def mapped_field(field: Any, replacement: Callable[[Any], Any]) -> Any:
    """Return a field with the `mapped_type` of its type."""
    return field.with_type(mapped_type(field.type, replacement))
