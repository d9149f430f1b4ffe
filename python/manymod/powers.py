# SPDX-License-Identifier: Apache-2.0
"""Powers and inverses; re-exported by `manymod.ops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._run import Errors, Progress
from manymod._typing import Array, Integer, Options, Raising, ScalarWithStatus, SecretOptions, Statuses
from manymod.plan import run_cached as run

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["invmod", "invmod_sec", "powmod", "powmod_sec"]


@overload
def powmod(
    base: int, exp: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> int: ...


@overload
def powmod(
    base: int, exp: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def powmod(
    base: Array, exp: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> Array: ...


@overload
def powmod(
    base: Array, exp: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def powmod(
    base: Sequence[Integer], exp: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def powmod(
    base: Sequence[Integer],
    exp: Any,
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[SecretOptions],
) -> tuple[list[int], Statuses]: ...


@overload
def powmod(
    base: Any, exp: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]
) -> Any: ...


def powmod(
    base: Any,
    exp: Any,
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
    """``base**exp % mod`` as Python's ``pow(base, exp, mod)``, for every item.

    Args:
        base: integers of any size and sign.
        exp: integers of any size and sign; a negative one means the inverse.
        mod: integers of any sign, up to 16384 bits. A result has the sign of its modulus, as in Python.
        secret: constant-time: time and memory access depend on public sizes alone. Public are the
            widths of the operands' arrays, the signs, and length and parity of the moduli. The width of an
            exponent given as an int counts as public (of a sequence: that of the widest); where it must not,
            give the exponents as `IntArray`, limbs or bytes of a fixed width. Needs odd moduli. Copies
            that conversion makes of the operands are zeroed; Python ints themselves cannot be.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:K"``, ``"opencl"`` or ``"opencl:K"``.
        variant: name of a variant (see `variants`) to force; by default the environment variable
            ``MANYMOD_VARIANT`` or the fastest known.
        threads: CPU threads, up to 1024; 0 uses `get_threads`.
        errors: ``"raise"`` raises as Python would, after all other items were computed; ``"status"`` returns
            ``(result, statuses)`` with a uint8 array of `Status` (a single `Status` for scalars), and 0 as
            the result of every bad item.
        out: where to put the results: a list, array or `IntArray` of the kind and shape of the answer. It may
            be one of the operands, but must not overlap them otherwise.
        progress: called as ``progress(done, total)`` about ten times a second and at the end. An exception
            that it raises stops the call and is passed on.

    Operands that are arrays, and memory that they are views of, must not change until the call returns,
    neither in other threads nor in `progress`: the results would be undefined, and the process could crash.

    Returns:
        The results, in the kind of the first operand that is not a scalar (see the module's table).

    Raises:
        ItemValueError: (a ValueError) if a modulus is 0, a base is not invertible where it must be, a modulus
            is too wide or, where `secret`, even. Its ``indices`` name the items, its ``result`` has the
            others.
        ValueError: if lengths differ or `out` does not fit.
        TypeError: if an operand is of no accepted kind, an element is not an integer, or `secret` no bool.
        VariantError: if the variant is unknown or cannot do this.

    Variable-time, or constant-time if `secret`.

    >>> powmod(2, 10, 1000)
    24
    >>> powmod([2, 3, -1], 5, [7, 11, 13])
    [4, 1, 12]
    >>> powmod([2, 3], -1, 6, errors="status")
    ([0, 0], array([2, 2], dtype=uint8))
    """
    return run("powmod", (base, exp), mod, secret, device, variant, threads, errors, out, progress)


@overload
def powmod_sec(
    base: int, exp: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]
) -> int: ...


@overload
def powmod_sec(
    base: int, exp: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def powmod_sec(
    base: Array, exp: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> Array: ...


@overload
def powmod_sec(
    base: Array, exp: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def powmod_sec(
    base: Sequence[Integer], exp: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def powmod_sec(
    base: Sequence[Integer],
    exp: Any,
    mod: Any,
    *,
    errors: Literal["status"],
    **options: Unpack[Options],
) -> tuple[list[int], Statuses]: ...


@overload
def powmod_sec(base: Any, exp: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def powmod_sec(
    base: Any,
    exp: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """``powmod(..., secret=True)``: constant-time powers, for odd moduli.

    Time and memory access depend on public sizes alone. Operands, keywords and errors as in `powmod`.

    >>> powmod_sec(5, 117, 1009) == pow(5, 117, 1009)
    True
    """
    return run("powmod", (base, exp), mod, True, device, variant, threads, errors, out, progress)


@overload
def invmod(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> int: ...


@overload
def invmod(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> ScalarWithStatus: ...


@overload
def invmod(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]) -> Array: ...


@overload
def invmod(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[Array, Statuses]: ...


@overload
def invmod(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[SecretOptions]
) -> list[int]: ...


@overload
def invmod(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[SecretOptions]
) -> tuple[list[int], Statuses]: ...


@overload
def invmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[SecretOptions]) -> Any: ...


def invmod(
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
    """``pow(x, -1, mod)`` for every item.

    Operands, keywords and errors as in `powmod`. With one modulus for the batch, unless
    `secret`, a whole block of items is inverted at the price of one inversion and three multiplications each.

    Variable-time, or constant-time if `secret`.

    >>> invmod([2, 3], 7)
    [4, 5]
    >>> invmod([2, 3], 4, errors="status")
    ([0, 3], array([2, 0], dtype=uint8))
    """
    return run("invmod", (x,), mod, secret, device, variant, threads, errors, out, progress)


@overload
def invmod_sec(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def invmod_sec(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def invmod_sec(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def invmod_sec(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def invmod_sec(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def invmod_sec(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def invmod_sec(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def invmod_sec(
    x: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """``invmod(x, mod, secret=True)``: constant-time inverses, for odd moduli.

    Time and memory access depend on public sizes alone. Operands, keywords and errors as in `powmod`.

    >>> invmod_sec([2, 3], 7)
    [4, 5]
    """
    return run("invmod", (x,), mod, True, device, variant, threads, errors, out, progress)
