# SPDX-License-Identifier: Apache-2.0
"""Operands of Arrow arrays: integers, decimals, text and big-endian bytes. No cell becomes a Python int."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _arrow, _core
from manymod._limbs import limbs_for
from manymod._operand_kinds import (
    Batch,
    Binary,
    Integers,
    Kind,
    LimbRows,
    Operand,
    bits_of_copy,
    widest_bits,
)

__all__ = ["HEXADECIMAL", "MAX_DECIMAL_DIGITS", "ArrowText", "arrow_operand"]

#: Most digits of a decimal text: conversion takes quadratic time, so that longer ones could stall a call.
#: Hexadecimal text has no limit.
MAX_DECIMAL_DIGITS = 100_000

#: What `_core.scan_text` finds for a hexadecimal text; 0 stands for a text that is no integer.
HEXADECIMAL = 2

#: Texts that are converted at a time where only their lengths are asked for.
_BLOCK = 1 << 14


class ArrowBytes(Operand):
    """Binary of any length: big-endian bytes."""

    kind = Kind.ARROW_VARIABLE_BYTES

    def __init__(self, name: str, array: Any) -> None:
        import pyarrow as pa  # noqa: PLC0415

        self.name = name
        self.count = len(array)
        self._data, self._offsets = _arrow.slices(array.cast(pa.large_binary()))
        self._sizes = np.diff(self._offsets)
        self.bits = 8 * int(self._sizes.max(initial=0))

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Convert these items."""
        limbs = np.empty((stop - start, width), np.uint64)
        _core.binary_to_limbs(self._data, self._offsets, start, limbs)
        return limbs, None

    def varied(self) -> NDArray[np.uint32]:
        """Limbs that each item needs."""
        widths: NDArray[np.uint32] = np.maximum(1, (self._sizes + 7) // 8).astype(np.uint32)
        return widths

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        return bits_of_copy(self.host_limbs())


class ArrowText(Operand):
    """Text: decimal, or hexadecimal after 0x, with an optional sign.

    Attributes:
        hexadecimal: which items are hexadecimal.
    """

    kind = Kind.ARROW_TEXT

    def __init__(self, name: str, array: Any) -> None:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import compute  # noqa: PLC0415

        self.name = name
        self.count = len(array)
        wide = array.cast(pa.large_string())
        self._data, self._offsets = _arrow.slices(wide)
        self._notations = np.empty(len(array), np.uint8)
        self._widths = np.empty(len(array), np.uint32)
        scanned = (self._notations, self._widths)
        _core.scan_text(self._data, self._offsets, MAX_DECIMAL_DIGITS, *scanned)
        self._check(wide)
        self.hexadecimal: NDArray[np.bool_] = self._notations == HEXADECIMAL
        minus = compute.any(compute.match_substring(wide, "-")).as_py()
        self.signed = bool(minus)
        self.bits = self._bits_of_widest()

    def _check(self, array: Any) -> None:
        wrong = self._notations == 0
        if wrong.any():
            item = int(np.argmax(wrong))
            text = array[item].as_py()
            if len(text) > MAX_DECIMAL_DIGITS:
                raise ValueError(
                    f"{self.name}: item {item} has {len(text)} characters, more than {MAX_DECIMAL_DIGITS}: "
                    "give long numbers as hexadecimal, after 0x"
                )
            raise ValueError(
                f"{self.name}: item {item} is {text[:40]!r}, neither decimal nor hexadecimal after 0x"
            )

    def _bits_of_widest(self) -> int:
        """Bits of the widest item.

        The known widths are bounds, too high by one limb at most. Blocks with an item that may be the widest
        are converted to find out.
        """
        widest = int(self._widths.max(initial=1))
        bits = 0
        for start in range(0, len(self._widths), _BLOCK):
            stop = min(start + _BLOCK, len(self._widths))
            if int(self._widths[start:stop].max()) >= widest - 1:
                limbs, _ = self.rows(start, stop, int(self._widths[start:stop].max()))
                bits = max(bits, bits_of_copy(limbs))
        return bits

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Convert these items."""
        room = max(width, int(self._widths[start:stop].max(initial=1)))
        limbs = np.empty((stop - start, room), np.uint64)
        signs = np.empty(stop - start, np.uint8)
        _core.text_to_limbs(self._data, self._offsets, start, self._notations, limbs, signs)
        return limbs[:, :width], signs if self.signed else None

    def varied(self) -> NDArray[np.uint32]:
        """Limbs that each item needs."""
        return np.minimum(self._widths, np.uint32(self.width))


class _ArrowNulls(Operand):
    """An array of Arrow's type ``null``: all of its items are null."""

    kind = Kind.ARROW_NULLS
    bits = 0

    def __init__(self, name: str, array: Any) -> None:
        self.name = name
        self.count = len(array)

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Zeros in place of nulls; no result depends on them."""
        return np.zeros((stop - start, width), np.uint64), None


def _decimals(name: str, array: Any) -> LimbRows:
    count, width = len(array), array.type.bit_width // 64
    data = array.buffers()[1]
    words = np.zeros((count, width), np.uint64)
    if data is not None:
        words = np.frombuffer(data, np.uint64, count * width, 8 * array.offset * width).reshape(count, width)
    limbs, signs = np.empty_like(words), np.empty(count, np.uint8)
    _core.words_to_limbs(words, limbs, signs)
    narrow = np.ascontiguousarray(limbs[:, : limbs_for(widest_bits(limbs))])
    if not np.may_share_memory(narrow, limbs):
        limbs.fill(0)  # whether they are secret is not known here
    result = LimbRows(name, narrow, signs if signs.any() else None, Kind.ARROW_DECIMALS)
    result.copies = True
    return result


def _widened(array: Any) -> Any:
    """Booleans as integers, short decimals as those of 128 bits; any other array itself."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_boolean(array.type):
        return array.cast(pa.uint8())
    if pa.types.is_decimal(array.type) and array.type.scale == 0 and array.type.bit_width < 128:
        return array.cast(pa.decimal128(38, 0))
    return array


def _without_nulls(array: Any) -> Any:
    """Zeros in place of nulls, under which Arrow leaves any value; an array without nulls itself."""
    import pyarrow as pa  # noqa: PLC0415

    dtype, types = array.type, pa.types
    if not array.null_count:
        return array
    if types.is_fixed_size_binary(dtype):
        zero = pa.scalar(bytes(dtype.byte_width), dtype)
    elif types.is_binary(dtype) or types.is_large_binary(dtype):
        zero = pa.scalar(b"", dtype)
    elif types.is_string(dtype) or types.is_large_string(dtype):
        zero = pa.scalar("0", dtype)
    elif types.is_integer(dtype) or types.is_decimal(dtype):
        zero = pa.scalar(0, dtype)
    else:
        return array
    return array.fill_null(zero)


def _why_not(dtype: Any) -> str:
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_floating(dtype):
        return "holds floats, which are exact up to 2^53 alone: cast it to an integer type"
    if pa.types.is_decimal(dtype):
        return "holds fractions: cast it to scale 0"
    return "is none of integers, decimals of scale 0, text, big-endian binary, and dictionaries of these"


def arrow_operand(name: str, column: Any) -> Operand:
    """Return the operand of a pyarrow Array or ChunkedArray.

    Raises:
        TypeError: if its type holds no integers.
        ValueError: if an item of text is no integer.
    """
    import pyarrow as pa  # noqa: PLC0415

    array, chunk_lengths, copied = _arrow.plain(column)
    dtype, types = array.type, pa.types
    null = _arrow.null_mask(array)
    for convert in (_widened, _without_nulls):
        before, array = array, convert(array)
        if array is not before:
            if copied:
                _arrow.wipe(before)
            copied = True
    result: Operand
    if types.is_integer(dtype) or types.is_boolean(dtype):
        result = Integers(name, _arrow.numeric_values(array), Kind.ARROW_INTEGERS)
    elif types.is_fixed_size_binary(dtype):
        result = Binary(name, _arrow.binary_rows(array), Kind.ARROW_BYTES)
    elif types.is_binary(dtype) or types.is_large_binary(dtype):
        result = ArrowBytes(name, array)
    elif types.is_string(dtype) or types.is_large_string(dtype):
        result = ArrowText(name, array)
    elif types.is_decimal(dtype) and dtype.scale == 0:
        result = _decimals(name, array)
    elif types.is_null(dtype):
        result = _ArrowNulls(name, array)
    else:
        raise TypeError(f"{name}: Arrow type {dtype} {_why_not(dtype)}")
    result.arrow_type = dtype
    result.null = null
    result.chunk_lengths = chunk_lengths
    result.decoded = array if copied else None
    return result
