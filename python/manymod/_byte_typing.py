# SPDX-License-Identifier: Apache-2.0
"""Types of the signatures of methods on batches of byte strings."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteBatch", "ManyBytes", "VerdictsAlone", "VerifyErrors"]

#: Batches of byte strings whose results are of the same type.
ByteBatch = TypeVar("ByteBatch", bytes, list[bytes], NDArray[np.uint8])

#: The same, of several byte strings.
ManyBytes = TypeVar("ManyBytes", list[bytes], NDArray[np.uint8])

#: What becomes of signatures that could not be checked.
VerifyErrors = Literal["false", "raise", "status"]

#: Values of these with which the answer has no statuses.
VerdictsAlone = Literal["false", "raise"]
