# SPDX-License-Identifier: Apache-2.0
"""Asynchronous calls: on threads of their own, while the caller continues."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any, ParamSpec, TypeVar, cast

from manymod._device import order_behind_caller
from manymod._forked import leave_behind

# Loaded with the package and not by the first call: a child that was forked off while another thread loads a
# module can never load it. Functions of atexit can load the package, but no longer this module.
with contextlib.suppress(RuntimeError):
    import concurrent.futures.thread

__all__ = ["MAX_JOBS", "Job", "submit"]

#: Calls that run at a time. Two or three keep a GPU fed, and more calls on CPUs would only share their cores.
MAX_JOBS = 8

P = ParamSpec("P")
R = TypeVar("R")

_ENDED = frozenset({"CANCELLED", "CANCELLED_AND_NOTIFIED", "FINISHED"})


class Job(Future[R]):
    """A future that raises in a forked child, which lacks the thread that would end it, instead of hanging.

    All methods of futures that may change or wait, and the functions that wait for several, begin by taking
    `_condition`. It is made when it is first asked for: most futures of a batch end before anybody does.
    """

    _own_condition: threading.Condition | None = None
    _exception: BaseException | None = None

    def __init__(self) -> None:
        # The rest of what Future.__init__ sets comes with the condition.
        self._process = os.getpid()
        self._result = None
        self._state = "PENDING"

    @property
    def _condition(self) -> threading.Condition:  # type: ignore[override]  # nobody else sets it
        if self._process != os.getpid():
            if self._state not in _ENDED:
                raise RuntimeError(
                    "the call had not ended when this process was forked off: it runs in the parent only"
                )
            # A thread that is gone may hold the parent's.
            self._process = os.getpid()
            self.__dict__.pop("_own_condition", None)
        condition = self._own_condition
        return self._make_condition() if condition is None else condition

    def _make_condition(self) -> threading.Condition:
        own = self.__dict__
        own.setdefault("_waiters", [])
        own.setdefault("_done_callbacks", [])
        # Last: who finds it finds the others. Of several threads that make one, all get the first one's.
        condition: threading.Condition = own.setdefault("_own_condition", threading.Condition())
        return condition

    def done(self) -> bool:
        """As that of every future."""
        return self._state in _ENDED or super().done()

    def result(self, timeout: float | None = None) -> R:
        """As that of every future."""
        if self._state == "FINISHED" and self._exception is None:
            return cast("R", self._result)
        return super().result(timeout)

    def __repr__(self) -> str:
        try:
            return super().__repr__()
        except RuntimeError:
            return f"<{type(self).__name__} of the parent process>"


#: What a job calls.
_Call = tuple[Job[Any], Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]


class _Threads:
    """Threads of one process, started as they are needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: concurrent.futures.ThreadPoolExecutor | None = None
        self.stopping = False

    def executor(self) -> concurrent.futures.ThreadPoolExecutor:
        """The executor, started at its first use.

        Raises:
            RuntimeError: if the interpreter exits.
        """
        with self._lock:
            if self._executor is None:
                self._executor = concurrent.futures.ThreadPoolExecutor(MAX_JOBS, thread_name_prefix="manymod")
                # The executor's threads are joined before functions of atexit are called. Of these hooks the
                # last is called first. Where Python has none, its exit waits for the calls.
                register = getattr(threading, "_register_atexit", None)
                if register is not None:
                    register(self.stop)
            return self._executor

    def stop(self) -> None:
        """Let what runs end soon and nothing begin."""
        self.stopping = True

    def run(self, work: list[_Call]) -> None:
        """Compute the one call in `work`, unless it was cancelled or the interpreter exits."""
        # The traceback of an error keeps this frame and its callers: they must not keep job and operands.
        job, function, args, options = work.pop()
        try:
            if self.stopping:
                job.cancel()
            if not job.set_running_or_notify_cancel():
                return
            try:
                result = function(*args, **self._stoppable(function, options))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the result handles it
                job.set_exception(error)
            else:
                job.set_result(result)
                del result
        finally:
            del job, function, args, options

    def _stoppable(self, function: Callable[..., Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
        """`options` with a progress function that stops a call of this package when the interpreter exits."""
        given = dict(options)
        while isinstance(function, functools.partial):
            given = {**function.keywords, **given}
            function = function.func
        module = getattr(function, "__module__", None) or ""
        if not module.startswith("manymod.") or "progress" not in inspect.signature(function).parameters:
            return options
        progress = given.get("progress")

        def watch(done: int, total: int) -> None:
            if self.stopping:
                raise CancelledError("the interpreter exits")
            if progress is not None:
                progress(done, total)

        return {**options, "progress": watch}


_threads = _Threads()


def _forget_in_child() -> None:
    """After a fork: leave the parent's threads, which are gone, and their locks alone."""
    global _threads  # noqa: PLW0603
    leave_behind(_threads)
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


def submit(function: Callable[P, R], /, *args: P.args, **options: P.kwargs) -> Future[R]:
    """Call a function of this package on another thread, and return at once.

    Calls begin in the order of their submission, up to 8 at a time; the GIL is free while they compute, and
    they share the CPU threads of all calls (see `set_threads`).

    Args:
        function: `powmod` or any other operation, a `Plan`, or the method `powmod` of a `FixedBase`.
        *args: its operands. They, and `out`, must not be changed until the future is done.
        **options: its keywords. `progress` is called on the other thread.

    Returns:
        A `concurrent.futures.Future` of what the function returns or raises. Its ``cancel()`` prevents a call
        that has not begun; one that runs is stopped by an exception of its `progress` alone. In a coroutine,
        await ``asyncio.wrap_future(future)``. Ctrl-C interrupts ``future.result()``, not the call.

    When the interpreter exits, calls that have not begun are cancelled and those that run are stopped: ask
    for the results that you need before. In a forked child, a future that was not done at the fork raises
    RuntimeError.

    >>> import manymod
    >>> futures = [manymod.submit(manymod.powmod, [2, 3, 5], exp, 1_000_003) for exp in (10, 20)]
    >>> [future.result() for future in futures]
    [[1024, 59049, 765598], [48573, 773943, 539190]]
    >>> manymod.submit(manymod.invmod, 2, 4).exception()
    ItemValueError('base is not invertible for the given modulus')
    """
    order_behind_caller((*args, *options.values()))
    threads = _threads
    job: Job[R] = Job()
    threads.executor().submit(threads.run, [(job, function, args, options)])
    return job
