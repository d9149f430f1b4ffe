# SPDX-License-Identifier: Apache-2.0
"""The data of a report's plots: series of points, each with what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from manymod.lab.units import text

__all__ = ["plots"]


def _measured(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for name, entry in document["rows"].items():
        if entry["state"] == "measured":
            yield name, entry["row"], entry["measurement"]


def _point(name: str, x: float, y: float, what: str, order: float | None = None) -> dict[str, Any]:
    """A point; lines go through the points of a series by `order`, by default by x."""
    return {"x": x, "y": y, "text": f"{what} ({name})", "order": x if order is None else order}


def _add(series: dict[str, list[dict[str, Any]]], name: str, point: dict[str, Any]) -> None:
    series.setdefault(name, []).append(point)


def _plot(title: str, axes: tuple[str, str], series: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "title": title,
        "x": {"label": axes[0], "log": True},
        "y": {"label": axes[1], "log": not axes[1].startswith("%")},
        "series": [
            {"name": name, "points": sorted(points, key=lambda point: point.pop("order"))}
            for name, points in series.items()
        ],
    }


def _series_of_width(name: str, measurement: Mapping[str, Any]) -> str | None:
    """The series that a row is of in plots against width: a variant, or another library."""
    parts = name.split("/")
    if parts[:2] == ["sweep", "width"]:
        return parts[3] if measurement["on"] == "cpu" else f"{parts[3]}, GPU"
    if parts[:2] == ["peer", "powmod"] and parts[2] != "manymod":
        return f"{parts[2]}, 1 thread" if measurement["on"] == "cpu" else f"{parts[2]}, GPU"
    return None


def _series_of_batch(name: str, row: Mapping[str, Any], measurement: Mapping[str, Any]) -> str | None:
    """The series that a row is of in plots against batch."""
    parts = name.split("/")
    if parts[:2] == ["sweep", "batch"]:
        return f"{row['bits']} bits, {'GPU' if measurement['on'] == 'cuda' else 'CPU'}"
    if parts[:2] == ["001", "3"] and len(parts) == 5 and measurement["on"] == "cuda":
        return f"001/3 {parts[2]}"
    return None


def plots(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rates by width and batch, latencies by rates, percent of the limit, the papers' rates."""
    widths: dict[str, list[dict[str, Any]]] = {}
    limits: dict[str, list[dict[str, Any]]] = {}
    batches: dict[str, list[dict[str, Any]]] = {}
    latencies: dict[str, list[dict[str, Any]]] = {}
    ratios: dict[str, list[dict[str, Any]]] = {}
    for name, row, found in _measured(document):
        rate = float(found.get("rate") or 0)
        if rate and (series := _series_of_width(name, found)):
            _add(widths, series, _point(name, row["bits"], rate, f"{text(rate)}/s"))
            if (percent := found.get("percent_of_limit")) is not None:
                _add(limits, series, _point(name, row["bits"], percent, f"{percent:.0f} %"))
        if rate and (series := _series_of_batch(name, row, found)):
            milliseconds = 1e3 * found["batch"] / rate
            label = f"batch {found['batch']:,}: {text(rate)}/s, {text(milliseconds)} ms"
            _add(batches, series, _point(name, found["batch"], rate, label))
            _add(latencies, series, _point(name, rate, milliseconds, label, found["batch"]))
        figure = row.get("figure")
        if rate and figure and figure["value"] and figure["unit"] == "per_second" and row["table"] != "V":
            label = f"paper {text(figure['value'])}/s, here {text(found['value'])}/s"
            _add(ratios, row["paper"], _point(name, figure["value"], found["value"], label))
    found_plots = [
        _plot("Constant-time powers: throughput against width", ("bits", "powers a second"), widths),
        _plot("Percent of the limit of the multiplier", ("bits", "% of the limit"), limits),
        _plot("Powers: throughput against batch", ("items of a batch", "powers a second"), batches),
        _plot("Powers: latency of a batch against throughput", ("powers a second", "ms"), latencies),
        _plot("Rates here against the papers'", ("the paper's, a second", "here, a second"), ratios),
    ]
    found_plots[-1]["dots"] = True
    return [plot for plot in found_plots if plot["series"]]
