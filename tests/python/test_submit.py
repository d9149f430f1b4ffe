# SPDX-License-Identifier: Apache-2.0
"""Calls on threads of their own: answers and errors, cancelling, forks, the end of the interpreter."""

from __future__ import annotations

import asyncio
import functools
import gc
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, as_completed, wait
from typing import Any

import numpy as np
import pytest

import manymod
from manymod.asynchronous import MAX_JOBS

N = 2**255 - 19

#: Takes minutes.
LONG = "[3] * 200_000, 2**4096 - 1, 2**4096 - 17"


class EnoughError(Exception):
    pass


class Held:
    """A call that stays in its progress function until it is let go, which stops it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.free = threading.Event()
        self.future = manymod.submit(
            manymod.powmod, [3] * 1000, 2**4096 - 1, 2**4096 - 17, threads=1, progress=self._hold
        )

    def _hold(self, _done: int, _total: int) -> None:
        self.begun.set()
        assert self.free.wait(60)
        raise EnoughError


@pytest.fixture
def held() -> Iterator[list[Held]]:
    """Calls on all threads."""
    calls = [Held() for _ in range(MAX_JOBS)]
    assert all(call.begun.wait(60) for call in calls)
    yield calls
    for call in calls:
        call.free.set()
        assert isinstance(call.future.exception(60), EnoughError)


def test_every_operation() -> None:
    x, y = list(range(2, 40)), list(range(3, 41))
    limbs = np.arange(8, dtype=np.uint64).reshape(4, 2)
    plan = manymod.Plan("mulmod", modulus=N)
    fixed = manymod.FixedBase(3, N)
    calls = [
        functools.partial(function, x, y, N) for function in (manymod.addmod, manymod.submod, manymod.mulmod)
    ]
    calls += [
        functools.partial(function, x, N) for function in (manymod.negmod, manymod.sqrmod, manymod.invmod)
    ]
    calls += [functools.partial(function, x, y, N) for function in (manymod.powmod, manymod.powmod_sec)]
    calls += [functools.partial(manymod.multi_powmod, x, y, N), functools.partial(plan, x, y)]
    calls += [
        functools.partial(fixed.powmod, x),
        functools.partial(manymod.powmod, 2, 10, 1000, errors="status"),
    ]
    futures = [manymod.submit(call) for call in calls]
    futures += [manymod.submit(call.func, *call.args, **call.keywords) for call in calls]
    assert [future.result(60) for future in futures] == [call() for call in calls] * 2
    squares = manymod.submit(manymod.sqrmod, limbs, N).result(60)
    assert squares.tolist() == manymod.sqrmod(limbs, N).tolist()


def test_methods_of_plans_and_fixed_bases() -> None:
    plan, fixed = manymod.Plan("powmod", modulus=1009), manymod.FixedBase(3, 1009)
    assert plan.submit([2, 3], exp=5).result(60) == [32, 243]
    assert fixed.submit([2, 3]).result(60) == [9, 27]
    results, statuses = plan.submit([0, 3], -1, errors="status").result(60)
    assert results == [0, pow(3, -1, 1009)]
    assert statuses.tolist() == [manymod.Status.NOT_INVERTIBLE, manymod.Status.OK]


def test_results_in_place() -> None:
    out = [0, 0]
    assert manymod.submit(manymod.mulmod, [2, 3], 5, 7, out=out).result(60) is out
    assert out == [3, 1]


def test_errors_come_with_the_future() -> None:
    future = manymod.submit(manymod.invmod, [3, 5, 4], 10)
    with pytest.raises(manymod.ItemValueError) as caught:
        future.result(60)
    assert caught.value.indices == [1, 2]
    assert isinstance(manymod.submit(manymod.powmod, "2", 3, 5).exception(60), TypeError)
    unknown = functools.partial(manymod.powmod, nonsense=1)
    assert isinstance(manymod.submit(unknown, 2, 3, 5).exception(60), TypeError)
    with pytest.raises(TypeError):
        manymod.submit()  # type: ignore[call-arg]


def test_an_error_does_not_keep_the_operands() -> None:
    array = np.array([[3], [5], [4]], np.uint64)
    kept = weakref.ref(array)
    future = manymod.submit(manymod.invmod, array, 10)
    assert isinstance(future.exception(60), manymod.ItemError)
    gc.disable()
    try:
        del future, array
        # The thread lets go of its last call a moment after the future is done.
        deadline = time.monotonic() + 30
        while kept() is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert kept() is None
    finally:
        gc.enable()


def test_submissions_from_many_threads() -> None:
    wrong = []

    def work(seed: int) -> None:
        bases = [[seed + i, 2 * seed + i] for i in range(50)]
        futures = [manymod.submit(manymod.powmod, base, seed, N) for base in bases]
        answers = [future.result(60) for future in futures]
        if answers != [[pow(b, seed, N) for b in base] for base in bases]:
            wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


def test_progress_is_called_on_the_other_thread() -> None:
    seen: list[tuple[int, int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total, threading.get_ident()))

    manymod.submit(manymod.powmod, [3] * 10, 5, N, progress=progress).result(60)
    assert seen[-1][:2] == (10, 10)
    assert seen[-1][2] != threading.get_ident()
    seen.clear()
    manymod.submit(functools.partial(manymod.powmod, progress=progress), [3] * 10, 5, N).result(60)
    assert seen[-1][:2] == (10, 10)


def test_cancelled_before_it_begins(held: list[Held]) -> None:
    called = []
    future = manymod.submit(manymod.powmod, [2], 3, 5, progress=lambda *numbers: called.append(numbers))
    kept = manymod.submit(manymod.powmod, [2], 3, 5)
    future.add_done_callback(lambda _: called.append((0, 0)))
    assert not future.running()
    assert future.cancel()
    assert future.cancelled()
    assert future.done()
    assert called == [(0, 0)]
    with pytest.raises(CancelledError):
        future.result(60)
    assert held[0].future.running()
    assert not held[0].future.cancel()
    held[0].free.set()
    assert kept.result(60) == [3]
    assert called == [(0, 0)]


def test_they_begin_in_order(held: list[Held]) -> None:
    ended: list[int] = []

    def note(number: int, _future: Future[Any]) -> None:
        ended.append(number)

    futures = [manymod.submit(manymod.mulmod, [i], 1, N) for i in range(30)]
    for number, future in enumerate(futures):
        future.add_done_callback(functools.partial(note, number))
    assert not any(future.done() for future in futures)
    held[0].free.set()  # one thread
    assert not wait(futures, 60).not_done
    assert ended == list(range(30))


def test_in_a_coroutine() -> None:
    async def powers() -> list[Any]:
        futures = [manymod.submit(manymod.powmod, [2, 3], exp, 1009) for exp in (5, 6)]
        answers = await asyncio.gather(*(asyncio.wrap_future(future) for future in futures))
        with pytest.raises(manymod.ItemValueError):
            await asyncio.wrap_future(manymod.submit(manymod.invmod, 2, 4))
        return answers

    assert asyncio.run(powers()) == [[32, 243], [64, 729]]


def test_a_cancelled_task_cancels_a_call_that_waits(held: list[Held]) -> None:
    future = manymod.submit(manymod.powmod, [2], 3, 5)

    async def impatient() -> None:
        await asyncio.wait_for(asyncio.wrap_future(future), 0.01)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(impatient())
    assert future.cancelled()


def child_work(unfinished: Future[list[int]], finished: Future[list[int]], queue: Any) -> None:
    raised = []
    attempts = (
        unfinished.result,
        unfinished.done,
        unfinished.cancel,
        lambda: wait([unfinished]),
        lambda: next(as_completed([unfinished])),
    )
    for attempt in attempts:
        try:
            attempt()
        except RuntimeError as error:
            raised.append("forked off" in str(error))
    queue.put((raised, finished.result(60), manymod.submit(manymod.powmod, [2], 10, 1000).result(60)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(held: list[Held]) -> None:
    finished = manymod.submit(manymod.powmod, [2], 3, 1009)
    waiting = manymod.submit(manymod.powmod, [2], 4, 1009)
    held[0].free.set()
    assert wait([finished, waiting], 60).not_done == set()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=child_work, args=(held[1].future, finished, queue))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    assert queue.get() == ([True] * 5, [8], [24])
    assert waiting.result(60) == [16]


def run_script(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.mark.skipif(not hasattr(threading, "_register_atexit"), reason="this Python has no hook for it")
def test_the_interpreter_exits_without_waiting_for_the_end() -> None:
    """Each of these calls would take minutes."""
    done = run_script(f"""
