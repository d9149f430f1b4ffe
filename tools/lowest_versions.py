#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the Python package with the lowest dependencies that pyproject.toml allows, and run its tests.

The virtual environment and the build are in build/lowest. A requirement `name>=1.2` becomes `name==1.2`; one
without a lower bound stays as it is. Not every interpreter has wheels of such versions: try the oldest one
that the project supports.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from requirements import extra_requirements, string_list
from wheel_parts import run

ROOT = Path(__file__).resolve().parent.parent
#: What the tests run without.
LEFT_OUT = ("nvidia-",)


def pinned(requirement: str) -> str:
    """Return a requirement that allows only the lowest version.

    >>> pinned("numpy>=1.24")
    'numpy==1.24'
    >>> pinned("tool>=2,<4; sys_platform == 'linux'")
    "tool==2; sys_platform == 'linux'"
    >>> pinned("certifi")
    'certifi'
    """
    return re.sub(r">=\s*([\w.]+)(,[^;]*)?", r"==\1", requirement)


def lowest(text: str) -> list[str]:
    """Return the pinned requirements of the build, the package and its tests in pyproject.toml's `text`."""
    found = [*string_list(text, "build-system", "requires"), *string_list(text, "project", "dependencies")]
    found += extra_requirements("test", text)
    return sorted({pinned(one) for one in found if not one.startswith(LEFT_OUT)})


def main() -> int:
    """Install, build, test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the interpreter (default: this one)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/lowest", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: %(default)s")
    parser.add_argument("tests", nargs="*", default=["tests/python"], help="default: %(default)s")
    arguments = parser.parse_args()
    python = arguments.folder.absolute() / "venv/bin/python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    os.environ |= {"CMAKE_BUILD_PARALLEL_LEVEL": str(arguments.jobs), "MANYMOD_CUDA": "OFF"}
    try:
        run(arguments.python, "-m", "venv", arguments.folder / "venv", where=ROOT)
        run(*pip, *lowest((ROOT / "pyproject.toml").read_text(encoding="utf-8")), where=ROOT)
        options = ("--no-deps", "--no-build-isolation", "-C", f"build-dir={arguments.folder / 'build'}")
        run(*pip, *options, "-C", "cmake.define.MANYMOD_WERROR=ON", ".", where=ROOT)
        tests = ("--pyargs", "manymod", *arguments.tests)
        run(python, "-m", "pytest", "-n", str(arguments.jobs), *tests, where=ROOT)
    except subprocess.CalledProcessError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
