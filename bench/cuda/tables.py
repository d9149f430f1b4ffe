# SPDX-License-Identifier: Apache-2.0
"""Prints the report of device_kernels as Markdown tables, beside CGBN's report and the papers' figures.

python bench/cuda/tables.py REPORT.json [--peer CGBN.json] [--ncu PROFILE.csv] [--part best|papers|summary]
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Cells = list[str]

FIGURES = Path(__file__).with_name("paper_figures.json")
#: Operation of CGBN's report that each of ours is set beside.
PEER_OPERATIONS = {"mul": "chain", "sqr": "chain", "power": "power"}
INSTRUCTIONS = "sm__inst_executed.avg.per_cycle_active"
MISSING = "-"


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

    def __init__(self, document: Row) -> None:
        self.document = document
        self.rows: list[Row] = [row for row in document["rows"] if row.get("wrong", 0) == 0]
        self.multiprocessors: int = document["multiprocessors"]

    def select(self, operation: str, **wanted: Any) -> list[Row]:
        """Rows of an operation with these members."""

        def fits(row: Row) -> bool:
            return row["operation"] == operation and all(
                row.get(name) == value for name, value in wanted.items()
            )

        return [row for row in self.rows if fits(row)]

    def best(self, operation: str, **wanted: Any) -> Row | None:
        """The fastest of them."""
        return max(self.select(operation, **wanted), key=lambda row: float(row["per_second"]), default=None)

    def rate(self, operation: str, **wanted: Any) -> float | None:
        """Its operations a second."""
        found = self.best(operation, **wanted)
        return float(found["per_second"]) if found else None

    def widths(self, operation: str) -> list[int]:
        """Widths at which an operation was measured."""
        return sorted({row["bits"] for row in self.select(operation)})

    def normalised(self, row: Row | None) -> float | None:
        """Operations a second by multiprocessor and MHz."""
        return row["per_second"] / self.multiprocessors / row["mhz"] if row else None


def peer_rate(peer: Row | None, operation: str, bits: int) -> float | None:
    """CGBN's best, if its report has that width."""
    for run in (peer or {}).get("best", []):
        if run["operation"] == PEER_OPERATIONS[operation] and run["bits"] == bits:
            return float(run["per_second"])
    return None


def columns(values: dict[str, float], widths: Iterable[str], scale: float = 1) -> Cells:
    """Cells of a paper's row, by width."""
    return [number(values[width] * scale) if width in values else MISSING for width in widths]


# ---- the best shapes --------------------------------------------------------------------------------


def best_row(report: Report, peer: Row | None, operation: str, row: Row) -> Cells:
    """One row of the table of the best shapes."""
    other = peer_rate(peer, operation, row["bits"])
    window = f", window {row['window_bits']}" if operation == "power" else ""
    return [
        str(row["bits"]),
        row["form"],
        shape(row),
        f"{row['blocks']} of {row['occupancy']} blocks{window}",
        number(row["per_second"]),
        number(row["clocks"]),
        f"{row['percent_of_limit']:.0f} % of {row['pipe']}",
        number(report.normalised(row)),
        number(other),
        ratio(row["per_second"], other),
    ]


def best_tables(report: Report, peer: Row | None) -> Iterator[str]:
    """The fastest shape of each width and operation."""
    heading = ["bits", "technique", "shape", "launch", "a second", "clocks of an SM", "limit"]
    heading += ["a second by SM and MHz", "CGBN", "ratio"]
    kinds: list[tuple[str, str, Row]] = [
        ("Montgomery multiplication", "mul", {}),
        ("Montgomery squaring", "sqr", {}),
        ("Power, public (indexed table)", "power", {"timing_class": "public"}),
        ("Power, secret (scanned table)", "power", {"timing_class": "secret"}),
    ]
    for title, operation, wanted in kinds:
        best = [report.best(operation, bits=bits, **wanted) for bits in report.widths(operation)]
        yield f"### {title}"
        yield markdown(heading, [best_row(report, peer, operation, row) for row in best if row])
    yield from technique_table(report)
    yield from scan_table(report)
    yield from latency_tables(report)


def technique_table(report: Report) -> Iterator[str]:
    """The fastest secret power of each technique, in clocks of a multiprocessor."""
    forms = list(dict.fromkeys(row["form"] for row in report.select("power")))
    yield "### Secret powers a second by technique, best shape and window"
    rows = []
    for bits in report.widths("power"):
        found = [report.best("power", bits=bits, form=form, timing_class="secret") for form in forms]
        rows.append(
            [str(bits), *(f"{number(row['per_second'])} ({shape(row)})" if row else MISSING for row in found)]
        )
    yield markdown(["bits", *forms], rows)


