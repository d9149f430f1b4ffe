# SPDX-License-Identifier: Apache-2.0
"""Arrays of other packages in GPU memory: what is taken, and what answers are."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.python.device_array_support import (
    P,
    ints,
    limbs,
    nothing_left,
    on_device,
    strided,
    tensor,
)
from tests.python.dlpack_producer import FLOAT, INT, MANAGED, Tensor, capsule, drop, exported

import manymod
from manymod import DeviceArray, DeviceError, to_device


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield from nothing_left()


@on_device
@pytest.mark.parametrize("options", [{}, {"version": None}, {"device": (MANAGED, 0)}, {"byte_offset": 16}])
def test_producers(options: dict[str, Any]) -> None:
    x = to_device([5, 2**100, 3])
    start = options.get("byte_offset", 0) // 16
    given = tensor(x, shape=(3 - start, 2), **options)
    assert ints(manymod.mulmod(given, given, P)) == [25, 2**200 % P, 9][start:]
    assert set(given.streams) == {1}
    assert not exported


class OldTensor(Tensor):
    """From before DLPack 1.0."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        return self.capsule(None)


@on_device
def test_old_producer() -> None:
    x = to_device([5, 2**100])
    given = OldTensor(x.__cuda_array_interface__["data"][0], x.shape, keep=x)
    assert ints(manymod.mulmod(given, given, P)) == [25, 2**200 % P]


@on_device
def test_strided_rows() -> None:
    x, y = limbs([2**64 - 1, 2**100, 5, 0]), limbs([3, 2**90, 7, 1])
    first, rows = strided(x, 5)
    second, others = strided(y, 3)
    expected = [a * b % P for a, b in zip([2**64 - 1, 2**100, 5, 0], [3, 2**90, 7, 1], strict=True)]
    assert ints(manymod.mulmod(rows, others, P)) == expected
    assert ints(to_device(rows)) == [2**64 - 1, 2**100, 5, 0]
    assert manymod.mulmod(rows, others, P, out=others) is others
    assert second.numpy()[:, :2].tolist() == limbs(expected, 2).tolist()
    assert (second.numpy()[:, 2] == 7).all()
    assert (first.numpy()[:, 2:] == 7).all()


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "float": ({"code": FLOAT}, TypeError, r"x: float64\[6, 2\] in GPU memory is none of uint64\[N, L\]"),
    "32 bits": ({"bits": 32}, TypeError, r"x: uint32\[6, 2\]"),
    "three dimensions": ({"shape": (3, 2, 2)}, TypeError, "x: an array of 3 dimensions"),
    "four dimensions": ({"shape": (3, 1, 2, 2)}, TypeError, r"x: uint64\[3, 1, 2, 2\]"),
    "signed integers": ({"shape": (12,), "code": INT}, TypeError, r"x: int64\[12\].*signed integers"),
    "columns": ({"shape": (2, 6), "strides": (1, 2)}, ValueError, "x: rows in GPU memory must be contiguous"),
    "backwards": (
        {"strides": (-2, 1)},
        ValueError,
        "x: rows in GPU memory must not overlap or run backwards",
    ),
    "one row repeated": ({"strides": (0, 1)}, ValueError, "must not overlap"),
    "overlapping": ({"strides": (1, 1)}, ValueError, "must not overlap"),
    "not aligned": (
        {"shape": (5, 2), "byte_offset": 4},
        ValueError,
        "x: limbs in GPU memory must be aligned",
    ),
    "a later DLPack": ({"version": (2, 0)}, BufferError, "DLPack version 2"),
    "another device": ({"device": (10, 0)}, DeviceError, "x is on DLPack device type 10"),
}


@on_device
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    options, kind, message = REFUSED[case]
    x = to_device(limbs(list(range(6)), 2))
    with pytest.raises(kind, match=message):
        manymod.sqrmod(tensor(x, **options), P)


class Strange(Tensor):
    """Whose capsule is not what its device promises."""

    def __init__(self, made: Callable[[], Any]) -> None:
        super().__init__(0, (1, 1))
        self.made = made

    def __dlpack__(self, **options: Any) -> Any:
        return self.made()


@on_device
def test_strange_capsules() -> None:
    with pytest.raises(TypeError, match="x: __dlpack__ did not return an unused DLPack capsule"):
        manymod.sqrmod(Strange(lambda: None), P)
    used = to_device([1]).__dlpack__()
    assert ints(manymod.sqrmod(Strange(lambda: used), P)) == [1]
    with pytest.raises(TypeError, match="did not return an unused DLPack capsule"):
        manymod.sqrmod(Strange(lambda: used), P)
    with pytest.raises(BufferError, match="x: the DLPack capsule is not on a CUDA device"):
        manymod.sqrmod(Strange(lambda: np.zeros((1, 1), np.uint64).__dlpack__()), P)


