# SPDX-License-Identifier: Apache-2.0
"""What the reports of the bench commands have in common: options, the machine, the build, numbers."""

from __future__ import annotations

import contextlib
import datetime
import json
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import manymod

__all__ = ["commit", "json_option", "machine", "number", "utc_now", "versions", "widths", "write_json"]

#: `--json [FILE]`.
json_option: Callable[[Any], Any] = click.option(
    "--json",
    "json_file",
    type=click.File("w"),
    is_flag=False,
    flag_value="-",
    help="Write the report as JSON to this file, or to stdout where none is named.",
)


def widths(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[int] | None:
    """Widths of a comma-separated list."""
    if value is None:
        return None
    items = [item.strip() for item in value.split(",")]
    if not all(item.isascii() and item.isdigit() and 8 <= int(item) <= 16384 for item in items):
        raise click.BadParameter(f"{value!r}: widths from 8 to 16384 bits, as in 256,2048")
    return [int(item) for item in items]


def commit() -> str | None:
    """Commit of the checkout of manymod this package lies in, if it lies in one."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "--show-toplevel"]
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        # An installed package may lie in the checkout of something else, such as a virtual environment there.
        top, found = _output([*command, "--short", "HEAD"]).split("\n")
        return found if (Path(top) / "include/manymod/manymod.h").is_file() else None
    return None


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()


def versions() -> dict[str, Any]:
    """Versions of manymod, Python and, where it is installed, gmpy2."""
    found: dict[str, Any] = {"manymod": manymod.__version__, "python": platform.python_version()}
    with contextlib.suppress(ImportError):
        import gmpy2  # noqa: PLC0415 (optional)

        found.update(gmpy2=gmpy2.version(), gmpy2_gmp=gmpy2.mp_version())
    return found


def utc_now() -> str:
    """Date and time, in UTC, to the second."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def machine() -> dict[str, Any]:
    """Date, commit and processor."""
    cpu = next(device for device in manymod.devices() if device.name == "cpu")
    return {
        "date": utc_now(),
        "commit": commit(),
        "cpu": cpu.model,
        "cpu_features": cpu.features,
        "cpus": cpu.units,
    }


def number(value: float | None) -> str:
    """Whole items, or one decimal of few; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def write_json(report: dict[str, Any], file: Any) -> bool:
    """Write the report if there is a file for it; return whether stdout is left for a table."""
    if file is not None:
        json.dump(report, file, indent=2)
        file.write("\n")
    return file is None or getattr(file, "name", "") != "<stdout>"
