# SPDX-License-Identifier: Apache-2.0
"""A table through RSA: sign, verify, encrypt or decrypt every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manymod.errors import Status
from manymod.rsa import KeyRing, Padding
from manymod.tables.job import RowProgress
from manymod.tables.key_job import KeyJob

__all__ = ["OPERANDS", "RsaJob"]

#: Columns of each operation.
OPERANDS = {
    "sign": ("message",),
    "verify": ("signature", "message"),
    "encrypt": ("message",),
    "decrypt": ("ciphertext",),
}


@dataclass(frozen=True, kw_only=True)
class RsaJob(KeyJob):
    """An RSA operation on the rows of a table.

    Attributes:
        operation: ``sign``, ``verify``, ``encrypt`` or ``decrypt``, with columns by `OPERANDS`.
        ring: the keys, or a function that returns them.
        padding: of every row.
        algorithm: of signatures.
        left_pad: signatures shorter than the modulus lack leading zero bytes.
    """

    family: str = "rsa"
    RING = KeyRing
    ring: KeyRing | Callable[[], KeyRing]
    padding: Padding
    algorithm: Any = None
    left_pad: bool = False

    VERDICTS: ClassVar[frozenset[Status]] = frozenset({Status.RSA_SIGNATURE_LENGTH})

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, columns, keys and padding."""
        left_pad = ["left pad"] if self.left_pad else []
        return {
            **super().fingerprint(),
            "keys": [key.fingerprint for key in self.keys],
            "padding": [repr(self.padding), repr(self.algorithm), *left_pad],
        }

    def call(
        self, values: Mapping[str, Any], keys: list[int] | None, progress: RowProgress | None
    ) -> tuple[Any, NDArray[np.uint8]]:
        """Compute results and statuses."""
        how = [self.padding] if self.algorithm is None else [self.padding, self.algorithm]
        function = getattr(self.keys, self.operation)
        batches = [values[label] for label in OPERANDS[self.operation]]
        options = {"left_pad": self.left_pad} if self.operation == "verify" else {}
        results: tuple[Any, NDArray[np.uint8]]
        results = function(*batches, keys, *how, errors="status", progress=progress, **options)
        return results
