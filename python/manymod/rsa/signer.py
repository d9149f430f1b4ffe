# SPDX-License-Identifier: Apache-2.0
"""A signing service: requests of many threads and coroutines, gathered into batches."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal

from manymod._hashes import Prehashed, hasher, read_algorithm
from manymod.hardware import get_threads, variants
from manymod.plan import checked_integer, checked_items
from manymod.rsa._signer_service import (
    Request,
    Service,
    SignerClosedError,
    SignerFullError,
    SignerStatistics,
)
from manymod.rsa.keys import PrivateKey
from manymod.rsa.padding import native_padding
from manymod.rsa.ring import KeyRing

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

__all__ = ["Signer", "SignerClosedError", "SignerFullError", "SignerStatistics"]

#: Batches at a time where a GPU signs: a batch takes it several deadlines, however small it is.
_GPU_BATCHES = 16

#: Messages from this size on, hashed in about a millisecond, do not hold up the loop of a coroutine.
_LONG_BYTES = 1 << 20


def _batches_at_a_time(ring: KeyRing, batch: int) -> int:
    gpu_variants = {variant.name for variant in variants() if variant.backend == "cuda"}
    if any(ring.variant_for(key, batch) in gpu_variants for key in range(len(ring))):
        return _GPU_BATCHES
    return ring.threads or get_threads()


class Signer:
    """Signs single messages for many threads and coroutines, in batches.

    Requests wait in a queue of bounded length; threads take them out, at most `max_batch` at a time, and sign
    them in one call. A batch begins when `max_batch` requests wait, or when the first of them has waited for
    `deadline`, and `max_concurrent` batches may be signed at the same time; a request that finds the signer
    idle is signed at once, one of `sign` without a timeout on its caller's own thread. Messages are hashed by
    their callers: a long one holds up no other request, and the queue holds digests alone, at most 64 bytes a
    request.

    Args:
        keys: a `PrivateKey`, or a `KeyRing` whose keys requests name by their index.
        padding: as in `KeyRing.sign`.
        algorithm: as in `KeyRing.sign`.
        deadline: seconds that a request may be held back for others to join it; a quarter of them is left to
            the threads and the interpreter.
        max_batch: most requests of one call.
        max_queue: most requests that wait.
        max_waiters: most coroutines that await room in the queue; one more meets `SignerFullError`.
        max_concurrent: most batches that are signed at the same time, each by a thread of its own; None: 16
            where a GPU signs full batches, otherwise as many as the ring has CPU threads.
        full: what a request meets that finds the queue full: ``"block"``, it waits for room, or ``"raise"``,
            `SignerFullError`.

    Every request that was accepted is answered exactly once: with its signature, with an exception, or, if it
    is cancelled before it begins, by its cancellation. Close the signer, or use it as a context manager; when
    the interpreter exits, requests that wait are cancelled. It belongs to its process: in a forked child it
    takes no requests and has no statistics.
    """

    def __init__(
        self,
        keys: PrivateKey | KeyRing,
        padding: Any,
        algorithm: Any,
        *,
        deadline: float = 1e-3,
        max_batch: int = 1024,
        max_queue: int = 16384,
        max_waiters: int = 131072,
        max_concurrent: int | None = None,
        full: Literal["block", "raise"] = "block",
    ) -> None:
        hash_name, prehashed = read_algorithm(algorithm)
        native = native_padding(padding, Prehashed(hash_name), "sign")  # once for all requests
        self._hash = hasher(hash_name)
        self._digest_size = len(self._hash(b""))
        self._prehashed = prehashed
        if not 0 <= deadline < threading.TIMEOUT_MAX:
            raise ValueError(f"deadline must be a number of seconds, not {deadline}")
        if full not in {"block", "raise"}:
            raise ValueError(f"full must be 'block' or 'raise', not {full!r}")
        if not isinstance(keys, (PrivateKey, KeyRing)):
            raise TypeError(f"keys must be a PrivateKey or a KeyRing, not {type(keys).__name__}")
        self._ring = keys if isinstance(keys, KeyRing) else KeyRing([keys])
        self._block = full == "block"

        def compute(digests: list[bytes], indices: list[int]) -> Any:
            keys = indices if several else None
            return ring.sign(digests, keys, native, None, errors="status")

        ring = self._ring  # the thread must not keep the signer
        several = len(ring) > 1
        batch, queue = checked_items("max_batch", max_batch), checked_items("max_queue", max_queue)
        waiters = checked_items("max_waiters", max_waiters)
        if max_concurrent is None:
            max_concurrent = _batches_at_a_time(ring, batch)
        concurrent = checked_items("max_concurrent", max_concurrent)
        self._service = Service(compute, deadline, batch, queue, waiters, concurrent)
        atexit.register(self._service.abandon)

    def submit(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> Future[bytes]:
        """Ask for a signature.

        Args:
            message: the message, which is hashed before this returns; or its digest if the algorithm is
                `Prehashed`.
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
            request = Request(self._digest(message), index)
        else:
            request = Request(await asyncio.to_thread(self._digest, message), index)
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
        return Request(self._digest(message), index)

    def _checked_index(self, message: Buffer, key: int) -> int:
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"message must be bytes, not {type(message).__name__}")
        index = checked_integer("key", key)
        if not 0 <= index < len(self._ring):
            raise ValueError(f"key {index}: the ring has {len(self._ring)} keys")
        return index

    def _digest(self, message: Buffer) -> bytes:
        """What waits in the queue; of a digest of a wrong length only that it has one."""
        if isinstance(message, memoryview) and not message.c_contiguous:
            message = message.tobytes()
        if not self._prehashed:
            return self._hash(message)
        return bytes(message) if memoryview(message).nbytes == self._digest_size else b""

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
