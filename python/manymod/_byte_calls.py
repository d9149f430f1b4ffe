# SPDX-License-Identifier: Apache-2.0
"""Calls on batches of byte strings: how those of RSA and those on curves become answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._byte_items import (
    Items,
    Kind,
    Results,
    Verdicts,
    answer_or_error,
    bytes_answer,
    check_out,
    common_count,
    direct_out,
    present_rows,
)
from manymod._key_indices import broadcast, length, taken
from manymod._run import Progress, Watched
from manymod._series import check_labels

__all__ = ["Operands", "answer_bytes", "answer_verdicts"]


class Operands:
    """The operands of a call.

    Args:
        given: byte strings by the operands' names in messages.
        indices: of the items' keys, or curves; None: the first one for all.
        index_labels: the index of the Series of pandas that the indices were, None if they were none.
        secret: names of operands whose copies are zeroed after use.

    Attributes:
        count: the number of items; None where every operand stands for any number of items.
        total: the same, 1 for None.

    Raises:
        ValueError: if operands differ in length, or Series in their indices.
    """

    def __init__(
        self,
        given: Mapping[str, Items],
        indices: NDArray[np.uint32] | None,
        index_labels: Any = None,
        secret: frozenset[str] = frozenset(),
    ) -> None:
        self.given, self.indices, self._secret = given, indices, secret
        counts: dict[str, int | None] = {}
        labels: dict[str, Any] = {}
        for name, operand in given.items():
            counts[name], labels[name] = operand.count, operand.labels
        counts["key_indices"], labels["key_indices"] = length(indices), index_labels
        check_labels(labels)
        self.count = common_count(counts)
        self.total = 1 if self.count is None else self.count

    def index_of_each(self) -> NDArray[np.uint32] | None:
        """An index for each item; None: 0 for all."""
        return broadcast(self.indices, self.total)

    def take(self, rows: NDArray[np.intp]) -> Operands:
        """These items alone."""
        given = {name: operand.take(rows) for name, operand in self.given.items()}
        return Operands(given, taken(self.indices, rows), secret=self._secret)

    def wipe(self) -> None:
        """Zero the copies of secrets."""
        for name in self._secret:
            if name in self.given:
                self.given[name].wipe()


def answer_bytes(
    name: str,
    compute: Callable[[Operands, Results, Progress | None], int],
    operands: Operands,
    source: Items,
    *,
    width: int,
    one_size: bool,
    secret: bool,
    errors: str,
    out: Any,
    progress: Progress | None,
) -> Any:
    """Compute results that are bytes.

    Args:
        name: of the operation in messages.
        compute: computes all items of its operands. Returns MM_OK or MM_ERR_ITEMS; raises on everything else.
        operands: of the call.
        source: decides the kind of the answer.
        width: bytes of the longest result.
        one_size: as of `bytes_answer`.
        secret: whether the results are secret: no exception holds them, and they are zeroed in the memory of
            the call, unless the answer is that memory.
        errors: as everywhere in the package.
        out: likewise.
        progress: likewise.
    """
    if out is not None:
        check_out(out, source.kind, operands.total, width)
    null, present = present_rows(source, *operands.given.values())
    direct = direct_out(out, operands.given.values())
    results = Results(operands.total, width, direct, sized=source.kind is not Kind.ROWS)
    watched = None if progress is None else Watched(progress)
    answer = None
    try:
        code = _compute_present(compute, operands, present, results, watched)
        if watched is not None:
            watched.finish(operands.total)
        raises = code == _core.MM_ERR_ITEMS and errors == "raise"
        # Exceptions are logged and pickled, and tracebacks hold this frame.
        if not (secret and raises):
            answer = bytes_answer(
                source, results.rows, results.sizes, null, out, one_size=one_size, wiped=secret
            )
    finally:
        if secret and results.rows is not answer and results.rows is not out:
            results.rows.fill(0)
        operands.wipe()
    return answer_or_error(name, answer, results.status, null, errors, scalar=operands.count is None)


def _compute_present(
    compute: Callable[[Operands, Results, Progress | None], int],
    operands: Operands,
    present: NDArray[np.intp] | None,
    results: Results,
    progress: Progress | None,
) -> int:
    """Compute the items that are present (None: all). Returns what `compute` does."""
    if present is None:
        return compute(operands, results, progress)
    part, chosen = results.part(len(present)), operands.take(present)
    try:
        code = compute(chosen, part, progress)
        results.put(present, part)
    finally:
        part.rows.fill(0)
        chosen.wipe()
    return code


def answer_verdicts(
    compute: Callable[[Operands, Verdicts, Progress | None], int],
    operands: Operands,
    source: Items,
    *,
    errors: str,
    progress: Progress | None,
) -> Any:
    """Compute a verdict for each item; the arguments are those of `answer_bytes`."""
    null, present = present_rows(source, *operands.given.values())
    verdicts = Verdicts(operands.total, present)
    watched = None if progress is None else Watched(progress)
    compute(operands if present is None else operands.take(present), verdicts, watched)
    if watched is not None:
        watched.finish(operands.total)
    return verdicts.answer(source, null, errors, scalar=operands.count is None)
