# SPDX-License-Identifier: Apache-2.0
"""Residues, sums, products and dot products in GPU memory: on a GPU, or on the driver that needs none."""

from __future__ import annotations

import math
import operator
import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.python.device_array_support import P, counted, ints, limbs, nothing_left, on_device, tensor
from tests.python.integers import mixed

import manymod
from manymod import DeviceError, IntArray, Residues, to_device


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield from nothing_left()


@on_device
@pytest.mark.parametrize("n", [1, 12, P, 2**127, 2**600 + 1])
def test_chains(n: int) -> None:
    source = random.Random(n)
    x, y = mixed(source, 40, 150), mixed(source, 40, 60)
    pairs = list(zip(x, y, strict=True))
    a, b = Residues(x, n, device="cuda:0"), Residues(y, n).to("cuda:0")
    assert (a.device, a.to_ints()) == ("cuda:0", [v % n for v in x])
    before = counted("to_host_bytes")
    chain = ((a + b) * (a - b) * 3 - 7).fma(b, -a)
    assert n == 1 or counted("to_host_bytes") == before
    assert chain.device == "cuda:0"
    assert chain.to_ints() == [(((v + w) * (v - w) * 3 - 7) * w - v) % n for v, w in pairs]
    assert (5 - a[3:9]).to_ints() == [(5 - v) % n for v in x[3:9]]
    assert (a * y).to_ints() == (a * b).to_ints()
    assert (a * to_device([abs(v) for v in y])).to_ints() == [v * abs(w) % n for v, w in pairs]
    assert (a**2).to_ints() == (a * a).to_ints()
    assert (a**5).to_ints() == [pow(v, 5, n) for v in x]
    assert (a == a + 0).all()
    assert (a.sum(), a.prod()) == (sum(x) % n, math.prod(x) % n)
    assert a.dot(b) == a.dot(y) == sum(map(operator.mul, x, y)) % n
    assert a[5] == x[5] % n
    assert a.to("cpu").device == "cpu"
    assert (a.to("cpu") == x).all()
    assert (pickle.loads(pickle.dumps(a)) == a).all()
    added = manymod.addmod(a, 1, n)
    assert IntArray.from_limbs(added.numpy()).to_ints() == [(v + 1) % n for v in x]
    with pytest.raises(DeviceError, match=r"\.to\(\)"):
        _ = a + Residues(y, n)
    with pytest.raises(TypeError, match="step 1"):
        _ = a[::2]


@on_device
def test_a_modulus_each() -> None:
    source = random.Random(4)
    n = [value | 1 << 126 for value in mixed(source, 20, 120, signed=False)]
    x = mixed(source, 20, 200)
    a = Residues(x, to_device(n), device="cuda:0")
    assert a.to_ints() == [v % m for v, m in zip(x, n, strict=True)]
    assert (a * a - a).to_ints() == [(v * v - v) % m for v, m in zip(x, n, strict=True)]
    assert (a[4:9] + Residues(x, n, device="cuda:0")[4:9]).to_ints() == [
        2 * v % m for v, m in zip(x[4:9], n[4:9], strict=True)
    ]
    with pytest.raises(ValueError, match="moduli differ"):
        _ = a[:5] + a[5:10]
    odd = Residues([3, 5], P, device="cuda:0")
    assert (odd.inverse() * odd).to_ints() == [1, 1]


@on_device
@pytest.mark.parametrize("terms", [0, 1, 5, 1025, 2050, 4097])
def test_single_sums_and_products(terms: int) -> None:
    source = random.Random(terms)
    x, y = mixed(source, terms, 100, signed=False), mixed(source, terms, 130, signed=False)
    a, b = to_device(limbs(x, 2)), to_device(limbs(y, 3))
    for n in (P, 10, to_device([P])):
        m = n if isinstance(n, int) else P
        before = counted("to_host_bytes") or 0
        assert manymod.summod(a, n) == sum(x) % m
        assert (counted("to_host_bytes") or 0) - before <= 64  # the sum, and a modulus that is on the GPU
        assert manymod.prodmod(a, n) == math.prod(x) % m
        assert manymod.dotmod(a, b, n) == sum(map(operator.mul, x, y)) % m
    assert manymod.summod(a, -P) == sum(x) % -P
    with pytest.raises(ZeroDivisionError):
        manymod.summod(a, 0)


@on_device
def test_rows_and_fmamod() -> None:
    source = random.Random(2)
    x = [mixed(source, 7, 100, signed=False) for _ in range(6)]
    y = mixed(source, 7, 60, signed=False)
    n = [value | 1 << 100 for value in mixed(source, 6, 100, signed=False)]
    whole = to_device(limbs([value for row in x for value in row], 2))
    rows: Any = tensor(whole, shape=(6, 7, 2))
    for moduli in (n, to_device(limbs(n, 2)), P):
        m = [P] * 6 if moduli == P else n
        pairs = list(zip(x, m, strict=True))
        assert ints(manymod.summod(rows, moduli)) == [sum(row) % k for row, k in pairs]
        assert ints(manymod.prodmod(rows, moduli)) == [math.prod(row) % k for row, k in pairs]
        wanted = [sum(map(operator.mul, row, y)) % k for row, k in pairs]
        assert ints(manymod.dotmod(rows, to_device(limbs(y)), moduli)) == wanted
    a, b, c = (to_device(limbs(row, 2)) for row in x[:3])
    assert ints(manymod.fmamod(a, b, c, P)) == [
        (u * v + w) % P for u, v, w in zip(x[0], x[1], x[2], strict=True)
    ]
    assert ints(manymod.fmamod(a, -3, to_device(5), P)) == [(5 - 3 * u) % P for u in x[0]]
    assert ints(manymod.fmamod(a, b, c, P, secret=True)) == ints(manymod.fmamod(a, b, c, P))


@on_device
def test_out_is_no_operand_of_a_sum() -> None:
    """Not the very same array either, as on the host."""
    moduli, whole = to_device(limbs([P, 7], 2)), to_device(limbs(list(range(1, 7)), 2))
    rows: Any = tensor(whole, shape=(2, 3, 2))
    with pytest.raises(ValueError, match="^out overlaps an operand$"):
        manymod.summod(rows, moduli, out=moduli)
    with pytest.raises(ValueError, match="^out overlaps an operand$"):
        manymod.prodmod(rows, moduli, out=tensor(whole, shape=(2, 2), byte_offset=64))
    single: Any = tensor(whole, shape=(6, 1, 2))
    with pytest.raises(ValueError, match="^out overlaps an operand$"):
        manymod.dotmod(single, single, P, out=whole)
    assert (ints(moduli), ints(whole)) == ([P, 7], list(range(1, 7)))
    into = to_device(limbs([0, 0], 2))
    assert manymod.summod(rows, moduli, out=into) is into
    assert ints(into) == [6, 15 % 7]
