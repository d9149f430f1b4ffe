# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy, PyTorch and JAX in the memory of a GPU, against Python's pow()."""

from __future__ import annotations

import importlib
import os
import random
import threading
from typing import Any

import numpy as np
import pytest
from tests.python.device_array_support import OPERATIONS, P, limbs, sample
from tests.python.integers import mixed

import manymod
from manymod import DeviceArray, IntArray, Status, to_device

OBSTACLE = manymod.cuda_support().obstacle
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("default"),  # of the packages
    pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE or "there is a GPU"),
]


class Package:
    """An array package: arrays of limbs on GPU k, and back."""

    name: str

    def __init__(self) -> None:
        self.module = pytest.importorskip(self.name)

    def put(self, array: Any, device: int = 0) -> Any:
        raise NotImplementedError

    def get(self, array: Any) -> Any:
        raise NotImplementedError


class CuPy(Package):
    name = "cupy"

    def put(self, array: Any, device: int = 0) -> Any:
        with self.module.cuda.Device(device):
            return self.module.asarray(array)

    def get(self, array: Any) -> Any:
        assert type(array) is self.module.ndarray
        assert array.dtype == np.uint64
        return array.get()


class Torch(Package):
    name = "torch"

    def __init__(self) -> None:
        super().__init__()
        if not self.module.cuda.is_available():
            pytest.skip("torch has no CUDA")

    def put(self, array: Any, device: int = 0) -> Any:
        return self.module.from_numpy(array.view(np.int64).copy()).to(f"cuda:{device}")

    def get(self, array: Any) -> Any:
        assert type(array) is self.module.Tensor
        assert array.dtype == self.module.int64
        return array.cpu().numpy().view(np.uint64)


class TorchUnsigned(Torch):
    def put(self, array: Any, device: int = 0) -> Any:
        return super().put(array, device).view(self.module.uint64)

    def get(self, array: Any) -> Any:
        assert array.dtype == self.module.uint64
        return super().get(array.view(self.module.int64))


class Jax(Package):
    name = "jax"

    def __init__(self) -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        super().__init__()
        self.module.config.update("jax_enable_x64", True)
        try:
            self.devices = self.module.devices("cuda")
        except RuntimeError as error:
            pytest.skip(f"jax has no CUDA: {error}")

    def put(self, array: Any, device: int = 0) -> Any:
        return self.module.device_put(array, self.devices[device])

    def get(self, array: Any) -> Any:
        assert isinstance(array, self.module.Array)
        return np.asarray(array)


class Own(Package):
    name = "manymod"

    def put(self, array: Any, device: int = 0) -> Any:
        return to_device(array, f"cuda:{device}")

    def get(self, array: Any) -> Any:
        assert type(array) is DeviceArray
        return array.numpy()


@pytest.fixture(params=[CuPy, Torch, TorchUnsigned, Jax, Own], ids=lambda kind: kind.__name__)
def package(request: pytest.FixtureRequest) -> Any:
    return request.param()


def ints(package: Package, array: Any) -> list[int]:
    return IntArray.from_limbs(np.ascontiguousarray(package.get(array))).to_ints()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("bits", "count"), [(64, 1000), (256, 3000), (1024, 300), (2048, 100)])
