# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays as numpy arrays over the same memory, and back. pyarrow is imported on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod._extras import missing_extra

__all__ = ["ArrowColumn", "fixed_size_binary", "integers", "is_arrow", "rechunk", "validity"]


def is_arrow(value: Any) -> bool:
    """Whether `value` is a pyarrow Array or ChunkedArray; does not import pyarrow."""
    if not type(value).__module__.startswith("pyarrow"):
        return False
    import pyarrow as pa  # noqa: PLC0415

    return isinstance(value, (pa.Array, pa.ChunkedArray))


@dataclass(frozen=True)
class ArrowColumn:
    """An Arrow column as numpy: ``uint8[N, W]`` big-endian, or a 1-D integer array, and where it is null."""

    values: NDArray[Any]
    null: NDArray[np.bool_] | None
    chunk_lengths: list[int] | None

    @classmethod
    def read(cls, column: Any, name: str) -> ArrowColumn:
        """Read a FixedSizeBinary or integer Array or ChunkedArray; only several chunks cost a copy."""
        import pyarrow as pa  # noqa: PLC0415

        chunk_lengths = None
        array = column
        if isinstance(column, pa.ChunkedArray):
            chunk_lengths = [len(chunk) for chunk in column.chunks]
            chunks = column.chunks or [pa.array([], column.type)]
            array = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_fixed_size_binary(array.type):
            values = _binary_rows(array)
        elif pa.types.is_integer(array.type):
            values = _integer_values(array)
        else:
            raise TypeError(
                f"{name}: Arrow type {array.type} is neither fixed_size_binary nor an integer type"
            )
        null = None
        if array.null_count:
            null = ~array.is_valid().to_numpy(zero_copy_only=False)
        return cls(values, null, chunk_lengths)


def _binary_rows(array: Any) -> NDArray[np.uint8]:
    count, width = len(array), array.type.byte_width
    data = array.buffers()[1]
    if data is None or width == 0:
        return np.zeros((count, width), np.uint8)
    flat = np.frombuffer(data, np.uint8, count * width, array.offset * width)
    return flat.reshape(count, width)


def _integer_values(array: Any) -> NDArray[Any]:
    import pyarrow as pa  # noqa: PLC0415

    signed = pa.types.is_signed_integer(array.type)
    dtype = np.dtype(f"{'i' if signed else 'u'}{array.type.bit_width // 8}")
    data = array.buffers()[1]
    if data is None:
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)


def validity(null: NDArray[np.bool_] | None) -> tuple[Any, int]:
    """The validity bitmap (None where nothing is null) and the number of nulls."""
    import pyarrow as pa  # noqa: PLC0415

    if null is None or not null.any():
        return None, 0
    return pa.py_buffer(np.packbits(~null, bitorder="little")), int(null.sum())


def fixed_size_binary(rows: NDArray[np.uint8], null: NDArray[np.bool_] | None) -> Any:
    """FixedSizeBinaryArray over the memory of ``uint8[N, W]``."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("an Arrow array", "arrow") from error

    bitmap, null_count = validity(null)
    data = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), [bitmap, data], null_count)


def integers(values: NDArray[Any], null: NDArray[np.bool_] | None) -> Any:
    """Int64 or uint64 Arrow array over the memory of `values`."""
    import pyarrow as pa  # noqa: PLC0415

    bitmap, null_count = validity(null)
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bitmap, data], null_count)


def rechunk(array: Any, lengths: list[int]) -> Any:
    """ChunkedArray of slices of `array` with these lengths."""
    import pyarrow as pa  # noqa: PLC0415

    starts = np.cumsum([0, *lengths])
    return pa.chunked_array([array.slice(s, n) for s, n in zip(starts, lengths, strict=False)], array.type)
