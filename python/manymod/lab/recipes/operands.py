# SPDX-License-Identifier: Apache-2.0
"""Operands of arithmetic rows, on the host or in the memory of a GPU, and the right answers of some items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod.intarray import limbs_for
from manymod.lab.model import RowError

__all__ = ["Limbs", "check", "full_length", "integers", "moduli", "placed", "residues"]

Limbs = NDArray[np.uint64]
#: Items whose results are compared with Python's.
_CHECKED = 8


def _random(source: np.random.Generator, count: int, bits: int) -> Limbs:
    limbs = source.integers(0, 1 << 64, size=(count, limbs_for(bits)), dtype=np.uint64)
    limbs[:, -1] &= np.uint64((2 << (bits - 1) % 64) - 1)
    return limbs


def full_length(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random numbers of just `bits` bits."""
    limbs = _random(source, count, bits)
    limbs[:, -1] |= np.uint64(1 << (bits - 1) % 64)
    return limbs


def moduli(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Odd ones of just `bits` bits."""
    limbs = full_length(source, count, bits)
    limbs[:, 0] |= np.uint64(1)
    return limbs


def residues(source: np.random.Generator, count: int, bits: int) -> Limbs:
    """Random numbers below every modulus of just `bits` bits."""
    limbs = _random(source, count, bits)
    limbs[:, -1] &= np.uint64((1 << (bits - 1) % 64) - 1)
    return limbs


def integers(limbs: Limbs, rows: Sequence[int]) -> list[int]:
    """Some rows as integers; an operand of one row is that of every item."""
    return [int.from_bytes(limbs[row % len(limbs)].tobytes(), "little") for row in rows]


def placed(limbs: Limbs, device: str) -> Any:
    """The array where a plan of the device takes it without a copy: in GPU memory on a GPU."""
    return limbs if device == "cpu" else manymod.to_device(limbs, device)


def check(name: str, result: Any, right: Any, count: int) -> int:
    """Compare some items of a result with `right(rows)`; their number.

    Raises:
        RowError: if one is wrong.
    """
    rows = sorted({*range(0, count, max(1, count // _CHECKED)), count - 1})
    found = integers(np.asarray(result.numpy() if hasattr(result, "numpy") else result), rows)
    for row, got, expected in zip(rows, found, right(rows), strict=True):
        if got != expected:
            raise RowError(f"{name}: item {row} of {count} is wrong")
    return len(rows)
