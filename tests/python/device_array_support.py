# SPDX-License-Identifier: Apache-2.0
"""Operations on arrays in GPU memory, what Python computes for them, and what surrounds their tests."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.python import fake_gpu
from tests.python.dlpack_producer import Tensor, exported
from tests.python.integers import mixed

import manymod
from manymod import DeviceArray, IntArray, to_device

__all__ = [
    "OBSTACLE",
    "OPERATIONS",
    "P",
    "counted",
    "ints",
    "limbs",
    "nothing_left",
    "on_device",
    "sample",
    "strided",
    "tensor",
]

OBSTACLE = manymod.cuda_support().obstacle
on_device = pytest.mark.skipif(bool(OBSTACLE), reason=f"{OBSTACLE} (see test_all_on_the_fake_driver)")

P = 2**127 - 1

#: the operation, the same in Python, and its number of operands beside the modulus
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., int], int]] = {
    "addmod": (manymod.addmod, lambda x, y, n: (x + y) % n, 2),
    "submod": (manymod.submod, lambda x, y, n: (x - y) % n, 2),
    "negmod": (manymod.negmod, lambda x, n: -x % n, 1),
    "mulmod": (manymod.mulmod, lambda x, y, n: x * y % n, 2),
    "sqrmod": (manymod.sqrmod, lambda x, n: x * x % n, 1),
    "powmod": (manymod.powmod, pow, 2),
    "invmod": (manymod.invmod, lambda x, n: pow(x, -1, n), 1),
}


def sample(operation: str, count: int, bits: int, seed: int) -> list[list[int]]:
    """Operands of `count` items, the moduli last: odd ones and, but for inverses, even ones."""
    source = random.Random(seed)
    arity = OPERATIONS[operation][2]
    widths = [bits, 70 if operation == "powmod" else bits]
    operands = [mixed(source, count, width, signed=False) for width in widths[:arity]]
    moduli = [value | (1 << (bits - 1)) for value in mixed(source, count, bits, signed=False)]
    if operation == "invmod":
        moduli = [P if bits < 200 else 2**521 - 1] * count
        operands = [[value % moduli[0] or 1 for value in operands[0]]]
    return [*operands, moduli]


def limbs(values: list[int], width: int = 0) -> Any:
    found = IntArray.from_ints(values).limbs
    width = max(width, found.shape[1])
    return np.pad(found, ((0, 0), (0, width - found.shape[1])))


def counted(name: str) -> int | None:
    """A count of the fake driver, None on a real one."""
    if "FAKE_CUDA" not in os.environ:
        return None
    return fake_gpu.count(name)


def nothing_left() -> Iterator[None]:
    """Around a test: capsules and memory are given back."""
    gc.collect()
    before = counted("unwiped"), counted("misuses")
    yield
    gc.collect()
    assert not exported
    assert (counted("unwiped"), counted("misuses")) == before


def ints(array: Any) -> list[int]:
    assert isinstance(array, DeviceArray)
    return IntArray.from_limbs(array.numpy()).to_ints()


def tensor(array: DeviceArray, **options: Any) -> Tensor:
    """The same memory as an array of another package."""
    address = array.__cuda_array_interface__["data"][0]
    return Tensor(address, options.pop("shape", array.shape), keep=array, **options)


def strided(values: Any, stride: int) -> tuple[DeviceArray, Tensor]:
    """Rows with a gap behind each; the whole and the rows."""
    count, width = values.shape
    whole = to_device(np.pad(values, ((0, 0), (0, stride - width)), constant_values=7))
    return whole, tensor(whole, shape=(count, width), strides=(stride, 1))
