# SPDX-License-Identifier: Apache-2.0
"""The installed package: version, typing marker, shipped headers, and the set-up tool of the Makefile."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from tests.python import provider_support

import manymod
import tls_servers

ROOT = Path(__file__).resolve().parents[2]


def header_version(text: str) -> str:
    return ".".join(re.findall(r"#define MM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def test_one_version_everywhere() -> None:
    version = header_version((ROOT / "include/manymod/manymod.h").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert importlib.metadata.version("manymod") == version
    assert manymod.__version__ == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_build_has_that_version() -> None:
    provider_support.needed()
    build = provider_support.folder()
    version = header_version((ROOT / "include/manymod/manymod.h").read_text(encoding="utf-8"))
    assert f"\nVersion: {version}\n" in (build / "manymod.pc").read_text(encoding="utf-8")
    package = (build / "manymodConfigVersion.cmake").read_text(encoding="utf-8")
    assert f'set(PACKAGE_VERSION "{version}")' in package
    daemon = subprocess.run(
        [build / "manymod-signd", "--version"], capture_output=True, text=True, check=True
    )
    assert daemon.stdout == f"manymod-signd {version}\n"
    modules = ["-provider-path", build / "ossl-modules", "-provider", "manymod"]
    command = [*map(str, (tls_servers.program("openssl"), "list", "-providers", *modules))]
    listed = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"OPENSSL_CONF": os.devnull}
    )
    assert f"version: {version}\n" in listed.stdout


def test_wheel_ships_types_and_headers() -> None:
    package = importlib.resources.files("manymod")
    assert (package / "py.typed").is_file()
    shipped = (package / "include" / "manymod" / "manymod.h").read_text(encoding="utf-8")
    assert shipped == (ROOT / "include/manymod/manymod.h").read_text(encoding="utf-8")


def test_shipped_headers_include_shipped_ones() -> None:
    include = Path(str(importlib.resources.files("manymod"))) / "include"
    headers = [path for path in include.rglob("*") if path.is_file()]
    assert include / "manymod/device/modular.cuh" in headers
    missing = {
        f"{path.relative_to(include)} includes {name}"
        for path in headers
        for name in re.findall(r'^ *# *include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        if not (include / name).is_file() and not (path.parent / name).is_file()
    }
    assert missing == set()


@pytest.fixture(scope="module")
def requirements() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools/requirements.py"))


def due_here(requirements: Iterable[str], extra: str) -> set[str]:
    """Return what of `requirements` this machine needs for `extra`, without the conditions."""
    due: set[str] = set()
    for one in map(Requirement, requirements):
        if one.marker is not None and not one.marker.evaluate({"extra": extra}):
            continue
        if one.name == "manymod":
            due = due.union(*(due_here(requirements, other) for other in one.extras))
        else:
            due.add(f"{one.name}{one.specifier}")
    return due


@pytest.mark.parametrize(
    "extra",
    ["arrow", "cli", "rsa", "ray", "bench", "lab", "demo", "test", "clusters", "fuzz", "wheels", "lint"],
)
def test_requirements_tool_agrees_with_the_metadata(requirements: dict[str, Any], extra: str) -> None:
    listed = requirements["requirements"](extra, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert due_here(importlib.metadata.requires("manymod") or [], extra) == due_here(listed, extra)


def test_the_package_alone_depends_on_numpy_alone() -> None:
    assert due_here(importlib.metadata.requires("manymod") or [], "") == {"numpy>=1.26"}


#: Runs the code that follows where no package of an extra can be imported.
BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"click", "rich", "pyarrow", "gmpy2", "cryptography"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Blocker())
"""


def run_blocked(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process where numpy is the only package that manymod finds."""
    return subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False)


def test_arithmetic_and_rsa_need_numpy_alone() -> None:
    finished = run_blocked(
        "import manymod, numpy, pickle\n"
        "from manymod import rsa\n"
        "print(manymod.powmod([2, 3], 10, 1000), manymod.FixedBase(3, 101).powmod([2]))\n"
        "print(manymod.multi_powmod([2, 3], [1, 1], 7), manymod.invmod_sec(3, 7))\n"
        "print(manymod.addmod(numpy.array([1, 2]), 5, 7), manymod.submit(manymod.sqrmod, 3, 7).result())\n"
        "print(manymod.IntArray.from_ints([5]).to_ints(), len(manymod.variants()) > 1)\n"
        "key = rsa.PublicKey.from_numbers(n=2**1024 - 105) if rsa.supported() else None\n"
        "print(key is None or len(key.encrypt(b'message', 'oaep')))\n"
    )
    assert finished.stderr == ""
    assert finished.stdout.splitlines()[:4] == ["[24, 49] [9]", "6 5", "[6 0] 2", "[5] True"]


def test_the_command_says_which_packages_it_needs() -> None:
    finished = run_blocked("sys.argv = ['manymod', 'info']\nfrom manymod.__main__ import main\nmain()\n")
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr == (
        "manymod: the manymod command needs packages that are not installed: pip install pyarrow click rich\n"
    )


@pytest.mark.parametrize("module", ["manymod.tables", "manymod.frames"])
def test_tables_say_which_packages_they_need(module: str) -> None:
    finished = run_blocked(f"try:\n    import {module}\nexcept ImportError as error:\n    print(error)\n")
    assert finished.stdout == f"{module} needs packages that are not installed: pip install pyarrow\n"


def test_arrow_answers_say_which_packages_they_need() -> None:
    finished = run_blocked(
        "import manymod\ntry:\n    manymod.IntArray.from_ints([5]).to_arrow()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    assert "pip install pyarrow" in finished.stdout


def test_the_console_script_is_the_module() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="manymod")
    assert {script.value for script in scripts} == {"manymod.__main__:main"}


def test_requirements_tool_refuses_an_unknown_purpose(requirements: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match="nothing"):
        requirements["requirements"]("nothing", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
