# SPDX-License-Identifier: Apache-2.0
"""The signer when things go wrong or end: callbacks, failures, closing, exit, forks, arguments."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np
import pytest
from tests.python import fake_gpu
from tests.python.rsa_support import peer_key, private_key
from tests.python.signer_support import (
    BITS,
    HOW,
    Gate,
    check_counts,
    is_closed,
    message,
    one_at_a_time,
    wait_until,
)

import manymod
from manymod import rsa


def test_answers_set_once_whatever_callbacks_do(expected: list[bytes]) -> None:
    """Callbacks that raise or that ask for more on the signer's own thread."""
    again: list[Future[bytes]] = []
    calls: Counter[int] = Counter()

    with rsa.Signer(private_key(BITS), *HOW) as signer:

        def callback(number: int, _future: Future[bytes]) -> None:
            calls[number] += 1
            again.append(signer.submit(message(number + 100)))
            raise ArithmeticError("in a callback")

        futures = [signer.submit(message(number)) for number in range(100)]
        for number, future in enumerate(futures):
            future.add_done_callback(functools.partial(callback, number))
        assert [future.result(60) for future in futures] == expected[:100]
        wait_until(lambda: len(again) == 100)
        assert {future.result(60) for future in again} == set(expected[100:200])
    assert calls == Counter(range(100))


def test_callbacks_cannot_make_the_signer_wait_for_itself() -> None:
    outcomes: list[Any] = []
    entered, done = threading.Event(), threading.Event()
    asker = threading.current_thread()

    def in_callback(_future: Future[bytes]) -> None:
        if threading.current_thread() is asker:  # as where the answer came before the callback
            return
        entered.set()

        def fill(ask: Any, *more: Any) -> None:
            while True:  # for what is computed waits for this thread too
                ask(*more)

        attempts = (
            lambda: signer.sign(b"itself"),
            lambda: signer.sign(b"itself", timeout=60),
            lambda: fill(signer.submit, b"more"),
            lambda: fill(signer.submit_many, [b"more"]),
            signer.close,
        )
        for attempt in attempts:
            try:
                attempt()
            except (RuntimeError, rsa.SignerFullError) as error:
                outcomes.append(type(error))
        done.set()
        raise SystemExit

    signer = one_at_a_time(max_queue=2)
    while not entered.is_set():
        future = signer.submit(b"a")
        future.add_done_callback(in_callback)
        assert future.result(60)
        entered.wait(0.01)
    assert done.wait(60)
    signer.close()
    assert outcomes == [RuntimeError, RuntimeError, rsa.SignerFullError, rsa.SignerFullError]
    found = signer.statistics()
    check_counts(found)
    assert (found.failed, found.cancelled, found.refused) == (0, 0, 2)


def test_futures_that_someone_else_answers(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time(max_queue=9) as signer:
        held = gate.hold(signer, 9)
        futures = [signer.submit(message(number)) for number in range(5)]
        futures[1].set_result(b"mine")
        futures[2].set_exception(KeyError("mine"))
        futures[3].set_running_or_notify_cancel()  # not an answer
        assert not futures[3].cancel()
        held[-1].set_result(b"mine")  # too late to spare the signer the work
        gate.open.set()
        assert [futures[number].result(20) for number in (0, 3, 4)] == [
            expected[number] for number in (0, 3, 4)
        ]
        assert futures[1].result(0) == held[-1].result(0) == b"mine"
        assert signer.sign(message(5)) == expected[5]
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.cancelled) == (len(held) + 4, 2)


