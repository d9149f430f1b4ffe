#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a report of the program paper003 as Markdown, beside tables 3 to 5 of the paper.

The model of a scalar multiplication of N bits counts multiplications at the rate at which the same form
multiplies: 9 for each of N doublings, and 16 for each of N / 2 additions (256 bits: 4,352). The threads of a
warp execute an addition in every step in which one of them adds; with a scalar for each thread that is in
almost every step (256 bits: 6,400).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from device_report import Cells, Row, columns, load, markdown, number, paper_figures, ratio

WIDTHS = ["160", "192", "224", "256", "384"]
FORMS = [
    "radix16_local",
    "radix16_shared",
    "radix16_registers",
    "radix32_local",
    "radix32_shared",
    "radix32_registers",
    "row32",
    "dpf52",
]
ADDITION, DOUBLING = 16, 9  #: multiplications, with a = -3
MULTIPLE = {"operation": "right_to_left", "scalars": "each"}


class Points:
    """What paper003 measured. Rows with a wrong answer count for nothing."""

    def __init__(self, document: Row) -> None:
        self.document = document
        self.rows: list[Row] = [row for row in document["rows"] if row["wrong"] == 0]

    def find(self, bits: str, **wanted: Any) -> Row | None:
        """The row with these members; on the curve with a = -3 in a full launch, unless wanted otherwise."""
        wanted = {"launch": "full", "a_is_minus_three": True, "bits": int(bits)} | wanted
        found = [row for row in self.rows if all(row.get(name) == value for name, value in wanted.items())]
        return found[0] if found else None

    def rate(self, bits: str, **wanted: Any) -> float | None:
        """Operations a second."""
        found = self.find(bits, **wanted)
        return float(found["per_second"]) if found else None

    def microseconds(self, bits: str, **wanted: Any) -> float | None:
        """The time of an operation of all threads together."""
        found = self.find(bits, **wanted)
        return found["nanoseconds"] / 1e3 if found else None


def multiplications(bits: int, *, every_step: bool) -> float:
    """Of a right-to-left double-and-add.

    >>> multiplications(256, every_step=False), multiplications(256, every_step=True)
    (4352.0, 6400.0)
    """
    return bits * DOUBLING + (bits if every_step else bits / 2) * ADDITION


def present(values: dict[str, float | None]) -> dict[str, float]:
    """Without widths that have no value."""
    return {width: value for width, value in values.items() if value is not None}


def point_table(points: Points, paper: Row) -> Iterator[str]:
    """Table 3."""
    table = paper["tables"]["3"]
    yield f"#### Table 3: {table['title']}, microseconds"
    rows = [
        [paper["card"], row["operation"], row["memory"], *columns(present(row["microseconds"]), WIDTHS)]
        for row in table["rows"]
    ]
    for launch, title in (("paper", "64 blocks of 16 threads"), ("full", "full card")):
        for operation in ("add", "twice"):
            for form in FORMS:
                cells = [
                    number(points.microseconds(bits, operation=operation, form=form, launch=launch))
                    for bits in WIDTHS
                ]
                rows.append([points.document["card"], f"{operation}, {title}", form, *cells])
    yield markdown(["card", "operation", "memory", *WIDTHS], rows)


def best_table(points: Points, paper: Row) -> Iterator[str]:
    """Table 4, with the fastest form here."""
    table = paper["tables"]["4"]
    yield f"#### Table 4: {table['title']}, microseconds"
    rows: list[Cells] = []
    for row in table["rows"]:
        operation = row["operation"]
        rows.append([f"{operation}, {paper['card']}", *columns(row["microseconds"], WIDTHS)])
        rows.append([f"{operation}, mpFq and PACE", *columns(row["mpfq_microseconds"], WIDTHS)])
        best = {bits: fastest(points, bits, operation=operation) for bits in WIDTHS}
        rows.append([f"{operation}, fastest fios here", *(number(best[bits]) for bits in WIDTHS)])
        speedups = [ratio(row["microseconds"][bits], best[bits]) for bits in WIDTHS]
        rows.append([f"{operation}, paper's time by it", *speedups])
    yield markdown(["", *WIDTHS], rows)


