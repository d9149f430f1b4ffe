# SPDX-License-Identifier: Apache-2.0
"""The operations a table can be run through, and how each is called on a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import manymod

__all__ = ["OPERATIONS", "EngineOptions", "Operation", "run_batch", "status_names"]

ProgressCallback = Callable[[int, int], Any]


@dataclass(frozen=True)
class Operation:
    """One operation: its name, its operands in the order of the call (the modulus last), and a summary."""

    name: str
    operands: tuple[str, ...]
    summary: str
    secret: bool = False

    @property
    def batch_rows(self) -> int:
        """Rows at a time: enough for all cores, few enough that an interruption loses seconds at most."""
        return 1024 if self.secret else 8192


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("addmod", ("x", "y", "mod"), "x + y mod n of every row."),
        Operation("submod", ("x", "y", "mod"), "x - y mod n of every row."),
        Operation("negmod", ("x", "mod"), "-x mod n of every row."),
        Operation("mulmod", ("x", "y", "mod"), "x * y mod n of every row."),
        Operation("sqrmod", ("x", "mod"), "x^2 mod n of every row."),
        Operation("powmod", ("base", "exp", "mod"), "base^exp mod n of every row.", secret=True),
        Operation("invmod", ("x", "mod"), "The inverse of x mod n of every row.", secret=True),
    )
}


@dataclass(frozen=True)
class EngineOptions:
    """How the engine runs; none of it changes a result (timing class `secret` refuses even moduli)."""

    secret: bool = False
    device: str = "auto"
    variant: str | None = None
    threads: int = 0

    def keywords(self, operation: Operation) -> dict[str, Any]:
        """Keyword arguments of the operation's function."""
        words: dict[str, Any] = {"device": self.device, "variant": self.variant, "threads": self.threads}
        if operation.secret:
            words["secret"] = self.secret
        return words


def run_batch(
    operation: Operation,
    columns: Sequence[list[int] | int],
    count: int,
    options: EngineOptions,
    progress: ProgressCallback | None = None,
) -> tuple[list[int], list[str]]:
    """Run `count` rows; each column is one integer per row or one for all.

    Returns the results and the status name of every row, ``"ok"`` where the result stands.
    """
    if all(isinstance(column, int) for column in columns):
        first, *others = columns
        columns = [[first] * count, *others]  # type: ignore[list-item]
    values, statuses = getattr(manymod, operation.name)(
        *columns, errors="status", progress=progress, **options.keywords(operation)
    )
    return values, status_names(statuses)


def status_names(statuses: Iterable[int]) -> list[str]:
    """Lower-case names of item statuses: ``"ok"``, ``"zero_modulus"``, ``"not_invertible"``, ..."""
    names = {int(status): status.name.lower() for status in manymod.Status}
    return [names[int(status)] for status in statuses]
