# SPDX-License-Identifier: Apache-2.0
"""Plots of measured rates beside what the hardware allows, from reports in bench/results."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figures.svg import Picture

__all__ = ["ROOFLINES"]

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


def report(name: str) -> Any:
    """A report in bench/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


class Axis:
    """A logarithmic or linear scale from values to pixels."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = True) -> None:
        self.scale = math.log10 if log else float
        self.low, self.high, self.start, self.end = self.scale(low), self.scale(high), start, end

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (self.scale(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def frame(
    picture: Picture,
    across: Axis,
    up: Axis,
    marks: Sequence[tuple[str, float]],
    heights: Sequence[tuple[str, float]],
) -> None:
    """Axes with their marks."""
    for words, value in heights:
        picture.line([(across.start, up(value)), (across.end, up(value))], "grid")
        picture.words(across.start - 8, up(value) + 4, words, "end", "dim small")
    for words, value in marks:
        picture.words(across(value), up.start + 18, words, "middle", "dim small")
    picture.line([(across.start, up.end), (across.start, up.start), (across.end, up.start)])


def elementwise() -> Picture:
    """Products on arrays in GPU memory below the roofs of memory and multiplier."""
    found = report("elementwise_h100")
    rows = [
        row
        for row in found["rows"]
        if (row["operation"], row["modulus"], row["arrays"]) == ("mulmod", "shared", "resident")
    ]

    def products(bits: int) -> int:
        words = -(-bits // 32)
        return 2 * words * words + words

    # The report gives the share of the multiplier's rate: the rate itself is the same for all rows.
    peak = max(
        row["items_per_second"] * products(row["bits"]) / row["multiplier_percent"] * 100 for row in rows
    )
    bandwidth = float(found["copy_bytes_per_second"])
    picture = Picture(640, 420, "Roofline of mulmod on an H100: bounded by memory, then by the multiplier")
    across, up = Axis(0.6, 60, 90, 610), Axis(1e12, 2e13, 350, 50)
    tera = [(f"{value} T/s", value * 1e12) for value in (1, 2, 5, 10, 20)]
    frame(picture, across, up, [(str(value), value) for value in (1, 2, 5, 10, 20, 50)], tera)
    knee = peak / bandwidth
    picture.line(
        [(across(0.6), up(0.6 * bandwidth)), (across(knee), up(peak)), (across.end, up(peak))],
        "orange-line",
    )
    picture.words(across(1) - 8, up(bandwidth) - 8, "memory", "end", "small")
    picture.words(across.end - 6, up(peak) - 8, "multiplier", "end", "small")
    for row in rows:
        bits = row["bits"]
        x, y = products(bits) / (3 * bits / 8), row["items_per_second"] * products(bits)
        picture.dot(across(x), up(y), "blue")
        picture.words(across(x) + 7, up(y) + 16, str(bits), style="small")
    picture.words(350, 392, "wide products of words for each byte read or written", "middle", "small")
    picture.words(
        24,
        30,
        f"mulmod, one modulus, {found['card']}: products of words a second, by bits",
        style="small bold",
    )
    return picture


def share_of_limit() -> Picture:
    """Multiplications of each technique on a GPU, in percent of what its units allow."""
    best: dict[str, dict[int, float]] = {}
    for name in ("device_kernels_h200", "rns_h200"):
        for row in report(name)["rows"]:
            if (row["operation"], row["moduli"]) == ("mul", "each") and row.get("percent_of_limit"):
                of = best.setdefault(row["technique"], {})
                of[row["bits"]] = max(of.get(row["bits"], 0.0), float(row["percent_of_limit"]))
    picture = Picture(640, 400, "Multiplications on an H200 in percent of the limit of each technique")
    across, up = Axis(64, 8192, 70, 540), Axis(1, 100, 330, 50, log=False)
    widths = [(str(bits), float(bits)) for bits in (64, 128, 256, 512, 1024, 2048, 4096, 8192)]
    frame(picture, across, up, widths, [(f"{value} %", value) for value in (25, 50, 75, 100)])
    for technique, kind in (("row32", "blue"), ("dpf52", "orange"), ("rns", "green")):
        points = [(across(bits), up(value)) for bits, value in sorted(best[technique].items())]
        picture.line(points, f"{kind}-line")
        for x, y in points:
            picture.dot(x, y, kind)
        picture.words(points[-1][0] + 12, points[-1][1] + 5, technique, style="small bold")
    picture.words(305, 376, "bits of the modulus", "middle", "small")
    picture.words(
        24,
        30,
        "Multiplications, NVIDIA H200, percent of the units that limit each technique",
        style="small bold",
    )
    return picture


ROOFLINES = {"roofline_elementwise": elementwise, "share_of_limit": share_of_limit}
