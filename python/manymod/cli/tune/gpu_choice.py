# SPDX-License-Identifier: Apache-2.0
"""From times to choices between GPU and CPU: variants, and the numbers of items from which they win."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import manymod
from manymod.cli.tune.case import Case, Target
from manymod.cli.tune.choice import MAX_BITS, bands
from manymod.cli.tune.facts import technique, wants_fast_doubles
from manymod.cli.tune.gpu_measure import EVERYWHERE, SOME_GPUS, GpuTimes

__all__ = [
    "GpuChoice",
    "crossover",
    "gap_rows",
    "gpu_choices",
    "gpu_ranges",
    "gpu_rows",
    "middles",
    "time_text",
]

#: Differences between GPU variants that are noise.
EQUAL = 1.03
#: How much faster than the CPU a GPU has to be.
CLEARLY = 1.05
#: Least ratio of the middle of widths to the measured one: most kernels serve more than half of theirs.
LEAST_MIDDLE = 0.75
#: Numbers of items at which a choice of the CPU may change where nothing was measured, and a large one.
FEW = range(1, 17)
MANY = 1 << 20


@dataclass(frozen=True)
class GpuChoice:
    """The variant from `min_items` items on, with times an item at `count` items.

    `companion`: the choice for GPUs that this variant does not suit; `elsewhere`: this is one for GPUs that
    have no variant of `SOME_GPUS`.
    """

    variant: str
    min_items: int
    count: int
    item_ns: float
    cpu_ns: float
    cpu_scaled: bool
    companion: str | None = None
    companion_ns: float = math.inf
    elsewhere: bool = False

    @property
    def gain(self) -> float:
        """Time on the CPU over the choice's."""
        return self.cpu_ns / self.item_ns

    def evidence(self, bits: int, threads: int) -> str:
        """The measurement in a line."""
        own = time_text(self.item_ns * self.count)
        about = "about " if self.cpu_scaled else ""
        cpu = f"CPU, {threads} threads {about}{time_text(self.cpu_ns * self.count)}"
        return f"{bits} bits, {self.count} items: {own}; {cpu} ({self.gain:.1f}x)"

    def companion_evidence(self, bits: int) -> str:
        """The measurement of the companion in a line."""
        rate = self.item_ns / self.companion_ns
        taken = time_text(self.companion_ns * self.count)
        return f"{bits} bits, {self.count} items: {taken}; {rate:.2f} of {self.variant}'s rate"


