# SPDX-License-Identifier: Apache-2.0
"""Products of powers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answers import answer_for
from manymod._device import DeviceRows, device_operand, is_on_device, on_host
from manymod._operand_kinds import Batch, Kind, LimbRows, Operand
from manymod._operands import broadcast_row, operand
from manymod._run import RUN_BYTES, Errors, Progress, Watched
from manymod._typing import Integer, Options, Raising, ScalarWithStatus, Statuses
from manymod.errors import Status, _item_error
from manymod.hardware import get_threads
from manymod.intarray import IntArray, Limbs, Signs, refuse_mask
from manymod.plan import checked_errors, shared_handle

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["multi_powmod", "multi_powmod_columns"]

#: From this many terms on, a single product is split into one partial product for each thread.
_SPLIT_TERMS = 256

#: Wider operands than this many limbs are measured item by item where they are split into runs.
_NARROW_LIMBS = 64


class _Rows:
    """N rows of `terms` integers each, flattened; or one row (``count`` None)."""

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

    def varied(self) -> NDArray[np.uint32] | None:
        """Limbs that each integer needs, where read() can convert to fewer; measured once."""
        if self._widths is None:
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
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and isinstance(value[0], (list, tuple, IntArray, np.ndarray))
    )


def _row(name: str, i: int, row: Any) -> list[Any]:
    if isinstance(row, (str, bytes, bytearray)) or not isinstance(row, (Sequence, IntArray, np.ndarray)):
        raise TypeError(f"{name}: row {i} is not a sequence of integers: {type(row).__name__}")
    refuse_mask(f"{name}: row {i}", row)
    return list(row)


def _name_bad_term(name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Raise TypeError that names the row and the term of the first element that is no integer."""
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            try:
                operand(name, [value])
            except TypeError:
                kind = type(value).__name__
                raise TypeError(f"{name}: row {i}, term {j} is not an integer: {kind}") from None


def _read_rows(name: str, value: Any, filler: int) -> _Rows:
    """`value` as rows, short ones filled up with `filler`."""
    if is_on_device(value):
        return _read_device_rows(name, value)
    if not _is_nested(value):
        flat = operand(name, value)
        if flat.count is None:
            raise TypeError(f"{name} must be a sequence of integers, or of rows of them")
        return _Rows(flat, None, flat.count)
    if isinstance(value, np.ndarray):
        count, terms = value.shape[:2]
        flat = operand(name, value.reshape(count * terms, *value.shape[2:]))
        return _Rows(flat, count, terms)
    rows = [_row(name, i, row) for i, row in enumerate(value)]
    lengths = [len(row) for row in rows]
    terms = max(lengths)
    try:
        flat = operand(name, list(chain.from_iterable(row + [filler] * (terms - len(row)) for row in rows)))
    except TypeError:
        _name_bad_term(name, rows)
        raise
    return _Rows(flat, len(rows), terms, lengths)


def _read_device_rows(name: str, value: Any) -> _Rows:
    """An array in GPU memory: ``uint64[N, T, L]``, or ``uint64[T, L]`` for one row."""
    flat = device_operand(name, value, stacked=True)
    if not isinstance(flat, DeviceRows):
        raise TypeError(f"{name} must be a sequence of integers, or of rows of them")
    if len(flat.shape) < 3:
        return _Rows(flat, None, len(flat.on_device))
    return _Rows(flat, flat.shape[0], flat.shape[1])


def _common_count(bases: _Rows, exps: _Rows) -> int | None:
    """Number of products, None for a single one of flat sequences; checks all lengths."""
    if bases.count is not None and exps.count is not None and bases.count != exps.count:
        raise ValueError(f"lengths differ: bases has {bases.count} rows, exps has {exps.count}")
    count = exps.count if bases.count is None else bases.count
    for i in range(1 if count is None else count):
        base_terms, exp_terms = bases.length(i), exps.length(i)
        if base_terms != exp_terms:
            where = "" if count is None else f" in row {i}"
            raise ValueError(f"lengths differ{where}: bases has {base_terms} items, exps has {exp_terms}")
    return count


def _ends_of_runs(operands: Sequence[_Rows], count: int, terms: int, fixed_bytes: int) -> list[int]:
    """Ends of runs of `count` items of `terms` integers each, whose arrays stay within RUN_BYTES."""
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


def _padded(batch: Batch, count: int) -> Batch:
    """`batch` with zeros to `count` items: a power 0**0 is 1."""
    limbs, signs = batch
    padded = np.zeros((count, limbs.shape[1]), np.uint64)
    padded[: len(limbs)] = limbs
    if signs is not None:
        padded_signs = np.zeros(count, np.uint8)
        padded_signs[: len(signs)] = signs
        signs = padded_signs
    return padded, signs


Rows = Sequence[Sequence[Integer]]


