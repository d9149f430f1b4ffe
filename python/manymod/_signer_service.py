# SPDX-License-Identifier: Apache-2.0
"""The queue of a `Signer`, and the threads that take batches from it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import InvalidStateError
from dataclasses import dataclass
from typing import Any

import numpy as np

from manymod.asynchronous import Job
from manymod.errors import ItemError, ManymodError, _item_error

__all__ = ["Request", "Service", "SignerClosedError", "SignerFullError", "SignerStatistics"]

#: Latencies kept for the quantiles.
_LATENCIES = 1 << 14

#: Of the deadline, how long a request is held back: the rest is for waking up, and for handing out answers.
_HELD_BACK = 0.75


class SignerFullError(ManymodError, RuntimeError):
    """As many requests wait as the signer lets wait, or as many coroutines for room."""


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


class Request:
    """The digest of a message, its key, and who waits for the signature."""

    __slots__ = ("accepted_at", "digest", "future", "key")

    def __init__(self, digest: bytes, key: int) -> None:
        self.digest = digest
        self.key = key
        self.future: Job[bytes] = Job()
        self.accepted_at = 0.0


class Service:
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
        max_waiters: int,
        max_concurrent: int,
    ) -> None:
        self._compute = compute
        self._deadline = deadline
        self._max_batch = max_batch
        self._max_queue = max_queue
        self._max_waiters = max_waiters
        self._max_concurrent = max_concurrent
        # Garbage collection may close a coroutine, and so call withdraw(), on a thread that holds it.
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._company = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._room_calls: deque[Callable[[], None]] = deque()
        self._waiting: deque[Request] = deque()
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
    def sign_now(self, request: Request) -> bool:
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

    def put(self, request: Request, block: bool, timeout: float | None) -> None:
        """Accept a request, waiting for room if asked to, but not for what the caller itself holds up."""
        self._check_process()
        with self._lock:
            if block and not self.is_own_thread() and not self._accepts():
                self._room.wait_for(self._accepts, timeout)
            if not self._try_put(request):
                self._counts["refused"] += 1
                raise SignerFullError(f"{self._max_queue} requests wait already")

    def put_or_call(self, request: Request, call: Callable[[], None], called: bool) -> bool:
        """Accept a request, or else call `call` on some thread once there may be room.

        `called`: whether that was done before; the caller has its place among those that await room.
        """
        self._check_process()
        with self._lock:
            if self._try_put(request):
                return True
            if not called and len(self._room_calls) >= self._max_waiters:
                self._counts["refused"] += 1
                raise SignerFullError(f"{self._max_waiters} requests await room already")
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

    def _try_put(self, request: Request) -> bool:
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

    def _accept(self, request: Request) -> None:
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

    def _next_batch(self) -> list[Request]:
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

    def _answer(self, batch: list[Request]) -> None:
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

    def _outcomes(self, live: list[Request]) -> list[bytes | BaseException]:
        """A signature or an exception for each request."""
        try:
            signatures, statuses = self._compute(
                [request.digest for request in live], [request.key for request in live]
            )
            return [
                signature if status == 0 else _error_of(status)
                for signature, status in zip(signatures, statuses.tolist(), strict=True)
            ]
        except BaseException as error:  # noqa: BLE001 - whoever waits for the signatures handles it
            return [_fresh(error) for _ in live]

    # ---- the end ----------------------------------------------------------------------------------------
    def close(self, drain: bool) -> bool:
        """Accept no more, sign what waits or cancel it, and wait until all is answered (but in callbacks).

        Returns:
            Whether all is answered.
        """
        if self._process != os.getpid():
            return True
        dropped: list[Request] = []
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


def _begins(request: Request) -> bool:
    """Whether a request waits for its answer: it is not cancelled, and nobody else has answered it."""
    try:
        return request.future.set_running_or_notify_cancel()
    except RuntimeError:  # it is in a state that someone else has set
        return not request.future.done()


def _cancel_all(requests: list[Request]) -> BaseException | None:
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


def _error_of(status: int) -> ItemError:
    """What `KeyRing.sign` raises for a single message."""
    return _item_error("sign", np.ones(1, np.bool_), np.array([status], np.uint8), b"", scalar=True)


def _fresh(error: BaseException) -> BaseException:
    """An exception like `error` for one caller: without traceback, cause and context, which show others'."""
    try:
        return type(error)(*error.args)
    except Exception:  # noqa: BLE001 - its class takes other arguments than it keeps
        return RuntimeError(f"{type(error).__name__}: {error}")