def scan_table(report: Report) -> Iterator[str]:
    """What reading a whole table costs: secret by public powers of the same shape and window.

    Of each technique and width the shape that is fastest in class secret.
    """
    rows = []
    windows = sorted({row["window_bits"] for row in report.select("power")})
    for bits in report.widths("power"):
        for form in dict.fromkeys(row["form"] for row in report.select("power", bits=bits)):
            best = report.best("power", bits=bits, form=form, timing_class="secret")
            if best:
                ratios = [scan_ratio(report, bits, best["kernel"], window) for window in windows]
                rows.append([str(bits), form, shape(best), *ratios])
    yield "### Time of secret powers by that of public ones"
    yield markdown(["bits", "technique", "shape", *(f"window {window}" for window in windows)], rows)


def scan_ratio(report: Report, bits: int, kernel: str, window: int) -> str:
    """Secret by public, of one kernel and window."""
    times = [
        row["milliseconds"] / row["instances"]
        for timing_class in ("secret", "public")
        for row in report.select(
            "power", bits=bits, kernel=kernel, window_bits=window, timing_class=timing_class
        )
    ]
    return ratio(*times) if len(times) == 2 else MISSING


def latency_tables(report: Report) -> Iterator[str]:
    """The least milliseconds of small batches by threads per instance."""
    for bits in report.widths("latency"):
        rows = report.select("latency", bits=bits)
        batches = sorted({row["instances"] for row in rows})
        threads = sorted({row["threads_per_instance"] for row in rows})
        yield f"### Milliseconds of a batch of secret powers, {bits} bits, by threads per instance"
        cells = []
        for items in batches:
            line = [str(items)]
            for count in (*threads, None):
                fitting = [
                    row
                    for row in rows
                    if row["instances"] == items and count in (None, row["threads_per_instance"])
                ]
                least = min(fitting, key=lambda row: float(row["milliseconds"]), default=None)
                name = f" ({least['form']}{'' if count else ' ' + shape(least)})" if least else ""
                line.append(f"{least['milliseconds']:.3g}{name}" if least else MISSING)
            cells.append(line)
        yield markdown(["batch", *map(str, threads), "best"], cells)


# ---- beside the papers ------------------------------------------------------------------------------


def profiled(path: Path | None) -> dict[tuple[str, str], float]:
    """Instructions per cycle by kernel and operation, from ncu's CSV of `device_kernels --profile`.

    Each kernel was launched twice: for multiplications, then for squarings.
    """
    if path is None:
        return {}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('"')]
    found: dict[tuple[str, str], float] = {}
    for row in csv.DictReader(lines):
        if row.get("Metric Name", INSTRUCTIONS) != INSTRUCTIONS:
            continue
        text = row.get("Metric Value") or row.get(INSTRUCTIONS) or ""
        if not text.replace(".", "", 1).isdigit():
            continue  # the line of units
        kernel = row["Kernel Name"].split("(")[0]
        found[kernel, "sqr" if (kernel, "mul") in found else "mul"] = float(text)
    return found


def two_pass_tables(report: Report, paper: Row, instructions: dict[tuple[str, str], float]) -> Iterator[str]:
    """Tables II to V of the two-pass paper: one thread per instance."""
    tables, widths = paper["tables"], ["128", "256", "384", "512"]
    card = report.document["card"]

    def ours(name: str, operation: str, value: Callable[[Row | None], float | None]) -> Cells:
        rows = [
            report.best(operation, bits=int(bits), technique=name, threads_per_instance=1) for bits in widths
        ]
        return [card, name, *(number(value(row)) for row in rows)]

    for table, operation in (("II", "mul"), ("III", "sqr")):
        yield f"#### Table {table}: {tables[table]['title']}, a second"
        rows = [
            [row["card"], row["technique"], *columns(row["per_second"], widths)]
            for row in tables[table]["rows"]
        ]
        rows += [
            ours(name, operation, lambda row: row["per_second"] if row else None)
            for name in ("row32", "two_pass16")
        ]
        yield markdown(["card", "technique", *widths], rows)
    yield f"#### Table IV: {tables['IV']['title']}"
    rows = []
    for row in tables["IV"]["rows"]:
        operation = "mul" if row["operation"].startswith("multiply") else "sqr"
        rows.append([row["card"], operation, *columns(row["instructions_per_cycle"], widths)])
        found = [instructions.get((f"two_pass16_1x{int(bits) // 32}", operation)) for bits in widths]
        rows.append([card, operation, *map(number, found)])
    yield markdown(["card", "operation", *widths], rows)
    if not instructions:
        yield f"Not measured: `--ncu` wants `ncu --csv --metrics {INSTRUCTIONS} device_kernels --profile`."
    yield f"#### Table V: {tables['V']['title']}"
    for operation, name in (("mul", "multiply_and_reduce"), ("sqr", "square_and_reduce")):
        rows = [
            [row["card"], row["technique"], *columns(row["per_second_per_multiprocessor_per_mhz"], widths)]
            for row in tables["V"]["rows"]
            if row["operation"] == name
        ]
        rows += [ours(technique, operation, report.normalised) for technique in ("row32", "two_pass16")]
        yield markdown([f"card ({name})", "technique", *widths], rows)


