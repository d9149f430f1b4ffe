# SPDX-License-Identifier: Apache-2.0
"""Products of powers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from manymod._operand_kinds import Kind, LimbRows
from manymod._operands import operand
from manymod._run import Errors, Progress, Watched
from manymod._terms import Rows, TermCall, TermOperation, run_terms
from manymod._typing import Integer, Options, Raising, ScalarWithStatus, Statuses
from manymod.intarray import IntArray
from manymod.plan import shared_handle

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["multi_powmod", "multi_powmod_columns"]

_POWERS = TermOperation("multi_powmod", ("bases", "exps"), (1, 0), operator.mul, "products")

NestedIntegers = Sequence[Sequence[Integer]]


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
    bases: NestedIntegers, exps: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def multi_powmod(
    bases: NestedIntegers, exps: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
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
        An int (or mpz) for flat sequences, else N results in the kind of the rows (a list,
        ``uint64[N, Lmod]``, ``uint8[N, Wmod]`` or a 1-D object array).

    Raises:
        ItemValueError: (a ValueError) if a modulus is 0, or a base with negative exponent is not invertible.
        ValueError: if lengths differ.

    Variable-time.

    >>> multi_powmod([2, 3, 5], [4, 3, 2], 1000)
    800
    >>> multi_powmod([[2, 3], [5]], [[4, 3], [2]], [100, 7])
    [32, 4]
    """
    return run_terms(
        _POWERS,
        (bases, exps),
        mod,
        secret=False,
        device=device,
        variant=variant,
        threads=threads,
        errors=errors,
        out=out,
        progress=progress,
    )


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
    handle = shared_handle(
        "multi_powmod", False, modulus.count is None, modulus.bits, device, variant, threads
    )
    watched = None if progress is None else Watched(progress)
    rows = [_interleaved("bases", bases, count), _interleaved("exps", exps, count)]
    products: tuple[IntArray, NDArray[np.uint8]]
    products = TermCall(_POWERS, handle, rows, modulus, watched).many(count, "status", None)
    return products


def _interleaved(name: str, columns: Sequence[IntArray | int], count: int) -> Rows:
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
    return Rows(flat, count, len(arrays))
