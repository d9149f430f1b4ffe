# SPDX-License-Identifier: Apache-2.0
"""A table through elliptic curves: sign, verify, exchange, recover, or make public keys of every row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manymod.ecc import Curve, KeyRing
from manymod.errors import Status
from manymod.tables.job import RowProgress
from manymod.tables.key_job import KeyJob

__all__ = ["OPERANDS", "EccJob"]

#: Columns of each operation, in the order of the method's arguments.
OPERANDS = {
    "sign": ("message",),
    "verify": ("signature", "message"),
    "exchange": ("point",),
    "public": (),
    "recover": ("signature", "message"),
}
#: The column of each row's key, where the rows themselves have them.
KEY_OPERANDS = {"sign": "secret", "verify": "public", "exchange": "secret", "public": "secret"}
_METHODS = {"public": "public_keys"}
#: Operations that a `KeyRing` does not have.
_OF_CURVES = frozenset({"public", "recover"})


@dataclass(frozen=True, kw_only=True)
class EccJob(KeyJob):
    """An operation on curves on the rows of a table.

    Attributes:
        operation: ``sign``, ``verify``, ``exchange``, ``public`` or ``recover``, with columns by `OPERANDS`
            and, where the rows have their keys, `KEY_OPERANDS`.
        ring: the keys, or a function that returns them; None where the rows have them, or `recover` finds
            them.
        curve: of the keys of rows.
        how: keywords of the method of `KeyRing` or `Curve`.
        where: keywords of `Curve` that say where to compute.

    Raises:
        ValueError: if `public` or `recover` are given keys.
    """

    family: str = "ecc"
    RING = KeyRing
    ring: KeyRing | Callable[[], KeyRing] | None = None
    curve: Curve | None = None
    how: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)

    VERDICTS: ClassVar[frozenset[Status]] = frozenset({Status.ECC_SIGNATURE, Status.ECC_POINT})

    def __post_init__(self) -> None:
        if self.ring is not None and self.operation in _OF_CURVES:
            raise ValueError(f"{self.operation} takes no ring of keys: give the curve")

    def fingerprint(self) -> dict[str, Any]:
        """Return operation, columns, keys and options."""
        return {
            **super().fingerprint(),
            "keys": None if self.keys is None else [key.fingerprint for key in self.keys],
            "curve": repr(self.curve),
            "options": {name: repr(value) for name, value in sorted(self.how.items())},
        }

    def check(self) -> None:
        """Raise ValueError for options that do not go together, or not with the curves of the keys."""
        nothing = pa.array([], pa.binary())
        self.call(dict.fromkeys(self.operands, nothing), None if self.ring is None else [], None)

    def call(
        self, values: Mapping[str, Any], keys: list[int] | None, progress: RowProgress | None
    ) -> tuple[Any, NDArray[np.uint8]]:
        """Compute results and statuses."""
        method = _METHODS.get(self.operation, self.operation)
        batches = [values[label] for label in OPERANDS[self.operation]]
        results: tuple[Any, NDArray[np.uint8]]
        if self.keys is not None:
            function = getattr(self.keys, method)
            results = function(*batches, keys, errors="status", progress=progress, **self.how)
            return results
        own = [values[label] for label in (KEY_OPERANDS.get(self.operation),) if label is not None]
        function = getattr(self.curve, method)
        results = function(*own, *batches, errors="status", progress=progress, **self.how, **self.where)
        return results
