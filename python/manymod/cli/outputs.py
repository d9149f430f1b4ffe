# SPDX-License-Identifier: Apache-2.0
"""Files that commands write: which places are refused before any work is done, and writing them whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from manymod.tables import OutputFile, TableError

__all__ = ["check_output", "refuse_inputs", "write_output"]


def refuse_inputs(output: Path, inputs: Iterable[tuple[str, Path]], name: str = "OUT") -> None:
    """Refuse an output that is one of the files to read, by whatever path.

    Args:
        output: the file to write.
        inputs: what messages call each file to read, and the file.
        name: what messages call the output.

    Raises:
        UsageError: if it is one of them.
    """
    for what, path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise click.UsageError(f"{name} is {what}: write to another file")


def check_output(output: Path, inputs: Iterable[tuple[str, Path]] = ()) -> None:
    """Refuse an output that cannot be written, or that is one of the files to read. Pipes and devices may be.

    Raises:
        UsageError: if no file can be written there.
    """
    if _special(output):
        return
    try:
        OutputFile(output)
    except TableError as error:
        raise click.UsageError(str(error)) from error
    refuse_inputs(output, inputs)


def write_output(output: Path, text: str) -> None:
    """Write a text as a whole, or as it comes to a pipe or a device.

    Raises:
        TableError: if it cannot be written; of a file, what was there before is still there.
        BrokenPipeError: if the reader of a pipe wants no more.
    """
    if not _special(output):
        OutputFile(output).write(text.encode())
        return
    try:
        output.write_text(text, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TableError(f"{output}: {error.strerror}") from error


def _special(output: Path) -> bool:
    """Whether an output is a pipe or a device."""
    return output.exists() and not output.is_file() and not output.is_dir()
