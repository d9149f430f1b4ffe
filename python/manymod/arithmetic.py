# SPDX-License-Identifier: Apache-2.0
"""Sums, differences, negatives, products, squares and products plus addends; re-exported by `manymod.ops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._run import Errors, Progress
from manymod._typing import Array, Integer, Raising, ScalarWithStatus, SecretOptions, Statuses
from manymod.plan import run_cached as run

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["addmod", "fmamod", "mulmod", "negmod", "sqrmod", "submod"]


@overload
def addmod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def addmod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def addmod(
    x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> Array: ...


@overload
def addmod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def addmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def addmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def addmod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def addmod(
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
    """``(x + y) % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> addmod([1, 2, 3], 10, 7)
    [4, 5, 6]
    """
    return run("addmod", (x, y), mod, secret, device, variant, threads, errors, out, progress)


@overload
def submod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def submod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def submod(
    x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> Array: ...


@overload
def submod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def submod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def submod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def submod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def submod(
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
    """``(x - y) % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> submod(3, 5, 7)
    5
    """
    return run("submod", (x, y), mod, secret, device, variant, threads, errors, out, progress)


@overload
def negmod(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def negmod(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def negmod(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> Array: ...


@overload
def negmod(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def negmod(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def negmod(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def negmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def negmod(
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
    """``-x % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> negmod([0, 1, 9], 7)
    [0, 6, 5]
    """
    return run("negmod", (x,), mod, secret, device, variant, threads, errors, out, progress)


@overload
def fmamod(
    x: int, y: int, z: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> int: ...


@overload
def fmamod(
    x: int, y: int, z: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def fmamod(
    x: Array, y: Any, z: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> Array: ...


@overload
def fmamod(
    x: Array, y: Any, z: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def fmamod(
    x: Sequence[Integer], y: Any, z: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def fmamod(
    x: Sequence[Integer],
    y: Any,
    z: Any,
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> tuple[list[int], Statuses]: ...


@overload
def fmamod(
    x: Any, y: Any, z: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]
) -> Any: ...


def fmamod(
    x: Any,
    y: Any,
    z: Any,
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
    """``(x * y + z) % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> fmamod([1, 2, 3], 10, [4, 5, 6], 7)
    [0, 4, 1]
    """
    return run("fmamod", (x, y, z), mod, secret, device, variant, threads, errors, out, progress)


@overload
def mulmod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def mulmod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def mulmod(
    x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> Array: ...


@overload
def mulmod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def mulmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def mulmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def mulmod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def mulmod(
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
    """``x * y % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> mulmod([3, 4], [5, 6], -7)
    [-6, -4]
    """
    return run("mulmod", (x, y), mod, secret, device, variant, threads, errors, out, progress)


@overload
def sqrmod(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def sqrmod(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def sqrmod(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> Array: ...


@overload
def sqrmod(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def sqrmod(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def sqrmod(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def sqrmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def sqrmod(
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
    """``x**2 % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Variable-time, or constant-time if `secret`, for odd
    moduli and on the CPU.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.
        ItemValueError: (a ValueError) if a modulus is even, where `secret`.

    >>> sqrmod([3, -4], 7)
    [2, 2]
    """
    return run("sqrmod", (x,), mod, secret, device, variant, threads, errors, out, progress)
