# SPDX-License-Identifier: Apache-2.0
"""Operands of every accepted kind, as batches in canonical form."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._arrow import ArrowColumn, is_arrow
from manymod._device_packages import importer_of
from manymod.errors import DeviceError
from manymod.intarray import (
    IntArray,
    Limbs,
    Signs,
    bytes_to_limbs,
    canonical_limbs,
    lengths_in_bits,
    limbs_for,
    refuse_mask,
    scan_ints,
)

__all__ = [
    "DLPACK_CUDA",
    "Binary",
    "Integers",
    "Kind",
    "LimbRows",
    "Operand",
    "Scalar",
    "Sequenced",
    "broadcast_row",
    "common_length",
    "operand",
]

#: Limbs and signs; the limbs are uint64[N, L], or a _core.DeviceLimbs of them in GPU memory.
Batch = tuple[Any, "Signs | None"]

_DLPACK_CPU = 1
#: kDLCUDA, kDLCUDAManaged
DLPACK_CUDA = (2, 13)


class Kind(Enum):
    """What an operand was given as, and so what the answer is made as."""

    SCALAR = "scalar"
    LIST = "list"
    OBJECTS = "1-D object array"
    INTARRAY = "IntArray"
    LIMBS = "uint64[N, L]"
    BYTES = "uint8[N, W]"
    INTEGERS = "1-D integer array"
    ARROW_BYTES = "Arrow fixed_size_binary"
    ARROW_INTEGERS = "Arrow integers"
    DEVICE_LIMBS = "uint64[N, L] in GPU memory"
    DEVICE_INTEGERS = "1-D uint64 array in GPU memory"


class Operand:
    """N integers, or one for every item (``count`` None)."""

    kind: Kind
    name: str
    count: int | None
    #: no item is wider
    bits: int
    #: False: no item is negative
    signed: bool = False
    #: limbs of rows() cost no memory
    direct: bool = False
    #: rows() returns memory of our own, which may be zeroed after use
    copies: bool = True
    #: answers are gmpy2.mpz
    mpz: bool = False
    null: NDArray[np.bool_] | None = None
    #: of a ChunkedArray
    chunk_lengths: list[int] | None = None
    #: makes the caller's own kind of array from a numpy array, or from a _core.DeviceLimbs
    wrap: Callable[[Any], Any] | None = None

    @property
    def width(self) -> int:
        """Limbs of a row."""
        return limbs_for(self.bits)

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Limbs and signs of some items; those of a `varied` operand `width` limbs wide."""
        raise NotImplementedError

    def varied(self) -> NDArray[np.uint32] | None:
        """Limbs that each item needs, where rows() can be asked for narrower rows than `width`."""
        return None

    def host_limbs(self) -> Limbs:
        """Limbs of all items, in the memory of the host."""
        limbs: Limbs = self.rows(0, self.count or 1, self.width)[0]
        return limbs

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        return self.bits


class Scalar(Operand):
    """One integer for every item."""

    kind = Kind.SCALAR
    count = None
    direct = True

    def __init__(self, name: str, value: int, mpz: bool = False) -> None:
        self.name = name
        self.value = value
        self.mpz = mpz
        self.bits = value.bit_length()
        self.signed = value < 0

    def rows(self, start: int, stop: int, width: int) -> Batch:  # noqa: ARG002
        """One row."""
        limbs = np.empty((1, width), np.uint64)
        signs = np.ones(1, np.uint8) if self.signed else None
        _core.ints_to_limbs((self.value,), 0, limbs, signs)
        return limbs, signs


