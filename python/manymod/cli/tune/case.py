# SPDX-License-Identifier: Apache-2.0
"""What `manymod tune` measures: an operation at a width, its operands, and calls that compute it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import _core
from manymod.cli.bench.operands import full_length, odd_moduli, residues
from manymod.plan import OPERATIONS

__all__ = ["Batch", "Case", "Target", "cases", "make_batch", "make_runner"]

FIXED_BASE = "fixed_base_powmod"
MULTI = "multi_powmod"
#: Operations whose batches have one modulus: a fixed base has one by its nature, and with a modulus for each
#: item vectors do not take products.
SHARED_MODULUS = ("mulmod", "sqrmod", FIXED_BASE)
#: Factors of a product of powers, as in verifying a signature.
TERMS = 2


@dataclass(frozen=True)
class Case:
    """An operation in a timing class at a width."""

    op: str
    secret: bool
    bits: int

    @property
    def shared_modulus(self) -> bool:
        """Whether all items of a batch have one modulus."""
        return self.op in SHARED_MODULUS

    @property
    def terms(self) -> int:
        """Rows of operands for each item."""
        return TERMS if self.op == MULTI else 1

    @property
    def timing(self) -> str:
        """Name of the timing class."""
        return "secret" if self.secret else "public"

    def variants(self, backend: str = "cpu") -> list[manymod.Variant]:
        """Those of a backend that can run it here."""
        return [
            variant
            for variant in manymod.variants()
            if variant.usable
            and variant.backend == backend
            and self.op in (variant.secret_ops if self.secret else variant.public_ops)
            and variant.min_bits <= self.bits <= variant.max_bits
        ]


def cases(ops: Iterable[str], widths: Sequence[int], backend: str = "cpu") -> list[Case]:
    """Every case that some variant of the backend can run, narrow ones first."""
    every = (Case(op, secret, bits) for op in ops for secret in (False, True) for bits in sorted(set(widths)))
    return [case for case in every if case.variants(backend)]


@dataclass(frozen=True)
class Target:
    """Where and by what a case is computed; None is the library's own choice, 0 threads are all."""

    device: str
    variant: str | None
    threads: int

    def plan(self, case: Case) -> _core.Plan:
        """A plan of any operation but fixed_base_powmod."""
        kind = (int(case.secret), int(case.shared_modulus), case.bits)
        return _core.Plan(OPERATIONS[case.op], *kind, self.device, self.variant, self.threads)

    def choice(self, case: Case, count: int) -> str:
        """The variant that the library runs so many items by."""
        if case.op != FIXED_BASE:
            return self.plan(case).variant_for(count)
        n = 1 << (case.bits - 1) | 1
        options = {"device": self.device, "variant": self.variant, "threads": self.threads}
        fixed = manymod.FixedBase(2, n, exponent_bits=1, secret=case.secret, **options)  # type: ignore[arg-type]
        return fixed.variant_for(count)


@dataclass(frozen=True)
class Batch:
    """Operands and room for results: odd moduli of full length, other operands below them."""

    count: int
    x: NDArray[np.uint64]
    y: NDArray[np.uint64] | None
    n: NDArray[np.uint64]
    result: NDArray[np.uint64]
    status: NDArray[np.uint8]


def make_batch(case: Case, exponent_bits: int, count: int, seed: int) -> Batch:
    """Operands of a case; exponents of exactly `exponent_bits` bits."""
    source = np.random.default_rng(seed)
    n = odd_moduli(source, 1 if case.shared_modulus else count, case.bits)
    rows = count * case.terms
    x = residues(source, rows, case.bits)
    y = None
    if case.op == "mulmod":
        y = residues(source, rows, case.bits)
    elif case.op != "sqrmod":
        y = full_length(source, rows, exponent_bits)
    result = np.zeros((count, n.shape[1]), dtype=np.uint64)
    return Batch(count, x, y, n, result, np.zeros(count, dtype=np.uint8))


def make_runner(
    case: Case, exponent_bits: int, target: Target, some: Batch
) -> Callable[[Batch], Callable[[], Any]]:
    """From batches to calls by the extension itself, which spends less on Python than manymod.Plan.

    `some` is any of the batches: of a fixed base, it has the base and the modulus for all.
    """
    if case.op != FIXED_BASE:
        return functools.partial(_plan_call, target.plan(case), 0 if case.terms == 1 else case.terms)
    options = (int(case.secret), exponent_bits, target.device, target.variant, target.threads)
    return functools.partial(_comb_call, _core.FixedBase(some.x[:1], None, some.n, None, *options))


def _plan_call(plan: _core.Plan, terms: int, batch: Batch) -> Callable[[], Any]:
    operands = (batch.x, None, batch.y, None, batch.n, None)
    results = (batch.result, None, batch.status, None, 0, batch.count)
    return functools.partial(plan.run, batch.count, terms, *operands, *results)


def _comb_call(comb: _core.FixedBase, batch: Batch) -> Callable[[], Any]:
    assert batch.y is not None  # noqa: S101 (for the type checker: powers have exponents)
    results = (batch.result, None, batch.status, None, 0, batch.count)
    return functools.partial(comb.run, batch.count, batch.y, None, *results)
