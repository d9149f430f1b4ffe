# SPDX-License-Identifier: Apache-2.0
"""Plans: an operation whose variant is chosen once and which is then called many times."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answers import answer_for
from manymod._forked import KeptHandles, ProcessOwn
from manymod._limbs import Signs
from manymod._operand_kinds import Batch, Operand
from manymod._operands import common_length, operand
from manymod._run import Errors, Kernel, ListKernel, Progress, execute
from manymod._typing import Array, CallOptions, Integer, Raising, ScalarWithStatus, Statuses
from manymod.asynchronous import submit

if TYPE_CHECKING:
    from concurrent.futures import Future

    from typing_extensions import Unpack

__all__ = ["MAX_MODULUS_BITS", "OPERATIONS", "Plan", "clear_plans"]

#: Widest modulus in bits.
MAX_MODULUS_BITS = _core.MM_MAX_MODULUS_BITS

#: The number of each operation in the C ABI (mm_op).
OPERATIONS = {name: number for number, name in enumerate(_core.OPERATIONS)}

#: Names of the operands in the order of the call, without the modulus.
OPERANDS = {
    "addmod": ("x", "y"),
    "submod": ("x", "y"),
    "negmod": ("x",),
    "mulmod": ("x", "y"),
    "sqrmod": ("x",),
    "powmod": ("base", "exp"),
    "invmod": ("x",),
    "fmamod": ("x", "y", "z"),
}

#: Operations that take less time than conversions of lists, or not much more.
_SHORT = {"addmod", "submod", "negmod", "mulmod", "sqrmod", "fmamod"}


def _make_handle(environment: str | None, *options: Any) -> _core.Plan:  # noqa: ARG001
    # The extension reads the environment itself, so that its errors name the source of a bad name.
    return _core.Plan(*options)


_handles = KeptHandles(_make_handle)


def clear_plans() -> None:
    """Drop the plans, at most 64 of each kind by their options, that operations keep for reuse.

    >>> clear_plans()
    """
    KeptHandles.clear_all()


def checked_threads(threads: int) -> int:
    """Return `threads` as an int; a ValueError if it is no number of threads (0: the default)."""
    number = checked_integer("threads", threads)
    if not 0 <= number <= _core.MAX_THREADS:
        raise ValueError(f"threads must be 0 (the default) to {_core.MAX_THREADS}, not {number}")
    return number


def checked_integer(name: str, value: Any) -> int:
    """Return `value` as an int; a TypeError if it is no integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def checked_items(name: str, items: Any) -> int:
    """Return a number of items, at least 1, as an int; 2^32 for any that is larger, which no call has."""
    number = checked_integer(name, items)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, not {number}")
    return min(number, 1 << 32)


def checked_flag(name: str, flag: bool) -> bool:
    """Return `flag`; a TypeError unless it is a bool: None, or "no", would say what nobody meant."""
    if not isinstance(flag, (bool, np.bool_)):
        raise TypeError(f"{name} must be a bool, not {type(flag).__name__}")
    return bool(flag)


def library_name(name: str) -> str:
    r"""Return a name as the library takes it.

    Null characters, at which a name would end, and lone surrogates, which UTF-8 cannot hold, are escaped. No
    name of the library has such characters: of one that has, it says that there is none of this name.

    >>> library_name("cpu"), library_name("cpu\0")
    ('cpu', 'cpu\\x00')
    """
    return name.replace("\0", r"\x00").encode(errors="backslashreplace").decode()


def checked_choice(device: str, variant: str | None) -> tuple[str, str | None]:
    """Return `device` and `variant` as the library takes them; a TypeError if one is no name."""
    if not isinstance(device, str):
        raise TypeError(f"device must be a str, not {type(device).__name__}")
    if not isinstance(variant, (str, type(None))):
        raise TypeError(f"variant must be a str or None, not {type(variant).__name__}")
    return library_name(device), library_name(variant) if variant else None


def checked_errors(errors: str) -> str:
    """Return `errors`; a ValueError unless it is ``"raise"`` or ``"status"``."""
    if errors not in ("raise", "status"):
        raise ValueError(f"errors must be 'raise' or 'status', not {errors!r}")
    return errors


