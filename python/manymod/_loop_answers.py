# SPDX-License-Identifier: Apache-2.0
"""Results of futures for the coroutines of an event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["LoopAnswers"]


class LoopAnswers:
    """As ``asyncio.wrap_future``, but futures that end together wake the loop once, not once each."""

    _of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopAnswers] = WeakKeyDictionary()

    def __init__(self) -> None:
        # No reference to the loop, which this would keep from being forgotten.
        self._ended: deque[tuple[Future[Any], asyncio.Future[Any]]] = deque()
        self._woken = False

    @classmethod
    def of_running_loop(cls) -> LoopAnswers:
        """The answers of the loop that runs the calling coroutine; made on first use."""
        loop = asyncio.get_running_loop()
        found = cls._of_loops.get(loop)
        return cls._of_loops.setdefault(loop, cls()) if found is None else found

    async def result(self, future: Future[Any]) -> Any:
        """Await the result of a future, which is cancelled if the caller is."""
        awaited = asyncio.get_running_loop().create_future()

        def ended(_: Future[Any]) -> None:  # on any thread
            self._ended.append((future, awaited))
            if not self._woken:  # else what was appended will be seen
                self._woken = True
                with suppress(RuntimeError):  # the loop is closed
                    awaited.get_loop().call_soon_threadsafe(self._hand_out)

        future.add_done_callback(ended)
        try:
            return await awaited
        except BaseException:  # cancelled, or closed
            future.cancel()
            raise

    def _hand_out(self) -> None:
        self._woken = False  # first: who appends from now on wakes the loop again
        while self._ended:
            future, awaited = self._ended.popleft()
            if awaited.done():
                continue
            if future.cancelled():
                awaited.cancel()
            elif (error := future.exception()) is not None:
                awaited.set_exception(error)
            else:
                awaited.set_result(future.result())