@overload
def multi_powmod(
    bases: Sequence[Integer],
    exps: Sequence[Integer],
    mod: int,
    *,
    errors: Raising = ...,
    **options: Unpack[Options],
) -> int: ...


@overload
def multi_powmod(
    bases: Sequence[Integer],
    exps: Sequence[Integer],
    mod: int,
    *,
    errors: Literal["status"],
    **options: Unpack[Options],
) -> ScalarWithStatus: ...


@overload
def multi_powmod(
    bases: Rows, exps: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def multi_powmod(
    bases: Rows, exps: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def multi_powmod(
    bases: Any, exps: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]
) -> Any: ...


def multi_powmod(
    bases: Any,
    exps: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """Products of powers: ``prod(base**exp for base, exp in zip(bases, exps)) % mod``.

    Args:
        bases: a sequence of T integers, in any kind that `powmod` takes, for one product; or N rows of them
            for N products: a list of rows, which may differ in length, ``uint64[N, T, L]`` limbs,
            ``uint8[N, T, W]`` big-endian bytes or a 2-D object array.
        exps: exponents, in the same shape as `bases`. If one of the two is rows and the other a flat
            sequence, the latter serves every row.
        mod: one modulus, or one for each of N products. One product also takes a sequence of one modulus.
        device: as in `powmod`.
        variant: as in `powmod`.
        threads: as in `powmod`.
        errors: as in `powmod`.
        out: as in `powmod`, for N products; it must not overlap the operands.
        progress: as in `powmod`, over the products, or over the terms of a single one.

    Returns:
        An int (or mpz) for flat sequences, else N results in the kind of the rows: a list,
        ``uint64[N, Lmod]``, ``uint8[N, Wmod]`` or a 1-D object array.

    Raises:
        ItemValueError: (a ValueError) if a modulus is 0, or a base with negative exponent is not invertible.
        ValueError: if lengths differ.

    Variable-time.

    >>> multi_powmod([2, 3, 5], [4, 3, 2], 1000)
    800
    >>> multi_powmod([[2, 3], [5]], [[4, 3], [2]], [100, 7])
    [32, 4]
    """
    checked_errors(errors)
    base_rows, exp_rows = _read_rows("bases", bases, 1), _read_rows("exps", exps, 0)
    count = _common_count(base_rows, exp_rows)
    modulus = operand("mod", mod)
    sources = [base_rows.flat, exp_rows.flat, modulus]
    if any(item.null is not None for item in sources):
        raise ValueError("multi_powmod does not take nulls")
    if count is None and modulus.count == 1:
        modulus.count = None
    broadcast_row(modulus, count)
    if modulus.count is not None and modulus.count != count:
        products = 1 if count is None else count
        raise ValueError(f"lengths differ: there are {products} products, mod has {modulus.count}")
    if count is None and out is not None:
        raise ValueError("out cannot be used for a single product")
    handle = _handle_for(modulus, device, variant, threads)
    watched = None if progress is None else Watched(progress)
    if count is None:  # partial products are put together on the host
        base_rows.flat, exp_rows.flat, modulus = (on_host(item) for item in sources)
    call = _Product(handle, base_rows, exp_rows, modulus, watched)
    if count is None:
        return call.single(threads or get_threads(), errors)
    return call.many(count, errors, out)


def _handle_for(modulus: Operand, device: str, variant: str | None, threads: int) -> _core.Plan:
    return shared_handle("multi_powmod", False, modulus.count is None, modulus.bits, device, variant, threads)


def multi_powmod_columns(
    bases: Sequence[IntArray | int],
    exps: Sequence[IntArray | int],
    mod: IntArray | int,
    count: int,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[IntArray, NDArray[np.uint8]]:
    """Products of powers whose terms are columns, as those of a table are.

    Args:
        bases: a base of every product for each term: one for each of `count` products, or one for all.
        exps: exponents, in the same form.
        mod: a modulus for each product, or one for all.
        count: number of products.
        device: as in `powmod`.
        variant: as in `powmod`.
        threads: as in `powmod`.
        progress: as in `powmod`.

    Returns:
        The products, and a `Status` for each.
    """
    modulus = operand("mod", mod)
    handle = _handle_for(modulus, device, variant, threads)
    watched = None if progress is None else Watched(progress)
    base_rows, exp_rows = _interleaved("bases", bases, count), _interleaved("exps", exps, count)
    products: tuple[IntArray, NDArray[np.uint8]]
    products = _Product(handle, base_rows, exp_rows, modulus, watched).many(count, "status", None)
    return products


def _interleaved(name: str, columns: Sequence[IntArray | int], count: int) -> _Rows:
    """Rows of one integer of each column."""
    arrays = [IntArray.from_ints([column]) if isinstance(column, int) else column for column in columns]
    width = max(array.limbs.shape[1] for array in arrays)
    limbs = np.zeros((count, len(arrays), width), np.uint64)
    signs = np.zeros((count, len(arrays)), np.uint8)
    for term, array in enumerate(arrays):
        limbs[:, term, : array.limbs.shape[1]] = array.limbs
        if array.negative is not None:
            signs[:, term] = array.negative
    flat = LimbRows(name, limbs.reshape(-1, width), signs.reshape(-1) if signs.any() else None, Kind.INTARRAY)
    return _Rows(flat, count, len(arrays))


class _Product:
    """One call of multi_powmod."""

    def __init__(
        self, handle: _core.Plan, bases: _Rows, exps: _Rows, modulus: Operand, progress: Watched | None
    ) -> None:
        self.handle = handle
        self.bases = bases
        self.exps = exps
        self.modulus = modulus
        self.progress = progress
        self.terms = bases.terms

    def single(self, threads: int, errors: str) -> Any:
        """One product, of partial products over runs of bounded memory."""
        mpz = any(item.mpz for item in (self.bases.flat, self.exps.flat, self.modulus))
        to_objects = _core.limbs_to_mpz if mpz else _core.limbs_to_ints
        modulus = self.modulus.rows(0, 1, self.modulus.width)
        (n,) = to_objects(*modulus)
        result: Any = None
        status = Status.OK
        start = 0
        for stop in _ends_of_runs((self.bases, self.exps), self.terms, 1, 0):
            limbs, signs, statuses = self._partial(start, stop, modulus, threads)
            bad = statuses[statuses != 0]
            if len(bad):
                status = Status(int(bad[0]))
                result = n * 0
                break
            for factor in to_objects(limbs, signs):
                result = factor if result is None else result * factor % n
            start = stop
        self._finish(self.terms)
        if errors == "status":
            return result, status
        if status:
            raise _item_error(
                "multi_powmod", np.ones(1, bool), np.array([status], np.uint8), result, scalar=True
            )
        return result

    def _finish(self, total: int) -> None:
        if self.progress is not None:
            self.progress.finish(total)

    def _partial(
        self, start: int, stop: int, modulus: Batch, threads: int
    ) -> tuple[Limbs, Signs | None, NDArray[np.uint8]]:
        """Product of the terms [start, stop), many of them in as many parts as there are threads."""
        count = stop - start
        parts = threads if count >= _SPLIT_TERMS else 1
        terms = -(-count // parts)
        bases, exps = self.bases.read(start, stop), self.exps.read(start, stop)
        if parts * terms != count:
            bases, exps = _padded(bases, parts * terms), _padded(exps, parts * terms)
        limbs = np.empty((parts, self.modulus.width), np.uint64)
        signs = np.empty(parts, np.uint8) if self.modulus.signed else None
        status = np.empty(parts, np.uint8)
        watch = None
        if self.progress is not None:
            progress, total = self.progress, self.terms

            def watch(done: int, _parts: int) -> None:
                progress(min(total, start + done * terms), total)

        self.handle.run(parts, terms, *bases, *exps, *modulus, limbs, signs, status, watch, 0, parts)
        return limbs, signs, status

    def many(self, count: int, errors: str, out: Any) -> Any:
        """N products, in runs of bounded memory."""
        source = self.bases.flat if self.bases.count is not None else self.exps.flat
        first = source.products(count) if isinstance(source, DeviceRows) else _Renamed(source, count)
        operands = [first, self.bases.flat, self.exps.flat, self.modulus]
        answer = answer_for(count, operands, self.modulus, out)
        signed = self.modulus.signed and not answer.without_signs
        status = np.empty(count, np.uint8)
        start = 0
        converted = (not self.modulus.direct) + (not answer.direct)
        fixed_bytes = 8 * self.modulus.width * converted
        for stop in _ends_of_runs((self.bases, self.exps), count, self.terms, fixed_bytes):
            width = self.modulus.width
            limbs, signs = answer.buffers(start, stop, width, signed)
            bases, exps = self.bases.read_rows(start, stop), self.exps.read_rows(start, stop)
            single = self.modulus.count is None
            moduli, negative = self.modulus.rows(*((0, 1) if single else (start, stop)), width)
            modulus = moduli, negative if signed else None
            part = status[start:stop]
            arrays = (*bases, *exps, *modulus, limbs, signs, part, self.progress, start, count)
            self.handle.run(stop - start, self.terms, *arrays)
            answer.store(start, stop, limbs, signs)
            start = stop
        self._finish(count)
        result = answer.finish(None)
        if errors == "status":
            return result, status
        if status.any():
            raise _item_error("multi_powmod", status != 0, status, result, scalar=False)
        return result


class _Renamed(Operand):
    """The kind of flattened rows, with one item for each row."""

    def __init__(self, flat: Operand, count: int) -> None:
        self.name = flat.name
        self.kind: Kind = flat.kind
        self.count = count
        self.bits = flat.bits
        self.signed = flat.signed
        self.mpz = flat.mpz
        self.wrap = flat.wrap