def time_text(nanoseconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 999.5 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def _rounded_up(items: float) -> int:
    """The next of 1, 2, 3, 4, 6, 8, 12, 16, .. ."""
    steps = (number << power for power in itertools.count() for number in (2, 3))
    return 1 if items <= 1 else next(step for step in steps if step >= items)


def crossover(counts: Sequence[int], gain: Callable[[int], float]) -> int | None:
    """Number of items from which on `gain`, a ratio of times, is above 1; None if it is not at the largest.

    Between two numbers measured the ratio is taken to be a power of the number of items.
    """
    first = len(counts)
    while first > 0 and gain(counts[first - 1]) >= CLEARLY:
        first -= 1
    if first == len(counts):
        return None
    if first == 0:
        return counts[0]
    low, high = counts[first - 1], counts[first]
    below, above = math.log(gain(low)), math.log(gain(high))
    if below >= 0 or not math.isfinite(above):
        return high
    return min(high, _rounded_up(low * (high / low) ** (below / (below - above))))


def _band_start(found: GpuTimes, name: str, band: Sequence[int], counts: Sequence[int]) -> int:
    """Number of items from which on `name` is better than the choice for fewer."""
    start = counts.index(band[0])
    if start == 0:
        return band[0]
    before = min(found.gpu, key=lambda variant: found.times[variant][counts[start - 1]])
    times, other = found.times[name], found.times[before]
    between = counts[start - 1 : start + 1]
    return crossover(between, lambda count: other[count] / times[count]) or band[0]


def _companion(found: GpuTimes, counts: Sequence[int]) -> str | None:
    """The variant for GPUs with slow FP64 that loses least to the best of its kind at any of `counts`.

    None if no such variant was measured at any of them.
    """
    kind = {name: times for name, times in found.gpu.items() if technique(name) in EVERYWHERE}
    best = {count: min((times[count] for times in kind.values()), default=math.inf) for count in counts}
    measured = [count for count in counts if best[count] < math.inf]
    if not measured:
        return None
    return min(kind, key=lambda name: max(kind[name][count] / best[count] for count in measured))


def _choice(found: GpuTimes, name: str, min_items: int, band: Sequence[int]) -> GpuChoice:
    count = band[-1]
    companion, companion_ns = None, math.inf
    if wants_fast_doubles(name):
        companion = _companion(found, [items for items in band if items >= min_items] or [count])
        if companion is not None:
            companion_ns = found.times[companion][count]
    own = found.times[name][count]
    return GpuChoice(
        name, min_items, count, own, found.cpu[count], count in found.scaled, companion, companion_ns
    )


def _choices(found: GpuTimes, middle: float) -> list[GpuChoice]:
    counts = sorted(found.cpu)
    least = crossover(counts, lambda count: found.gain(count) * middle**2)
    chosen: list[GpuChoice] = []
    if least is None:
        return chosen
    for name, band in bands(found.gpu, EQUAL):
        if band[-1] < least:
            break
        start = _band_start(found, name, band, counts)
        chosen.append(_choice(found, name, max(start, least), band))
    return chosen


def _elsewhere(
    choice: GpuChoice, others: Sequence[GpuChoice], most: float, following: GpuChoice | None
) -> list[GpuChoice]:
    """Those of `others` that GPUs without the choice's variant need for its items, which end below `most`.

    The choice `following` serves those, too, where it is the one that they need.
    """
    needed = [other for other in others if choice.min_items <= other.min_items < most]
    fewer = next((other for other in others if other.min_items < choice.min_items), None)
    begun = needed and needed[-1].min_items == choice.min_items
    if fewer is not None and not begun and (following is None or following.variant != fewer.variant):
        needed.append(replace(fewer, min_items=choice.min_items))
    return [replace(other, elsewhere=True) for other in needed]


def gpu_choices(found: GpuTimes, middle: float = 1.0) -> list[GpuChoice]:
    """The GPU variants that beat the CPU, for large batches first; none where the CPU wins those.

    A choice that not all GPUs have is followed by those for the others. These have as many items or more, so
    that GPUs which have it never come to them.

    `middle`: of the widths that are chosen for, over the measured one. There the CPU has to be beaten. A
    product of narrower numbers takes it less time by the square of that, a GPU's kernel the same time.
    """
    chosen = _choices(found, middle)
    others = _choices(found.without(SOME_GPUS), middle)
    complete: list[GpuChoice] = []
    most = math.inf
    for choice, following in itertools.zip_longest(chosen, chosen[1:]):
        complete.append(choice)
        if technique(choice.variant) in SOME_GPUS:
            complete += _elsewhere(choice, others, most, following)
        most = choice.min_items
    return complete


def gpu_ranges(widths: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The moduli that each measured width speaks for: those wider than the next measured one below.

    They are computed by the same kernels, which are made for as many words as common widths have.
    """
    ordered = sorted(set(widths))
    begins = [1, *(width + 1 for width in ordered[:-1])]
    ends = [*ordered[:-1], MAX_BITS]
    return {width: (begin, end) for width, begin, end in zip(ordered, begins, ends, strict=True)}


def _ranges(cases: Sequence[Case]) -> dict[Case, tuple[int, int]]:
    """The moduli that each case speaks for."""
    ranges = {}
    for case in cases:
        kin = [other.bits for other in cases if (other.op, other.secret) == (case.op, case.secret)]
        ranges[case] = gpu_ranges(kin)[case.bits]
    return ranges


def middles(cases: Sequence[Case]) -> dict[Case, float]:
    """The middle of the widths that each case speaks for, over its own."""
    return {
        case: max(LEAST_MIDDLE, (begin + case.bits) / 2 / case.bits)
        for case, (begin, _end) in _ranges(cases).items()
    }


def gpu_rows(results: Mapping[Case, Sequence[GpuChoice]], threads: int) -> list[manymod.TuningRow]:
    """The rows that make these choices.

    The companion of a choice has just as many items: GPUs that the choice suits never come to it.
    """
    ranges = _ranges(list(results))
    rows = []
    for case, chosen in results.items():
        for choice in chosen:
            where = (case.op, case.secret, *ranges[case], choice.min_items)
            rows.append(manymod.TuningRow(*where, choice.variant, choice.evidence(case.bits, threads)))
            if choice.companion is not None:
                rows.append(manymod.TuningRow(*where, choice.companion, choice.companion_evidence(case.bits)))
    return rows


def _gaps(begin: int, end: int, rows: Sequence[manymod.TuningRow]) -> list[tuple[int, int]]:
    """Widths from `begin` to `end` that none of the rows speaks for."""
    gaps = []
    for row in sorted(rows, key=lambda row: row.min_bits):
        if row.min_bits > begin:
            gaps.append((begin, min(end, row.min_bits - 1)))
        begin = max(begin, row.max_bits + 1)
        if begin > end:
            break
    if begin <= end:
        gaps.append((begin, end))
    return [gap for gap in gaps if gap[0] <= gap[1]]


def _cpu_choices(case: Case) -> list[tuple[int, str]]:
    """Least numbers of items and variants of the library's choices on the CPU, for large batches first."""
    target = Target("cpu", None, 0)
    found = [(min(FEW), target.choice(case, MANY))]
    for count in reversed(FEW):
        name = target.choice(case, count)
        if name == found[-1][1]:
            found[-1] = (count, name)
        else:
            found[-1] = (count + 1, found[-1][1])
            found.append((count, name))
    return found


def gap_rows(cases: Sequence[Case], kept: Sequence[manymod.TuningRow]) -> list[manymod.TuningRow]:
    """Rows of the CPU for widths that the table in use has none for that can run here.

    The library would take a silent file for no measurement at all, and choose the GPU for large batches.
    """
    cpu = {variant.name for variant in manymod.variants() if variant.usable and variant.backend == "cpu"}
    rows = []
    for case, (begin, end) in _ranges(cases).items():
        own = [row for row in kept if (row.op, row.secret) == (case.op, case.secret) and row.variant in cpu]
        for least, most in _gaps(begin, end, own):
            for items, name in _cpu_choices(Case(case.op, case.secret, most)):
                where = (case.op, case.secret, least, most, items)
                rows.append(manymod.TuningRow(*where, name, "the CPU's choice, not measured"))
    return rows
