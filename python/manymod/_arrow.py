# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays as numpy arrays over the same memory, and back. pyarrow is imported on first use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manymod._extras import missing_extra

__all__ = [
    "Plain",
    "as_arrow",
    "binary_rows",
    "fixed_size_binary",
    "integers",
    "is_arrow",
    "is_text",
    "merged_nulls",
    "null_mask",
    "numeric_values",
    "numpy_type",
    "plain",
    "rechunk",
    "slices",
    "to_arrow",
    "validity",
    "variable",
    "wipe",
]


def is_arrow(value: Any) -> bool:
    """Whether `value` is a pyarrow Array or ChunkedArray; does not import pyarrow."""
    if not type(value).__module__.startswith("pyarrow"):
        return False
    import pyarrow as pa  # noqa: PLC0415

    return isinstance(value, (pa.Array, pa.ChunkedArray))


def as_arrow(name: str, value: Any) -> Any:
    """Return the pyarrow Array or ChunkedArray of `value`, None if it is neither nor offers one.

    Other libraries offer theirs by the PyCapsule interface. pyarrow is not imported for anything else.
    """
    if is_arrow(value):
        return value
    one, several = hasattr(value, "__arrow_c_array__"), hasattr(value, "__arrow_c_stream__")
    if not (one or several):
        return None
    if hasattr(value, "columns"):
        raise TypeError(f"{name}: {type(value).__name__} is a table: give one of its columns")
    pa = _pyarrow(f"{name}: {type(value).__name__}")
    return pa.array(value) if one else pa.chunked_array(value)


def to_arrow(column: Any, feature: str) -> Any:
    """The Arrow array of a column of polars or of an extension array of pandas."""
    pa = _pyarrow(feature)
    return column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column)


def is_text(array: Any) -> bool:
    """Whether an Arrow array has text."""
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _pyarrow(feature: str) -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra(feature, "arrow") from error
    return pa


class Plain(NamedTuple):
    """An array of one chunk, without encodings."""

    array: Any
    #: Lengths of the chunks that it had, None where it was no ChunkedArray.
    chunk_lengths: list[int] | None
    #: Whether its values are a copy, which nobody else has.
    copied: bool


def plain(column: Any) -> Plain:
    """Return an array of one chunk, with encodings removed.

    Extension types become their storage, dictionaries and runs their values, views large arrays; only those
    and several chunks cost a copy.
    """
    import pyarrow as pa  # noqa: PLC0415

    if not isinstance(column, pa.ChunkedArray):
        array, copied = _decoded(column)
        return Plain(array, None, copied)
    chunks = [_decoded(chunk) for chunk in column.chunks] or [_decoded(pa.array([], column.type))]
    lengths = [len(chunk) for chunk in column.chunks]
    if len(chunks) == 1:
        array, copied = chunks[0]
        return Plain(array, lengths, copied)
    array = pa.concat_arrays([chunk for chunk, _ in chunks])
    for chunk, copied in chunks:
        if copied:
            wipe(chunk)  # whether the values are secret is not known here
    return Plain(array, lengths, True)


def _decoded(array: Any) -> tuple[Any, bool]:
    """An array without encodings, and whether its values are a copy."""
    import pyarrow as pa  # noqa: PLC0415

    copied = False
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
            continue
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            from pyarrow import compute  # noqa: PLC0415

            array = compute.run_end_decode(array)
        elif str(array.type) in {"binary_view", "string_view"}:
            array = array.cast(pa.large_binary() if str(array.type) == "binary_view" else pa.large_string())
        else:
            return array, copied
        copied = True


def wipe(array: Any) -> None:
    """Zero the values of an array, not of views, that nobody else has.

    What pyarrow shares is immutable, and stays as it is.
    """
    values = array.buffers()[-1]
    if values is not None and values.size and values.is_mutable:
        np.frombuffer(values, np.uint8).fill(0)


def null_mask(array: Any) -> NDArray[np.bool_] | None:
    """Where an array is null, None if it is nowhere."""
    return ~array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None


def merged_nulls(masks: Iterable[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    """Where any of several arrays is null, given where each is (None: nowhere); None if none is anywhere."""
    merged: NDArray[np.bool_] | None = None
    for null in masks:
        if null is not None:
            merged = null if merged is None else merged | null
    return merged


def binary_rows(array: Any) -> NDArray[np.uint8]:
    """The memory of fixed_size_binary, ``uint8[N, W]``."""
    count, width = len(array), array.type.byte_width
    data = array.buffers()[1]
    if data is None or width == 0:
        return np.zeros((count, width), np.uint8)
    flat = np.frombuffer(data, np.uint8, count * width, array.offset * width)
    return flat.reshape(count, width)


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """The numpy type of an Arrow type of integers or floats; Arrow's own answer may import pandas."""
    import pyarrow as pa  # noqa: PLC0415

    letter = "f" if pa.types.is_floating(dtype) else "i" if pa.types.is_signed_integer(dtype) else "u"
    return np.dtype(f"{letter}{dtype.bit_width // 8}")


def numeric_values(array: Any) -> NDArray[Any]:
    """The memory of an array of integers or floats, 1-D."""
    dtype = numpy_type(array.type)
    data = array.buffers()[1]
    if data is None:
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)


def slices(array: Any) -> tuple[Any, NDArray[np.int64]]:
    """The data and the N + 1 offsets of large_binary or large_string."""
    _, offsets, data = array.buffers()
    if offsets is None or not len(array):  # without items there may be no offset either
        return b"", np.zeros(len(array) + 1, np.int64)
    return b"" if data is None else data, np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)


def validity(null: NDArray[np.bool_] | None) -> tuple[Any, int]:
    """The validity bitmap (None where nothing is null) and the number of nulls."""
    import pyarrow as pa  # noqa: PLC0415

    if null is None or not null.any():
        return None, 0
    return pa.py_buffer(np.packbits(~null, bitorder="little")), int(null.sum())


def fixed_size_binary(rows: NDArray[np.uint8], null: NDArray[np.bool_] | None) -> Any:
    """FixedSizeBinaryArray over the memory of ``uint8[N, W]``."""
    pa = _pyarrow("an Arrow array")
    bitmap, null_count = validity(null)
    data = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), [bitmap, data], null_count)


def integers(values: NDArray[Any], null: NDArray[np.bool_] | None) -> Any:
    """Int64 or uint64 Arrow array over the memory of `values`."""
    import pyarrow as pa  # noqa: PLC0415

    bitmap, null_count = validity(null)
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bitmap, data], null_count)


def variable(
    dtype: Any, offsets: NDArray[np.int64], data: Any, null: NDArray[np.bool_] | None, *, text: bool = False
) -> Any:
    """Binary, or text, over `data`: of type `dtype` if that is variable in length and 2 GiB fit it."""
    import pyarrow as pa  # noqa: PLC0415

    small, large = (pa.string(), pa.large_string()) if text else (pa.binary(), pa.large_binary())
    bitmap, null_count = validity(null)
    buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(large, len(offsets) - 1, buffers, null_count)
    return array.cast(small) if offsets[-1] < 1 << 31 and dtype != large else array


def rechunk(array: Any, lengths: list[int]) -> Any:
    """ChunkedArray of slices of `array` with these lengths."""
    import pyarrow as pa  # noqa: PLC0415

    starts = np.cumsum([0, *lengths])
    return pa.chunked_array([array.slice(s, n) for s, n in zip(starts, lengths, strict=False)], array.type)
