# SPDX-License-Identifier: Apache-2.0
"""From times to choices among the CPU variants."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import manymod
from manymod.cli.tune.case import Case
from manymod.cli.tune.cpu_measure import Times
from manymod.plan import MAX_MODULUS_BITS

__all__ = ["MAX_BITS", "Choice", "bands", "choices", "cpu_rows", "width_ranges"]

MAX_BITS = MAX_MODULUS_BITS
#: A variant within this factor of the best counts as best: differences below it are noise.
AS_GOOD = 1.05


@dataclass(frozen=True)
class Choice:
    """The variant for `min_items` to `max_items` items (None: and more), with times at `count` items."""

    variant: str
    min_items: int
    max_items: int | None
    count: int
    item_ns: float
    runner_up: str | None
    runner_up_ns: float | None

    @property
    def ratio(self) -> float | None:
        """Time of the runner-up over the choice's."""
        return None if self.runner_up_ns is None else self.runner_up_ns / self.item_ns

    def evidence(self, bits: int) -> str:
        """The measurement in a line."""
        text = f"{bits} bits, {self.count} items: {self.item_ns:,.0f} ns an item"
        if self.ratio is None:
            return text
        return f"{text}; {self.runner_up} {self.runner_up_ns:,.0f} ns ({self.ratio:.2f}x)"


def bands(times: Times, equal: float = 1.0) -> list[tuple[str, list[int]]]:
    """The best variants, each with the numbers of items that it is chosen for, for large batches first.

    The best for the largest number is the choice down to the least for which it is as good as any; then the
    best for the next smaller number, and so on down to the least. Of variants within a factor `equal` of the
    best, the one that stays as good for longest.
    """
    counts = sorted(next(iter(times.values())))
    best = {count: min(by_count[count] for by_count in times.values()) for count in counts}

    def begin_of(name: str, end: int) -> int:
        begin = end
        while begin > 0 and times[name][counts[begin - 1]] <= AS_GOOD * best[counts[begin - 1]]:
            begin -= 1
        return begin

    found: list[tuple[str, list[int]]] = []
    end = len(counts)
    while end > 0:
        largest = counts[end - 1]
        equals = [name for name in times if times[name][largest] <= equal * best[largest]]
        begins = {name: begin_of(name, end) for name in equals}
        name = min(equals, key=lambda name: (begins[name], times[name][largest]))
        found.append((name, counts[begins[name] : end]))
        end = begins[name]
    return found


def _choice(times: Times, name: str, band: Sequence[int], last: bool) -> Choice:
    count = band[-1]
    others = {other: by_count[count] for other, by_count in times.items() if other != name}
    runner_up = min(others, key=others.__getitem__) if others else None
    return Choice(
        variant=name,
        min_items=band[0],
        max_items=None if last else count,
        count=count,
        item_ns=times[name][count],
        runner_up=runner_up,
        runner_up_ns=others[runner_up] if runner_up is not None else None,
    )


def choices(times: Times) -> list[Choice]:
    """The best variants by number of items, for large batches first and down to one item."""
    return [_choice(times, name, band, last=not index) for index, (name, band) in enumerate(bands(times))]


def width_ranges(widths: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The moduli that each measured width speaks for: up to midway to its neighbours."""
    ordered = sorted(set(widths))
    ends = [(low + high) // 2 for low, high in itertools.pairwise(ordered)] + [MAX_BITS]
    begins = [1, *(end + 1 for end in ends[:-1])]
    return {width: (begin, end) for width, begin, end in zip(ordered, begins, ends, strict=True)}


def cpu_rows(results: Mapping[Case, Sequence[Choice]]) -> list[manymod.TuningRow]:
    """The rows that make these choices."""
    rows = []
    for case, chosen in results.items():
        kin = [other.bits for other in results if (other.op, other.secret) == (case.op, case.secret)]
        reach = width_ranges(kin)[case.bits]
        rows += [
            manymod.TuningRow(
                case.op, case.secret, *reach, choice.min_items, choice.variant, choice.evidence(case.bits)
            )
            for choice in chosen
        ]
    return rows
