# SPDX-License-Identifier: Apache-2.0
"""Draws operations a second against the width, of every technique and of CGBN.

python bench/cuda/plot.py REPORT.json.. [--peer CGBN.json] --svg docs/images/throughput_h200.svg

Reports are those of device_kernels, one or more of one card. Of each technique and width the fastest row with
a modulus to each instance is drawn, unless its answers were wrong. Needs matplotlib.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any, NamedTuple

from device_report import Peer, Report, Row, load

#: Panels: title, operation, members that its rows have.
PANELS: list[tuple[str, str, Row]] = [
    ("Montgomery multiplications", "mul", {}),
    ("Powers, class public", "power", {"timing_class": "public"}),
    ("Powers, class secret", "power", {"timing_class": "secret"}),
]
#: Narrower numbers say little of techniques for wide ones.
LEAST_BITS = 128
PEER = "CGBN"
NEWEST = "rns"
STYLE = {
    "svg.hashsalt": "manymod",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "axes.grid.which": "both",
    "grid.alpha": 0.3,
}


class Series(NamedTuple):
    """Rates by width."""

    name: str
    points: list[tuple[int, float]]


def series(report: Report, peer: Peer | None, operation: str, wanted: Row) -> list[Series]:
    """Of the techniques in the order of the reports, then of CGBN."""
    found = []
    for technique in dict.fromkeys(row["technique"] for row in report.select(operation, **wanted)):
        chosen = wanted | {"technique": technique}
        widths = [bits for bits in report.widths(operation, **chosen) if bits >= LEAST_BITS]
        rates = [report.rate(operation, bits=bits, **chosen) for bits in widths]
        found.append(
            Series(technique, [(bits, rate) for bits, rate in zip(widths, rates, strict=True) if rate])
        )
    if peer:
        of_peer = {bits: peer.rate(operation, bits, stock=False) for bits in peer.widths(operation)}
        found.append(
            Series(PEER, [(bits, rate) for bits, rate in of_peer.items() if rate and bits >= LEAST_BITS])
        )
    return [one for one in found if one.points]


def draw(report: Report, peer: Peer | None, path: Path) -> None:
    """Write the figure: rates, and below them, where there is CGBN, how many times its rates these are."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    rows = 2 if peer else 1
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            rows, len(PANELS), figsize=(5 * len(PANELS), 4 * rows), layout="constrained", squeeze=False
        )
        for column, (title, operation, wanted) in enumerate(PANELS):
            found = series(report, peer, operation, wanted)
            draw_panel(axes[0][column], f"{title} a second", found)
            axes[0][column].set_yscale("log")
            if peer:
                draw_panel(axes[1][column], f"{title}, times CGBN's", relative(found))
        figure.suptitle(f"{report.document['card']}, {report.document['date'][:10]}, kernels alone")
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def relative(found: list[Series]) -> list[Series]:
    """Rates by those of the last one, at its widths."""
    by = dict(found[-1].points) if found and found[-1].name == PEER else {}
    scaled = [
        Series(one.name, [(bits, rate / by[bits]) for bits, rate in one.points if bits in by])
        for one in found
    ]
    return [one for one in scaled if one.points]


def draw_panel(panel: Any, title: str, found: list[Series]) -> None:
    """One operation, by a logarithmic axis of widths."""
    for one in found:
        bits, values = zip(*one.points, strict=True)
        is_peer = one.name == PEER
        look = {"color": "black", "linestyle": "--"} if is_peer else {}
        width = 2.2 if is_peer or one.name == NEWEST else 1.2
        panel.plot(bits, values, label=one.name, marker="o", markersize=3, linewidth=width, **look)
    widths = sorted({bits for one in found for bits, _ in one.points})
    panel.set(xscale="log", xlabel="bits of the modulus", title=title)
    panel.set_xticks(widths, [str(bits) if bits & (bits - 1) == 0 else "" for bits in widths])
    panel.minorticks_off()
    if found:
        panel.legend()


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+")
    parser.add_argument("--peer", type=Path, help="report of bench/cuda/peers/run.py; else what a report has")
    parser.add_argument("--svg", type=Path, required=True)
    options = parser.parse_args(arguments)
    report = Report(*map(load, options.reports))
    peer = load(options.peer) if options.peer else report.document.get("peer")
    options.svg.parent.mkdir(parents=True, exist_ok=True)
    draw(report, Peer(peer) if peer else None, options.svg)


if __name__ == "__main__":
    main()
