# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and a closed terminal as one exception, never raised while a result is being kept."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

__all__ = ["InterruptGuard", "Interrupted"]


#: Signals that are exceptions; the next one ends the process.
_RAISED_AT_MOST = 2


class Interrupted(KeyboardInterrupt):
    """The user, or the system, asked this run to stop."""


class InterruptGuard:
    """While entered, SIGINT, SIGTERM and SIGHUP raise Interrupted, inside `shield` only at its end.

    A SIGHUP that is ignored stays ignored: that is what nohup is for. Other packages may lose the exception,
    or hang on the way out by a lock that it left taken, so that a third signal ends the process at once.
    """

    def __init__(self) -> None:
        self._shielded = False
        self._requested = False
        self._raised = 0
        self._previous: dict[int, Any] = {}

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._requested = True
        if not self._shielded:
            self._raised += 1
            if self._raised == _RAISED_AT_MOST:
                for number in self._previous:
                    signal.signal(number, signal.SIG_DFL)
            raise Interrupted

    def __enter__(self) -> InterruptGuard:
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def ignore(self) -> None:
        """Ignore interruptions from now on: the work is done."""
        self._shielded = True

    @contextlib.contextmanager
    def shield(self) -> Iterator[None]:
        """Finish what is inside before an interruption is raised."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._requested:
            raise Interrupted
