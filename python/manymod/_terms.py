# SPDX-License-Identifier: Apache-2.0
"""Operations whose items have terms: rows of integers in every accepted kind, and calls on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answers import answer_for, check_apart
from manymod._device import ROW_BITS, DeviceRows, check_one_device, device_operand, is_on_device, on_host
from manymod._limbs import Limbs, Signs, refuse_mask
from manymod._operand_kinds import Batch, Kind, Operand
from manymod._operands import broadcast_row, operand
from manymod._run import RUN_BYTES, Progress, Watched
from manymod._series import check_labels
from manymod.errors import Status, _item_error
from manymod.hardware import get_threads
from manymod.intarray import IntArray
from manymod.plan import checked_errors, shared_handle

__all__ = ["Rows", "TermCall", "TermOperation", "run_terms"]

#: From this many terms on, a single product is split into one partial product for each thread.
_SPLIT_TERMS = 256

#: Operands of more limbs than this are read as wide as the widest integer of a run, not of the batch.
_NARROW_LIMBS = 64


@dataclass(frozen=True)
class TermOperation:
    """An operation whose items have terms.

    Attributes:
        name: as in the library.
        operands: names of the operands, without the modulus.
        fillers: what short rows of each are filled up with, which changes no result.
        combine: puts two partial results of one item together, before they are reduced.
        unit: what the items are called in messages.
    """

    name: str
    operands: tuple[str, ...]
    fillers: tuple[int, ...]
    combine: Callable[[Any, Any], Any]
    unit: str


class Rows:
    """N rows of `terms` integers each, flattened; or one row (``count`` None)."""

    #: Whether the integers are secret, so that runs must not depend on the widths of single ones.
    secret = False
    #: The copy of the caller's array that holds the rows one after the other, None if the array itself does.
    copy: NDArray[Any] | None = None

    def __init__(
        self, flat: Operand, count: int | None, terms: int, lengths: list[int] | None = None
    ) -> None:
        self.flat = flat
        self.count = count
        self.terms = terms
        self._lengths = lengths
        self._widths: NDArray[np.uint32] | None = None

    def length(self, row: int) -> int:
        """Integers in a row as it was given."""
        return self.terms if self._lengths is None else self._lengths[row]

    @property
    def ragged(self) -> bool:
        """Whether rows may have had different lengths as they were given."""
        return self._lengths is not None

    def varied(self) -> NDArray[np.uint32] | None:
        """Limbs that each integer needs, where read() can convert to fewer; measured once."""
        if self._widths is None and not self.secret:
            self._widths = self.flat.varied()
        return self._widths

    def read(self, start: int, stop: int) -> Batch:
        """Integers [start, stop), as wide as the widest of them; a single zero if there are none."""
        if start == stop:
            return np.zeros((1, 1), np.uint64), None
        widths = self.varied() if self.flat.width > _NARROW_LIMBS else None
        width = self.flat.width if widths is None else int(widths[start:stop].max())
        return self.flat.rows(start, stop, width)

    def read_rows(self, start: int, stop: int) -> Batch:
        """Rows [start, stop), or the one row that serves them all."""
        if self.count is None:
            return self.read(0, self.terms)
        return self.read(start * self.terms, stop * self.terms)


def _is_nested(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 3 or (value.ndim == 2 and value.dtype == object)
    return isinstance(value, (list, tuple)) and len(value) > 0 and _is_row(value[0])


def _is_row(value: Any) -> bool:
    """Whether it is a sequence in the place of a row; an array without dimensions is one integer."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, (Sequence, IntArray)) and not isinstance(value, (str, bytes, bytearray))


def _row(name: str, i: int, row: Any) -> list[Any]:
    if not _is_row(row):
        raise TypeError(f"{name}: row {i} is not a sequence of integers: {type(row).__name__}")
    refuse_mask(f"{name}: row {i}", row)
    return list(row)


def _name_bad_term(name: str, rows: Iterable[Iterable[Any]]) -> None:
    """Raise TypeError that names the row and the term of the first element that is no integer."""
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            try:
                operand(name, [value])
            except TypeError:
                kind = type(value).__name__
                raise TypeError(f"{name}: row {i}, term {j} is not an integer: {kind}") from None


