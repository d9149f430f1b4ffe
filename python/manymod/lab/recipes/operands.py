# SPDX-License-Identifier: Apache-2.0
"""Where operands of arithmetic rows are, on the host or on a GPU, and how some results are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import manymod
from manymod._limbs import Limbs
from manymod.lab.model import RowError

__all__ = ["check", "integers", "placed"]

#: Items whose results are compared with Python's.
_CHECKED = 8


def integers(limbs: Limbs, rows: Sequence[int]) -> list[int]:
    """Some rows as integers; an operand of one row is that of every item."""
    return [int.from_bytes(limbs[row % len(limbs)].tobytes(), "little") for row in rows]


def placed(limbs: Limbs, device: str) -> Any:
    """The array where a plan of the device takes it without a copy: in GPU memory on a GPU."""
    return limbs if device == "cpu" else manymod.to_device(limbs, device)


def check(name: str, result: Any, right: Any, count: int) -> int:
    """Compare some items of a result with `right(rows)`, and return how many.

    Raises:
        RowError: if one is wrong.
    """
    rows = sorted({*range(0, count, max(1, count // _CHECKED)), count - 1})
    found = integers(np.asarray(result.numpy() if hasattr(result, "numpy") else result), rows)
    for row, got, expected in zip(rows, found, right(rows), strict=True):
        if got != expected:
            raise RowError(f"{name}: item {row} of {count} is wrong")
    return len(rows)