def fastest(points: Points, bits: str, **wanted: Any) -> float | None:
    """Microseconds of the fastest form of fios."""
    forms = [form for form in FORMS if form.startswith("radix")]
    times = [points.microseconds(bits, form=form, **wanted) for form in forms]
    return min((time for time in times if time is not None), default=None)


def multiple_tables(points: Points, paper: Row) -> Iterator[str]:
    """Table 5 and section 3.3."""
    table = paper["tables"]["5"]
    row = table["rows"][0]
    yield f"#### Table 5: {table['title']}, multiplications by a scalar a second"
    rows = [
        [paper["card"], "shared", *columns(row["per_second"], WIDTHS)],
        ["Core 2 Duo E8400", "mpFq and PACE", *columns(row["mpfq_per_second"], WIDTHS)],
    ]
    card = points.document["card"]
    for launch, title in (("paper", "64 blocks of 16 threads"), ("full", "full card")):
        for form in FORMS:
            cells = [number(points.rate(bits, form=form, launch=launch, **MULTIPLE)) for bits in WIDTHS]
            rows.append([card, f"{form}, {title}", *cells])
    for form in FORMS:
        cells = [number(points.rate(bits, form=form, a_is_minus_three=False, **MULTIPLE)) for bits in WIDTHS]
        rows.append([card, f"{form}, full card, any a", *cells])
    yield markdown(["card", "memory", *WIDTHS], rows)
    yield from model_table(points)
    yield from naf_table(points)


def model_table(points: Points) -> Iterator[str]:
    """What the rate of multiplications allows, and what of it is reached."""
    yield "#### Model: multiplications at the measured rate, full card"
    rows: list[Cells] = []
    for bits in WIDTHS:
        for form in FORMS:
            rate = points.rate(bits, form=form, operation="multiply")
            if rate is None:
                continue
            each = points.rate(bits, form=form, **MULTIPLE)
            shared = points.rate(bits, form=form, operation="right_to_left", scalars="shared")
            alone = rate / multiplications(int(bits), every_step=False)
            lockstep = rate / multiplications(int(bits), every_step=True)
            cells = [number(value) for value in (rate, alone, shared)]
            cells += [ratio(shared, alone), number(lockstep), number(each), ratio(each, lockstep)]
            rows.append([bits, form, *cells])
    heading = ["bits", "form", "multiplications a second", "model, one scalar for all", "measured", "of it"]
    yield markdown([*heading, "model, a scalar for each", "measured", "of it"], rows)


def naf_table(points: Points) -> Iterator[str]:
    """w-NAF with both storages of digits, by the rate of right-to-left."""
    yield "#### Section 3.3: w-NAF, full card, multiplications by a scalar a second (by right-to-left's)"
    rows: list[Cells] = []
    for operation in ("naf2", "naf3"):
        for scalars, digits in (("each", "basic"), ("each", "packed"), ("shared", "packed")):
            for form in FORMS:
                wanted = {"form": form, "scalars": scalars}
                cells: Cells = []
                for bits in WIDTHS:
                    rate = points.rate(bits, operation=operation, digits=digits, **wanted)
                    base = points.rate(bits, operation="right_to_left", **wanted)
                    cells.append(f"{number(rate)} ({ratio(rate, base)})")
                rows.append([f"{operation}, {digits}, scalars: {scalars}", form, *cells])
    yield markdown(["recoding", "form", *WIDTHS], rows)


def render(document: Row) -> str:
    """The text."""
    points = Points(document)
    paper = paper_figures()["papers"]["fios"]
    wrong = [
        f"**WRONG**: {row['form']} {row['operation']} {row['curve']}: {row['wrong']} of {row['checked']}"
        for row in document["rows"]
        if row["wrong"]
    ]
    tables = [*point_table(points, paper), *best_table(points, paper), *multiple_tables(points, paper)]
    origin = (
        f"{document['card']}, driver {document['driver']}, CUDA {document['cuda']}, {document['date']}, "
        f"commit {document['commit'] or 'unknown'}"
    )
    return "\n\n".join([f"### {paper['citation']}", *wrong, *tables, origin]) + "\n"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    print(render(load(parser.parse_args().report)), end="")


if __name__ == "__main__":
    main()
