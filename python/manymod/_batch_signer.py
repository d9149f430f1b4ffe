# SPDX-License-Identifier: Apache-2.0
"""What signing services of all schemes have in common: requests of many threads, gathered into batches."""

from __future__ import annotations

import asyncio
import atexit
import math
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from manymod import _core
from manymod._loop_answers import LoopAnswers
from manymod._signing_arrays import ArraysOfRequests
from manymod.asynchronous import Job
from manymod.errors import Status, _call_error, _item_error
from manymod.hardware import get_threads
from manymod.plan import checked_flag, checked_integer, checked_items

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from manymod._byte_items import Items
    from manymod._run import Errors

__all__ = ["BatchSigner", "Scheme", "SignerOptions", "SignerStatistics"]

#: Messages of this size and more take about a millisecond to hash. They are hashed on another thread, so
#: that they do not hold up the loop of a coroutine.
_LONG_BYTES = 1 << 20

#: The quantiles of times in statistics.
_QUANTILES = (0.5, 0.95, 0.99, 1.0)


class SignerOptions(TypedDict, total=False):
    """How a signer gathers requests; `manymod.rsa.Signer` documents them."""

    deadline: float
    max_batch: int
    max_queue: int
    max_waiters: int
    max_concurrent: int | None
    full: Literal["block", "raise"]


@dataclass(frozen=True)
class SignerStatistics:
    """What a signer has done so far. Every accepted request is signed, failed, cancelled, or still pending.

    Times are in seconds: the quantiles 0.5, 0.95 and 0.99, each at most an eighth too high, and the maximum
    (1.0); empty where there are none.

    Attributes:
        accepted: requests taken into the queue.
        signed: requests answered with a signature.
        failed: requests answered with an exception.
        cancelled: requests cancelled by their caller, or by the closing of the signer, before they began; or
            answered by someone else.
        refused: calls whose requests were not accepted, as the queue was full or the signer closed.
        waiting: requests in the queue now.
        batches: calls made.
        batch_sizes: how many calls had at least so many requests, a power of 2, and fewer than twice as many.
        latency: of requests, from their acceptance to the end of their batch.
        queued: of requests, from their acceptance to the beginning of their batch.
        computing: of batches.
    """

    accepted: int
    signed: int
    failed: int
    cancelled: int
    refused: int
    waiting: int
    batches: int
    batch_sizes: dict[int, int]
    latency: dict[float, float]
    queued: dict[float, float]
    computing: dict[float, float]


@dataclass(frozen=True)
class Scheme:
    """What tells signers of different schemes apart.

    Attributes:
        add: adds the operations to a service, and returns their numbers: of single requests, whose inputs
            `prepare` has made, and of arrays of messages.
        prepare: what waits of a message, such as its digest.
        items_of: the items of an array of messages.
        width_of: bytes of the longest signature by any of the keys of these indices, and of the longest by
            all keys. With its second argument it raises ValueError unless they all have one size.
        one_size: whether signatures by one key have one size.
        keys: number of keys.
        threads: CPU threads of a call; 0: `manymod.get_threads`.
        on_gpu: whether a GPU signs a batch of so many.
    """

    add: Callable[[_core.SigningService], tuple[int, int]]
    prepare: Callable[[Buffer], bytes]
    items_of: Callable[[str, Any], Items]
    width_of: Callable[[Any, bool], tuple[int, int]]
    one_size: bool
    keys: int
    threads: int
    on_gpu: Callable[[int], bool]


class _Request(_core.PendingAnswer, Job[Any]):
    """The future of a request, or of an array of them, which the extension makes and answers."""

    def cancel(self) -> bool:
        """Prevent what has not begun. Returns whether that is all."""
        with self._condition:  # which raises in a forked child
            withdrawn = self._state == "PENDING" and self.withdraw()
        if withdrawn:
            super().cancel()
        return self.cancelled()

    def set_result(self, result: Any) -> None:
        """Answer in place of the signer, which need not sign any more."""
        self.withdraw()
        super().set_result(result)

    def set_exception(self, exception: BaseException | None) -> None:
        """Answer in place of the signer, which need not sign any more."""
        self.withdraw()
        super().set_exception(exception)

    # What the extension calls where somebody has looked at the future.
    def _settle(self, result: Any, exception: BaseException | None) -> None:
        with suppress(InvalidStateError):  # someone else has answered it
            if exception is None:
                super().set_result(result)
            else:
                super().set_exception(exception)

    def _end_withdrawn(self) -> None:
        try:
            super().cancel()
        finally:
            if self._state == "CANCELLED":
                super().set_running_or_notify_cancel()  # which tells those who wait for several


def _error_of(status: int, message: str) -> BaseException:
    """The exception of one request, as `KeyRing.sign` raises it for a single message."""
    if status == Status.NOT_COMPUTED:
        return CancelledError()
    if status > _core.MM_ERR_ITEMS:
        return _call_error(status, message)
    return _item_error("sign", np.ones(1, np.bool_), np.array([status], np.uint8), b"", scalar=True)


