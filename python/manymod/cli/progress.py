# SPDX-License-Identifier: Apache-2.0
"""Progress bars on standard error: rows, rows a second, time left."""

from __future__ import annotations

import errno
import os
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["RowProgress", "make_bar", "output_console"]


class RateColumn(ProgressColumn):
    """Steps a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """The rate, or nothing before the first step."""
        speed = task.speed
        if (speed is None or task.finished) and task.elapsed:
            speed = task.completed / task.elapsed
        return Text(f"{speed:,.0f} {self._unit}/s" if speed else "")


class _OutputConsole(Console):
    """A console that leaves it to the caller what happens where nobody reads."""

    def on_broken_pipe(self) -> None:
        """Raise, where rich would end the program with exit code 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def output_console() -> Console:
    """Standard output; tables in a file or pipe are not squeezed to a terminal's width."""
    console = _OutputConsole()
    return console if console.is_terminal or "COLUMNS" in os.environ else _OutputConsole(width=220)


def make_bar(console: Console, unit: str, enabled: bool) -> Progress:
    """A bar with count, rate and time left; drawn on a terminal only."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:,.0f} " + unit),
        RateColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=not (enabled and console.is_terminal),
        transient=False,
    )


class RowProgress:
    """A bar over the rows of a table, to be called with the rows done and in all."""

    def __init__(self, console: Console, description: str, enabled: bool) -> None:
        self._bar = make_bar(console, "rows", enabled)
        self._task = self._bar.add_task(description, total=None)

    def __enter__(self) -> RowProgress:
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not self._bar.disable:  # rich before 13.8 ends a bar that is not shown with an empty line
            self._bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        """Show the number of rows that are done."""
        self._bar.update(self._task, completed=done, total=total)
