# SPDX-License-Identifier: Apache-2.0
"""All small operands of every operation, on every usable variant, against Python."""

from __future__ import annotations

import itertools

import pytest
from tests.python.test_operations import BINARY, FUNCTIONS, expected

import manymod
from manymod import Status

LIMIT = 2**6
USABLE = [variant for variant in manymod.variants() if variant.usable]
VARIANTS = [variant.name for variant in USABLE if "powmod" in variant.secret_ops]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_all_powers_one_modulus_each(variant: str, sign: int) -> None:
    """All (base, exp, mod) with |mod| <= 2^6, bases and exponents of both signs."""
    bases, exps = list(range(-LIMIT, LIMIT + 1, 3)), list(range(-8, LIMIT + 1))
    for n in range(LIMIT + 1):
        rows = list(itertools.product(bases, exps))
        x, y = [base for base, _ in rows], [exp for _, exp in rows]
        pairs = [expected("powmod", *row, sign * n) for row in rows]
        for mod in (sign * n, [sign * n] * len(rows)):
            result, status = manymod.powmod(x, y, mod, variant=variant, errors="status")
            assert result == [value for value, _ in pairs]
            assert status.tolist() == [code for _, code in pairs]


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_powers_mixed_moduli(variant: str) -> None:
    """All reduced bases and exponents of all moduli up to 2^6 in one batch."""
    rows = [(x, y, n) for n in range(LIMIT + 1) for x in range(max(1, n)) for y in range(LIMIT)]
    x, y, n = (list(column) for column in zip(*rows, strict=True))
    result, status = manymod.powmod(x, y, n, variant=variant, errors="status")
    assert result == [pow(*row) if row[2] else 0 for row in rows]
    assert status.tolist() == [Status.OK if row[2] else Status.ZERO_MODULUS for row in rows]


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_secret_powers(variant: str) -> None:
    """As above in constant time, where an even modulus has a status of its own."""
    rows = [(x, y, n) for n in range(LIMIT + 1) for x in range(max(1, n)) for y in range(-2, LIMIT)]
    x, y, n = (list(column) for column in zip(*rows, strict=True))
    result, status = manymod.powmod(x, y, n, variant=variant, secret=True, errors="status")
    pairs = [
        expected("powmod", *row) if row[2] % 2 or row[2] == 0 else (0, Status.EVEN_MODULUS) for row in rows
    ]
    assert result == [value for value, _ in pairs]
    assert status.tolist() == [code for _, code in pairs]


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
    span = range(-20, 21)
    operands = [span, span] if name in BINARY else [range(-70, 71)]
    rows = list(itertools.product(*operands, range(-LIMIT, LIMIT + 1)))
    columns = [list(column) for column in zip(*rows, strict=True)]
    result, status = getattr(manymod, name)(*columns, variant=variant, errors="status")
    pairs = [expected(name, *row) for row in rows]
    assert result == [value for value, _ in pairs]
    assert status.tolist() == [code for _, code in pairs]


@pytest.mark.parametrize("variant", [v.name for v in USABLE if "invmod" in v.public_ops])
def test_all_inverses_of_shared_moduli(variant: str) -> None:
    for n in range(-LIMIT, LIMIT + 1):
        x = list(range(-LIMIT, LIMIT + 1))
        result, status = manymod.invmod(x, n, variant=variant, errors="status")
        pairs = [expected("invmod", value, n) for value in x]
        assert result == [value for value, _ in pairs]
        assert status.tolist() == [code for _, code in pairs]