def test_closing_ends_all_requests_whatever_their_callbacks_raise(gate: Gate) -> None:
    def leave(_future: Future[bytes]) -> None:
        raise SystemExit

    signer = one_at_a_time(max_queue=9)
    held = gate.hold(signer, 9)
    waiting = [signer.submit(message(number)) for number in range(1, 6)]
    waiting[0].set_result(b"mine")
    for future in waiting[1:3]:
        future.add_done_callback(leave)
    closing = manymod.submit(signer.close, drain=False)
    wait_until(lambda: signer.statistics().waiting == 0)
    gate.open.set()
    with pytest.raises(SystemExit):
        closing.result(60)
    assert all(future.result(0) for future in held)
    assert [future.cancelled() for future in waiting] == [False] + [True] * 4
    signer.close()
    check_counts(signer.statistics())


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread")
@pytest.mark.parametrize("full", [False, True])
def test_ctrl_c_ends_a_wait(gate: Gate, full: bool) -> None:
    """For an answer, and for room."""

    def interrupt() -> None:
        if not full:
            wait_until(lambda: signer.statistics().waiting == 1)
        signal.pthread_kill(asker, signal.SIGINT)

    asker = threading.get_ident()
    with one_at_a_time(max_queue=2) as signer:
        held = gate.hold(signer, 2)
        waiting = [signer.submit(message(number)) for number in range(2 if full else 0)]
        thread = threading.Thread(target=interrupt, daemon=True)

        def sign() -> None:
            thread.start()
            signer.sign(b"a")

        with pytest.raises(KeyboardInterrupt):
            sign()
        thread.join()
        assert signer.statistics().waiting == len(waiting)
        gate.open.set()
        assert all(future.result(60) for future in waiting)
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.cancelled) == (len(held) + len(waiting), 0 if full else 1)


def test_items_that_cannot_be_signed_fail_alone() -> None:
    ring = rsa.KeyRing([private_key(BITS), private_key(BITS).public_key()])
    good = bytes(32)
    with rsa.Signer(ring, "pkcs1v15", rsa.Prehashed("sha256")) as signer:
        futures = [
            signer.submit(digest, key) for _ in range(50) for digest in (good, b"short") for key in (0, 1)
        ]
        concurrent.futures.wait(futures, 60)
    signature = private_key(BITS).sign(good, "pkcs1v15", rsa.Prehashed("sha256"))
    for number, future in enumerate(futures):
        if number % 4 == 0:
            assert future.result() == signature
        else:
            error = future.exception()
            assert isinstance(error, rsa.ItemValueError)
            assert ("no such key" if number % 2 else "length") in str(error)
            assert (error.__traceback__, error.__context__) == (None, None)
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.failed) == (50, 150)


ON_GPU = """
import json, sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from manymod import rsa
from manymod.asynchronous import Job
from tests.python.fake_gpu import lose

given = json.load(sys.stdin)
key = rsa.PrivateKey.from_numbers(n=given["n"], e=65537, d=given["d"])
answers = Counter()

errors = []

def ask(number):
    if number == given["lost_at"]:
        lose()
    future = signer.submit(b"request %d" % number)
    error = future.exception(60)
    if error is None:
        answers[number, future.result(0).hex()] += 1
    else:
        answers[number, type(error).__name__] += 1
        errors.append(error)

ring = rsa.KeyRing([key], device=given["device"], variant="row32.cuda.t1")
options = {"max_concurrent": given["concurrent"]}
with rsa.Signer(ring, "pkcs1v15", "sha256", **options) as signer, ThreadPoolExecutor(8) as pool:
    list(pool.map(ask, range(given["requests"])))
found = signer.statistics()
json.dump({
    "answers": [[number, answer, times] for (number, answer), times in answers.items()],
    "counts": [found.accepted, found.signed, found.failed],
    # Every request has an exception of its own, which shows nothing of others.
    "fresh": len({id(error) for error in errors}) == len(errors)
    and all(error.__traceback__ is error.__cause__ is error.__context__ is None for error in errors),
}, sys.stdout)
"""


