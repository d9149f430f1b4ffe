# SPDX-License-Identifier: Apache-2.0
"""Prints a report as a Markdown table.

Reports are those of `manymod bench`, of its commands cpu, ecc and elementwise, and of gpu_curves.py.

python tools/bench_table.py bench/results/FILE.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
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
    """A rate without decimals from 100 on, with one below; nothing where there is no rate."""
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
    return markdown(rows)


def markdown(rows: list[list[str]]) -> str:
    """Rows of cells as lines of a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def render_cpu(report: dict[str, Any]) -> str:
    """The Markdown table of `manymod bench cpu`: of every case the fastest variant, one modulus per item."""
    headings = [
        "operation",
        "bits",
        "batch",
        "threads",
        "variant",
        "items a second",
        "of limit",
        "threads / 1",
    ]
    rows = [headings, ["---"] * 5 + ["---:"] * 3]
    fastest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for result in report["results"]:
        case = tuple(result[name] for name in ("op", "bits", "batch", "threads"))
        if result["modulus"] != "each" or result["variant"] == "auto":
            continue
        if case not in fastest or fastest[case]["median"] < result["median"]:
            fastest[case] = result
    for case, result in fastest.items():
        percent, ratio = result["percent_of_limit"], result.get("threads_vs_one")
        measured = [
            number(result["median"]),
            "" if percent is None else f"{percent:.0f} %" + (" *" if result.get("disturbed") else ""),
            "" if ratio is None else f"{ratio:.2f}x",
        ]
        rows.append([*map(str, case), result["variant"], *measured])
    return markdown(rows)


ECC_COLUMNS = {
    "public": "k G",
    "sign": "sign",
    "verify": "verify",
    "exchange": "exchange",
    "recover": "recover",
    "sum": "sum, a term",
}
PEERS = {
    "one_vs_openssl": "OpenSSL",
    "one_vs_libsecp256k1": "libsecp256k1",
    "one_vs_crypto_mb": "crypto_mb",
    "bare_vs_crypto_mb": "crypto_mb, without the check",
}


def render_ecc(report: dict[str, Any]) -> str:
    """The Markdown table of `manymod bench ecc`: thousands of items a second on one thread.

    In brackets percent of the limit; below, in a row for each other library, how many times as fast as it.
    """
    curves: dict[str, dict[str, dict[str, Any]]] = {}
    for result in report["results"]:
        curves.setdefault(result["curve"], {})[result["op"]] = result
    rows = [["curve", *ECC_COLUMNS.values()], ["---"] + ["---:"] * len(ECC_COLUMNS)]
    for curve, results in curves.items():
        rows.append([curve, *(_ecc_cell(results.get(op)) for op in ECC_COLUMNS)])
        for peer, name in PEERS.items():
            ratios = {op: result["ratios"].get(peer) for op, result in results.items()}
            if any(ratios.values()):
                cells = [_ratio(ratios.get(op)) for op in ECC_COLUMNS]
                rows.append([f"/ {name}", *cells])
    return markdown(rows)


