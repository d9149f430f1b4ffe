# SPDX-License-Identifier: Apache-2.0
"""`manymod bench ecc`: elliptic curves beside OpenSSL, libsecp256k1 and crypto_mb in one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

import manymod
from manymod import ecc
from manymod.cli.bench.contenders import BatchSettings
from manymod.cli.bench.ecc import INCLUDED, OPERATIONS, EccCase, measure, operations_of
from manymod.cli.bench.ecc_crypto_mb import load, version
from manymod.cli.bench.ecc_limit import LIMIT_TEXT
from manymod.cli.bench.openssl_report import environment, rates_table
from manymod.cli.bench.report import failures_told, measured, with_report_options, write_report
from manymod.cli.options import ITEMS, NumberRange, library_option, operations_option, threads_option
from manymod.cli.progress import output_console

__all__ = ["bench_ecc"]

QUICK_CURVES = ("P-256", "Ed25519", "X25519")


def _curves(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> list[ecc.Curve] | None:
    """Curves of a comma-separated list."""
    if value is None:
        return None
    try:
        return [ecc.Curve.named(name.strip()) for name in value.split(",")]
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _print(report: dict[str, Any], console: Console) -> None:
    found = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    console.print(f"{report['cpu']}, {report['cpus']} CPUs; {found}; commit {report['commit'] or 'unknown'}")
    console.print(rates_table(report, {"operation": "op", "curve": "curve"}))
    console.print("Messages of 32 bytes, the usual hash of the curve. Included in the time:")
    for name, text in report["included"].items():
        console.print(f"  {name}: {text}")
    console.print(f"Limit: {report['limit']}.")
    console.print(f"{report['method']}.")


@click.command("ecc", short_help="Elliptic curves beside OpenSSL.")
@with_report_options
@click.option("--curves", callback=_curves, metavar="LIST", help="Curves, as in P-256,Ed448. [default: all]")
@operations_option(list(OPERATIONS), f"Operations. [default: {','.join(OPERATIONS)}]")
@click.option("--batch", type=ITEMS, default=1024, show_default=True, help="Items of a batch.")
@click.option("--terms", type=ITEMS, default=1 << 14, show_default=True, help="Terms of a sum.")
@threads_option("CPU threads of the columns with several; 0: all.")
@click.option(
    "--seconds", type=NumberRange(0.001), default=0.1, show_default=True, help="Seconds of a repetition."
)
@library_option("--crypto-mb", "Intel's libcrypto_mb.so, measured too. [default: that of the system, if any]")
@click.option("--quick", is_flag=True, help="Few curves, less time for each.")
def bench_ecc(
    as_json: bool,
    output: Path | None,
    curves: list[ecc.Curve] | None,
    ops: list[str],
    batch: int,
    terms: int,
    threads: int,
    seconds: float,
    crypto_mb: str | None,
    quick: bool,
) -> None:
    """Measure signatures, key agreement, public keys, recovery and sums on the CPU, beside OpenSSL.

    OpenSSL is the one that the cryptography package brings, where it has the curve. libsecp256k1 is that of
    the system, if it has one; crypto_mb that of Intel, on CPUs with AVX-512 IFMA. Results are checked by the
    other library, by samples. All curves take some five minutes.
    """
    try:
        intel = load(crypto_mb)
    except OSError as error:
        raise click.BadParameter(str(error), param_hint="--crypto-mb") from error
    chosen = curves or ([ecc.Curve.named(name) for name in QUICK_CURVES] if quick else ecc.named_curves())
    cases = [
        EccCase(op, curve, intel) for curve in chosen for op in operations_of(curve) if not ops or op in ops
    ]
    if not cases:
        raise click.UsageError("none of the curves has such an operation")
    settings = BatchSettings(
        threads=threads or manymod.get_threads(),
        batch=batch,
        seconds=min(seconds, 0.02) if quick else seconds,
        repetitions=3 if quick else 5,
    )
    of_sums = replace(settings, batch=terms)
    with failures_told("bench ecc"):
        report = {**environment(settings, INCLUDED), "bench": "ecc", "limit": LIMIT_TEXT}
        if intel is not None:
            report["versions"]["crypto_mb"] = version(intel)
        report["results"] = measured(
            cases, lambda case: measure(case, of_sums if case.op == "sum" else settings)
        )
    if write_report(report, output, as_json):
        _print(report, output_console())
