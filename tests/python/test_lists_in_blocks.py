# SPDX-License-Identifier: Apache-2.0
"""Lists of ints and mpz, computed in blocks, against Python's own arithmetic."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import pytest
from tests.python.integers import mixed

import manymod
from manymod import Status
from manymod.plan import shared_handle

CASES: list[tuple[str, int, Callable[..., int]]] = [
    ("addmod", 2, lambda x, y: x + y),
    ("submod", 2, lambda x, y: x - y),
    ("negmod", 1, lambda x: -x),
    ("mulmod", 2, lambda x, y: x * y),
    ("sqrmod", 1, lambda x: x * x),
    ("fmamod", 3, lambda x, y, z: x * y + z),
]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 32 items, the least."""
    monkeypatch.setattr(manymod._run, "BLOCK_BYTES", 1)


@pytest.mark.parametrize(("op", "arity", "value"), CASES)
@pytest.mark.parametrize("bits", [60, 500, 3000])
def test_all_operations(op: str, arity: int, value: Callable[..., int], bits: int) -> None:
    source = random.Random(bits)
    operands = [mixed(source, 101, size) for size in (bits, bits + 90, 40)[:arity]]
    moduli = [n or 7 for n in mixed(source, 101, bits)]
    wanted = [value(*row) % n for *row, n in zip(*operands, moduli, strict=True)]
    function = getattr(manymod, op)
    assert function(*operands, moduli) == wanted
    n = abs(moduli[0]) | 1 << bits
    assert function(*operands, n) == [value(*row) % n for row in zip(*operands, strict=True)]
    converted = [[gmpy2.mpz(v) for v in values] for values in operands]
    found = function(*converted, moduli)
    assert found == wanted
    assert all(type(v) is gmpy2.mpz for v in found)
    operands[0][40:45] = [gmpy2.mpz(v) for v in operands[0][40:45]]
    out = operands[0]
    assert function(*operands, moduli, out=out) is out
    assert out == wanted


def test_statuses_and_progress() -> None:
    x = list(range(100))
    moduli: list[Any] = [9] * 100
    moduli[70] = 0
    calls: list[tuple[int, int]] = []
    result, status = manymod.mulmod(
        x, x, moduli, errors="status", progress=lambda done, total: calls.append((done, total))
    )
    assert result == [v * v % 9 if v != 70 else 0 for v in x]
    assert np.flatnonzero(status).tolist() == [70]
    assert status[70] == Status.ZERO_MODULUS
    assert calls[-1] == (100, 100)
    with pytest.raises(ZeroDivisionError, match="item 70"):
        manymod.addmod(x, 1, moduli)


def test_a_list_that_has_changed() -> None:
    """Between two blocks other threads may run."""
    handle = shared_handle("addmod", False, True, 64, "cpu", None, 1)
    one = (None, np.ones((1, 1), np.uint64), None)
    for changed in ([1] * 50, [1] * 50 + [1 << 64] * 50, [1] * 50 + [-1] * 50, [1] * 50 + ["1"] * 50):
        arguments = (((changed, 1, False), one), one, False, False, np.empty(100, np.uint8), None)
        with pytest.raises((ValueError, TypeError), match="the sequence changed"):
            handle.run_lists(100, 32, *arguments)


def test_other_kinds_of_elements() -> None:
    assert manymod.addmod([np.int64(3), True, gmpy2.mpz(5)] * 20, [1] * 60, 100) == [4, 2, 6] * 20
    wide = 1 << 64 * 300  # not in blocks
    assert manymod.addmod([wide, 1], [-wide, 2], [7, 5]) == [0, 3]
    objects = np.array([1, 2**80, 3], object)
    assert manymod.mulmod(objects, 3, 7).tolist() == [3, 3 * 2**80 % 7, 2]


