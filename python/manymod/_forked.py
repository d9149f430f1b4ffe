# SPDX-License-Identifier: Apache-2.0
"""Objects that a forked child inherits and must not use: threads that it lacks may hold their locks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["ProcessOwn", "leave_behind"]

T = TypeVar("T")

_left_behind: list[object] = []


def leave_behind(inherited: object) -> None:
    """Keep a reference to an object of the parent process, so that it is never destroyed here."""
    _left_behind.append(inherited)


class ProcessOwn(Generic[T]):
    """An object that a forked child replaces by one of its own.

    >>> own = ProcessOwn([1, 2])
    >>> own.get(list)
    [1, 2]
    """

    __slots__ = ("_pid", "_value")

    def __init__(self, value: T) -> None:
        self._pid = os.getpid()
        self._value = value

    def get(self, make: Callable[[], T]) -> T:
        """Return the object; in a forked child, the result of `make()`."""
        if self._pid != os.getpid():
            leave_behind(self._value)
            self._value = make()
            self._pid = os.getpid()
        return self._value
