# SPDX-License-Identifier: Apache-2.0
"""The classes of operands in host memory: what each kind of batch needs to become limbs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _arrow, _core
from manymod._limbs import (
    Limbs,
    Signs,
    bytes_to_limbs,
    canonical_limbs,
    lengths_in_bits,
    limbs_for,
    scan_ints,
)

__all__ = [
    "Batch",
    "Binary",
    "Integers",
    "Kind",
    "LimbRows",
    "Operand",
    "Scalar",
    "Sequenced",
    "bits_of_copy",
    "index_of",
    "magnitudes_in_place",
    "twos_complement",
    "widest_bits",
]

#: Limbs and signs; the limbs are uint64[N, L], or a _core.DeviceLimbs of them in GPU memory.
Batch = tuple[Any, "Signs | None"]


class Kind(Enum):
    """What an operand was given as, and so what the answer is made as."""

    SCALAR = "scalar"
    LIST = "list"
    OBJECTS = "1-D object array"
    INTARRAY = "IntArray"
    LIMBS = "uint64[N, L]"
    BYTES = "uint8[N, W]"
    INTEGERS = "1-D integer array"
    COLUMN_INTEGERS = "integers of a pandas or polars column"
    ARROW_BYTES = "Arrow fixed_size_binary"
    ARROW_VARIABLE_BYTES = "Arrow binary"
    ARROW_INTEGERS = "Arrow integers"
    ARROW_DECIMALS = "Arrow decimals"
    ARROW_TEXT = "Arrow text"
    ARROW_NULLS = "Arrow null"
    DEVICE_LIMBS = "uint64[N, L] in GPU memory"
    DEVICE_INTEGERS = "1-D uint64 array in GPU memory"

    # Each call looks kinds up in several sets. Hashing by identity is quick, while Enum's own hash is a
    # Python function.
    __hash__ = object.__hash__


class Operand:
    """N integers, or one for every item (``count`` None)."""

    kind: Kind
    name: str
    count: int | None
    #: No item has more bits.
    bits: int
    #: Whether items may be negative.
    signed: bool = False
    #: rows() converts nothing: its limbs take no memory of their own.
    direct: bool = False
    #: rows() returns copies, which are zeroed after use where they are secret.
    copies: bool = True
    #: An item is a gmpy2.mpz, and so are the answers.
    mpz: bool = False
    #: The ints and mpz of a sequence, or the single one; None for arrays.
    elements: Sequence[Any] | None = None
    #: Where items are null, None if none is.
    null: NDArray[np.bool_] | None = None
    #: The type of an Arrow array, without dictionaries or runs that encode it.
    arrow_type: Any = None
    #: Lengths of the chunks of a ChunkedArray, None for any other array.
    chunk_lengths: list[int] | None = None
    #: A copy of the caller's Arrow array, without encodings, which rows() converts; None if there is none.
    decoded: Any = None
    #: The index of a pandas Series, None for anything else.
    labels: Any = None
    #: Makes the caller's own kind of array from a numpy array, or from a _core.DeviceLimbs; None: it is that.
    wrap: Callable[[Any], Any] | None = None

    @property
    def width(self) -> int:
        """Limbs of a row."""
        return limbs_for(self.bits)

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Limbs and signs of some items; those of a `varied` operand `width` limbs wide."""
        raise NotImplementedError

    def wipe_decoded(self) -> None:
        """Zero the copy that rows() converts, which has no use afterwards."""
        if self.decoded is not None:
            _arrow.wipe(self.decoded)

    def varied(self) -> NDArray[np.uint32] | None:
        """Limbs that each item needs, where rows() can be asked for narrower rows than `width`."""
        return None

    def host_limbs(self) -> Limbs:
        """Limbs of all items, in the memory of the host."""
        count = 1 if self.count is None else self.count
        limbs: Limbs = self.rows(0, count, self.width)[0]
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
        self.elements = (value,)
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

    elements: Sequence[Any]

    def __init__(self, name: str, values: Sequence[Any], kind: Kind = Kind.LIST) -> None:
        self.name = name
        self.kind = kind
        try:
            self.elements, self.bits, self.signed, self.mpz = scan_ints(values)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        self.count = len(self.elements)

    def rows(self, start: int, stop: int, width: int) -> Batch:
        """Convert these items."""
        limbs = np.empty((stop - start, width), np.uint64)
        signs = np.empty(stop - start, np.uint8) if self.signed else None
        _core.ints_to_limbs(self.elements, start, limbs, signs)
        return limbs, signs

    def exact_bits(self) -> int:
        """Bits of the widest item; `bits` of mpz are those of whole limbs."""
        return _core.most_bits(self.elements)

    def varied(self) -> NDArray[np.uint32]:
        """Limbs that each item needs."""
        widths = np.empty(len(self.elements), np.uint32)
        _core.int_widths(self.elements, widths)
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
        return widest_bits(self.limbs)


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
        return bits_of_copy(bytes_to_limbs(self.data))


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
        magnitudes, negative = magnitudes_in_place(np.array(part, np.int64, order="C"))
        return magnitudes.reshape(-1, 1), negative.view(np.uint8)

    def exact_bits(self) -> int:
        """Bits of the widest item."""
        if not len(self.data):
            return 0
        return max(abs(int(self.data.min())), abs(int(self.data.max()))).bit_length()


def widest_bits(limbs: Limbs) -> int:
    """Bits of the widest row, 0 if there are no rows."""
    return int(lengths_in_bits(limbs).max(initial=0))


def bits_of_copy(limbs: Limbs) -> int:
    """Bits of the widest row of a copy, which is then zeroed, as it may be of a secret."""
    bits = widest_bits(limbs)
    limbs.fill(0)
    return bits


def magnitudes_in_place(values: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Magnitudes of integers, which take the place of these in memory, and which integers were negative."""
    negative = values < 0
    magnitudes = values.view(np.uint64)
    np.negative(magnitudes, out=magnitudes, where=negative)
    return magnitudes, negative


def twos_complement(magnitudes: NDArray[np.uint64], signs: Signs | None) -> NDArray[np.uint64]:
    """Words of 64 bits that have these magnitudes and signs (None: nothing is negative) as int64."""
    return magnitudes if signs is None else np.where(signs != 0, np.uint64(0) - magnitudes, magnitudes)


def index_of(name: str, value: Any) -> int:
    """Return `value` as an int, if it is an integer."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
