# SPDX-License-Identifier: Apache-2.0
"""Running a batch: in runs of bounded memory, around null items, with one status per item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answer import Answer
from manymod._arrow import merged_nulls
from manymod._limbs import Limbs, Signs
from manymod._operand_kinds import Batch, Operand
from manymod.errors import Status, _item_error

__all__ = [
    "Errors",
    "Kernel",
    "ListKernel",
    "Progress",
    "Watched",
    "execute",
]

Progress = Callable[[int, int], Any]
Errors = Literal["raise", "status"]

#: Bytes of converted operands and results that are in memory at a time.
RUN_BYTES = 64 << 20


#: The same for operations that take no longer than conversions: these bytes stay in the caches of a core.
BLOCK_BYTES = 2 << 20
#: Limbs of the longest integers that are converted in blocks, where all rows are as wide as the widest.
BLOCK_LIMBS = 256


class Kernel(Protocol):
    """Computes some items: operands in, results and statuses out."""

    def __call__(
        self,
        count: int,
        operands: Sequence[Batch],
        modulus: Batch | None,
        result: Any,
        result_signs: Signs | None,
        status: NDArray[np.uint8],
        progress: Progress | None,
        first: int,
        total: int,
    ) -> int:
        """Return MM_OK or MM_ERR_ITEMS; raise on everything else."""


class ListKernel(Protocol):
    """Computes items of lists in blocks: `_core.Plan.run_lists`."""

    def __call__(
        self,
        count: int,
        block: int,
        operands: tuple[tuple[Any, ...], ...],
        modulus: tuple[Any, ...],
        signed_result: bool,
        mpz: bool,
        status: NDArray[np.uint8],
        progress: Progress | None,
    ) -> tuple[list[Any], int]:
        """Return the results, and MM_OK or MM_ERR_ITEMS; raise on everything else."""


class _RunOperand:
    """One operand in the runs of a batch."""

    def __init__(self, source: Operand, width: int | None, secret: bool) -> None:
        self.source = source
        self.width = source.width if width is None else width
        self.widths: NDArray[np.uint32] | None = None
        #: Whether all runs have rows of one width, whatever the values.
        self.pinned = width is not None
        #: Whether copies that conversion makes are zeroed after use.
        self.secret = secret
        self.single = source.rows(0, 1, self.width) if source.count is None else None

    def read(self, start: int, stop: int) -> Batch:
        if self.single is not None:
            return self.single
        return self.source.rows(start, stop, self.width_of(start, stop))

    def width_of(self, start: int, stop: int) -> int:
        return self.width if self.widths is None else int(self.widths[start:stop].max(initial=1))


class Watched:
    """A progress function that is always called at the end, if there are items."""

    def __init__(self, progress: Progress) -> None:
        if not callable(progress):
            raise TypeError(f"progress must be a function of two numbers, not {type(progress).__name__}")
        self.progress = progress
        self.last = 0

    def __call__(self, done: int, total: int) -> None:
        self.last = done
        self.progress(done, total)

    def finish(self, total: int) -> None:
        if self.last != total:
            self.progress(total, total)


def _ends_of_item_runs(
    count: int, columns: Sequence[_RunOperand], modulus: _RunOperand | None, direct: bool
) -> list[int]:
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


def _take(batch: Batch, rows: NDArray[np.intp], count: int) -> Batch:
    limbs, signs = batch
    if len(limbs) != count:
        return batch
    return limbs[rows], None if signs is None else signs[rows]


class _BatchRun:
    """A batch while it is computed."""

    def __init__(
        self,
        kernel: Kernel,
        columns: Sequence[_RunOperand],
        modulus: _RunOperand,
        send_modulus: bool,
        answer: Answer,
        progress: Progress | None,
        status: NDArray[np.uint8],
    ) -> None:
        self.kernel = kernel
        self.columns = columns
        self.modulus = modulus
        #: The operands that the kernel is given.
        self.sent = [*columns, modulus] if send_modulus else columns
        self.answer = answer
        self.progress = progress
        self.total = len(status)
        self.status = status
        self.null = merged_nulls(column.source.null for column in (*columns, modulus))

    def ends_of_runs(self) -> list[int]:
        """Ends of runs of bounded memory."""
        if not self.total:
            return []
        return _ends_of_item_runs(self.total, self.sent, self.modulus, self.answer.direct)

    def run_all(self) -> bool:
        """Compute all items in runs. Returns whether some have a status."""
        some_bad = False
        start = 0
        try:
            for stop in self.ends_of_runs():
                some_bad |= self.run(start, stop)
                start = stop
        finally:
            self.wipe_sources()
        return some_bad

    def run(self, start: int, stop: int) -> bool:
        """Compute items [start, stop). Returns whether some have a status."""
        width = self.modulus.width_of(start, stop)
        signed = self.modulus.source.signed and not self.answer.without_signs
        limbs, signs = self.answer.buffers(start, stop, width, signed)
        absent = None if self.null is None else self.null[start:stop]
        batches: list[Batch] = []
        try:
            batches.extend(column.read(start, stop) for column in self.sent)
            if absent is not None and absent.any():
                code = self._run_present(start, absent, batches, limbs, signs)
            else:
                results = (limbs, signs, self.status[start:stop])
                code = self._call(stop - start, batches, *results, start)
        finally:
            self._wipe(batches)
        self.answer.store(start, stop, limbs, signs)
        return code == _core.MM_ERR_ITEMS

    def _call(
        self,
        count: int,
        batches: Sequence[Batch],
        limbs: Limbs,
        signs: Signs | None,
        status: NDArray[np.uint8],
        start: int,
    ) -> int:
        operands, modulus = batches[: len(self.columns)], None
        if len(batches) > len(operands):
            moduli, modulus_signs = batches[-1]
            modulus = moduli, None if self.answer.without_signs else modulus_signs
        return self.kernel(count, operands, modulus, limbs, signs, status, self.progress, start, self.total)

    def _run_present(
        self,
        start: int,
        absent: NDArray[np.bool_],
        batches: Sequence[Batch],
        limbs: Limbs,
        signs: Signs | None,
    ) -> int:
        """Compute the items that are not null; the others get result 0 and NOT_COMPUTED."""
        count, rows = len(absent), np.flatnonzero(~absent)
        status = self.status[start : start + count]
        limbs[:] = 0
        status[:] = Status.NOT_COMPUTED
        if signs is not None:
            signs[:] = 0
        if not len(rows):
            return 0
        part = np.empty((len(rows), limbs.shape[1]), np.uint64)
        part_signs = None if signs is None else np.empty(len(rows), np.uint8)
        part_status = np.empty(len(rows), np.uint8)
        taken: list[Batch] = []
        try:
            taken.extend(_take(batch, rows, count) for batch in batches)
            code = self._call(len(rows), taken, part, part_signs, part_status, start)
        finally:
            for column, (mine, _), (given, _) in zip(self.sent, taken, batches, strict=False):
                if column.secret and mine is not given:
                    mine.fill(0)
        limbs[rows] = part
        status[rows] = part_status
        if signs is not None and part_signs is not None:
            signs[rows] = part_signs
        return code

    def _wipe(self, batches: Sequence[Batch]) -> None:
        """Zero the copies of secret operands that were made for one run; a scalar serves all runs."""
        for column, (limbs, _) in zip(self.sent, batches, strict=False):
            if column.secret and column.source.copies and column.single is None:
                limbs.fill(0)

    def wipe_sources(self) -> None:
        """Zero the copies of secret operands that served all runs."""
        for column in [*self.columns, self.modulus]:
            if not column.secret:
                continue
            column.source.wipe_decoded()
            if column.single is not None and column.source.copies:
                column.single[0].fill(0)


def _in_blocks(source: Operand, width: int, total: int) -> tuple[Any, ...] | None:
    """An operand for a ListKernel: elements that it converts in blocks, or limbs for all items.

    None if it is neither a list of short integers nor a single one.
    """
    if source.count is None and (total > 1 or source.elements is None):
        return None, *source.rows(0, 1, width)
    if source.elements is None or source.null is not None or width > BLOCK_LIMBS:
        return None
    return source.elements, width, source.signed


def _run_lists(
    kernel: ListKernel,
    operands: Sequence[Operand],
    modulus: Operand,
    answer: Answer,
    status: NDArray[np.uint8],
    progress: Progress | None,
) -> bool | None:
    """Compute all items of lists in blocks.

    Returns whether some have a status; None if nothing was computed, as an operand is of another kind.
    """
    if not answer.of_objects:
        return None
    limbs = modulus.width
    described_modulus = _in_blocks(modulus, limbs, len(status))
    if described_modulus is None:
        return None
    limbs *= 2  # of a modulus and a result
    described = []
    for item in operands:
        width = item.width
        limbs += width
        one = _in_blocks(item, width, len(status))
        if one is None:
            return None
        described.append(one)
    block = max(32, BLOCK_BYTES // (8 * limbs))
    values, code = kernel(
        len(status), block, tuple(described), described_modulus, modulus.signed, answer.mpz, status, progress
    )
    answer.store_objects(values)
    return code == _core.MM_ERR_ITEMS


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
    lists: ListKernel | None = None,
) -> Any:
    """Compute a batch of `count` items (None: one, all operands being scalars) and make the answer.

    `pinned_widths` holds, for secret operands, the limbs to give every item whatever its value; copies of
    such operands, and of their moduli, are zeroed. `lists` computes lists in blocks.
    """
    status = np.empty(1 if count is None else count, np.uint8)
    watched = None if progress is None else Watched(progress)
    null: NDArray[np.bool_] | None = None
    some_bad = None
    if lists is not None and not pinned_widths and len(status):
        some_bad = _run_lists(lists, operands, modulus, answer, status, watched)
    if some_bad is None:
        pins = [*pinned_widths, *[None] * (len(operands) - len(pinned_widths))]
        columns = [
            _RunOperand(item, width, width is not None) for item, width in zip(operands, pins, strict=True)
        ]
        moduli = _RunOperand(modulus, None, any(column.secret for column in columns))
        job = _BatchRun(kernel, columns, moduli, send_modulus, answer, watched, status)
        some_bad, null = job.run_all(), job.null
    if watched is not None:
        watched.finish(len(status))
    result = answer.finish(null)
    if errors == "status":
        return result, (Status(int(status[0])) if count is None else status)
    if some_bad:
        bad = status != 0
        if null is not None:
            bad &= ~null
        raise _item_error(op, bad, status, result, count is None)
    return result
