# SPDX-License-Identifier: Apache-2.0
"""Compiles OpenCL kernels of this source tree to PTX by clang, for check_opencl_secrets.py. Nothing runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]

#: What a driver's library of built-in functions has, in terms of clang's own. Those are not to be linked.
BUILTINS = """
#define get_local_id(d) ((size_t)__nvvm_read_ptx_sreg_tid_x())
#define get_local_size(d) ((size_t)__nvvm_read_ptx_sreg_ntid_x())
#define get_num_groups(d) ((size_t)__nvvm_read_ptx_sreg_nctaid_x())
#define get_global_id(d) (__nvvm_read_ptx_sreg_ctaid_x() * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define barrier(flags) __nvvm_bar_sync(0)
#define min(a, b) mm_least(a, b)
#define clz(a) ((ulong)__builtin_clzl(a))
#define mul_hi(a, b) mm_high(a, b)
#define fma(a, b, c) mm_fma(a, b, c)
#define MM_OVERLOADED static __attribute__((overloadable))
MM_OVERLOADED float mm_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MM_OVERLOADED double mm_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static uint mm_least(uint a, uint b) { return a < b ? a : b; }
MM_OVERLOADED uint mm_high(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
MM_OVERLOADED ulong mm_high(ulong a, ulong b) { return __nvvm_mulhi_ull(a, b); }
"""


def embedding() -> ModuleType:
    """Return the build's tool that replaces includes."""
    spec = importlib.util.spec_from_file_location("embed_opencl", ROOT / "cmake" / "embed_opencl.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source(kernel: str) -> tuple[str, list[str]]:
    """Return the text of a kernel's program and its options, as those who launch it give them."""
    options = [f"-DMM_KERNEL={kernel}", "-DMM_INLINED=1"]
    if kernel.startswith("mm_"):
        path = ROOT / "src" / "gpu" / "opencl" / "kernels" / f"{kernel[3:]}.cl"
    elif curve := re.fullmatch(r"ecc_([a-z]+)(\d+)_(\w+)", kernel):
        path = ROOT / "src" / "ecc" / "opencl" / "kernels.cl"
        options += [f"-DMM_A_{curve[1]}", f"-DMM_FIELD_BITS={curve[2]}", f"-DMM_PART_{curve[3]}"]
    else:
        technique, shape = kernel.rsplit("_", 1)
        threads, per_thread = shape.split("x")
        path = ROOT / "src" / "modmul" / technique / "kernels.cl"
        options += [f"-DMM_THREADS={threads}", f"-DMM_PER_THREAD={per_thread}", "-DMM_BLOCK=64"]
        if technique == "rns_float":
            options.append("-DMM_ON_CPU=1")  # with loops: unrolled, they take the analysis long
    return str(embedding().expanded(path, ROOT / "src", set())), options


def compiled(text: str, options: list[str], clang: str) -> str:
    """Return the PTX of an OpenCL C program."""
    command = [clang, "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-nvcl", "-O3", "-S", "-o", "-"]
    command += ["-Xclang", "-finclude-default-header", "-Wno-everything", *options, "-"]
    command += ["-mllvm", "-inline-threshold=1000000"]  # The analysis does not follow calls.
    finished = subprocess.run(command, input=BUILTINS + text, capture_output=True, text=True, check=True)
    return finished.stdout