class Sequenced(Operand):
    """A sequence of Python ints or mpz."""

    def __init__(self, name: str, values: Sequence[Any], kind: Kind = Kind.LIST) -> None:
        self.name = name
        self.kind = kind
        try:
            self.values, self.bits, self.signed, self.mpz = scan_ints(values)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        self.count = len(self.values)

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Convert these items."""
        limbs = np.empty((stop - start, width), np.uint64)
        signs = np.empty(stop - start, np.uint8) if self.signed else None
        _core.ints_to_limbs(self.values, start, limbs, signs)
        return limbs, signs

    def varied(self) -> NDArray[np.uint32]:
        """Limbs that each item needs."""
        widths = np.empty(len(self.values), np.uint32)
        _core.int_widths(self.values, widths)
        return widths


class LimbRows(Operand):
    """``uint64[N, L]``, used where it lies."""

    direct = True

    def __init__(self, name: str, limbs: Limbs, negative: Signs | None, kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.limbs = canonical_limbs(limbs)
        self.copies = self.limbs is not limbs
        self.negative = negative
        self.count = len(limbs)
        self.bits = 64 * self.limbs.shape[1]
        self.signed = negative is not None

    def rows(self, start: int, stop: int, width: int) -> Batch:  # noqa: ARG002
        """Views."""
        if stop - start == self.count:
            return self.limbs, self.negative
        return self.limbs[start:stop], None if self.negative is None else self.negative[start:stop]

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        return int(lengths_in_bits(self.limbs).max(initial=0))


class Binary(Operand):
    """``uint8[N, W]`` of big-endian bytes."""

    def __init__(self, name: str, data: NDArray[np.uint8], kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.data = data
        self.count = len(data)
        self.bits = 8 * data.shape[1]

    def rows(self, start: int, stop: int, width: int) -> Batch:  # noqa: ARG002
        """Convert these items."""
        return bytes_to_limbs(self.data[start:stop]), None

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        limbs = bytes_to_limbs(self.data)
        bits = int(lengths_in_bits(limbs).max(initial=0))
        limbs.fill(0)
        return bits


class Integers(Operand):
    """A 1-D array of numpy integers."""

    def __init__(self, name: str, data: NDArray[Any], kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.data = data
        self.count = len(data)
        self.bits = 64
        self.signed = data.dtype.kind == "i"

    def rows(self, start: int, stop: int, width: int) -> Batch:  # noqa: ARG002
        """Convert these items."""
        part = self.data[start:stop]
        if not self.signed:
            return np.array(part, np.uint64, order="C").reshape(-1, 1), None
        values = np.array(part, np.int64, order="C")
        negative = values < 0
        magnitudes = values.view(np.uint64)
        np.negative(magnitudes, out=magnitudes, where=negative)
        return magnitudes.reshape(-1, 1), negative.view(np.uint8)

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        if not len(self.data):
            return 0
        return max(abs(int(self.data.min())), abs(int(self.data.max()))).bit_length()


def _from_numpy(name: str, array: NDArray[Any]) -> Operand:
    code = array.dtype.kind
    if array.ndim == 0 and code in "iubO":
        return Scalar(name, _index(name, array.item()))
    if array.ndim == 1 and code in "iub":
        return Integers(name, array, Kind.INTEGERS)
    if array.ndim == 1 and code == "O":
        return Sequenced(name, array.tolist(), Kind.OBJECTS)
    if array.ndim == 2 and code == "u":
        if array.dtype.itemsize == 8:
            return LimbRows(name, array, None, Kind.LIMBS)
        if array.dtype.itemsize == 1:
            return Binary(name, array, Kind.BYTES)
    raise TypeError(
        f"{name}: {array.dtype}{list(array.shape)} is none of uint64[N, L] limbs, uint8[N, W] big-endian "
        "bytes, 1-D integers, 1-D objects"
    )


def _from_arrow(name: str, column: Any) -> Operand:
    read = ArrowColumn.read(column, name)
    result: Operand
    if read.values.ndim == 2:
        result = Binary(name, read.values, Kind.ARROW_BYTES)
    else:
        result = Integers(name, read.values, Kind.ARROW_INTEGERS)
    result.null = read.null
    result.chunk_lengths = read.chunk_lengths
    return result


def _from_dlpack(name: str, producer: Any) -> Operand:
    device = producer.__dlpack_device__()[0]
    if device in DLPACK_CUDA:
        from manymod._device import device_operand  # noqa: PLC0415

        return device_operand(name, producer)
    if device != _DLPACK_CPU:
        raise DeviceError(f"{name} is on DLPack device type {int(device)}, neither the CPU nor CUDA")
    result = _from_numpy(name, np.from_dlpack(producer))
    result.wrap = importer_of(producer)
    return result


def operand(name: str, value: Any) -> Operand:
    """The operand that `value` stands for.

    Raises:
        TypeError: if it is of no accepted kind, or has an element that is not an integer.
    """
    if isinstance(value, (int, np.integer, np.bool_)):
        return Scalar(name, int(value))
    if isinstance(value, (list, tuple)):
        return Sequenced(name, value)
    refuse_mask(name, value)
    if isinstance(value, np.ndarray):
        return _from_numpy(name, value)
    if isinstance(value, IntArray):
        return LimbRows(name, value._limbs, value._negative, Kind.INTARRAY)
    if is_arrow(value):
        return _from_arrow(name, value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(name, value)
    if hasattr(type(value), "__index__"):
        return Scalar(name, _index(name, value), _is_mpz(value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return Sequenced(name, value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: {type(value).__name__} has no fixed order or length: wrap it in list(...)")
    raise TypeError(
        f"{name}: {type(value).__name__} is neither an integer nor a batch of integers (list, IntArray, "
        "numpy, Arrow or DLPack array; for bytes see IntArray.from_bytes)"
    )


def _index(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _is_mpz(value: Any) -> bool:
    gmpy2 = sys.modules.get("gmpy2")
    return gmpy2 is not None and isinstance(value, gmpy2.mpz)


def _is_row(item: Operand) -> bool:
    """Whether it is one integer given as a row of a 2-D array."""
    return item.count == 1 and item.kind in {Kind.LIMBS, Kind.BYTES, Kind.DEVICE_LIMBS}


def broadcast_row(item: Operand, count: int | None) -> None:
    """Let one row of a 2-D array, ``[1, L]``, stand for every one of `count` items."""
    if count != 1 and _is_row(item):
        item.count = None


def _hint(item: Operand, other: Operand) -> str:
    """What may have been meant where lengths differ."""
    for array in (item, other):
        if array.kind in {Kind.INTEGERS, Kind.DEVICE_INTEGERS}:
            return (
                f" ({array.name} is a 1-D array, so that many small integers; the limbs of one big integer "
                "are an array uint64[1, L])"
            )
    if item.count == 1 or other.count == 1:
        return " (for one integer beside every item give it as such, not as a sequence)"
    return ""


def common_length(operands: Sequence[Operand]) -> int | None:
    """Length of the batch, None if all operands are scalars; single rows of 2-D arrays become scalars.

    Raises:
        ValueError: if two operands have different lengths.
    """
    longer = next((item.count for item in operands if item.count is not None and not _is_row(item)), 1)
    for item in operands:
        broadcast_row(item, longer)
    first: Operand | None = None
    for item in operands:
        if item.count is None:
            continue
        if first is None:
            first = item
        elif item.count != first.count:
            raise ValueError(
                f"lengths differ: {first.name} has {first.count} items, {item.name} has {item.count}"
                + _hint(first, item)
            )
    return None if first is None else first.count
