# SPDX-License-Identifier: Apache-2.0
"""Whether the core was this process's alone while something was measured.

A core's second hardware thread may belong to another process, or to another guest of a virtual machine's
host, which no clock of this one shows. Two loops on registers do, in instructions a cycle: one that fills the
issue width loses what the neighbour is issued, whatever that is; one of vpmadd52 loses the ports that the
neighbour multiplies on. The first matters more: while half of its issue width is gone, a core may still start
two vpmadd52 a cycle in a loop of nothing else, but no longer those of a kernel that loads and stores beside
them.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Final

from manymod import _core
from manymod.cli.bench.limit import LIMIT

__all__ = ["CYCLES", "ISSUE", "LEAST_READING", "QUIET", "QuietMeter", "Reading"]

#: Name of the loop that does one instruction a cycle.
CYCLES: Final = "add_chain"
#: Name of the loop that fills the issue width.
ISSUE: Final = "issue_width"
#: Share of the best rate a cycle that counts as undisturbed.
QUIET: Final = {ISSUE: 0.9, LIMIT: 0.93}
#: Seconds of a loop whose rate is right to a few percent.
LEAST_READING: Final = 0.002
#: Issue width, at least, of the processors that have the limit's instruction: a neighbour that stays for the
#: whole run shows all the same.
LEAST_WIDTH: Final = 5.0
#: The highest of so many readings is taken for an error, as the frequency may change between two loops.
_OUTLIERS = 20


@dataclass(frozen=True)
class Reading:
    """Instructions a cycle by loop, and a second of the limit's (None where the CPU lacks it)."""

    per_cycle: dict[str, float]
    limit: float | None


class QuietMeter:
    """Reads the loops, each for about `seconds`, and remembers what they do on an undisturbed core."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[str, list[float]] = {name: [] for name in QUIET}

    def read(self) -> Reading:
        """Measure once."""
        before = _core.instruction_rate(CYCLES, self._seconds)
        rates = {name: _core.instruction_rate(name, self._seconds) for name in QUIET}
        after = _core.instruction_rate(CYCLES, self._seconds)
        per_cycle = {}
        if before and after:
            cycles = (before + after) / 2
            per_cycle = {name: rate / cycles for name, rate in rates.items() if rate is not None}
        for name, value in per_cycle.items():
            bisect.insort(self._seen[name], value)
        return Reading(per_cycle, rates[LIMIT])

    def best(self) -> dict[str, float]:
        """The best rates a cycle so far, for the loops that this CPU has; no less than it is known to do."""
        best = {name: seen[-1 - len(seen) // _OUTLIERS] for name, seen in self._seen.items() if seen}
        if LIMIT in best:
            best[ISSUE] = max(best[ISSUE], LEAST_WIDTH)
        return best

    def is_quiet(self, *readings: Reading) -> bool:
        """Whether all of them were undisturbed, by the best so far."""
        best = self.best()
        return all(
            value >= QUIET[name] * best[name]
            for reading in readings
            for name, value in reading.per_cycle.items()
        )
