# SPDX-License-Identifier: Apache-2.0
"""The interface of what collects the results of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod.intarray import Limbs, Signs

__all__ = ["Answer"]


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
