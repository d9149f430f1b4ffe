# SPDX-License-Identifier: Apache-2.0
"""Integers of Arrow columns to limbs and back, without Python ints, against Python's own conversions."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.python.integers import edge_values, integers

from manymod import IntArray, _core
from manymod.tables.columns import MAX_DECIMAL_DIGITS, parse_integer
from manymod.tables.integers import (
    encode_binary,
    encode_decimals,
    encode_integers,
    encode_text,
    read_cells,
    read_column,
)

#: Around chunks of 19 digits, where decimal text is cut, and powers of ten next to them.
DECIMAL_EDGES = [10**k + d for k in (0, 1, 18, 19, 20, 37, 38, 39, 57, 616, 617, 4931) for d in (-1, 0, 1)]
VALUES = [
    *DECIMAL_EDGES,
    *(2**bits + d for bits in (0, 1, 63, 64, 65, 127, 128, 191, 192, 2048, 16384) for d in (-1, 0, 1)),
]


@pytest.fixture(autouse=True)
def long_text() -> Iterator[None]:
    """Let Python, with which results are compared, convert decimal text of any length."""
    if not hasattr(sys, "set_int_max_str_digits"):
        yield
        return
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(limit)


def ints_of(array: Any, start: int = 0, stop: int | None = None) -> list[int]:
    """The integers of a column's rows."""
    column = read_column(array)
    return column.rows(start, column.count if stop is None else stop).to_ints()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [pa.string(), pa.large_string()])
def test_decimal_text(sign: int, dtype: Any) -> None:
    values = [sign * value for value in VALUES]
    array = pa.array([str(value) for value in values], dtype)
    assert ints_of(array) == values
    assert ints_of(array, 7, 20) == values[7:20]
    assert ints_of(array.slice(5, 9)) == values[5:14]
    text = encode_text(IntArray.from_ints(values), None, None)
    assert text.to_pylist() == [str(value) for value in values]
    text.validate(full=True)


@pytest.mark.parametrize("sign", [1, -1])
def test_hexadecimal_text(sign: int) -> None:
    values = [sign * value for value in VALUES]
    column = read_column(pa.array([hex(value) for value in values]))
    assert column.rows(0, column.count).to_ints() == values
    assert column.hexadecimal is not None
    assert column.hexadecimal.all()
    every = np.ones(len(values), np.bool_)
    assert encode_text(IntArray.from_ints(values), None, every).to_pylist() == [hex(v) for v in values]
    digits = np.full(len(values), 40, np.uint32)
    padded = encode_text(IntArray.from_ints(values), None, every, digits).to_pylist()
    assert padded == [f"{'-' if v < 0 else ''}0x{abs(v):040x}" for v in values]


@given(st.lists(integers(), min_size=1, max_size=6), st.data())
def test_text_of_any_numbers(values: list[int], data: st.DataObject) -> None:
    forms = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    zeros = data.draw(st.sampled_from(["", "0", "0" * 40]))
    cells = []
    for value, hexadecimal in zip(values, forms, strict=True):
        sign = "-" if value < 0 else data.draw(st.sampled_from(["", "+"]))
        digits = f"0X{zeros}{abs(value):X}" if hexadecimal else f"{zeros}{abs(value)}"
        cells.append(f" \t{sign}{digits}\r\n")
    assert ints_of(pa.array(cells)) == values
    text = encode_text(IntArray.from_ints(values), None, np.array(forms))
    assert text.to_pylist() == [
        hex(value) if hexadecimal else str(value) for value, hexadecimal in zip(values, forms, strict=True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "+",
        "-",
        "0x",
        "x1",
        "0xg",
        "1_000",
        "1.0",
        "1e5",
        "--1",
        "+-1",
        "0x-1",
        "٣",
        "1 2",
        "\0",
        "1\0",
    ],
)
def test_what_is_no_integer(text: str) -> None:
    column = read_column(pa.array(["5", text, None]))
    assert column.invalid is not None
    assert column.invalid[:2].tolist() == [False, True]
    assert column.null is not None
    assert column.null.tolist() == [False, False, True]
    assert column.rows(0, 3).to_ints()[:2] == [5, 0]
    with pytest.raises(ValueError, match="not an integer"):
        parse_integer(text)


def test_the_longest_decimal_cell() -> None:
    longest = "-" + "9" * MAX_DECIMAL_DIGITS
    column = read_column(pa.array([longest, longest + "9", "0x" + "f" * (MAX_DECIMAL_DIGITS + 1)]))
    assert column.invalid is not None
    assert column.invalid.tolist() == [False, True, False]
    first, _, third = column.rows(0, 3).to_ints()
    assert first == 1 - 10**MAX_DECIMAL_DIGITS
    assert third == 16 ** (MAX_DECIMAL_DIGITS + 1) - 1


