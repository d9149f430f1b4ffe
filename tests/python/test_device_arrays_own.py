# SPDX-License-Identifier: Apache-2.0
"""`DeviceArray` and `to_device`."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.python.device_array_support import (
    OBSTACLE,
    counted,
    ints,
    limbs,
    nothing_left,
    on_device,
    tensor,
)
from tests.python.dlpack_producer import IS_COPIED, Tensor, capsule

import manymod
from manymod import DeviceArray, DeviceError, IntArray, to_device


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield from nothing_left()


@on_device
def test_to_device() -> None:
    import pyarrow as pa

    values = [3, 2**100, 0]
    given: list[Any] = [
        values,
        tuple(values),
        IntArray.from_ints(values),
        limbs(values),
        np.asfortranarray(limbs(values)),
        np.repeat(limbs(values), 2, axis=0)[::2],
        IntArray.from_ints(values).to_bytes(),
        np.array(values, object),
        IntArray.from_ints(values).to_arrow(),
        to_device(values),
        tensor(to_device(values)),
    ]
    for kind in given:
        array = to_device(kind)
        assert isinstance(array, DeviceArray)
        assert ints(array) == values
    source = to_device(values)
    copied = to_device(source)
    manymod.mulmod(source, 0, 2**100 + 1, out=source)
    assert (ints(source), ints(copied)) == ([0, 0, 0], values)
    assert ints(to_device(np.array([1, 2], np.int8))) == [1, 2]
    assert ints(to_device(pa.array([1, 2]))) == [1, 2]
    assert ints(to_device(2**200)) == [2**200]
    assert ints(to_device([], "cuda")) == []
    for negative in ([1, -2], IntArray.from_ints([1, -2]), np.array([1, -2])):
        with pytest.raises(ValueError, match="x: item 1 is negative"):
            to_device(negative)


def test_to_device_errors() -> None:
    for name in ("cpu", "gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA:0"):
        with pytest.raises(DeviceError, match="device must be 'cuda:K'"):
            to_device([1], name)
    with pytest.raises(DeviceError, match="cuda:99"):
        to_device([1], "cuda:99")
    with pytest.raises(TypeError, match="device must be a str"):
        to_device([1], 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="x: element 0"):
        to_device([1.5])
    with pytest.raises(TypeError, match=r"use manymod\.to_device"):
        DeviceArray()


def test_copies_on_the_way_are_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[Any] = []
    original = manymod._core.ints_to_limbs

    def watched(sequence: Any, start: int, limbs: Any, negative: Any) -> None:
        original(sequence, start, limbs, negative)
        copies.append(limbs)

    monkeypatch.setattr(manymod._core, "ints_to_limbs", watched)
    with pytest.raises(ValueError, match="x: item 1 is negative"):
        to_device([77777, -1])
    with pytest.raises(DeviceError, match="cuda:99"):
        to_device([77777], "cuda:99")
    if not OBSTACLE:
        assert ints(to_device([77777])) == [77777]
    assert len(copies) >= 2
    assert not any(limbs.any() for limbs in copies)
    # a caller's array stays
    given = np.asfortranarray(limbs([5, 2**100]))
    with pytest.raises(DeviceError, match="cuda:99"):
        to_device(given, "cuda:99")
    assert given.tolist() == [[5, 0], [0, 2**36]]


@on_device
def test_out_of_memory() -> None:
    allocate = manymod._core.DeviceLimbs.allocate
    with pytest.raises(MemoryError):
        allocate(0, 1 << 42, 1)
    with pytest.raises(ValueError, match="size in bytes is out of range"):
        allocate(0, 1 << 60, 1 << 10)
    with pytest.raises(ValueError, match="at least one limb"):
        allocate(0, 1, 0)
    assert ints(to_device([5])) == [5]


@on_device
def test_properties() -> None:
    array = to_device([3, 2**100])
    assert (array.shape, array.ndim, array.dtype, len(array)) == ((2, 2), 2, np.dtype(np.uint64), 2)
    assert repr(array) == "DeviceArray(N=2, bits=128, device='cuda:0')"
    numbers = array.numpy()
    numbers[:] = 0
    assert ints(array) == [3, 2**100]
    with pytest.raises(TypeError, match=r"use \.numpy\(\)"):
        np.asarray(array)
    assert ints(pickle.loads(pickle.dumps(array))) == [3, 2**100]


@on_device
def test_cuda_array_interface() -> None:
    interface = to_device([3, 2**100]).__cuda_array_interface__
    expected = {"shape": (2, 2), "typestr": "<u8", "strides": None, "stream": None, "version": 3}
    assert {key: interface[key] for key in expected} == expected
    assert interface["data"][1] is False


@on_device
def test_export() -> None:
    array = to_device([3, 2**100])
    address = array.__cuda_array_interface__["data"][0]
    assert array.__dlpack_device__() == (2, 0)
    for stream in (None, -1, 1, 2, 12345678):
        name, fields = capsule(array.__dlpack__(stream=stream))
        assert (name, fields["version"]) == ("dltensor", None)
        assert fields["address"] == address
        assert (fields["shape"], fields["strides"], fields["type"]) == ((2, 2), (2, 1), (1, 64, 1))
    for version in ((1, 0), (1, 2), (2, 0)):
        name, fields = capsule(array.__dlpack__(max_version=version))
        assert (name, fields["version"], fields["flags"]) == ("dltensor_versioned", (1, 0), 0)
    assert capsule(array.__dlpack__(max_version=(0, 8)))[0] == "dltensor"
    held = array.__dlpack__(copy=True, dl_device=(2, 0), max_version=(1, 0))
    fields = capsule(held)[1]
    assert (fields["device"], fields["flags"]) == ((2, 0), IS_COPIED)
    assert fields["address"] != address
    del held
    held = array.__dlpack__(copy=True)
    assert capsule(held)[0] == "dltensor"
    assert capsule(held)[1]["address"] != address
    del held
    assert capsule(array.__dlpack__(copy=False))[1]["address"] == address
    versions: list[tuple[int, int] | None] = [None, (0, 8), (1, 0), (1, 3)]
    for copy in (None, True):
        for wanted in versions:
            held = array.__dlpack__(dl_device=(1, 0), max_version=wanted, copy=copy)
            name, fields = capsule(held)
            assert (fields["device"], fields["shape"], fields["strides"]) == ((1, 0), (2, 2), (2, 1))
            if wanted is not None and wanted >= (1, 0):
                assert (name, fields["version"]) == ("dltensor_versioned", (1, 0))
                assert fields["flags"] == IS_COPIED
            else:
                assert (name, fields["version"]) == ("dltensor", None)
            del held
    with pytest.raises(BufferError, match="reaches the CPU by a copy alone"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="is not exported to"):
        array.__dlpack__(dl_device=(2, 5))


@on_device
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy asks for no device")
def test_numpy_takes_a_copy() -> None:
    array = to_device([3, 2**100])
    for copy in (None, True):
        copied = np.from_dlpack(array, device="cpu", copy=copy)
        assert copied.tolist() == [[3, 0], [0, 2**36]]
        copied[:] = 0
        assert ints(array) == [3, 2**100]
    assert np.from_dlpack(to_device(limbs([], 3)), device="cpu").shape == (0, 3)
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(array, device="cpu", copy=False)


@on_device
def test_lifetimes() -> None:
    if counted("allocations") is None:
        pytest.skip("only the fake driver counts allocations")
    manymod.clear_plans()
    gc.collect()
    before = counted("allocations")
    array = to_device([3, 2**100])
    held = array.__dlpack__(max_version=(1, 0))
    del array
    assert counted("allocations") == before + 1  # type: ignore[operator]
    used = manymod._core.DeviceLimbs.from_capsule(held, "x")
    part = used.part(1, 2)
    del used, held
    numbers = np.empty((1, 2), np.uint64)
    part.to_host(numbers)
    assert numbers.tolist() == [[0, 2**36]]
    del part
    assert counted("allocations") == before


def test_without_a_gpu() -> None:
    if not OBSTACLE:
        pytest.skip("there is one")
    with pytest.raises(DeviceError, match="base is on a CUDA device, and none can be used: "):
        manymod.powmod(Tensor(0, (1, 1)), 3, 7)
    with pytest.raises(DeviceError):
        to_device([1])
