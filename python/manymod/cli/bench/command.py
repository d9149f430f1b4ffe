# SPDX-License-Identifier: Apache-2.0
"""`manymod bench`: this machine's throughput beside gmpy2's, GMP's and Python's, in the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod.cli.bench.cpu_command import bench_cpu
from manymod.cli.bench.ecc_command import bench_ecc
from manymod.cli.bench.elementwise_command import bench_elementwise
from manymod.cli.bench.gmp import GmpLibrary
from manymod.cli.bench.measure import INCLUDED, Case, Settings, measure
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
from manymod.cli.bench.rsa_command import bench_rsa
from manymod.cli.options import library_option, operations_option, threads_option, variant_option
from manymod.cli.progress import output_console

__all__ = ["bench"]

OPS = ("powmod", "powmod_sec", "mulmod")
BITS = (256, 512, 1024, 2048, 3072, 4096)
QUICK_BITS = (256, 1024)
_DEFAULT = click.core.ParameterSource.DEFAULT


def _environment(settings: Settings) -> dict[str, Any]:
    found = versions()
    if settings.gmp is not None:
        found.update(gmp=settings.gmp.version.decode(), gmp_library=Path(settings.gmp.path).name)
    return {
        **machine(),
        "versions": found,
        "threads": settings.threads,
        "variant": settings.variant or "auto",
        "included": INCLUDED,
        "gmp_call_overhead_ns": settings.gmp.call_overhead_ns() if settings.gmp else None,
        "method": f"medians of {settings.repetitions} interleaved repetitions of about {settings.seconds} s; "
        "ratios are medians of the ratios within a repetition",
    }


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def _table(report: dict[str, Any]) -> Table:
    table = Table(title="items a second", title_justify="left")
    for heading in ("operation", "bits", "modulus"):
        table.add_column(heading)
    headings = {
        "manymod": "limbs, 1 thread",
        "manymod_threads": f"limbs, {report['threads']} threads",
        "manymod_mpz": "mpz, 1 thread",
        "gmpy2": "gmpy2",
        "gmp": "GMP",
        "python": "Python",
    }
    ratios = {
        "threads_vs_one": "threads",
        "mpz_vs_gmpy2": "mpz / gmpy2",
        "limbs_vs_gmp": "limbs / GMP",
        "limbs_vs_python": "limbs / Python",
    }
    for heading in (*headings.values(), *ratios.values(), "batch", "1-item call"):
        table.add_column(heading, justify="right")
    for row in report["results"]:
        table.add_row(
            *(row["op"], str(row["bits"]), row["modulus"]),
            *(number(row["rates"].get(name)) for name in headings),
            *(_ratio(row["ratios"].get(name)) for name in ratios),
            *(f"{row['batch']:,}", f"{row['latency_us']:,.1f} us"),
        )
    return table


def _print(report: dict[str, Any], console: Console) -> None:
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    console.print(
        f"{report['cpu']}, {report['cpus']} CPUs; {versions}; commit {report['commit'] or 'unknown'}"
    )
    console.print(_table(report))
    console.print("Random odd moduli and exponents of full length. Included in the time:")
    for name, text in report["included"].items():
        console.print(f"  {name}: {text}")
    if report["gmp_call_overhead_ns"] is not None:
        console.print(
            f"  one ctypes call of mpz_powm with tiny operands: {report['gmp_call_overhead_ns']:.0f} ns"
        )
    console.print(f"{report['method']}.")


def _find_gmp(path: str | None) -> GmpLibrary | None:
    try:
        return GmpLibrary(path)
    except (OSError, ValueError, AttributeError) as error:
        if path:
            raise click.UsageError(f"--gmp {path}: {error}") from error
        return None


@click.group(
    invoke_without_command=True, short_help="Throughput of this machine beside gmpy2, GMP and Python."
)
@with_report_options
@widths_option(",".join(map(str, BITS)))
@operations_option(OPS, f"Operations. [default: {','.join(OPS)}]")
@threads_option("CPU threads of the column with several; 0: all.")
@variant_option()
@library_option("--gmp", "A libgmp to compare with; else the system's, if there is one.", "gmp_path")
@click.option(
    "--check/--no-check", default=True, help="Compare a sample of every timed result with Python's pow."
)
@click.option("--quick", is_flag=True, help="Two widths, less time for each.")
@click.pass_context
def bench(
    context: click.Context,
    as_json: bool,
    output: Path | None,
    bits: list[int] | None,
    ops: list[str],
    threads: int,
    variant: str | None,
    gmp_path: str | None,
    check: bool,
    quick: bool,
) -> None:
    """Measure powmod, powmod_sec and mulmod, with one modulus per item and with a shared one.

    With a command, run that instead; each has options of its own.
    """
    if context.invoked_subcommand is not None:
        given = [name for name in context.params if context.get_parameter_source(name) is not _DEFAULT]
        if given:
            raise click.UsageError(f"options go after {context.invoked_subcommand}, which has its own")
        return
    settings = Settings(
        threads=threads or manymod.get_threads(),
        variant=variant,
        seconds=0.01 if quick else 0.1,
        repetitions=3 if quick else 5,
        check=check,
        gmp=_find_gmp(gmp_path),
    )
    chosen = bits or (QUICK_BITS if quick else BITS)
    cases = [Case(op, width, shared) for op in ops or OPS for width in chosen for shared in (False, True)]
    report = _environment(settings)
    with failures_told():
        report["results"] = measured(cases, lambda case: measure(case, settings))
    if write_report(report, output, as_json):
        _print(report, output_console())


bench.add_command(bench_cpu)
bench.add_command(bench_ecc)
bench.add_command(bench_elementwise)
bench.add_command(bench_rsa)
