# SPDX-License-Identifier: Apache-2.0
"""The interface of what collects the results of a batch, and what its arrays must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from manymod._limbs import Limbs, Signs

__all__ = ["Answer", "check_writable"]


def check_writable(out: NDArray[Any]) -> None:
    """Raise ValueError for an array that cannot hold results: read-only, masked, or over itself."""
    if isinstance(out, ma.MaskedArray):
        raise ValueError("out is a numpy masked array, whose mask would hide results: give its .data")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if _overlaps_itself(out):
        raise ValueError("out has items that share memory, such as those of a broadcast array")


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether items are closer to each other than they are long, so that one would overwrite another."""
    if not array.size:
        return False
    span = array.itemsize  # of what lies within one step of the next axis
    for step, count in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if count > 1 and step < span:
            return True
        span += (count - 1) * step
    return False


class Answer:
    """Collects the results of a batch, run by run, and returns them as the caller's kind of object."""

    #: Results are written into the caller's array itself, so that `store` has nothing to do.
    direct: bool = False
    #: Results are ints or mpz, which `store_objects` takes, too.
    of_objects: bool = False
    #: These are mpz rather than ints.
    mpz: bool = False
    #: Results cannot have signs. The library then gets no signs of the moduli either, even where an array of
    #: them says that no modulus is negative.
    without_signs: bool = False

    def buffers(self, start: int, stop: int, width: int, signed: bool) -> tuple[Any, Signs | None]:
        """Return arrays for results and signs of items [start, stop), `width` limbs or wider."""
        limbs = np.empty((stop - start, width), np.uint64)
        return limbs, np.empty(stop - start, np.uint8) if signed else None

    def store(self, start: int, stop: int, limbs: Limbs, signs: Signs | None) -> None:
        """Keep results that were written into `buffers`."""
        raise NotImplementedError

    def store_objects(self, values: list[Any]) -> None:
        """Keep all results, made elsewhere."""
        raise NotImplementedError

    def finish(self, null: NDArray[np.bool_] | None) -> Any:
        """Return the caller's object."""
        raise NotImplementedError
