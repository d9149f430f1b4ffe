#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that CUDA kernels keep their numbers in registers: check_device_resources.py EXCEPTIONS REPORT...

The reports are written by cmake/compile_device.py. A kernel for sm_90a, the architecture for which the
shapes are tuned, fails if it has a stack or spills registers, unless EXCEPTIONS lists it. Each of its lines
has a pattern of kernel names and the bytes of stack that those kernels may use, and the reason after `#`.
"""

from __future__ import annotations

import fnmatch
import json
import sys
from pathlib import Path
from typing import Any


def exceptions(text: str) -> dict[str, int]:
    """Return the bytes of stack allowed to each kernel that a file of exceptions lists."""
    allowed = {}
    for line in text.splitlines():
        entry, _, reason = line.partition("#")
        if not entry.strip():
            continue
        kernel, size = entry.split()
        if not reason.strip():
            raise ValueError(f"{kernel}: no reason given")
        allowed[kernel] = int(size)
    return allowed


def breaches(kernels: list[dict[str, Any]], allowed: dict[str, int]) -> list[str]:
    """Return a line for each kernel that uses more local memory than it may, and each idle exception."""
    found = []
    used = set()
    for kernel in kernels:
        spills = max(kernel["stack"], kernel["spill_stores"], kernel["spill_loads"])
        if not spills or kernel["arch"] != "90a":
            continue
        patterns = [pattern for pattern in allowed if fnmatch.fnmatch(kernel["kernel"], pattern)]
        used.update(patterns)
        if not patterns or kernel["stack"] > max(allowed[pattern] for pattern in patterns):
            found.append(
                f"{kernel['kernel']}: {kernel['stack']} bytes of stack, {kernel['spill_stores']} of "
                f"spill stores, {kernel['spill_loads']} of spill loads, {kernel['registers']} registers"
            )
    if any(kernel["arch"] == "90a" for kernel in kernels):
        found += [f"{pattern}: excepted, but nothing spills" for pattern in sorted(allowed.keys() - used)]
    return found


def main() -> int:
    """Check; return 1 if a kernel fails."""
    allowed = exceptions(Path(sys.argv[1]).read_text(encoding="utf-8"))
    kernels = [
        kernel for report in sys.argv[2:] for kernel in json.loads(Path(report).read_text(encoding="utf-8"))
    ]
    names = [(kernel["kernel"], kernel["arch"]) for kernel in kernels]
    if not kernels or len(set(names)) != len(names):
        print("the reports hold no kernel, or one twice")
        return 1
    found = breaches(kernels, allowed)
    print("\n".join(found) or f"{len(kernels)} kernels within their registers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
