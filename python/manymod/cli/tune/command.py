# SPDX-License-Identifier: Apache-2.0
"""`manymod tune`: measures which variant is fastest where on this machine, and writes a tuning file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click
from click.core import ParameterSource
from rich.console import Console

import manymod
from manymod.cli.bench.quiet import QuietMeter
from manymod.cli.bench.report import widths_option
from manymod.cli.options import device_option, operations_option, output_option
from manymod.cli.progress import make_bar, output_console
from manymod.cli.tune.case import Case, Target, cases
from manymod.cli.tune.choice import choices, cpu_rows, width_ranges
from manymod.cli.tune.cpu_measure import AUTO, OPS, Settings, library_choice, measure
from manymod.cli.tune.file import Base, Group, base_of, complete_rows, file_text, output_file, write_file
from manymod.cli.tune.gpu_choice import gap_rows, gpu_choices, gpu_ranges, gpu_rows, middles
from manymod.cli.tune.gpu_measure import GPU_OPS, GpuSettings, measure_gpu
from manymod.cli.tune.report import (
    choice_table,
    gpu_choice_table,
    print_check,
    print_usage,
    show_table,
    times_remarks,
)

__all__ = ["tune"]

BITS = (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192)
QUICK_BITS = (256, 512, 1024, 2048)
#: Seconds after which a quick run begins no further case.
QUICK_LIMIT = 45
#: Widths that powers are measured at on GPUs; for the other operations, whose choices are the powers' for the
#: most part, every other width.
GPU_BITS = (64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
OTHER_GPU_BITS = (128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_GPU_BITS = (256, 1024, 2048, 4096)
#: Seconds that a run on a GPU is planned for.
GPU_SECONDS = 300
QUICK_GPU_SECONDS = 45

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class _Options:
    quick: bool
    ops: list[str]
    bits: list[int] | None
    output: Path
    check: bool


@dataclass(frozen=True)
class _Measured:
    """What goes into a tuning file besides the rows that were measured, and where it is told of.

    Attributes:
        backend: whose variants were measured.
        reach: the widths that each measured one speaks for, by operation and timing class.
        base: what is kept.
        models: the maker's names of the devices.
        how: with how many threads.
        remarks: comments for people.
        console: where what is kept is told of.
    """

    backend: str
    reach: Mapping[Group, Mapping[int, tuple[int, int]]]
    base: Base
    models: Sequence[str]
    how: str
    remarks: Sequence[str]
    console: Console


def _settings(quick: bool) -> Settings:
    if quick:
        return Settings(seconds=0.002, repetitions=7, exponent_bits=256, every_count=False)
    return Settings(seconds=0.005, repetitions=7, exponent_bits=2048, every_count=True)


def _gpu_settings(quick: bool, device: str) -> GpuSettings:
    if quick:
        return GpuSettings(device, seconds=0.001, longest=0.1, repetitions=3, patience=0.05)
    return GpuSettings(device, seconds=0.002, longest=0.5, repetitions=5, patience=0.3)


def _measure_all(
    wanted: list[Case], limit: float, measure_one: Callable[[Case, float], _Found], console: Console
) -> dict[Case, _Found]:
    """What every case that could begin within `limit` seconds was found to be, narrow ones first.

    Each is given a time of the monotonic clock by which it had better end: after twice its share of what is
    left, and within `limit`.
    """
    start = time.monotonic()
    found: dict[Case, _Found] = {}
    # Narrow ones first: a run that is cut short has something of each operation.
    order = sorted(wanted, key=lambda case: case.bits)
    with make_bar(Console(stderr=True), "cases", enabled=True) as bar:
        for index, case in enumerate(bar.track(order, description="measuring")):
            left = limit - (time.monotonic() - start)
            if left >= 0:
                share = min(left, 2 * left / (len(order) - index))
                found[case] = measure_one(case, time.monotonic() + share)
    if left_out := len(wanted) - len(found):
        console.print(f"{left_out} of {len(wanted)} cases were left out for lack of time.")
    return {case: found[case] for case in wanted if case in found}


def _write(options: _Options, rows: Sequence[manymod.TuningRow], measured: _Measured) -> None:
    base = measured.base
    all_rows = complete_rows(rows, measured.reach, base, measured.backend, options.bits is not None)
    kept = base.kept(all_rows, rows)
    before = base.processor.split("; ") if kept else []
    processor = "; ".join(dict.fromkeys([*measured.models, *before]))
    text = file_text(all_rows, processor, measured.how, measured.remarks)
    write_file(options.output, text)
    if kept:
        ops = ", ".join(dict.fromkeys(row.op for row in kept))
        told = f"Kept {len(kept)} rows that {options.output} had and that were not measured: {ops}."
        if len(kept) == 1:
            told = f"Kept a row that {options.output} had and that was not measured: {ops}."
        measured.console.print(told, markup=False, highlight=False, soft_wrap=True)


def _reach(
    cases_: Iterable[Case], ranges: Callable[[Sequence[int]], dict[int, tuple[int, int]]]
) -> dict[Group, dict[int, tuple[int, int]]]:
    """The widths that each measured one speaks for, by operation and timing class."""
    widths_of: dict[Group, list[int]] = {}
    for case in cases_:
        widths_of.setdefault((case.op, case.secret), []).append(case.bits)
    return {group: ranges(found) for group, found in widths_of.items()}


def _base(options: _Options) -> Base:
    """What the file begins with; a check makes none."""
    return Base(manymod.tuning().rows) if options.check else base_of(options.output)


def _tune_cpu(options: _Options, console: Console) -> None:
    ops = options.ops or list(OPS)
    if unknown := [op for op in ops if op not in OPS]:
        raise click.BadParameter(f"{unknown[0]!r} is tuned on a GPU only", param_hint="--op")
    base = _base(options)
    settings = _settings(options.quick)
    meter = QuietMeter(settings.seconds / 8)
    extra = [AUTO] if options.check else []
    measured = _measure_all(
        cases(ops, options.bits or (QUICK_BITS if options.quick else BITS)),
        QUICK_LIMIT if options.quick else float("inf"),
        lambda case, _until: measure(case, settings, extra, meter),
        console,
    )
    if options.check:
        print_check(measured, library_choice, console)
        return
    results = {case: choices(times) for case, times in measured.items()}
    reach = _reach(measured, width_ranges)
    _write(
        options,
        cpu_rows(results),
        _Measured("cpu", reach, base, [_model("cpu")], "one thread", [], console),
    )
    console.print(choice_table(results))


def _backend(device: str) -> str:
    """Return the backend of a device option."""
    return device.partition(":")[0]


def _devices(name: str) -> list[manymod.Device]:
    """Return the devices of a name; that of a backend names all of its devices."""
    return [device for device in manymod.devices() if name in {device.name, device.backend}]


def _model(name: str) -> str:
    """The maker's name of the first usable device of a name."""
    return next(device.model for device in _devices(name) if not device.obstacle)


