# SPDX-License-Identifier: Apache-2.0
"""Sums, products and dot products of many integers modulo one or each of several moduli."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._run import Errors, Progress
from manymod._terms import TermOperation, run_terms
from manymod._typing import Integer, Raising, ScalarWithStatus, SecretOptions, Statuses

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["dotmod", "prodmod", "summod"]

_SUM = TermOperation("summod", ("x",), (0,), operator.add, "sums")
_PRODUCT = TermOperation("prodmod", ("x",), (1,), operator.mul, "products")
_DOT = TermOperation("dotmod", ("x", "y"), (0, 0), operator.add, "dot products")


@overload
def summod(
    x: Sequence[Integer], mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> int: ...


@overload
def summod(
    x: Sequence[Integer], mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def summod(
    x: Sequence[Sequence[Integer]], mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def summod(
    x: Sequence[Sequence[Integer]],
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> tuple[list[int], Statuses]: ...


@overload
def summod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def summod(
    x: Any,
    mod: Any,
    *,
    secret: bool = False,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """Sums: ``sum(x) % mod``, added up exactly and reduced once.

    Args:
        x: a sequence of T integers, in any kind that `powmod` takes, for one sum; or N rows of them for N
            sums: a list of rows, which may differ in length, ``uint64[N, T, L]`` limbs, ``uint8[N, T, W]``
            big-endian bytes or a 2-D object array. Arrays in GPU memory are ``uint64[T, L]`` or
            ``uint64[N, T, L]``.
        mod: one modulus, or one for each of N sums. One sum also takes a sequence of one modulus.
        secret: constant-time, for odd moduli and on the CPU.
        device: as in `powmod`.
        variant: as in `powmod`.
        threads: as in `powmod`.
        errors: as in `powmod`.
        out: as in `powmod`, for N sums; it must not overlap the operands.
        progress: as in `powmod`, over the sums, or over the terms of a single one.

    Returns:
        An int (or mpz) for a flat sequence, else N results in the kind of the rows (a list,
        ``uint64[N, Lmod]``, ``uint8[N, Wmod]`` or a 1-D object array). A sum without terms is 0.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.
        ValueError: if lengths differ.

    Variable-time, or constant-time if `secret`.

    >>> summod([5, 6, -1], 7)
    3
    >>> summod([[1, 2, 3], [10]], [5, 7])
    [1, 3]
    """
    return _run(_SUM, (x,), mod, secret, device, variant, threads, errors, out, progress)


@overload
def prodmod(
    x: Sequence[Integer], mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> int: ...


@overload
def prodmod(
    x: Sequence[Integer], mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def prodmod(
    x: Sequence[Sequence[Integer]], mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def prodmod(
    x: Sequence[Sequence[Integer]],
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> tuple[list[int], Statuses]: ...


@overload
def prodmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def prodmod(
    x: Any,
    mod: Any,
    *,
    secret: bool = False,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """Products: ``math.prod(x) % mod``.

    Operands, keywords, results and errors as in `summod`; a product without terms is ``1 % mod``.
    Variable-time, or constant-time if `secret`.

    >>> prodmod([3, 4, 5], 7)
    4
    >>> prodmod([[3, 4], []], 11)
    [1, 1]
    """
    return _run(_PRODUCT, (x,), mod, secret, device, variant, threads, errors, out, progress)


@overload
def dotmod(
    x: Sequence[Integer],
    y: Sequence[Integer],
    mod: int,
    *,
    errors: Raising = ...,
    **options: Unpack[SecretOptions],
) -> int: ...


@overload
def dotmod(
    x: Sequence[Integer],
    y: Sequence[Integer],
    mod: int,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> ScalarWithStatus: ...


@overload
def dotmod(
    x: Sequence[Sequence[Integer]],
    y: Any,
    mod: Any,
    *,
    errors: Raising = ...,
    **options: Unpack[SecretOptions],
) -> list[int]: ...


@overload
def dotmod(
    x: Sequence[Sequence[Integer]],
    y: Any,
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> tuple[list[int], Statuses]: ...


@overload
def dotmod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def dotmod(
    x: Any,
    y: Any,
    mod: Any,
    *,
    secret: bool = False,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """Dot products: ``sum(a * b for a, b in zip(x, y)) % mod``, added up exactly and reduced once.

    Operands, keywords, results and errors as in `summod`. `x` and `y` have the same shape; if one of the two
    is rows and the other a flat sequence, the latter serves every row. Variable-time, or constant-time if
    `secret`.

    >>> dotmod([1, 2, 3], [4, 5, 6], 31)
    1
    >>> dotmod([[1, 2], [3, 4]], [10, 100], [97, 1000])
    [16, 430]
    """
    return _run(_DOT, (x, y), mod, secret, device, variant, threads, errors, out, progress)


def _run(
    operation: TermOperation,
    values: tuple[Any, ...],
    mod: Any,
    secret: bool,
    device: str,
    variant: str | None,
    threads: int,
    errors: str,
    out: Any,
    progress: Progress | None,
) -> Any:
    return run_terms(
        operation,
        values,
        mod,
        secret=secret,
        device=device,
        variant=variant,
        threads=threads,
        errors=errors,
        out=out,
        progress=progress,
    )
