# SPDX-License-Identifier: Apache-2.0
"""A signing service: requests of many threads and coroutines, gathered into batches."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manymod.asynchronous import Job
from manymod.errors import ItemError, ManymodError, _raise_items
from manymod.hardware import get_threads
from manymod.plan import checked_integer, checked_items
from manymod.rsa.keys import PrivateKey
from manymod.rsa.padding import native_padding
from manymod.rsa.ring import KeyRing

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

__all__ = ["Signer", "SignerClosedError", "SignerFullError", "SignerStatistics"]

#: Latencies kept for the quantiles.
_LATENCIES = 1 << 14

#: Of the deadline, how long a request is held back: the rest is for waking up, and for handing out answers.
_HELD_BACK = 0.75

#: Batches at a time where a GPU signs: a batch takes it several deadlines, however small it is.
_GPU_BATCHES = 16


class SignerFullError(ManymodError, RuntimeError):
    """As many requests wait as the signer lets wait."""


class SignerClosedError(ManymodError, RuntimeError):
    """The signer takes no more requests."""


@dataclass(frozen=True)
class SignerStatistics:
    """What a signer has done so far. Every accepted request is signed, failed, cancelled, or still pending.

    Attributes:
        accepted: requests taken into the queue.
        signed: requests answered with a signature.
        failed: requests answered with an exception.
        cancelled: requests cancelled by their caller, or by the closing of the signer, before they began; or
            answered by someone else.
        refused: requests that were not accepted, as the queue was full or the signer closed.
        waiting: requests in the queue now.
        batches: calls made.
        batch_sizes: how many calls had how many requests.
        latency: quantiles 0.5, 0.95 and 0.99 and the maximum (1.0) of the seconds from acceptance to answer,
            over the last 16384 answers; empty where there are none.
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


class _Request:
    """A message, its key, and who waits for the signature."""

    __slots__ = ("accepted_at", "future", "key", "message")

    def __init__(self, message: bytes, key: int) -> None:
        self.message = message
        self.key = key
        self.future: Job[bytes] = Job()
        self.accepted_at = 0.0


