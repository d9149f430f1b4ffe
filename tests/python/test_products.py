# SPDX-License-Identifier: Apache-2.0
"""Products of powers and powers of fixed bases, against Python's own arithmetic."""

from __future__ import annotations

import random

import gmpy2
import numpy as np
import pyarrow as pa
import pytest
from tests.python.integers import ints_of_bytes, ints_of_limbs, limbs_of, mixed

import manymod
from manymod import IntArray, ItemValueError, Status


@pytest.mark.parametrize("terms", [0, 1, 2, 7, 40, 300, 1001])
def test_multi_powmod_flat(terms: int) -> None:
    source = random.Random(terms)
    bases, exps = mixed(source, terms, 200), mixed(source, terms, 90, signed=False)
    for n in (2**127 - 1, -(10**40), 1, 9):
        value = 1 % n
        for base, exp in zip(bases, exps, strict=True):
            value = value * pow(base, exp, n) % n
        assert manymod.multi_powmod(bases, exps, n) == value
        for threads in (1, 3):
            assert manymod.multi_powmod(bases, exps, n, threads=threads) == value
        assert manymod.multi_powmod(IntArray.from_ints(bases), IntArray.from_ints(exps), n) == value


def product(bases: list[int], exps: list[int], n: int) -> int:
    value = 1 % n
    for base, exp in zip(bases, exps, strict=True):
        value = value * pow(base, exp, n) % n
    return value


def test_multi_powmod_rows() -> None:
    source = random.Random(3)
    lengths = [0, 1, 5, 3, 5, 2]
    bases = [mixed(source, length, 100) for length in lengths]
    exps = [mixed(source, length, 100, signed=False) for length in lengths]
    moduli = [7, 10**30, 2**89 - 1, 1, -12345, 2**64]
    values = [product(*row) for row in zip(bases, exps, moduli, strict=True)]
    assert manymod.multi_powmod(bases, exps, moduli) == values
    assert manymod.multi_powmod(bases, exps, 1009) == [
        product(b, e, 1009) for b, e in zip(bases, exps, strict=True)
    ]
    five = [row for row in bases if len(row) == 5]
    assert manymod.multi_powmod(five, exps[2], 1009) == [product(row, exps[2], 1009) for row in five]
    assert manymod.multi_powmod(bases[2], [exps[2], exps[4]], 1009) == [
        product(bases[2], row, 1009) for row in (exps[2], exps[4])
    ]
    assert type(manymod.multi_powmod([[gmpy2.mpz(2)]], [[5]], 7)[0]) is gmpy2.mpz


