# SPDX-License-Identifier: Apache-2.0
"""A CUDA driver without a GPU, for programs under test.

``make test`` builds it in ``build/release/fake_cuda``: libcuda.so.1 and libnvidia-ml.so.1, which run the
library's kernels on the host. A program gets it in a process of its own, by LD_LIBRARY_PATH; what the driver
has and what goes wrong with it are the settings of ``tests/cpp/support/fake_cuda/control.hpp``, by name. The
environment variable MANYMOD_FAKE_CUDA_FOLDER names the folder of another build; a test fails if it is not
there.

A test that needs it begins with `needed`, and runs programs by `run` or in `environment`:

    run("import json, manymod; print(json.dumps(len(manymod.devices())))", devices=3)

In such a program, `count` says what the driver has been asked to do, and `lose` takes its GPUs away.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import pytest
from tests.python import json_process

import manymod

ROOT = Path(__file__).resolve().parents[2]
FOLDER_VARIABLE = "MANYMOD_FAKE_CUDA_FOLDER"


def folder() -> Path:
    """Where the driver is built."""
    return Path(os.environ.get(FOLDER_VARIABLE) or ROOT / "build" / "release" / "fake_cuda")


def needed() -> None:
    """Skip the test where there is no such driver, or no code for GPUs that it could stand for.

    One that FOLDER_VARIABLE names has to be there.
    """
    if not manymod.cuda_support().built:
        pytest.skip("this build of manymod has no CUDA support: nvcc was not found, or MANYMOD_CUDA is OFF")
    if (folder() / "libcuda.so.1").exists():
        return
    if os.environ.get(FOLDER_VARIABLE):
        pytest.fail(f"no fake CUDA driver in {folder()}, where {FOLDER_VARIABLE} says it is")
    pytest.skip(f"no fake CUDA driver in {folder()}: make test-python builds it, or set {FOLDER_VARIABLE}")


def environment(**settings: int) -> dict[str, str]:
    """This process's environment, with the driver and its settings, and without what chooses devices."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MANYMOD_", "CUDA_"))}
    kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder()), kept.get("LD_LIBRARY_PATH", "")]))
    kept["MANYMOD_HIDE_OPENCL"] = "1"
    kept["FAKE_CUDA"] = ",".join(f"{name}={value}" for name, value in settings.items())
    return kept


def run(program: str, given: object = None, **settings: int) -> Any:
    """What the Python program prints as JSON; ``given`` is on its standard input as JSON."""
    return json_process.run(program, environment(**settings), given, ROOT)


def count(name: str) -> int:
    """One of the driver's counts (``Counts`` in ``control.hpp``), in a program that runs with it."""
    function = ctypes.CDLL("libcuda.so.1").fake_cuda_count
    function.restype = ctypes.c_size_t
    function.argtypes = [ctypes.c_char_p]
    return int(function(name.encode()))


def lose() -> None:
    """From now on every call of the driver fails, in a program that runs with it."""
    ctypes.CDLL("libcuda.so.1").fake_cuda_lose()