class _Service:
    """The queue and the threads that empty it. All fields are guarded by the one lock of all conditions.

    One thread at a time gathers a batch; it signs it while another gathers the next. Threads are started, and
    woken, only when requests wait and fewer batches than `max_concurrent` are being signed.
    """

    def __init__(
        self,
        compute: Callable[[list[bytes], list[int]], Any],
        deadline: float,
        max_batch: int,
        max_queue: int,
        max_concurrent: int,
    ) -> None:
        self._compute = compute
        self._deadline = deadline
        self._max_batch = max_batch
        self._max_queue = max_queue
        self._max_concurrent = max_concurrent
        # Garbage collection may close a coroutine, and so call withdraw(), on a thread that holds it.
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._company = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._room_calls: deque[Callable[[], None]] = deque()
        self._waiting: deque[_Request] = deque()
        self._gathering = False  # a thread gathers a batch, or was called to
        self._called = False  # and has not yet come
        self._idle = 0  # threads that wait to be called
        self._gather_more = False
        self._owners: set[int] = set()  # threads that sign a batch and run its callbacks
        self._closed = False
        self._counts: Counter[str] = Counter()
        self._batch_sizes: Counter[int] = Counter()
        self._latencies: deque[float] = deque(maxlen=_LATENCIES)
        self._process = os.getpid()
        self._threads: list[threading.Thread] = []
        self._start_thread()

    # ---- requests ---------------------------------------------------------------------------------------
    def sign_now(self, request: _Request) -> bool:
        """Sign a request on the calling thread if none waits and one batch more may be signed.

        That saves two switches of threads.

        Returns:
            Whether that was so; if not, the request has not been accepted.
        """
        self._check_process()
        mine = False
        try:
            with self._lock:
                mine = self._has_place() and not (self._waiting or self._gather_more or self._closed)
                if mine:
                    self._owners.add(threading.get_ident())
                    self._accept(request)
            if mine:
                self._answer([request])
        finally:
            if mine:
                self._leave_in_any_case()
        return mine

    def _leave_in_any_case(self) -> None:
        """Give the caller's place back. Ctrl-C comes afterwards: close() waits for the place."""
        interrupt: KeyboardInterrupt | None = None
        left = False
        while not left:
            try:
                self._leave()
                left = True
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _leave(self) -> None:
        with self._lock:
            self._owners.discard(threading.get_ident())
            # Not for nothing: a thread would take the interpreter from the caller's next request.
            self._call_thread()
            if self._closed:
                self._work.notify_all()

    def is_own_thread(self) -> bool:
        """Whether the caller is a callback of a request, for whose end the signer waits."""
        return threading.get_ident() in self._owners

    def put(self, request: _Request, block: bool, timeout: float | None) -> None:
        """Accept a request, waiting for room if asked to, but not for what the caller itself holds up."""
        self._check_process()
        with self._lock:
            if block and not self.is_own_thread() and not self._accepts():
                self._room.wait_for(self._accepts, timeout)
            if not self._try_put(request):
                self._counts["refused"] += 1
                raise SignerFullError(f"{self._max_queue} requests wait already")

    def put_or_call(self, request: _Request, call: Callable[[], None]) -> bool:
        """Accept a request, or else call `call` on some thread once there may be room."""
        self._check_process()
        with self._lock:
            if self._try_put(request):
                return True
            self._room_calls.append(call)
            return False

    def withdraw(self, call: Callable[[], None]) -> None:
        """Forget a `call` of `put_or_call`; if it was made, let another one have the room."""
        if self._process != os.getpid():  # a thread that is gone may hold the parent's lock
            return
        with self._lock:
            try:
                self._room_calls.remove(call)
            except ValueError:
                self._offer_room(1)

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise RuntimeError("the signer belongs to the process that this one was forked off from")

    def _accepts(self) -> bool:
        return self._closed or len(self._waiting) < self._max_queue

    def _try_put(self, request: _Request) -> bool:
        if self._closed:
            self._counts["refused"] += 1
            raise SignerClosedError("the signer is closed")
        if len(self._waiting) >= self._max_queue:
            return False
        self._accept(request)
        self._waiting.append(request)
        if len(self._waiting) >= self._max_batch:
            self._company.notify()
        self._call_thread()
        return True

    def _accept(self, request: _Request) -> None:
        request.accepted_at = time.monotonic()
        self._counts["accepted"] += 1

    def _offer_room(self, count: int) -> None:
        self._room.notify_all()
        while count and self._room_calls:
            # Its event loop is closed, or withdraw() came in between.
            with contextlib.suppress(RuntimeError, IndexError):
                self._room_calls.popleft()()
                count -= 1

    # ---- the serving threads ----------------------------------------------------------------------------
    def _has_place(self) -> bool:
        return len(self._owners) < self._max_concurrent

    def _call_thread(self) -> None:
        """Have a thread take what waits, unless one is about to or as many as may are signing."""
        if self._gathering or not self._waiting or not self._has_place():
            return
        if self._idle:
            self._work.notify()  # first: interrupted in between, it is done again
            self._gathering = self._called = True
            return
        self._gathering = self._called = True
        try:
            self._start_thread()
        except RuntimeError:  # no more threads: one that signs takes what waits when it is done
            self._gathering = self._called = False

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._serve, name="manymod-signer", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _serve(self) -> None:
        while batch := self._next_batch():
            self._answer(batch)

    def _next_batch(self) -> list[_Request]:
        """Requests to sign next; empty when there will be none.

        While what comes is signed one by one, a request is not held back: batches grow from what arrives
        while as many as may are signed, and only after a batch of several does the next one wait for more.
        """
        with self._lock:
            self._owners.discard(threading.get_ident())
            self._wait_for_call()
            if self._waiting and self._gather_more:
                self._wait_for_company(self._waiting[0].accepted_at + _HELD_BACK * self._deadline)
            count = min(len(self._waiting), self._max_batch)
            batch = [self._waiting.popleft() for _ in range(count)]
            self._gathering = False
            self._gather_more = count > 1
            if batch:
                self._owners.add(threading.get_ident())
            self._call_thread()
            if self._closed:
                self._work.notify_all()
            self._offer_room(count)
            return batch

    def _wait_for_call(self) -> None:
        if self._waiting and not self._gathering and self._has_place():
            self._gathering = True
            return
        self._idle += 1
        while not (self._called or (self._closed and not self._waiting)):
            self._work.wait()
        self._idle -= 1
        self._called = False

    def _wait_for_company(self, until: float) -> None:
        while len(self._waiting) < self._max_batch and not self._closed:
            left = until - time.monotonic()
            if left <= 0:
                break
            self._company.wait(left)

    def _answer(self, batch: list[_Request]) -> None:
        live = [request for request in batch if _begins(request)]
        outcomes = self._outcomes(live) if live else []
        stopped: BaseException | None = None
        for request, outcome in zip(live, outcomes, strict=True):
            try:
                if isinstance(outcome, bytes):
                    request.future.set_result(outcome)
                else:
                    request.future.set_exception(outcome)
            except InvalidStateError:
                pass  # someone else has set it
            except BaseException as error:  # noqa: BLE001 - of a callback; the others' answers come first
                stopped = error
        signed = sum(isinstance(outcome, bytes) for outcome in outcomes)
        now = time.monotonic()
        with self._lock:
            self._counts.update(signed=signed, failed=len(live) - signed, cancelled=len(batch) - len(live))
            if live:
                self._batch_sizes[len(live)] += 1
                self._latencies.extend(now - request.accepted_at for request in live)
        if stopped is not None and threading.current_thread() not in self._threads:
            raise stopped

    def _outcomes(self, live: list[_Request]) -> list[bytes | BaseException]:
        """A signature or an exception for each request."""
        try:
            signatures, statuses = self._compute(
                [request.message for request in live], [request.key for request in live]
            )
            return [
                signature if status == 0 else _item_error(status)
                for signature, status in zip(signatures, statuses.tolist(), strict=True)
            ]
        except BaseException as error:  # noqa: BLE001 - whoever waits for the signatures handles it
            return [error] * len(live)

    # ---- the end ----------------------------------------------------------------------------------------
    def close(self, drain: bool) -> bool:
        """Accept no more, sign what waits or cancel it, and wait until all is answered (but in callbacks).

        Returns:
            Whether all is answered.
        """
        if self._process != os.getpid():
            return True
        dropped: list[_Request] = []
        with self._lock:
            self._closed = True
            if not drain:
                dropped.extend(self._waiting)
                self._waiting.clear()
                self._counts["cancelled"] += len(dropped)
            self._work.notify_all()
            self._company.notify_all()
            self._offer_room(len(self._room_calls))
        stopped = _cancel_all(dropped)
        finished = not self.is_own_thread()
        if finished:
            with self._lock:
                self._work.wait_for(lambda: not (self._waiting or self._owners))
            for thread in self._threads:
                thread.join()
        if stopped is not None:
            raise stopped
        return finished

    def abandon(self) -> None:
        """Close at the end of the interpreter."""
        self.close(drain=False)

    def statistics(self) -> SignerStatistics:
        """A snapshot."""
        self._check_process()
        with self._lock:
            latencies = np.array(self._latencies)
            quantiles = (0.5, 0.95, 0.99, 1.0) if len(latencies) else ()
            return SignerStatistics(
                **{
                    name: self._counts[name]
                    for name in ("accepted", "signed", "failed", "cancelled", "refused")
                },
                waiting=len(self._waiting),
                batches=self._batch_sizes.total(),
                batch_sizes=dict(sorted(self._batch_sizes.items())),
                latency={quantile: float(np.quantile(latencies, quantile)) for quantile in quantiles},
            )


