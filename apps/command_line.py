# SPDX-License-Identifier: Apache-2.0
"""What the command lines of the applications have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_bench", "run_command"]


def add_bench(
    commands: Commands, run: Callable[[argparse.Namespace], None], does: str
) -> argparse.ArgumentParser:
    """Add the command that measures, and return its parser, to which the caller adds its sizes."""
    bench = commands.add_parser("bench", help=does)
    bench.add_argument("--output", type=Path, help="report in JSON")
    bench.set_defaults(run=run)
    return bench


def run_command(
    parser: argparse.ArgumentParser, argv: list[str] | None, errors: tuple[type[Exception], ...]
) -> None:
    """Run one command, of `argv` or of the process; these errors end it with a message and no traceback."""
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except errors as error:
        raise SystemExit(f"{parser.prog}: {error}") from None