def _read_rows(name: str, value: Any, filler: int) -> Rows:
    """`value` as rows, short ones filled up with `filler`."""
    if is_on_device(value):
        return _read_device_rows(name, value)
    if not _is_nested(value):
        flat = operand(name, value)
        if flat.count is None:
            raise TypeError(f"{name} must be a sequence of integers, or of rows of them")
        return Rows(flat, None, flat.count)
    if isinstance(value, np.ndarray):
        count, terms = value.shape[:2]
        integers = value.reshape(count * terms, *value.shape[2:])
        stacked = Rows(_flattened(name, integers, value if value.ndim == 2 else ()), count, terms)
        if not np.may_share_memory(integers, value):
            stacked.copy = integers
        return stacked
    rows = [_row(name, i, row) for i, row in enumerate(value)]
    lengths = [len(row) for row in rows]
    terms = max(lengths)
    filled = list(chain.from_iterable(row + [filler] * (terms - len(row)) for row in rows))
    return Rows(_flattened(name, filled, rows), len(rows), terms, lengths)


def _flattened(name: str, terms: Any, rows: Iterable[Iterable[Any]]) -> Operand:
    """The operand of the terms of rows; a TypeError names the row and the term that is no integer."""
    try:
        return operand(name, terms)
    except TypeError:
        _name_bad_term(name, rows)
        raise


def _read_device_rows(name: str, value: Any) -> Rows:
    """An array in GPU memory: ``uint64[N, T, L]``, or ``uint64[T, L]`` for one row."""
    flat = device_operand(name, value, stacked=True)
    if not isinstance(flat, DeviceRows):
        raise TypeError(f"{name} must be a sequence of integers, or of rows of them")
    if len(flat.shape) < 3:
        return Rows(flat, None, len(flat.on_device))
    return Rows(flat, flat.shape[0], flat.shape[1])


def _common_count(names: Sequence[str], operands: Sequence[Rows]) -> int | None:
    """Number of items, None for a single one of flat sequences; checks all lengths."""
    first, last = operands[0], operands[-1]
    if first.count is not None and last.count is not None and first.count != last.count:
        raise ValueError(f"lengths differ: {names[0]} has {first.count} rows, {names[-1]} has {last.count}")
    count = last.count if first.count is None else first.count
    rows = 1 if count is None else count
    for i in range(rows if first.ragged or last.ragged else min(rows, 1)):
        if first.length(i) != last.length(i):
            where = "" if count is None else f" in row {i}"
            raise ValueError(
                f"lengths differ{where}: {names[0]} has {first.length(i)} items, "
                f"{names[-1]} has {last.length(i)}"
            )
    return count


