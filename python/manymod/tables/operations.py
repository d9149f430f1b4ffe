# SPDX-License-Identifier: Apache-2.0
"""The operations that a table can go through, and how each is called on the rows of a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod._limbs import limbs_for
from manymod.intarray import IntArray
from manymod.multi import multi_powmod_columns
from manymod.tables.errors import OperandError

__all__ = [
    "OPERATIONS",
    "EngineOptions",
    "Operation",
    "RowFunction",
    "RowValues",
    "option_of",
    "term_labels",
]

#: The operand of each row, or one integer for all.
RowValues = IntArray | int

#: Computes rows: their results, and a `Status` for each.
RowFunction = Callable[[Sequence[RowValues], int, Any], tuple[IntArray, NDArray[np.uint8]]]


@dataclass(frozen=True)
class EngineOptions:
    """Where and how an operation runs.

    Attributes:
        secret: constant-time, for operations that have such a form; moduli must be odd.
        device: as in `manymod.powmod`.
        variant: as in `manymod.powmod`.
        threads: as in `manymod.powmod`.
    """

    secret: bool = False
    device: str = "auto"
    variant: str | None = None
    threads: int = 0

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of every operation's function."""
        return {"device": self.device, "variant": self.variant, "threads": self.threads}


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: as in the library.
        operands: names of the operands, in the order of the call; the modulus is the last.
        summary: one line about it.
        secret: whether it has a constant-time form.
        repeated: operands of which there are as many as the product has terms.
        fixed: operands that are one integer for the whole table.
    """

    name: str
    operands: tuple[str, ...]
    summary: str
    secret: bool = False
    repeated: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    @property
    def batch_rows(self) -> int:
        """Rows of a batch by default: enough for all cores, and an interruption loses seconds at most."""
        return 1024 if self.name in {"powmod", "invmod", "fixed_base_powmod"} else 8192

    def labels(self, operands: Mapping[str, str]) -> list[str]:
        """Return the labels of the operands given, in the order of the call.

        Raises:
            OperandError: if an operand is missing, or one too many.
        """
        terms = (
            sum(re.fullmatch(rf"{self.repeated[0]}\d+", label) is not None for label in operands)
            if self.repeated
            else 0
        )
        expected = [label for term in range(1, terms + 1) for label in term_labels(self.repeated, term)]
        expected += [label for label in self.operands if label not in self.repeated]
        if set(expected) != set(operands):
            wanted = (
                ", ".join(expected) if not self.repeated else f"as many {' as '.join(self.repeated)}, and mod"
            )
            raise OperandError(f"{self.name} takes {wanted}")
        return expected

    def bind(self, operands: Mapping[str, str | int], options: EngineOptions) -> RowFunction:
        """Return what computes rows, given what is the same for the whole table.

        Raises:
            OperandError: if an integer does not suit the operation.
        """
        for label in self.fixed:
            if not isinstance(operands[label], int):
                raise OperandError(
                    f"{option_of(label)} {operands[label]}: {self.name} takes one integer there"
                )
        if self.name == "fixed_base_powmod":
            return _fixed_base(operands, options)
        return _products(options) if self.repeated else _plain(self, options)


def term_labels(names: Sequence[str], term: int) -> list[str]:
    """Return the labels of a term's operands, counted from 1.

    >>> term_labels(("base", "exp"), 2)
    ['base2', 'exp2']
    """
    return [f"{name}{term}" for name in names]


def option_of(label: str) -> str:
    """Return the command line's option for an operand.

    >>> option_of("base2"), option_of("mod")
    ('--base', '--mod')
    """
    return "--" + label.rstrip("0123456789")


def _repeat(value: int, count: int) -> IntArray:
    single = IntArray.from_ints([value])
    signs = single._negative
    return IntArray._make(
        np.repeat(single._limbs, count, axis=0), None if signs is None else np.repeat(signs, count)
    )


def _plain(operation: Operation, options: EngineOptions) -> RowFunction:
    keywords = options.keywords()
    if operation.secret:
        keywords["secret"] = options.secret

    def call(values: Sequence[RowValues], count: int, progress: Any) -> Any:
        if all(isinstance(value, int) for value in values):
            values = [_repeat(int(values[0]), count), *values[1:]]  # type: ignore[arg-type]
        function = getattr(manymod, operation.name)
        return function(*values, errors="status", progress=progress, **keywords)

    return call


def _products(options: EngineOptions) -> RowFunction:
    keywords = options.keywords()

    def call(values: Sequence[RowValues], count: int, progress: Any) -> Any:
        bases, exps, modulus = values[:-1:2], values[1:-1:2], values[-1]
        return multi_powmod_columns(bases, exps, modulus, count, progress=progress, **keywords)

    return call


def _fixed_base(operands: Mapping[str, str | int], options: EngineOptions) -> RowFunction:
    base, exp, modulus = int(operands["base"]), operands["exp"], int(operands["mod"])
    try:
        powers = manymod.FixedBase(base, modulus, secret=options.secret, **options.keywords())
    except manymod.ManymodError:
        raise
    except ValueError as error:
        raise OperandError(f"--mod: {error}") from error
    limit = 64 * limbs_for(powers.exponent_bits) if options.secret else None
    if limit is not None and isinstance(exp, int) and exp.bit_length() > limit:
        raise OperandError(f"--exp: exponents of more than {limit} bits are not supported in constant time")

    def compute(values: Sequence[RowValues], count: int, progress: Any) -> Any:
        exps = values[1]
        exps = _repeat(exps, count) if isinstance(exps, int) else exps
        return powers.powmod(exps, errors="status", progress=progress)

    return compute


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("addmod", ("x", "y", "mod"), "x + y mod n of every row.", secret=True),
        Operation("submod", ("x", "y", "mod"), "x - y mod n of every row.", secret=True),
        Operation("negmod", ("x", "mod"), "-x mod n of every row.", secret=True),
        Operation("mulmod", ("x", "y", "mod"), "x * y mod n of every row.", secret=True),
        Operation("sqrmod", ("x", "mod"), "x^2 mod n of every row.", secret=True),
        Operation("fmamod", ("x", "y", "z", "mod"), "x * y + z mod n of every row.", secret=True),
        Operation("powmod", ("base", "exp", "mod"), "base^exp mod n of every row.", secret=True),
        Operation("invmod", ("x", "mod"), "The inverse of x mod n of every row.", secret=True),
        Operation(
            "multi_powmod",
            ("base", "exp", "mod"),
            "A product of powers mod n of every row.",
            repeated=("base", "exp"),
        ),
        Operation(
            "fixed_base_powmod",
            ("base", "exp", "mod"),
            "Powers of one base mod one n, from a precomputed comb.",
            secret=True,
            fixed=("base", "mod"),
        ),
    )
}