import functools, manymod, threading
begun = threading.Event()
plan = manymod.Plan("powmod", modulus_bits=4096)
fixed = manymod.FixedBase(3, 2**4096 - 17)
manymod.submit(manymod.powmod, {LONG}, progress=lambda *_: begun.set())
manymod.submit(functools.partial(manymod.powmod, {LONG}))
plan.submit({LONG})
fixed.submit([2**4096 - 1] * 400_000)
for _ in range(20):
    last = manymod.submit(manymod.powmod, {LONG})
last.add_done_callback(lambda future: print("cancelled", future.cancelled()))
begun.wait()
print("end")
""")
    assert (done.returncode, done.stdout.split("\n"), done.stderr) == (0, ["end", "cancelled True", ""], "")


def test_the_package_in_functions_of_atexit() -> None:
    done = run_script("""
import atexit, threading
@atexit.register
def late():
    import manymod
    print(manymod.powmod(2, 10, 1000))
    try:
        manymod.submit(manymod.powmod, 2, 10, 1000)
    except RuntimeError:
        print("refused")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "24\nrefused\n", "")


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C until something is printed: Python misses one that comes just before it begins to wait."""
    process.send_signal(signal.SIGINT)
    while not select.select([process.stdout], [], [], 5)[0]:
        process.send_signal(signal.SIGINT)


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.skipif(not hasattr(threading, "_register_atexit"), reason="this Python has no hook for it")
def test_ctrl_c_interrupts_the_wait_and_the_exit_stops_the_call() -> None:
    code = f"""
import manymod, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
begun = threading.Event()
future = manymod.submit(manymod.powmod, {LONG}, progress=lambda *_: begun.set())
begun.wait()
try:
    print("ready", flush=True)
    future.result()
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("interrupted", future.running(), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            interrupt(process)
            assert process.stdout.readline() == "interrupted True\n"
            assert process.wait(120) == 0
        finally:
            process.kill()
