# SPDX-License-Identifier: Apache-2.0
"""What the reports of the bench commands have in common: options, the machine, the build, numbers."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

import manymod
from manymod import _core
from manymod._extras import missing_extra
from manymod.cli.options import Option, output_option
from manymod.cli.outputs import check_output, write_output
from manymod.cli.progress import make_bar

__all__ = [
    "commit",
    "failures_told",
    "machine",
    "measured",
    "number",
    "utc_now",
    "versions",
    "widths_option",
    "with_report_options",
    "write_report",
]

Case = TypeVar("Case")
Row = TypeVar("Row")


def _writable(_context: click.Context, _parameter: click.Parameter, output: Path | None) -> Path | None:
    """Refuse a file that cannot be written before anything is measured."""
    if output is not None:
        check_output(output)
    return output


#: `--json` and `-o`: where the report goes.
_REPORT_OPTIONS: list[Option] = [
    click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of a table."),
    output_option("Write the report as JSON to this file, too.", callback=_writable),
]


def with_report_options(command: Any) -> Any:
    """Add the options to a command."""
    for option in reversed(_REPORT_OPTIONS):
        command = option(command)
    return command


def widths_option(default: str, what: str = "Widths in bits") -> Option:
    """`--bits`: widths, separated by commas; None where it is not given, which `default` describes."""
    return click.option("--bits", callback=widths, metavar="LIST", help=f"{what}. [default: {default}]")


def widths(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[int] | None:
    """Widths of a comma-separated list."""
    if value is None:
        return None
    items = [item.strip() for item in value.split(",")]
    if not all(
        item.isascii() and item.isdigit() and 8 <= int(item) <= _core.MM_MAX_MODULUS_BITS for item in items
    ):
        raise click.BadParameter(
            f"{value!r}: widths from 8 to {_core.MM_MAX_MODULUS_BITS} bits, as in 256,2048"
        )
    return [int(item) for item in items]


def commit() -> str | None:
    """Commit of the checkout that this package lies in; MANYMOD_COMMIT where it lies in none."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "--show-toplevel"]
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        # An installed package may lie in the checkout of something else, such as a virtual environment there.
        top, found = _output([*command, "--short", "HEAD"]).split("\n")
        if (Path(top) / "include/manymod/manymod.h").is_file():
            return found
    return os.environ.get("MANYMOD_COMMIT") or None


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


@contextlib.contextmanager
def failures_told(peers_of: str | None = None) -> Iterator[None]:
    """Let a wrong result, or a failure of the library, end the command with a message.

    `peers_of` is a command that needs the packages of the extra `bench`: that one is missing is told, too.
    """
    try:
        yield
    except ImportError as error:
        if peers_of is None:
            raise
        raise click.ClickException(str(missing_extra(peers_of, "bench"))) from error
    except (ArithmeticError, manymod.ManymodError) as error:
        raise click.ClickException(str(error)) from error


def measured(cases: Sequence[Case], measure: Callable[[Case], Row]) -> list[Row]:
    """What `measure` returns of each case, while a bar on standard error shows how many are done."""
    with make_bar(Console(stderr=True), "cases", enabled=True) as bar:
        return [measure(case) for case in bar.track(cases, description="measuring")]


def number(value: float | None) -> str:
    """Whole items, or one decimal of few; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def write_report(report: dict[str, Any], output: Path | None, as_json: bool) -> bool:
    """Write the report to `output`, if there is one, and print it if it is wanted as JSON.

    Returns whether standard output is left for a table.
    """
    text = json.dumps(report, indent=2)
    if output is not None:
        write_output(output, text + "\n")
    if as_json:
        click.echo(text)
    return not as_json
