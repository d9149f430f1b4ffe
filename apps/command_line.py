# SPDX-License-Identifier: Apache-2.0
"""What the command lines of the applications have in common."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_bench", "positive_count", "read_file", "run_command", "standard_input"]

_T = TypeVar("_T")


def standard_input() -> TextIO:
    """Standard input. What is not of its encoding becomes surrogates, so that the line can be named."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")
    return sys.stdin


def read_file(path: Path, read: Callable[[bytes], _T]) -> _T:
    """What `read` makes of the contents of a file.

    Raises:
        ValueError: that names the file, if `read` raises one.
    """
    try:
        return read(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{error}: {path}") from None


def positive_count(text: str) -> int:
    """A number of the command line that is 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


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
    """Run one command, of `argv` or of the process; these errors end it with a message and no traceback.

    So does the absence of a package, which measurements need to compare with.
    """
    arguments = parser.parse_args(argv)
    told: tuple[type[Exception], ...] = (ImportError, *errors)
    try:
        arguments.run(arguments)
    except told as error:
        raise SystemExit(f"{parser.prog}: {error}") from None
