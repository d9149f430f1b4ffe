# SPDX-License-Identifier: Apache-2.0
"""Prints the reports of device_kernels and end_to_end as Markdown, beside CGBN's and the papers' figures.

python bench/cuda/tables.py REPORT.json.. [--peer CGBN.json] [--end-to-end CALLS.json] [--ncu PROFILE.csv]
  [--part best|end_to_end|papers|summary|readme|rns]

Several reports are to be of one card: their rows count together, and the first says where they are from.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from device_report import (
    MISSING,
    Cells,
    EndToEnd,
    Peer,
    Report,
    Row,
    load,
    markdown,
    number,
    paper_figures,
    ratio,
    scaled,
    shape,
)
from paper_tables import paper_tables, profiled
from rns_tables import rns_tables

PARTS = ("all", "best", "end_to_end", "papers", "summary", "readme", "rns")
PEER_COLUMNS = ("CGBN stock", "CGBN, R^2 given")


def peer_rates(peer: Peer | None, operation: str, bits: int) -> list[float | None]:
    """CGBN's, stock and of all shapes."""
    return [peer.rate(operation, bits, stock) if peer else None for stock in (True, False)]


# ---- the best shapes --------------------------------------------------------------------------------


def best_row(report: Report, peer: Peer | None, operation: str, row: Row) -> Cells:
    """One row of the table of the best shapes."""
    others = peer_rates(peer, operation, row["bits"])
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
        *map(number, others),
        ", ".join(ratio(row["per_second"], other) for other in others),
    ]


def best_tables(report: Report, peer: Peer | None) -> Iterator[str]:
    """The fastest shape of each width and operation."""
    heading = ["bits", "technique", "shape", "launch", "a second", "clocks of an SM", "limit"]
    heading += ["a second by SM and MHz", *PEER_COLUMNS, "ratios"]
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

    Of each technique and width the shape that is fastest in constant time.
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


# ---- end to end -------------------------------------------------------------------------------------


def percent(value: float | None, whole: float | None) -> str:
    """Of the whole, without decimals."""
    return f"{100 * value / whole:.0f} %" if value and whole else MISSING


def rate_of(row: Row | None) -> float | None:
    """Items a second of a row, if there is one."""
    return float(row["items_per_second"]) if row else None


def gigabytes(row: Row | None) -> str:
    """Operands and results a second."""
    return f"{row['bytes_per_second'] / 1e9:.3g}" if row else MISSING


def on_cpu(end_to_end: EndToEnd, row: Row) -> Row | None:
    """The same on the processor."""
    wanted = {name: row[name] for name in ("timing_class", "exponents")}
    return end_to_end.large(row["operation"], row["bits"], **wanted, device="cpu")


def large_table(report: Report, end_to_end: EndToEnd, powers: bool) -> str:
    """Large batches: from and to host arrays, in the GPU's memory, and on the processor."""
    heading = ["bits", "operation", "items", "variant", "a second", "of the kernels", "GB/s", "fresh results"]
    heading += ["arrays on the GPU", "of the kernels", "GB/s", "CPU", "GPU / CPU"]
    rows = []
    found = end_to_end.select("large", arrays="host", results="kept", device=end_to_end.document["device"])
    for row in found:
        if (row["operation"] == "powmod") != powers:
            continue
        same = {name: row[name] for name in ("timing_class", "exponents")}
        kernel = None
        if row["exponents"] == "each":
            kernel = report.rate("power", bits=row["bits"], timing_class=row["timing_class"])
        fresh = end_to_end.large(row["operation"], row["bits"], **same, results="fresh")
        resident = end_to_end.large(row["operation"], row["bits"], **same, arrays="device")
        processor = rate_of(on_cpu(end_to_end, row))
        rate = rate_of(row)
        exponents = {"each": "", "shared": ", one exponent", "65537": ", e = 65537"}.get(row["exponents"], "")
        rows.append(
            [
                str(row["bits"]),
                f"{row['operation']} {row['timing_class']}{exponents}" if powers else row["operation"],
                f"{row['items']:,}",
                row["variant"],
                number(rate),
                percent(rate, kernel),
                gigabytes(row),
                number(rate_of(fresh)),
                number(rate_of(resident)),
                percent(rate_of(resident), kernel),
                gigabytes(resident),
                number(processor),
                ratio(rate, processor),
            ]
        )
    return markdown(heading, sorted(rows, key=lambda cells: int(cells[0])))


