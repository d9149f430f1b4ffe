# SPDX-License-Identifier: Apache-2.0
"""Count the vector instructions that clang makes of a Montgomery product for AMD GPUs, and their limit.

Nothing runs: no AMD GPU is needed, and no speed is claimed. A product's instructions are the difference
between a kernel with a product and one without it, which stores what it has loaded. The limit counts a
multiplication of 32-bit numbers as ``--multiply-clocks`` clocks of a lane and any other instruction as one.

    python bench/opencl/amd_instructions.py --output bench/results/opencl_amd_instructions.json
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)
PROCESSORS = ("gfx1030", "gfx1100", "gfx942")
#: Technique, digits of a work-item, bits of the moduli. Products without loops, executed as they are counted.
SHAPES = (("reduced_radix", 9, 256), ("reduced_radix", 14, 384), ("reduced_radix", 18, 512))
MULTIPLICATION = re.compile(r"^\s+v_(mad_[ui]64_[ui]32|mul_(lo|hi)_[ui]32)", re.MULTILINE)
VECTOR = re.compile(r"^\s+v_", re.MULTILINE)
#: Lanes of a compute unit that execute a vector instruction each clock.
LANES = 64

KERNEL = """
static uint mm_get_id(void) { return __builtin_amdgcn_workitem_id_x(); }
kernel void measured(global uint* p) {
  const uint g = mm_get_id();
  uint x[MM_LANE_WORDS], y[MM_LANE_WORDS];
  mm_multiplier m;
  mm_start(&m, (mm_source){p, MM_LANE_WORDS, 0}, 0, 0);
#pragma unroll
  for (int j = 0; j < MM_LANE_WORDS; ++j) { x[j] = p[j * 64 + g]; y[j] = p[(j + 200) * 64 + g]; }
  MEASURED
#pragma unroll
  for (int j = 0; j < MM_LANE_WORDS; ++j) { p[j * 64 + g] = x[j]; p[(j + 400) * 64 + g] = y[j]; }
  ((global mm_multiplier*)p)[500 + g] = m;
}
"""


def expanded(path: str, seen: set[str]) -> str:
    """Return a source below src/ with its includes replaced, but for the interpreter's."""
    seen.add(path)
    text = (ROOT / "src" / path).read_text(encoding="utf-8")
    skipped = seen | {"gpu/opencl/kernels/interpreter.clh"}
    return INCLUDE.sub(lambda match: "" if match[1] in skipped else expanded(match[1], seen), text)


def assembly(technique: str, size: int, calls: str, processor: str, clang: str) -> str:
    """Compile a kernel that computes ``calls``."""
    source = expanded(f"modmul/{technique}/kernels.cl", set()) + KERNEL.replace("MEASURED", calls)
    options = ["-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-nogpulib"]
    defines = ["-DMM_THREADS=1", f"-DMM_PER_THREAD={size}", "-DMM_BLOCK=64"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cl"
        file.write_text(source, encoding="utf-8")
        command = [clang, *options, *defines, "-O3", "-Xclang", "-finclude-default-header", "-S", "-o", "-"]
        return subprocess.run([*command, str(file)], check=True, capture_output=True, text=True).stdout


def count(text: str) -> tuple[int, int]:
    """Return the numbers of multiplications and of other vector instructions."""
    multiplications = len(MULTIPLICATION.findall(text))
    return multiplications, len(VECTOR.findall(text)) - multiplications


def number_after(text: str, name: str) -> int:
    """Return the number that follows ``name:``."""
    match = re.search(rf"{name}:\s+(\d+)", text)
    if match is None:
        raise ValueError(f"the assembly has no {name}")
    return int(match[1])


def measure(
    technique: str, size: int, bits: int, operation: str, processor: str, options: argparse.Namespace
) -> dict[str, str | int | float]:
    """Return one row of the report."""
    call = "mm_mul(x, x, y, &m);" if operation == "mul" else "mm_sqr(x, x, &m);"
    without, once = (assembly(technique, size, call * n, processor, options.clang) for n in (0, 1))
    (mul0, other0), (mul1, other1) = count(without), count(once)
    clocks = options.multiply_clocks * (mul1 - mul0) + (other1 - other0)
    return {
        "processor": processor,
        "technique": technique,
        "per_thread": size,
        "bits": bits,
        "operation": operation,
        "multiplications": mul1 - mul0,
        "other_vector": other1 - other0,
        "registers": number_after(once, "vgpr_count"),
        "scratch_bytes": number_after(once, "private_segment_fixed_size"),
        "limit_per_compute_unit_and_ghz": round(1e9 * LANES / clocks),
    }


def main() -> None:
    """Write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--multiply-clocks", type=int, default=4)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    version = subprocess.run([options.clang, "--version"], check=True, capture_output=True, text=True).stdout
    rows = [
        measure(technique, size, bits, operation, processor, options)
        for processor in PROCESSORS
        for technique, size, bits in SHAPES
        for operation in ("mul", "sqr")
    ]
    report = {
        "compiler": version.splitlines()[0],
        "method": "instructions of clang's assembly, a kernel with a product less one without; not run",
        "multiply_clocks": options.multiply_clocks,
        "rows": rows,
    }
    options.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
