# SPDX-License-Identifier: Apache-2.0
"""Joins what `tools/gpu_run.py rns` measured to one report.

python bench/cuda/rns_report.py FOLDER --bits 512,.. --json REPORT.json

In the folder are reports of device_kernels, kernels_BITS.json, and perhaps one of bench/cuda/peers/run.py,
peer.json, and one of tools/check_powers.py, check.json. The joined one is a report of device_kernels with the
others as its members `peer` and `check`, which are null where there are none; a width without a report is a
row that says so.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from device_report import Row, load


def report_or_none(path: Path) -> Row | None:
    """A report, if it is there and whole."""
    try:
        return load(path)
    except (OSError, ValueError):
        return None


def join(folder: Path, widths: list[int]) -> Row | None:
    """What the folder has; nothing without any kernels."""
    found = {bits: report_or_none(folder / f"kernels_{bits}.json") for bits in widths}
    documents = [document for document in found.values() if document]
    if not documents:
        return None
    rows = [row for document in documents for row in document["rows"]]
    missing = [
        {"operation": "failed", "what": f"{bits} bits", "message": "device_kernels left no report"}
        for bits, document in found.items()
        if not document
    ]
    frequencies = [row["mhz"] for row in rows if "mhz" in row]
    return documents[0] | {
        "mhz": statistics.median(frequencies) if frequencies else 0.0,
        "wrong": sum(document["wrong"] for document in documents),
        "failed": sum(document["failed"] for document in documents) + len(missing),
        "peer": report_or_none(folder / "peer.json"),
        "check": report_or_none(folder / "check.json"),
        "rows": rows + missing,
    }


def text(report: Row) -> str:
    """As JSON, a row of the kernels to a line."""
    members = [f'"{name}": {json.dumps(value)}' for name, value in report.items() if name != "rows"]
    rows = ",\n  ".join(map(json.dumps, report["rows"]))
    return "{" + ",\n ".join([*members, f'"rows": [\n  {rows}\n ]']) + "}\n"


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bits", required=True)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args(arguments)
    report = join(options.folder, [int(bits) for bits in options.bits.split(",")])
    if report is None:
        parser.exit(1, f"{options.folder}: no report of device_kernels\n")
    options.json.write_text(text(report), encoding="utf-8")


if __name__ == "__main__":
    main()
