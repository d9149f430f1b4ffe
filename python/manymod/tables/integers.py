# SPDX-License-Identifier: Apache-2.0
"""The integers of Arrow columns as limbs, and limbs as Arrow columns; no cell becomes a Python int."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from manymod import _core
from manymod._arrow import (
    binary_rows,
    fixed_size_binary,
    null_mask,
    numeric_values,
    numpy_type,
    slices,
    validity,
)
from manymod._arrow_operands import HEXADECIMAL
from manymod._limbs import Limbs, Signs, limbs_for
from manymod._operand_kinds import magnitudes_in_place, twos_complement, widest_bits
from manymod.intarray import IntArray
from manymod.tables.columns import MAX_DECIMAL_DIGITS, column_kind, plain_array
from manymod.tables.json_rows import JsonNumber
from manymod.tables.notations import AUTO, array_said_itself, looks_hexadecimal, said_itself

__all__ = [
    "IntegerColumn",
    "encode_base64",
    "encode_binary",
    "encode_decimals",
    "encode_integers",
    "encode_text",
    "narrow",
    "read_cells",
    "read_column",
]


def narrow(limbs: Limbs, signs: Signs | None = None) -> IntArray:
    """An array that is no wider than its widest item."""
    width = limbs_for(widest_bits(limbs))
    narrow = limbs if width == limbs.shape[1] else np.ascontiguousarray(limbs[:, :width])
    return IntArray._make(narrow, signs if signs is not None and signs.any() else None)


def _where(mask: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return mask if mask.any() else None


class IntegerColumn:
    """The integers of one column of a batch.

    Attributes:
        count: number of rows.
        null: where a cell is null, None if none is.
        invalid: where a cell holds something else than an integer, None if none does.
        hexadecimal: where a cell is hexadecimal text, None for a column that is no text.
        misread: whether cells that are no integers would be some in hexadecimal notation.
    """

    count: int
    null: NDArray[np.bool_] | None = None
    invalid: NDArray[np.bool_] | None = None
    hexadecimal: NDArray[np.bool_] | None = None
    misread = False

    def widths(self) -> NDArray[np.uint32]:
        """Return the limbs that each row needs at most."""
        raise NotImplementedError

    def rows(self, start: int, stop: int) -> IntArray:
        """Return the integers of rows [start, stop); those of cells without one have no meaning."""
        raise NotImplementedError


class _Constant(IntegerColumn):
    """A column all of whose rows take up the same number of limbs."""

    width = 1

    def widths(self) -> NDArray[np.uint32]:
        return np.full(self.count, self.width, np.uint32)


class _Integers(_Constant):
    """Arrow integers of up to 64 bits."""

    def __init__(self, array: Any) -> None:
        self.count = len(array)
        self._values: NDArray[Any] = numeric_values(array)

    def rows(self, start: int, stop: int) -> IntArray:
        part = self._values[start:stop]
        if part.dtype.kind == "u":
            return IntArray._make(part.astype(np.uint64).reshape(-1, 1))
        magnitudes, negative = magnitudes_in_place(part.astype(np.int64))
        return IntArray._make(magnitudes.reshape(-1, 1), negative.view(np.uint8) if negative.any() else None)


class _Floats(_Integers):
    """Arrow floating-point numbers: whole ones, below the first that stands for other integers too."""

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        floats = self._values
        limit = 2.0 ** (np.finfo(floats.dtype).nmant + 1)
        with np.errstate(invalid="ignore"):
            whole = (np.abs(floats) < limit) & (floats == np.trunc(floats))
        self.invalid = _where(~whole)
        self._values = np.where(whole, floats, 0).astype(np.int64)


class _Decimals(_Constant):
    """Arrow decimals: two's complement words; those with a fraction are no integers.

    Those of a negative scale are multiples of a power of ten, and may have more digits than Arrow converts.
    """

    def __init__(self, array: Any) -> None:
        if array.type.bit_width < 128:
            array = array.cast(pa.decimal128(38, array.type.scale))
        all_below_one = array.type.scale >= array.type.precision
        if array.type.scale > 0 and not all_below_one:
            array = self._without_fractions(array)
        self.count = len(array)
        words = array.type.bit_width // 64
        flat = np.frombuffer(array.buffers()[1], np.uint64, self.count * words, array.offset * words * 8)
        self._words = flat.reshape(self.count, words)
        if all_below_one:  # Arrow rounds none of these
            self.invalid = _where(np.bitwise_or.reduce(self._words, axis=1) != 0)
        zeros = max(0, -array.type.scale)
        if zeros > MAX_DECIMAL_DIGITS:  # as texts of so many digits are none
            self.invalid, zeros = np.ones(self.count, np.bool_), 0
        self._factor = 10**zeros
        self.width = words + limbs_for(self._factor.bit_length()) if zeros else words

    def _without_fractions(self, array: Any) -> Any:
        """Return decimals of scale 0, and mark those that were not whole."""
        whole = pc.trunc(array)
        broken = pc.fill_null(pc.not_equal(whole, array), fill_value=False)
        self.invalid = _where(broken.to_numpy(zero_copy_only=False))
        return whole.cast(pa.decimal256(max(1, array.type.precision - array.type.scale), 0))

    def rows(self, start: int, stop: int) -> IntArray:
        words = self._words[start:stop]
        limbs, signs = np.empty_like(words), np.empty(len(words), np.uint8)
        _core.words_to_limbs(words, limbs, signs)
        read = narrow(limbs, signs)
        if self._factor == 1:
            return read
        return IntArray.from_ints([self._factor * value for value in read.to_ints()])


class _FixedBytes(_Constant):
    """Arrow fixed_size_binary: big-endian bytes."""

    def __init__(self, array: Any) -> None:
        self.count = len(array)
        self.width = limbs_for(8 * array.type.byte_width)
        self._bytes = binary_rows(array)

    def rows(self, start: int, stop: int) -> IntArray:
        limbs = np.empty((stop - start, self.width), np.uint64)
        _core.bytes_to_limbs(self._bytes[start:stop], limbs)
        return narrow(limbs)


class _Bytes(IntegerColumn):
    """Arrow binary of any length: big-endian bytes."""

    def __init__(self, array: Any) -> None:
        self.count = len(array)
        self._data, self._offsets = slices(array.cast(pa.large_binary()))

    def widths(self) -> NDArray[np.uint32]:
        widths: NDArray[np.uint32] = np.maximum(1, (np.diff(self._offsets) + 7) // 8).astype(np.uint32)
        return widths

    def rows(self, start: int, stop: int) -> IntArray:
        sizes = np.diff(self._offsets[start : stop + 1])
        limbs = np.empty((stop - start, limbs_for(8 * int(sizes.max(initial=0)))), np.uint64)
        _core.binary_to_limbs(self._data, self._offsets, start, limbs)
        return narrow(limbs)


class _Texts(IntegerColumn):
    """Arrow text in a notation."""

    def __init__(self, array: Any, notation: str = AUTO) -> None:
        self.count = len(array)
        text = array_said_itself(array.cast(pa.large_string()), notation)
        self._data, self._offsets = slices(text)
        self._notations = np.empty(self.count, np.uint8)
        self._widths = np.empty(self.count, np.uint32)
        arrays = (self._notations, self._widths)
        _core.scan_text(self._data, self._offsets, MAX_DECIMAL_DIGITS, *arrays)
        self.invalid = _where(self._notations == 0)
        self.hexadecimal = self._notations == HEXADECIMAL
        if notation == AUTO and self.invalid is not None:
            self.misread = looks_hexadecimal(text.filter(pa.array(self.invalid)))

    def widths(self) -> NDArray[np.uint32]:
        return self._widths

    def rows(self, start: int, stop: int) -> IntArray:
        width = int(self._widths[start:stop].max(initial=1))
        limbs, signs = np.empty((stop - start, width), np.uint64), np.empty(stop - start, np.uint8)
        _core.text_to_limbs(self._data, self._offsets, start, self._notations, limbs, signs)
        return narrow(limbs, signs)


_KINDS: dict[str, type[Any]] = {"integer": _Integers, "decimal": _Decimals, "float": _Floats}


def read_column(array: Any, notation: str = AUTO) -> IntegerColumn:
    """Return the integers of an Arrow array of a type that `column_kind` knows.

    Args:
        array: the cells.
        notation: how text is to be read, one of `NOTATIONS`.
    """
    array = plain_array(array)
    kind = column_kind(array.type)
    if kind == "bytes":
        found: IntegerColumn = (_FixedBytes if pa.types.is_fixed_size_binary(array.type) else _Bytes)(array)
    elif kind in {"text", "null"}:
        found = _Texts(array, notation)
    else:
        found = _KINDS[str(kind)](array)
    found.null = null_mask(array)
    return found


def read_cells(cells: Any, notation: str = AUTO) -> IntegerColumn:
    """Return the integers of `Batch.cells`: an Arrow array, or the values of JSON.

    Of JSON, text holds an integer or not, None is null, numbers are decimal, and anything else holds none.
    """
    if not isinstance(cells, list):
        return read_column(cells, notation)
    if notation != AUTO:
        cells = [
            said_itself(cell, notation)
            if isinstance(cell, str) and not isinstance(cell, JsonNumber)
            else cell
            for cell in cells
        ]
    try:
        found = read_column(pa.array(cells, pa.large_string()))
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):  # not all of them are text, or encodable
        texts = [None if cell is None else cell if _is_ascii(cell) else "" for cell in cells]
        found = read_column(pa.array(texts, pa.large_string()))
    found.misread = found.misread and notation == AUTO and _some_text_misread(cells)
    return found


def _some_text_misread(cells: list[Any]) -> bool:
    """Whether a string of JSON looks hexadecimal; a number such as 1e5 is no string."""
    texts = [cell for cell in cells if _is_ascii(cell) and not isinstance(cell, JsonNumber)]
    return looks_hexadecimal(pa.array(texts, pa.large_string()))


def _is_ascii(cell: object) -> bool:
    return isinstance(cell, str) and cell.isascii()


def _absent(present: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return None if present is None else ~present


def encode_text(
    values: IntArray,
    present: NDArray[np.bool_] | None,
    hexadecimal: NDArray[np.bool_] | None,
    min_digits: NDArray[np.uint32] | None = None,
) -> Any:
    """Return Arrow text of integers, null where they are not present.

    Args:
        values: the integers.
        present: None (all are) or bool[N].
        hexadecimal: None (none is) or bool[N]: which become 0x and hexadecimal digits.
        min_digits: hexadecimal digits at least.
    """
    offsets = np.empty(len(values) + 1, np.int64)
    signs = values._negative
    data = _core.limbs_to_text(values._limbs, signs, present, hexadecimal, min_digits, offsets)
    return _with_offsets(pa.large_string(), offsets, pa.py_buffer(data), present)


def _with_offsets(
    dtype: Any, offsets: NDArray[np.int64], data: Any, present: NDArray[np.bool_] | None
) -> Any:
    bitmap, nulls = validity(_absent(present))
    return pa.Array.from_buffers(dtype, len(offsets) - 1, [bitmap, pa.py_buffer(offsets), data], nulls)


def encode_binary(
    values: IntArray, present: NDArray[np.bool_] | None, sizes: NDArray[np.int64] | int, dtype: Any
) -> Any:
    """Return big-endian bytes of integers that are not negative, null where they are not present.

    Args:
        values: the integers.
        present: None (all are) or bool[N].
        sizes: bytes of every item, or of each.
        dtype: an Arrow type of bytes; a fixed-size one has `sizes` bytes.
    """
    if isinstance(sizes, int) and pa.types.is_fixed_size_binary(dtype):
        rows = np.empty((len(values), sizes), np.uint8)
        _core.limbs_to_bytes(values._limbs, rows)
        return fixed_size_binary(rows, _absent(present))
    offsets = np.zeros(len(values) + 1, np.int64)
    lengths = np.broadcast_to(np.asarray(sizes, np.int64), (len(values),))
    np.cumsum(lengths if present is None else np.where(present, lengths, 0), out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    _core.limbs_to_binary(values._limbs, offsets, data)
    return _with_offsets(pa.large_binary(), offsets, pa.py_buffer(data), present).cast(dtype)


def encode_base64(values: IntArray, present: NDArray[np.bool_] | None, sizes: NDArray[np.int64] | int) -> Any:
    """Return `encode_binary` as Base64."""
    cells = encode_binary(values, present, sizes, pa.large_binary()).to_pylist()
    texts = [None if cell is None else base64.b64encode(cell).decode() for cell in cells]
    return pa.array(texts, pa.large_string())


def encode_decimals(values: IntArray, present: NDArray[np.bool_] | None, dtype: Any) -> Any:
    """Return Arrow decimals, null where the integers are not present; all that are fit the type."""
    wide = dtype if dtype.bit_width >= 128 else pa.decimal128(38, 0)
    words = np.empty((len(values), wide.bit_width // 64), np.uint64)
    _core.limbs_to_words(values._limbs, values._negative, words)
    bitmap, nulls = validity(_absent(present))
    return pa.Array.from_buffers(wide, len(values), [bitmap, pa.py_buffer(words)], nulls).cast(dtype)


def encode_integers(values: IntArray, present: NDArray[np.bool_] | None, dtype: Any) -> Any:
    """Return Arrow integers, null where they are not present; all that are fit the type."""
    words = twos_complement(values._limbs[:, 0], values._negative)
    numbers = np.ascontiguousarray(words).astype(numpy_type(dtype))
    bitmap, nulls = validity(_absent(present))
    return pa.Array.from_buffers(dtype, len(numbers), [bitmap, pa.py_buffer(numbers)], nulls)