def test_lengths_of_mpz_in_bits() -> None:
    rows = np.array([[200], [7]], np.uint8)
    assert manymod.mulmod(rows, 2, [gmpy2.mpz(255), gmpy2.mpz(9)]).tolist() == [[145], [5]]
    assert manymod.IntArray.from_ints([gmpy2.mpz(1) << 70], bits=71).to_ints() == [1 << 70]
    with pytest.raises(OverflowError, match="item 0 has 71 bits"):
        manymod.IntArray.from_ints([gmpy2.mpz(1) << 70], bits=70)


SUMS = [case for case in CASES if case[0] in {"addmod", "submod", "negmod"}]


@pytest.mark.parametrize(("op", "arity", "value"), SUMS)
@pytest.mark.parametrize("bits", [60, 64, 500, 1500, 2600, 4096])
def test_sums_of_residues(op: str, arity: int, value: Callable[..., int], bits: int) -> None:
    """Residues are added where they lie; among them are zeros, short ones and the greatest ones."""
    source = random.Random(bits)
    moduli = [source.getrandbits(bits) | 1 << (bits - 1) for _ in range(200)]
    residues = [
        [source.choice([0, 1, n - 1, source.randrange(n), source.randrange(n), n >> 64]) for n in moduli]
        for _ in range(arity)
    ]
    lists = [[gmpy2.mpz(v) for v in values] for values in residues]
    function = getattr(manymod, op)
    found = function(*lists, [gmpy2.mpz(n) for n in moduli])
    assert found == [value(*row) % n for *row, n in zip(*residues, moduli, strict=True)]
    assert all(type(v) is gmpy2.mpz for v in found)
    n = max(moduli)
    assert function(*lists, n) == [value(*row) % n for row in zip(*residues, strict=True)]
    assert function(lists[0], *residues[1:], moduli) == found


@pytest.mark.parametrize(("op", "arity", "value"), SUMS)
def test_sums_with_other_items_between(op: str, arity: int, value: Callable[..., int]) -> None:
    """Signs, operands that are not reduced, ints and moduli without residues, each after some residues."""
    count, bits = 400, 200
    source = random.Random(op)
    n = (1 << bits) - 57
    operands = [[gmpy2.mpz(source.randrange(n)) for _ in range(count)] for _ in range(arity)]
    moduli: list[Any] = [gmpy2.mpz(n)] * count
    for values, at in zip(operands, (35, 70), strict=False):
        values[at : at + 4] = [gmpy2.mpz(-5), gmpy2.mpz(n), gmpy2.mpz(n << 90), 7]
    moduli[150:154] = [gmpy2.mpz(1), gmpy2.mpz(-n), gmpy2.mpz(n - 1), n]
    moduli[300], moduli[340] = gmpy2.mpz(0), gmpy2.mpz(1 << bits)
    plan = manymod.Plan(op, modulus_bits=bits, device="cpu")
    found, status = plan(*operands, moduli, errors="status")
    assert {int(i): Status(int(status[i])) for i in np.flatnonzero(status)} == {
        300: Status.ZERO_MODULUS,
        340: Status.MODULUS_TOO_WIDE,
    }
    wanted = [
        0 if bad else value(*row) % m for *row, m, bad in zip(*operands, moduli, status.tolist(), strict=True)
    ]
    assert found == wanted


def test_progress_of_sums() -> None:
    """It is reported between parts of a list, and what it raises ends the call."""
    x = [gmpy2.mpz(3)] * 50_000
    calls: list[tuple[int, int]] = []
    assert manymod.addmod(x, x, 5, progress=lambda *call: calls.append(call)) == [1] * len(x)
    assert calls[0] == (1 << 14, len(x))
    assert calls[-1] == (len(x), len(x))

    def stop(done: int, total: int) -> None:
        raise RuntimeError(f"{done} of {total}")

    with pytest.raises(RuntimeError, match=f"{1 << 14} of {len(x)}"):
        manymod.negmod(x, 5, progress=stop)
    with pytest.raises(ValueError, match="the sequence changed"):
        manymod.negmod(x, 5, progress=lambda *_: x.clear())
