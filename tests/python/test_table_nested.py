# SPDX-License-Identifier: Apache-2.0
"""Arrow types of which types within others are replaced, and what tables make of nested columns with it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from manymod.tables.batches import decoded_type, plain_batch, plain_schema
from manymod.tables.nested import mapped_type
from manymod.tables.texts import plain_values, text_type

CODED = pa.dictionary(pa.int8(), pa.string())


def nests(dtype: Any) -> list[Any]:
    """Types that have one within them, with attributes that have to stay."""
    field = pa.field("inner", dtype, nullable=False, metadata={"k": "v"})
    named = pa.map_(pa.field("name", pa.int8(), nullable=False), pa.field("cell", dtype), True)
    return [
        dtype,
        pa.list_(field),
        pa.large_list(field),
        pa.list_(field, 3),
        pa.struct([field, pa.field("other", pa.int8())]),
        pa.map_(pa.int8(), dtype, True),
        pa.list_(pa.struct([pa.field("m", named)])),
    ]


@pytest.mark.parametrize("place", range(len(nests(pa.int8()))))
def test_types_are_replaced_at_every_depth(place: int) -> None:
    before, after = nests(pa.string())[place], nests(pa.binary())[place]
    found = mapped_type(before, {pa.string(): pa.binary()}.get)
    assert found.equals(after, check_metadata=True)
    assert mapped_type(before, {}.get).equals(before, check_metadata=True)
    assert decoded_type(nests(CODED)[place]).equals(before, check_metadata=True)
    assert text_type(nests(pa.timestamp("ns"))[place]).equals(before, check_metadata=True)


def test_a_replacement_is_taken_as_it_is() -> None:
    """It is not looked into, so that a replacement which nests its own type ends."""
    assert mapped_type(pa.int8(), {pa.int8(): pa.list_(pa.int8())}.get) == pa.list_(pa.int8())


def test_dictionaries_of_dictionaries_are_decoded() -> None:
    assert decoded_type(pa.dictionary(pa.int8(), pa.list_(CODED))) == pa.list_(pa.string())


def test_values_of_nested_columns_stay() -> None:
    values = [{"a": ["x", None], "m": [("k", "y")]}, None]
    dtype = pa.struct([("a", pa.list_(CODED)), ("m", pa.map_(pa.string(), pa.string()))])
    batch = pa.record_batch({"s": pa.array(values, dtype)})
    plain = plain_batch(batch, plain_schema(batch.schema))
    assert plain.schema.field("s").type == pa.struct(
        [("a", pa.list_(pa.string())), ("m", pa.map_(pa.string(), pa.string()))]
    )
    assert plain.column(0).to_pylist() == values
    times = pa.array([[{"t": 1}]], pa.list_(pa.struct([("t", pa.timestamp("ns"))])))
    assert plain_values(times) == [[{"t": "1970-01-01 00:00:00.000000001"}]]