def _gpu_cases(options: _Options, backend: str) -> list[Case]:
    ops = options.ops or list(GPU_OPS)
    every: list[Case] = []
    for op in ops:
        usual = GPU_BITS if op == "powmod" else OTHER_GPU_BITS
        every += cases([op], options.bits or (QUICK_GPU_BITS if options.quick else usual), backend)
    return every


def _check_gpu(name: str) -> None:
    """Raise an error that explains why there is no such GPU, or none that can be used."""
    support = manymod.opencl_support() if _backend(name) == "opencl" else manymod.cuda_support()
    if obstacle := support.obstacle:
        raise click.ClickException(f"no GPU to tune for: {obstacle}")
    gpus = _devices(name)
    if not gpus:
        here = ", ".join(device.name for device in manymod.devices())
        raise click.ClickException(f"no device {name}; devices here: {here}")
    if all(gpu.obstacle for gpu in gpus):
        obstacles = "; ".join(f"{gpu.name}: {gpu.obstacle}" for gpu in gpus)
        raise click.ClickException(f"no GPU to tune for: {obstacles}")


def _tune_gpu(options: _Options, device: str, console: Console) -> None:
    base = _base(options)
    _check_gpu(device)
    backend = _backend(device)
    wanted = _gpu_cases(options, backend)
    if not wanted:
        raise click.ClickException(f"no variant for {device} has these operations and widths")
    settings = _gpu_settings(options.quick, device)
    measured = _measure_all(
        wanted,
        QUICK_GPU_SECONDS if options.quick else GPU_SECONDS,
        lambda case, until: measure_gpu(case, settings, until, options.check),
        console,
    )
    if options.check:
        times = {case: found.times for case, found in measured.items()}
        print_check(times, Target("auto", None, 0).choice, console)
        return
    middle = middles(list(measured))
    results = {case: gpu_choices(found, middle[case]) for case, found in measured.items()}
    threads = manymod.get_threads()
    rows = [*gpu_rows(results, threads), *gap_rows(list(results), base.rows)]
    reach, how = _reach(measured, gpu_ranges), f"GPU and {threads} CPU threads"
    models, remarks = [_model(device), _model("cpu")], times_remarks(measured)
    _write(options, rows, _Measured(backend, reach, base, models, how, remarks, console))
    console.print(gpu_choice_table(results, measured))


@click.command(short_help="Measure which variant is fastest where on this machine.")
@device_option(
    "What to measure: cpu; or cuda, cuda:K, opencl or opencl:K against the CPU with all its threads.",
    ("cpu",),
)
@click.option("--quick", is_flag=True, help="Few widths and, on the CPU, short exponents: about a minute.")
@operations_option(GPU_OPS, f"Operations. [default: all; cpu: {','.join(OPS)}; GPUs: also multi_powmod]")
@widths_option(f"{','.join(map(str, BITS))}; more for GPUs")
@output_option("The tuning file to write.", default=Path("manymod.tuning"), show_default=True)
@click.option("--check", is_flag=True, help="Compare the library's choices with the best; write nothing.")
@click.option("--show", is_flag=True, help="Print the tuning table in use; measure nothing.")
def tune(
    device: str,
    quick: bool,
    ops: list[str],
    bits: list[int] | None,
    output: Path,
    check: bool,
    show: bool,
) -> None:
    """Measure which variant is fastest where on this machine, and write a tuning file.

    Every usable CPU variant is measured at several widths and numbers of items, with one thread: some
    minutes, or less than one with --quick. With --device cuda or opencl, the GPU's variants against the CPU
    with all its threads: five minutes at most, or less than one. A file OUT that is there already keeps its
    rows for what is not measured: the other devices, operations and, with --bits, widths. A new one begins
    with the rows of the table in use for the other devices.
    """
    if show and check:
        raise click.UsageError("--show and --check exclude each other")
    source = click.get_current_context().get_parameter_source("output")
    if (show or check) and source is not ParameterSource.DEFAULT:
        raise click.UsageError(f"--{'show' if show else 'check'} writes no file: leave out -o")
    console = output_console()
    options = _Options(quick, ops, bits, output, check)
    try:
        if not (show or check):
            output_file(output)  # not after minutes of measuring
        if show:
            show_table(console)
        elif device == "cpu":
            _tune_cpu(options, console)
        else:
            _tune_gpu(options, device, console)
    except (manymod.ManymodError, FileExistsError) as error:
        raise click.ClickException(str(error)) from error
    if not (show or check):
        print_usage(output, console)
