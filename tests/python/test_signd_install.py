# SPDX-License-Identifier: Apache-2.0
"""manymod-signd for administrators: its command line, and that installing it keeps their configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.python import provider_support

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "cmake/install_signd_configuration.cmake"


def install(stage: Path, configuration: str, configured_prefix: str, prefix: str) -> str:
    """Install the configuration below the folder `stage` (DESTDIR). Returns what CMake says."""
    settings = {
        "source": str(ROOT / "daemon/signd.conf"),
        "configuration": configuration,
        "configured_prefix": configured_prefix,
        "CMAKE_INSTALL_PREFIX": prefix,
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    finished = subprocess.run(
        ["cmake", *options, "-P", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"DESTDIR": str(stage)},
    )
    return finished.stdout


@pytest.mark.parametrize(
    ("configuration", "configured_prefix", "prefix", "installed"),
    [
        ("/usr/local/etc/manymod/signd.conf", "/usr/local", "/usr/local", "usr/local/etc/manymod/signd.conf"),
        (
            "/usr/local/etc/manymod/signd.conf",
            "/usr/local",
            "/other place",
            "other place/etc/manymod/signd.conf",
        ),
        # What CMake makes of the prefix /usr: the path that the unit has.
        ("/etc/manymod/signd.conf", "/usr", "/usr", "etc/manymod/signd.conf"),
    ],
)
def test_configuration_is_installed_once(
    tmp_path: Path, configuration: str, configured_prefix: str, prefix: str, installed: str
) -> None:
    path = tmp_path / installed
    install(tmp_path, configuration, configured_prefix, prefix)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [path]
    assert path.read_bytes() == (ROOT / "daemon/signd.conf").read_bytes()
    path.write_text("of the administrator", encoding="utf-8")
    assert f"Kept: {path}" in install(tmp_path, configuration, configured_prefix, prefix)
    assert path.read_text(encoding="utf-8") == "of the administrator"


def test_cmake_installs_it_by_the_script_alone() -> None:
    text = (ROOT / "cmake/ManymodDaemon.cmake").read_text(encoding="utf-8")
    assert "install(SCRIPT cmake/install_signd_configuration.cmake COMPONENT daemon)" in text
    assert "install(FILES daemon/signd.conf" not in text


def call(*arguments: str) -> tuple[int, str, str]:
    """Call the program. Returns its status, and what it wrote to standard output and error."""
    program = provider_support.folder() / "manymod-signd"
    finished = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return finished.returncode, finished.stdout, finished.stderr


USAGE = "usage: manymod-signd [--check] CONFIGURATION | --version | --help\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(option: str) -> None:
    provider_support.needed()
    assert call(option) == (0, USAGE, "")


@pytest.mark.parametrize("arguments", [[], ["--check"], ["--nonesuch"], ["--check", "-x"], ["a", "b"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    provider_support.needed()
    assert call(*arguments) == (2, "", USAGE)
