# SPDX-License-Identifier: Apache-2.0
"""`manymod info`: what this machine has and what can run on it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import manymod
from manymod import ecc
from manymod.cli.progress import output_console
from manymod.cli.tuning_rows import rows_table

__all__ = ["collect", "info"]

NOT_BUILT = "not in this build"


def _fields(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def collect() -> dict[str, Any]:
    """Devices, variants, version and threads, ready for JSON."""
    devices = ("name", "model", "backend", "index", "features", "units", "memory_bytes", "obstacle")
    variants = (
        *("name", "technique", "backend", "public_ops", "secret_ops", "min_bits", "max_bits"),
        *(
            "needs",
            "summary",
            "usable",
            "reason",
            "shared_modulus_ops",
            "comparison_only",
            "wants_fast_doubles",
        ),
    )
    table = manymod.tuning()
    return {
        "version": manymod.__version__,
        "threads": manymod.get_threads(),
        "devices": [_fields(device, devices) for device in manymod.devices()],
        "cuda": dataclasses.asdict(manymod.cuda_support()),
        "opencl": dataclasses.asdict(manymod.opencl_support()),
        "variants": [_fields(variant, variants) for variant in manymod.variants()],
        "curve_variants": _curve_variants(),
        "tuning": {
            "source": table.source,
            "processor": table.processor,
            "date": table.date,
            "notes": list(table.notes),
            "rows": [dataclasses.asdict(row) for row in table.rows],
        },
    }


def _curve_variants() -> dict[str, list[str]]:
    """The curves that each variant of their arithmetic can compute on this machine."""
    if not ecc.supported():
        return {}
    usable = {curve.name: ecc.variants(curve) for curve in ecc.named_curves()}
    return {name: [curve for curve, names in usable.items() if name in names] for name in ecc.variants()}


def _joined(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _operations(variant: dict[str, Any]) -> str:
    secret = set(variant["secret_ops"])
    return ", ".join(name + ("*" if name in secret else "") for name in variant["public_ops"])


def _cuda_line(support: dict[str, Any]) -> str:
    driver = f"the driver supports {support['driver']}" if support["driver"] else ""
    build = "" if support["built"] else NOT_BUILT
    status = build or "; ".join(part for part in (driver, support["obstacle"]) if part)
    return f"CUDA: {status}"


def _opencl_line(support: dict[str, Any]) -> str:
    status = support["obstacle"] or f"a driver supports {support['version']}"
    return f"OpenCL: {status}"


def _devices_table(devices: list[dict[str, Any]]) -> Table:
    table = Table("device", "model", "units", "memory", "features", title="Hardware", title_justify="left")
    for device in devices:
        memory = f"{device['memory_bytes'] / (1 << 30):.1f} GiB" if device["memory_bytes"] else "?"
        obstacle = f", but {device['obstacle']}" if device["obstacle"] else ""
        features = escape(_joined(device["features"]) + obstacle)
        table.add_row(device["name"], device["model"], str(device["units"] or "?"), memory, features)
    return table


def _usable(variant: dict[str, Any], cuda: dict[str, Any]) -> str:
    needs = _joined(variant["needs"])
    if variant["usable"]:
        return f"yes (has {needs})" if needs else "yes"
    return f"no: {NOT_BUILT if variant['backend'] == 'cuda' and not cuda['built'] else variant['reason']}"


def _variants_table(variants: list[dict[str, Any]], cuda: dict[str, Any]) -> Table:
    table = Table("variant", "usable", "backend", "bits", "operations (* also secret)", title="Variants")
    table.title_justify = "left"
    table.columns[0].min_width = max(len(variant["name"]) for variant in variants)
    for variant in variants:
        table.add_row(
            f"{variant['name']}\n[dim]{variant['summary']}",
            _usable(variant, cuda),
            str(variant["backend"]),
            f"{variant['min_bits']}-{variant['max_bits']}",
            _operations(variant),
        )
    return table


def _curves_table(curve_variants: dict[str, list[str]]) -> Table:
    table = Table("variant", "curves that it can compute here", title="Variants of elliptic curves")
    table.title_justify = "left"
    table.columns[0].no_wrap = True
    for name, named in curve_variants.items():
        table.add_row(name, ", ".join(named) or "none")
    return table


def _print(found: dict[str, Any], console: Console) -> None:
    console.print(f"manymod {found['version']}, {found['threads']} CPU threads")
    console.print(_devices_table(found["devices"]))
    console.print(escape(_cuda_line(found["cuda"])))
    console.print(escape(_opencl_line(found["opencl"])))
    console.print(_variants_table(found["variants"], found["cuda"]))
    console.print(_curves_table(found["curve_variants"]))


@click.command(short_help="Hardware found, variants and whether they can run here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the tuning table.")
@click.option("--tuning", is_flag=True, help="Print the tuning table too.")
def info(as_json: bool, tuning: bool) -> None:
    """Print the hardware found, and every variant with whether it can run here, or why not."""
    try:
        found = collect()
    except manymod.TuningError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    console = output_console()
    _print(found, console)
    if tuning:
        console.print(rows_table(manymod.tuning()))