def _ratio(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def _ecc_cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return ""
    percent = f" ({result['percent_of_limit']:.0f} %)" if "percent_of_limit" in result else ""
    return f"{number(result['rates']['manymod'] / 1000)}{percent}"


ELEMENTWISE_COLUMNS = {
    ("host", "shared"): "one modulus",
    ("host", "each"): "a modulus each",
    ("lists of mpz", "shared"): "lists / gmpy2, one modulus",
    ("lists of mpz", "each"): "lists / gmpy2, a modulus each",
}


def render_elementwise(report: dict[str, Any]) -> str:
    """The Markdown table of `manymod bench elementwise --lists` in variable time on a CPU.

    Millions of items a second on limb arrays, and how many times as fast as a loop of gmpy2 lists of mpz are.
    """
    cases: dict[tuple[str, int], dict[tuple[str, str], str]] = {}
    for result in report["results"]:
        cell = f"{result['vs_gmpy2']:.2f}x" if "vs_gmpy2" in result else _millions(result["items_per_second"])
        cases.setdefault((result["op"], result["bits"]), {})[result["arrays"], result["modulus"]] = cell
    rows = [["operation", "bits", *ELEMENTWISE_COLUMNS.values()]]
    rows.append(["---"] + ["---:"] * (1 + len(ELEMENTWISE_COLUMNS)))
    for (op, bits), cells in sorted(cases.items(), key=lambda case: case[0][1]):
        rows.append([f"`{op}`", str(bits), *(cells.get(column, "") for column in ELEMENTWISE_COLUMNS)])
    return markdown(rows)


def _millions(value: float) -> str:
    return f"{value / 1e6:.1f}" if value >= 1e7 else f"{value / 1e6:.2f}"


#: Of a row of gpu_curves.py, what names the operation and the batch.
_GPU_CASE = ("curve", "same_as", "items", "scope")


def render_gpu_curves(report: dict[str, Any]) -> str:
    """The Markdown table of `bench/peers/gpu_curves.py`: millions of items a second.

    A row for each operation of a peer, of the largest batch that manymod was measured with, too; and how many
    times as fast manymod is.
    """
    own = {
        tuple(row[name] for name in _GPU_CASE): row for row in report["rows"] if row["library"] == "manymod"
    }
    largest = max(items for _, _, items, _ in own)
    headings = ["curve", "peer", "its operation", "its answers", "constant-time"]
    columns = ["peer: kernels", "manymod", "ratio", "peer: calls", "manymod", "ratio"]
    cases: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for row in report["rows"]:
        if row["library"] != "manymod" and row["items"] == largest:
            cases.setdefault((row["curve"], row["library"], row["operation"]), {})[row["scope"]] = row
    rows = [headings + columns, ["---"] * len(headings) + ["---:"] * len(columns)]
    for case, scopes in cases.items():
        first = next(iter(scopes.values()))
        right = "right" if first["right"] else f"{first['wrong']} of {first['checked']} wrong"
        cells = [*case, right, "yes" if first["constant_time"] else "no"]
        for scope in ("kernels", "calls"):
            row = scopes.get(scope)
            mine = own.get(tuple({**first, "scope": scope}[name] for name in _GPU_CASE))
            cells += [_millions(found["per_second"]) if found else "" for found in (row, mine)]
            # The rate of wrong answers compares with nothing.
            if row and mine and first["right"]:
                cells.append(_ratio(mine["per_second"] / row["per_second"]))
            else:
                cells.append("")
        rows.append(cells)
    return markdown(rows)


RENDERERS = {
    "cpu": render_cpu,
    "ecc": render_ecc,
    "elementwise": render_elementwise,
    "gpu_curves": render_gpu_curves,
}
#: What every result of `manymod bench` has, whose reports do not name their kind.
_POWERS = {"op", "bits", "modulus", "rates", "ratios"}


def renderer_of(report: Any) -> Callable[[dict[str, Any]], str] | None:
    """The function that prints a report; None for one of another kind."""
    if not isinstance(report, dict):
        return None
    if "bench" in report:
        return RENDERERS.get(report["bench"])
    results = report.get("results")
    known = isinstance(results, list) and all(result.keys() >= _POWERS for result in results)
    return render if known else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report that the command line names.

    Raises:
        SystemExit: if it is of another kind.
    """
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("report", type=Path, help="JSON, such as bench/results/FILE.json")
    path = parser.parse_args(arguments).report
    report = json.loads(path.read_text(encoding="utf-8"))
    renderer = renderer_of(report)
    if renderer is None:
        raise SystemExit(
            f"{path}: no report of manymod bench (alone, cpu, ecc, elementwise) or gpu_curves.py"
        )
    print(renderer(report))


if __name__ == "__main__":
    main()