def _ends_of_row_runs(operands: Sequence[Rows], count: int, terms: int, fixed_bytes: int) -> list[int]:
    """Ends of runs of `count` rows of `terms` integers each, whose arrays stay within RUN_BYTES."""
    operands = [rows for rows in operands if not isinstance(rows.flat, DeviceRows)]
    if count * (fixed_bytes + 8 * terms * sum(rows.flat.width for rows in operands)) <= RUN_BYTES:
        return [count]
    varied = []
    for rows in operands:
        widths = rows.varied() if terms else None
        if widths is None or len(widths) != count * terms:
            fixed_bytes += 8 * terms * rows.flat.width
        else:
            varied.append((widths.reshape(count, terms).max(axis=1) * np.uint32(terms)).astype(np.uint32))
    if varied:
        return _core.split_runs(varied, fixed_bytes, RUN_BYTES)
    step = max(1, RUN_BYTES // max(1, fixed_bytes))
    return [*range(step, count, step), count]


def _padded(batch: Batch, count: int, filler: int) -> Batch:
    """`batch` with fillers to `count` items."""
    limbs, signs = batch
    padded = np.zeros((count, limbs.shape[1]), np.uint64)
    padded[: len(limbs)] = limbs
    padded[len(limbs) :, 0] = filler
    if signs is not None:
        padded_signs = np.zeros(count, np.uint8)
        padded_signs[: len(signs)] = signs
        signs = padded_signs
    return padded, signs


def run_terms(
    operation: TermOperation,
    values: Sequence[Any],
    mod: Any,
    *,
    secret: bool,
    device: str,
    variant: str | None,
    threads: int,
    errors: str,
    out: Any,
    progress: Progress | None,
) -> Any:
    """Compute an operation with terms on operands given in any kind."""
    checked_errors(errors)
    rows = [
        _read_rows(name, value, filler)
        for name, value, filler in zip(operation.operands, values, operation.fillers, strict=True)
    ]
    count = _common_count(operation.operands, rows)
    check_labels({name: row.flat.labels for name, row in zip(operation.operands, rows, strict=True)})
    modulus = operand("mod", mod)
    if any(item.null is not None for item in (*(row.flat for row in rows), modulus)):
        raise ValueError(f"{operation.name} does not take nulls")
    if count is None and modulus.count == 1:
        modulus.count = None
    broadcast_row(modulus, count)
    if modulus.count is not None and modulus.count != count:
        items = 1 if count is None else count
        raise ValueError(f"lengths differ: there are {items} {operation.unit}, mod has {modulus.count}")
    if count is None and out is not None:
        raise ValueError(f"out cannot be used for a single item of {operation.unit}")
    shared = modulus.count is None
    handle = shared_handle(operation.name, secret, shared, modulus.bits, device, variant, threads)
    watched = None if progress is None else Watched(progress)
    if count is None:  # partial results are put together on the host
        flats = [row.flat for row in rows]
        check_one_device(flats)
        modulus = on_host(modulus)
        if secret or not _stay_on_device(flats, modulus):
            for row in rows:
                row.flat = on_host(row.flat)
    call = TermCall(operation, handle, rows, modulus, watched, secret=secret)
    try:
        if count is None:
            return call.single(threads or get_threads(), errors)
        return call.many(count, errors, out)
    finally:
        call.wipe_sources()


def _stay_on_device(operands: Sequence[Operand], modulus: Operand) -> bool:
    """Whether a GPU computes a single item of operands in its memory, without partial results.

    Otherwise they are copied to the host, whose threads share the terms.
    """
    widest = max(item.bits for item in (*operands, modulus))
    return all(isinstance(item, DeviceRows) for item in operands) and widest <= ROW_BITS


class TermCall:
    """One call of an operation with terms."""

    def __init__(
        self,
        operation: TermOperation,
        handle: _core.Plan,
        operands: Sequence[Rows],
        modulus: Operand,
        progress: Watched | None,
        *,
        secret: bool = False,
    ) -> None:
        self.operation = operation
        self.handle = handle
        self.operands = operands
        self.modulus = modulus
        self.progress = progress
        self.secret = secret
        self.terms = operands[0].terms
        #: The one modulus of all items, None if each has its own.
        self.shared_modulus = modulus.rows(0, 1, modulus.width) if modulus.count is None else None
        for rows in operands:
            rows.secret = secret

    def single(self, threads: int, errors: str) -> Any:
        """One item, of partial results over runs of bounded memory."""
        mpz = any(item.mpz for item in (*(rows.flat for rows in self.operands), self.modulus))
        to_objects = _core.limbs_to_mpz if mpz else _core.limbs_to_ints
        modulus = self._moduli(0, 1)
        (n,) = to_objects(*modulus)
        result: Any = None
        status = Status.OK
        start = 0
        # Partial results are put together in a time that depends on them: of secrets there is one.
        ends = [self.terms] if self.secret else _ends_of_row_runs(self.operands, self.terms, 1, 0)
        for stop in ends:
            limbs, signs, statuses = self._partial(start, stop, modulus, threads)
            bad = statuses[statuses != 0]
            if len(bad):
                status = Status(int(bad[0]))
                result = n * 0
                break
            for part in to_objects(limbs, signs):
                result = part if result is None else self.operation.combine(result, part) % n
            start = stop
        self._finish(self.terms)
        if errors == "status":
            return result, status
        if status:
            statuses = np.array([status], np.uint8)
            raise _item_error(self.operation.name, np.ones(1, bool), statuses, result, scalar=True)
        return result

    def _finish(self, total: int) -> None:
        if self.progress is not None:
            self.progress.finish(total)

    def _partial(
        self, start: int, stop: int, modulus: Batch, threads: int
    ) -> tuple[Limbs, Signs | None, NDArray[np.uint8]]:
        """The result of the terms [start, stop), many of them in as many parts as there are threads."""
        count = stop - start
        whole = self.secret or any(isinstance(rows.flat, DeviceRows) for rows in self.operands)
        parts = threads if count >= _SPLIT_TERMS and not whole else 1
        terms = -(-count // parts)
        batches = [rows.read(start, stop) for rows in self.operands]
        if parts * terms != count:
            read = list(batches)
            for i, filler in enumerate(self.operation.fillers):
                batches[i] = _padded(batches[i], parts * terms, filler)
            self._wipe(read)
        limbs = np.empty((parts, self.modulus.width), np.uint64)
        signs = np.empty(parts, np.uint8) if self.modulus.signed else None
        status = np.empty(parts, np.uint8)
        watch = None
        if self.progress is not None:
            progress, total = self.progress, self.terms

            def watch(done: int, _parts: int) -> None:
                progress(min(total, start + done * terms), total)

        padded = parts * terms != count
        try:
            self._run(parts, terms, batches, modulus, (limbs, signs, status), watch, 0, parts)
        finally:
            self._wipe(batches, padded=padded)
        return limbs, signs, status

    def many(self, count: int, errors: str, out: Any) -> Any:
        """N items, in runs of bounded memory."""
        source = next(rows.flat for rows in self.operands if rows.count is not None)
        first = source.products(count) if isinstance(source, DeviceRows) else _RowKind(source, count)
        flats = [rows.flat for rows in self.operands]
        check_apart(out, [*flats, self.modulus])
        answer = answer_for(count, [first, *flats, self.modulus], self.modulus, out)
        signed = self.modulus.signed and not answer.without_signs
        status = np.empty(count, np.uint8)
        start = 0
        converted = (not self.modulus.direct) + (not answer.direct)
        fixed_bytes = 8 * self.modulus.width * converted
        serving_all = [rows.read_rows(0, count) if rows.count is None else None for rows in self.operands]
        try:
            for stop in _ends_of_row_runs(self.operands, count, self.terms, fixed_bytes):
                results = (*answer.buffers(start, stop, self.modulus.width, signed), status[start:stop])
                self._run_rows(start, stop, serving_all, results, count)
                answer.store(start, stop, *results[:2])
                start = stop
        finally:
            self._wipe(serving_all)
        self._finish(count)
        result = answer.finish(None)
        if errors == "status":
            return result, status
        if status.any():
            raise _item_error(self.operation.name, status != 0, status, result, scalar=False)
        return result

    def _run_rows(
        self,
        start: int,
        stop: int,
        serving_all: Sequence[Batch | None],
        results: tuple[Limbs, Signs | None, NDArray[np.uint8]],
        total: int,
    ) -> None:
        """Compute items [start, stop).

        `serving_all` has, for each operand whose single row serves all items, that row; None for the others.
        """
        own = [
            rows.read_rows(start, stop) if shared is None else None
            for rows, shared in zip(self.operands, serving_all, strict=True)
        ]
        pairs = zip(own, serving_all, strict=True)
        batches = [batch for pair in pairs for batch in pair if batch is not None]
        moduli, negative = self._moduli(start, stop)
        modulus = moduli, negative if results[1] is not None else None
        try:
            self._run(stop - start, self.terms, batches, modulus, results, self.progress, start, total)
        finally:
            self._wipe(own)
            if self.secret and self.modulus.copies and self.shared_modulus is None:
                moduli.fill(0)

    def _moduli(self, start: int, stop: int) -> Batch:
        """The moduli of items [start, stop), or the one of all items."""
        if self.shared_modulus is not None:
            return self.shared_modulus
        return self.modulus.rows(start, stop, self.modulus.width)

    def _run(
        self,
        count: int,
        terms: int,
        batches: Sequence[Batch],
        modulus: Batch,
        results: tuple[Limbs, Signs | None, NDArray[np.uint8]],
        progress: Progress | None,
        first: int,
        total: int,
    ) -> None:
        x, y = (*batches, (None, None))[:2]
        limbs, signs, status = results
        arrays = (*x, *y, *modulus, limbs, signs, status)
        self.handle.run(count, terms, *arrays, progress, first, total)

    def _wipe(self, batches: Sequence[Batch | None], *, padded: bool = False) -> None:
        """Zero the copies of secret operands after their use; operands whose batch is None are left out."""
        if not self.secret:
            return
        for rows, batch in zip(self.operands, batches, strict=True):
            if batch is not None and (padded or rows.flat.copies):
                batch[0].fill(0)

    def wipe_sources(self) -> None:
        """Zero the copies of secrets that served the whole call."""
        if not self.secret:
            return
        for rows in self.operands:
            rows.flat.wipe_decoded()
            if rows.copy is not None:
                rows.copy.fill(0)
        self.modulus.wipe_decoded()
        if self.shared_modulus is not None and self.modulus.copies:
            self.shared_modulus[0].fill(0)


class _RowKind(Operand):
    """Stands for rows where the kind of the answer is decided: the kind of their integers, one item a row."""

    def __init__(self, flat: Operand, count: int) -> None:
        self.name = flat.name
        self.kind: Kind = flat.kind
        self.count = count
        self.bits = flat.bits
        self.signed = flat.signed
        self.mpz = flat.mpz
        self.wrap = flat.wrap
