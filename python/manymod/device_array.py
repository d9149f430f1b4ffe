# SPDX-License-Identifier: Apache-2.0
"""`DeviceArray`: a batch of big integers in the memory of a GPU."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._device import DeviceRows, Export, host_limbs
from manymod._limbs import Limbs
from manymod._operands import operand
from manymod.errors import DeviceError

__all__ = ["DeviceArray", "to_device"]


class DeviceArray:
    """N integers that are not negative as ``uint64[N, L]`` little-endian limbs in the memory of a GPU.

    `to_device` and operations on arrays in GPU memory return it. Other packages take it without a copy by
    DLPack or the CUDA array interface: ``cupy.from_dlpack(array)``, ``cupy.asarray(array)`` or
    ``torch.from_dlpack(array)``. Its memory is zeroed when the last of them has dropped it.
    """

    __slots__ = ("_device_limbs",)

    _device_limbs: _core.DeviceLimbs

    def __init__(self, *_: object, **__: object) -> None:
        """Raise TypeError: `to_device` is the way to make one."""
        raise TypeError("use manymod.to_device")

    @classmethod
    def _make(cls, limbs: _core.DeviceLimbs) -> DeviceArray:
        array = object.__new__(cls)
        array._device_limbs = limbs
        return array

    @property
    def shape(self) -> tuple[int, int]:
        """``(N, L)``."""
        return len(self._device_limbs), self._device_limbs.width

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.uint64]:
        """Always uint64."""
        return np.dtype(np.uint64)

    @property
    def device(self) -> str:
        """Name of the GPU, as in `devices`: ``"cuda:0"``."""
        return f"cuda:{self._device_limbs.device_index}"

    def numpy(self) -> Limbs:
        """A copy in the memory of the host, ``uint64[N, L]``; `IntArray.from_limbs` takes it."""
        return host_limbs(self._device_limbs)

    def __len__(self) -> int:
        """Number of items."""
        return len(self._device_limbs)

    def __repr__(self) -> str:
        """Size and place; not the numbers."""
        count, width = self.shape
        return f"DeviceArray(N={count}, bits={64 * width}, device={self.device!r})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Refuse to convert implicitly, as each use would copy: call `numpy`."""
        raise TypeError("a DeviceArray is not converted to a numpy array by itself: use .numpy()")

    def __dlpack_device__(self) -> tuple[int, int]:
        """The GPU."""
        return Export(self._device_limbs).__dlpack_device__()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack capsule of ``uint64[N, L]``, as the Python array API standard has it.

        Args:
            stream: any; the contents are complete whenever Python has the array.
            max_version: newest version of DLPack that the consumer understands.
            dl_device: None or this GPU; or the CPU, for which a copy is made.
            copy: True for memory of its own, False for an error where a copy would be needed.
        """
        export = Export(self._device_limbs)
        return export.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3; there is nothing to wait for."""
        return {
            "shape": self.shape,
            "typestr": "<u8",
            "data": (self._device_limbs.address, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as limbs and the name of the GPU, to which they are copied again."""
        return to_device, (self.numpy(), self.device)


def _device_index(device: str, others: str = "") -> int:
    """K of ``"cuda:K"``; `others` are the names, for messages, that the caller takes besides."""
    if not isinstance(device, str):
        raise TypeError(f"device must be a str, not {type(device).__name__}")
    found = re.fullmatch(r"cuda(?::([0-9]{1,9}))?", device)
    if found is None:
        raise DeviceError(f"device must be {others}'cuda:K', not {device!r}")
    return int(found[1] or 0)


def to_device(x: Any, device: str = "cuda:0") -> DeviceArray:
    """Copy a batch to the memory of a GPU.

    Args:
        x: integers of any kind that operations take, none of them negative or null. A single integer makes
            one row, such as a modulus, which operations apply to every item of another batch.
        device: ``"cuda:K"``, K being the `index` of `devices`; ``"cuda"`` is ``"cuda:0"``.

    Raises:
        ValueError: if an item is negative or null.
        DeviceError: if there is no such device.
    """
    index = _device_index(device)
    source = operand("x", x)
    if source.null is not None:
        raise ValueError("x has nulls, which an array in GPU memory cannot hold")
    if isinstance(source, DeviceRows) and source.on_device.device_index == index:
        return DeviceArray._make(source.on_device.copy())
    count = 1 if source.count is None else source.count
    if isinstance(source, DeviceRows):  # of another GPU
        limbs, signs, copied = source.host_limbs(), None, True
    else:
        limbs, signs = source.rows(0, count, source.width)
        copied = source.copies
    contiguous = limbs if limbs.flags.c_contiguous else limbs.copy(order="C")
    try:
        if signs is not None and signs.any():
            item = int(signs.argmax())
            raise ValueError(f"x: item {item} is negative, which limbs in GPU memory cannot hold")
        made = _core.DeviceLimbs.allocate(index, count, limbs.shape[1])
        made.from_host(contiguous)
    finally:
        if contiguous is not limbs:
            contiguous.fill(0)
        if copied:
            limbs.fill(0)
        source.wipe_decoded()
    return DeviceArray._make(made)
