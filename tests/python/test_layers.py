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
    ["crypto"],
    ["rsa", "ecc"],
    ["api", "service"],
    ["python"],
]
# The layers of gpu/, likewise. INTERFACE stands for the files directly in gpu/, which all backends implement.
INTERFACE = ""
GPU_LAYERS = [[INTERFACE], ["cuda", "program"], ["kernels"], ["opencl"], ["engine"]]
# What may include a backend: its own folder, the registration of a technique's kernels, and the list of
# backends. Everything else uses the interface.
BACKENDS = ["cuda", "opencl"]
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
GPU_LEVEL = {folder: level for level, folders in enumerate(GPU_LAYERS) for folder in folders}
# The daemon uses manymod by its public headers alone; its sides share the protocol. common/ is what the
# provider may use, too.
DAEMON = ROOT / "daemon"
DAEMON_LAYERS = {
    "common": {"common"},
    "protocol": {"common", "protocol"},
    "transport": {"common", "transport"},
    "client": {"common", "protocol", "transport", "client"},
    "server": {"common", "protocol", "transport", "server"},
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
SOURCES = sorted(path for path in SRC.rglob("*") if path.suffix in {".cpp", ".hpp", ".cu", ".cuh"})


def includes(path: Path) -> list[str]:
    """Return what a source includes of src/ and include/."""
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def upward(source: str, included: str) -> bool:
    """Return whether `source` includes something of a layer that is not below its own; paths below src/.

    >>> upward("repr/limbs.hpp", "core/limb.hpp"), upward("core/limb.hpp", "repr/limbs.hpp")
    (False, True)
    >>> upward("gpu/cuda/device.hpp", "gpu/engine/engine.hpp"), upward("lanes/moduli.hpp", "gpu/device.hpp")
    (True, True)
    >>> upward("gpu/engine/launch.hpp", "gpu/device.hpp"), upward("gpu/device.hpp", "gpu/cuda/device.hpp")
    (False, True)
    >>> upward("gpu/program/programs.hpp", "gpu/cuda/device.hpp")
    True
    """
    own, other = Path(source).parts, Path(included).parts
    if other[0] == "manymod":
        return False
    if own[0] != other[0]:
        return LEVEL[other[0]] >= LEVEL[own[0]]
    if own[0] != "gpu":
        return False
    own_folder, other_folder = gpu_folder(own), gpu_folder(other)
    return own_folder != other_folder and GPU_LEVEL[other_folder] >= GPU_LEVEL[own_folder]


def gpu_folder(parts: tuple[str, ...]) -> str:
    """Return the folder of gpu/ that a path is in, or INTERFACE."""
    return parts[1] if len(parts) > 2 else INTERFACE


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


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_backend_and_its_registration_include_it(backend: str) -> None:
    """The engine, the programs and all layers above use GPUs through the interface in src/gpu."""
    users = {
        path.relative_to(SRC).as_posix()
        for path in SOURCES
        if any(included.startswith(f"gpu/{backend}/") for included in includes(path))
    }
    allowed = re.compile(rf"gpu/{backend}/.*|(modmul|ecc)/\w+/variants\.{backend}\.cpp|dispatch/devices\.cpp")
    assert {user for user in users if not allowed.fullmatch(user)} == set()
    assert "dispatch/devices.cpp" in users


def test_included_files_exist() -> None:
    """An include names a file of src/ or of include/ by its path from there."""
    missing = [
        f"{path.relative_to(ROOT)} includes {included}"
        for path in SOURCES
        for included in includes(path)
        if not (SRC / included).exists() and not (ROOT / "include" / included).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("folder", sorted(DAEMON_LAYERS))
def test_the_daemon_uses_public_headers(folder: str) -> None:
    """Client and server do not know each other, and none of them the library's inner parts."""
    sources = [path for path in (DAEMON / folder).iterdir() if path.suffix in {".cpp", ".hpp"}]
    assert sources
    allowed = DAEMON_LAYERS[folder] | {"manymod"}
    found = [
        f"{path.name} includes {included}"
        for path in sources
        for included in includes(path)
        if Path(included).parts[0] not in allowed
    ]
    assert found == []


def test_each_folder_of_the_daemon_has_its_layer() -> None:
    """A new folder takes a place among the daemon's layers."""
    assert {path.name for path in DAEMON.iterdir() if path.is_dir()} == set(DAEMON_LAYERS)


def test_the_provider_uses_public_headers() -> None:
    """Besides its own files, those of the library's interface, of the daemon's client, and common/."""
    own = {path.name for path in (ROOT / "provider").iterdir()}
    found = [
        f"{path.name} includes {included}"
        for path in (ROOT / "provider").iterdir()
        for included in includes(path)
        if included not in own
        and not re.match(r"manymod/|common/|client/client\.hpp$|protocol/request\.hpp$", included)
    ]
    assert found == []
    # Only keys of this process know the library, and only those of the daemon its client.
    users = {path.name for path in (ROOT / "provider").iterdir() if "client/client.hpp" in includes(path)}
    assert users == {"daemon_key.cpp", "provider.cpp"}
