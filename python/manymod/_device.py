# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a CUDA device: taken by DLPack where they lie, and handed out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from manymod import _core
from manymod._arrow import is_arrow
from manymod._device_packages import allocator_of, current_device, importer_of
from manymod._limbs import Limbs
from manymod._operand_kinds import Batch, Kind, LimbRows, Operand, Scalar, bits_of_copy, index_of
from manymod.errors import DeviceError

__all__ = [
    "DLPACK_CPU",
    "DLPACK_CUDA",
    "ROW_BITS",
    "DeviceRows",
    "Export",
    "check_one_device",
    "device_operand",
    "host_limbs",
    "import_limbs",
    "is_on_device",
    "on_host",
    "order_behind_caller",
]

#: Bits of the longest integers whose sums and products GPUs compute where they lie.
ROW_BITS = 4096

#: The newest version of DLPack that is understood.
_DLPACK_VERSION = (1, 0)
#: The number in DLPack of the legacy default stream. Calls wait for what is queued there.
_DEFAULT_STREAM = 1
#: Types of devices in DLPack.
DLPACK_CPU, _DLPACK_CUDA = 1, 2
#: Types of devices in DLPack whose memory is that of a GPU: kDLCUDA and kDLCUDAManaged.
DLPACK_CUDA = (_DLPACK_CUDA, 13)


class Export:
    """Limbs on a device for consumers of DLPack; they are complete, so that no stream has to wait."""

    def __init__(self, limbs: _core.DeviceLimbs, of_signed_type: bool = False, flat: bool = False) -> None:
        self.limbs = limbs
        self.of_signed_type = of_signed_type
        self.flat = flat

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CUDA device."""
        return _DLPACK_CUDA, self.limbs.device_index

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack capsule, as the Python array API standard has it."""
        device = (_DLPACK_CUDA, self.limbs.device_index)
        wanted = device if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        on_host = wanted == (DLPACK_CPU, 0)
        if on_host and copy is False:
            raise BufferError("an array in GPU memory reaches the CPU by a copy alone")
        if not on_host and wanted != device:
            raise BufferError(f"an array on DLPack device {device} is not exported to {wanted}")
        versioned = max_version is not None and max_version[0] >= _DLPACK_VERSION[0]
        form = (versioned, self.of_signed_type, self.flat)
        if on_host or copy:
            return self.limbs.to_copied_capsule(on_host, *form)
        return self.limbs.to_capsule(*form)


