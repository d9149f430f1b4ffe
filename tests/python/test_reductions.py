# SPDX-License-Identifier: Apache-2.0
"""fmamod, summod, prodmod and dotmod, against Python's own arithmetic."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

import gmpy2
import numpy as np
import pandas as pd
import pytest
from tests.python.integers import ints_of_bytes, ints_of_limbs, limbs_of, mixed

import manymod
from manymod import IntArray, Status, dotmod, fmamod, prodmod, summod
from manymod._device import DeviceRows
from manymod._limbs import canonical_limbs
from manymod._operand_kinds import Kind

MODULI = (2**127 - 1, -(10**40), 1, -1, 9, 64, 2**64, 2**521 - 1, 2**600 + 2)


def dot(x: Sequence[int], y: Sequence[int]) -> int:
    return sum(map(operator.mul, x, y))


@pytest.mark.parametrize("secret", [False, True])
def test_fmamod(secret: bool) -> None:
    source = random.Random(1)
    for n in MODULI:
        if secret and n % 2 == 0:
            continue
        x, y, z = (mixed(source, 40, bits) for bits in (130, 700, 64))
        wanted = [(a * b + c) % n for a, b, c in zip(x, y, z, strict=True)]
        assert fmamod(x, y, z, n, secret=secret) == wanted
        assert fmamod(x, y, z, [n] * 40, secret=secret) == wanted
        arrays = [IntArray.from_ints(values) for values in (x, y, z)]
        assert fmamod(arrays[0], arrays[1], arrays[2], n, secret=secret).to_ints() == wanted
        assert fmamod(3, -5, 2, n, secret=secret) == -13 % n
        assert fmamod(x, 2, -1, n, secret=secret) == [(2 * a - 1) % n for a in x]
    p = 2**127 - 1
    rows = IntArray.from_ints([1, 2, 3], bits=128).limbs
    assert fmamod(rows, rows, rows, p, out=rows, secret=secret) is rows
    assert ints_of_limbs(rows) == [2, 6, 12]
    assert manymod.Plan("fmamod", modulus=p, secret=secret)([2], 3, z=[4]) == [10]


VECTORS = [v.name for v in manymod.variants() if v.usable and v.backend == "cpu" and "avx" in v.name]


@pytest.mark.parametrize("variant", VECTORS)
def test_fmamod_by_vectors(variant: str) -> None:
    """One odd modulus for all: the addends are below it, longer, negative, or wider than it."""
    source = random.Random(variant)
    for bits in (520, 640, 1000):
        n = source.getrandbits(bits) | 1 << (bits - 1) | 1
        x, y = mixed(source, 30, bits), mixed(source, 30, bits - 3)
        for z in ([source.randrange(n) for _ in x], mixed(source, 30, bits), mixed(source, 30, 2 * bits)):
            wanted = [(a * b + c) % n for a, b, c in zip(x, y, z, strict=True)]
            assert fmamod(x, y, z, n, variant=variant) == wanted
            assert fmamod(x, y, -n, n, variant=variant) == [a * b % n for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("secret", [False, True])
@pytest.mark.parametrize("terms", [0, 1, 2, 7, 40, 300])
def test_one_item(terms: int, secret: bool) -> None:
    source = random.Random(terms)
    x, y = mixed(source, terms, 200), mixed(source, terms, 90)
    for n in MODULI:
        if secret and n % 2 == 0:
            continue
        wanted = sum(x) % n, math.prod(x) % n, dot(x, y) % n
        for threads in (1, 3):
            options: Any = {"threads": threads, "secret": secret}
            assert (summod(x, n, **options), prodmod(x, n, **options), dotmod(x, y, n, **options)) == wanted
        arrays = IntArray.from_ints(x), IntArray.from_ints(y)
        found = (summod(arrays[0], n), prodmod(arrays[0], [n]), dotmod(*arrays, n))
        assert found == wanted


CASES: list[tuple[Callable[..., Any], Callable[..., int], int]] = [
    (summod, lambda x: sum(x), 1),
    (prodmod, lambda x: math.prod(x), 1),
    (dotmod, dot, 2),
]


@pytest.mark.parametrize("secret", [False, True])
@pytest.mark.parametrize(("function", "value", "arity"), CASES)
def test_rows(function: Any, value: Any, arity: int, secret: bool) -> None:
    source = random.Random(3)
    lengths = [0, 1, 5, 3, 30, 2]
    columns = [[mixed(source, length, 100) for length in lengths] for _ in range(arity)]
    moduli = [7, 10**30 + 1, 2**89 - 1, 1, -12345, 2**640 + 1]
    values = [value(*row) for row in zip(*columns, strict=True)]
    wanted = [v % n for v, n in zip(values, moduli, strict=True)]
    assert function(*columns, moduli, secret=secret) == wanted
    assert function(*columns, 1009, secret=secret) == [v % 1009 for v in values]
    if arity == 2:
        one = columns[1][2]
        assert function([columns[0][2]] * 2, one, 1009) == [dot(columns[0][2], one) % 1009] * 2
        assert function(one, [columns[0][2]] * 2, 1009) == [dot(columns[0][2], one) % 1009] * 2
    assert type(function(*[[[gmpy2.mpz(2)]]] * arity, 7)[0]) is gmpy2.mpz


@pytest.mark.parametrize(("function", "value", "arity"), CASES)
def test_arrays(function: Any, value: Any, arity: int) -> None:
    generator = np.random.default_rng(3)
    limbs = [generator.integers(0, 2**63, (4, 6, 2), np.uint64) for _ in range(arity)]
    n = 2**100 + 7
    rows = [[IntArray.from_limbs(row).to_ints() for row in array] for array in limbs]
    wanted = [value(*row) % n for row in zip(*rows, strict=True)]
    assert ints_of_limbs(function(*limbs, n)) == wanted
    in_bytes = [IntArray.from_limbs(a.reshape(-1, 2)).to_bytes(16).reshape(4, 6, 16) for a in limbs]
    assert ints_of_bytes(function(*in_bytes, n)) == wanted
    into = np.empty((4, 2), np.uint64)
    assert function(*limbs, n, out=into) is into
    assert ints_of_limbs(into) == wanted
    with pytest.raises(ValueError, match="overlap"):
        function(*limbs, n, out=limbs[0][:, 0])
    assert function(*[array[:0] for array in limbs], n).shape == (0, 2)
    assert function(*limbs, limbs_of([n] * 4)).tolist() == into.tolist()


def test_in_runs_of_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(9)
    rows = [[source.getrandbits(source.choice([30, 9000])) for _ in range(20)] for _ in range(30)]
    monkeypatch.setattr(manymod._terms, "RUN_BYTES", 30_000)
    n = 2**89 - 1
    assert summod(rows, n) == [sum(row) % n for row in rows]
    assert dotmod(rows, rows[0], n) == [dot(row, rows[0]) % n for row in rows]
    flat = [value for row in rows for value in row]
    for secret in (False, True):
        assert prodmod(flat, n, secret=secret) == math.prod(flat) % n
        assert dotmod(flat, flat, -n, secret=secret) == dot(flat, flat) % -n


@pytest.mark.parametrize("secret", [False, True])
def test_a_row_for_all_items_serves_every_run(secret: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that is copied, as its layout is not the library's, and zeroed where it is secret."""
    monkeypatch.setattr(manymod._terms, "RUN_BYTES", 100)
    rows, weights, n = [[i, i + 1] for i in range(9)], [2**70 + 1, 2**65 + 3], 2**89 - 1
    wanted = [dot(row, weights) % n for row in rows]
    for shared in (weights, IntArray.from_ints(weights), np.asfortranarray(limbs_of(weights))):
        assert dotmod(rows, shared, n, secret=secret) == dotmod(shared, rows, n, secret=secret) == wanted


