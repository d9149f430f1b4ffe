# SPDX-License-Identifier: Apache-2.0
"""Products of powers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from manymod import _core
from manymod._answers import answer_for
from manymod._operands import Batch, Kind, Operand, operand
from manymod._run import RUN_BYTES, Errors, Progress, merge_nulls
from manymod.errors import Status, _raise_items
from manymod.hardware import get_threads
from manymod.intarray import IntArray
from manymod.plan import checked_errors, shared_handle

__all__ = ["multi_powmod"]

#: From this many terms on, a single product is split into one partial product for each thread.
_SPLIT_TERMS = 256


class _Rows:
    """N rows of `terms` integers each, flattened; or one row (``count`` None)."""

    def __init__(self, flat: Operand, count: int | None, terms: int) -> None:
        self.flat = flat
        self.count = count
        self.terms = terms


def _is_nested(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 3 or (value.ndim == 2 and value.dtype == object)
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and isinstance(value[0], (list, tuple, IntArray, np.ndarray))
    )


def _read_rows(name: str, value: Any, filler: int) -> tuple[_Rows, list[int]]:
    """`value` as rows, short ones filled up with `filler`, and the lengths that the rows had."""
    if not _is_nested(value):
        flat = operand(name, value)
        if flat.count is None:
            raise TypeError(f"{name} must be a sequence of integers, or of rows of them")
        return _Rows(flat, None, flat.count), [flat.count]
    if isinstance(value, np.ndarray):
        count, terms = value.shape[:2]
        flat = operand(name, value.reshape(count * terms, *value.shape[2:]))
        return _Rows(flat, count, terms), [terms] * count
    rows = [list(row) for row in value]
    lengths = [len(row) for row in rows]
    terms = max(lengths)
    flat = operand(name, list(chain.from_iterable(row + [filler] * (terms - len(row)) for row in rows)))
    return _Rows(flat, len(rows), terms), lengths


def _check_lengths(bases: list[int], exps: list[int]) -> None:
    count = max(len(bases), len(exps))
    for i in range(count):
        base_terms, exp_terms = bases[i if len(bases) > 1 else 0], exps[i if len(exps) > 1 else 0]
        if base_terms != exp_terms:
            where = f" in row {i}" if count > 1 else ""
            raise ValueError(f"lengths differ{where}: bases has {base_terms} items, exps has {exp_terms}")


def _batch(rows: _Rows, start: int, stop: int) -> Batch:
    if rows.count is None:
        return rows.flat.rows(0, rows.terms, rows.flat.width)
    return rows.flat.rows(start * rows.terms, stop * rows.terms, rows.flat.width)


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


def multi_powmod(
    bases: Any,
    exps: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    progress: Progress | None = None,
) -> Any:
    """Products of powers: ``prod(base**exp for base, exp in zip(bases, exps)) % mod``.

    Args:
        bases: a sequence of T integers, in any kind that `powmod` takes, for one product; or N rows of them for
            N products: a list of rows, which may differ in length, ``uint64[N, T, L]`` limbs, ``uint8[N, T, W]``
            big-endian bytes or a 2-D object array.
        exps: exponents, in the same shape as `bases`. If one of the two is rows and the other a flat sequence,
            the latter serves every row.
        mod: one modulus, or for N products one each.
        device: as in `powmod`.
        variant: as in `powmod`.
        threads: as in `powmod`.
        errors: as in `powmod`.
        progress: as in `powmod`; counts products.

    Returns:
        An int (or mpz) for flat sequences, else N results in the kind of the rows: a list, ``uint64[N, Lmod]``,
        ``uint8[N, Wmod]`` or a 1-D object array.

    Raises:
        ItemValueError: (a ValueError) if a modulus is 0, or a base with negative exponent is not invertible.
        ValueError: if lengths differ.

    Timing class: public.

    >>> multi_powmod([2, 3, 5], [4, 3, 2], 1000)
    800
    >>> multi_powmod([[2, 3], [5]], [[4, 3], [2]], [100, 7])
    [32, 4]
    """
    checked_errors(errors)
    base_rows, base_lengths = _read_rows("bases", bases, 1)
    exp_rows, exp_lengths = _read_rows("exps", exps, 0)
    _check_lengths(base_lengths, exp_lengths)
    modulus = operand("mod", mod)
    sources = [base_rows.flat, exp_rows.flat, modulus]
    if merge_nulls([item for item in sources if item.null is not None][:1]) is not None:
        raise ValueError("multi_powmod does not take nulls")
    counts = {rows.count for rows in (base_rows, exp_rows)} - {None}
    count = counts.pop() if counts else None
    if modulus.count is not None and modulus.count != count:
        raise ValueError(f"lengths differ: there are {1 if count is None else count} products, mod has {modulus.count}")
    handle = shared_handle("multi_powmod", False, modulus.count is None, modulus.bits, device, variant, threads)
    call = _Product(handle, base_rows, exp_rows, modulus, progress)
    if count is None:
        return call.single(threads or get_threads(), errors)
    return call.many(count, errors)


class _Product:
    """One call of multi_powmod."""

    def __init__(
        self, handle: _core.Plan, bases: _Rows, exps: _Rows, modulus: Operand, progress: Progress | None
    ) -> None:
        self.handle = handle
        self.bases = bases
        self.exps = exps
        self.modulus = modulus
        self.progress = progress
        self.terms = bases.terms

    def single(self, threads: int, errors: str) -> Any:
        """One product; a long one in as many parts as there are threads."""
        parts = threads if self.terms >= _SPLIT_TERMS else 1
        terms = -(-self.terms // parts) if self.terms else 0
        bases, exps = _batch(self.bases, 0, 1), _batch(self.exps, 0, 1)
        if parts * terms != self.terms:
            bases, exps = _padded(bases, parts * terms), _padded(exps, parts * terms)
        if not terms:
            bases = exps = (np.zeros((1, 1), np.uint64), None)
        modulus = self.modulus.rows(0, 1, self.modulus.width)
        limbs = np.empty((parts, self.modulus.width), np.uint64)
        signs = np.empty(parts, np.uint8) if self.modulus.signed else None
        status = np.empty(parts, np.uint8)
        self.handle.run(
            parts, terms, *bases, *exps, *modulus, limbs, signs, status, self.progress, 0, parts
        )
        mpz = any(item.mpz for item in (self.bases.flat, self.exps.flat, self.modulus))
        to_objects = _core.limbs_to_mpz if mpz else _core.limbs_to_ints
        (modulus_value,) = to_objects(*modulus)
        result = to_objects(limbs[:1], None)[0] * 0
        bad = status[status != 0][:1]
        if not len(bad):
            partial = to_objects(limbs, signs)
            result = partial[0]
            for factor in partial[1:]:
                result = result * factor % modulus_value
        overall = bad if len(bad) else np.zeros(1, np.uint8)
        if errors == "status":
            return result, Status(int(overall[0]))
        if overall[0]:
            _raise_items("multi_powmod", overall != 0, overall, result, scalar=True)
        return result

    def many(self, count: int, errors: str) -> Any:
        """N products, in runs of bounded memory."""
        source = self.bases.flat if self.bases.count is not None else self.exps.flat
        answer = answer_for(count, [_Renamed(source, count)], self.modulus, None)
        row_bytes = 8 * (self.terms * (self.bases.flat.width + self.exps.flat.width) + 2 * self.modulus.width)
        step = max(1, RUN_BYTES // row_bytes)
        status = np.empty(count, np.uint8)
        for start in range(0, count, step):
            stop = min(count, start + step)
            width = self.modulus.width
            limbs, signs = answer.buffers(start, stop, width, self.modulus.signed)
            bases, exps = _batch(self.bases, start, stop), _batch(self.exps, start, stop)
            if not self.terms:
                bases = exps = (np.zeros((1, 1), np.uint64), None)
            modulus = self.modulus.rows(start, stop, width)
            part = status[start:stop]
            operands = (*bases, *exps, *modulus, limbs, signs, part, self.progress, start, count)
            self.handle.run(stop - start, self.terms, *operands)
            answer.store(start, stop, limbs, signs)
        result = answer.finish(None)
        if errors == "status":
            return result, status
        if status.any():
            _raise_items("multi_powmod", status != 0, status, result, scalar=False)
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