def _checked_timeout(timeout: float | None) -> float | None:
    """Return seconds to wait, None for any number of them; a TypeError or ValueError if they are none."""
    if timeout is None:
        return None
    if not isinstance(timeout, (int, float, np.integer, np.floating)):
        raise TypeError(f"timeout must be a number of seconds or None, not {type(timeout).__name__}")
    if timeout != timeout:  # noqa: PLR0124 - math.isnan takes no long integers
        raise ValueError("timeout must be a number of seconds or None, not nan")
    # Locks take no longer ones.
    return float(timeout) if timeout < threading.TIMEOUT_MAX else None


class BatchSigner:
    """Signs single messages for many threads and coroutines, in batches.

    Args:
        scheme: how it signs.
        deadline: as `manymod.rsa.Signer` documents it, and the others.
        max_batch: likewise.
        max_queue: likewise.
        max_waiters: likewise.
        max_concurrent: likewise.
        full: likewise.
    """

    def __init__(
        self,
        scheme: Scheme,
        *,
        deadline: float = 1e-3,
        max_batch: int = 65536,
        max_queue: int = 131072,
        max_waiters: int = 131072,
        max_concurrent: int | None = None,
        full: Literal["block", "raise"] = "block",
    ) -> None:
        if not isinstance(deadline, (int, float, np.integer, np.floating)):
            raise TypeError(f"deadline must be a number of seconds, not {type(deadline).__name__}")
        if not 0 <= deadline < threading.TIMEOUT_MAX:
            raise ValueError(f"deadline must be a number of seconds, not {deadline}")
        if full not in ("block", "raise"):
            raise ValueError(f"full must be 'block' or 'raise', not {full!r}")
        self._scheme = scheme
        self._block = full == "block"
        batch, queue = checked_items("max_batch", max_batch), checked_items("max_queue", max_queue)
        waiters = checked_items("max_waiters", max_waiters)
        if max_concurrent is not None:
            concurrent = checked_items("max_concurrent", max_concurrent)
        else:  # 0: as the library decides for GPUs
            concurrent = 0 if scheme.on_gpu(batch) else scheme.threads or get_threads()
        if concurrent > _core.MAX_THREADS:
            raise ValueError(f"max_concurrent must be at most {_core.MAX_THREADS}, not {concurrent}")
        self._service = _core.SigningService(deadline, batch, queue, waiters, concurrent, _Request, _error_of)
        self._single, self._array = scheme.add(self._service)
        # Neither the thread nor a function of atexit has the signer itself: it can end without close().
        self._delivery = _Delivery(self._service)
        weakref.finalize(self, self._delivery.stop, drain=True).atexit = False  # type: ignore[misc]  # slots

    def _prepare(self, message: Buffer) -> bytes:
        """What waits in the queue."""
        if isinstance(message, memoryview) and not message.c_contiguous:
            message = message.tobytes()
        return self._scheme.prepare(message)

    def submit(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> Future[bytes]:
        """Ask for a signature.

        Args:
            message: the message, which is hashed before this returns where the scheme hashes it first; or its
                digest if the algorithm is `Prehashed`.
            key: index of the key in the ring.
            timeout: seconds to wait for room in the queue; None: as long as it takes.

        Returns:
            A future of the signature. Its ``cancel()`` prevents a request that has not begun. Functions given
            to ``add_done_callback`` run on a thread of the signer, which hands out no other answer while they
            do: they must not wait for one. Requests that they make do not wait for room.

        Raises:
            SignerFullError: if there is no room, or was none within `timeout`.
            SignerClosedError: if the signer is closed.
        """
        index = self._checked_index(message, key)
        future: Future[bytes] = self._service.submit(
            self._single, self._prepare(message), index, self._room(timeout)
        )
        return future

    def submit_many(
        self, messages: Any, keys: Any = None, *, errors: Errors = "raise", timeout: float | None = None
    ) -> Future[Any]:
        """Ask for many signatures at once, at a small part of the cost of as many calls of `submit`.

        They are computed together with those of others, in the order of their arrival. They count one by one,
        but are accepted whole where there is room for one.

        Args:
            messages: in any kind that `KeyRing.sign` takes. They must not change until the future is done.
            keys: an index, or one for each message, as the `key_indices` of `KeyRing.sign`.
            errors: ``"raise"``: the future raises `ItemError` where items cannot be signed, as a call of
                `KeyRing.sign` does; ``"status"``: its result is a pair of the signatures and one `Status` per
                message.
            timeout: as in `submit`.

        Returns:
            A future of all signatures, in the kind of the messages. Its ``cancel()`` prevents what has not
            begun, and succeeds if that is everything; else the rest has `Status.NOT_COMPUTED`.

        Raises:
            SignerFullError: as `submit`.
            SignerClosedError: likewise.
        """
        scheme = self._scheme
        arrays = ArraysOfRequests(
            scheme.items_of("messages", messages),
            keys,
            errors,
            key_count=scheme.keys,
            width_of=scheme.width_of,
            one_size=scheme.one_size,
        )
        if arrays.part == 0:
            done: Job[Any] = Job()
            done.set_result(arrays.finish()[0])
            return done
        future: Future[Any] = self._service.submit_many(
            self._array, arrays.part, *arrays.of_service(), arrays.finish, self._room(timeout)
        )
        return future

    def sign(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> bytes:
        """Sign a message and wait for it; as `submit`. An idle signer computes it on the caller's thread.

        Raises:
            concurrent.futures.TimeoutError: if it is not there `timeout` seconds after it was asked for.
        """
        timeout = _checked_timeout(timeout)
        if timeout is None:
            index = self._checked_index(message, key)
            return self._service.call(self._single, self._prepare(message), index, self._block)
        until = time.monotonic() + timeout
        if self._service.delivers_here():
            raise RuntimeError("sign() in a callback of the signer would wait for itself: use submit()")
        future = self.submit(message, key, timeout=timeout)
        try:
            return future.result(max(0.0, until - time.monotonic()))
        except BaseException:
            future.cancel()
            raise

    async def asign(self, message: Buffer, key: int = 0) -> bytes:
        """Sign a message in a coroutine; as `submit`, but it awaits room instead of blocking the loop.

        A message of a mebibyte or more is hashed on another thread, and must not be changed until then.
        """
        index = self._checked_index(message, key)
        if memoryview(message).nbytes < _LONG_BYTES:
            prepared = self._prepare(message)
        else:
            prepared = await asyncio.to_thread(self._prepare, message)
        if self._block:
            future = self._service.submit_later(self._single, prepared, index)
        else:
            future = self._service.submit(self._single, prepared, index, 0.0)
        signature: bytes = await LoopAnswers.of_running_loop().result(future)
        return signature

    def _room(self, timeout: float | None) -> float:
        """Seconds to wait for room."""
        limit = _checked_timeout(timeout)
        if not self._block:
            return 0.0
        return math.inf if limit is None else limit

    def _checked_index(self, message: Buffer, key: int) -> int:
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"message must be bytes, not {type(message).__name__}")
        if isinstance(key, bool):  # which would be key 0 or 1, as True is 1
            raise TypeError("key must be an integer, not a bool")
        index = checked_integer("key", key)
        if not 0 <= index < self._scheme.keys:
            raise ValueError(f"key {index}: the ring has {self._scheme.keys} keys")
        return index

    def statistics(self) -> SignerStatistics:
        """What the signer has done so far."""
        found = self._service.statistics()
        for name in ("latency", "queued", "computing"):
            times = found[name]
            found[name] = (
                dict(zip(_QUANTILES, (ns * 1e-9 for ns in times), strict=True)) if any(times) else {}
            )
        return SignerStatistics(**found)

    def close(self, *, drain: bool = True) -> None:
        """Take no more requests and return when all that were accepted are answered.

        In a callback of a request it returns at once, and the signer finishes what it has. Close it again
        to wait for that; else the exit of the interpreter does, which cancels what has not begun.

        Args:
            drain: sign those that wait; else they are cancelled. What is being signed is finished either way.
        """
        self._service.stop(checked_flag("drain", drain))
        if self._service.delivers_here():
            return
        self._delivery.join()
        raised = self._service.take_raised()
        if raised is not None:
            raise raised

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close; requests that wait are signed, or cancelled where an exception leaves the block."""
        self.close(drain=kind is None)

    def __repr__(self) -> str:
        """Number of keys."""
        return f"{type(self).__name__}(keys={self._scheme.keys})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled."""
        raise TypeError("a Signer cannot be pickled: make it anew where it is used")


class _Delivery:
    """The thread that hands out a service's answers, from its start to its end.

    The interpreter does not exit before the thread has let go of the service.
    """

    def __init__(self, service: _core.SigningService) -> None:
        self._service: _core.SigningService | None = service
        self._thread = threading.Thread(target=self._run, name="manymod-signer", daemon=True)
        self._thread.start()
        atexit.register(self._at_exit)

    def _run(self) -> None:
        service = self._service
        if service is not None:
            service.deliver()
        # A service that ends here waits for its threads without the interpreter's lock, which a daemon thread
        # never gets back once the interpreter exits: until the service is gone, the exit waits.
        del service
        self._service = None
        atexit.unregister(self._at_exit)

    def stop(self, *, drain: bool) -> None:
        """Take no more requests, and let the thread end once it has answered those that were accepted.

        Any thread may call this, in a garbage collection too; in a forked child it does nothing.
        """
        service = self._service
        if service is not None:
            service.stop(drain)

    def join(self) -> None:
        """Wait for the end of the thread."""
        self._thread.join()

    def _at_exit(self) -> None:
        interrupt: KeyboardInterrupt | None = None
        self.stop(drain=False)
        while self._thread.is_alive():
            try:
                self._thread.join()
            except KeyboardInterrupt as error:  # what is being signed has to end first
                interrupt = error
        if interrupt is not None:
            raise interrupt
