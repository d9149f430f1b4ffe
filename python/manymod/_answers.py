# SPDX-License-Identifier: Apache-2.0
"""Answers of the same kind as the operands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from manymod import _arrow, _core
from manymod._answer import Answer, check_writable
from manymod._arrow_answers import ArrowOverArray, DecimalsAnswer, NullsAnswer, TextAnswer
from manymod._arrow_operands import ArrowText
from manymod._device import DeviceRows, check_one_device
from manymod._device_answer import DeviceAnswer, overlaps_on_device
from manymod._limbs import Limbs, Signs
from manymod._operand_kinds import Kind, Operand, twos_complement
from manymod.intarray import IntArray

__all__ = ["answer_for", "check_apart"]


def _to_objects(limbs: Limbs, signs: Signs | None, mpz: bool) -> list[Any]:
    return _core.limbs_to_mpz(limbs, signs) if mpz else _core.limbs_to_ints(limbs, signs)


class _ScalarAnswer(Answer):
    of_objects = True

    def __init__(self, mpz: bool) -> None:
        self.mpz = mpz
        self.value: Any = 0

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:  # noqa: ARG002
        self.value = _to_objects(limbs, signs, self.mpz)[0]

    def store_objects(self, values: list[Any]) -> None:
        self.value = values[0]

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        return self.value


class _ListAnswer(Answer):
    of_objects = True

    def __init__(self, count: int, mpz: bool, out: Any) -> None:
        self.mpz = mpz
        if out is not None and (not isinstance(out, list) or len(out) != count):
            raise ValueError(f"out must be a list of {count} elements, {_described(out)}")
        self.out = out
        self.values: list[Any] = []

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:  # noqa: ARG002
        part = _to_objects(limbs, signs, self.mpz)
        if self.values:
            self.values.extend(part)
        else:
            self.values = part

    def store_objects(self, values: list[Any]) -> None:
        self.values = values

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        if null is not None:
            for i in np.flatnonzero(null):
                self.values[i] = None
        if self.out is None:
            return self.values
        self.out[:] = self.values
        return self.out


class _ObjectsAnswer(_ListAnswer):
    def __init__(self, count: int, mpz: bool, out: Any) -> None:
        super().__init__(count, mpz, None)
        self.objects = np.empty(count, object) if out is None else _checked_array(out, (count,), object)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        self.objects[:] = super().finish(null)
        return self.objects


class _LimbsAnswer(Answer):
    direct = True

    def __init__(self, count: int, width: int, out: Any, inputs: Sequence[Any]) -> None:
        if out is None:
            self.limbs = np.empty((count, width), np.uint64)
        else:
            self.limbs = _checked_array(out, (count, width), np.uint64)
            _check_writable_rows(self.limbs)
            _check_overlap(self.limbs, inputs)

    def buffers(self, start: int, stop: int, width: int, signed: bool) -> tuple[Limbs, Signs | None]:  # noqa: ARG002
        return self.limbs[start:stop], np.empty(stop - start, np.uint8) if signed else None

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        pass

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        return self.limbs


class _IntArrayAnswer(_LimbsAnswer):
    def __init__(self, count: int, width: int, out: Any, inputs: Sequence[Any]) -> None:
        if out is not None and not isinstance(out, IntArray):
            raise ValueError(f"out must be an IntArray, {_described(out)}")
        super().__init__(count, width, None if out is None else out.limbs, inputs)
        self.out = out
        self.signs: Signs | None = None

    def buffers(self, start: int, stop: int, width: int, signed: bool) -> tuple[Limbs, Signs | None]:  # noqa: ARG002
        if signed and self.signs is None:
            self.signs = np.zeros(len(self.limbs), np.uint8)
        return self.limbs[start:stop], self.signs[start:stop] if self.signs is not None else None

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        signs = self.signs if self.signs is not None and self.signs.any() else None
        if self.out is None:
            return IntArray._make(self.limbs, signs)
        self.out._set_signs(signs)
        return self.out


class _BytesAnswer(Answer):
    def __init__(self, count: int, bits: int, out: Any, inputs: Sequence[Any]) -> None:
        length = max(1, (bits + 7) // 8)
        if out is None:
            self.rows = np.empty((count, length), np.uint8)
        else:
            self.rows = _checked_array(out, (count, length), np.uint8)
            _check_overlap(self.rows, inputs)
            if self.rows.strides[1] != 1 and length > 1:
                raise ValueError("out must have contiguous rows")

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:  # noqa: ARG002
        _core.limbs_to_bytes(limbs, self.rows[start:stop])

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        return self.rows


class _IntegersAnswer(Answer):
    def __init__(self, count: int, dtype: Any, out: Any, inputs: Sequence[Any]) -> None:
        if out is None:
            self.values = np.empty(count, dtype)
        else:
            self.values = _checked_array(out, (count,), dtype)
            _check_overlap(self.values, inputs)

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        self.values[start:stop] = twos_complement(limbs[:, 0], signs).view(self.values.dtype)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        return self.values


class _MaskedAnswer(Answer):
    """A masked array where there are nulls."""

    def __init__(self, inner: _IntegersAnswer) -> None:
        self.inner = inner

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        self.inner.store(start, stop, limbs, signs)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        values = self.inner.finish(None)
        return values if null is None or not null.any() else ma.MaskedArray(values, null)


class _RechunkedAnswer(Answer):
    """A ChunkedArray with the chunks of the operand."""

    def __init__(self, inner: Answer, chunk_lengths: list[int]) -> None:
        self.inner = inner
        self.chunk_lengths = chunk_lengths

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        self.inner.store(start, stop, limbs, signs)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        return _arrow.rechunk(self.inner.finish(null), self.chunk_lengths)


class _WrappedAnswer(Answer):
    """The kind of array or column of the package that produced the operand."""

    def __init__(self, inner: Answer, wrap: Any) -> None:
        self.inner = inner
        self.wrap = wrap
        self.direct = inner.direct

    def buffers(self, start: int, stop: int, width: int, signed: bool) -> tuple[Any, Signs | None]:
        return self.inner.buffers(start, stop, width, signed)

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        self.inner.store(start, stop, limbs, signs)

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        return self.wrap(self.inner.finish(null))


def _described(out: Any) -> str:
    size = f" of {len(out)}" if hasattr(out, "__len__") else ""
    return f"not {type(out).__name__}{size}"


def _checked_array(out: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    if not isinstance(out, np.ndarray):
        raise ValueError(f"out must be a numpy array {np.dtype(dtype)}{list(shape)}, {_described(out)}")
    if out.shape != shape or out.dtype != dtype:
        expected = f"{np.dtype(dtype)}{list(shape)}"
        raise ValueError(f"out must be {expected}, not {out.dtype}{list(out.shape)}")
    check_writable(out)
    return out


def _check_writable_rows(limbs: Limbs) -> None:
    count, width = limbs.shape
    inner = width == 1 or limbs.strides[1] == 8
    outer = count <= 1 or (limbs.strides[0] >= 8 * width and limbs.strides[0] % 8 == 0)
    if not (inner and outer and limbs.flags.aligned):
        raise ValueError("out must have contiguous rows in ascending order")


def _check_overlap(out: NDArray[Any], inputs: Sequence[Any]) -> None:
    """Each run reads its items before it writes them: only the very same array may be read and written."""
    for array in inputs:
        if array is out or not np.may_share_memory(array, out):
            continue
        start, out_start = (a.__array_interface__["data"][0] for a in (array, out))
        if start != out_start or array.strides != out.strides or array.shape != out.shape:
            raise ValueError("out overlaps an operand without being exactly the same array")


def check_apart(out: Any, operands: Sequence[Operand]) -> None:
    """Raise ValueError if `out` overlaps an operand, also if it is one."""
    into = out.limbs if isinstance(out, IntArray) else out
    if isinstance(into, np.ndarray):
        overlaps = any(np.may_share_memory(into, array) for array in _input_arrays(operands))
    else:
        overlaps = overlaps_on_device(out, operands)
    if overlaps:
        raise ValueError("out overlaps an operand")


def _input_arrays(operands: Sequence[Operand]) -> list[Any]:
    arrays = []
    for item in operands:
        array = getattr(item, "limbs", None)
        array = getattr(item, "data", None) if array is None else array
        if array is not None:
            arrays.append(array)
    return arrays


def _check_fits(source: Operand, modulus: Operand, greatest: int, kind: str) -> None:
    """Raise ValueError unless residues of the modulus, which are below it, are at most `greatest`."""
    bits = modulus.exact_bits()
    if (1 << bits) - 2 <= greatest:
        return
    may_fit = bits <= greatest.bit_length() + 1
    if may_fit and max(_core.limbs_to_ints(modulus.host_limbs(), None)) - 1 <= greatest:
        return
    raise ValueError(
        f"{modulus.name} has {bits} bits, so results do not fit {kind}, the kind for {source.name}: "
        "give that as a list, an IntArray or limbs"
    )


def _stated_bits(modulus: Operand) -> int:
    """Bits of moduli, those of an array by its width."""
    return modulus.bits if modulus.elements is None else modulus.exact_bits()


def _integer_dtype(source: Operand, modulus: Operand) -> Any:
    """The dtype of an answer of integers, if residues of the modulus fit."""
    dtype = np.int64 if source.signed else np.uint64
    _check_fits(source, modulus, int(np.iinfo(dtype).max), np.dtype(dtype).name)
    return dtype


_DEVICE_KINDS = {Kind.DEVICE_LIMBS, Kind.DEVICE_INTEGERS}
_UNSIGNED_KINDS = {Kind.LIMBS, Kind.BYTES, Kind.ARROW_BYTES, Kind.ARROW_VARIABLE_BYTES, *_DEVICE_KINDS}
_INTEGER_KINDS = {Kind.INTEGERS, Kind.COLUMN_INTEGERS, Kind.ARROW_INTEGERS}
_ARROW_KINDS = {
    Kind.ARROW_BYTES,
    Kind.ARROW_VARIABLE_BYTES,
    Kind.ARROW_INTEGERS,
    Kind.ARROW_DECIMALS,
    Kind.ARROW_TEXT,
    Kind.ARROW_NULLS,
}
_NULLABLE_KINDS = {Kind.LIST, Kind.OBJECTS, Kind.COLUMN_INTEGERS, *_ARROW_KINDS}


def _has_negative(modulus: Operand) -> bool:
    if not modulus.signed:
        return False
    data = getattr(modulus, "data", None)
    signs = getattr(modulus, "negative", None)
    if data is not None:
        return bool((data < 0).any())
    return bool(signs.any()) if signs is not None else True


def answer_for(count: int | None, operands: Sequence[Operand], modulus: Operand, out: Any) -> Answer:
    """An answer of the kind of the first operand that is not a scalar.

    Raises:
        ValueError: if that kind cannot hold the results, or `out` does not fit.
    """
    source = next((item for item in operands if item.count is not None), operands[0])
    kind = source.kind
    if count is None:
        if out is not None:
            raise ValueError("out cannot be used where all operands are scalars")
        return _ScalarAnswer(any(item.mpz for item in operands) and "gmpy2" in sys.modules)
    unsigned = kind in _UNSIGNED_KINDS or (kind in _INTEGER_KINDS and not source.signed)
    if unsigned and _has_negative(modulus):
        raise ValueError(
            f"{modulus.name} is negative, and so would results be, which {kind.value} cannot hold"
        )
    nulls = any(item.null is not None for item in operands)
    if nulls and any(isinstance(item, DeviceRows) for item in operands):
        raise ValueError("an operand has nulls, which have no place beside arrays in GPU memory")
    if nulls and kind not in _NULLABLE_KINDS:
        raise ValueError(f"an operand has nulls, which results as {kind.value} cannot hold")
    check_one_device(operands)
    answer = _make(count, source, modulus, out, operands)
    if source.wrap is None or out is not None or kind in _DEVICE_KINDS:
        return answer
    return _WrappedAnswer(answer, source.wrap)


def _make(count: int, source: Operand, modulus: Operand, out: Any, operands: Sequence[Operand]) -> Answer:
    kind, width = source.kind, modulus.width
    if isinstance(source, DeviceRows):
        if kind is Kind.DEVICE_INTEGERS:
            _integer_dtype(source, modulus)
        return DeviceAnswer(count, source, modulus, out, operands)
    inputs = [] if out is None else _input_arrays(operands)
    if kind is Kind.LIST:
        return _ListAnswer(count, source.mpz, out)
    if kind is Kind.OBJECTS:
        return _ObjectsAnswer(count, source.mpz, out)
    if kind is Kind.LIMBS:
        return _LimbsAnswer(count, width, out, inputs)
    if kind is Kind.INTARRAY:
        return _IntArrayAnswer(count, width, out, inputs)
    if kind in _ARROW_KINDS:
        if out is not None:
            raise ValueError("out cannot be used with Arrow operands: Arrow arrays do not change")
        answer = _make_arrow(count, source, modulus)
        return answer if source.chunk_lengths is None else _RechunkedAnswer(answer, source.chunk_lengths)
    if kind is Kind.BYTES:
        return _BytesAnswer(count, _stated_bits(modulus), out, inputs)
    integers = _IntegersAnswer(count, _integer_dtype(source, modulus), out, inputs)
    return _MaskedAnswer(integers) if kind is Kind.COLUMN_INTEGERS else integers


def _make_arrow(count: int, source: Operand, modulus: Operand) -> Answer:
    if isinstance(source, ArrowText):
        return TextAnswer(source)
    if source.kind is Kind.ARROW_NULLS:
        return NullsAnswer(count)
    if source.kind is Kind.ARROW_DECIMALS:
        digits = 76 if source.arrow_type.bit_width > 128 else 38
        _check_fits(source, modulus, 10**digits - 1, f"decimals of {digits} digits")
        return DecimalsAnswer(count, 256 if digits == 76 else 128)
    inner: Answer
    if source.kind is Kind.ARROW_INTEGERS:
        inner = _IntegersAnswer(count, _integer_dtype(source, modulus), None, [])
    else:
        inner = _BytesAnswer(count, _stated_bits(modulus), None, [])
    return ArrowOverArray(inner, source.arrow_type)