def _begins(request: _Request) -> bool:
    """Whether a request waits for its answer: it is not cancelled, and nobody else has answered it."""
    try:
        return request.future.set_running_or_notify_cancel()
    except RuntimeError:  # it is in a state that someone else has set
        return not request.future.done()


def _cancel_all(requests: list[_Request]) -> BaseException | None:
    """Cancel them all, whatever their callbacks raise. Returns the last such exception."""
    stopped: BaseException | None = None
    for request in requests:
        try:
            request.future.cancel()
        except BaseException as error:  # noqa: BLE001 - the others' ends come first
            stopped = error
        if request.future.cancelled():
            _begins(request)  # which tells those who wait for several
    return stopped


def _item_error(status: int) -> ItemError:
    """What `KeyRing.sign` raises for a single message."""
    try:
        _raise_items("sign", np.ones(1, np.bool_), np.array([status], np.uint8), b"", scalar=True)
    except ItemError as error:
        return error.with_traceback(None)


def _batches_at_a_time(ring: KeyRing, batch: int) -> int:
    if any(".cuda." in ring.variant_for(key, batch) for key in range(len(ring))):
        return _GPU_BATCHES
    return ring.threads or get_threads()


class Signer:
    """Signs single messages for many threads and coroutines, in batches.

    Requests wait in a queue of bounded length; threads take them out, at most `max_batch` at a time, and sign
    them in one call. A batch begins when `max_batch` requests wait, or when the first of them has waited for
    `deadline`, and `max_concurrent` batches may be signed at the same time; a request that finds the signer
    idle is signed at once, one of `sign` without a timeout on its caller's own thread.

    Args:
        keys: a `PrivateKey`, or a `KeyRing` whose keys requests name by their index.
        padding: as in `KeyRing.sign`.
        algorithm: as in `KeyRing.sign`.
        deadline: seconds that a request may be held back for others to join it; a quarter of them is left to
            the threads and the interpreter.
        max_batch: most requests of one call.
        max_queue: most requests that wait.
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
        max_concurrent: int | None = None,
        full: Literal["block", "raise"] = "block",
    ) -> None:
        native = native_padding(padding, algorithm, "sign")  # once for all requests
        if not 0 <= deadline < threading.TIMEOUT_MAX:
            raise ValueError(f"deadline must be a number of seconds, not {deadline}")
        if full not in {"block", "raise"}:
            raise ValueError(f"full must be 'block' or 'raise', not {full!r}")
        if not isinstance(keys, (PrivateKey, KeyRing)):
            raise TypeError(f"keys must be a PrivateKey or a KeyRing, not {type(keys).__name__}")
        self._ring = keys if isinstance(keys, KeyRing) else KeyRing([keys])
        self._block = full == "block"

        def compute(messages: list[bytes], indices: list[int]) -> Any:
            keys = indices if several else None
            return ring.sign(messages, keys, native, algorithm, errors="status")

        ring = self._ring  # the thread must not keep the signer
        several = len(ring) > 1
        batch, queue = checked_items("max_batch", max_batch), checked_items("max_queue", max_queue)
        if max_concurrent is None:
            max_concurrent = _batches_at_a_time(ring, batch)
        concurrent = checked_items("max_concurrent", max_concurrent)
        self._service = _Service(compute, deadline, batch, queue, concurrent)
        atexit.register(self._service.abandon)

    def submit(self, message: Buffer, key: int = 0, *, timeout: float | None = None) -> Future[bytes]:
        """Ask for a signature.

        Args:
            message: the message, or its digest if the algorithm is `Prehashed`.
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
        """Sign a message in a coroutine; as `submit`, but it awaits room instead of blocking the loop."""
        request = self._request(message, key)
        if self._block:
            await self._accepted(request)
        else:
            self._service.put(request, block=False, timeout=None)
        return await asyncio.wrap_future(request.future)

    async def _accepted(self, request: _Request) -> None:
        loop = asyncio.get_running_loop()
        room = asyncio.Event()

        def call() -> None:
            loop.call_soon_threadsafe(room.set)

        while not self._service.put_or_call(request, call):
            try:
                await room.wait()
            except BaseException:  # cancelled, or closed
                self._service.withdraw(call)
                raise
            room.clear()

    def _request(self, message: Buffer, key: int) -> _Request:
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"message must be bytes, not {type(message).__name__}")
        index = checked_integer("key", key)
        if not 0 <= index < len(self._ring):
            raise ValueError(f"key {index}: the ring has {len(self._ring)} keys")
        return _Request(bytes(message), index)

    def statistics(self) -> SignerStatistics:
        """What the signer has done so far."""
        return self._service.statistics()

    def close(self, *, drain: bool = True) -> None:
        """Take no more requests and return when all that were accepted are answered.

        In a callback of a request it returns at once, and the signer goes on with what it has. Close it again
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
