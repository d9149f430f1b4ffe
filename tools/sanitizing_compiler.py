#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print CMake's definitions of the compiler for a build with AddressSanitizer and UndefinedBehaviorSanitizer.

It is the newest Clang on PATH that links programs with them. Compared with GCC it compiles instrumented code
in two thirds of the time, and also reports offsets from null pointers and values that an enumeration does not
have. Without such a Clang nothing is printed, and CMake uses its default compiler.
"""

from __future__ import annotations

import os
import subprocess

from try_compilers import Compiler, find_compilers


def newest_clang(sanitizers: str, program: str = "int main() { return 0; }") -> Compiler | None:
    """Return the newest Clang on PATH that links `program` with ``-fsanitize=SANITIZERS``."""

    def links(compiler: Compiler) -> bool:
        command = [str(compiler.cxx), f"-fsanitize={sanitizers}", "-x", "c++", "-", "-o", "/dev/null"]
        return not subprocess.run(
            command, input=program.encode(), capture_output=True, check=False
        ).returncode

    clangs = [compiler for compiler in find_compilers(os.environ["PATH"]) if compiler.family == "clang++"]
    return next(filter(links, reversed(clangs)), None)


def definitions(compiler: Compiler) -> list[str]:
    """Return the arguments for CMake that choose `compiler`."""
    return [f"-DCMAKE_CXX_COMPILER={compiler.cxx}", f"-DCMAKE_C_COMPILER={compiler.c}"]


def main() -> None:
    """Print the definitions."""
    if compiler := newest_clang("address,undefined"):
        print(*definitions(compiler))


if __name__ == "__main__":
    main()
