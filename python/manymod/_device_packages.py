# SPDX-License-Identifier: Apache-2.0
"""What differs between the packages whose arrays are exchanged by DLPack. None of them is imported here."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["allocator_of", "current_device", "importer_of", "is_immutable"]

_JAX = ("jaxlib", "jax")


def _packages(value: Any) -> Iterator[str]:
    """Names of the packages that made the type of `value` and its bases."""
    for base in type(value).__mro__:
        yield base.__module__.partition(".")[0]


def is_immutable(value: Any) -> bool:
    """Whether `value` is of a package whose arrays never change."""
    return any(package in _JAX for package in _packages(value))


def importer_of(value: Any) -> Callable[[Any], Any] | None:
    """``from_dlpack`` of the package whose array `value` is, None if it has none."""
    for package in _packages(value):
        if package in _JAX and "jax" in sys.modules:
            return importlib.import_module("jax.dlpack").from_dlpack  # type: ignore[no-any-return]
        importer: Callable[[Any], Any] | None = getattr(sys.modules.get(package), "from_dlpack", None)
        if importer is not None:
            return importer
    return None


def current_device(value: Any, index: int) -> contextlib.AbstractContextManager[Any]:
    """Make GPU `index` the current one of the package of `value`, whose streams it orders on export."""
    for package in _packages(value):
        if package == "torch":
            return sys.modules["torch"].cuda.device(index)  # type: ignore[no-any-return]
        if package == "cupy":
            return sys.modules["cupy"].cuda.Device(index)  # type: ignore[no-any-return]
    return contextlib.nullcontext()


def allocator_of(value: Any, index: int) -> Callable[[tuple[int, ...]], Any] | None:
    """What makes arrays of a shape in the package, type and GPU of `value`, None if that is not known.

    The allocators of PyTorch and CuPy keep freed memory for reuse, which the driver's does not.
    """
    for package in _packages(value):
        if package == "torch":
            return lambda shape: value.new_empty(shape)
        if package == "cupy":
            return lambda shape: _cupy_empty(shape, value.dtype, index)
    return None


def _cupy_empty(shape: tuple[int, ...], dtype: Any, index: int) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(index):
        return cupy.empty(shape, dtype)