def test_a_gpu_lost_midway(expected: list[bytes]) -> None:
    """On device auto nobody notices; on device cuda those who come too late are told."""
    fake_gpu.needed()
    numbers = peer_key(BITS).private_numbers()
    given = {"n": numbers.public_numbers.n, "d": numbers.d, "requests": 80, "concurrent": 1}
    gpu = {"multiprocessors": 1, "threads_per_multiprocessor": 128}
    whole = fake_gpu.run(ON_GPU, {**given, "device": "cuda", "lost_at": None}, **gpu)
    assert whole["counts"] == [80, 80, 0]
    for device in ("auto", "cuda"):
        cut = fake_gpu.run(ON_GPU, {**given, "device": device, "lost_at": 40}, **gpu)
        answers = {number: answer for number, answer, times in cut["answers"] if times == 1}
        assert sorted(answers) == list(range(80))
        assert len(cut["answers"]) == 80
        signed = [number for number, answer in answers.items() if answer == expected[number].hex()]
        lost = [number for number, answer in answers.items() if answer == "DeviceError"]
        assert len(signed) + len(lost) == 80
        assert cut["counts"] == [80, len(signed), len(lost)]
        assert bool(lost) == (device == "cuda")
        assert cut["fresh"]
        assert signed
    for lost_at in (20, 40):
        cut = fake_gpu.run(ON_GPU, {**given, "device": "auto", "concurrent": 8, "lost_at": lost_at}, **gpu)
        assert sorted(cut["answers"]) == [[number, expected[number].hex(), 1] for number in range(80)]


@pytest.mark.parametrize("drain", [True, False])
def test_closing(gate: Gate, expected: list[bytes], drain: bool) -> None:
    signer = one_at_a_time(max_queue=5)
    held = gate.hold(signer, 5)
    waiting = [signer.submit(message(number)) for number in range(5)]
    blocked = manymod.submit(signer.sign, message(6))  # waits for room
    wait_until(blocked.running)
    closing = manymod.submit(signer.close, drain=drain)
    wait_until(lambda: is_closed(signer))
    with pytest.raises(rsa.SignerClosedError):
        signer.submit_many([message(7)])
    with pytest.raises(rsa.SignerClosedError):
        asyncio.run(signer.asign(message(7)))
    assert not closing.done()
    gate.open.set()
    closing.result(60)
    with pytest.raises(rsa.SignerClosedError):
        blocked.result(60)
    assert all(future.result(0) for future in held)
    if drain:
        assert [future.result(0) for future in waiting] == expected[:5]
    else:
        for future in waiting:
            with pytest.raises(CancelledError):
                future.result(0)
    assert not signer._delivery._thread.is_alive()
    signer.close()
    check_counts(signer.statistics())


def test_closing_ends_coroutines_that_await_room(gate: Gate) -> None:
    async def main() -> list[Any]:
        tasks = [asyncio.ensure_future(signer.asign(message(number))) for number in range(5)]
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(asyncio.to_thread(signer.close))
        while not is_closed(signer):
            await asyncio.sleep(0.001)
        gate.open.set()
        await closing
        return await asyncio.gather(*tasks, return_exceptions=True)

    signer = one_at_a_time(max_queue=2)
    gate.hold(signer, 2)
    answers = asyncio.run(main())
    assert [type(answer) for answer in answers] == [bytes] * 2 + [rsa.SignerClosedError] * 3
    check_counts(signer.statistics())


def test_an_exception_in_the_block_cancels_what_waits(gate: Gate) -> None:
    def leave() -> None:
        with one_at_a_time(max_queue=2) as signer:
            futures.extend(gate.hold(signer, 2))
            futures.append(signer.submit(message(1)))
            threading.Thread(target=open_once_closed, args=(signer,), daemon=True).start()
            raise KeyError

    def open_once_closed(signer: rsa.Signer) -> None:
        wait_until(lambda: is_closed(signer))
        gate.open.set()

    futures: list[Future[bytes]] = []
    with pytest.raises(KeyError):
        leave()
    assert all(future.result(0) for future in futures[:-1])
    assert futures[-1].cancelled()


@pytest.mark.parametrize("waits", ["with rsa.Signer(key, 'pss', 'sha256') as signer:", "if True:"])
def test_the_interpreter_exits_with_requests_pending(waits: str) -> None:
    numbers = peer_key(BITS).private_numbers()
    code = f"""
from manymod import rsa
from manymod.asynchronous import Job
key = rsa.PrivateKey.from_numbers(n={numbers.public_numbers.n}, e=65537, d={numbers.d})
signer = rsa.Signer(key, "pss", "sha256")
{waits}
    futures = [signer.submit(b"x") for _ in range(5000)]
    print(len(futures[0].result()))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    assert (done.stdout.strip(), done.stderr) == ("128", "")


def test_the_interpreter_exits_after_a_callback_has_closed_the_signer() -> None:
    """What was accepted is answered before it is gone."""
    numbers = peer_key().private_numbers()
    code = f"""
