# SPDX-License-Identifier: Apache-2.0
"""The reports of bench/cuda, and how their numbers are printed. Used by tables.py beside this."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Cells = list[str]

#: Operation of CGBN's report that each of ours is set beside.
PEER_OPERATIONS = {"mul": "chain", "sqr": "chain", "power": "power"}
MISSING = "-"
#: The papers' figures, as `manymod lab` has them; the tables here need no package, but the checkout.
PAPERS = Path(__file__).resolve().parents[2] / "python/manymod/lab/papers"


def paper_figures() -> Row:
    """What the papers printed for their GPUs: `cards`, and `papers` by what they are about."""
    papers = [
        json.loads((PAPERS / f"{name}.json").read_text(encoding="utf-8")) for name in ("000", "002", "003")
    ]
    cards = json.loads((PAPERS / "hardware.json").read_text(encoding="utf-8"))
    return {"cards": cards, "papers": {paper["key"]: paper for paper in papers}}


def load(path: Path) -> Row:
    """A report."""
    document: Row = json.loads(path.read_text(encoding="utf-8"))
    return document


def number(value: float | None) -> str:
    """Three significant digits, thousands and millions by their letter."""
    if value is None:
        return MISSING
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= unit:
            return (
                f"{value / unit:.3g}{letter}" if abs(value) < 999.5 * unit else f"{value / unit:.0f}{letter}"
            )
    return f"{value:.3g}"


def ratio(value: float | None, other: float | None) -> str:
    """How many times the other."""
    return f"{value / other:.2f}x" if value and other else MISSING


def markdown(heading: Cells, rows: Iterable[Cells]) -> str:
    """Rows of cells as a Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def shape(row: Row) -> str:
    """Threads per instance by digits per thread."""
    return f"{row['threads_per_instance']}x{row['digits_per_thread']}"


class Report:
    """What device_kernels measured. Rows with a wrong answer count for nothing."""

    def __init__(self, document: Row, *others: Row) -> None:
        """Others: reports of the same card. Their rows count, and CGBN's report where the first has none."""
        documents = (document, *others)
        rows = [row for one in documents for row in one["rows"]]
        peer = next((one["peer"] for one in documents if one.get("peer")), None)
        self.document = document | {"rows": rows, "peer": peer}
        self.rows: list[Row] = [row for row in rows if row.get("wrong", 0) == 0]
        self.multiprocessors: int = document["multiprocessors"]

    def select(self, operation: str, **wanted: Any) -> list[Row]:
        """Rows of an operation with these members; with a modulus to each instance, unless wanted."""
        wanted = {"moduli": "each"} | wanted

        def fits(row: Row) -> bool:
            whole = {"moduli": "each"} | row
            return row["operation"] == operation and all(
                whole.get(name) == value for name, value in wanted.items()
            )

        return [row for row in self.rows if fits(row)]

    def best(self, operation: str, **wanted: Any) -> Row | None:
        """The fastest of them."""
        return max(self.select(operation, **wanted), key=lambda row: float(row["per_second"]), default=None)

    def rate(self, operation: str, **wanted: Any) -> float | None:
        """Its operations a second."""
        found = self.best(operation, **wanted)
        return float(found["per_second"]) if found else None

    def widths(self, operation: str, **wanted: Any) -> list[int]:
        """Widths at which an operation was measured."""
        return sorted({row["bits"] for row in self.select(operation, **wanted)})

    def normalised(self, row: Row | None) -> float | None:
        """Operations a second by multiprocessor and MHz."""
        return row["per_second"] / self.multiprocessors / row["mhz"] if row else None


def scaled(value: float | None, unit: float) -> str:
    """In thousands or millions, three digits or whole."""
    if value is None:
        return MISSING
    return f"{value / unit:,.0f}" if value >= 100 * unit else f"{value / unit:.3g}"


class Peer:
    """What bench/cuda/peers/run.py measured of CGBN. Runs with a wrong answer count for nothing."""

    def __init__(self, document: Row) -> None:
        self.document = document
        self.runs: list[Row] = [run for run in document["runs"] if not run["wrong"]]

    def widths(self, operation: str) -> list[int]:
        """Widths at which one of our operations has a counterpart."""
        return sorted({run["bits"] for run in self.runs if run["operation"] == PEER_OPERATIONS[operation]})

    def rate(self, operation: str, bits: int, stock: bool) -> float | None:
        """Its best at one of our operations: stock, or of all shapes.

        Stock are the shapes that convert to Montgomery form by CGBN's own functions; the others, which have
        more words in a thread than these take, are given R^2 modulo the modulus with their operands.
        """
        name = PEER_OPERATIONS[operation]
        fitting = [run for run in self.runs if run["operation"] == name and run["bits"] == bits]
        fitting = [run for run in fitting if run["converts"] or not stock]
        most = max((run["repetitions"] for run in fitting), default=0)
        return max((float(run["per_second"]) for run in fitting if run["repetitions"] == most), default=None)


class EndToEnd:
    """What end_to_end measured. Rows with a wrong answer count for nothing."""

    def __init__(self, document: Row) -> None:
        self.document = document
        self.rows: list[Row] = [row for row in document["rows"] if row.get("wrong", 0) == 0]

    def select(self, kind: str, **wanted: Any) -> list[Row]:
        """Rows of a kind with these members."""
        return [
            row
            for row in self.rows
            if row["kind"] == kind and all(row[name] == value for name, value in wanted.items())
        ]

    def large(self, operation: str, bits: int, **wanted: Any) -> Row | None:
        """A large batch on the GPU, from and to host arrays written before, unless wanted otherwise."""
        usual: Row = {"arrays": "host", "results": "kept", "device": self.document["device"]}
        found = self.select("large", operation=operation, bits=bits, **usual | wanted)
        return found[0] if found else None

    def power(self, bits: int, timing_class: str, **wanted: Any) -> Row | None:
        """Powers with an exponent to each item."""
        return self.large("powmod", bits, timing_class=timing_class, **{"exponents": "each"} | wanted)


def columns(values: dict[str, float], widths: Iterable[str], scale: float = 1) -> Cells:
    """Cells of a paper's row, by width."""
    return [number(values[width] * scale) if width in values else MISSING for width in widths]
