# SPDX-License-Identifier: Apache-2.0
"""What signing services of all schemes have in common: requests of many threads, gathered into batches."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from manymod._signer_service import Request, Service, SignerStatistics
from manymod.hardware import get_threads
from manymod.plan import checked_integer, checked_items

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

__all__ = ["BatchSigner", "SignerOptions"]

#: Batches at a time where a GPU signs: a batch takes it several deadlines, however small it is.
_GPU_BATCHES = 16

#: Messages from this size on, hashed in about a millisecond, do not hold up the loop of a coroutine.
_LONG_BYTES = 1 << 20


class SignerOptions(TypedDict, total=False):
    """How a signer gathers requests; `manymod.rsa.Signer` documents them."""

    deadline: float
    max_batch: int
    max_queue: int
    max_waiters: int
    max_concurrent: int | None
    full: Literal["block", "raise"]


class BatchSigner:
    """Signs single messages for many threads and coroutines, in batches.

    Args:
        compute: signatures and statuses of messages by keys of these indices. It must not keep the signer.
        prepare: what waits of a message, such as its digest.
        keys: number of keys.
        threads: CPU threads of a call; 0: `manymod.get_threads`.
        on_gpu: whether a GPU signs a batch of so many.
        deadline: as `manymod.rsa.Signer` documents it, and the others.
        max_batch: likewise.
        max_queue: likewise.
        max_waiters: likewise.
        max_concurrent: likewise.
        full: likewise.
    """

    def __init__(
        self,
        compute: Callable[[list[bytes], list[int]], Any],
        prepare: Callable[[Buffer], bytes],
        keys: int,
        threads: int,
        on_gpu: Callable[[int], bool],
        *,
        deadline: float = 1e-3,
        max_batch: int = 1024,
        max_queue: int = 16384,
        max_waiters: int = 131072,
        max_concurrent: int | None = None,
        full: Literal["block", "raise"] = "block",
    ) -> None:
        if not 0 <= deadline < threading.TIMEOUT_MAX:
            raise ValueError(f"deadline must be a number of seconds, not {deadline}")
        if full not in {"block", "raise"}:
            raise ValueError(f"full must be 'block' or 'raise', not {full!r}")
        self._prepare_contiguous, self._keys = prepare, keys
        self._block = full == "block"
        batch, queue = checked_items("max_batch", max_batch), checked_items("max_queue", max_queue)
        waiters = checked_items("max_waiters", max_waiters)
        if max_concurrent is None:
            max_concurrent = _GPU_BATCHES if on_gpu(batch) else threads or get_threads()
        concurrent = checked_items("max_concurrent", max_concurrent)
        self._service = Service(compute, deadline, batch, queue, waiters, concurrent)
        atexit.register(self._service.abandon)

    def _prepare(self, message: Buffer) -> bytes:
        """What waits in the queue."""
        if isinstance(message, memoryview) and not message.c_contiguous:
            message = message.tobytes()
        return self._prepare_contiguous(message)

    def submit(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> Future[bytes]:
        """Ask for a signature.

        Args:
            message: the message, which is hashed before this returns where the scheme hashes it first; or its
                digest if the algorithm is `Prehashed`.
            key: index of the key in the ring.
            timeout: seconds to wait for room in the queue; None: as long as it takes.

        Returns:
            A future of the signature. Its ``cancel()`` prevents a request that has not begun. Functions given
            to ``add_done_callback`` run on a thread of the signer and hold up the batch while they do;
            requests that they make do not wait for room.

        Raises:
            SignerFullError: if there is no room, or was none within `timeout`.
            SignerClosedError: if the signer is closed.
        """
        request = self._request(message, key)
        self._service.put(request, self._block, timeout)
        return request.future

    def sign(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> bytes:
        """Sign a message and wait for it; as `submit`.

        Raises:
            concurrent.futures.TimeoutError: if it is not there `timeout` seconds after it was asked for.
        """
        request = self._request(message, key)
        until = None if timeout is None else time.monotonic() + timeout
        if self._service.is_own_thread():
            raise RuntimeError("sign() in a callback of the signer would wait for itself: use submit()")
        if timeout is not None or not self._service.sign_now(request):
            self._service.put(request, self._block, timeout)
        future = request.future
        try:
            return future.result(None if until is None else max(0.0, until - time.monotonic()))
        except BaseException:
            future.cancel()
            raise

    async def asign(self, message: Buffer, key: int = 0) -> bytes:
        """Sign a message in a coroutine; as `submit`, but it awaits room instead of blocking the loop.

        A message of a mebibyte or more is hashed on another thread, and must not be changed until then.
        """
        index = self._checked_index(message, key)
        if memoryview(message).nbytes < _LONG_BYTES:
            request = Request(self._prepare(message), index)
        else:
            request = Request(await asyncio.to_thread(self._prepare, message), index)
        if self._block:
            await self._accepted(request)
        else:
            self._service.put(request, block=False, timeout=None)
        return await asyncio.wrap_future(request.future)

    async def _accepted(self, request: Request) -> None:
        loop = asyncio.get_running_loop()
        room = asyncio.Event()

        def call() -> None:
            loop.call_soon_threadsafe(room.set)

        called = False
        while not self._service.put_or_call(request, call, called):
            try:
                await room.wait()
                called = True
            except BaseException:  # cancelled, or closed
                self._service.withdraw(call)
                raise
            room.clear()

    def _request(self, message: Buffer, key: int) -> Request:
        index = self._checked_index(message, key)
        return Request(self._prepare(message), index)

    def _checked_index(self, message: Buffer, key: int) -> int:
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"message must be bytes, not {type(message).__name__}")
        index = checked_integer("key", key)
        if not 0 <= index < self._keys:
            raise ValueError(f"key {index}: the ring has {self._keys} keys")
        return index

    def statistics(self) -> SignerStatistics:
        """What the signer has done so far."""
        return self._service.statistics()

    def close(self, *, drain: bool = True) -> None:
        """Take no more requests and return when all that were accepted are answered.

        In a callback of a request it returns at once, and the signer finishes what it has. Close it again
        to wait for that; else the exit of the interpreter does, which cancels what has not begun.

        Args:
            drain: sign those that wait; else they are cancelled. What is being signed is finished either way.
        """
        if self._service.close(drain):
            atexit.unregister(self._service.abandon)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close; requests that wait are signed, or cancelled where an exception leaves the block."""
        self.close(drain=kind is None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled."""
        raise TypeError("a Signer cannot be pickled: make it anew where it is used")
