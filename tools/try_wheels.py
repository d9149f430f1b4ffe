#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Install wheels into bare systems and compute with them: try_wheels.py [--driver FOLDER] [FOLDER].

Each system is a minimal root with the distribution's own Python and nothing else, made by debootstrap once
and kept. pip installs the wheel and NumPy there from files alone, and tests/wheels/smoke.py runs. It needs
root and debootstrap. A folder with a libcuda.so.1 (--driver) stands for an NVIDIA driver: that of the tests,
build/release/fake_cuda, needs no GPU and computes on the host.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from wheel_parts import STABLE_ABI, run

ROOT = Path(__file__).resolve().parent.parent
UBUNTU = "http://archive.ubuntu.com/ubuntu"
#: Where a root gets the wheels and the test.
INSIDE = "/opt/manymod"


@dataclass(frozen=True)
class System:
    """A release of a distribution, and the release by whose script debootstrap makes it."""

    suite: str
    script: str
    mirror: str = ""  # nothing: that of the script
    components: str = "main"


SYSTEMS = {
    "debian-12": System("bookworm", "sid"),
    "debian-13": System("trixie", "sid"),
    "debian-testing": System("testing", "sid"),
    "ubuntu-22.04": System("jammy", "gutsy", UBUNTU, "main,universe"),
    "ubuntu-24.04": System("noble", "gutsy", UBUNTU, "main,universe"),
}


def inside(root: Path, *command: str, text: str | None = None, libraries: str = "") -> str:
    """Run a command in a root; return what it prints. Raises CalledProcessError.

    `libraries` is a folder in the root whose libraries it finds.
    """
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    return subprocess.run(
        ["chroot", str(root), *command],
        input=text,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        env=environment,
    ).stdout


def make(root: Path, system: System) -> None:
    """Make a root, unless it is there."""
    done = root / "complete"
    if done.exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    # Releases newer than debootstrap have no script of their own.
    script = Path("/usr/share/debootstrap/scripts") / system.script
    options = ("--variant=minbase", f"--components={system.components}", "--include=python3,python3-venv")
    run("debootstrap", *options, system.suite, root, system.mirror, script)
    done.touch()


def wheel_for(folder: Path, version: tuple[int, int]) -> Path:
    """Return the wheel that a version of Python installs. Raises FileNotFoundError if there is none."""
    tag = "cp{}{}".format(*min(version, STABLE_ABI))
    abi = "abi3" if version >= STABLE_ABI else tag
    found = sorted(folder.glob(f"manymod-*-{tag}-{abi}-*_{platform.machine()}.whl"))
    if not found:
        raise FileNotFoundError(f"{folder} has no wheel for Python {version[0]}.{version[1]}")
    return found[-1]


def try_wheel(root: Path, folder: Path, driver: Path | None) -> str:
    """Install the root's wheel in a fresh environment; return what the test prints.

    With a driver, the test must find a GPU.
    """
    said = inside(root, "python3", "-c", "import json, sys; print(json.dumps(sys.version_info[:2]))")
    major, minor = json.loads(said)
    wheels = root / INSIDE.lstrip("/")
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    shutil.copy(wheel_for(folder, (major, minor)), wheels)
    version = f"{major}.{minor}"
    platforms = [f"--platform=manylinux_2_{glibc}_{platform.machine()}" for glibc in (28, 27, 17)]
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "-q",
        "download",
        "--only-binary=:all:",
    ]
    run(*command, *platforms, f"--python-version={version}", "-d", wheels, "numpy")
    inside(root, "python3", "-m", "venv", f"{INSIDE}/venv")
    python = f"{INSIDE}/venv/bin/python"
    inside(root, python, "-m", "pip", "-q", "install", "--no-index", f"--find-links={INSIDE}", "manymod")
    test = (ROOT / "tests/wheels/smoke.py").read_text(encoding="utf-8")
    if driver is None:
        said = inside(root, python, "-", text=test)
    else:
        shutil.copytree(driver, wheels / "driver")
        said = inside(root, python, "-", "cuda", text=test, libraries=f"{INSIDE}/driver")
    shutil.rmtree(wheels)
    return said.strip()


def main() -> int:
    """Try all; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="default: %(default)s")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="default: all")
    parser.add_argument(
        "--roots", type=Path, default=Path("/var/tmp/manymod-roots"), help="default: %(default)s"
    )
    parser.add_argument("--driver", type=Path, help="a folder with a libcuda.so.1 to compute with")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        print(
            "bare systems need root and debootstrap (Debian, Ubuntu: apt-get install debootstrap)",
            file=sys.stderr,
        )
        return 1
    failed = []
    for name in arguments.systems:
        root = arguments.roots.resolve() / name
        try:
            make(root, SYSTEMS[name])
            print(f"{name}: {try_wheel(root, arguments.folder, arguments.driver)}", flush=True)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{name}: failed: {error}", flush=True)
            failed.append(name)
    print(f"{len(arguments.systems) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
