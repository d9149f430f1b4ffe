# SPDX-License-Identifier: Apache-2.0
"""`manymod bench elementwise`: sums, differences and products of arrays, and of lists beside gmpy2."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod.cli.bench.elementwise import OPERATIONS, SMALL_ITEMS, Case, Settings, measure
from manymod.cli.bench.elementwise_lists import measure_lists
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
from manymod.cli.options import ITEMS, device_option, operations_option, threads_option
from manymod.cli.progress import output_console

__all__ = ["bench_elementwise"]

BITS = (256, 512, 1024, 2048)
LIST_ITEMS = 100_000
QUICK_BITS = (256,)


@dataclass(frozen=True)
class _Measurement:
    case: Case
    #: Whether lists are measured beside loops of gmpy2, instead of arrays.
    lists: bool = False


def _table(report: dict[str, Any]) -> Table:
    table = Table(title=f"calls of {report['items']:,} items", title_justify="left")
    for heading in ("operation", "bits", "modulus", "arrays"):
        table.add_column(heading)
    for heading in ("items a second", "GB a second", f"a call of {SMALL_ITEMS:,}", "/ gmpy2"):
        table.add_column(heading, justify="right")
    for row in report["results"]:
        arrays = row["arrays"] + (", secret" if row.get("timing") == "secret" else "")
        figures = (
            ("", "", f"{row['vs_gmpy2']:.2f}x")
            if "vs_gmpy2" in row
            else (f"{row['bytes_per_second'] / 1e9:.1f}", f"{row['small_call_us']:,.1f} us", "")
        )
        rate = number(row["items_per_second"])
        table.add_row(row["op"], str(row["bits"]), row["modulus"], arrays, rate, *figures)
    return table


def _places() -> list[bool]:
    """Whether arrays are in GPU memory: in the host's, and in that of a GPU if there is one that works."""
    gpus = [device for device in manymod.devices() if device.backend == "cuda" and not device.obstacle]
    return [False, True] if gpus else [False]


def _cases(widths: Sequence[int], ops: Sequence[str], *, secret: bool, lists: bool) -> list[_Measurement]:
    cases = []
    for width, op, shared in itertools.product(widths, ops, (True, False)):
        cases += [_Measurement(Case(op, width, shared, resident)) for resident in _places()]
        if secret:
            cases.append(_Measurement(Case(op, width, shared, False, True)))
        if lists:
            cases.append(_Measurement(Case(op, width, shared, False), lists=True))
    return cases


def _head(settings: Settings) -> dict[str, Any]:
    """The head of a report: machine, versions, and how rates are measured."""
    return {
        **machine(),
        "bench": "elementwise",
        "versions": versions(),
        "items": settings.items,
        "device": settings.device,
        "threads": settings.threads or manymod.get_threads(),
        "method": "medians of five calls at least, after one to warm up, by the wall clock; operands below "
        "odd moduli of full length; bytes of operands, own moduli and results; the first and the last items "
        "of a call are compared with Python's; lists: medians of three turns at least of a call and a loop "
        "of gmpy2, whose results are compared",
    }


def _print(report: dict[str, Any], console: Console) -> None:
    console.print(f"{report['cpu']}; manymod {manymod.__version__}; commit {report['commit'] or 'unknown'}")
    console.print(_table(report))
    console.print(f"{report['method']}.")


@click.command("elementwise", short_help="Sums and products of arrays, in host and in GPU memory.")
@with_report_options
@widths_option(",".join(map(str, BITS)))
@operations_option(list(OPERATIONS), f"Operations. [default: {','.join(OPERATIONS)}]")
@click.option("--items", type=ITEMS, default=1 << 20, show_default=True, help="Items of a call.")
@device_option("Where arrays in host memory are computed: auto, cpu, cuda, cuda:K, opencl or opencl:K.")
@threads_option()
@click.option("--secret", is_flag=True, help="Constant-time calls too, on arrays in host memory.")
@click.option("--lists", is_flag=True, help="Lists of up to 100,000 mpz too, in turns with loops of gmpy2.")
@click.option("--quick", is_flag=True, help="One width, less time for each.")
def bench_elementwise(
    as_json: bool,
    output: Path | None,
    bits: list[int] | None,
    ops: list[str],
    items: int,
    device: str,
    threads: int,
    secret: bool,
    lists: bool,
    quick: bool,
) -> None:
    """Measure addmod, submod, negmod, mulmod, sqrmod and fmamod on limb arrays, into arrays that exist.

    With one modulus for all items and with one for each; on arrays in GPU memory too, where there is a GPU.
    Results are compared with Python's.
    """
    if lists and importlib.util.find_spec("gmpy2") is None:
        raise click.ClickException("--lists needs gmpy2")
    settings = Settings(device=device, items=items, seconds=0.02 if quick else 0.2, threads=threads)
    of_lists = replace(settings, items=min(items, LIST_ITEMS))
    widths = bits or (QUICK_BITS if quick else BITS)
    cases = _cases(widths, ops or list(OPERATIONS), secret=secret, lists=lists)
    report = _head(settings)
    with failures_told():
        report["results"] = measured(
            cases, lambda one: measure_lists(one.case, of_lists) if one.lists else measure(one.case, settings)
        )
    if write_report(report, output, as_json):
        _print(report, output_console())
