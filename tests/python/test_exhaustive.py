# SPDX-License-Identifier: Apache-2.0
"""All small operands of every operation, on every usable variant, against Python.

Python takes longer than the variants do, so that its answers are computed once for all of them.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.python.test_operations import BINARY, FUNCTIONS, expected

import manymod
from manymod import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 2**6
USABLE = [variant for variant in manymod.variants() if variant.usable]
VARIANTS = [variant.name for variant in USABLE if "powmod" in variant.secret_ops]


class Batch(NamedTuple):
    """Operands, one list for each argument, with the results and statuses that they must have."""

    columns: list[list[int]]
    values: list[int]
    statuses: list[int]

    def check(self, name: str, *arguments: int | list[int], **options: str | bool) -> None:
        """Call ``name`` on ``arguments``, which are the batch's columns or stand for them."""
        result, status = getattr(manymod, name)(*arguments, errors="status", **options)
        assert result == self.values
        assert status.tolist() == self.statuses


def batch(rows: Iterable[tuple[int, ...]], pairs: Iterable[tuple[int, int]]) -> Batch:
    """The batch of these rows of operands with a pair of value and status for each."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    values, statuses = (list(column) for column in zip(*pairs, strict=True))
    return Batch(columns, values, statuses)


@cache
def signed_powers(sign: int) -> list[Batch]:
    """A batch for each modulus up to 2^6 with this sign: bases and exponents of both signs."""
    powers = list(itertools.product(range(-LIMIT, LIMIT + 1, 3), range(-8, LIMIT + 1)))
    batches = []
    for n in range(LIMIT + 1):
        rows = [(base, exp, sign * n) for base, exp in powers]
        batches.append(batch(rows, [expected("powmod", *row) for row in rows]))
    return batches


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_all_powers_one_modulus_each(variant: str, sign: int) -> None:
    """All (base, exp, mod) with |mod| <= 2^6, bases and exponents of both signs."""
    for powers in signed_powers(sign):
        x, y, moduli = powers.columns
        for mod in (moduli[0], moduli):
            powers.check("powmod", x, y, mod, variant=variant)


@cache
def mixed_powers() -> Batch:
    rows = [(x, y, n) for n in range(LIMIT + 1) for x in range(max(1, n)) for y in range(LIMIT)]
    return batch(rows, [(pow(*row), Status.OK) if row[2] else (0, Status.ZERO_MODULUS) for row in rows])


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_powers_mixed_moduli(variant: str) -> None:
    """All reduced bases and exponents of all moduli up to 2^6 in one batch."""
    mixed_powers().check("powmod", *mixed_powers().columns, variant=variant)


@cache
def secret_powers() -> Batch:
    rows = [(x, y, n) for n in range(LIMIT + 1) for x in range(max(1, n)) for y in range(-2, LIMIT)]
    return batch(
        rows,
        [expected("powmod", *row) if row[2] % 2 or row[2] == 0 else (0, Status.EVEN_MODULUS) for row in rows],
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_secret_powers(variant: str) -> None:
    """As above in constant time, where an even modulus has a status of its own."""
    secret_powers().check("powmod", *secret_powers().columns, variant=variant, secret=True)


@cache
def all_operands(name: str) -> Batch:
    span = range(-20, 21)
    operands = [span, span] if name in BINARY else [range(-70, 71)]
    rows = list(itertools.product(*operands, range(-LIMIT, LIMIT + 1)))
    return batch(rows, [expected(name, *row) for row in rows])


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant.name)
        for name in FUNCTIONS
        for variant in USABLE
        if name != "powmod" and name in variant.public_ops
    ],
)
def test_all_operands_of_the_other_operations(name: str, variant: str) -> None:
    all_operands(name).check(name, *all_operands(name).columns, variant=variant)


@cache
def inverses(n: int) -> Batch:
    rows = [(x, n) for x in range(-LIMIT, LIMIT + 1)]
    return batch(rows, [expected("invmod", *row) for row in rows])


@pytest.mark.parametrize("variant", [v.name for v in USABLE if "invmod" in v.public_ops])
def test_all_inverses_of_shared_moduli(variant: str) -> None:
    for n in range(-LIMIT, LIMIT + 1):
        inverses(n).check("invmod", inverses(n).columns[0], n, variant=variant)
