# SPDX-License-Identifier: Apache-2.0
"""Types of the signatures of RSA's methods."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteBatch"]

#: Batches of byte strings that come back as what they are.
ByteBatch = TypeVar("ByteBatch", bytes, list[bytes], NDArray[np.uint8])