@on_device
def test_host_memory_that_is_called_device_memory() -> None:
    array = np.ones((2, 2), np.uint64)
    with pytest.raises(ValueError, match="not in the memory of a CUDA device"):
        manymod.sqrmod(Tensor(array.__array_interface__["data"][0], (2, 2), keep=array), P)
    with pytest.raises(DeviceError, match="cuda:7"):
        manymod.sqrmod(Tensor(array.__array_interface__["data"][0], (2, 2), keep=array, device=(2, 7)), P)


class ScalarTensor(Tensor):
    def __index__(self) -> int:
        return 5


@on_device
def test_zero_dimensions() -> None:
    assert manymod.powmod(2, ScalarTensor(0, ()), 1009) == 32
    with pytest.raises(TypeError, match="exp"):
        manymod.powmod(2, Tensor(0, ()), 1009)


@on_device
def test_no_limbs() -> None:
    x = to_device([1, 2])
    result = manymod.addmod(tensor(x, shape=(2, 0)), 5, 7)
    assert ints(result) == [5, 5]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> type[Tensor]:
    """An array package with from_dlpack, whose answers are what the capsule held."""

    class Array(Tensor):
        pass

    module = ModuleType("package")

    def from_dlpack(given: Any) -> Any:
        device = given.__dlpack_device__()
        held = given.__dlpack__(stream=1, max_version=(1, 0))
        name, fields = capsule(held)
        assert name == "dltensor_versioned"
        assert fields["device"] == device
        return Array(fields["address"], fields["shape"], fields["strides"], code=fields["type"][0], keep=held)

    module.from_dlpack = from_dlpack  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "package", module)
    Array.__module__ = "package.core"
    return Array


class ImmutableTensor(Tensor):
    """As of JAX, whose arrays do not change."""


ImmutableTensor.__module__ = "jaxlib._jax"


@on_device
def test_answers_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    jax, dlpack = ModuleType("jax"), ModuleType("jax.dlpack")
    dlpack.from_dlpack = lambda given: ("jax", given.__dlpack_device__())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.dlpack", dlpack)
    x = to_device([5, 6])
    given = ImmutableTensor(tensor(x).address, x.shape, keep=x)
    assert manymod.addmod(given, 1, 7) == ("jax", (2, 0))


@pytest.fixture(params=["torch", "cupy"])
def allocating(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[type[Tensor], list[str]]:
    """A package with an allocator and a current device, and a record of their use."""
    name = str(request.param)
    package = ModuleType(name)
    used: list[str] = []
    current: list[int] = []

    @contextlib.contextmanager
    def device(index: int) -> Iterator[None]:
        current.append(index)
        yield
        current.pop()

    def empty(shape: tuple[int, ...], dtype: str) -> Tensor:
        used.append(f"{shape} {dtype}")
        if name == "cupy":
            assert current == [0]
        made = to_device(np.zeros(shape if len(shape) == 2 else (*shape, 1), np.uint64))
        return Array(tensor(made).address, shape, keep=made)

    class Array(Tensor):
        dtype = "uint64"

        def __dlpack__(self, **options: Any) -> Any:
            assert current == [0]  # PyTorch exports arrays of its current device only
            return super().__dlpack__(**options)

        if name == "torch":

            def new_empty(self, shape: tuple[int, ...]) -> Tensor:
                return empty(shape, self.dtype)

    Array.__module__ = name
    package.cuda = SimpleNamespace(device=device, Device=device)  # type: ignore[attr-defined]
    if name == "cupy":
        package.empty = empty  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, package)
    return Array, used


@on_device
def test_answers_by_the_allocator_of_the_package(allocating: tuple[type[Tensor], list[str]]) -> None:
    kind, used = allocating
    x = to_device([5, 6])
    given = kind(tensor(x).address, x.shape, keep=x)
    result: Any = manymod.addmod(given, 1, P)
    assert type(result) is kind
    assert result.streams == [1]
    assert ints(result.keep) == [6, 7]
    flat: Any = manymod.addmod(kind(given.address, (2,), keep=x), 1, 7)
    assert (flat.shape, ints(flat.keep)) == ((2,), [6, 0])
    assert manymod.addmod(given, 2, 11, out=given) is given
    assert used == ["(2, 2) uint64", "(2,) uint64"]
    rows = kind(given.address, (1, 2, 1), keep=x)
    product: Any = manymod.multi_powmod(rows, [[1, 2]], P)
    assert ints(product.keep) == [7 * 8**2]  # by now x is 7, 8


