# SPDX-License-Identifier: Apache-2.0
"""Arrays in GPU memory as operands: on a GPU, or on the driver that needs none."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.python import fake_gpu
from tests.python.device_array_support import (
    OPERATIONS,
    P,
    counted,
    ints,
    limbs,
    nothing_left,
    on_device,
    sample,
    tensor,
)
from tests.python.dlpack_producer import Tensor
from tests.python.integers import mixed

import manymod
from manymod import DeviceError, IntArray, Status, to_device


@pytest.mark.skipif("FAKE_CUDA" in os.environ, reason="this is the fake driver's process")
def test_all_on_the_fake_driver() -> None:
    fake_gpu.needed()
    here = Path(__file__)
    files = [
        str(here),
        *(str(here.with_name(f"test_device_arrays_{part}.py")) for part in ("dlpack", "own", "residues")),
    ]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files]
    environment = fake_gpu.environment(devices=2)
    done = subprocess.run(tests, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # this one, and the one for machines without a GPU
    assert " passed, 2 skipped" in done.stdout.splitlines()[-1]


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield from nothing_left()


@on_device
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("bits", [64, 127, 600])
def test_operations(operation: str, bits: int) -> None:
    function, expected, arity = OPERATIONS[operation]
    values = sample(operation, 9, bits, seed=1)
    wanted = [expected(*item) for item in zip(*values, strict=True)]
    width = -(-max(bits, max(values[-1]).bit_length()) // 64)
    arrays = [to_device(limbs(column, width)) for column in values]
    result = function(*arrays)
    assert ints(result) == wanted
    assert result.shape == (9, width)
    assert result.device == "cuda:0"
    # each operand but the first on the host, in lists, which keeps the answer on the GPU
    for k in range(1, arity + 1):
        operands = [values[i] if i == k else arrays[i] for i in range(arity + 1)]
        assert ints(function(*operands)) == wanted
    # the first on the host: so is the answer
    assert function(values[0], *arrays[1:]) == wanted
    assert function(IntArray.from_ints(values[0]), *arrays[1:]).to_ints() == wanted
    # one modulus, exponent, .. for all
    single = [column[0] for column in values]
    wanted = [expected(x, *single[1:]) for x in values[0]] if operation != "invmod" else wanted
    assert ints(function(arrays[0], *single[1:])) == wanted
    assert ints(function(arrays[0], *[to_device(value) for value in single[1:]])) == wanted


@on_device
def test_wide_and_mixed_moduli() -> None:
    source = random.Random(2)
    bases = mixed(source, 12, 3000, signed=False)
    moduli = [1, 2, 3, 2**64, 2**64 + 1, 2**127 - 1, 2**521 - 1, 10**100, 6, 2**1000, 2**2048 - 9, 97]
    exponents = mixed(source, 12, 20, signed=False)
    result = manymod.powmod(to_device(bases), to_device(exponents), to_device(moduli))
    assert ints(result) == [pow(*item) for item in zip(bases, exponents, moduli, strict=True)]


@on_device
def test_many_items_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manymod._run.RUN_BYTES", 1 << 12)
    x = limbs(list(range(5000)), 4)
    done: list[tuple[int, int]] = []
    result = manymod.mulmod(to_device(x), to_device(x), P, progress=lambda *state: done.append(state))
    assert ints(result) == [i * i % P for i in range(5000)]
    assert done[-1] == (5000, 5000)
    # a list beside it is converted in parts
    assert ints(manymod.mulmod(to_device(x), list(range(5000)), P)) == [i * i % P for i in range(5000)]


@on_device
def test_nothing_is_copied_to_the_host() -> None:
    if counted("launches") is None:
        pytest.skip("only the fake driver counts copies")
    count, width = 300, 16
    values = [(3 << 1000) + i for i in range(count)]
    modulus = 2**1023 + 9
    x, y, n = to_device(values), to_device(values), to_device(limbs([modulus] * count))
    names = ("launches", "to_device_bytes", "to_host_bytes")
    for moduli in (n, modulus):
        before = [counted(name) or 0 for name in names]
        result = manymod.mulmod(x, y, moduli, device="cuda")
        launches, *copied = (
            now - then for now, then in zip((counted(name) or 0 for name in names), before, strict=True)
        )
        assert launches > 0
        assert max(copied) < 8 * count * width // 4
        assert ints(result) == [value * value % modulus for value in values]


@on_device
def test_empty_batch() -> None:
    empty = to_device(np.empty((0, 3), np.uint64))
    assert (len(empty), empty.shape) == (0, (0, 3))
    result = manymod.powmod(empty, 3, P)
    assert result.shape == (0, 2)
    assert result.numpy().shape == (0, 2)
    result, statuses = manymod.powmod(empty, empty, P, errors="status")
    assert len(result) == len(statuses) == 0


@on_device
def test_signs() -> None:
    base = to_device([3, 5])
    assert ints(manymod.powmod(base, -2, 1009)) == [pow(3, -2, 1009), pow(5, -2, 1009)]
    assert ints(manymod.powmod(base, [-1, 2], 1009)) == [pow(3, -1, 1009), 25]
    assert ints(manymod.submod(base, [-4, 9], np.array([11, 13]))) == [7, 9]
    assert manymod.powmod([-3, 3], base, -1009) == [pow(-3, 3, -1009), pow(3, 5, -1009)]
    for modulus in (-1009, [7, -7], np.array([7, -7])):
        with pytest.raises(ValueError, match="mod is negative"):
            manymod.powmod(base, 2, modulus)


@on_device
def test_statuses() -> None:
    values, moduli = [3, 5, 4, 7], [10, 10, 10, 0]
    result, statuses = manymod.invmod(to_device(values), to_device(moduli), errors="status")
    expected = [Status.OK, Status.NOT_INVERTIBLE, Status.NOT_INVERTIBLE, Status.ZERO_MODULUS]
    assert (ints(result), list(statuses)) == ([7, 0, 0, 0], expected)
    assert isinstance(statuses, np.ndarray)
    with pytest.raises(manymod.ItemValueError, match="not invertible.*items 1, 2; 1 more") as failed:
        manymod.invmod(to_device(values), to_device(moduli))
    assert ints(failed.value.result) == [7, 0, 0, 0]


@on_device
def test_secret() -> None:
    base, exponents = to_device([3, 2**100]), to_device([2**60 + 1, 5])
    expected = [pow(3, 2**60 + 1, P), pow(2**100, 5, P)]
    assert ints(manymod.powmod_sec(base, exponents, P)) == expected
    assert ints(manymod.powmod(base, exponents, to_device([P, P]), secret=True)) == expected
    assert ints(manymod.powmod(base, [2**60 + 1, 5], P, secret=True)) == expected
    assert ints(exponents) == [2**60 + 1, 5]  # operands of the caller are not wiped
    statuses = manymod.powmod_sec(base, exponents, to_device([P, 10]), errors="status")[1]
    assert list(statuses) == [Status.OK, Status.EVEN_MODULUS]


@on_device
@pytest.mark.parametrize("options", [{"device": "cpu"}, {"variant": "scalar64.generic"}, {"device": "cuda"}])
def test_devices(options: dict[str, Any]) -> None:
    x = to_device([2**100, 3])
    assert ints(manymod.mulmod(x, x, P, **options)) == [2**200 % P, 9]


@on_device
def test_plan() -> None:
    plan = manymod.Plan("powmod", modulus=P)
    base = to_device([2, 3, 2**90])
    for _ in range(2):
        assert ints(plan(base, 65537)) == [pow(x, 65537, P) for x in (2, 3, 2**90)]
        assert ints(plan(base=base, exp=to_device([1, 2, 3]))) == [2, 9, 2**270 % P]
    each = manymod.Plan("mulmod", modulus_bits=127)
    result, statuses = each(base, base, to_device([7, P, 2**200]), errors="status")
    assert ints(result) == [4, 9, 0]
    assert list(statuses) == [0, 0, Status.MODULUS_TOO_WIDE]
    with pytest.raises(ValueError, match="modulus must be a single integer"):
        manymod.Plan("powmod", modulus=base)


@on_device
@pytest.mark.parametrize("secret", [False, True])
def test_fixed_base(secret: bool) -> None:
    fixed = manymod.FixedBase(9, P, exponent_bits=128, secret=secret)
    exponents = [0, 1, 2**100 + 3, 2**127]
    result = fixed.powmod(to_device(limbs(exponents, 2)))
    assert ints(result) == [pow(9, e, P) for e in exponents]
    into = to_device(np.zeros((4, 2), np.uint64))
    assert fixed.powmod(to_device(exponents), out=into) is into
    assert ints(into) == ints(result)
    if secret:
        with pytest.raises(ValueError, match="wider than exponent_bits"):
            fixed.powmod(to_device(limbs(exponents, 3)))


@on_device
def test_multi_powmod() -> None:
    source = random.Random(3)
    bases, exponents = (
        np.array([limbs(mixed(source, 3, 120, signed=False), 2) for _ in range(4)]) for _ in "be"
    )
    modulus = [P, 1009, 10**30, 2]

    def on_gpu(array: Any) -> Tensor:
        flat = to_device(array.reshape(12, 2))
        return tensor(flat, shape=(4, 3, 2))

    expected = manymod.multi_powmod(bases, exponents, modulus).tolist()
    for b in (bases, on_gpu(bases)):
        for e in (exponents, on_gpu(exponents)):
            result = manymod.multi_powmod(b, e, modulus)
            found = result.tolist() if isinstance(result, np.ndarray) else result.numpy().tolist()
            assert found == expected
    result = manymod.multi_powmod(on_gpu(bases), on_gpu(exponents), to_device(modulus))
    assert result.numpy().tolist() == expected
    into = to_device(np.zeros((4, 2), np.uint64))
    result, statuses = manymod.multi_powmod(
        on_gpu(bases), on_gpu(exponents), to_device(modulus), out=into, errors="status"
    )
    assert result is into
    assert into.numpy().tolist() == expected
    assert not statuses.any()
    # one row of terms for every product, and one product
    row = to_device(exponents[0])
    expected = manymod.multi_powmod(bases, exponents[0], P).tolist()
    assert manymod.multi_powmod(on_gpu(bases), row, to_device(P)).numpy().tolist() == expected
    one = manymod.multi_powmod(bases[0], exponents[0], P)
    assert manymod.multi_powmod(to_device(bases[0]), row, to_device(P)) == one


@on_device
def test_multi_powmod_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = to_device(limbs(list(range(600)), 2))
    monkeypatch.setattr("manymod._terms.RUN_BYTES", 1 << 10)
    rows = tensor(terms, shape=(300, 2, 2))
    expected = [pow(2 * i, 3, P) * pow(2 * i + 1, 3, P) % P for i in range(300)]
    assert ints(manymod.multi_powmod(rows, to_device([3, 3]), P)) == expected
    assert ints(manymod.multi_powmod(rows, to_device([3, 3]), [P] * 300)) == expected
    assert ints(manymod.multi_powmod(rows, [[3, 3]] * 300, limbs([P]))) == expected


@on_device
def test_nulls() -> None:
    import pyarrow as pa

    x = to_device([5, 6])
    column = pa.array([1, None], pa.int64())
    message = "an operand has nulls, which have no place beside arrays in GPU memory"
    with pytest.raises(ValueError, match=message):
        manymod.mulmod(x, column, 7)
    with pytest.raises(ValueError, match=message):
        manymod.mulmod(column, x, 7)
    assert ints(manymod.mulmod(x, pa.array([1, -2]), 7)) == [5, 2]
    assert manymod.mulmod(pa.array([1, -2]), x, 7).to_pylist() == [5, 2]
    with pytest.raises(ValueError, match="x has nulls"):
        to_device(column)


@on_device
def test_lengths() -> None:
    with pytest.raises(ValueError, match="lengths differ: x has 2 items, y has 3"):
        manymod.mulmod(to_device([1, 2]), to_device([1, 2, 3]), 7)


@on_device
def test_two_devices() -> None:
    if len(manymod.devices()) < 3:
        pytest.skip("only one GPU")
    x, y = to_device([5, 2**100]), to_device([5, 2**100], "cuda:1")
    assert (x.device, y.device) == ("cuda:0", "cuda:1")
    with pytest.raises(
        DeviceError, match="x is on cuda:0, y on cuda:1: arrays of one call must be on one GPU"
    ):
        manymod.mulmod(x, y, P)
    with pytest.raises(ValueError, match=r"out must be a uint64\[2, 2\] array on cuda:0, not .* on cuda:1"):
        manymod.mulmod(x, x, P, out=y)
    rows = tensor(to_device(limbs([1, 2, 3, 4])), shape=(2, 2, 1))
    with pytest.raises(DeviceError, match="bases is on cuda:0, mod on cuda:1"):
        manymod.multi_powmod(rows, [[1, 2]] * 2, y)
    result = manymod.mulmod(y, y, P)
    assert result.device == "cuda:1"
    assert ints(result) == [25, 2**200 % P]
    assert to_device(y).device == "cuda:0"
    assert to_device(y, "cuda:1").device == "cuda:1"
    assert pickle.loads(pickle.dumps(y)).device == "cuda:1"