def test_copies_of_secret_rows_are_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[manymod._terms.Rows] = []

    def reading(*arguments: Any) -> manymod._terms.Rows:
        read.append(_read_rows(*arguments))
        return read[-1]

    _read_rows = manymod._terms._read_rows
    monkeypatch.setattr(manymod._terms, "_read_rows", reading)
    for whole in (np.arange(60, dtype=np.uint64), np.arange(60, dtype=np.uint8)):
        rows = whole.reshape(5, 6, 2)[::-1]
        assert dotmod(rows[:, ::2], rows[:, 1::2], 10007, secret=True).any()
        assert np.array_equal(whole, np.arange(60))
    copies = [rows.copy for rows in read]
    assert all(copy is not None and not copy.any() for copy in copies)
    assert summod(whole.reshape(5, 6, 2), 10007, secret=True).any()
    assert read[-1].copy is None


def test_copies_of_secret_moduli_are_zeroed(copies: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each when its items are done, and one for all items after the last run."""

    def watched_rows(limbs: Any) -> Any:
        copies.append(canonical_limbs(limbs))
        return copies[-1]

    monkeypatch.setattr(manymod._terms, "RUN_BYTES", 100)
    rows = [[i, i + 1] for i in range(9)]
    wanted = [i + i + 1 for i in range(9)]
    assert summod(rows[1], 77777, secret=True) == 3
    assert summod(rows, 77777, secret=True) == wanted
    assert summod(rows, [77777] * 9, secret=True) == wanted
    assert len(copies) > 3
    monkeypatch.setattr("manymod._operand_kinds.canonical_limbs", watched_rows)
    assert summod(rows, np.array([[77777]], ">u8"), secret=True) == wanted
    assert not any(limbs.any() for limbs in copies)


def test_host_copies_of_secrets_in_gpu_memory_are_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[Any] = []

    class Stored:
        """Three terms in the memory of a GPU that is not there."""

        shape, width, device_index = (3, 1), 1, 0

        def __len__(self) -> int:
            return 3

        def to_host(self, limbs: Any) -> None:
            limbs[:, 0] = 77777, 2, 3
            copies.append(limbs)

    def rows(name: str, value: Any, **_: Any) -> DeviceRows:
        return DeviceRows(name, value, Kind.DEVICE_LIMBS)

    monkeypatch.setattr("manymod._terms.is_on_device", lambda value: isinstance(value, Stored))
    monkeypatch.setattr("manymod._terms.device_operand", rows)
    stored: Any = Stored()
    assert prodmod(stored, 1009, secret=True) == 77777 * 6 % 1009
    assert dotmod(stored, [1, 2, 3], 1009, secret=True) == (77777 + 4 + 9) % 1009
    assert len(copies) == 2
    assert not any(limbs.any() for limbs in copies)


def test_shapes_without_integers() -> None:
    """Rows of one length are not compared one by one: of these there are more than there is time."""
    assert summod(np.zeros((0, 2**50, 1), np.uint64), 7).shape == (0, 1)
    with pytest.raises(MemoryError):
        summod(np.zeros((2**50, 0, 1), np.uint64), 7)


def test_rows_of_every_sequence() -> None:
    assert summod([range(3), [5]], 7) == summod([[5], range(3)], 7)[::-1] == [3, 5]
    assert summod([np.array(3), np.array(9)], 7) == 5  # arrays without dimensions are integers


def test_what_is_no_integer_is_named() -> None:
    for rows in ([[1, 2], [3, None]], np.array([[1, 2], [3, None]], object)):
        with pytest.raises(TypeError, match="x: row 1, term 1 is not an integer: NoneType"):
            summod(rows, 7)
    with pytest.raises(TypeError, match=r"x: .*timedelta64.* cannot be interpreted as an integer"):
        fmamod(np.timedelta64(5, "s"), 1, 1, 7)
    with pytest.raises(TypeError, match="x: row 1 is not a sequence of integers: ndarray"):
        summod([[1], np.array(3)], 7)


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8])
def test_out_is_no_operand(dtype: Any) -> None:
    moduli, rows = np.array([[7], [9]], dtype), np.ones((2, 3, 1), dtype)
    with pytest.raises(ValueError, match="^out overlaps an operand$"):
        summod(rows, moduli, out=moduli)
    with pytest.raises(ValueError, match="^out overlaps an operand$"):
        summod(rows[:, :1], 7, out=rows[:, 0])
    assert moduli.tolist() == [[7], [9]]


def test_columns_are_not_matched_by_their_labels() -> None:
    x, y = pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0])
    assert dotmod(x, x, 7) == 5
    with pytest.raises(ValueError, match="x and y are Series of different indices"):
        dotmod(x, y, 7)
    with pytest.raises(ValueError, match="bases and exps are Series of different indices"):
        manymod.multi_powmod(x, y, 7)


def test_errors() -> None:
    with pytest.raises(ValueError, match="x has 2 items, y has 3"):
        dotmod([1, 2], [1, 2, 3], 5)
    with pytest.raises(ValueError, match="2 sums, mod has 3"):
        summod([[1], [1]], [5, 6, 7])
    with pytest.raises(TypeError, match="x"):
        prodmod(3, 5)
    with pytest.raises(ValueError, match="out"):
        summod([1, 2], 5, out=[0])
    with pytest.raises(ZeroDivisionError, match="modulo by zero"):
        summod([2] * 1000, 0)
    with pytest.raises(ZeroDivisionError, match="item 1"):
        prodmod([[2], [3]], [5, 0])
    with pytest.raises(ValueError, match="odd"):
        dotmod([2], [3], 6, secret=True)
    assert summod([2, 3], 0, errors="status") == (0, Status.ZERO_MODULUS)
    result, status = dotmod([[2], [3]], [[4], [5]], [0, 7], errors="status")
    assert result == [0, 1]
    assert status.tolist() == [Status.ZERO_MODULUS, Status.OK]
    with pytest.raises(ZeroDivisionError, match="item 0"):
        fmamod([1, 2], 3, 4, [0, 5])
    with pytest.raises(ValueError, match="lengths differ"):
        fmamod([1, 2], 3, [4, 5, 6], 5)


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    assert summod(list(range(1000)), 10**9, progress=lambda done, total: seen.append((done, total))) == 499500
    assert seen[-1] == (1000, 1000)
