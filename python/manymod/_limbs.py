# SPDX-License-Identifier: Apache-2.0
"""Integers and bytes as limbs: ``uint64[N, L]``, little-endian, as the C ABI takes them, and their signs."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from manymod import _core

__all__ = [
    "Limbs",
    "Signs",
    "bytes_to_limbs",
    "canonical_limbs",
    "ints_to_limbs",
    "lengths_in_bits",
    "limbs_for",
    "refuse_mask",
    "scan_ints",
]

Limbs = NDArray[np.uint64]
Signs = NDArray[np.uint8]


def limbs_for(bits: int) -> int:
    """Limbs that hold `bits` bits, at least 1."""
    return max(1, (bits + 63) >> 6)


def canonical_limbs(limbs: NDArray[Any]) -> Limbs:
    """Return uint64[N, L], L >= 1, as the C ABI takes it: `limbs` itself where its layout already fits."""
    if limbs.dtype != np.uint64 or not limbs.dtype.isnative:
        limbs = limbs.astype(np.uint64, casting="equiv")
    count, width = limbs.shape
    if width == 0:
        return np.zeros((count, 1), np.uint64)
    step, inner = limbs.strides
    fits = (width == 1 or inner == 8) and (count <= 1 or (step >= 8 * width and step % 8 == 0))
    return limbs if fits and limbs.flags.aligned else limbs.copy(order="C")


def scan_ints(values: Sequence[Any]) -> tuple[Sequence[Any], int, bool, bool]:
    """The sequence to convert, its widest bit length, whether it has negative ones, whether it has mpz.

    numpy's bools have no ``__index__``; they are taken as Python's are.
    """
    try:
        return _core.scan_ints(values)
    except TypeError:
        if not any(isinstance(value, np.bool_) for value in values):
            raise
    return _core.scan_ints([int(value) if isinstance(value, np.bool_) else value for value in values])


def refuse_mask(name: str, array: Any) -> None:
    """Raise TypeError for a masked array: there is nothing behind the mask to compute with."""
    if isinstance(array, ma.MaskedArray):
        raise TypeError(
            f"{name} is a numpy masked array, whose mask would be lost: "
            "give .filled(...) of it, or Arrow with nulls"
        )


def ints_to_limbs(values: Sequence[Any], room: int | None = None) -> tuple[Limbs, Signs | None]:
    """Limbs, `room` bits wide or as wide as the widest, and signs (None: nothing negative) of integers."""
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError(f"expected a sequence of integers, not {type(values).__name__}")
    scanned, bits, negative, _ = scan_ints(values)
    if room is not None and bits > room and _core.most_bits(scanned) > room:
        lengths = [operator.index(value).bit_length() for value in scanned]
        item = next(i for i, length in enumerate(lengths) if length > room)
        raise OverflowError(f"item {item} has {lengths[item]} bits, more than {room}")
    limbs = np.empty((len(scanned), limbs_for(bits if room is None else room)), np.uint64)
    signs = np.empty(len(scanned), np.uint8) if negative else None
    _core.ints_to_limbs(scanned, 0, limbs, signs)
    return limbs, signs


def lengths_in_bits(limbs: Limbs) -> NDArray[np.int64]:
    """Bit length of each row."""
    lengths = np.empty(len(limbs), np.int64)
    _core.bit_lengths(limbs, lengths)
    return lengths


def bytes_to_limbs(rows: NDArray[np.uint8]) -> Limbs:
    """uint64[N, ceil(W / 8)] from big-endian uint8[N, W]."""
    limbs = np.empty((rows.shape[0], limbs_for(8 * rows.shape[1])), np.uint64)
    if not rows.size or rows.shape[1] == 1 or rows.strides[1] == 1:
        _core.bytes_to_limbs(rows, limbs)
        return limbs
    copied = rows.copy(order="C")
    _core.bytes_to_limbs(copied, limbs)
    copied.fill(0)  # the bytes may be secret
    return limbs


if sys.byteorder != "little":
    raise ImportError("manymod needs a little-endian machine")
