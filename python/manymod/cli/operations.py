# SPDX-License-Identifier: Apache-2.0
"""The operations a table can be run through, and how each is called on a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import manymod

__all__ = ["OPERATIONS", "EngineOptions", "Operation", "run_batch"]

#: Limb bytes handed to one engine call, so that one very wide cell cannot blow a whole batch up.
MAX_CALL_BYTES = 48 << 20

ProgressCallback = Callable[[int, int], Any]


@dataclass(frozen=True)
class Operation:
    """One operation: its name, its operands in the order of the call (the modulus last), and a summary."""

    name: str
    operands: tuple[str, ...]
    summary: str
    secret: bool = False


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


def _limb_bytes(value: int) -> int:
    return 8 * max(1, (value.bit_length() + 63) // 64)


def _spans(columns: Sequence[Sequence[int] | int], count: int) -> list[tuple[int, int]]:
    """Split `count` rows into runs whose canonical arrays (every row as wide as the widest) stay bounded."""
    spans: list[tuple[int, int]] = []
    start, widths = 0, [8] * len(columns)
    for row in range(count):
        grown = [
            width if isinstance(column, int) else max(width, _limb_bytes(column[row]))
            for width, column in zip(widths, columns, strict=True)
        ]
        if row > start and sum(grown) * (row + 1 - start) > MAX_CALL_BYTES:
            spans.append((start, row))
            start = row
            grown = [8 if isinstance(column, int) else _limb_bytes(column[row]) for column in columns]
        widths = grown
    if count > start:
        spans.append((start, count))
    return spans


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
    function = getattr(manymod, operation.name)
    words = options.keywords(operation)
    if all(isinstance(column, int) for column in columns):
        columns = [[columns[0]] * count if isinstance(columns[0], int) else columns[0], *columns[1:]]
    results: list[int] = []
    names: list[str] = []
    for start, stop in _spans(columns, count):
        part = [column if isinstance(column, int) else column[start:stop] for column in columns]

        def advance(done: int, _total: int, first: int = start) -> None:
            if progress is not None:
                progress(first + done, count)

        values, statuses = function(*part, errors="status", progress=advance, **words)
        results.extend(values)
        names.extend(status_name(status) for status in statuses)
    return results, names


def status_name(status: Any) -> str:
    """Lower-case name of an item status: ``"ok"``, ``"zero_modulus"``, ``"not_invertible"``, ..."""
    return manymod.Status(int(status)).name.lower()
