# SPDX-License-Identifier: Apache-2.0
"""`manymod selftest`: every usable variant against Python's own arithmetic and known answers of curves."""

from __future__ import annotations

import functools
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import manymod
from manymod.cli.options import operations_option
from manymod.cli.progress import make_bar, output_console
from manymod.cli.selftest_cases import OPERANDS, WIDTHS, batch, expected, exponents, operands
from manymod.cli.selftest_curves import CURVE_OPERATIONS, curve_variants, wrong_answers
from manymod.tables.status import STATUS_NAMES

__all__ = ["selftest"]

FIXED_BASE = "fixed_base_powmod"
#: All operations on curves.
CURVES = "ecc"


@dataclass
class Tally:
    """Results of one variant, operation and timing class."""

    variant: str
    op: str
    timing: str
    items: int = 0
    wrong: int = 0
    seconds: float = 0.0
    first: str = ""


def _by_name_only() -> set[str]:
    """Return the GPU backends whose drivers offer CPUs alone here: all kernels would take them minutes."""
    gpus = [device for device in manymod.devices() if device.backend != "cpu" and not device.obstacle]
    real = {device.backend for device in gpus if "cpu" not in device.features}
    return {device.backend for device in gpus} - real


def _tallies(only: str | None, ops: Sequence[str]) -> Iterator[Tally]:
    """Every combination that can run here; of variants that are used by name only, those that are named."""
    by_name_only = _by_name_only()

    def is_wanted(name: str, backend: str) -> bool:
        return backend not in by_name_only if only is None else only == name

    for variant in manymod.variants():
        if variant.usable and is_wanted(variant.name, variant.backend):
            yield from _tallies_of(variant, ops)
    for name in curve_variants() if not ops or CURVES in ops else ():
        if is_wanted(name, name.partition(".")[0]):
            for operation, timing in CURVE_OPERATIONS.items():
                yield Tally(name, f"{CURVES} {operation}", timing)


def _tallies_of(variant: manymod.Variant, ops: Sequence[str]) -> Iterator[Tally]:
    """The operations of a variant in each timing class that offers them."""
    for timing, offered in (("public", variant.public_ops), ("secret", variant.secret_ops)):
        for op in (*OPERANDS, FIXED_BASE):
            if op in offered and (not ops or op in ops):
                yield Tally(variant.name, op, timing)


def _widths(name: str) -> list[int]:
    variant = next(variant for variant in manymod.variants() if variant.name == name)
    return [bits for bits in WIDTHS if variant.min_bits <= bits <= variant.max_bits]


def _shown(value: Any) -> str:
    return hex(value) if isinstance(value, int) else "[" + ", ".join(map(hex, value)) + "]"


def _compare(
    tally: Tally,
    where: str,
    function: Callable[[], Any],
    wanted: Sequence[tuple[int, str]],
    items: Sequence[Any],
) -> None:
    """Time a call that returns results and statuses, and compare; `items` are the operands, to be shown."""
    start = time.perf_counter()
    values, statuses = function()
    tally.seconds += time.perf_counter() - start
    tally.items += len(wanted)
    tally.wrong += abs(len(values) - len(wanted))
    for got, right, item in zip(
        zip(values, (STATUS_NAMES[int(status)] for status in statuses), strict=True),
        wanted,
        items,
        strict=False,
    ):
        if got != right:
            tally.wrong += 1
            operands_shown = ", ".join(map(_shown, item))
            tally.first = tally.first or f"{where}: {tally.op}({operands_shown}) is {right}, got {got}"


def _test_curves(tally: Tally) -> None:
    start = time.perf_counter()
    for items, faults in wrong_answers(tally.op.removeprefix(f"{CURVES} "), tally.variant):
        tally.items += items
        tally.wrong += len(faults)
        tally.first = tally.first or "".join(faults[:1])
    tally.seconds = time.perf_counter() - start


def _test(tally: Tally, seed: int) -> None:
    if tally.op.startswith(CURVES):
        _test_curves(tally)
        return
    if tally.op == FIXED_BASE:
        _test_fixed_base(tally, seed)
        return
    words: dict[str, Any] = {"variant": tally.variant, "errors": "status"}
    if tally.timing == "secret":
        words["secret"] = True
    function = getattr(manymod, tally.op)
    for bits in _widths(tally.variant):
        for shared in (False, True):
            case = batch(tally.op, bits, seed, shared)
            columns: list[Any] = [list(column) for column in case.columns]
            items = list(zip(*columns, strict=True))
            if shared:
                columns[-1] = columns[-1][0]
            where = f"{bits} bits, modulus {'shared' if shared else 'each'}"
            wanted = case.secret if tally.timing == "secret" else case.public
            _compare(tally, where, functools.partial(function, *columns, **words), wanted, items)


def _test_fixed_base(tally: Tally, seed: int) -> None:
    for bits in _widths(tally.variant):
        source = random.Random(f"fixed base {bits} {seed}")  # noqa: S311 (test operands)
        n = source.getrandbits(bits) | 1 << (bits - 1) | 1
        exps = exponents(source, bits)
        length = max(exp.bit_length() for exp in exps)
        secret = tally.timing == "secret"
        for g in operands(source, bits, n)[2::3]:
            fixed = manymod.FixedBase(g, n, exponent_bits=length, secret=secret, variant=tally.variant)
            wanted = [expected("powmod", (g, exp, n), secret) for exp in exps]
            call = functools.partial(fixed.powmod, exps, errors="status")
            _compare(tally, f"{bits} bits, fixed base", call, wanted, [(g, exp, n) for exp in exps])


def _table(tallies: list[Tally]) -> Table:
    table = Table("variant", "operation", "timing", title="Self-test", title_justify="left")
    for heading in ("items", "wrong", "seconds"):
        table.add_column(heading, justify="right")
    for tally in tallies:
        wrong = f"[red]{tally.wrong}" if tally.wrong else "0"
        row = (tally.variant, tally.op, tally.timing, f"{tally.items:,}", wrong, f"{tally.seconds:.2f}")
        table.add_row(*row)
    return table


@click.command(short_help="Every usable variant against Python's arithmetic, in under 30 s.")
@click.option("--variant", help="Only this variant.")
@operations_option([*OPERANDS, FIXED_BASE, CURVES], "Operations; ecc: those on curves. [default: all]")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random operands.")
def selftest(variant: str | None, ops: list[str], seed: int) -> None:
    """Compare every usable variant, operation and timing class with Python; exit 1 on any difference.

    On curves, the answers of every variant are compared with known ones.
    """
    start = time.perf_counter()
    tallies = list(_tallies(variant, ops))
    if not tallies:
        wanted = f"variant {variant} offers that here" if variant else "variant offers that here"
        raise click.ClickException(f"no usable {wanted}; see `manymod info`")
    with make_bar(Console(stderr=True), "runs", enabled=True) as bar:
        for tally in bar.track(tallies, description="testing"):
            _test(tally, seed)
    console = output_console()
    console.print(_table(tallies))
    for tally in tallies:
        if tally.first:
            click.echo(f"{tally.variant}, {tally.timing}: {tally.first}", err=True)
    wrong = sum(tally.wrong for tally in tallies)
    seconds = time.perf_counter() - start
    console.print(
        f"{sum(tally.items for tally in tallies):,} items, {wrong:,} wrong, {seconds:.1f} s, seed {seed}"
    )
    sys.exit(1 if wrong else 0)