def wide_sample_tables(report: Report, paper: Row, cards: Row) -> Iterator[str]:
    """Tables II and III of the paper of the wide samples."""
    tables, card = paper["tables"], cards[paper["card"]]
    yield f"#### Table II: {tables['II']['title']}"
    heading = [
        "card",
        "bits",
        "instances",
        "warm up runs",
        "a second",
        "latency in ms",
        "a second by SM and MHz",
    ]
    rows = []
    for row in tables["II"]["rows"]:
        rate = row["per_second"] / card["multiprocessors"] / card["mhz"]
        instances = str(paper["benchmark"]["instances"][str(row["bits"])])
        line = [
            paper["card"],
            str(row["bits"]),
            instances,
            str(row["warm_up_runs"]),
            number(row["per_second"]),
        ]
        rows.append([*line, number(row["latency_ms"]), number(rate)])
    for row in report.select("sustained"):
        line = [report.document["card"], str(row["bits"]), str(row["instances"]), str(row["warm_up_runs"])]
        rows.append(
            [*line, number(row["per_second"]), number(row["milliseconds"]), number(report.normalised(row))]
        )
    yield markdown(heading, rows)
    yield f"#### Table III: {tables['III']['title']}"
    widths = ["1024", "1536", "2048"]
    rows = []
    for row in tables["III"]["rows"]:
        values = {width: value for width, value in row["scaled_per_second"].items() if value is not None}
        rows.append([row["authors"], row["card"], *columns(values, widths)])
    scale = card["multiprocessors"] * card["mhz"]
    for name in ("dpf52", "row32"):
        cells = []
        for bits in widths:
            best = report.normalised(
                report.best("power", bits=int(bits), technique=name, timing_class="secret")
            )
            cells.append(number(best * scale if best else None))
        rows.append([f"{name} here, by SM and MHz", report.document["card"], *cells])
    yield markdown(["authors", "card", *widths], rows)


def fios_tables(report: Report, paper: Row) -> Iterator[str]:
    """Tables 1 and 2 of the paper of fios; nanoseconds of an operation of all threads together."""
    tables, widths = paper["tables"], ["160", "192", "224", "256", "384"]

    def nanoseconds(operation: str, bits: str, form: str) -> float | None:
        rate = report.rate(operation, bits=int(bits), form=form)
        return 1e9 / rate if rate else None

    yield f"#### Table 1: {tables['1']['title']}, nanoseconds"
    rows = [
        [paper["card"], row["operation"], row["memory"], *columns(row["nanoseconds"], widths)]
        for row in tables["1"]["rows"]
    ]
    for radix in ("radix16", "radix32"):
        for memory in ("local", "shared", "registers"):
            for operation, grid in (("mul_1024", "64 blocks of 16 threads"), ("mul", "full card")):
                cells = [number(nanoseconds(operation, bits, f"fios.{radix}_{memory}")) for bits in widths]
                rows.append([report.document["card"], f"multiply, {radix}, {grid}", memory, *cells])
    yield markdown(["card", "operation", "memory", *widths], rows)
    yield "Additions are not measured: the kernels have none."
    yield f"#### Table 2: {tables['2']['title']}"
    rows = []
    for row in tables["2"]["rows"]:
        rows.append([f"paper, {row['operation']}, nanoseconds", *columns(row["nanoseconds"], widths)])
        rows.append([f"paper, {row['operation']}, speedup", *columns(row["speedup"], widths)])
    processor = {str(row["bits"]): float(row["nanoseconds"]) for row in report.select("cpu_mulmod")}
    rows.append(["mulmod of this library on one thread, nanoseconds", *columns(processor, widths)])
    for radix in ("radix16", "radix32"):
        here = [nanoseconds("mul", bits, f"fios.{radix}_registers") for bits in widths]
        rows.append([f"{radix} here, full card, nanoseconds", *map(number, here)])
        speedups = [ratio(processor.get(bits), value) for bits, value in zip(widths, here, strict=True)]
        rows.append([f"{radix} here, speedup", *speedups])
    yield markdown(["", *widths], rows)


