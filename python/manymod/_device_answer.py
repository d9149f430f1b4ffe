# SPDX-License-Identifier: Apache-2.0
"""Answers in the memory of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answer import Answer
from manymod._device import DeviceRows, import_limbs, is_on_device
from manymod._device_packages import is_immutable
from manymod._limbs import Limbs, Signs
from manymod._operand_kinds import Kind, Operand
from manymod.device_array import DeviceArray

__all__ = ["DeviceAnswer", "overlaps_on_device"]


class DeviceAnswer(Answer):
    """On the GPU and of the package of the operand that decides the kind."""

    direct = True
    without_signs = True

    def __init__(
        self, count: int, source: DeviceRows, modulus: Operand, out: Any, operands: Sequence[Operand]
    ) -> None:
        flat = source.kind is Kind.DEVICE_INTEGERS
        if flat and modulus.width != 1:
            raise ValueError(
                f"{modulus.name} is given in {modulus.width} limbs, so results do not fit a 1-D uint64 "
                f"array, the kind for {source.name}: give that as uint64[N, L]"
            )
        self.wrap = source.wrap or DeviceArray._make
        index = source.on_device.device_index
        shape = (count,) if flat else (count, modulus.width)
        if out is None and source.allocate is not None:
            out = source.allocate(shape)
        self.out = out
        if out is None:
            self.limbs = _core.DeviceLimbs.allocate(index, count, modulus.width)
        else:
            self.limbs = _checked_out(out, shape, index)
            _check_overlap(self.limbs, operands)

    def buffers(self, start: int, stop: int, width: int, signed: bool) -> tuple[Any, Signs | None]:  # noqa: ARG002
        """The rows themselves."""
        return self.limbs.part(start, stop), None

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Nothing: they are there."""

    def finish(self, null: NDArray[np.bool_] | None) -> Any:  # noqa: ARG002
        """`out`, or an array of the package."""
        return self.wrap(self.limbs) if self.out is None else self.out


def _checked_out(out: Any, shape: tuple[int, ...], device_index: int) -> _core.DeviceLimbs:
    expected = f"a uint64{list(shape)} array on cuda:{device_index}"
    if not is_on_device(out):
        raise ValueError(f"out must be {expected}, not {type(out).__name__}")
    limbs = import_limbs("out", out)
    if tuple(limbs.shape) != shape or limbs.device_index != device_index:
        raise ValueError(f"out must be {expected}, not {limbs.shape} on cuda:{limbs.device_index}")
    if not limbs.writable or is_immutable(out):
        raise ValueError("out is read-only")
    return limbs


def _check_overlap(out: _core.DeviceLimbs, operands: Sequence[Operand]) -> None:
    def layout(limbs: _core.DeviceLimbs) -> tuple[int, ...]:
        return limbs.address, len(limbs), limbs.width, limbs.stride

    for item in operands:
        if not isinstance(item, DeviceRows) or layout(item.on_device) == layout(out):
            continue
        if _share_memory(item.on_device, out):
            raise ValueError("out overlaps an operand without being exactly the same array")


def _share_memory(one: _core.DeviceLimbs, other: _core.DeviceLimbs) -> bool:
    """Whether the bytes from the first to the last limb of both have some in common."""
    first, second = sorted((one, other), key=lambda limbs: limbs.address)
    return first.address + first.span_bytes > second.address


def overlaps_on_device(out: Any, operands: Sequence[Operand]) -> bool:
    """Whether `out` is an array in GPU memory that overlaps an operand there, or is one."""
    on_device = [item.on_device for item in operands if isinstance(item, DeviceRows)]
    if not on_device or not is_on_device(out):
        return False
    into = import_limbs("out", out)
    return any(_share_memory(into, limbs) for limbs in on_device)
