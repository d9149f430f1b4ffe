# SPDX-License-Identifier: Apache-2.0
"""Prints the report of `manymod bench --json` as the Markdown table of README.md.

python tools/bench_table.py bench/results/FILE.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = {
    "manymod": "manymod",
    "gmpy2": "gmpy2",
    "gmp": "tuned GMP",
}
RATIOS = {
    "limbs_vs_gmpy2": "limbs / gmpy2",
    "mpz_vs_gmpy2": "mpz in and out / gmpy2",
    "limbs_vs_gmp": "limbs / tuned GMP",
    "threads_vs_one": "2 threads / 1",
}


def number(value: float | None) -> str:
    """Three significant digits or whole items."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def render(report: dict[str, Any]) -> str:
    """The Markdown table: items a second on one core, and the ratios taken pairwise in the same run.

    One modulus per item; the rows with a shared modulus stay in the report.
    """
    rows = [["operation", "bits", *COLUMNS.values(), *RATIOS.values()]]
    rows.append(["---"] * 2 + ["---:"] * (len(COLUMNS) + len(RATIOS)))
    for result in report["results"]:
        if result["modulus"] != "each":
            continue
        rates = [number(result["rates"].get(name)) for name in COLUMNS]
        ratios = [f"{result['ratios'][name]:.2f}x" if name in result["ratios"] else "" for name in RATIOS]
        rows.append([result["op"], str(result["bits"]), *rates, *ratios])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


if __name__ == "__main__":
    print(render(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
