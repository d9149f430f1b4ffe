# SPDX-License-Identifier: Apache-2.0
"""How a command ends that fails: one line on standard error and an exit code, never a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import TextIO

import click

from manymod._extras import extra_of
from manymod.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_FAILURE, EXIT_INTERNAL, EXIT_INTERRUPTED
from manymod.errors import ManymodError

__all__ = ["report_failures", "say", "told"]

#: Characters of an exception's text that are shown.
_SHOWN = 300


@contextlib.contextmanager
def report_failures() -> Iterator[None]:
    """Turn what is raised inside into a line on standard error and SystemExit."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except BrokenPipeError:
        _discard(sys.stdout)
        sys.exit(EXIT_BROKEN_PIPE)
    except KeyboardInterrupt:
        say("manymod: interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except (ManymodError, OSError, MemoryError) as error:
        say(f"manymod: {told(error)}")
        sys.exit(EXIT_FAILURE)
    except Exception as error:
        if isinstance(error, ImportError) and extra_of(error) is not None:
            raise
        say(f"manymod: {_internal_error(error)}")
        sys.exit(EXIT_INTERNAL)


def say(message: str) -> None:
    """Print a line on standard error; that it cannot be written does not change how a command ends."""
    try:
        click.echo(message, err=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Let what is still to be written to a standard stream go nowhere, as writing it fails."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it may be closed, or no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def told(error: BaseException) -> str:
    """Return what a line says about a failure: of the system's errors the file and the reason, no number."""
    if isinstance(error, OSError) and error.strerror:
        name = error.filename
        where = "" if name is None else f"{os.fsdecode(name) if isinstance(name, str | bytes) else name}: "
        return f"{where}{error.strerror}"
    return str(error) or ("out of memory" if isinstance(error, MemoryError) else type(error).__name__)


def _internal_error(error: Exception) -> str:
    """Return the line about an exception that nobody expected; its traceback goes to a file."""
    text = " ".join(str(error).split())
    what = f"internal error: {type(error).__name__}: {text[:_SHOWN]}".rstrip(": ")
    try:
        # Only this user can read the file: texts of exceptions may quote what was computed with.
        descriptor, path = tempfile.mkstemp(prefix="manymod-traceback-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{what} ({frame.filename}, line {frame.lineno}); please report it, with the command"
    return f"{what}; please report it on the project's page, with the command and the traceback in {path}"
