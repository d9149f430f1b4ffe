# SPDX-License-Identifier: Apache-2.0
"""Residues, against Python's own arithmetic."""

from __future__ import annotations

import math
import operator
import pickle
import random
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from tests.python.integers import ints_of_limbs, limbs_of, mixed

import manymod
from manymod import IntArray, Residues

P = 2**127 - 1


@pytest.mark.parametrize("n", [1, 2, 9, 2**64, P, 10**40, 2**521 - 1, 2**1100 + 3])
def test_operations(n: int) -> None:
    source = random.Random(n)
    x, y = mixed(source, 30, n.bit_length() + 5), mixed(source, 30, 200)
    a, b = Residues(x, n), Residues(IntArray.from_ints(y), n)
    assert a.to_ints() == [v % n for v in x]
    pairs = list(zip(x, y, strict=True))
    assert (a + b).to_ints() == [(v + w) % n for v, w in pairs]
    assert (a - b).to_ints() == [(v - w) % n for v, w in pairs]
    assert (a * b).to_ints() == [v * w % n for v, w in pairs]
    assert (-a).to_ints() == [-v % n for v in x]
    assert (+a) is a
    assert (a + 5).to_ints() == (5 + a).to_ints() == [(v + 5) % n for v in x]
    assert (a - 5).to_ints() == [(v - 5) % n for v in x]
    assert (-5 - a).to_ints() == [(-5 - v) % n for v in x]
    assert (a * -3).to_ints() == (-3 * a).to_ints() == [v * -3 % n for v in x]
    assert (a * y).to_ints() == (y * a).to_ints() == (a * b).to_ints()
    assert (a + np.array([1])).to_ints() == [(v + 1) % n for v in x]
    assert (a**2).to_ints() == [v * v % n for v in x]
    assert (a**5).to_ints() == [pow(v, 5, n) for v in x]
    assert (a ** list(range(30))).to_ints() == [pow(v, e, n) for e, v in enumerate(x)]
    assert a.fma(b, 7).to_ints() == [(v * w + 7) % n for v, w in pairs]
    assert (a * b - a).fma(a, b).to_ints() == [((v * w - v) * v + w) % n for v, w in pairs]
    assert (a.sum(), a.prod()) == (sum(x) % n, math.prod(x) % n)
    assert a.dot(b) == a.dot(y) == sum(v * w for v, w in pairs) % n
    assert a.modulus == n
    assert (a == b).tolist() == [(v - w) % n == 0 for v, w in pairs]
    assert (a == x).all()
    assert not (a != x).any()
    assert (a == a[3]).tolist() == [(v - x[3]) % n == 0 for v in x]


def test_inverses() -> None:
    x = [1, 2, 3, P - 1, 12345]
    a = Residues(x, P)
    assert a.inverse().to_ints() == (a**-1).to_ints() == [pow(v, -1, P) for v in x]
    assert (a / a).to_ints() == [1] * 5
    assert (1 / a).to_ints() == a.inverse().to_ints()
    assert (a / 7 * 7 == a).all()
    with pytest.raises(ValueError, match="not invertible"):
        Residues([2, 3], 6).inverse()


def test_a_modulus_each() -> None:
    x, n = [10, -1, 2**70, 7], [7, 2**64, P, 1]
    a = Residues(x, n)
    assert a.to_ints() == [v % m for v, m in zip(x, n, strict=True)]
    assert (a * a + 1).to_ints() == [(v * v + 1) % m for v, m in zip(x, n, strict=True)]
    assert isinstance(a.modulus, IntArray)
    assert a.modulus.to_ints() == n
    b = a[1:3]
    assert (b * Residues(x, n)[1:3]).to_ints() == [1, pow(x[2], 2, P)]
    assert (a[[3, 0]] + 1).to_ints() == [0, 4]
    assert Residues(5, n).to_ints() == [5, 5, 5, 0]
    with pytest.raises(ValueError, match="moduli differ"):
        _ = a[:2] + a[2:]
    with pytest.raises(ValueError, match="modulus each"):
        a.sum()
    with pytest.raises(ValueError, match="lengths differ"):
        _ = a[:1] - [1, 2]


def test_broadcasting_and_lengths() -> None:
    a = Residues([1, 2, 3], 7)
    assert (a * Residues(5, 7)).to_ints() == (Residues(5, 7) * a).to_ints() == [5, 3, 1]
    assert len(Residues([], 7)) == 0
    assert (Residues([], 7) + Residues([], 7)).to_ints() == []
    assert (Residues([], 7).sum(), Residues([], 7).prod(), Residues([], 1).prod()) == (0, 1, 0)
    with pytest.raises(ValueError, match="lengths differ"):
        _ = a - [1, 2]
    with pytest.raises(ValueError, match="lengths differ"):
        a.dot([1, 2])
    for rows in ([[1, 2, 3]], np.ones((1, 3, 1), np.uint64)):
        with pytest.raises(TypeError, match="not rows of them"):
            a.dot(rows)


