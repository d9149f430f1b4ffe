#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build, check and measure the CUDA engine on a machine with an NVIDIA GPU: gpu_run.py STAGE...

The machine needs Python 3.10, nvcc, CMake and a C++20 compiler, and no network: GoogleTest, nlohmann-json,
CLI11 and CGBN are the system's, or those that `gpu_run.py pack` put into build/third_party on a machine with
a network.

Reports are written to $OUT or bench/results, each with card, driver, CUDA version, commit and date. The
output of a stage is in gpu/STAGE.log there, its outcome in gpu/STAGE.json. Stages after a failed one still
run; the exit status tells whether all passed.

The environment variables that `--help` names set the defaults of the options. MANYMOD_COMMIT is the commit to
report where there is no .git.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from gpu_stages import STAGES, Machine, Settings, stages_named
from gpu_stages_pack import pack
from gpu_stages_run import run_stage, said

ROOT = Path(__file__).resolve().parent.parent


def card_name(name: str) -> str:
    """Return a GPU's name as reports use it in theirs.

    >>> card_name("NVIDIA H100 80GB HBM3")
    'h100_80gb_hbm3'
    >>> card_name("")
    'gpu'
    """
    short = name.strip().removeprefix("NVIDIA ").lower()
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in short) or "gpu"


def this_machine(settings: Settings) -> Machine:
    """Return what the plans depend on."""
    probe = said(sys.executable, "-c", "import nanobind, pytest, numpy; print(nanobind.cmake_dir())")
    commit, programs = settings.cgbn / "COMMIT", settings.programs
    return Machine(
        card=card_name(said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").partition("\n")[0]),
        processors=os.cpu_count() or 1,
        nanobind=probe,
        has_ninja=shutil.which("ninja") is not None,
        has_ncu=shutil.which("ncu") is not None,
        has_third_party=settings.third_party.is_dir(),
        has_cgbn_sources=(settings.cgbn / "include").is_dir(),
        has_cgbn_program=programs is not None and os.access(programs / "cgbn_driver", os.X_OK),
        cgbn_commit=commit.read_text().strip() if commit.exists() else "",
    )


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    env = os.environ
    stages = "\n".join(f"  {stage.name:<11} {stage.summary}" for stage in STAGES.values())
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"stages:\n{stages}\n  bench       kernels, peers, end_to_end\n  pack        alone: see above",
    )
    add = parser.add_argument
    add("stages", nargs="+", metavar="STAGE", choices=[*STAGES, "bench", "pack"])
    add("--out", type=Path, default=env.get("OUT") or "bench/results", help="folder of the reports (OUT)")
    add(
        "--programs",
        type=Path,
        default=env.get("GPU_PROGRAMS") or None,
        help="folder of programs built elsewhere for such a machine, so that nothing is built; its folder "
        "`package` holds the Python package (GPU_PROGRAMS)",
    )
    add("--cgbn", type=Path, default=env.get("CGBN_ROOT") or None, help="sources of CGBN (CGBN_ROOT)")
    add(
        "--filter",
        default=env.get("GPU_TEST_FILTER") or "Gpu*",
        help="GoogleTest filter of the device tests (GPU_TEST_FILTER)",
    )
    add(
        "--limit",
        type=float,
        default=env.get("GPU_STAGE_LIMIT") or None,
        help="seconds for each stage in place of its own limit (GPU_STAGE_LIMIT)",
    )
    add(
        "--quick",
        action="store_true",
        default=env.get("GPU_QUICK") == "1",
        help="measure for a shorter time, and less (GPU_QUICK=1)",
    )
    add(
        "--widths",
        default=env.get("GPU_WIDTHS") or "512,1024,1536,2048,3072,4096,6144,8192",
        help="of the stage rns (GPU_WIDTHS)",
    )
    add(
        "--items",
        type=int,
        default=env.get("GPU_ITEMS") or None,
        help="results of the stage rns that GMP computes too, 0 for none (GPU_ITEMS)",
    )
    add(
        "--kernels",
        default=env.get("GPU_KERNELS", ""),
        help='options of device_kernels, such as "--bits 256" (GPU_KERNELS)',
    )
    add("--profile", default=env.get("GPU_PROFILE", ""), help="the same for the stage profile (GPU_PROFILE)")
    parsed = parser.parse_args(arguments)
    if "pack" in parsed.stages and parsed.stages != ["pack"]:
        parser.error("the stage pack runs alone")
    return parsed


def settings_of(parsed: argparse.Namespace, scratch: Path) -> Settings:
    """Return the settings of a command line."""
    third_party = ROOT / "build/third_party"
    return Settings(
        root=ROOT,
        build=Path("build/gpu"),
        third_party=third_party,
        cgbn=Path(parsed.cgbn or third_party / "cgbn").resolve(),
        out=Path(parsed.out),
        scratch=scratch,
        programs=parsed.programs and Path(parsed.programs),
        test_filter=parsed.filter,
        quick=parsed.quick,
        widths=tuple(int(width) for width in parsed.widths.split(",")),
        items=(20_000 if parsed.quick else 530_000) if parsed.items is None else parsed.items,
        kernels=tuple(shlex.split(parsed.kernels)),
        profile=tuple(shlex.split(parsed.profile)),
    )


def main() -> int:
    """Run the stages of the command line."""
    parsed = parse_arguments()
    os.chdir(ROOT)
    if shutil.which("nvcc") is None:
        toolkit = Path(os.environ.get("CUDA_HOME") or "/usr/local/cuda")
        os.environ["PATH"] += f"{os.pathsep}{toolkit / 'bin'}"
    os.environ.setdefault("MANYMOD_COMMIT", said("git", "rev-parse", "HEAD"))
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_of(parsed, Path(scratch))
        if parsed.stages == ["pack"]:
            return pack(settings.third_party, settings.cgbn)
        machine = this_machine(settings)
        passed = [
            run_stage(stage, stage.plan(settings, machine), settings.out / "gpu", parsed.limit or stage.limit)
            for stage in stages_named(parsed.stages)
        ]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