def paper_tables(report: Report, figures: Row, instructions: dict[tuple[str, str], float]) -> Iterator[str]:
    """The papers' tables with rows of this card."""
    papers = figures["papers"]
    for name in ("two_pass", "wide_samples", "fios"):
        yield f"### {papers[name]['citation']}"
        if name == "two_pass":
            yield from two_pass_tables(report, papers[name], instructions)
        elif name == "wide_samples":
            yield from wide_sample_tables(report, papers[name], figures["cards"])
        else:
            yield from fios_tables(report, papers[name])


# ---- for README and documentation -------------------------------------------------------------------


def summary_table(report: Report, peer: Row | None) -> Iterator[str]:
    """One line a width: the best multiplication, squaring and powers, and CGBN's."""
    heading = ["bits", "mul, M/s", "sqr, M/s", "powmod secret, k/s", "powmod public, k/s"]
    heading += ["technique (secret)"] + (["CGBN powmod, k/s", "secret / CGBN"] if peer else [])
    rows = []
    for bits in report.widths("power"):
        secret = report.best("power", bits=bits, timing_class="secret")
        mul, sqr = report.rate("mul", bits=bits), report.rate("sqr", bits=bits)
        public = report.rate("power", bits=bits, timing_class="public")
        cells = [str(bits), scaled(mul, 1e6), scaled(sqr, 1e6)]
        cells += [scaled(secret["per_second"] if secret else None, 1e3), scaled(public, 1e3)]
        cells += [f"{secret['form']} {shape(secret)}" if secret else MISSING]
        if peer:
            other = peer_rate(peer, "power", bits)
            cells += [scaled(other, 1e3), ratio(secret["per_second"] if secret else None, other)]
        rows.append(cells)
    yield markdown(heading, rows)
    document = report.document
    yield (
        f"{document['card']}, {document['mhz']:.0f} MHz, driver {document['driver']}, CUDA "
        f"{document['cuda']}; kernels alone, one modulus to each item, exponents as long as the moduli."
    )


def scaled(value: float | None, unit: float) -> str:
    """In thousands or millions, three digits or whole."""
    if value is None:
        return MISSING
    return f"{value / unit:,.0f}" if value >= 100 * unit else f"{value / unit:.3g}"


def trouble(document: Row) -> Iterator[str]:
    """Rows that are wrong, and what failed."""
    for row in document["rows"]:
        if row.get("wrong", 0):
            yield f"**WRONG**: {row['operation']}, {row['kernel']}, {row['bits']} bits: {row['wrong_what']}"
        if row["operation"] == "failed":
            yield f"**FAILED**: {row['what']}: {row['message']}"


def render(
    document: Row, peer: Row | None, instructions: dict[tuple[str, str], float], part: str = "all"
) -> str:
    """The text."""
    report = Report(document)
    figures: Row = json.loads(FIGURES.read_text(encoding="utf-8"))
    parts: dict[str, Iterable[str]] = {
        "best": best_tables(report, peer),
        "papers": paper_tables(report, figures, instructions),
        "summary": summary_table(report, peer),
    }
    titles = {"best": "Best shapes", "papers": "Beside the papers", "summary": "Summary"}
    blocks = list(trouble(document))
    for name, contents in parts.items():
        if part in ("all", name):
            blocks += [f"## {titles[name]}", *contents]
    return "\n\n".join(blocks) + "\n"


def load(path: Path) -> Row:
    """A report of device_kernels, also one that tools/gpu_run.sh has put into its own."""
    document: Row = json.loads(path.read_text(encoding="utf-8"))
    return document if "rows" in document else document["results"]["device_kernels"]


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--peer", type=Path, help="report of bench/cuda/peers/run.py")
    parser.add_argument(
        "--ncu", type=Path, help="CSV of ncu over device_kernels --profile, for instructions per cycle"
    )
    parser.add_argument("--part", choices=("all", "best", "papers", "summary"), default="all")
    options = parser.parse_args(arguments)
    peer = json.loads(options.peer.read_text(encoding="utf-8")) if options.peer else None
    print(render(load(options.report), peer, profiled(options.ncu), options.part), end="")


if __name__ == "__main__":
    main()