def test_indices() -> None:
    a = Residues(range(10), 11)
    assert (a[3], a[-1], len(a), a.shape) == (3, 9, 10, (10,))
    assert a[2:8:3].to_ints() == [2, 5]
    assert a[::-1].to_ints() == list(range(9, -1, -1))
    assert a[[1, 1, 4]].to_ints() == [1, 1, 4]
    assert a[np.arange(10) % 2 == 0].to_ints() == [0, 2, 4, 6, 8]
    assert (a[1:9:2] * a[::-1][:4]).to_ints() == [v * w % 11 for v, w in ((1, 9), (3, 8), (5, 7), (7, 6))]
    assert list(a) == list(range(10))
    with pytest.raises(IndexError):
        _ = a[10]


def test_conversions() -> None:
    a = Residues([1, 2**100], P)
    assert a.to_intarray().to_ints() == [1, 2**100]
    copied = a.numpy()
    copied[:] = 0
    assert a.to_ints() == [1, 2**100]
    assert ints_of_limbs(np.from_dlpack(a)) == [1, 2**100]
    assert manymod.addmod(a, 1, P).tolist() == limbs_of([2, 2**100 + 1]).tolist()
    assert Residues(IntArray.from_ints([5, 6], bits=192).limbs, 4).to_ints() == [1, 2]
    assert Residues(a, 5).to_ints() == [1, 2**100 % 5]
    assert a.to("cpu") is a
    restored = pickle.loads(pickle.dumps(a * 2))
    assert (restored == a + a).all()
    each = pickle.loads(pickle.dumps(Residues([5, 6], [7, 2**90])))
    assert (each + each).to_ints() == [3, 12]
    assert repr(a) == f"Residues(N=2, modulus={P}, device='cpu')"
    assert "600 bits" in repr(Residues([1], 2**599))
    assert a.device == "cpu"
    with pytest.raises(TypeError, match="numpy"):
        np.asarray(a)


def test_errors() -> None:
    a = Residues([1, 2], 7)
    for wrong in (0, -7):
        with pytest.raises(ValueError, match="not positive"):
            Residues([1], wrong)
    with pytest.raises(ValueError, match="modulus 1 is not positive"):
        Residues([1, 2], [3, 0])
    with pytest.raises(ValueError, match="16384"):
        Residues([1], 1 << 16384)
    with pytest.raises(ValueError, match="moduli differ"):
        _ = a + Residues([1, 2], 11)
    with pytest.raises(ValueError, match="moduli differ"):
        _ = a + Residues([1, 2], [7, 7])
    with pytest.raises(ValueError, match="lengths differ"):
        Residues([1, 2], [3, 4, 5])
    with pytest.raises(TypeError):
        _ = a + 0.5
    with pytest.raises(TypeError, match="exponent"):
        _ = a**a
    with pytest.raises(manymod.DeviceError, match="device must be 'cpu' or 'cuda:K', not 'x'"):
        Residues([1], 7, device="x")
    with pytest.raises(manymod.DeviceError, match="device must be 'cpu' or 'cuda:K', not 'x'"):
        a.to("x")
    with pytest.raises(TypeError):
        hash(a)
    missing: Any = None
    assert (a == missing) is False


def test_exhaustive_small_moduli() -> None:
    for n in range(1, 14):
        values = range(-n, n + 1)
        x, y = zip(*((v, w) for v in values for w in values), strict=True)
        a, b = Residues(x, n), Residues(y, n)
        pairs = list(zip(x, y, strict=True))
        assert (a + b).to_ints() == [(v + w) % n for v, w in pairs]
        assert (a - b).to_ints() == [(v - w) % n for v, w in pairs]
        assert (a * b).to_ints() == [v * w % n for v, w in pairs]
        assert a.fma(b, y[::-1]).to_ints() == [
            (v * w + u) % n for (v, w), u in zip(pairs, y[::-1], strict=True)
        ]
        assert ((a - b) * (a + b) == a**2 - b**2).all()


@pytest.mark.parametrize("make", [pd.Series, pd.Index])
def test_columns_leave_operators_to_residues(make: Callable[[list[int]], Any]) -> None:
    values, column = [1, 2, -3], make([1, 2, -3])
    a = Residues([3, 5, 6], 7)
    for compute in (operator.add, operator.sub, operator.mul):
        result = compute(column, a)
        assert isinstance(result, Residues)
        assert result.to_ints() == [compute(x, y) % 7 for x, y in zip(values, a, strict=True)]
    assert (column == a).tolist() == [False, False, False]


def test_comparison_with_what_is_no_integer() -> None:
    a = Residues([3, 5], 7)
    for other in (object(), {}, {3}, 1j, int, b"35", 3.0):
        assert (a == other) is False
        assert (a != other) is True
    assert object() not in a  # type: ignore[operator]  # which type checkers know
    with pytest.raises(TypeError, match="element 0 is not an integer: float"):
        _ = a == [3.0, 5.0]


def test_other_moduli_and_dimensions_are_refused() -> None:
    a, modulus = Residues([3, 5], 7), cast("Any", 7)
    with pytest.raises(TypeError, match="residues have their moduli"):
        a.__pow__(2, modulus)
    with pytest.raises(IndexError, match="there is one dimension, but 2 indices were given"):
        _ = a[0, 1]
