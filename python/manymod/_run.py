# SPDX-License-Identifier: Apache-2.0
"""Running a batch: in runs of bounded memory, around null items, with one status per item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answers import Answer
from manymod._operands import Batch, Operand
from manymod.errors import Status, _raise_items
from manymod.intarray import Limbs, Signs

__all__ = ["Errors", "Kernel", "Progress", "execute", "merge_nulls"]

Progress = Callable[[int, int], Any]
Errors = Literal["raise", "status"]

#: Bytes of converted operands and results held at a time.
RUN_BYTES = 64 << 20

#: MM_ERR_ITEMS: the call ran, some items carry a status.
_SOME_ITEMS = 64


class Kernel(Protocol):
    """Computes some items: operands in, results and statuses out."""

    def __call__(
        self,
        count: int,
        operands: Sequence[Batch],
        modulus: Batch | None,
        result: Limbs,
        result_signs: Signs | None,
        status: NDArray[np.uint8],
        progress: Progress | None,
        first: int,
        total: int,
    ) -> int:
        """Return MM_OK or MM_ERR_ITEMS; raise on everything else."""


class _Column:
    """One operand in the runs of a batch."""

    def __init__(self, source: Operand, width: int | None) -> None:
        self.source = source
        self.width = source.width if width is None else width
        self.widths: NDArray[np.uint32] | None = None
        self.pinned = width is not None
        self.single = source.rows(0, 1, self.width) if source.count is None else None

    def read(self, start: int, stop: int) -> Batch:
        if self.single is not None:
            return self.single
        return self.source.rows(start, stop, self.width_of(start, stop))

    def width_of(self, start: int, stop: int) -> int:
        return self.width if self.widths is None else int(self.widths[start:stop].max(initial=1))


class _Watched:
    """A progress function that is sure to hear of the end."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.last = -1

    def __call__(self, done: int, total: int) -> None:
        self.last = done
        self.progress(done, total)

    def finish(self, total: int) -> None:
        if self.last != total:
            self.progress(total, total)


def _ends_of_runs(count: int, columns: Sequence[_Column], modulus: _Column | None, direct: bool) -> list[int]:
    """Ends of runs whose arrays stay within RUN_BYTES, however the widths of the items are mixed."""
    converted = [column for column in columns if not column.source.direct]
    # Results take as much again as the moduli they are residues of.
    if not direct and modulus is not None:
        converted.append(modulus)
    row_bytes = 8 * sum(column.width for column in converted)
    if count * row_bytes <= RUN_BYTES:
        return [count]
    fixed_bytes = 0
    varied = []
    for column in converted:
        if column.widths is None and not column.pinned:
            column.widths = column.source.varied()
        if column.widths is None:
            fixed_bytes += 8 * column.width
        else:
            varied.append(column.widths)
    if varied:
        return _core.split_runs(varied, fixed_bytes, RUN_BYTES)
    step = max(1, RUN_BYTES // fixed_bytes)
    return [*range(step, count, step), count]


def merge_nulls(operands: Sequence[Operand]) -> NDArray[np.bool_] | None:
    """Items of which an operand is null, None if there are none."""
    null: NDArray[np.bool_] | None = None
    for item in operands:
        if item.null is not None:
            null = item.null if null is None else null | item.null
    return null


def _take(batch: Batch, rows: NDArray[np.intp], count: int) -> Batch:
    limbs, signs = batch
    if len(limbs) != count:
        return batch
    return limbs[rows], None if signs is None else signs[rows]


def _run_present(kernel: Kernel, absent: NDArray[np.bool_], run: tuple[Any, ...]) -> int:
    """Run the items that are not null; the others get result 0 and NOT_COMPUTED."""
    count, operands, modulus, result, signs, status, progress, first, total = run
    rows = np.flatnonzero(~absent)
    result[:] = 0
    status[:] = Status.NOT_COMPUTED
    if signs is not None:
        signs[:] = 0
    if not len(rows):
        return 0
    part = np.empty((len(rows), result.shape[1]), np.uint64)
    part_signs = None if signs is None else np.empty(len(rows), np.uint8)
    part_status = np.empty(len(rows), np.uint8)
    taken = [_take(batch, rows, count) for batch in operands]
    taken_modulus = None if modulus is None else _take(modulus, rows, count)
    code = kernel(len(rows), taken, taken_modulus, part, part_signs, part_status, progress, first, total)
    result[rows] = part
    status[rows] = part_status
    if signs is not None:
        signs[rows] = part_signs
    return code


def execute(
    op: str,
    kernel: Kernel,
    operands: Sequence[Operand],
    modulus: Operand,
    count: int | None,
    answer: Answer,
    *,
    errors: str,
    progress: Progress | None,
    pinned_widths: Sequence[int | None] = (),
    send_modulus: bool = True,
) -> Any:
    """Compute a batch of `count` items (None: one, all operands being scalars) and make the answer.

    `pinned_widths` holds, for operands whose width must not depend on their values, the limbs to give them.
    """
    total = 1 if count is None else count
    pins = [*pinned_widths, *[None] * (len(operands) - len(pinned_widths))]
    columns = [_Column(item, width) for item, width in zip(operands, pins, strict=True)]
    modulus_column = _Column(modulus, None)
    watched = None if progress is None else _Watched(progress)
    null = merge_nulls([*operands, modulus])
    status = np.empty(total, np.uint8)
    some_bad = False
    start = 0
    everything = [*columns, modulus_column] if send_modulus else columns
    for stop in _ends_of_runs(total, everything, modulus_column, answer.direct) if total else ():
        batches = [column.read(start, stop) for column in columns]
        moduli = modulus_column.read(start, stop)
        width = modulus_column.width_of(start, stop)
        limbs, signs = answer.buffers(start, stop, width, modulus.signed)
        sent = moduli if send_modulus else None
        run = (stop - start, batches, sent, limbs, signs, status[start:stop], watched, start, total)
        if null is not None and null[start:stop].any():
            code = _run_present(kernel, null[start:stop], run)
        else:
            code = kernel(*run)
        some_bad |= code == _SOME_ITEMS
        answer.store(start, stop, limbs, signs)
        start = stop
    if watched is not None:
        watched.finish(total)
    result = answer.finish(null)
    if errors == "status":
        return result, (Status(int(status[0])) if count is None else status)
    if some_bad:
        bad = status != 0
        if null is not None:
            bad &= ~null
        _raise_items(op, bad, status, result, count is None)
    return result