def batch_table(end_to_end: EndToEnd, timing_class: str) -> str:
    """Milliseconds of small batches on the GPU and on the processor."""
    found = end_to_end.select("batch", timing_class=timing_class)
    widths = sorted({row["bits"] for row in found})
    rows = []
    for items in sorted({row["items"] for row in found}):
        cells = [str(items)]
        for bits in widths:
            times = {row["device"]: row for row in found if (row["items"], row["bits"]) == (items, bits)}
            gpu, cpu = times.get(end_to_end.document["device"]), times.get("cpu")
            cells += [milliseconds(gpu), milliseconds(cpu), gpu["variant"] if gpu else MISSING]
        rows.append(cells)
    heading = ["items"]
    for bits in widths:
        heading += [f"{bits} bits", "CPU", "variant"]
    return markdown(heading, rows)


def milliseconds(row: Row | None) -> str:
    """Of a batch."""
    return f"{1e3 * row['seconds']:.3g}" if row else MISSING


def end_to_end_tables(report: Report, end_to_end: EndToEnd | None) -> Iterator[str]:
    """Calls of plans."""
    if end_to_end is None:
        yield "Not measured: `--end-to-end` wants a report of end_to_end."
        return
    yield "### Powers, large batches"
    yield large_table(report, end_to_end, True)
    yield "### Products, large batches"
    yield large_table(report, end_to_end, False)
    for timing_class in ("secret", "public"):
        yield f"### Milliseconds of a batch of {timing_class} powers"
        yield batch_table(end_to_end, timing_class)
    document = end_to_end.document
    if document["resident_obstacle"]:
        yield f"Arrays on the GPU: {document['resident_obstacle']}"
    yield (
        f"{document['card']}, driver {document['driver']}, CUDA {document['cuda']}; {document['processors']} "
        f"CPUs, {document['processor']}; {document['method']}."
    )


# ---- for README and documentation -------------------------------------------------------------------


def both(report: Report, bits: int, value: Callable[[Row], str]) -> str:
    """Of the best multiplication and squaring; once where it is the same."""
    found = [report.best(operation, bits=bits) for operation in ("mul", "sqr")]
    return ", ".join(dict.fromkeys(value(row) if row else MISSING for row in found))


def limits(report: Report, bits: int) -> str:
    """How near the best multiplication and squaring come to their pipe's limit."""
    pipes = {row["pipe"] for row in (report.best(name, bits=bits) for name in ("mul", "sqr")) if row}
    if len(pipes) == 1:
        return both(report, bits, lambda row: f"{row['percent_of_limit']:.0f}") + f" % of {pipes.pop()}"
    return both(report, bits, lambda row: f"{row['percent_of_limit']:.0f} % of {row['pipe']}")


def summary_table(report: Report, peer: Peer | None, end_to_end: EndToEnd | None) -> Iterator[str]:
    """One line a width: the best multiplication, squaring and powers, CGBN's, and calls end to end."""
    heading = ["bits", "mul, M/s", "sqr, M/s", "of the pipe's limit (mul, sqr)"]
    heading += ["powmod public, k/s", "powmod secret, k/s"]
    if end_to_end:
        heading += ["end to end public, k/s", "end to end secret, k/s"]
    if peer:
        heading += [*(f"{name} powmod, k/s" for name in PEER_COLUMNS), "public, secret / CGBN"]
    rows = []
    for bits in report.widths("power"):
        powers = [report.rate("power", bits=bits, timing_class=name) for name in ("public", "secret")]
        cells = [str(bits), *(scaled(report.rate(name, bits=bits), 1e6) for name in ("mul", "sqr"))]
        cells += [limits(report, bits), *(scaled(rate, 1e3) for rate in powers)]
        if end_to_end:
            calls = [rate_of(end_to_end.power(bits, name)) for name in ("public", "secret")]
            cells += [whole_and_part(call, power) for call, power in zip(calls, powers, strict=True)]
        if peer:
            others = peer_rates(peer, "power", bits)
            cells += [scaled(rate, 1e3) for rate in others]
            cells += ["; ".join(", ".join(ratio(power, other) for power in powers) for other in others)]
        rows.append(cells)
    yield markdown(heading, rows)
    document = report.document
    yield (
        f"{document['card']}, {document['mhz']:.0f} MHz, driver {document['driver']}, CUDA "
        f"{document['cuda']}, {document['date'][:10]}; kernels alone but for the columns end to end, one odd "
        "modulus to each item, exponents as long as the moduli."
    )
    if peer:
        yield (
            "CGBN at its best shape and window: stock by its own functions, and with R^2 mod n given from "
            "outside where more words in a thread are faster than its conversion allows; ratios to either."
        )


