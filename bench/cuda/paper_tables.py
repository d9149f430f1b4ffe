# SPDX-License-Identifier: Apache-2.0
"""The papers' tables, with rows of the card that was measured. Used by tables.py beside this."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from device_report import Cells, Report, Row, columns, markdown, number, ratio

#: Of the report, in the order of the paper's table.
FIOS_OPERATIONS = {
    "add_1024": "add, {radix}, 64 blocks of 16 threads",
    "add": "add, {radix}, full card",
    "sub": "subtract, {radix}, full card",
    "mul_1024": "multiply, {radix}, 64 blocks of 16 threads",
    "mul": "multiply, {radix}, full card",
}
INSTRUCTIONS = "sm__inst_executed.avg.per_cycle_active"


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
            for operation, title in FIOS_OPERATIONS.items():
                cells = [number(nanoseconds(operation, bits, f"fios.{radix}_{memory}")) for bits in widths]
                rows.append([report.document["card"], title.format(radix=radix), memory, *cells])
    yield markdown(["card", "operation", "memory", *widths], rows)
    yield f"#### Table 2: {tables['2']['title']}"
    rows = []
    for row in tables["2"]["rows"]:
        rows.append([f"paper, {row['operation']}, nanoseconds", *columns(row["nanoseconds"], widths)])
        rows.append([f"paper, {row['operation']}, speedup", *columns(row["speedup"], widths)])
    for operation, on_cpu in (("add", "cpu_addmod"), ("mul", "cpu_mulmod")):
        processor = {str(row["bits"]): float(row["nanoseconds"]) for row in report.select(on_cpu)}
        rows.append([f"{on_cpu[4:]} of this library on one thread, nanoseconds", *columns(processor, widths)])
        for radix in ("radix16", "radix32"):
            here = [nanoseconds(operation, bits, f"fios.{radix}_registers") for bits in widths]
            rows.append([f"{operation}, {radix} here, full card, nanoseconds", *map(number, here)])
            speedups = [ratio(processor.get(bits), value) for bits, value in zip(widths, here, strict=True)]
            rows.append([f"{operation}, {radix} here, speedup", *speedups])
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
