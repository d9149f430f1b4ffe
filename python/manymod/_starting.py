# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while the command's modules are imported, which takes longer than its users wait to correct a typo.

KeyboardInterrupt will not do there: none of the command's code can catch what is raised while this package is
imported for it, and extension modules turn it into errors of their own.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType, TracebackType

__all__ = ["EXIT_INTERRUPTED", "EndsAtOnce", "is_command"]

EXIT_INTERRUPTED = 130


def is_command() -> bool:
    """Whether this process looks like the command: its script, or `python -m manymod`.

    Of the latter sys.argv says no more than "-m" while the package is imported. The name is in front of the
    arguments in what the interpreter was called with.
    """
    arguments: list[str] = getattr(sys, "argv", [])  # a program that embeds Python may have none
    if arguments[:1] == ["-m"]:
        return sys.orig_argv[-len(arguments)].endswith("manymod")
    return bool(arguments) and arguments[0].endswith("manymod")


class EndsAtOnce:
    """While entered, Ctrl-C ends the process, with a line and the exit code of interrupted commands.

    For imports alone: what is being computed or written would be lost. A program's own handler of SIGINT
    stays, and so does a SIGINT that is ignored.

    Args:
        wanted: otherwise nothing is done.
    """

    def __init__(self, wanted: bool = True) -> None:
        self._wanted = wanted

    def __enter__(self) -> None:
        self._wanted = self._wanted and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._wanted:
            try:
                signal.signal(signal.SIGINT, _end)
            except ValueError:  # not on the main thread, which is the one that Ctrl-C interrupts
                self._wanted = False

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._wanted:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"manymod: interrupted\n")
    finally:
        os._exit(EXIT_INTERRUPTED)