def shared_handle(
    op: str, secret: bool, shared: bool, modulus_bits: int, device: str, variant: str | None, threads: int
) -> _core.Plan:
    """The plan for these options, made at most once while it stays among the 64 last used."""
    device, variant = checked_choice(device, variant)
    environment = None if variant else os.environ.get("MANYMOD_VARIANT")
    bits = min(MAX_MODULUS_BITS, -(-max(1, modulus_bits) // 64) * 64)
    number = OPERATIONS[op]
    secret, threads = checked_flag("secret", secret), checked_threads(threads)
    return _handles.get(environment, number, secret, int(shared), bits, device, variant, threads)


def batch_kernel(handle: _core.Plan) -> Kernel:
    """The kernel of a plan of any operation without terms."""
    run = handle.run
    absent: Batch = (None, None)

    def kernel(
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
        assert modulus is not None  # noqa: S101 - for the type checker; batch plans always have one
        x, y, z = (*operands, absent, absent)[:3]
        return run(count, 0, *x, *y, *modulus, result, result_signs, status, progress, first, total, *z)

    return kernel


def _list_kernel(op: str, handle: _core.Plan) -> ListKernel | None:
    """What computes lists in blocks, on CPUs, if conversions take much of the time."""
    if op not in _SHORT:
        return None
    variant = handle.variant
    return None if ".cuda" in variant or ".opencl" in variant else handle.run_lists


def run_operation(
    op: str,
    values: Sequence[Any],
    mod: Any,
    handle_for: Callable[[Operand], _core.Plan],
    *,
    secret: bool,
    errors: str,
    out: Any,
    progress: Progress | None,
) -> Any:
    """Compute one operation on a batch given in any kind."""
    checked_errors(errors)
    operands = [operand(name, value) for name, value in zip(OPERANDS[op], values, strict=True)]
    modulus = mod if isinstance(mod, Operand) else operand("mod", mod)
    everything = [*operands, modulus]
    count = common_length(everything)
    answer = answer_for(count, everything, modulus, out)
    handle = handle_for(modulus)
    return execute(
        op,
        batch_kernel(handle),
        operands,
        modulus,
        count,
        answer,
        errors=errors,
        progress=progress,
        pinned_widths=[item.width for item in operands] if secret else [],
        lists=_list_kernel(op, handle),
    )


def run_cached(
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
    """Compute one operation by the plan for its options, which is kept for reuse."""

    def handle(modulus: Operand) -> _core.Plan:
        return shared_handle(op, secret, modulus.count is None, modulus.bits, device, variant, threads)

    return run_operation(op, values, mod, handle, secret=secret, errors=errors, out=out, progress=progress)


def _checked_modulus(modulus: Operand, secret: bool) -> int:
    """Return a plan's own modulus; a ValueError if calls cannot use it."""
    limbs, signs = modulus.rows(0, 1, modulus.width)
    (value,) = _core.limbs_to_ints(limbs, signs)
    if secret and modulus.copies:
        limbs.fill(0)
    if value == 0:
        raise ValueError("modulus must not be 0")
    if modulus.bits > MAX_MODULUS_BITS:
        raise ValueError(f"modulus has {modulus.bits} bits, more than {MAX_MODULUS_BITS}")
    if secret and value % 2 == 0:
        raise ValueError("a constant-time operation needs an odd modulus")
    return value


def _restored(arguments: dict[str, Any]) -> Plan:
    return Plan(**arguments)


class Plan:
    """An operation planned once, for one modulus or for moduli up to a width, and called many times.

    Args:
        op: ``"addmod"``, ``"submod"``, ``"negmod"``, ``"mulmod"``, ``"sqrmod"``, ``"powmod"``, ``"invmod"``,
            ``"fmamod"``.
        modulus_bits: widest modulus of the calls, 1 to 16384; wider ones get `Status.MODULUS_TOO_WIDE`.
        modulus: the one modulus of all calls instead, not 0, up to 16384 bits, odd if `secret`; it is
            prepared once and kept.
        secret: constant-time: time and memory access depend on public sizes, signs and parity alone.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:K"``, ``"opencl"`` or ``"opencl:K"``.
        variant: name of a variant (see `variants`) to force.
        threads: CPU threads, up to 1024; 0 uses `get_threads`.

    A plan is pickled as its arguments, and planned again where it is unpickled; a secret one is not pickled.

    Raises:
        ValueError: if the modulus is 0, too wide or, where `secret`, even.
        VariantError: if the variant is unknown or cannot do this.
        DeviceError: if there is no such device.

    >>> plan = Plan("powmod", modulus=1000)
    >>> plan([2, 3], 10)
    [24, 49]
    >>> plan(base=[2, 3], exp=10)
    [24, 49]
    >>> plan.op, plan.secret
    ('powmod', False)
    >>> Plan("mulmod", modulus_bits=2048)([3, 4], [5, 6], [7, 23])
    [1, 1]
    """

    def __init__(
        self,
        op: str,
        *,
        modulus_bits: int | None = None,
        modulus: Any = None,
        secret: bool = False,
        device: str = "auto",
        variant: str | None = None,
        threads: int = 0,
    ) -> None:
        if op not in tuple(OPERANDS):
            raise ValueError(f"op must be one of {', '.join(OPERANDS)}, not {op!r}")
        if (modulus_bits is None) == (modulus is None):
            raise ValueError("give either modulus_bits or modulus")
        self._op = op
        self._secret = secret = checked_flag("secret", secret)
        self._modulus: Operand | None = None
        if modulus is not None:
            self._modulus = operand("modulus", modulus)
            if self._modulus.count is not None:
                raise ValueError("modulus must be a single integer: for one per item give modulus_bits")
            value = _checked_modulus(self._modulus, secret)
            width = self._modulus.bits
            # What is pickled: not the caller's object, which may be an array that changes.
            modulus = modulus if self._modulus.mpz else value
        else:
            width = checked_integer("modulus_bits", modulus_bits)
            if not 1 <= width <= MAX_MODULUS_BITS:
                raise ValueError(f"modulus_bits must be 1 to {MAX_MODULUS_BITS}, not {width}")
        self._arguments: dict[str, Any] = {
            "op": op,
            **({"modulus_bits": width} if modulus is None else {"modulus": modulus}),
            "secret": secret,
            "device": device,
            "variant": variant,
            "threads": threads,
        }
        kind = _core.MM_MODULUS_EACH if self._modulus is None else _core.MM_MODULUS_SHARED
        numbers = (OPERATIONS[op], secret, kind, width)
        choice = checked_choice(device, variant)
        self._options: tuple[Any, ...] = (*numbers, *choice, checked_threads(threads))
        self._handle = ProcessOwn(self._make())

    @property
    def op(self) -> str:
        """The operation."""
        return self._op

    @property
    def secret(self) -> bool:
        """Whether the timing class is secret."""
        return self._secret

    @property
    def variant(self) -> str:
        """Name of the variant for large batches, with one modulus or one for each item as planned."""
        return self._handle_here().variant

    def variant_for(self, items: int) -> str:
        """Name of the variant for a number of items whose moduli have one number of 64-bit limbs.

        Of more items than fill its vectors, the rest goes to the variant for as many as are left; items that
        a variant does not accept (vector techniques: even moduli, negative exponents) go to one that does. A
        plan made by `modulus_bits` is taken to be called with a modulus for each item; a product with one
        modulus for all may then be computed by another variant.

        Args:
            items: at least 1.

        >>> plan = Plan("powmod", modulus_bits=1024, variant="scalar64.generic")
        >>> plan.variant_for(1), plan.variant_for(10**30)
        ('scalar64.generic', 'scalar64.generic')
        """
        return self._handle_here().variant_for(checked_items("items", items))

    def _make(self) -> _core.Plan:
        return _core.Plan(*self._options)

    def _handle_here(self, _modulus: Operand | None = None) -> _core.Plan:
        return self._handle.get(self._make)

    @overload
    def __call__(
        self, first: int, /, *operands: int, errors: Raising = ..., **options: Unpack[CallOptions]
    ) -> int: ...

    @overload
    def __call__(
        self, first: int, /, *operands: int, errors: Literal["status"], **options: Unpack[CallOptions]
    ) -> ScalarWithStatus: ...

    @overload
    def __call__(
        self, first: Array, /, *operands: Any, errors: Raising = ..., **options: Unpack[CallOptions]
    ) -> Array: ...

    @overload
    def __call__(
        self, first: Array, /, *operands: Any, errors: Literal["status"], **options: Unpack[CallOptions]
    ) -> tuple[Array, Statuses]: ...

    @overload
    def __call__(
        self,
        first: Sequence[Integer],
        /,
        *operands: Any,
        errors: Raising = ...,
        **options: Unpack[CallOptions],
    ) -> list[int]: ...

    @overload
    def __call__(
        self,
        first: Sequence[Integer],
        /,
        *operands: Any,
        errors: Literal["status"],
        **options: Unpack[CallOptions],
    ) -> tuple[list[int], Statuses]: ...

    @overload
    def __call__(
        self,
        *operands: Any,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **named: Any,
    ) -> Any: ...

    def __call__(
        self,
        *operands: Any,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **named: Any,
    ) -> Any:
        """Compute a batch.

        Args:
            *operands: as the function of the same name takes them: with the modulus last, or without if the
                plan was made for one modulus.
            **named: operands by the names that the function has for them.
            errors: ``"raise"`` or ``"status"``, as in `powmod`.
            out: as in `powmod`.
            progress: as in `powmod`.
        """
        names = OPERANDS[self._op]
        expected = names if self._modulus is not None else (*names, "mod")
        if unknown := sorted(set(named) - set(expected[len(operands) :])):
            raise TypeError(f"this plan takes {', '.join(expected)}, not another {unknown[0]!r}")
        given = len(operands) + len(named)
        if given != len(expected):
            raise TypeError(f"this plan takes {', '.join(expected)}, got {given} operands")
        operands = (*operands, *(named[name] for name in expected[len(operands) :]))
        mod = self._modulus if self._modulus is not None else operands[-1]
        return run_operation(
            self._op,
            operands[: len(names)],
            mod,
            self._handle_here,
            secret=self._secret,
            errors=errors,
            out=out,
            progress=progress,
        )

    def submit(self, *operands: Any, **options: Any) -> Future[Any]:
        """Compute a batch on another thread: ``manymod.submit(plan, ...)``, which type checkers know better.

        `operands` and `options` are those of a call of the plan.

        >>> Plan("powmod", modulus=1000).submit([2, 3], 10).result()
        [24, 49]
        """
        return submit(self, *operands, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the arguments; refused for a secret plan, whose modulus may be one."""
        if self._secret:
            raise TypeError("a secret Plan cannot be pickled: construct it where it is used")
        return _restored, (self._arguments,)

    def __repr__(self) -> str:
        """Operation, timing class and variant."""
        timing = "secret" if self._secret else "public"
        return f"Plan({self._op!r}, {timing}, variant={self.variant!r})"
