# SPDX-License-Identifier: Apache-2.0
"""The stage `pack` of gpu_run.py: collect the libraries that a machine without a network may lack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

#: Each library: its folder in build/third_party, where Debian installs it, its repository, the commit of its
#: release (googletest 1.15.2, json 3.11.3, CLI11 2.4.2), and the part that is needed.
LIBRARIES = (
    (
        "googletest",
        "/usr/src/googletest",
        "google/googletest",
        "b514bdc898e2951020cbdca1304b75f5950d1f59",
        ".",
    ),
    (
        "include/nlohmann",
        "/usr/include/nlohmann",
        "nlohmann/json",
        "9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03",
        "include/nlohmann",
    ),
    (
        "include/CLI",
        "/usr/include/CLI",
        "CLIUtils/CLI11",
        "6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9",
        "include/CLI",
    ),
)
#: The commit of CGBN that reports are measured against.
CGBN_COMMIT = "6e6fdc1ab3e7c4e7899a83dc52ee1005b7e8c217"


def clone(repository: str, folder: Path, commit: str) -> None:
    """Fetch a commit of a GitHub repository, which git checks against its hash."""
    folder.mkdir(parents=True)
    for command in (
        ["init", "--quiet"],
        ["fetch", "--quiet", "--depth", "1", f"https://github.com/{repository}", commit],
        ["-c", "advice.detachedHead=false", "checkout", "--quiet", commit],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    shutil.rmtree(folder / ".git")


def pack(third_party: Path, cgbn: Path) -> int:
    """Fill `third_party`, and `cgbn` unless it is there. Returns the exit status."""
    for name, installed, repository, commit, part in LIBRARIES:
        target = third_party / name
        shutil.rmtree(target, ignore_errors=True)
        if Path(installed).is_dir():
            shutil.copytree(installed, target)
            continue
        sources = third_party / "sources"
        shutil.rmtree(sources, ignore_errors=True)
        clone(repository, sources, commit)
        shutil.copytree(sources / part, target)
        shutil.rmtree(sources)
    if (cgbn / "include").is_dir():
        return 0
    try:
        shutil.rmtree(third_party / "cgbn", ignore_errors=True)
        clone("NVlabs/CGBN", third_party / "cgbn", CGBN_COMMIT)
    except subprocess.CalledProcessError:
        print("CGBN: cannot be fetched; the stage peers will be skipped")
    else:
        (third_party / "cgbn/COMMIT").write_text(CGBN_COMMIT + "\n", encoding="utf-8")
    return 0
