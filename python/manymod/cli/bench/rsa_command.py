# SPDX-License-Identifier: Apache-2.0
"""`manymod bench rsa`: RSA beside OpenSSL, as the cryptography package calls it, in the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod import _core
from manymod.cli.bench.contenders import BatchSettings
from manymod.cli.bench.openssl_report import environment, rates_table
from manymod.cli.bench.report import (
    failures_told,
    measured,
    number,
    widths_option,
    with_report_options,
    write_report,
)
from manymod.cli.bench.rsa import INCLUDED, RsaCase, measure, signing_key
from manymod.cli.bench.rsa_signer import DEADLINE, measure_signer
from manymod.cli.bench.rsa_timing import NOTHING_SEEN, measure_timing
from manymod.cli.options import ITEMS, operations_option, threads_option
from manymod.cli.progress import output_console

__all__ = ["bench_rsa"]

PADDINGS = {"sign": "pkcs1v15", "verify": "pkcs1v15", "encrypt": "oaep", "decrypt": "oaep"}
BITS = (2048, 3072, 4096)
QUICK_BITS = (2048,)
#: Calls of each comparison of --timing, and items of a call.
_SAMPLES = 10_000
_QUICK_SAMPLES = 400
_TIMING_BATCHES = (1, 16)
#: Least and most bits of a key.
_LIMITS = (_core.MM_RSA_MIN_BITS, _core.MM_RSA_MAX_BITS)


def _loaded(bits: int, threads: int, settings: BatchSettings) -> dict[str, Any]:
    key = signing_key(bits)
    return {"bits": bits, **measure_signer(key, PADDINGS["sign"], "sha256", threads, 3 * settings.seconds)}


def _signer_table(report: dict[str, Any]) -> Table:
    table = Table(title="a Signer at half of its peak: latencies", title_justify="left")
    for heading in (
        *("bits", "threads", "peak/s", "offered/s", "batch", "50 %", "90 %", "99 %", "of a batch"),
        *("within deadline + batch", "+ as much again"),
    ):
        table.add_column(heading, justify="right")
    for row in report["signer"]:
        times = [*row["latency_us"].values(), row["batch_us"]]
        table.add_row(
            *(str(row["bits"]), str(row["threads"]), number(row["peak"]), number(row["offered"])),
            f"{row['mean_batch']:.1f}",
            *(f"{time:,.0f} us" for time in times),
            *(f"{row[name]:.1%}" for name in ("in_time", "in_time_of_two")),
        )
    return table


def _timing_table(report: dict[str, Any]) -> Table:
    table = Table(title="whether times tell secrets", title_justify="left")
    for heading in ("operation", "kinds"):
        table.add_column(heading)
    for heading in ("bits", "batch", "calls", "median", "median", "t"):
        table.add_column(heading, justify="right")
    for row in report["timing"]:
        table.add_row(
            *(row["operation"], " / ".join(row["kinds"]), str(row["bits"]), str(row["batch"])),
            f"{sum(row['samples']):,}",
            *(f"{median:,.1f} us" for median in row["median_us"]),
            f"{row['t']:+.1f}",
        )
    return table


def _print(report: dict[str, Any], console: Console) -> None:
    found = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    console.print(f"{report['cpu']}, {report['cpus']} CPUs; {found}; commit {report['commit'] or 'unknown'}")
    columns = {"operation": "op", "bits": "bits", "padding": "padding"}
    console.print(rates_table(report, columns))
    console.print("Messages of some bytes, SHA-256, e = 65537. Included in the time:")
    for name, text in report["included"].items():
        console.print(f"  {name}: {text}")
    console.print(f"{report['method']}.")
    if "signer" in report:
        console.print(_signer_table(report))
        console.print(f"Requests come at random, by submit(); deadline {DEADLINE * 1e3:g} ms.")
    if "timing" in report:
        console.print(_timing_table(report))
        console.print(
            f"|t| below {NOTHING_SEEN}: no difference is seen; above 10: the two kinds take different times."
        )


@click.command("rsa", short_help="RSA beside OpenSSL.")
@with_report_options
@widths_option(",".join(map(str, BITS)), "Sizes of keys in bits")
@operations_option(list(PADDINGS), f"Operations. [default: {','.join(PADDINGS)}]")
@click.option("--batch", type=ITEMS, default=64, show_default=True, help="Items of a batch.")
@threads_option("CPU threads of the columns with several; 0: all.")
@click.option("--signer", is_flag=True, help="Also latencies of a Signer at half of its peak.")
@click.option("--timing", is_flag=True, help="Also whether times tell secrets, by Welch's t.")
@click.option("--quick", is_flag=True, help="One size, less time for each.")
def bench_rsa(
    as_json: bool,
    output: Path | None,
    bits: list[int] | None,
    ops: list[str],
    batch: int,
    threads: int,
    signer: bool,
    timing: bool,
    quick: bool,
) -> None:
    """Measure signing, verifying, encrypting and decrypting on the CPU, beside OpenSSL.

    OpenSSL is the one that the cryptography package brings. Every timed result is checked by the other
    library, by samples.
    """
    chosen = bits or list(QUICK_BITS if quick else BITS)
    if wrong := [size for size in chosen if not _LIMITS[0] <= size <= _LIMITS[1]]:
        raise click.BadParameter(f"{wrong[0]} bits: sizes from {_LIMITS[0]} to {_LIMITS[1]}")
    settings = BatchSettings(
        threads=threads or manymod.get_threads(),
        batch=batch,
        seconds=0.02 if quick else 0.3,
        repetitions=3 if quick else 7,
    )
    counts = sorted({1, settings.threads})
    cases = [RsaCase(op, size, PADDINGS[op]) for size in chosen for op in ops or PADDINGS]
    with failures_told("bench rsa"):
        report = environment(settings, INCLUDED)
        report["results"] = measured(cases, lambda case: measure(case, settings))
        if signer:
            report["signer"] = [_loaded(size, count, settings) for size in chosen for count in counts]
        if timing:
            samples = _QUICK_SAMPLES if quick else _SAMPLES
            report["timing"] = [
                row for size in chosen for row in measure_timing(signing_key(size), _TIMING_BATCHES, samples)
            ]
    if write_report(report, output, as_json):
        _print(report, output_console())
