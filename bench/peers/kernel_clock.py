# SPDX-License-Identifier: Apache-2.0
"""Time in which a GPU runs kernels of this process, from the activity records of NVIDIA's CUPTI."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["KernelClock", "KernelClockError", "busy"]

#: CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, and CUPTI_ACTIVITY_FLAG_FLUSH_FORCED.
_KERNELS, _FORCED = 10, 1
_SUCCESS = 0
_BUFFER_BYTES = 8 << 20
_PLACES = (
    "libcupti.so.13",
    "libcupti.so.12",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    "/usr/local/cuda/lib64/libcupti.so*",
)


class _Kernel(ctypes.Structure):
    """The beginning of CUpti_ActivityKernel10, which has been the same since CUpti_ActivityKernel4."""

    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("cache", ctypes.c_uint8),
        ("shared", ctypes.c_uint8),
        ("registers", ctypes.c_uint16),
        ("requested", ctypes.c_uint32),
        ("executed", ctypes.c_uint32),
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
    )


_Bytes = ctypes.POINTER(ctypes.c_uint8)
_Request = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(_Bytes), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
_Complete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, _Bytes, ctypes.c_size_t, ctypes.c_size_t)


class KernelClockError(Exception):
    """CUPTI is not there, or does not record."""


def busy(kernels: Iterable[tuple[int, int]]) -> int:
    """Nanoseconds in which at least one of the kernels ran, which may overlap.

    >>> busy([(10, 20), (15, 30), (40, 50)])
    30
    """
    total, until = 0, 0
    for start, end in sorted(kernels):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class KernelClock:
    """Records kernels from its creation on. There must be one in a process at most."""

    def __init__(self, library: str | None = None) -> None:
        self._cupti = self._load(library)
        self._kernels: list[tuple[int, int]] = []
        self._buffers: dict[int, ctypes.Array[ctypes.c_uint8]] = {}
        # CUPTI calls them as long as the process lives.
        self._callbacks = (_Request(self._give), _Complete(self._take))
        self._check("cuptiActivityRegisterCallbacks", *self._callbacks)
        self._check("cuptiActivityEnable", _KERNELS)

    @staticmethod
    def _load(library: str | None) -> ctypes.CDLL:
        places = [Path(place) for place in _PLACES]
        found = [str(path) for place in places for path in sorted(place.parent.glob(place.name)) or [place]]
        for path in [library] if library else found:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
        raise KernelClockError("libcupti is not there")

    def _check(self, name: str, *arguments: object) -> None:
        status = getattr(self._cupti, name)(*arguments)
        if status != _SUCCESS:
            raise KernelClockError(f"{name} returned {status}")

    def _give(self, buffer: Any, size: Any, most: Any) -> None:
        """CUPTI asks for a buffer."""
        memory = (ctypes.c_uint8 * _BUFFER_BYTES)()
        self._buffers[ctypes.addressof(memory)] = memory
        buffer[0] = ctypes.cast(memory, _Bytes)
        size[0] = _BUFFER_BYTES
        most[0] = 0  # no limit but the size

    def _take(self, _context: object, _stream: int, buffer: Any, _size: int, valid: int) -> None:
        """CUPTI returns a buffer with records."""
        record = ctypes.c_void_p()
        while True:
            status = self._cupti.cuptiActivityGetNextRecord(
                buffer, ctypes.c_size_t(valid), ctypes.byref(record)
            )
            if status != _SUCCESS or not record.value:
                break
            kernel = _Kernel.from_address(record.value)
            if kernel.kind == _KERNELS:
                self._kernels.append((kernel.start, kernel.end))
        self._buffers.pop(ctypes.addressof(buffer.contents), None)

    def seconds(self, call: Callable[[], object]) -> float:
        """Run a call that waits for its kernels; return for how long a kernel of it was running.

        Raises:
            KernelClockError: if no kernel was recorded.
        """
        self._check("cuptiActivityFlushAll", _FORCED)
        self._kernels.clear()
        call()
        self._check("cuptiActivityFlushAll", _FORCED)
        if not self._kernels:
            raise KernelClockError("no kernel was recorded")
        return busy(self._kernels) / 1e9
