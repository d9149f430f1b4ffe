# SPDX-License-Identifier: Apache-2.0
"""What benchmarks of kernels need of an OpenCL driver, by ctypes: devices, programs, buffers, launches."""

from __future__ import annotations

import ctypes
import time
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

ALL_DEVICES, CPU = 0xFFFFFFFF, 2
DEVICE_TYPE, DEVICE_NAME, DRIVER_VERSION, BUILD_LOG = 0x1000, 0x102B, 0x102D, 0x1183
READ_WRITE, COPY_FROM_HOST = 1, 32
#: Functions that return an object, and their status by the last parameter.
CREATING = (
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateProgramWithSource",
    "clCreateKernel",
    "clCreateBuffer",
)


class BuildError(Exception):
    """A driver's compiler refuses a program; the message is its log."""


class Library:
    """The loader library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libOpenCL.so.1")
        for name in CREATING:
            getattr(self._library, name).restype = c_void_p

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a status."""
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise OSError(f"{name} returned {status}")

    def status(self, name: str, *arguments: Any) -> int:
        """Return the status of a function that may fail."""
        return int(getattr(self._library, name)(*arguments))

    def create(self, name: str, *arguments: Any) -> c_void_p:
        """Return the object that a function creates."""
        status = c_int()
        handle = c_void_p(getattr(self._library, name)(*arguments, byref(status)))
        if status.value != 0:
            raise OSError(f"{name} returned {status.value}")
        return handle

    def bytes_of(self, name: str, *arguments: Any) -> bytes:
        """Return what a function of the kind of clGetDeviceInfo tells."""
        needed = c_size_t()
        self.call(name, *arguments, c_size_t(0), None, byref(needed))
        value = ctypes.create_string_buffer(needed.value)
        self.call(name, *arguments, needed, value, None)
        return value.raw

    def devices(self) -> list[c_void_p]:
        """Return the devices of all platforms, CPUs last."""
        count = c_uint()
        if self.status("clGetPlatformIDs", c_uint(0), None, byref(count)) != 0:
            return []  # there is no driver
        platforms = (c_void_p * count.value)()
        self.call("clGetPlatformIDs", count, platforms, None)
        found: list[c_void_p] = []
        for platform in platforms:
            kind = (c_void_p(platform), c_uint64(ALL_DEVICES))
            if self.status("clGetDeviceIDs", *kind, c_uint(0), None, byref(count)) != 0:
                continue
            devices = (c_void_p * count.value)()
            self.call("clGetDeviceIDs", *kind, count, devices, None)
            found += [c_void_p(device) for device in devices]
        return sorted(found, key=self.is_cpu)

    def is_cpu(self, device: c_void_p) -> bool:
        """Whether a device is a CPU."""
        kind = self.bytes_of("clGetDeviceInfo", device, c_uint(DEVICE_TYPE))
        return int.from_bytes(kind, "little") & CPU != 0

    def text_of(self, device: c_void_p, info: int) -> str:
        """Return a text that describes a device."""
        return self.bytes_of("clGetDeviceInfo", device, c_uint(info)).rstrip(b"\0").decode().strip()


class Device:
    """The first device whose name contains `model`, with a queue."""

    def __init__(self, model: str) -> None:
        self.library = Library()
        devices = self.library.devices()
        names = [self.library.text_of(device, DEVICE_NAME) for device in devices]
        at = next((i for i, name in enumerate(names) if model in name), None)
        if at is None:
            raise SystemExit(f"no device {model!r} among {names}")
        self.handle, self.name = devices[at], names[at]
        self.driver = self.library.text_of(self.handle, DRIVER_VERSION)
        self.is_cpu = self.library.is_cpu(self.handle)
        self.context = self.library.create("clCreateContext", None, c_uint(1), byref(self.handle), None, None)
        self.queue = self.library.create("clCreateCommandQueue", self.context, self.handle, c_uint64(0))

    def kernel(self, source: str, options: str, name: str) -> c_void_p:
        """Compile a program and return its kernel."""
        text = c_char_p(source.encode())
        create = self.library.create
        program = create("clCreateProgramWithSource", self.context, c_uint(1), byref(text), None)
        build = (program, c_uint(1), byref(self.handle), c_char_p(options.encode()), None, None)
        if self.library.status("clBuildProgram", *build) != 0:
            log = self.library.bytes_of("clGetProgramBuildInfo", program, self.handle, c_uint(BUILD_LOG))
            raise BuildError(log.rstrip(b"\0").decode(errors="replace"))
        return create("clCreateKernel", program, c_char_p(name.encode()))

    def buffer(self, data: bytes) -> c_void_p:
        """Return memory of the device with these bytes."""
        flags = c_uint64(READ_WRITE | COPY_FROM_HOST)
        return self.library.create("clCreateBuffer", self.context, flags, c_size_t(len(data)), c_char_p(data))

    def read(self, buffer: c_void_p, count: int) -> bytes:
        """Return the first bytes of a buffer."""
        data = ctypes.create_string_buffer(count)
        where = (c_uint(1), c_size_t(0), c_size_t(count), data)
        self.library.call("clEnqueueReadBuffer", self.queue, buffer, *where, c_uint(0), None, None)
        return data.raw

    def seconds(
        self, kernel: c_void_p, arguments: list[Any], local_bytes: int, work_items: int, block: int
    ) -> float:
        """Run a kernel whose last argument is local memory; return how long it took."""
        for number, value in enumerate(arguments):
            size = c_size_t(ctypes.sizeof(value))
            self.library.call("clSetKernelArg", kernel, c_uint(number), size, byref(value))
        local_argument = (c_uint(len(arguments)), c_size_t(max(16, local_bytes)), None)
        self.library.call("clSetKernelArg", kernel, *local_argument)
        grid, group = c_size_t(work_items), c_size_t(block)
        start = time.perf_counter()
        where = (c_uint(1), None, byref(grid), byref(group))
        self.library.call("clEnqueueNDRangeKernel", self.queue, kernel, *where, c_uint(0), None, None)
        self.library.call("clFinish", self.queue)
        return time.perf_counter() - start
