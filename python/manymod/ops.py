# SPDX-License-Identifier: Apache-2.0
"""The operations, on batches and scalars of every accepted kind.

Any operand may be a scalar, which then stands for every item; one modulus or one exponent for a whole batch
is planned as such. If all operands are scalars the answer is a scalar. Else the answer is of the kind of the
first operand that is not:

=================================================  ======================================================
operand                                            answer
=================================================  ======================================================
int, numpy integer, gmpy2.mpz                      int, or mpz if any operand is one
list, tuple or other sequence of ints              list of int (of mpz if any of its elements is one)
`IntArray`                                         `IntArray`
numpy ``uint64[N, L]`` little-endian limbs         ``uint64[N, Lmod]``, Lmod limbs holding the widest modulus
numpy ``uint8[N, W]`` big-endian bytes             ``uint8[N, Wmod]``, Wmod bytes holding the widest modulus
numpy 1-D integers                                 1-D ``int64`` or ``uint64`` (ValueError if too narrow)
numpy 1-D objects                                  1-D objects, int or mpz as for a list
pyarrow FixedSizeBinary, big-endian bytes          the same, null where an operand is null
pyarrow integers                                   int64 or uint64, null where an operand is null
other DLPack arrays on the CPU, uint64 or uint8    as numpy, handed to the producer's ``from_dlpack``
`DeviceArray`, DLPack ``uint64[N, L]`` on a GPU    ``uint64[N, Lmod]`` on that GPU, of the same package
=================================================  ======================================================

One row, ``uint64[1, L]`` or ``uint8[1, W]``, beside operands of another length stands for every item, as an
int does. A 1-D array is always N integers of up to 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._operands import Operand
from manymod._run import Errors, Progress
from manymod._typing import Array, Integer, Options, Raising, ScalarWithStatus, SecretOptions, Statuses
from manymod.plan import run_operation, shared_handle

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from manymod import _core

__all__ = ["addmod", "invmod", "mulmod", "negmod", "powmod", "powmod_sec", "sqrmod", "submod"]


def _run(
    op: str,
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
    def handle(modulus: Operand) -> _core.Plan:
        return shared_handle(op, secret, modulus.count is None, modulus.bits, device, variant, threads)

    return run_operation(op, values, mod, handle, secret=secret, errors=errors, out=out, progress=progress)


@overload
def addmod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def addmod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def addmod(x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def addmod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def addmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def addmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def addmod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def addmod(
    x: Any,
    y: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """``(x + y) % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Timing class: public.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.

    >>> addmod([1, 2, 3], 10, 7)
    [4, 5, 6]
    """
    return _run("addmod", (x, y), mod, False, device, variant, threads, errors, out, progress)


@overload
def submod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def submod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def submod(x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def submod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def submod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def submod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def submod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def submod(
    x: Any,
    y: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """``(x - y) % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Timing class: public.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.

    >>> submod(3, 5, 7)
    5
    """
    return _run("submod", (x, y), mod, False, device, variant, threads, errors, out, progress)


@overload
def negmod(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def negmod(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def negmod(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def negmod(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def negmod(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def negmod(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def negmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def negmod(
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
    """``-x % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Timing class: public.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.

    >>> negmod([0, 1, 9], 7)
    [0, 6, 5]
    """
    return _run("negmod", (x,), mod, False, device, variant, threads, errors, out, progress)


@overload
def mulmod(x: int, y: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def mulmod(
    x: int, y: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def mulmod(x: Array, y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def mulmod(
    x: Array, y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def mulmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def mulmod(
    x: Sequence[Integer], y: Any, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def mulmod(x: Any, y: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def mulmod(
    x: Any,
    y: Any,
    mod: Any,
    *,
    device: str = "auto",
    variant: str | None = None,
    threads: int = 0,
    errors: Errors = "raise",
    out: Any = None,
    progress: Progress | None = None,
) -> Any:
    """``x * y % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Timing class: public.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.

    >>> mulmod([3, 4], [5, 6], -7)
    [-6, -4]
    """
    return _run("mulmod", (x, y), mod, False, device, variant, threads, errors, out, progress)


@overload
def sqrmod(x: int, mod: int, *, errors: Raising = ..., **options: Unpack[Options]) -> int: ...


@overload
def sqrmod(
    x: int, mod: int, *, errors: Literal["status"], **options: Unpack[Options]
) -> ScalarWithStatus: ...


@overload
def sqrmod(x: Array, mod: Any, *, errors: Raising = ..., **options: Unpack[Options]) -> Array: ...


@overload
def sqrmod(
    x: Array, mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[Array, Statuses]: ...


@overload
def sqrmod(
    x: Sequence[Integer], mod: Any, *, errors: Raising = ..., **options: Unpack[Options]
) -> list[int]: ...


@overload
def sqrmod(
    x: Sequence[Integer], mod: Any, *, errors: Literal["status"], **options: Unpack[Options]
) -> tuple[list[int], Statuses]: ...


@overload
def sqrmod(x: Any, mod: Any, *, errors: Errors = ..., **options: Unpack[Options]) -> Any: ...


def sqrmod(
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
    """``x**2 % mod`` for every item.

    Operands, keywords and other errors as in `powmod`. Timing class: public.

    Raises:
        ItemZeroDivisionError: (a ZeroDivisionError) if a modulus is 0.

    >>> sqrmod([3, -4], 7)
    [2, 2]
    """
    return _run("sqrmod", (x,), mod, False, device, variant, threads, errors, out, progress)


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
        secret: timing class secret: time and memory access depend on public sizes alone. Public are the
            widths of the operands' arrays, the signs, and length and parity of the moduli. The width of an
            exponent given as an int counts as public (of a sequence: that of the widest); where it must not,
            give the exponents as `IntArray`, limbs or bytes of a fixed width. Needs odd moduli. Copies
            that conversion makes of the operands are zeroed; Python ints themselves cannot be.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:K"``.
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

    Returns:
        The results, in the kind of the first operand that is not a scalar (see the module's table).

    Raises:
        ItemValueError: (a ValueError) if a modulus is 0, a base is not invertible where it must be, a modulus
            is too wide or, in class secret, even. Its ``indices`` name the items, its ``result`` has the
            others.
        ValueError: if lengths differ or `out` does not fit.
        TypeError: if an operand is of no accepted kind, or an element is not an integer.
        VariantError: if the variant is unknown or cannot do this.

    Timing class: public, or secret on request.

    >>> powmod(2, 10, 1000)
    24
    >>> powmod([2, 3, -1], 5, [7, 11, 13])
    [4, 1, 12]
    >>> powmod([2, 3], -1, 6, errors="status")
    ([0, 0], array([2, 2], dtype=uint8))
    """
    return _run("powmod", (base, exp), mod, secret, device, variant, threads, errors, out, progress)


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

    Operands, keywords and errors as in `powmod`. With one modulus for the batch, class public inverts a whole
    block of items at the price of one inversion and three multiplications each.

    Timing class: public, or secret on request.

    >>> invmod([2, 3], 7)
    [4, 5]
    >>> invmod([2, 3], 4, errors="status")
    ([0, 3], array([2, 0], dtype=uint8))
    """
    return _run("invmod", (x,), mod, secret, device, variant, threads, errors, out, progress)


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
    """``powmod(..., secret=True)``: time and memory access depend on public sizes alone.

    Operands, keywords and errors as in `powmod`. Timing class: secret.

    >>> powmod_sec(5, 117, 1009) == pow(5, 117, 1009)
    True
    """
    return _run("powmod", (base, exp), mod, True, device, variant, threads, errors, out, progress)