import atexit, threading
from manymod import rsa
from manymod.asynchronous import Job
atexit.register(lambda: print(sum(future.done() for future in futures)))
key = rsa.PrivateKey.from_numbers(n={numbers.public_numbers.n}, e=65537, d={numbers.d})
signer = rsa.Signer(key, "pkcs1v15", "sha256", max_batch=64, max_concurrent=2)
futures = [signer.submit(b"x") for _ in range(1000)]
closed = threading.Event()

def close(_):
    signer.close()
    closed.set()

futures[0].add_done_callback(close)
closed.wait()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, timeout=240
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1000", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_is_told(gate: Gate) -> None:
    with one_at_a_time(max_queue=2) as signer:
        gate.hold(signer, 2)
        future = signer.submit(message(0))
        child = os.fork()
        if child == 0:
            told = 0
            attempts: list[Any] = [
                lambda: signer.submit(message(1)),
                lambda: signer.submit_many([message(1)]),
                lambda: signer.sign(message(1)),
                lambda: future.result(5),
                future.cancel,
                future.done,
                signer.statistics,
            ]
            for attempt in attempts:
                try:
                    attempt()
                except RuntimeError:
                    told += 1
            signer.close()
            del signer
            os._exit(told)
        gate.open.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert future.result(60)


def test_wrong_arguments() -> None:
    key = private_key(BITS)
    bad: list[dict[str, Any]] = [
        {"deadline": -1},
        {"deadline": float("nan")},
        {"max_batch": 0},
        {"max_queue": 0},
        {"max_waiters": 0},
        {"max_concurrent": 0},
        {"max_concurrent": 5000},
        {"full": "drop"},
    ]
    for options in bad:
        with pytest.raises(ValueError, match=next(iter(options))):
            rsa.Signer(key, *HOW, **options)
    with pytest.raises(ValueError, match="auto"):
        rsa.Signer(key, rsa.Padding("pss", salt_length="auto"), "sha256")
    with pytest.raises(TypeError, match="not PublicKey"):
        rsa.Signer(key.public_key(), *HOW)  # type: ignore[arg-type]
    with rsa.Signer(key, *HOW) as signer:
        for wrong in ("text", None, 5):
            with pytest.raises(TypeError, match="message must be bytes"):
                signer.submit(wrong)  # type: ignore[arg-type]
        for index in (-1, 1):
            with pytest.raises(ValueError, match="the ring has 1 keys"):
                signer.submit(b"a", index)
        assert signer.statistics().accepted == 0
        assert signer.statistics().latency == {}


def test_many_keys() -> None:
    keys = [private_key(BITS, number) for number in range(5)]
    ring = rsa.KeyRing(keys)
    with rsa.Signer(ring, *HOW) as signer:
        futures = [signer.submit(message(number), number % 5) for number in range(500)]
        signatures = [future.result(60) for future in futures]
    indices = np.arange(500) % 5
    assert signatures == ring.sign([message(number) for number in range(500)], indices, *HOW)


def test_times_to_wait_are_numbers() -> None:
    """Any number of seconds will do, also infinitely many and more than locks take."""
    with rsa.Signer(private_key(BITS), *HOW) as signer:
        limits: list[Any] = [60, np.int64(60), 1e300, float("inf"), 10**400, None]
        for seconds in limits:
            found = signer.sign(message(1), timeout=seconds)
            assert found == signer.submit(message(1), timeout=seconds).result(60)
        wrong: Any = "60"
        asks: list[Callable[..., Any]] = [signer.sign, signer.submit, signer.submit_many]
        for ask in asks:
            with pytest.raises(TypeError, match="timeout must be a number of seconds or None, not str"):
                ask(message(1), timeout=wrong)
            with pytest.raises(ValueError, match="not nan"):
                ask(message(1), timeout=float("nan"))
        with pytest.raises(TypeError, match="drain must be a bool"):
            signer.close(drain=wrong)
        assert repr(signer) == "Signer(keys=1)"
