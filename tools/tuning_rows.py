# SPDX-License-Identifier: Apache-2.0
"""Prints the GPU rows of a tuning file as the source of the rows that the library ships.

manymod tune --device cuda --output h200.tuning
python tools/tuning_rows.py h200.tuning > src/dispatch/shipped_gpu_tuning.cpp
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

MAX_BITS = 16384
#: Longest line of the sources.
COLUMNS = 110

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Made by tools/tuning_rows.py of what `manymod tune --device cuda` measured.
#include "dispatch/shipped_tuning.hpp"

namespace manymod {{
namespace {{

constexpr auto kPublic = TimingClass::public_;
constexpr auto kSecret = TimingClass::secret;

}}  // namespace

// {processor}, {date}.
// Calls from and to arrays on the host. Rows with as many items as a row before, or more, serve GPUs that the
// variant of that row does not suit.
std::vector<TuningRow> shipped_gpu_rows() {{
  return {{
"""

TAIL = """\
  };
}

}  // namespace manymod
"""


@dataclass(frozen=True)
class Row:
    """A line of a tuning file."""

    op: str
    timing: str
    min_bits: int
    max_bits: int
    min_items: int
    variant: str
    evidence: str

    def initialiser(self) -> str:
        """The row in C++."""
        timing = {"public": "kPublic", "secret": "kSecret"}[self.timing]
        widest = "kMaxModulusBits" if self.max_bits == MAX_BITS else str(self.max_bits)
        choice = f'{self.min_items}, "{self.variant}",'
        first = f"      {{Operation::{self.op}, {timing}, {self.min_bits}, {widest}, {choice}"
        text = '"' + self.evidence.replace("\\", "\\\\").replace('"', '\\"') + '"},'
        return f"{first} {text}" if len(first) + 1 + len(text) <= COLUMNS else f"{first}\n       {text}"


def read(path: Path) -> tuple[str, str, list[Row]]:
    """Processor, date and GPU rows of a tuning file."""
    lines = [line for line in path.read_text("ascii").splitlines() if line and not line.startswith("#")]
    magic, version, processor, date = lines[0].split("\t")
    if (magic, version) != ("manymod-tuning", "1"):
        raise ValueError(f"{path} is no tuning file of version 1")
    rows = []
    for line in lines[1:]:
        op, timing, least, most, items, variant, evidence = line.split("\t")
        if ".cuda." in variant:
            rows.append(Row(op, timing, int(least), int(most), int(items), variant, evidence))
    return processor, date, rows


def source(path: Path) -> str:
    """The C++ source with the GPU rows of a tuning file."""
    processor, date, rows = read(path)
    if not rows:
        raise ValueError(f"{path} has no rows for GPUs")
    body = "\n".join(row.initialiser() for row in rows)
    return HEAD.format(processor=processor, date=date[:10]) + body + "\n" + TAIL


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.stdout.write(source(Path(sys.argv[1])))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(str(error))
