# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, spelled and described alike."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from manymod import _core

__all__ = [
    "ITEMS",
    "STANDARD_STREAM",
    "NumberRange",
    "Option",
    "StreamPath",
    "device_option",
    "library_option",
    "operations_option",
    "output_option",
    "threads_option",
    "variant_option",
]

Option = Callable[[Any], Any]

#: The value of a `StreamPath` that stands for standard input or output: a text, while other values are paths.
STANDARD_STREAM = "-"
#: The type of a number of items. No memory holds 2^40 of them, and the sizes of many more would overflow.
ITEMS = click.IntRange(1, 1 << 40)


class StreamPath(click.Path):
    """The path of a file, or ``-`` for standard input or output (``./-`` is a file of that name)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **{"dir_okay": False, **settings})

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return `STANDARD_STREAM` or a Path."""
        return value if value == STANDARD_STREAM else super().convert(value, param, ctx)


class NumberRange(click.FloatRange):
    """A range of numbers. What is no number is not in it, though it compares with no end of the range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def device_option(
    help_text: str = "Where to compute: auto, cpu, cuda, cuda:K, opencl or opencl:K.",
    plain: Sequence[str] = ("auto", "cpu"),
) -> Option:
    """`--device`: one of the names `plain`, of which the first is the default, a kind of GPUs or one GPU."""

    def name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        if value not in plain and not re.fullmatch(r"(cuda|opencl)(:[0-9]{1,9})?", value):
            names = ", ".join((*plain, "cuda", "cuda:K", "opencl", "opencl:K"))
            raise click.BadParameter(f"{value!r} is none of {names}")
        return value

    return click.option(
        "--device", callback=name, metavar="DEVICE", default=plain[0], show_default=True, help=help_text
    )


def variant_option() -> Option:
    """`--variant`."""
    return click.option("--variant", metavar="NAME", help="Variant by name; see `manymod info`.")


def threads_option(help_text: str = "CPU threads; 0: all.") -> Option:
    """`--threads`."""
    threads = click.IntRange(0, _core.MAX_THREADS)
    return click.option("--threads", type=threads, default=0, show_default=True, help=help_text)


def output_option(help_text: str, **settings: Any) -> Option:
    """`-o`, `--output`: a file to write."""
    path = click.Path(dir_okay=False, path_type=Path)
    return click.option("-o", "--output", type=path, metavar="OUT", help=help_text, **settings)


def library_option(name: str, help_text: str, *arguments: str) -> Option:
    """An option that names a shared library: a file, or what the system's loader finds it by."""

    def place(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
        # Without a slash the loader would not look where the user is.
        return str(Path(value).absolute()) if value and Path(value).is_file() else value

    return click.option(name, *arguments, callback=place, metavar="LIBRARY", help=help_text)


def operations_option(choices: Sequence[str], help_text: str) -> Option:
    """`--op`: operations, separated by commas or given several times; empty where it is not given."""

    def names(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> list[str]:
        given = dict.fromkeys(name.strip() for value in values for name in value.split(","))
        if unknown := [name for name in given if name not in choices]:
            raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(choices)}")
        return list(given)

    return click.option("--op", "--ops", "ops", multiple=True, callback=names, metavar="LIST", help=help_text)