def test_operations(package: Package, operation: str, bits: int, count: int) -> None:
    function, expected, arity = OPERATIONS[operation]
    values = sample(operation, count, bits, seed=bits)
    wanted = [expected(*item) for item in zip(*values, strict=True)]
    width = -(-max(bits, max(values[-1]).bit_length()) // 64)
    arrays = [package.put(limbs(column, width)) for column in values]
    assert ints(package, function(*arrays)) == wanted
    for k in range(1, arity + 1):
        operands = [values[i] if i == k else arrays[i] for i in range(arity + 1)]
        assert ints(package, function(*operands)) == wanted
    assert function(values[0], *arrays[1:]) == wanted
    single = [column[0] for column in values]
    if operation != "invmod":
        wanted = [expected(x, *single[1:]) for x in values[0]]
    assert ints(package, function(arrays[0], *single[1:])) == wanted
    rows = [package.put(limbs([value], width)) for value in single[1:]]
    assert ints(package, function(arrays[0], *rows)) == wanted


def test_large_powmod(package: Package) -> None:
    source = random.Random(4)
    count, bits = 512, 1024
    modulus = source.getrandbits(bits) | 1 | (1 << (bits - 1))
    bases = mixed(source, count, bits, signed=False)
    exponents = mixed(source, count, bits, signed=False)
    b, e = package.put(limbs(bases, 16)), package.put(limbs(exponents, 16))
    wanted = [pow(x, y, modulus) for x, y in zip(bases, exponents, strict=True)]
    for secret in (False, True):
        for device in ("auto", "cuda", "cpu"):
            result = manymod.powmod(b, e, modulus, secret=secret, device=device)
            assert ints(package, result) == wanted
    plan = manymod.Plan("powmod", modulus=modulus)
    assert ints(package, plan(b, e)) == wanted
    fixed = manymod.FixedBase(bases[0], modulus, exponent_bits=bits)
    assert ints(package, fixed.powmod(e)) == [pow(bases[0], y, modulus) for y in exponents]


def test_multi_powmod(package: Package) -> None:
    if isinstance(package, Own):
        pytest.skip("a DeviceArray has two dimensions")
    source = random.Random(5)
    bases, exponents = (
        np.array([limbs(mixed(source, 3, 256, signed=False), 4) for _ in range(200)]) for _ in range(2)
    )
    moduli = limbs([value | 1 for value in mixed(source, 200, 256, signed=False)], 4)
    expected = manymod.multi_powmod(bases, exponents, moduli, device="cpu").tolist()
    result = manymod.multi_powmod(package.put(bases), package.put(exponents), package.put(moduli))
    assert package.get(result).tolist() == expected


def test_statuses(package: Package) -> None:
    x, moduli = package.put(limbs([3, 5, 4, 7])), package.put(limbs([10, 10, 10, 0]))
    result, statuses = manymod.invmod(x, moduli, errors="status")
    assert ints(package, result) == [7, 0, 0, 0]
    assert list(statuses) == [
        Status.OK,
        Status.NOT_INVERTIBLE,
        Status.NOT_INVERTIBLE,
        Status.ZERO_MODULUS,
    ]


def test_out(package: Package) -> None:
    x, into = package.put(limbs([5, 2**100])), package.put(np.zeros((2, 2), np.uint64))
    if isinstance(package, Jax):
        with pytest.raises(ValueError, match="out is read-only"):
            manymod.mulmod(x, x, P, out=into)
        return
    result: Any = manymod.mulmod(x, x, P, out=into)
    assert result is into
    assert ints(package, into) == [25, 2**200 % P]
    manymod.mulmod(x, x, P, out=x)
    assert ints(package, x) == [25, 2**200 % P]


@pytest.mark.parametrize("kind", [CuPy, Torch])
def test_strided_rows(kind: type[Package]) -> None:
    package = kind()
    values = [5, 2**100, 7, P - 1]
    whole = package.put(np.pad(limbs(values), ((0, 0), (0, 3))))
    result = manymod.mulmod(whole[:, :2], whole[:, :2], P)
    assert ints(package, result) == [value * value % P for value in values]
    assert ints(package, manymod.addmod(whole[::2, :2], 1, P)) == [6, 8]
    with pytest.raises(ValueError, match="rows in GPU memory must be contiguous"):
        manymod.mulmod(whole.T, 1, P)


def test_cupy_streams() -> None:
    package = CuPy()
    cupy = package.module
    count = 1 << 20
    stream = cupy.cuda.Stream(non_blocking=True)
    for k in range(5):
        with stream:
            x = cupy.zeros((count, 4), cupy.uint64)
            for _ in range(20):
                x[:, 0] += cupy.uint64(1)
            result = manymod.addmod(x, k, P)
            total = int(result[:, 0].sum())
        assert total == count * (20 + k)


def test_torch_streams() -> None:
    package = Torch()
    torch = package.module
    count = 1 << 20
    for k in range(5):
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.zeros((count, 4), dtype=torch.int64, device="cuda")
            for _ in range(20):
                x[:, 0] += 1
            future: Any = manymod.submit(manymod.addmod, x, k, P)
            result: Any = manymod.addmod(x, k, P)
            total = int(result[:, 0].sum())
            assert int(future.result()[:, 0].sum()) == total == count * (20 + k)


def test_into_other_packages() -> None:
    values = limbs([3, 2**100])
    array = to_device(values)
    for name in ("cupy", "torch", "jax.dlpack"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        found: Any = module.from_dlpack(array)
        if name == "torch":
            found = found.view(module.int64).cpu().numpy().view(np.uint64)
        assert found.tolist() == values.tolist()
        if name == "cupy":
            assert module.asarray(array).tolist() == values.tolist()
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.from_dlpack(array, device="cpu").tolist() == values.tolist()


def test_memory_outlives_its_array() -> None:
    torch = Torch().module
    made = torch.from_dlpack(to_device(limbs([3, 2**100]))).view(torch.int64)
    others = [to_device(limbs([0, 0], 2)) for _ in range(100)]
    assert made.cpu().numpy().view(np.uint64).tolist() == limbs([3, 2**100]).tolist()
    assert len(others) == 100


def test_managed_memory() -> None:
    cupy = CuPy().module
    memory = cupy.cuda.malloc_managed(32)
    x = cupy.ndarray((2, 2), cupy.uint64, memory)
    x[...] = cupy.asarray(limbs([3, 2**100]))
    assert int(x.__dlpack_device__()[0]) == 13
    result = manymod.mulmod(x, x, P)
    assert IntArray.from_limbs(result.get()).to_ints() == [9, 2**200 % P]


def test_other_tensors() -> None:
    torch = Torch().module
    with pytest.raises(TypeError, match=r"x: float64\[2, 2\] in GPU memory"):
        manymod.sqrmod(torch.zeros((2, 2), dtype=torch.float64, device="cuda"), P)
    scalar = torch.tensor(5, device="cuda")
    assert manymod.powmod(2, scalar, 1009) == 32


def test_threads() -> None:
    """Calls of several threads at once, each with arrays of its own."""
    package = CuPy()
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            source = random.Random(seed)
            values = mixed(source, 500, 256, signed=False)
            x = package.put(limbs(values, 4))
            for _ in range(20):
                assert ints(package, manymod.powmod(x, 65537, 2**255 - 19)) == [
                    pow(value, 65537, 2**255 - 19) for value in values
                ]
        except BaseException as error:  # noqa: BLE001 - raised again on the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("kind", [CuPy, Torch, Own])
def test_second_gpu(kind: type[Package]) -> None:
    if len([device for device in manymod.devices() if device.backend == "cuda"]) < 2:
        pytest.skip("only one GPU")
    package = kind()
    x, y = package.put(limbs([5, 2**100])), package.put(limbs([5, 2**100]), 1)
    assert ints(package, manymod.mulmod(y, y, P)) == [25, 2**200 % P]
    with pytest.raises(manymod.DeviceError, match="x is on cuda:0, y on cuda:1"):
        manymod.mulmod(x, y, P)
