# SPDX-License-Identifier: Apache-2.0
"""The stage `pack` of gpu_run.py: collect the libraries that a machine without a network may lack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

#: Each library: its folder in build/third_party, where Debian installs it, its repository and release.
LIBRARIES = (
    ("googletest", "/usr/src/googletest", "google/googletest", "v1.15.2", "."),
    ("include/nlohmann", "/usr/include/nlohmann", "nlohmann/json", "v3.11.3", "include/nlohmann"),
    ("include/CLI", "/usr/include/CLI", "CLIUtils/CLI11", "v2.4.2", "include/CLI"),
)


def clone(repository: str, folder: Path, release: str | None = None) -> str:
    """Clone a release, or the newest commit, of a GitHub repository. Returns the commit."""
    branch = ["--branch", release] if release else []
    url = f"https://github.com/{repository}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", *branch, url, str(folder)], check=True)
    head = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout
    shutil.rmtree(folder / ".git")
    return commit.strip()


def pack(third_party: Path, cgbn: Path) -> int:
    """Fill `third_party`, and `cgbn` unless it is there. Returns the exit status."""
    for name, installed, repository, release, part in LIBRARIES:
        target = third_party / name
        shutil.rmtree(target, ignore_errors=True)
        if Path(installed).is_dir():
            shutil.copytree(installed, target)
            continue
        sources = third_party / "sources"
        shutil.rmtree(sources, ignore_errors=True)
        clone(repository, sources, release)
        shutil.copytree(sources / part, target)
        shutil.rmtree(sources)
    if (cgbn / "include").is_dir():
        return 0
    try:
        commit = clone("NVlabs/CGBN", third_party / "cgbn")
    except subprocess.CalledProcessError:
        print("CGBN: cannot be fetched; the stage peers will be skipped")
    else:
        (third_party / "cgbn/COMMIT").write_text(commit + "\n", encoding="utf-8")
    return 0
