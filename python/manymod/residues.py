# SPDX-License-Identifier: Apache-2.0
"""`Residues`: integers modulo one or each of several moduli, for chains of operations."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._device import ROW_BITS, DeviceRows, Export, host_limbs, on_host
from manymod._forked import ProcessOwn
from manymod._indexing import checked_index
from manymod._limbs import Limbs, canonical_limbs
from manymod._operand_kinds import Batch, Operand
from manymod._operands import common_length, operand
from manymod.device_array import DeviceArray, _device_index
from manymod.errors import DeviceError, _item_error
from manymod.intarray import IntArray
from manymod.plan import MAX_MODULUS_BITS, OPERATIONS, checked_threads
from manymod.reductions import dotmod, prodmod, summod

__all__ = ["Residues"]

#: Limbs on the host or on a GPU.
_AnyLimbs = Any

_SHOWN_BITS = 128


class _Moduli:
    """One modulus for all items, or one for each, and the plans for it."""

    def __init__(self, limbs: _AnyLimbs, shared: bool, threads: int) -> None:
        self.limbs = limbs
        self.shared = shared
        self.threads = threads
        self.width = limbs.width if isinstance(limbs, _core.DeviceLimbs) else limbs.shape[1]
        self._plans: dict[tuple[str, str | None], ProcessOwn[_core.Plan]] = {}

    @classmethod
    def checked(cls, modulus: Operand, threads: int) -> _Moduli:
        """The moduli, if all are positive."""
        if modulus.null is not None:
            raise ValueError("modulus has nulls")
        host = on_host(modulus)
        count = 1 if host.count is None else host.count
        limbs, signs = host.rows(0, count, host.width)
        bad = ~limbs.any(axis=1) if signs is None else ~limbs.any(axis=1) | (signs != 0)
        if bad.any():
            raise ValueError(f"modulus{_which(modulus, int(bad.argmax()))} is not positive")
        if modulus.bits > MAX_MODULUS_BITS and limbs[:, MAX_MODULUS_BITS // 64 :].any():
            raise ValueError(f"modulus has more than {MAX_MODULUS_BITS} bits")
        if modulus.count is None or not isinstance(modulus, DeviceRows):
            return cls(np.array(limbs, order="C"), modulus.count is None, threads)
        return cls(modulus.on_device.copy(), False, threads)

    def plan(self, op: str) -> _core.Plan:
        """The plan for an operation, which keeps what it computes of a shared modulus."""
        key = op, os.environ.get("MANYMOD_VARIANT")

        def make() -> _core.Plan:
            kind = _core.MM_MODULUS_SHARED if self.shared else _core.MM_MODULUS_EACH
            bits = min(64 * self.width, MAX_MODULUS_BITS)
            return _core.Plan(OPERATIONS[op], 0, kind, bits, "auto", None, self.threads)

        if key not in self._plans:
            self._plans[key] = ProcessOwn(make())
        return self._plans[key].get(make)

    def adds_to_products(self, items: int, device: str) -> bool:
        """Whether what computes so many products on the device adds to them, too: then that is faster.

        Variants for products alone are faster than the general one by more than a sum takes.
        """
        if device != "cpu":
            return 64 * self.width <= ROW_BITS
        return self.plan("fmamod").variant_for(items) == self.plan("mulmod").variant_for(items)

    def part(self, index: Any) -> _Moduli:
        """The moduli of some items; the plans serve them too."""
        if self.shared:
            return self
        chosen = _Moduli(_rows(self.limbs, index), False, self.threads)
        chosen._plans = self._plans
        return chosen

    def moved(self, device: str) -> _Moduli:
        """The same where the residues go; a modulus for all items stays on the host."""
        if self.shared:
            return self
        moved = _Moduli(_moved(self.limbs, device), False, self.threads)
        moved._plans = self._plans
        return moved

    def host(self) -> IntArray:
        """The moduli on the host."""
        return IntArray.from_limbs(_on_host(self.limbs))

    def same_as(self, other: _Moduli) -> bool:
        """Whether they are equal; those of one array are not compared item by item."""
        if self is other:
            return True
        if self.shared != other.shared:
            return False
        if _layout(self.limbs) == _layout(other.limbs):
            return True
        first, second = self.host(), other.host()
        return len(first) == len(second) and bool((first == second).all())


def _which(item: Operand, index: int) -> str:
    return "" if item.count is None else f" {index}"


def _layout(limbs: _AnyLimbs) -> tuple[Any, ...]:
    if isinstance(limbs, _core.DeviceLimbs):
        return "cuda", limbs.device_index, limbs.address, len(limbs), limbs.width, limbs.stride
    return "cpu", limbs.__array_interface__["data"][0], limbs.shape, limbs.strides


def _on_host(limbs: _AnyLimbs) -> Limbs:
    return host_limbs(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs


def _moved(limbs: _AnyLimbs, device: str) -> _AnyLimbs:
    """A copy on a device."""
    if device == "cpu":
        return host_limbs(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs.copy()
    index = _device_index(device, "'cpu' or ")
    if isinstance(limbs, _core.DeviceLimbs) and limbs.device_index == index:
        return limbs.copy()
    moved = _core.DeviceLimbs.allocate(index, len(limbs), _on_host(limbs).shape[1])
    moved.from_host(np.ascontiguousarray(_on_host(limbs)))
    return moved


def _rows(limbs: _AnyLimbs, index: Any) -> _AnyLimbs:
    """Some rows: of an array in GPU memory consecutive ones, which share its memory."""
    if not isinstance(limbs, _core.DeviceLimbs):
        return canonical_limbs(limbs[index])
    if not isinstance(index, slice) or index.step not in {None, 1}:
        raise TypeError("residues in GPU memory are indexed by an int or by a slice of step 1")
    start, stop, _ = index.indices(len(limbs))
    return limbs.part(start, max(start, stop))


class Residues:
    """N residues modulo one modulus, or modulo a modulus each, on the CPU or in the memory of a GPU.

    Operations take residues of the same moduli, an int for every item, or N integers of any kind that
    `powmod` takes, and give residues on the same device. Values are converted, checked and reduced once, when
    the array is made; nothing of a chain of operations on a GPU passes through the host, and plans are kept
    with the moduli. Residues do not change.

    They are plain residues ``0 <= r < modulus``, not Montgomery forms: for up to 512 bits a GPU multiplies
    plain residues about as fast as it reads and writes them, and results need no conversion.

    Args:
        values: integers of any kind that `powmod` takes, of any sign, none of them null; they are reduced. A
            single integer makes one residue, or one for each modulus.
        modulus: a positive integer of up to 16384 bits, or one for each value.
        device: ``"cpu"`` or ``"cuda:K"``; by default where `values` are.
        threads: CPU threads of operations, up to 1024; 0 uses `get_threads`.

    Raises:
        ValueError: if a modulus is not positive or too wide, or if lengths differ.
        DeviceError: if there is no such device.

    Variable-time.

    >>> a = Residues([3, 5, -1], 7)
    >>> (a * a + 1).to_ints(), (2 / a - a).to_ints()
    ([3, 5, 2], [0, 1, 6])
    >>> (a ** [2, -1, 0]).to_ints(), a.sum(), a.dot([1, 2, 3])
    ([2, 3, 1], 0, 3)
    """

    __slots__ = ("_limbs", "_moduli")

    #: numpy leaves operators to this class, and so do Series and data frames, which have 3000 and 4000
    __array_ufunc__ = None
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]

    _limbs: _AnyLimbs
    _moduli: _Moduli

    def __init__(self, values: Any, modulus: Any, *, device: str | None = None, threads: int = 0) -> None:
        source, moduli = operand("values", values), operand("modulus", modulus)
        if source.null is not None:
            raise ValueError("values have nulls")
        count = common_length([source, moduli])
        where = _place(source) if device is None else device
        self._moduli = _Moduli.checked(moduli, checked_threads(threads)).moved(where)
        if isinstance(source, DeviceRows) and where != _place(source):
            source = on_host(source)
        rows = source.rows(0, source.count or 1, source.width) if count != 0 else _none(source)
        self._limbs = _allocated(where, 1 if count is None else count, self._moduli.width)
        self._fill("addmod", rows, (np.zeros((1, 1), np.uint64), None))

    @classmethod
    def _make(cls, limbs: _AnyLimbs, moduli: _Moduli) -> Residues:
        made = object.__new__(cls)
        made._limbs, made._moduli = limbs, moduli
        return made

    def _fill(self, op: str, *operands: Batch) -> None:
        """Compute the limbs of this array."""
        absent = (None, None)
        x, y, z = (*operands, absent, absent)[:3]
        count = len(self)
        status = np.empty(count, np.uint8)
        moduli, limbs = self._moduli, self._limbs
        arrays = (*x, *y, moduli.limbs, None, limbs, None, status, None, 0, count, *z)
        if count and moduli.plan(op).run(count, 0, *arrays) == _core.MM_ERR_ITEMS:
            raise _item_error(op, status != 0, status, self, scalar=False)

    def _compute(self, op: str, *operands: Any) -> Residues:
        """The result of an operation on this array and others, any of which may have one item for all."""
        batches = [self._batch(value) for value in operands]
        counts = {len(self), *(len(limbs) for limbs, _ in batches)}
        if len(counts - {1}) > 1:
            raise ValueError(f"lengths differ: {', '.join(str(count) for count in sorted(counts))}")
        count = next(iter(counts - {1}), 1)
        moduli = self._moduli
        if not moduli.shared and count != len(self):
            raise ValueError(f"lengths differ: {count} items, {len(self)} moduli")
        result = Residues._make(_allocated(self.device, count, moduli.width), moduli)
        result._fill(op, *batches)
        return result

    def _batch(self, value: Any) -> Batch:
        """An operand of an operation on this array."""
        if isinstance(value, Residues):
            if not self._moduli.same_as(value._moduli):
                raise ValueError(f"moduli differ: {self!r} and {value!r}")
            if value.device != self.device:
                raise DeviceError(f"residues are on {self.device} and on {value.device}: use .to()")
            return value._limbs, None
        other = operand("operand", value)
        if other.null is not None:
            raise ValueError("operand has nulls")
        if isinstance(other, DeviceRows) and _place(other) != self.device:
            raise DeviceError(f"residues are on {self.device}, the operand is on {_place(other)}")
        return other.rows(0, 1 if other.count is None else other.count, other.width)

    def __add__(self, other: Any) -> Residues:
        """Sums."""
        return self._compute("addmod", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Residues:
        """Differences."""
        return self._compute("submod", self, other)

    def __rsub__(self, other: Any) -> Residues:
        """Differences."""
        return self._compute("submod", other, self)

    def __mul__(self, other: Any) -> Residues:
        """Products."""
        return self._compute("mulmod", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Residues:
        """Products with inverses; errors as in `inverse`."""
        return self._compute("mulmod", self, self._compute("invmod", other))

    def __rtruediv__(self, other: Any) -> Residues:
        """Products with inverses; errors as in `inverse`."""
        return self._compute("mulmod", self.inverse(), other)

    def __neg__(self) -> Residues:
        """Negatives."""
        return self._compute("negmod", self)

    def __pos__(self) -> Residues:
        """The array itself, which does not change."""
        return self

    def __pow__(self, exponent: Any, modulus: None = None) -> Residues:
        """Powers, by one exponent or one for each item, of any sign; errors as in `inverse`."""
        if modulus is not None:
            raise TypeError("residues have their moduli: give pow() no other")
        if isinstance(exponent, int) and exponent == 2:
            return self._compute("sqrmod", self)
        if isinstance(exponent, Residues):
            raise TypeError("an exponent is an integer, not a residue")
        return self._compute("powmod", self, exponent)

    def fma(self, y: Any, z: Any) -> Residues:
        """``self * y + z``, as `fmamod` where the same variant computes products, else a product and a sum.

        >>> Residues([2, 3], 7).fma([3, 4], 5).to_ints()
        [4, 3]
        """
        if self._moduli.adds_to_products(len(self), self.device):
            return self._compute("fmamod", self, y, z)
        product = self._compute("mulmod", self, y)
        return product._compute("addmod", product, z)

    def inverse(self) -> Residues:
        """Inverses.

        Raises:
            ItemValueError: (a ValueError) naming the items that are not invertible.

        >>> Residues([3, 5], 7).inverse().to_ints()
        [5, 3]
        """
        return self._compute("invmod", self)

    def _array(self) -> Any:
        limbs = self._limbs
        return DeviceArray._make(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs

    def _one_modulus(self) -> int:
        if not self._moduli.shared:
            raise ValueError("items with a modulus each have no sum, product or dot product")
        return self._moduli.host()[0]

    def sum(self) -> int:
        """Sum of all residues; 0 if there are none."""
        return int(summod(self._array(), self._one_modulus(), threads=self._moduli.threads))

    def prod(self) -> int:
        """Product of all residues; ``1 % modulus`` if there are none."""
        return int(prodmod(self._array(), self._one_modulus(), threads=self._moduli.threads))

    def dot(self, other: Any) -> int:
        """Sum of the products with `other`, residues or as many integers.

        Raises:
            TypeError: if `other` is rows of integers.
        """
        modulus, values = self._one_modulus(), other
        if isinstance(other, Residues):
            self._batch(other)
            values = other._array()
        result = dotmod(self._array(), values, modulus, threads=self._moduli.threads)
        try:
            return operator.index(result)
        except TypeError:
            raise TypeError("dot() takes residues or one sequence of integers, not rows of them") from None

    @property
    def modulus(self) -> int | IntArray:
        """The modulus, or an `IntArray` of one for each item."""
        moduli = self._moduli.host()
        return moduli[0] if self._moduli.shared else moduli.copy()

    @property
    def device(self) -> str:
        """``"cpu"``, or the name of the GPU, as in `devices`: ``"cuda:0"``."""
        limbs = self._limbs
        return f"cuda:{limbs.device_index}" if isinstance(limbs, _core.DeviceLimbs) else "cpu"

    @property
    def shape(self) -> tuple[int]:
        """``(N,)``: an array of N residues, however wide they are."""
        return (len(self),)

    def to(self, device: str) -> Residues:
        """The residues on a device, ``"cpu"`` or ``"cuda:K"``: themselves if they are there.

        Raises:
            DeviceError: if there is no such device.
        """
        if device == self.device:
            return self
        return Residues._make(_moved(self._limbs, device), self._moduli.moved(device))

    def to_ints(self) -> list[int]:
        """List of Python ints, ``0 <= r < modulus``."""
        return _core.limbs_to_ints(_on_host(self._limbs), None)

    def to_intarray(self) -> IntArray:
        """An `IntArray` of its own memory."""
        return IntArray.from_limbs(self.numpy())

    def numpy(self) -> Limbs:
        """A copy of the limbs in the memory of the host, ``uint64[N, L]``, L holding the widest modulus."""
        limbs = self._limbs
        return host_limbs(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs.copy(order="C")

    def __len__(self) -> int:
        """Number of residues."""
        return len(self._limbs)

    def __iter__(self) -> Iterator[int]:
        """Iterate over Python ints."""
        return iter(self.to_ints())

    def __getitem__(self, index: Any) -> Any:
        """One residue as an int; a slice, bool mask or integer array gives residues.

        In GPU memory slices have step 1, and masks and integer arrays are a TypeError.
        """
        chosen = checked_index(index, len(self))
        if isinstance(chosen, int):
            return _core.limbs_to_ints(_on_host(_rows(self._limbs, slice(chosen, chosen + 1))), None)[0]
        return Residues._make(_rows(self._limbs, chosen), self._moduli.part(chosen))

    def __eq__(self, other: object) -> Any:
        """Elementwise, as a bool array; integers are reduced first. On the host, to which they are copied."""
        return NotImplemented if _is_no_number(other) else ~self._differs(other)

    def __ne__(self, other: object) -> Any:
        """Elementwise, as `==`."""
        return NotImplemented if _is_no_number(other) else self._differs(other)

    def _differs(self, other: object) -> NDArray[np.bool_]:
        limbs = _on_host(self._compute("submod", self, other)._limbs)
        differs: NDArray[np.bool_] = np.logical_or.reduce(limbs != 0, axis=1)
        return differs

    def __repr__(self) -> str:
        """Size, modulus and place; not the residues."""
        shown = "one each"
        if self._moduli.shared:
            modulus = self._one_modulus()
            wide = modulus.bit_length() > _SHOWN_BITS
            shown = f"{modulus.bit_length()} bits" if wide else str(modulus)
        return f"Residues(N={len(self)}, modulus={shown}, device={self.device!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as limbs, moduli and the name of the device, to which they are copied again."""
        moduli = self._moduli
        return _restored, (self.numpy(), moduli.host(), moduli.shared, self.device, moduli.threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Refuse to convert implicitly, as the moduli would be lost: call `numpy`."""
        raise TypeError("Residues are not converted to a numpy array by themselves: use .numpy()")

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the residues are."""
        limbs = self._limbs
        exporter = Export(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs
        device: tuple[int, int] = exporter.__dlpack_device__()
        return device

    def __dlpack__(self, **options: Any) -> Any:
        """DLPack capsule of the limbs, ``uint64[N, L]``: a view, which must not be written to."""
        limbs = self._limbs
        exporter = Export(limbs) if isinstance(limbs, _core.DeviceLimbs) else limbs
        return exporter.__dlpack__(**options)


#: What is iterable or has ``__index__``, and yet is nothing to compare integers with.
_NO_INTEGERS = (str, bytes, bytearray, memoryview, float, Mapping, Set)


def _is_no_number(value: object) -> bool:
    """Whether `value` is neither an integer nor a batch, so that comparisons are False, as Python's are."""
    kind = type(value)
    integer = hasattr(kind, "__index__") or isinstance(value, np.bool_)
    batch = isinstance(value, Iterable) or hasattr(kind, "__dlpack__")
    return not (integer or batch) or isinstance(value, _NO_INTEGERS)


def _place(item: Operand) -> str:
    return f"cuda:{item.on_device.device_index}" if isinstance(item, DeviceRows) else "cpu"


def _none(source: Operand) -> Batch:
    """No integers, as wide as those of `source`."""
    return np.zeros((0, source.width), np.uint64), None


def _allocated(device: str, count: int, width: int) -> _AnyLimbs:
    if device == "cpu":
        return np.empty((count, width), np.uint64)
    return _core.DeviceLimbs.allocate(_device_index(device, "'cpu' or "), count, width)


def _restored(limbs: Limbs, moduli: IntArray, shared: bool, device: str, threads: int) -> Residues:
    found = _Moduli(moduli.limbs, shared, threads)
    return Residues._make(_moved(limbs, device), found.moved(device))
