# SPDX-License-Identifier: Apache-2.0
"""Write a C++ source with the texts of OpenCL programs, whose includes are replaced by what they include."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)
# Compilers limit the length of one literal; neighbouring literals are one string.
LITERAL = 8000


def expanded(path: Path, root: Path, seen: set[Path]) -> str:
    """Return the text of a file with each of its includes in the place where it is first included."""
    seen.add(path)

    def included(match: re.Match[str]) -> str:
        other = root / match[1]
        return "" if other in seen else expanded(other, root, seen)

    return INCLUDE.sub(included, path.read_text(encoding="utf-8"))


def literals(text: str) -> str:
    """Return raw string literals that are together the text."""
    parts = [text[at : at + LITERAL] for at in range(0, len(text), LITERAL)]
    return "\n".join(f'R"opencl({part})opencl"' for part in parts)


def main() -> None:
    """Embed the programs that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the folder that includes are relative to")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("programs", type=Path, nargs="*", help="sources below the root")
    arguments = parser.parse_args()
    texts = {
        program.with_suffix("").as_posix(): expanded(arguments.root / program, arguments.root, set())
        for program in sorted(arguments.programs)
    }
    rows = [f'      {{"{name}",\n{literals(text)}}},\n' for name, text in texts.items()]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)  # Makefiles, unlike Ninja, do not make it
    arguments.output.write_text(
        "// The OpenCL programs of this build; written by cmake/embed_opencl.py.\n"
        '#include "gpu/opencl/kernel_source.hpp"\n\n'
        "std::span<const manymod::opencl::KernelSource> manymod::opencl::kernel_sources() {\n"
        "  static constexpr KernelSource kSources[] = {\n" + "".join(rows) + "  };\n  return kSources;\n}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
