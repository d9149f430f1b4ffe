# SPDX-License-Identifier: Apache-2.0
"""Answers that are Arrow arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _arrow, _core
from manymod._answer import Answer
from manymod._arrow_operands import ArrowText
from manymod._limbs import Limbs, Signs

__all__ = ["ArrowOverArray", "DecimalsAnswer", "NullsAnswer", "TextAnswer"]


class ArrowOverArray(Answer):
    """Arrow over the memory of a numpy answer: ``uint8[N, W]``, or 1-D integers."""

    def __init__(self, inner: Answer, arrow_type: Any) -> None:
        self.inner = inner
        self.arrow_type = arrow_type

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Keep these results."""
        self.inner.store(start, stop, limbs, signs)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        """Return integers, or binary that is of fixed size where the operand is."""
        import pyarrow as pa  # noqa: PLC0415

        values = self.inner.finish(None)
        if values.ndim == 1:
            return _arrow.integers(values, null)
        if pa.types.is_fixed_size_binary(self.arrow_type):
            return _arrow.fixed_size_binary(values, null)
        offsets = np.arange(len(values) + 1, dtype=np.int64) * values.shape[1]
        return _arrow.variable(self.arrow_type, offsets, values.reshape(-1), null)


class TextAnswer(Answer):
    """Text, hexadecimal where that of the operand is."""

    def __init__(self, source: ArrowText) -> None:
        self.source = source
        self.offsets = np.zeros(len(source.hexadecimal) + 1, np.int64)
        self.parts: list[bytes] = []

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Convert these results."""
        ends = np.empty(stop - start + 1, np.int64)
        hexadecimal = self.source.hexadecimal[start:stop]
        self.parts.append(_core.limbs_to_text(limbs, signs, None, hexadecimal, None, ends))
        self.offsets[start + 1 : stop + 1] = ends[1:] + self.offsets[start]

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        """Return the array."""
        return _arrow.variable(self.source.arrow_type, self.offsets, b"".join(self.parts), null, text=True)


class DecimalsAnswer(Answer):
    """Decimals of the most digits that the operand's width has: 38, or 76."""

    def __init__(self, count: int, bit_width: int) -> None:
        self.words = np.empty((count, bit_width // 64), np.uint64)

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Convert these results."""
        _core.limbs_to_words(limbs, signs, self.words[start:stop])

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        """Return the array."""
        import pyarrow as pa  # noqa: PLC0415

        dtype = pa.decimal128(38, 0) if self.words.shape[1] == 2 else pa.decimal256(76, 0)
        bitmap, null_count = _arrow.validity(null)
        buffers = [bitmap, pa.py_buffer(self.words)]
        return pa.Array.from_buffers(dtype, len(self.words), buffers, null_count)


class NullsAnswer(Answer):
    """What comes of nulls alone."""

    def __init__(self, count: int) -> None:
        self.count = count

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Keep nothing."""

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        """Return as many nulls."""
        import pyarrow as pa  # noqa: PLC0415

        return pa.nulls(self.count)
