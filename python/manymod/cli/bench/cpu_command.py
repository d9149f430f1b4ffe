# SPDX-License-Identifier: Apache-2.0
"""`manymod bench cpu`: every CPU variant of this machine against the limit of its multiplier."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod import _core
from manymod.cli.bench.cpu import AUTO, Case, Settings, measure, rows
from manymod.cli.bench.limit import LIMIT
from manymod.cli.bench.quiet import ISSUE, LEAST_READING, QUIET, QuietMeter
from manymod.cli.bench.report import (
    failures_told,
    machine,
    measured,
    number,
    versions,
    widths_option,
    with_report_options,
    write_report,
)
from manymod.cli.options import threads_option
from manymod.cli.progress import output_console

__all__ = ["bench_cpu"]

POWER_BITS = (512, 1024, 1536, 2048, 3072, 4096)
POWER_BATCHES = (1, 8, 64)
#: Items of a call that is long enough for the time to wake the threads not to matter.
THREADS_BATCH = 512
MULMOD_BITS = (256, 384, 512)
#: Operands, moduli and results of 512 bits take 1 MiB: half of a common L2 cache.
MULMOD_BATCH = 4096
QUICK_POWER_BITS = (512, 1024)
QUICK_MULMOD_BITS = (256,)
#: Stands behind the percentage of a row whose samples were all disturbed.
MARK = " *"

LIMIT_TEXT = (
    "limit: vpmadd52 alone, at the rate measured just before and after; L = ceil(bits / 52) digits, "
    "product 2L^2, square L(L+1), reduction 2L^2+L, best window of 4 to 6 bits, 8 instances a vector; "
    "a mulmod is two Montgomery multiplications; with threads, times their number"
)


def _cases(bits: list[int] | None, threads: int, quick: bool) -> list[Case]:
    power_bits = bits or (QUICK_POWER_BITS if quick else POWER_BITS)
    mulmod_bits = bits or (QUICK_MULMOD_BITS if quick else MULMOD_BITS)
    kinds = (False, True)
    cases = [
        Case("powmod", width, shared, batch)
        for width in power_bits
        for shared in kinds
        for batch in POWER_BATCHES
    ]
    if threads > 1:
        cases += [Case("powmod", width, False, _threads_batch(width), threads) for width in power_bits]
    return cases + [Case("mulmod", width, shared, MULMOD_BATCH) for width in mulmod_bits for shared in kinds]


def _threads_batch(bits: int) -> int:
    return THREADS_BATCH if bits < 2048 else THREADS_BATCH // 4


def _instructions(settings: Settings) -> dict[str, dict[str, float] | None]:
    """Median and best rate of each instruction, None where this CPU lacks it."""
    found: dict[str, dict[str, float] | None] = {}
    for name in _core.instruction_names():
        measured = [_core.instruction_rate(name, settings.seconds) for _ in range(settings.repetitions)]
        rates = [rate for rate in measured if rate is not None]
        found[name] = {"median": statistics.median(rates), "best": max(rates)} if rates else None
    return found


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"


def _method(settings: Settings) -> str:
    return (
        f"medians of {settings.repetitions} undisturbed samples of about {settings.seconds} s, all variants "
        "alternating; processor time, but wall time where several threads compare with one; a call takes and "
        "gives limb arrays; a sample is disturbed if, just before or after it, another process on the same "
        f"core took its share: the loop {ISSUE} does less than {QUIET[ISSUE]:.0%} or that of vpmadd52 less "
        f"than {QUIET[LIMIT]:.0%} of the best number a cycle in this run; at most {2 * settings.repetitions} "
        f"samples are taken, and a row without an undisturbed one is marked{MARK} and has the medians of "
        "disturbed ones"
    )


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table(title="items a second", title_justify="left")
    for heading in ("operation", "bits", "modulus", "batch", "threads", "variant"):
        table.add_column(heading)
    for heading in ("median", "best", "limit", "percent of limit", "quiet", "a call", "threads / 1"):
        table.add_column(heading, justify="right")
    previous = None
    for row in results:
        case = tuple(row[name] for name in ("op", "bits", "modulus", "batch"))
        if previous not in {None, case}:
            table.add_section()
        previous = case
        name = f"{AUTO}: {row['runs']}" if row["variant"] == AUTO else row["variant"]
        ratio = row.get("threads_vs_one")
        table.add_row(
            *map(str, case),
            *(str(row["threads"]), name, number(row["median"]), number(row["best"]), number(row["limit"])),
            *(
                _percent(row["percent_of_limit"]) + (MARK if row["disturbed"] else ""),
                f"{row['quiet_samples']} of {row['samples']}",
                f"{row['call_us']:,.1f} us",
                f"{ratio:.2f}x" if ratio else "",
            ),
        )
    return table


def _print(report: dict[str, Any], console: Console) -> None:
    console.print(f"{report['cpu']}; manymod {manymod.__version__}; commit {report['commit'] or 'unknown'}")
    rates = Table(
        "instruction", "median G/s", "best G/s", title="loops on registers alone", title_justify="left"
    )
    for name, rate in report["instructions"].items():
        known = (f"{rate['median'] / 1e9:.2f}", f"{rate['best'] / 1e9:.2f}") if rate else ("none", "")
        rates.add_row(name, *known)
    console.print(rates)
    console.print(_table(report["results"]))
    console.print(f"{report['limit']}.")
    console.print(f"{report['method']}.")


@click.command("cpu", short_help="Every CPU variant against the multiplier's limit.")
@with_report_options
@widths_option("powers 512 to 4096, products 256 to 512")
@click.option("--variant", "variants", multiple=True, help="This variant only, or `auto`; may be repeated.")
@threads_option("CPU threads to compare with one; 0: all.")
@click.option("--quick", is_flag=True, help="Fewer widths, less time for each.")
def bench_cpu(
    as_json: bool,
    output: Path | None,
    bits: list[int] | None,
    variants: tuple[str, ...],
    threads: int,
    quick: bool,
) -> None:
    """Measure modular powers (secret exponents of full length) and products, alternating between variants.

    Each variant that can run here, and the dispatcher's own choice, with one modulus per item and with a
    shared one, for a batch of 1, 8 and 64 on one thread, and for a larger one on several. A sample of the
    answers is compared with Python's pow.
    """
    known = {AUTO, *(variant.name for variant in manymod.variants())}
    if unknown := [name for name in variants if name not in known]:
        raise click.UsageError(f"--variant {unknown[0]}: not one of {', '.join(sorted(known))}")
    settings = Settings(
        variants=variants or None, seconds=0.005 if quick else 0.05, repetitions=3 if quick else 7
    )
    threads = threads or manymod.get_threads()
    meter = QuietMeter(max(LEAST_READING, settings.seconds / 8))
    report = {
        **machine(),
        "bench": "cpu",
        "versions": versions(),
        "threads": threads,
        "limit": LIMIT_TEXT,
        "method": _method(settings),
        "instructions": _instructions(settings),
    }
    with failures_told():
        found = measured(_cases(bits, threads, quick), lambda case: measure(case, settings, meter))
    if not any(found):
        raise click.ClickException("no variant asked for can run any of these cases; see `manymod info`")
    # Last, as the best rates a cycle may have come last.
    report["best_a_cycle"] = meter.best()
    report["results"] = [row for series in found for row in rows(series, meter)]
    if write_report(report, output, as_json):
        _print(report, output_console())