def readme_table(report: Report, peer: Peer | None, end_to_end: EndToEnd | None) -> Iterator[str]:
    """Powers a second at the widths of RSA and CGBN: kernels, calls, CGBN, the processor."""
    heading = ["bits", "public, kernels", "public, calls", "secret, kernels", "secret, calls"]
    heading += [*PEER_COLUMNS, "public / CGBN", "CPU, secret"]
    rows = []
    widths = {row["bits"] for row in end_to_end.rows} if end_to_end else set(report.widths("power"))
    for bits in report.widths("power"):
        others = peer_rates(peer, "power", bits)
        if bits not in widths or others[0] is None:
            continue
        cells = [str(bits)]
        for timing_class in ("public", "secret"):
            cells += [number(report.rate("power", bits=bits, timing_class=timing_class))]
            cells += [number(rate_of(end_to_end.power(bits, timing_class)) if end_to_end else None)]
        public = report.rate("power", bits=bits, timing_class="public")
        cells += [*map(number, others), ", ".join(ratio(public, other) for other in others)]
        cpu = end_to_end.power(bits, "secret", device="cpu") if end_to_end else None
        rows.append([*cells, number(rate_of(cpu))])
    yield markdown(heading, rows)
    document = report.document
    processors = f"; {end_to_end.document['processors']} CPUs" if end_to_end else ""
    yield f"Powers a second, {document['card']}{processors}, {document['date'][:10]}."


def whole_and_part(call: float | None, kernel: float | None) -> str:
    """A call's rate in thousands and how much that is of the kernel's."""
    if call is None:
        return MISSING
    return f"{scaled(call, 1e3)} ({percent(call, kernel)})" if kernel else scaled(call, 1e3)


def trouble(document: Row) -> Iterator[str]:
    """Rows that are wrong, and what failed."""
    for row in document["rows"]:
        name = row.get("kernel") or row.get("variant", "")
        if row.get("wrong", 0):
            yield f"**WRONG**: {row['operation']}, {name}, {row['bits']} bits: {row['wrong_what']}"
        if "failed" in (row["operation"], row.get("kind")):
            yield f"**FAILED**: {row.get('what') or row['operation']}: {row['message']}"


def origin(document: Row) -> str:
    """Where and when the kernels were measured."""
    return (
        f"{document['card']}, driver {document['driver']}, CUDA {document['cuda']}, {document['date']}, "
        f"commit {document['commit'] or 'unknown'}"
    )


def render(
    report: Report,
    peer: Row | None,
    instructions: dict[tuple[str, str], float],
    part: str = "all",
    end_to_end: Row | None = None,
) -> str:
    """The text."""
    other = Peer(peer) if peer else None
    calls = EndToEnd(end_to_end) if end_to_end else None
    figures = paper_figures()
    parts: dict[str, tuple[str, Iterable[str]]] = {
        "best": ("Best shapes", best_tables(report, other)),
        "end_to_end": ("End to end", end_to_end_tables(report, calls)),
        "papers": ("Beside the papers", paper_tables(report, figures, instructions)),
        "summary": ("Summary", summary_table(report, other, calls)),
        "readme": ("For the README", readme_table(report, other, calls)),
    }
    if part == "rns" or report.select("mul", technique="rns"):
        parts["rns"] = ("Residue number systems", rns_tables(report, other))
    blocks = [*trouble(report.document), *trouble(end_to_end or {"rows": []})]
    for name, (title, contents) in parts.items():
        if part in ("all", name):
            blocks += [f"## {title}", *contents]
    blocks.append(origin(report.document))
    return "\n\n".join(blocks) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+")
    parser.add_argument("--peer", type=Path, help="report of bench/cuda/peers/run.py; else what a report has")
    parser.add_argument("--end-to-end", type=Path, help="report of end_to_end")
    parser.add_argument(
        "--ncu", type=Path, help="CSV of ncu over device_kernels --profile, for instructions per cycle"
    )
    parser.add_argument("--part", choices=PARTS, default="all")
    options = parser.parse_args(arguments)
    report = Report(*map(load, options.reports))
    peer = load(options.peer) if options.peer else report.document["peer"]
    calls = load(options.end_to_end) if options.end_to_end else None
    print(render(report, peer, profiled(options.ncu), options.part, calls), end="")


if __name__ == "__main__":
    main()