def test_widths_are_bounds_and_close() -> None:
    source = random.Random(1)
    values = [source.getrandbits(bits) | 1 << (bits - 1) for bits in range(1, 3000, 7)]
    widths = read_column(pa.array([str(value) for value in values])).widths()
    needed = np.array([-(-value.bit_length() // 64) for value in values])
    assert (widths >= needed).all()
    assert (widths <= needed + 1).all()


def test_cells_without_a_type() -> None:
    column = read_cells(["5", "-0x10", 5, None, 1.5, True, ["1"], "\ud800", "ä"])
    assert column.null is not None
    assert column.invalid is not None
    assert (column.invalid & ~column.null).tolist() == [False, False, True, False, *[True] * 5]
    assert column.rows(0, 2).to_ints() == [5, -16]


@pytest.mark.parametrize(
    "dtype",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
)
def test_integer_columns(dtype: Any) -> None:
    bits = dtype.bit_width
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if "u" not in str(dtype) else (0, (1 << bits) - 1)
    values = [low, high, 0, 1, high - 1]
    array = pa.array(values, dtype)
    assert ints_of(array) == values
    assert ints_of(array.slice(1, 3)) == values[1:4]
    assert encode_integers(IntArray.from_ints(values), None, dtype).equals(array)


@pytest.mark.parametrize("dtype", [pa.decimal128(38, 0), pa.decimal256(76, 0), pa.decimal128(5, 0)])
def test_decimal_columns(dtype: Any) -> None:
    top = 10**dtype.precision - 1
    values = [top, -top, 0, 1, -1, top // 3, -(top // 7)]
    exact = Context(prec=80)
    array = pa.array([exact.create_decimal(Decimal(value)) for value in values], dtype)
    assert ints_of(array) == values
    assert ints_of(array.slice(2, 4)) == values[2:6]
    assert encode_decimals(IntArray.from_ints(values), None, dtype).equals(array)


@pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(40)])
def test_byte_columns(dtype: Any) -> None:
    values = [value for value in edge_values() if 0 <= value < 256**40][:60]
    array = pa.array([value.to_bytes(40, "big") for value in values], dtype)
    assert ints_of(array) == values
    assert ints_of(array.slice(3, 9)) == values[3:12]
    assert encode_binary(IntArray.from_ints(values), None, 40, dtype).equals(array)


def test_bytes_of_different_lengths() -> None:
    cells = [b"", b"\x00", b"\x01\x02", bytes(20) + b"\xff", b"\xff" * 17]
    values = [int.from_bytes(cell, "big") for cell in cells]
    assert ints_of(pa.array(cells, pa.binary())) == values
    sizes = np.array([1, 2, 3, 4, 17], np.int64)
    encoded = encode_binary(IntArray.from_ints(values), None, sizes, pa.binary())
    assert encoded.to_pylist() == [v.to_bytes(n, "big") for v, n in zip(values, sizes.tolist(), strict=True)]


def test_absent_items_are_null() -> None:
    values, present = IntArray.from_ints([5, 0, 7]), np.array([True, False, True])
    for array in (
        encode_text(values, present, None),
        encode_integers(values, present, pa.int64()),
        encode_decimals(values, present, pa.decimal128(9, 0)),
        encode_binary(values, present, 1, pa.binary(1)),
        encode_binary(values, present, 1, pa.binary()),
    ):
        array.validate(full=True)
        assert [None if cell is None else 1 for cell in array.to_pylist()] == [1, None, 1]


def test_empty_columns() -> None:
    for dtype in (pa.string(), pa.binary(), pa.binary(3), pa.int64(), pa.decimal128(9, 0)):
        assert read_column(pa.array([], dtype)).count == 0


def test_the_extension_checks_what_it_is_given() -> None:
    offsets, out = np.array([0, 2, 1], np.int64), np.zeros(2, np.uint8)
    widths = np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match="ascend"):
        _core.scan_text(b"12", offsets, 9, out, widths)
    with pytest.raises(ValueError, match="ascend"):
        _core.scan_text(b"12", np.array([0, 1, 3], np.int64), 9, out, widths)
    with pytest.raises(ValueError, match="notations"):
        _core.scan_text(b"12", np.array([0, 1, 2], np.int64), 9, out[:1], widths)
    narrow = np.zeros((1, 1), np.uint64)
    wide = str(2**64).encode()
    with pytest.raises(ValueError, match="too narrow"):
        _core.text_to_limbs(wide, np.array([0, len(wide)], np.int64), 0, np.ones(1, np.uint8), narrow, None)
    with pytest.raises(ValueError, match="too narrow"):
        _core.binary_to_limbs(bytes(9), np.array([0, 9], np.int64), 0, narrow)
    with pytest.raises(ValueError, match="fewer"):
        _core.binary_to_limbs(b"", np.array([0, 0], np.int64), 1, narrow)
    full = IntArray.from_ints([2**127]).limbs
    with pytest.raises(OverflowError, match="item 0"):
        _core.limbs_to_words(full, None, np.zeros((1, 2), np.uint64))
    with pytest.raises(OverflowError, match="item 0"):
        _core.limbs_to_binary(full, np.array([0, 3], np.int64), np.zeros(3, np.uint8))
