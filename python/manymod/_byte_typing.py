# SPDX-License-Identifier: Apache-2.0
"""Types of the signatures of methods on batches of byte strings."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteBatch", "ManyBytes", "VerdictsAlone", "VerifyErrors"]

#: Batches of byte strings that come back as what they are.
ByteBatch = TypeVar("ByteBatch", bytes, list[bytes], NDArray[np.uint8])

#: Those of several byte strings.
ManyBytes = TypeVar("ManyBytes", list[bytes], NDArray[np.uint8])

#: What becomes of signatures that could not be checked.
VerifyErrors = Literal["false", "raise", "status"]

#: Of these, where the answer has no statuses.
VerdictsAlone = Literal["false", "raise"]
