# SPDX-License-Identifier: Apache-2.0
"""Whether building the package takes the CUDA compiler from PyPI."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

#: All of one release: nvidia-cuda-nvcc alone pulls in an nvvm that does not match it.
CUDA_COMPILER = ["cuda-toolkit[nvcc,cudart,crt,nvvm]==13.0.*"]

_DEFINITION = re.compile(r"(?:^|[\s;])(?:-D\s*)?MANYMOD_CUDA(?::\w+)?=(\w+)")


def cuda_mode(config_settings: Mapping[str, list[str] | str], environ: Mapping[str, str]) -> str:
    """Return MANYMOD_CUDA as CMake will see it: AUTO, or what the caller said, in capitals.

    >>> cuda_mode({"cmake.define.MANYMOD_CUDA": "on"}, {})
    'ON'
    >>> cuda_mode({"cmake.args": ["-DMANYMOD_CUDA:STRING=OFF"]}, {"MANYMOD_CUDA": "ON"})
    'OFF'
    >>> cuda_mode({}, {"CMAKE_ARGS": "-DMANYMOD_WERROR=ON -DMANYMOD_CUDA=ON"})
    'ON'
    >>> cuda_mode({}, {})
    'AUTO'
    """
    for key in ("cmake.define.MANYMOD_CUDA", "skbuild.cmake.define.MANYMOD_CUDA"):
        if value := config_settings.get(key):
            return str(value).upper()
    arguments: list[str] = []
    for key in ("cmake.args", "skbuild.cmake.args"):
        value = config_settings.get(key, [])
        arguments += [value] if isinstance(value, str) else value
    arguments += [environ.get(name, "") for name in ("SKBUILD_CMAKE_DEFINE", "CMAKE_ARGS")]
    for argument in arguments:
        if found := _DEFINITION.search(argument):
            return found[1].upper()
    return environ.get("MANYMOD_CUDA", "AUTO").upper()


def has_nvidia_gpu(root: Path = Path("/")) -> bool:
    """Whether the kernel driver of NVIDIA, or that of WSL, knows a GPU; as cmake/ManymodCuda.cmake asks."""
    gpus = root / "proc/driver/nvidia/gpus"
    files = (root / "dev/nvidia0", root / "usr/lib/wsl/lib/libcuda.so.1")
    return any(file.exists() for file in files) or (gpus.is_dir() and any(gpus.iterdir()))


def has_nvcc(environ: Mapping[str, str], root: Path = Path("/")) -> bool:
    """Whether CMake will find a CUDA compiler of the machine's own."""
    toolkits = [Path(environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environ.get(name)]
    return shutil.which("nvcc", path=environ.get("PATH")) is not None or any(
        (toolkit / "bin/nvcc").exists() for toolkit in [*toolkits, root / "usr/local/cuda"]
    )


def compiler_requirements(
    config_settings: Mapping[str, list[str] | str] | None = None,
    environ: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
) -> list[str]:
    """Return what to install for the kernels: nothing where they are not asked for or the machine has nvcc.

    They are asked for by MANYMOD_CUDA=ON, and by AUTO where there is an NVIDIA GPU.
    """
    mode = cuda_mode(config_settings or {}, environ)
    wanted = has_nvidia_gpu(root) if mode == "AUTO" else mode in {"ON", "1", "TRUE", "YES"}
    return CUDA_COMPILER if wanted and not has_nvcc(environ, root) else []


if __name__ == "__main__":
    print("\n".join(compiler_requirements()))
