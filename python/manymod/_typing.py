# SPDX-License-Identifier: Apache-2.0
"""Types of the operations' signatures."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from manymod._run import Errors, Progress
from manymod.device_array import DeviceArray
from manymod.errors import Status
from manymod.intarray import IntArray

__all__ = [
    "Array",
    "CallOptions",
    "Errors",
    "Integer",
    "Options",
    "Progress",
    "Raising",
    "ScalarWithStatus",
    "SecretOptions",
    "Statuses",
]

Integer = int | np.integer[Any]

#: Batches whose results are of the same type.
Array = TypeVar(
    "Array",
    IntArray,
    DeviceArray,
    NDArray[np.uint64],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.object_],
)

Raising = Literal["raise"]
Statuses = NDArray[np.uint8]
ScalarWithStatus = tuple[int, Status]


class CallOptions(TypedDict, total=False):
    """Keywords of every call."""

    out: Any
    progress: Progress | None


class Options(CallOptions, total=False):
    """Keywords of every operation."""

    device: str
    variant: str | None
    threads: int


class SecretOptions(Options, total=False):
    """Keywords of the operations that have a timing class."""

    secret: bool