@pytest.mark.parametrize("terms", [3, 40])
def test_multi_powmod_in_runs_of_bounded_memory(terms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(9)
    bases = [[source.getrandbits(source.choice([30, 9000])) for _ in range(terms)] for _ in range(30)]
    exps = [mixed(source, terms, 64, signed=False) for _ in range(30)]
    monkeypatch.setattr(manymod._terms, "RUN_BYTES", 30_000)
    n = 2**89 - 1
    values = [product(*row, n) for row in zip(bases, exps, strict=True)]
    assert manymod.multi_powmod(bases, exps, n) == values
    assert manymod.multi_powmod(bases, exps[0], n) == [product(row, exps[0], n) for row in bases]
    flat = [value for row in bases for value in row], [value for row in exps for value in row]
    assert manymod.multi_powmod(*flat, n) == product(*flat, n)
    limbs = [IntArray.from_ints(values) for values in flat]
    assert manymod.multi_powmod(limbs[0], limbs[1], -n) == product(*flat, -n)


def test_multi_powmod_arrays() -> None:
    limbs = np.random.default_rng(3).integers(0, 2**63, (4, 6, 2), np.uint64)
    exps = np.random.default_rng(4).integers(0, 2**63, (4, 6, 1), np.uint64)
    n = 2**100 + 7
    values = [
        product(IntArray.from_limbs(b).to_ints(), IntArray.from_limbs(e).to_ints(), n)
        for b, e in zip(limbs, exps, strict=True)
    ]
    assert ints_of_limbs(manymod.multi_powmod(limbs, exps, n)) == values
    rows = IntArray.from_limbs(limbs.reshape(-1, 2)).to_bytes(16).reshape(4, 6, 16)
    assert ints_of_bytes(manymod.multi_powmod(rows, exps, n)) == values
    into = np.empty((4, 2), np.uint64)
    assert manymod.multi_powmod(limbs, exps, n, out=into) is into
    assert ints_of_limbs(into) == values
    with pytest.raises(ValueError, match="overlap"):
        manymod.multi_powmod(limbs, exps, n, out=limbs[:, 0])
    with pytest.raises(ValueError, match="out"):
        manymod.multi_powmod([2], [3], 5, out=[0])
    assert manymod.multi_powmod(limbs[:0], exps[:0], n).shape == (0, 2)


def test_multi_powmod_errors() -> None:
    with pytest.raises(ValueError, match="bases has 2 items, exps has 3"):
        manymod.multi_powmod([1, 2], [1, 2, 3], 5)
    with pytest.raises(ValueError, match="in row 1: bases has 1 items, exps has 2"):
        manymod.multi_powmod([[1, 2], [1]], [[1, 2], [1, 2]], 5)
    with pytest.raises(ValueError, match="2 products, mod has 3"):
        manymod.multi_powmod([[1], [1]], [[1], [1]], [5, 6, 7])
    with pytest.raises(ValueError, match="bases has 1 rows, exps has 3"):
        manymod.multi_powmod([[1]], [[1], [1], [1]], 5)
    with pytest.raises(ValueError, match="in row 1: bases has 1 items, exps has 2"):
        manymod.multi_powmod([[1, 2], [1]], [1, 2], 5)
    with pytest.raises(TypeError, match="bases"):
        manymod.multi_powmod(3, [1], 5)
    with pytest.raises(ValueError, match="not invertible"):
        manymod.multi_powmod([2, 3], [5, -1], 6)
    with pytest.raises(ValueError, match="cannot be 0"):
        manymod.multi_powmod([2] * 1000, [5] * 1000, 0)
    assert manymod.multi_powmod([2, 3], [5, -1], 6, errors="status") == (0, Status.NOT_INVERTIBLE)
    result, status = manymod.multi_powmod([[2], [3]], [[-1], [2]], 6, errors="status")
    assert result == [0, 3]
    assert status.tolist() == [2, 0]


@pytest.mark.parametrize("secret", [False, True])
def test_fixed_base(secret: bool) -> None:
    source = random.Random(8)
    n = source.getrandbits(521) | 1
    g = source.getrandbits(700)
    fixed = manymod.FixedBase(g, n, secret=secret)
    exps = [0, 1, 2, (1 << 521) - 1, *mixed(source, 30, 521, signed=False)]
    values = [pow(g, e, n) for e in exps]
    assert fixed.powmod(exps) == values
    assert fixed.powmod(IntArray.from_ints(exps)).to_ints() == values
    assert ints_of_limbs(fixed.powmod(limbs_of(exps))) == values
    assert fixed.powmod(exps[7]) == values[7]
    assert (fixed.g, fixed.n, fixed.exponent_bits, fixed.secret) == (g, n, 521, secret)
    assert fixed.variant in repr(fixed)
    assert str(n) not in repr(fixed)
    if secret:
        with pytest.raises(ValueError, match=r"exponent_bits .*: item 1$"):
            fixed.powmod([5, 1 << 600])
        with pytest.raises(ValueError, match=r"exponent_bits .*: items 0, 1$"):
            fixed.powmod(np.ones((2, 10), np.uint64))
        assert ints_of_limbs(fixed.powmod(IntArray.from_ints([5], bits=640).limbs)) == [pow(g, 5, n)]
    else:
        assert fixed.powmod([1 << 600, -3]) == [pow(g, 1 << 600, n), pow(g, -3, n)]


def test_secret_exponents_that_are_too_wide() -> None:
    fixed = manymod.FixedBase(3, 1009, exponent_bits=64, secret=True)
    exps = [5, 2**64 - 1, -(2**64), 2**200, -7]
    good = [pow(3, e, 1009) if abs(e) < 2**64 else 0 for e in exps]
    wide = Status.EXPONENT_TOO_WIDE
    for batch in (exps, IntArray.from_ints(exps), np.array(exps, object), pa.array(map(str, exps))):
        with pytest.raises(ItemValueError, match=r"wider than exponent_bits .*: items 2, 3$") as caught:
            fixed.powmod(batch)
        assert caught.value.indices == [2, 3]
        result, statuses = fixed.powmod(batch, errors="status")
        assert [int(value) for value in np.asarray(result, object)] == good
        assert list(statuses) == [0, 0, wide, wide, 0]
    with pytest.raises(ItemValueError, match="wider than exponent_bits"):
        fixed.powmod(2**64)
    assert fixed.powmod(2**64, errors="status") == (0, wide)


def test_fixed_base_arguments() -> None:
    with pytest.raises(ValueError, match="cannot be 0"):
        manymod.FixedBase(3, 0)
    with pytest.raises(ValueError, match="odd"):
        manymod.FixedBase(3, 10, secret=True)
    with pytest.raises(ValueError, match="16385 bits"):
        manymod.FixedBase(3, 1 << 16384)
    with pytest.raises(ValueError, match="exponent_bits"):
        manymod.FixedBase(3, 7, exponent_bits=0)
    with pytest.raises(TypeError):
        manymod.FixedBase([3], 7)
    assert manymod.FixedBase(-3, -10).powmod([0, 1, 3]) == [pow(-3, e, -10) for e in (0, 1, 3)]
    assert manymod.FixedBase(2, 6).powmod([1, -1], errors="status")[1].tolist() == [0, Status.NOT_INVERTIBLE]
