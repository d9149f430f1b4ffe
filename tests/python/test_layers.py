# SPDX-License-Identifier: Apache-2.0
"""The layers of src/ look down only: what each folder may include, and that it includes nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# From the ground up. A folder may include those of the lines before its own, itself, and the public headers.
# Folders of one line do not include each other.
LAYERS = [
    ["core"],
    ["arch"],
    ["repr"],
    ["modexp", "modinv"],
    ["engine"],
    ["lanes", "gpu"],
    ["modmul"],
    ["field"],
    ["dispatch"],
    ["exec"],
    ["abi"],
    ["rsa"],
    ["api"],
    ["python"],
]
# The layers of gpu/, likewise.
GPU_LAYERS = [["cuda"], ["program"], ["kernels"], ["engine"]]
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
GPU_LEVEL = {folder: level for level, folders in enumerate(GPU_LAYERS) for folder in folders}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
SOURCES = sorted(path for path in SRC.rglob("*") if path.suffix in {".cpp", ".hpp", ".cu", ".cuh"})


def includes(path: Path) -> list[str]:
    """Return what a source includes of src/ and include/."""
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def upward(source: str, included: str) -> bool:
    """Return whether `source` includes something of a layer that is not below its own; paths below src/.

    >>> upward("repr/limbs.hpp", "core/limb.hpp"), upward("core/limb.hpp", "repr/limbs.hpp")
    (False, True)
    >>> upward("gpu/cuda/device.hpp", "gpu/engine/engine.hpp")
    True
    >>> upward("lanes/moduli.hpp", "gpu/cuda/device.hpp")
    True
    """
    own, other = Path(source).parts, Path(included).parts
    if other[0] == "manymod":
        return False
    if own[0] != other[0]:
        return LEVEL[other[0]] >= LEVEL[own[0]]
    if own[0] != "gpu" or len(own) < 3 or len(other) < 3 or own[1] == other[1]:
        return False
    return GPU_LEVEL[other[1]] >= GPU_LEVEL[own[1]]


def test_each_folder_has_its_layer() -> None:
    """A new folder takes a place among the layers."""
    assert {path.relative_to(SRC).parts[0] for path in SOURCES} == set(LEVEL)


@pytest.mark.parametrize("folder", sorted(LEVEL))
def test_layers_look_down_only(folder: str) -> None:
    """No file of a folder includes one of a layer above."""
    found = [
        f"{source} includes {included}"
        for path in SOURCES
        if (source := path.relative_to(SRC).as_posix()).startswith(f"{folder}/")
        for included in includes(path)
        if upward(source, included)
    ]
    assert found == []


def test_included_files_exist() -> None:
    """An include names a file of src/ or of include/ by its path from there."""
    missing = [
        f"{path.relative_to(ROOT)} includes {included}"
        for path in SOURCES
        for included in includes(path)
        if not (SRC / included).exists() and not (ROOT / "include" / included).exists()
    ]
    assert missing == []
