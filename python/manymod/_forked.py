# SPDX-License-Identifier: Apache-2.0
"""Objects that a forked child inherits and must not use: threads that it lacks may hold their locks."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic, TypeVar

__all__ = ["KeptHandles", "ProcessOwn", "leave_behind"]

T = TypeVar("T")

_MOST_HANDLES = 64

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


class KeptHandles(Generic[T]):
    """Handles that `make` makes of options, which are kept for reuse while they are among the 64 last used.

    A forked child leaves its parent's alone: a thread that is gone may hold their locks.
    """

    _all: ClassVar[list[KeptHandles[Any]]] = []

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._cached = functools.lru_cache(maxsize=_MOST_HANDLES)(make)
        self._all.append(self)

    def get(self, *options: Hashable) -> T:
        """Return the handle of these options."""
        return self._cached(*options)

    @classmethod
    def clear_all(cls) -> None:
        """Drop all handles of all kinds."""
        for handles in cls._all:
            handles._cached.cache_clear()

    @classmethod
    def forget_all(cls) -> None:
        """Keep no handle, and destroy none."""
        for handles in cls._all:
            leave_behind(handles._cached)
            handles._cached = functools.lru_cache(maxsize=_MOST_HANDLES)(handles._make)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=KeptHandles.forget_all)
