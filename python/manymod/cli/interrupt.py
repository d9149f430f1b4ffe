# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and a closed terminal as one exception, never raised while a result is being kept."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

__all__ = ["InterruptGuard", "Interrupted"]

#: So many signals are exceptions; the next one ends the process.
_MOST_EXCEPTIONS = 2


class Interrupted(KeyboardInterrupt):
    """The user, or the system, asked this run to stop."""


class InterruptGuard:
    """While entered, SIGINT, SIGTERM and SIGHUP raise Interrupted, inside `shield` only at its end.

    A SIGHUP that is ignored stays ignored: that is what nohup is for. A third signal ends the process at
    once, also inside `shield`: other packages may swallow the exception, or hang while it is handled, as by a
    lock that was not released. Results that are kept inside `shield` survive this as they survive a crash.
    """

    def __init__(self) -> None:
        self._shielded = False
        self._done = False
        self._requests = 0
        self._previous: dict[int, Any] = {}

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._done:
            return
        self._requests += 1
        if self._requests == _MOST_EXCEPTIONS:
            for number in self._previous:
                signal.signal(number, signal.SIG_DFL)
        if not self._shielded:
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
        self._done = True

    @contextlib.contextmanager
    def shield(self) -> Iterator[None]:
        """Finish what is inside before an interruption is raised."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._requests:
            raise Interrupted