@on_device
def test_submit_orders_streams() -> None:
    """Arrays are exported on the caller's thread, where its streams are the current ones."""
    threads: list[threading.Thread] = []
    capsules: list[Any] = []

    class Array(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            threads.append(threading.current_thread())
            capsules.append(super().__dlpack__(**options))
            return capsules[-1]

    x = to_device([5, 6])
    into = to_device([0, 0])
    given, out = (Array(tensor(array).address, (2, 1), keep=array) for array in (x, into))
    future: Any = manymod.submit(manymod.addmod, given, 1, 7, out=out)
    assert future.result() is out
    assert ints(into) == [6, 0]
    assert threads[:2] == [threading.current_thread()] * 2
    for made in capsules:
        drop(made)


@on_device
@pytest.mark.parametrize("code", [1, INT])
def test_answers_of_the_package(package: type[Tensor], code: int) -> None:
    x = to_device([2**127 - 2, 2**100, 3])
    given = package(tensor(x).address, x.shape, code=code, keep=x)
    result: Any = manymod.mulmod(given, x, P)
    assert type(result) is package
    assert result.type == (code, 64, 1)
    assert result.shape == (3, 2)
    assert ints(to_device(result)) == [1, 2**200 % P, 9]
    assert isinstance(manymod.mulmod(x, given, P), DeviceArray)
    assert isinstance(manymod.mulmod(tensor(x), given, P), DeviceArray)
    assert isinstance(manymod.mulmod([1, 2, 3], given, P), list)

    class Derived(package):  # type: ignore[misc, valid-type]
        pass

    result = manymod.mulmod(Derived(given.address, x.shape, keep=x), x, P)
    assert type(result) is package


@on_device
def test_one_dimension(package: type[Tensor]) -> None:
    x = to_device([2**64 - 1, 5, 7])
    flat = package(tensor(x).address, (3,), keep=x)
    result = manymod.sqrmod(flat, 2**61 - 1)
    assert result.shape == (3,)
    assert ints(to_device(result)) == [(2**64 - 1) ** 2 % (2**61 - 1), 25, 49]
    assert ints(manymod.mulmod(tensor(x, shape=(3,)), flat, 1009)) == [pow(2**64 - 1, 2, 1009), 25, 49]
    every_other = tensor(x, shape=(2,), strides=(2,))
    assert ints(manymod.addmod(every_other, 1, 2**64 - 59)) == [59, 8]
    into = to_device([0, 0, 0])
    assert manymod.addmod(flat, 1, 1009, out=tensor(into, shape=(3,))).shape == (3,)
    assert ints(into) == [2**64 % 1009, 6, 8]
    with pytest.raises(ValueError, match="mod has 127 bits, so results do not fit uint64"):
        manymod.sqrmod(flat, P)
    with pytest.raises(ValueError, match="given in 2 limbs, so results do not fit a 1-D uint64"):
        manymod.sqrmod(flat, limbs([7], 2))
    with pytest.raises(ValueError, match=r"lengths differ.*many small integers"):
        manymod.powmod(limbs([1, 2]), 3, tensor(x, shape=(3,)))


@on_device
def test_out() -> None:
    x = to_device([5, 2**100])
    into = to_device(np.zeros((2, 2), np.uint64))
    assert manymod.mulmod(x, x, P, out=into) is into
    assert ints(into) == [25, 2**200 % P]
    given = tensor(into, code=INT)
    result: Any = manymod.mulmod(x, 2, P, out=given)
    assert result is given
    assert given.streams == [1]
    assert ints(into) == [10, 2**101 % P]
    assert manymod.mulmod(x, 3, P, out=x) is x
    assert ints(x) == [15, 3 * 2**100 % P]
    y = to_device([1, 1])
    assert manymod.addmod(7, to_device(limbs([1, 2], 2)), to_device(limbs([P, P], 2)), out=into) is into
    assert ints(into) == [8, 9]
    assert y.shape == (2, 1)


@on_device
def test_out_that_does_not_fit() -> None:
    x = to_device([5, 2**100])
    wide = to_device(np.zeros((4, 2), np.uint64))
    expected = r"out must be a uint64\[2, 2\] array on cuda:0, not "
    for out, found in (
        (to_device([1, 2]), r"\[2, 1\] on cuda:0"),
        (wide, r"\[4, 2\]"),
        (np.zeros((2, 2), np.uint64), "ndarray"),
        ([0, 0], "list"),
    ):
        with pytest.raises(ValueError, match=expected + found):
            manymod.mulmod(x, x, P, out=out)
    with pytest.raises(ValueError, match="out is read-only"):
        manymod.mulmod(x, x, P, out=tensor(wide, shape=(2, 2), read_only=True))
    with pytest.raises(ValueError, match="out overlaps an operand"):
        manymod.mulmod(tensor(wide, shape=(2, 2)), x, P, out=tensor(wide, shape=(2, 2), byte_offset=16))
    with pytest.raises(ValueError, match="out overlaps an operand"):
        manymod.mulmod(x, tensor(x, shape=(1, 2)), P, out=x)
    with pytest.raises(TypeError, match="out: float64"):
        manymod.mulmod(x, x, P, out=tensor(x, code=FLOAT))
    with pytest.raises(ValueError, match="out must be a numpy array"):
        manymod.mulmod(limbs([1, 2]), x, P, out=x)


@on_device
def test_out_of_a_package_whose_arrays_do_not_change() -> None:
    x = to_device([5, 6])
    immutable = ImmutableTensor(tensor(x).address, x.shape, keep=x)
    with pytest.raises(ValueError, match="out is read-only"):
        manymod.addmod(x, 1, 7, out=immutable)