class DeviceRows(Operand):
    """``uint64[N, L]`` in the memory of a CUDA device, used where it lies."""

    direct = True
    copies = False
    #: Makes an uninitialised array of the caller's own kind from its shape; None: the library allocates.
    allocate: Callable[[tuple[int, ...]], Any] | None = None

    def __init__(self, name: str, limbs: _core.DeviceLimbs, kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.on_device = limbs
        self.count = len(limbs)
        self.bits = 64 * limbs.width
        #: The shape of the array as it was given.
        self.shape = limbs.shape

    def rows(self, start: int, stop: int, width: int) -> Batch:  # noqa: ARG002
        """Views."""
        whole = stop - start == len(self.on_device)
        return self.on_device if whole else self.on_device.part(start, stop), None

    def host_limbs(self) -> Limbs:
        """Copy from the device."""
        return host_limbs(self.on_device)

    def exact_bits(self) -> int:
        """Bits of the widest item; of rows of one limb 64, without a look at them."""
        if self.on_device.width == 1:
            return 64
        return bits_of_copy(self.host_limbs())

    def products(self, count: int) -> DeviceRows:
        """The kind of these rows, with one item for each of `count` products."""
        item = DeviceRows(self.name, self.on_device, self.kind)
        item.count, item.wrap, item.allocate = count, self.wrap, self.allocate
        return item


def host_limbs(on_device: _core.DeviceLimbs) -> Limbs:
    """Copy from the device."""
    limbs = np.empty((len(on_device), on_device.width), np.uint64)
    on_device.to_host(limbs)
    return limbs


def is_on_device(value: Any) -> bool:
    """Whether `value` is an array in GPU memory."""
    if not (hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")):
        return False
    if is_arrow(value):  # one with nulls raises when it is asked for its device (pyarrow 18)
        return False
    return value.__dlpack_device__()[0] in DLPACK_CUDA


def _capsule(value: Any) -> Any:
    """DLPack capsule of `value`, whose contents are there once the default stream has caught up."""
    with current_device(value, value.__dlpack_device__()[1]):
        try:
            return value.__dlpack__(stream=_DEFAULT_STREAM, max_version=_DLPACK_VERSION)
        except TypeError:  # from before DLPack 1.0
            return value.__dlpack__(stream=_DEFAULT_STREAM)


def order_behind_caller(values: Iterable[Any]) -> None:
    """Let the default stream wait for the caller's current streams, on which arrays may still be made.

    For calls that are begun on another thread, where other streams are the current ones.
    """
    for value in values:
        # An array that is not accepted raises when the call takes it.
        with contextlib.suppress(Exception):
            if is_on_device(value):
                _capsule(value)


def import_limbs(name: str, value: Any) -> _core.DeviceLimbs:
    """The limbs of an array in the memory of a CUDA device, where they lie.

    Raises:
        TypeError: if it is not of 64-bit integers in one to three dimensions.
        ValueError: if its rows are not contiguous.
        DeviceError: if no CUDA device can be used.
    """
    limbs = getattr(value, "_device_limbs", None)
    if isinstance(limbs, _core.DeviceLimbs):
        return limbs
    if obstacle := _core.cuda_support()["obstacle"]:
        raise DeviceError(f"{name} is on a CUDA device, and none can be used: {obstacle}")
    return _core.DeviceLimbs.from_capsule(_capsule(value), name)


def device_operand(name: str, value: Any, *, stacked: bool = False) -> Operand:
    """Return the operand of an array on a CUDA device.

    Args:
        name: for errors.
        value: the array.
        stacked: it is ``uint64[N, T, L]``, taken as N T rows; else of fewer dimensions.
    """
    if getattr(value, "ndim", None) == 0:
        return Scalar(name, index_of(name, value))
    given = limbs = import_limbs(name, value)
    dimensions = len(given.shape)
    if dimensions > (3 if stacked else 2):
        raise TypeError(
            f"{name}: an array of {dimensions} dimensions in GPU memory is not uint64[N, L] limbs"
        )
    if limbs.width == 0:  # zeros, as on the host
        zeros = _core.DeviceLimbs.allocate(limbs.device_index, len(limbs), 1)
        zeros.from_host(np.zeros((len(limbs), 1), np.uint64))
        limbs = zeros
    flat = dimensions == 1
    result = DeviceRows(name, limbs, Kind.DEVICE_INTEGERS if flat else Kind.DEVICE_LIMBS)
    result.shape = given.shape
    result.allocate = allocator_of(value, given.device_index)
    importer = importer_of(value)
    if importer is not None:
        signed = given.of_signed_type
        result.wrap = lambda answer: importer(Export(answer, signed, flat))
    return result


def on_host(item: Operand) -> Operand:
    """`item`, or limbs on the host where it is in GPU memory."""
    if not isinstance(item, DeviceRows):
        return item
    copied = LimbRows(item.name, item.host_limbs(), None, Kind.LIMBS)
    copied.count, copied.copies = item.count, True
    return copied


def check_one_device(operands: Sequence[Operand]) -> None:
    """Raise DeviceError unless all operands in GPU memory are on one GPU."""
    first: DeviceRows | None = None
    for item in operands:
        if not isinstance(item, DeviceRows):
            continue
        if first is None:
            first = item
        elif item.on_device.device_index != first.on_device.device_index:
            raise DeviceError(
                f"{first.name} is on cuda:{first.on_device.device_index}, {item.name} on "
                f"cuda:{item.on_device.device_index}: arrays of one call must be on one GPU"
            )
