# SPDX-License-Identifier: Apache-2.0
"""An array package of its own kind: DLPack capsules made by ctypes over any memory."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["CUDA", "FLOAT", "INT", "IS_COPIED", "MANAGED", "UINT", "Tensor", "capsule", "drop", "exported"]

CUDA, MANAGED = 2, 13
INT, UINT, FLOAT = 0, 1, 2
_READ_ONLY = 1
IS_COPIED = 2


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("index", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Version(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint32), ("minor", ctypes.c_uint32))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", _Version),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = [ctypes.py_object]

#: what capsules point to, until their consumers call the deleter
exported: dict[int, Any] = {}


def _forget(address: int) -> None:
    del exported[address]


_delete = _Deleter(_forget)


class Tensor:
    """Limbs at `address`, in the layout and of the type that is said."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        *,
        code: int = UINT,
        bits: int = 64,
        device: tuple[int, int] = (CUDA, 0),
        byte_offset: int = 0,
        version: tuple[int, int] | None = (1, 0),
        read_only: bool = False,
        keep: Any = None,
    ) -> None:
        self.address = address
        self.shape = shape
        self.strides = strides
        self.type = (code, bits, 1)
        self.device = device
        self.byte_offset = byte_offset
        self.version = version
        self.read_only = read_only
        self.keep = keep
        self.streams: list[Any] = []

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None) -> Any:
        self.streams.append(stream)
        versioned = self.version is not None and max_version is not None
        return self.capsule(self.version if versioned else None)

    def capsule(self, version: tuple[int, int] | None) -> Any:
        axes = ctypes.c_int64 * len(self.shape)
        shape = axes(*self.shape)
        strides = None if self.strides is None else axes(*self.strides)
        tensor = _Tensor(
            self.address,
            _Device(*self.device),
            len(self.shape),
            _DataType(*self.type),
            shape,
            strides,
            self.byte_offset,
        )
        managed: _Managed | _Versioned
        if version is None:
            managed = _Managed(tensor, None, _delete)
        else:
            managed = _Versioned(_Version(*version), None, _delete, _READ_ONLY * self.read_only, tensor)
        address = ctypes.addressof(managed)
        exported[address] = (managed, shape, strides, self.keep)
        return _new(address, b"dltensor" if version is None else b"dltensor_versioned", None)


def drop(unused: Any) -> None:
    """Free what a capsule holds that nobody took over. (A destructor in Python would lose raised errors.)"""
    if not _name(unused).startswith(b"used_"):
        _forget(_pointer(unused, _name(unused)))


def capsule(of: Any) -> tuple[str, dict[str, Any]]:
    """Name of a capsule, and what is in it."""
    name = _name(of)
    versioned = name == b"dltensor_versioned"
    address = _pointer(of, name)
    managed = (_Versioned if versioned else _Managed).from_address(address)
    tensor = managed.tensor
    fields = {
        "address": tensor.data or 0,
        "device": (tensor.device.type, tensor.device.index),
        "type": (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes),
        "shape": tuple(tensor.shape[: tensor.ndim]),
        "strides": tuple(tensor.strides[: tensor.ndim]),
        "version": (managed.version.major, managed.version.minor) if versioned else None,
        "flags": managed.flags if versioned else None,
    }
    return name.decode(), fields
