#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the requirements of one purpose from pyproject.toml, one a line, for `pip install -r`.

`build` means the build system's requirements, with the CUDA compiler where it is due; `cuda` that compiler
alone, unless the machine has one; any other word means the package's dependencies and that extra.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "build_backend"))
from cuda_compiler import compiler_requirements


def string_list(text: str, table: str, key: str) -> list[str]:
    """Return the list of strings `key` of `[table]` in TOML `text`.

    Python 3.10 has no TOML reader; a TOML array of basic strings is also a Python list.

    Raises:
        KeyError: The table or the key is missing.
    """
    body = re.search(rf"^\[{re.escape(table)}\]$(.*?)(?=^\[[a-z\"]|\Z)", text, re.DOTALL | re.MULTILINE)
    value = body and re.search(rf"^{re.escape(key)} = (\[.*?\])$", body[1], re.DOTALL | re.MULTILINE)
    if not value:
        raise KeyError(f"[{table}] {key}")
    return [str(item) for item in ast.literal_eval(value[1])]


def extra_requirements(extra: str, text: str) -> list[str]:
    """Return the requirements of an extra, and of the extras that it names by `manymod[...]`."""
    found: list[str] = []
    for requirement in string_list(text, "project.optional-dependencies", extra):
        own = re.fullmatch(r"manymod\[([\w,]+)\]", requirement)
        if own is None:
            found.append(requirement)
        else:
            found += [one for other in own[1].split(",") for one in extra_requirements(other, text)]
    return list(dict.fromkeys(found))


def requirements(purpose: str, text: str) -> list[str]:
    """Return the requirements of `purpose` as pyproject.toml's `text` states them."""
    if purpose == "build":
        return [*string_list(text, "build-system", "requires"), *compiler_requirements()]
    if purpose == "cuda":
        return compiler_requirements(environ=os.environ | {"MANYMOD_CUDA": "ON"})
    return [*string_list(text, "project", "dependencies"), *extra_requirements(purpose, text)]


if __name__ == "__main__":
    pyproject = Path(__file__).resolve().parent.parent / "pyproject.toml"
    print("\n".join(requirements(sys.argv[1], pyproject.read_text(encoding="utf-8"))))
