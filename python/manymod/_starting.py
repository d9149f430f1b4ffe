# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while the command's modules are imported, which takes long enough to be interrupted.

KeyboardInterrupt does not serve there: none of the command's code runs yet that could catch what is raised
while this package is imported for it, and some extension modules turn it into errors of their own.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from types import FrameType, TracebackType

__all__ = ["EXIT_INTERRUPTED", "EndsAtOnce", "is_command"]

EXIT_INTERRUPTED = 130


def is_command() -> bool:
    """Whether this process looks like the command: a script named manymod, or `python -m manymod`.

    Of the latter sys.argv[0] is "-m" while the package is imported. What the interpreter was called with has
    the name in front of the command's arguments, by itself or, as in "-mmanymod", at the end of options.
    """
    arguments: list[str] = getattr(sys, "argv", [])  # a program that embeds Python may have none
    if arguments[:1] != ["-m"]:
        return bool(arguments) and arguments[0].rpartition("/")[2] == "manymod"
    module = sys.orig_argv[-len(arguments) :][:1]  # none where the program changed sys.argv
    return bool(module) and re.fullmatch(r"(-\w*m)?manymod", module[0]) is not None


class EndsAtOnce:
    """While entered, Ctrl-C ends the process, with a line and the exit code of interrupted commands.

    For imports alone: what is being computed or written would be lost. A program's own handler of SIGINT
    stays, and so does one that an imported module sets, and a SIGINT that is ignored.

    Args:
        wanted: whether to do so; otherwise entering has no effect.
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
        if self._wanted and signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"manymod: interrupted\n")
    finally:
        os._exit(EXIT_INTERRUPTED)
