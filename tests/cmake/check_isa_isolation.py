#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that no function compiled for a special instruction set can replace a baseline one.

If several object files emit the same inline function or template instance, a linker keeps an arbitrary copy.
If it kept the copy of an object compiled with, say, -mavx2, baseline code would crash on processors without
AVX2.

Usage: check_isa_isolation.py NM OBJECT...
"""

from __future__ import annotations

import re
import subprocess
import sys

ISA_OBJECT = re.compile(r"\.(adx|avx2|avx512f|avx512ifma)\.cpp\.o(bj)?$")
SYMBOL = re.compile(r"^[0-9a-f ]* ([A-Za-z]) (\S+)$", re.MULTILINE)


def symbols(nm: str, path: str) -> list[tuple[str, str]]:
    """Return (type letter, name) of each external symbol that an object file defines or needs."""
    table = subprocess.run([nm, "--extern-only", path], check=True, capture_output=True, text=True).stdout
    return SYMBOL.findall(table)


def main(nm: str, paths: list[str]) -> int:
    """Print each shared function and the object that emits it; return 1 if there is one."""
    isa_objects = [path for path in paths if ISA_OBJECT.search(path)]
    baseline = {name for path in paths if path not in isa_objects for _, name in symbols(nm, path)}
    failed = False
    for path in isa_objects:
        for kind, name in symbols(nm, path):
            if kind in "WVu" and name in baseline:
                print(f"{path}: {name} is also used by baseline code; make it unique to this file")
                failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
