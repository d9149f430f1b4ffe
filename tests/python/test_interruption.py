# SPDX-License-Identifier: Apache-2.0
"""Long work on one wide operand stops: Ctrl-C and exceptions of `progress` are looked for in its middle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.python import fake_gpu

import manymod

N = 2**16384 - 105
WIDE = 2**100_000_000 - 12345

CALLS: dict[str, Callable[..., Any]] = {
    "base": lambda **how: manymod.powmod(WIDE, 3, N, **how),
    "base, secret": lambda **how: manymod.powmod(WIDE, 3, N, secret=True, **how),
    "bases": lambda **how: manymod.powmod([WIDE] * 8, 3, N, **how),
    "bases, secret": lambda **how: manymod.powmod([WIDE] * 8, 3, N, secret=True, **how),
    "base, even modulus": lambda **how: manymod.powmod(WIDE, 3, N - 1, **how),
    "sum": lambda **how: manymod.addmod([WIDE] * 4, WIDE, N, **how),
    "sum, secret": lambda **how: manymod.addmod(WIDE, 1, N, secret=True, **how),
    "product": lambda **how: manymod.mulmod([WIDE] * 4, WIDE, N, **how),
    "products": lambda **how: manymod.mulmod([WIDE] * 8, [7] * 8, N, **how),
    "inverse": lambda **how: manymod.invmod([WIDE] * 4, N, **how),
    "bases of products": lambda **how: manymod.multi_powmod([WIDE] * 4, [3] * 4, N, **how),
    "exponent": lambda **how: manymod.powmod(3, WIDE, N, **how),
    "exponents of products": lambda **how: manymod.multi_powmod([2, 3], [WIDE, WIDE - 1], N, **how),
}


class StopError(Exception):
    """Of the progress function."""


@pytest.mark.parametrize("name", CALLS)
def test_calls_stop_within_an_operand(name: str) -> None:
    """The callback that a call makes at its end comes too late to stop it."""
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        raise StopError

    with pytest.raises(StopError):
        CALLS[name](progress=stop)
    assert len(seen) == 1
    assert seen[0][0] < seen[0][1]


DAEMONS = {
    "a call": "manymod.powmod([3**i for i in range(1, 400)] * 40, 2**8191 - 1, 2**8192 - 12345)",
    "its progress": (
        "manymod.powmod([3] * 9999, 2**8191 - 1, 2**8192 - 12345, progress=lambda *_: sum(range(10**5)))"
    ),
    "calls": "[manymod.powmod([3] * 100, 5, 10**40) for _ in range(10**6)]",
}


@pytest.mark.parametrize("name", DAEMONS)
def test_daemon_threads_do_not_outlive_the_interpreter(name: str) -> None:
    """CPython up to 3.13 ends those that take the GIL by unwinding their stacks, which ended the process."""
    check_exit(DAEMONS[name], None)


def test_daemon_threads_that_free_memory_of_a_gpu_at_exit() -> None:
    fake_gpu.needed()
    program = "while True: manymod.to_device([1, 2, 3, 4])"
    for _ in range(4):
        check_exit(program, fake_gpu.environment())


#: Frees tensors of another library, whose deleter is abs(), without the GIL, as consumers of DLPack do.
FOREIGN = """
    import ctypes
    from ctypes import c_int32, c_int64, c_uint64, c_void_p
    from manymod import _core
    class Managed(ctypes.Structure):
        _fields_ = [("data", c_void_p), ("device", c_int32 * 2), ("ndim", c_int32), ("dtype", c_int32),
                    ("shape", c_void_p), ("strides", c_void_p), ("offset", c_uint64), ("context", c_void_p),
                    ("deleter", c_void_p)]
    api = ctypes.pythonapi
    new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)(("PyCapsule_New", api))
    get = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", api))
    names, shape = [b"dltensor", b"used_dltensor"], (c_int64 * 2)(1, 1)
    deleter = ctypes.cast(ctypes.CDLL(None).abs, c_void_p).value
    while True:
        foreign = Managed(4096, (2, 0), 2, 0x14001, ctypes.addressof(shape), None, 0, None, deleter)
        limbs = _core.DeviceLimbs.from_capsule(new(ctypes.addressof(foreign), names[0], None), "x")
        capsule = limbs.to_capsule(False, False, False)
        del limbs
        exported = get(capsule, names[0])
        rename(capsule, names[1])
        ctypes.CFUNCTYPE(None, c_void_p)(Managed.from_address(exported).deleter)(exported)
"""


def test_daemon_threads_that_free_tensors_of_others_at_exit() -> None:
    for _ in range(4):
        check_exit(FOREIGN.strip(), None)


def check_exit(work: str, environment: dict[str, str] | None) -> None:
    """Expect that the interpreter exits while daemon threads work."""
    program = f"""
import sys, threading, time, manymod
def work():
    begun.set()
    {work}
begun = threading.Event()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.3)
print("end")
"""
    finished = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    assert (finished.stdout, finished.stderr, finished.returncode) == ("end\n", "", 0)
