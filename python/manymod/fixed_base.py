# SPDX-License-Identifier: Apache-2.0
"""Powers of one base by a precomputed comb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._answers import answer_for
from manymod._device import DeviceRows
from manymod._forked import ProcessOwn
from manymod._limbs import Signs, limbs_for
from manymod._operand_kinds import Batch, Operand, Scalar
from manymod._operands import operand
from manymod._run import Errors, Progress, execute
from manymod._typing import Array, CallOptions, Integer, Raising, ScalarWithStatus, Statuses
from manymod.asynchronous import submit
from manymod.plan import (
    MAX_MODULUS_BITS,
    checked_choice,
    checked_errors,
    checked_flag,
    checked_integer,
    checked_items,
    checked_threads,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    from typing_extensions import Unpack

__all__ = ["FixedBase"]

#: The longest exponents of a comb (`mm_fixed_base_options`).
_MAX_EXPONENT_BITS = 1 << 20


def _restored(arguments: dict[str, Any]) -> FixedBase:
    return FixedBase(**arguments)


class FixedBase:
    """Powers ``g**e % n`` of one base modulo one modulus, by a comb that is computed once.

    Args:
        g: the base, an integer of any size and sign.
        n: the modulus, not 0, up to 16384 bits; odd if `secret`.
        exponent_bits: exponents up to this length use the comb; by default the length of `n`. Longer ones
            still work unless `secret`, but slower. At most 1,048,576.
        secret: constant-time in the exponents: the time depends on `exponent_bits`, rounded up
            to whole limbs of 64 bits. Items with wider exponents are not computed: they get
            `Status.EXPONENT_TOO_WIDE`.
        device: as in `powmod`.
        variant: as in `powmod`.
        threads: as in `powmod`.

    Raises:
        ValueError: if `n` is 0, too wide or, where `secret`, even, or if `exponent_bits` is out of range.
        TypeError: if `g` or `n` is no single integer, or `secret` no bool.

    Ctrl-C stops a long computation of the comb within a second, but not that by a GPU.

    >>> fixed = FixedBase(3, 1009)
    >>> fixed.powmod([0, 1, 2, 1008])
    [1, 3, 9, 1]
    >>> fixed.powmod(-1) * 3 % 1009
    1
    """

    def __init__(
        self,
        g: Any,
        n: Any,
        *,
        exponent_bits: int | None = None,
        secret: bool = False,
        device: str = "auto",
        variant: str | None = None,
        threads: int = 0,
    ) -> None:
        self._secret = secret = checked_flag("secret", secret)
        base, modulus = operand("g", g), operand("n", n)
        if not isinstance(base, Scalar) or not isinstance(modulus, Scalar):
            raise TypeError("g and n must be single integers")
        if modulus.value == 0:
            raise ValueError("pow() 3rd argument cannot be 0")
        if modulus.bits > MAX_MODULUS_BITS:
            raise ValueError(f"n has {modulus.bits} bits, more than {MAX_MODULUS_BITS}")
        if secret and modulus.value % 2 == 0:
            raise ValueError("a constant-time operation needs an odd modulus")
        self._exponent_bits = (
            modulus.bits if exponent_bits is None else checked_integer("exponent_bits", exponent_bits)
        )
        if not 1 <= self._exponent_bits <= _MAX_EXPONENT_BITS:
            raise ValueError(f"exponent_bits must be 1 to {_MAX_EXPONENT_BITS}, not {exponent_bits}")
        self._base = base
        self._modulus = modulus
        choice = checked_choice(device, variant)
        self._options = (secret, self._exponent_bits, *choice, checked_threads(threads))
        self._arguments: dict[str, Any] = {
            "g": base.value,
            "n": modulus.value,
            "exponent_bits": self._exponent_bits,
            "device": device,
            "variant": variant,
            "threads": threads,
        }
        self._handle = ProcessOwn(self._make())

    def _make(self) -> _core.FixedBase:
        base, base_signs = self._base.rows(0, 1, self._base.width)
        modulus, modulus_signs = self._modulus.rows(0, 1, self._modulus.width)
        try:
            return _core.FixedBase(base, base_signs, modulus, modulus_signs, *self._options)
        finally:
            if self._secret:
                base.fill(0)
                modulus.fill(0)

    @property
    def g(self) -> int:
        """The base."""
        return self._base.value

    @property
    def n(self) -> int:
        """The modulus."""
        return self._modulus.value

    @property
    def exponent_bits(self) -> int:
        """Length of the exponents that the comb is made for."""
        return self._exponent_bits

    @property
    def secret(self) -> bool:
        """Whether the timing class is secret."""
        return self._secret

    @property
    def variant(self) -> str:
        """Name of the variant for large batches."""
        return self._handle_here().variant

    def variant_for(self, exponents: int) -> str:
        """Name of the variant for a number of exponents, none of them negative.

        The first call with a number that has another variant makes a comb for it.

        Args:
            exponents: at least 1.

        >>> FixedBase(3, 1009, variant="scalar64.generic").variant_for(1)
        'scalar64.generic'
        """
        return self._handle_here().variant_for(checked_items("exponents", exponents))

    def _handle_here(self) -> _core.FixedBase:
        return self._handle.get(self._make)

    def _pinned_width(self, exps: Operand) -> int | None:
        """Return the one width of all secret exponents, None where they are not secret."""
        if not self._secret:
            return None
        width = limbs_for(self._exponent_bits)
        if isinstance(exps, DeviceRows) and exps.width > width:
            raise ValueError(
                f"exponents of {exps.width} limbs in the memory of a GPU are wider than "
                f"exponent_bits={self._exponent_bits} allows in constant time"
            )
        return max(width, exps.width)

    @overload
    def powmod(self, exps: int, *, errors: Raising = ..., **options: Unpack[CallOptions]) -> int: ...

    @overload
    def powmod(
        self, exps: int, *, errors: Literal["status"], **options: Unpack[CallOptions]
    ) -> ScalarWithStatus: ...

    @overload
    def powmod(self, exps: Array, *, errors: Raising = ..., **options: Unpack[CallOptions]) -> Array: ...

    @overload
    def powmod(
        self, exps: Array, *, errors: Literal["status"], **options: Unpack[CallOptions]
    ) -> tuple[Array, Statuses]: ...

    @overload
    def powmod(
        self, exps: Sequence[Integer], *, errors: Raising = ..., **options: Unpack[CallOptions]
    ) -> list[int]: ...

    @overload
    def powmod(
        self, exps: Sequence[Integer], *, errors: Literal["status"], **options: Unpack[CallOptions]
    ) -> tuple[list[int], Statuses]: ...

    @overload
    def powmod(self, exps: Any, *, errors: Errors = ..., **options: Unpack[CallOptions]) -> Any: ...

    def powmod(
        self, exps: Any, *, errors: Errors = "raise", out: Any = None, progress: Progress | None = None
    ) -> Any:
        """``g**e % n`` for every exponent e.

        Args:
            exps: exponents in any kind that `powmod` takes; a negative one means the inverse.
            errors: as in `powmod`.
            out: as in `powmod`.
            progress: as in `powmod`.

        Raises:
            ItemValueError: (a ValueError) if an exponent is negative and `g` is not invertible, or is wider
                than a secret one may be.
            ValueError: if an array of exponents in the memory of a GPU is wider than secret ones may be.

        Timing class: as given at construction.
        """
        checked_errors(errors)
        exponents = operand("exps", exps)
        answer = answer_for(exponents.count, [exponents, self._modulus], self._modulus, out)
        handle = self._handle_here()

        def kernel(
            count: int,
            operands: Sequence[Batch],
            modulus: Batch | None,  # noqa: ARG001
            result: Any,
            result_signs: Signs | None,
            status: NDArray[np.uint8],
            progress: Progress | None,
            first: int,
            total: int,
        ) -> int:
            return handle.run(count, *operands[0], result, result_signs, status, progress, first, total)

        return execute(
            "fixed_base_powmod",
            kernel,
            [exponents],
            self._modulus,
            exponents.count,
            answer,
            errors=errors,
            progress=progress,
            pinned_widths=[self._pinned_width(exponents)],
            send_modulus=False,
        )

    def submit(self, exps: Any, **options: Any) -> Future[Any]:
        """`powmod` on another thread: ``manymod.submit(fixed.powmod, ...)``, which type checkers know better.

        >>> FixedBase(3, 1009).submit([1, 2]).result()
        [3, 9]
        """
        powmod: Callable[..., Any] = self.powmod
        return submit(powmod, exps, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the arguments; refused where `secret`."""
        if self._secret:
            raise TypeError("a secret FixedBase cannot be pickled: construct it where it is used")
        return _restored, (self._arguments,)

    def __repr__(self) -> str:
        """Sizes, timing class and variant; not the numbers."""
        timing = "secret" if self._secret else "public"
        return (
            f"FixedBase({self._modulus.bits}-bit modulus, exponent_bits={self._exponent_bits}, {timing}, "
            f"variant={self.variant!r})"
        )
