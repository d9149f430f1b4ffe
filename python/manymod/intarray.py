# SPDX-License-Identifier: Apache-2.0
"""`IntArray`: a batch of big integers in canonical form."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex, cast, overload

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._arrow import fixed_size_binary, is_arrow
from manymod._indexing import checked_index
from manymod._limbs import (
    Limbs,
    Signs,
    bytes_to_limbs,
    canonical_limbs,
    ints_to_limbs,
    lengths_in_bits,
    limbs_for,
    refuse_mask,
)

__all__ = ["IntArray"]

_SHOWN = 3
_MAX_SHOWN_BITS = 96


class IntArray:
    """N integers of any size and sign, in one block of memory.

    The magnitudes are ``uint64[N, L]`` little-endian limbs, the signs an optional bool array. Operations of
    manymod take and return it without any conversion of items.

    >>> a = IntArray.from_ints([3, 2**70, -5])
    >>> a
    IntArray(N=3, bits=128, [3, 1180591620717411303424, -5])
    >>> a[1]
    1180591620717411303424
    >>> a[1:].to_ints()
    [1180591620717411303424, -5]
    >>> a < 3
    array([False, False,  True])
    """

    __slots__ = ("_limbs", "_own_signs", "_part", "_root")
    __hash__ = None  # type: ignore[assignment]
    #: numpy arrays leave comparisons with an IntArray to the IntArray
    __array_ufunc__ = None

    _limbs: Limbs
    #: Empty while nothing is negative; of the arrays that threads append at the same time the first is used.
    _own_signs: list[Signs]
    #: of a view: the array that owns the signs, and which of its items these are
    _root: IntArray | None
    _part: slice

    def __init__(self, *_: object, **__: object) -> None:
        """Raise TypeError: `from_ints`, `from_bytes` and `from_limbs` make one."""
        raise TypeError("use IntArray.from_ints, IntArray.from_bytes or IntArray.from_limbs")

    @classmethod
    def _make(cls, limbs: Limbs, negative: Signs | None = None) -> IntArray:
        array = object.__new__(cls)
        array._limbs = limbs
        array._own_signs = [] if negative is None else [negative]
        array._root = None
        array._part = slice(None)
        return array

    @property
    def _signs(self) -> Signs | None:
        """The signs where they lie, None if nothing is negative."""
        if self._root is None:
            return self._own_signs[0] if self._own_signs else None
        signs = self._root._signs
        return None if signs is None else signs[self._part]

    @property
    def _negative(self) -> Signs | None:
        """The signs as the C ABI takes them, one after another."""
        signs = self._signs
        return None if signs is None else np.ascontiguousarray(signs)

    def _set_signs(self, signs: Signs | None) -> None:
        """Replace the signs, as seen through every view of this memory."""
        present = self._signs
        if present is None and signs is not None:
            present = self._make_signs()
        if present is not None:
            present[:] = 0 if signs is None else signs

    def _make_signs(self) -> Signs:
        """Allocate the signs of this array, or of the one that it is a view of; nothing is negative yet."""
        if self._root is not None:
            return self._root._make_signs()[self._part]
        self._own_signs.append(np.zeros(len(self), np.uint8))
        return self._own_signs[0]

    @classmethod
    def from_ints(cls, values: Iterable[Any], *, bits: int | None = None) -> IntArray:
        """Array of Python ints, gmpy2 mpz, numpy integers or anything with ``__index__``.

        Args:
            values: the integers.
            bits: width to hold them in, rounded up to whole limbs; by default that of the widest. Times of
                constant-time calls depend on it, so give it for secret values.

        Raises:
            TypeError: naming the index of an element that is not an integer.
            OverflowError: naming an item of more than `bits` bits; a ValueError if `bits` is negative.

        >>> IntArray.from_ints(range(3)).to_ints()
        [0, 1, 2]
        >>> IntArray.from_ints(range(3), bits=256)
        IntArray(N=3, bits=256, [0, 1, 2])
        """
        if bits is not None and operator.index(bits) < 0:
            raise ValueError(f"bits must be None or at least 0, not {bits}")
        try:
            items = iter(values)
        except TypeError:
            raise TypeError(f"values must be a sequence of integers, not {type(values).__name__}") from None
        sequence = values if isinstance(values, Sequence) else list(items)
        return cls._make(*ints_to_limbs(sequence, bits))

    @classmethod
    def from_bytes(
        cls,
        data: NDArray[np.uint8] | Sequence[bytes | bytearray],
        byteorder: Literal["big", "little"] = "big",
    ) -> IntArray:
        r"""Array of unsigned integers given as bytes.

        Args:
            data: ``uint8[N, W]``, one row for each integer, or a sequence of N bytes or bytearray objects of
                any lengths; a TypeError if it is neither.
            byteorder: ``"big"`` (most significant byte first) or ``"little"``; a ValueError if it is neither.

        >>> IntArray.from_bytes([b"\x01\x00", b"\xff"]).to_ints()
        [256, 255]
        """
        if byteorder not in ("big", "little"):
            raise ValueError(f"byteorder must be 'big' or 'little', not {byteorder!r}")
        refuse_mask("data", data)
        if isinstance(data, np.ndarray):
            if data.ndim != 2 or data.dtype != np.uint8:
                raise TypeError(f"data must be uint8[N, W], not {data.dtype}{list(data.shape)}")
            rows = data if byteorder == "big" else data[:, ::-1]
            return cls._make(bytes_to_limbs(rows))
        if isinstance(data, (bytes, bytearray, str)):
            raise TypeError("data must be a sequence of bytes objects")
        items: list[bytes] = []
        for i, item in enumerate(data):
            if not isinstance(item, (bytes, bytearray)):
                raise TypeError(f"element {i} is not bytes: {type(item).__name__}")
            items.append(bytes(item))
        if byteorder == "little":
            items = [item[::-1] for item in items]
        limbs = np.empty((len(items), limbs_for(8 * max(map(len, items), default=0))), np.uint64)
        _core.bytes_list_to_limbs(items, limbs)
        return cls._make(limbs)

    @classmethod
    def from_limbs(cls, limbs: Any, negative: Any = None) -> IntArray:
        """Array over ``uint64[N, L]`` little-endian limbs, shared and not copied where it is C-contiguous.

        Args:
            limbs: ``uint64[N, L]`` (else a TypeError): item i is the sum of ``limbs[i, j] * 2**(64 * j)``.
            negative: None (nothing is negative) or bool[N]; a ValueError if it is neither.

        >>> IntArray.from_limbs(np.array([[1, 2]], np.uint64)).to_ints() == [1 + 2 * 2**64]
        True
        """
        refuse_mask("limbs", limbs)
        array = np.asarray(limbs)
        if array.ndim != 2 or array.dtype.newbyteorder("=") != np.uint64:
            raise TypeError(f"limbs must be uint64[N, L], not {array.dtype}{list(array.shape)}")
        canonical = canonical_limbs(array)
        if negative is None:
            return cls._make(canonical)
        signs = np.asarray(negative)
        if signs.dtype != np.bool_ or signs.shape != (len(canonical),):
            raise ValueError(f"negative must be bool[{len(canonical)}], not {signs.dtype}{list(signs.shape)}")
        signs = signs & canonical.any(axis=1)  # there is no negative zero
        return cls._make(canonical, signs.view(np.uint8) if signs.any() else None)

    def to_ints(self) -> list[int]:
        """List of Python ints."""
        return _core.limbs_to_ints(self._limbs, self._negative)

    def tolist(self) -> list[int]:
        """List of Python ints, as `to_ints`; the name that numpy has for it."""
        return self.to_ints()

    def copy(self) -> IntArray:
        """An array that shares no memory with this one.

        >>> a = IntArray.from_ints([1, -2])
        >>> a[:1].copy()
        IntArray(N=1, bits=64, [1])
        """
        signs = self._signs
        return IntArray._make(self._limbs.copy(order="C"), None if signs is None else signs.copy())

    def to_mpz(self) -> list[Any]:
        """List of gmpy2 mpz.

        Raises:
            ImportError: if gmpy2 is not installed.
        """
        import gmpy2  # noqa: F401, PLC0415

        return _core.limbs_to_mpz(self._limbs, self._negative)

    def to_bytes(
        self, length: int | None = None, byteorder: Literal["big", "little"] = "big"
    ) -> NDArray[np.uint8]:
        """``uint8[N, length]``, one row for each integer.

        Args:
            length: bytes of a row; by default what the widest item needs, at least 1.
            byteorder: ``"big"`` (most significant byte first) or ``"little"``.

        Raises:
            OverflowError: naming the first item that is negative or does not fit into `length` bytes.
            ValueError: if `byteorder` is neither.

        >>> IntArray.from_ints([258, 7]).to_bytes()
        array([[1, 2],
               [0, 7]], dtype=uint8)
        """
        if byteorder not in ("big", "little"):
            raise ValueError(f"byteorder must be 'big' or 'little', not {byteorder!r}")
        if self._negative is not None and self._negative.any():
            raise OverflowError(f"item {int(self._negative.argmax())} is negative")
        if length is None:
            length = max(1, (int(self.bit_lengths().max(initial=0)) + 7) // 8)
        rows = np.empty((len(self), length), np.uint8)
        _core.limbs_to_bytes(self._limbs, rows)
        return rows if byteorder == "big" else np.ascontiguousarray(rows[:, ::-1])

    def to_arrow(self, length: int | None = None) -> Any:
        """``pyarrow.FixedSizeBinaryArray`` of big-endian bytes; `length` as in `to_bytes`.

        Raises:
            ImportError: if pyarrow is not installed.
        """
        return fixed_size_binary(self.to_bytes(length), None)

    @property
    def limbs(self) -> Limbs:
        """The magnitudes, ``uint64[N, L]``; not a copy."""
        return self._limbs

    @property
    def negative(self) -> NDArray[np.bool_] | None:
        """None (nothing is negative) or bool[N]; not a copy."""
        signs = self._signs
        return None if signs is None else signs.view(np.bool_)

    @property
    def shape(self) -> tuple[int]:
        """``(N,)``: an array of N integers, however wide they are."""
        return (len(self._limbs),)

    @property
    def size(self) -> int:
        """Number of items."""
        return len(self._limbs)

    @property
    def bits(self) -> int:
        """Width of the array in bits, 64 L; no item is wider."""
        return 64 * int(self._limbs.shape[1])

    def bit_lengths(self) -> NDArray[np.int64]:
        """Bit length of each magnitude, as ``int.bit_length``.

        >>> IntArray.from_ints([0, 1, -255]).bit_lengths()
        array([0, 1, 8])
        """
        return lengths_in_bits(self._limbs)

    def __len__(self) -> int:
        """Number of items."""
        return len(self._limbs)

    def __iter__(self) -> Iterator[int]:
        """Iterate over Python ints."""
        return iter(self.to_ints())

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: slice | NDArray[Any] | list[int] | list[bool]) -> IntArray: ...

    def __getitem__(self, index: Any) -> int | IntArray:
        """One item as an int; a slice, bool mask or integer array gives an IntArray.

        A slice is a view, as in numpy, unless it runs backwards: what is written to it by ``out=`` is seen
        in this array too. Masks and integer arrays give copies. Of a tuple one index is taken, beside an
        ellipsis; more are an IndexError.
        """
        chosen = checked_index(index, len(self))
        signs = self._signs
        if isinstance(chosen, int):
            row = slice(chosen, chosen + 1)
            (value,) = _core.limbs_to_ints(self._limbs[row], None if signs is None else signs[row])
            return value
        part = self._limbs[chosen]
        limbs = canonical_limbs(part)
        if isinstance(chosen, slice) and limbs is part:
            view = IntArray._make(limbs)
            view._root, view._part = self, chosen
            return view
        return IntArray._make(limbs, None if signs is None else np.array(signs[chosen]))

    @staticmethod
    def concatenate(arrays: Iterable[IntArray]) -> IntArray:
        """One array of all items of `arrays`, as wide as the widest; a TypeError if one is no IntArray.

        >>> IntArray.concatenate([IntArray.from_ints([1]), IntArray.from_ints([2**64])]).to_ints()
        [1, 18446744073709551616]
        """
        arrays = list(arrays)
        for i, array in enumerate(arrays):
            if not isinstance(array, IntArray):
                raise TypeError(f"element {i} is not an IntArray: {type(array).__name__}")
        width = max((array._limbs.shape[1] for array in arrays), default=1)
        limbs = np.zeros((sum(map(len, arrays)), width), np.uint64)
        signed = any(array._signs is not None for array in arrays)
        signs = np.zeros(len(limbs), np.uint8) if signed else None
        start = 0
        for array in arrays:
            stop = start + len(array)
            limbs[start:stop, : array._limbs.shape[1]] = array._limbs
            if signs is not None and array._signs is not None:
                signs[start:stop] = array._signs
            start = stop
        return IntArray._make(limbs, signs)

    def _order(self, other: object) -> NDArray[np.int8] | None:
        """-1, 0 or 1 for each item against `other`, or None if that is not something to compare with."""
        broadcast = False
        if isinstance(other, IntArray):
            right = other
        elif isinstance(other, np.ndarray):
            if other.ndim > 1 or other.dtype.kind not in "iubO":
                raise TypeError(f"comparison with {other.dtype}{list(other.shape)}, not with integers")
            right, broadcast = IntArray.from_ints(other.reshape(-1).tolist()), other.ndim == 0
        elif isinstance(other, np.bool_) or hasattr(type(other), "__index__"):
            right, broadcast = IntArray.from_ints([other]), True
        elif is_arrow(other):
            right = IntArray.from_ints(cast("Any", other).to_pylist())
        elif isinstance(other, Sequence) and not isinstance(other, (str, bytes, bytearray, memoryview)):
            right = IntArray.from_ints(other)
        else:
            return None
        if len(right) != len(self) and not broadcast:
            raise ValueError(f"lengths differ: {len(self)} and {len(right)}")
        order = np.empty(len(self), np.int8)
        _core.compare(self._limbs, self._negative, right._limbs, right._negative, order)
        return order

    def __eq__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order == 0

    def __ne__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order != 0

    def __lt__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order < 0

    def __le__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order <= 0

    def __gt__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order > 0

    def __ge__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers broadcast."""
        order = self._order(other)
        return NotImplemented if order is None else order >= 0

    def __repr__(self) -> str:
        """Number of items, width and the first and last values."""
        count = len(self)
        if count <= 2 * _SHOWN:
            shown = [_short(value) for value in self]
        else:
            head = [_short(value) for value in self[:_SHOWN]]
            shown = [*head, "...", _short(self[count - 1])]
        return f"IntArray(N={count}, bits={self.bits}, [{', '.join(shown)}])"

    def __copy__(self) -> IntArray:
        """As `copy`: else `copy.copy` would share the limbs, but not the signs that `out=` may change."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as limbs and signs."""
        return _unpickle, (np.ascontiguousarray(self._limbs), self._negative)

    def __dlpack__(self, **options: Any) -> Any:
        """DLPack capsule of the limbs, ``uint64[N, L]``, for arrays without negative items."""
        if self._negative is not None and self._negative.any():
            raise BufferError("limbs alone cannot hold negative items: use .limbs and .negative")
        return self._limbs.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Always the CPU."""
        return cast("tuple[int, int]", self._limbs.__dlpack_device__())


def _unpickle(limbs: Limbs, negative: Signs | None) -> IntArray:
    return IntArray._make(limbs, negative)


def _short(value: int) -> str:
    if value.bit_length() <= _MAX_SHOWN_BITS:
        return str(value)
    digits = f"{abs(value):x}"
    return f"{'-' if value < 0 else ''}0x{digits[:8]}...{digits[-4:]}"
