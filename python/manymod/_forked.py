# SPDX-License-Identifier: Apache-2.0
"""What a forked child process inherits and must leave alone: a thread that is gone may hold its locks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["ProcessOwn", "leave_behind"]

T = TypeVar("T")

_left_behind: list[object] = []


def leave_behind(inherited: object) -> None:
    """Keep what the parent process made for ever, so that nothing destroys it here."""
    _left_behind.append(inherited)


class ProcessOwn(Generic[T]):
    """An object of which a forked child makes one of its own.

    >>> own = ProcessOwn([1, 2])
    >>> own.get(list)
    [1, 2]
    """

    __slots__ = ("_pid", "_value")

    def __init__(self, value: T) -> None:
        self._pid = os.getpid()
        self._value = value

    def get(self, make: Callable[[], T]) -> T:
        """The object; `make()` makes a forked child's."""
        if self._pid != os.getpid():
            leave_behind(self._value)
            self._value = make()
            self._pid = os.getpid()
        return self._value
