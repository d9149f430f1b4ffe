# SPDX-License-Identifier: Apache-2.0
"""The signer under load: every accepted request is answered right, exactly once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.python import fake_gpu
from tests.python.rsa_support import peer_key, private_key

import manymod
from manymod import rsa
from manymod.asynchronous import Job
from manymod.rsa import ring as ring_module
from manymod.rsa import signer as signer_module

HOW = ("pkcs1v15", "sha256")
BITS = 1024  # the load is on the queue, not on the arithmetic


def message(number: int) -> bytes:
    return b"request %d" % number


@pytest.fixture(scope="module")
def expected() -> list[bytes]:
    """Signatures of requests 0 to 9999."""
    return private_key(BITS).sign([message(i) for i in range(10_000)], *HOW)


class Gate:
    """Holds up a signer's calls, so that a test decides what waits when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.batches: list[int] = []
        self.failure: Exception | None = None
        sign = ring_module.KeyRing.sign

        def held(ring: rsa.KeyRing, messages: Any, *args: Any, **options: Any) -> Any:
            self.batches.append(len(messages))
            self.entered.release()
            assert self.open.wait(60)
            if self.failure is not None:
                raise self.failure
            return sign(ring, messages, *args, **options)

        monkeypatch.setattr(ring_module.KeyRing, "sign", held)

    def wait_entered(self) -> None:
        assert self.entered.acquire(timeout=60)


def one_at_a_time(**options: Any) -> rsa.Signer:
    """A signer whose batches follow one another."""
    return rsa.Signer(private_key(BITS), *HOW, max_concurrent=1, **options)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open.set()


def wait_until(condition: Any) -> None:
    for _ in range(60_000):
        if condition():
            return
        time.sleep(0.001)
    raise AssertionError("waited for a minute")


def check_counts(found: rsa.SignerStatistics) -> None:
    """Nothing accepted is lost, and nothing is counted twice."""
    assert found.accepted == found.signed + found.failed + found.cancelled
    assert found.waiting == 0
    assert sum(found.batch_sizes.values()) == found.batches
    assert sum(size * count for size, count in found.batch_sizes.items()) == found.signed + found.failed


def test_one_request() -> None:
    with rsa.Signer(private_key(), *HOW) as signer:
        assert signer.sign(b"a") == private_key().sign(b"a", *HOW)
        assert signer.submit(bytearray(b"b")).result(60) == private_key().sign(b"b", *HOW)
        assert asyncio.run(signer.asign(memoryview(b"c"))) == private_key().sign(b"c", *HOW)
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.signed, found.batches, found.batch_sizes) == (3, 3, 3, {1: 3})
    assert set(found.latency) == {0.5, 0.95, 0.99, 1.0}
    assert 0 < found.latency[0.5] <= found.latency[0.95] <= found.latency[0.99] <= found.latency[1.0] < 60


def test_ten_thousand_requests_of_threads_and_coroutines(expected: list[bytes]) -> None:
    """Half from 16 threads that submit and block in turn, half from coroutines, all at once."""
    answers: list[tuple[int, bytes]] = []

    def client(signer: rsa.Signer, numbers: range) -> None:
        futures = [(number, signer.submit(message(number))) for number in numbers[::2]]
        answers.extend((number, signer.sign(message(number))) for number in numbers[1::2])
        answers.extend((number, future.result(60)) for number, future in futures)

    async def ask(signer: rsa.Signer, number: int) -> None:
        answers.append((number, await signer.asign(message(number))))

    async def coroutines(signer: rsa.Signer) -> None:
        await asyncio.gather(*(ask(signer, number) for number in range(5000, 10_000)))

    options: dict[str, Any] = {"max_queue": 1000, "max_concurrent": 3}
    with rsa.Signer(private_key(BITS), *HOW, **options) as signer, ThreadPoolExecutor(17) as pool:
        jobs = [pool.submit(client, signer, range(start, 5000, 16)) for start in range(16)]
        jobs.append(pool.submit(lambda: asyncio.run(coroutines(signer))))
        for job in jobs:
            job.result(240)
    assert sorted(number for number, _ in answers) == list(range(10_000))
    assert all(signature == expected[number] for number, signature in answers)
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.signed, found.failed, found.cancelled) == (10_000, 10_000, 0, 0)
    assert max(found.batch_sizes) > 1


def test_a_lone_request_is_signed_on_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes meanwhile waits for it, on the signer's."""
    threads: list[str] = []
    sign = ring_module.KeyRing.sign
    waiting: list[Future[bytes]] = []

    def recorded(ring: rsa.KeyRing, *args: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        if len(threads) == 2:
            waiting.append(signer.submit(b"meanwhile"))
            time.sleep(0.05)
            assert len(threads) == 2
        return sign(ring, *args, **options)

    monkeypatch.setattr(ring_module.KeyRing, "sign", recorded)
    with one_at_a_time() as signer:
        assert signer.sign(b"a", timeout=60)
        wait_until(lambda: not signer._service._owners)  # its thread rests a moment after the answer
        assert signer.sign(b"b") == private_key(BITS).sign(b"b", *HOW)
        assert waiting[0].result(60)
    own = threading.current_thread().name
    assert [name for name in threads if name != own] == ["manymod-signer"] * 2
    assert threads[:2] == ["manymod-signer", own]
    check_counts(signer.statistics())


def test_batches_are_bounded(gate: Gate) -> None:
    with one_at_a_time(max_batch=4) as signer:
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures += [signer.submit(message(i)) for i in range(1, 11)]
        gate.open.set()
        assert len({future.result(60) for future in futures}) == 11
    assert gate.batches == [1, 4, 4, 2]


def test_the_deadline_bounds_the_wait_for_company(gate: Gate) -> None:
    """After a batch of two the next request waits for others, but only so long."""
    gate.open.set()
    with one_at_a_time(deadline=0.2, max_batch=3) as signer:
        gate.open.clear()
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures += [signer.submit(message(1)), signer.submit(message(2))]
        gate.open.set()
        concurrent.futures.wait(futures, 60)
        first = signer.submit(message(3))
        time.sleep(0.01)
        second = signer.submit(message(4))
        assert concurrent.futures.wait([first, second], 60).not_done == set()
        assert signer.sign(message(5), timeout=60)
    assert gate.batches[:2] == [1, 2]
    assert sum(gate.batches) == 6


def test_batches_at_the_same_time(gate: Gate, expected: list[bytes]) -> None:
    """As many as may be, then requests wait for the first of them to end."""
    with rsa.Signer(private_key(BITS), *HOW, max_concurrent=3) as signer:
        futures = []
        for number in range(3):
            futures.append(signer.submit(message(number)))
            gate.wait_entered()
        futures += [signer.submit(message(number)) for number in range(3, 8)]
        time.sleep(0.02)
        assert gate.batches == [1, 1, 1]
        assert signer.statistics().waiting == 5
        gate.open.set()
        assert [future.result(60) for future in futures] == expected[:8]
    assert gate.batches[:4] == [1, 1, 1, 5]
    check_counts(signer.statistics())


def test_a_batch_gathers_while_others_are_signed(gate: Gate, expected: list[bytes]) -> None:
    """And begins at its deadline, not when they end."""
    with rsa.Signer(private_key(BITS), *HOW, max_concurrent=3, max_batch=2, deadline=0.05) as signer:
        signer._service._max_concurrent = 0  # until both wait
        futures = [signer.submit(message(number)) for number in range(2)]
        signer._service._max_concurrent = 3
        futures.append(signer.submit(message(2)))
        gate.wait_entered()
        gate.wait_entered()  # the third, alone, after its deadline
        assert gate.batches == [2, 1]
        gate.open.set()
        assert [future.result(60) for future in futures] == expected[:3]


def test_signing_and_closing_on_many_threads(gate: Gate, expected: list[bytes]) -> None:
    """close() waits for all batches, those that callers sign themselves too."""
    signer = rsa.Signer(private_key(BITS), *HOW, max_concurrent=3)
    jobs = [manymod.submit(signer.sign, message(0))]
    gate.wait_entered()
    jobs.append(signer.submit(message(1)))
    gate.wait_entered()
    closing = manymod.submit(signer.close)
    wait_until(lambda: signer._service._closed)
    time.sleep(0.02)
    assert not closing.done()
    gate.open.set()
    closing.result(60)
    assert [job.result(60) for job in jobs] == expected[:2]
    assert not signer._service._owners
    check_counts(signer.statistics())


def test_a_full_queue_refuses_on_request(gate: Gate) -> None:
    with one_at_a_time(max_queue=2, full="raise") as signer:
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures += [signer.submit(message(1)), signer.submit(message(2))]
        with pytest.raises(rsa.SignerFullError, match="2 requests wait already"):
            signer.submit(message(3))
        with pytest.raises(rsa.SignerFullError):
            asyncio.run(signer.asign(message(3)))
        gate.open.set()
        assert all(future.result(60) for future in futures)
        assert signer.sign(message(4))
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.refused) == (4, 2)


def test_a_full_queue_holds_threads_up(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time(max_queue=2) as signer, ThreadPoolExecutor(8) as pool:
        first = signer.submit(message(0))
        gate.wait_entered()
        jobs = [pool.submit(signer.sign, message(number)) for number in range(1, 9)]
        wait_until(lambda: signer.statistics().waiting == 2)
        with pytest.raises(rsa.SignerFullError):
            signer.submit(message(9), timeout=0.01)
        assert not any(job.done() for job in jobs)
        gate.open.set()
        assert [first.result(60), *(job.result(60) for job in jobs)] == expected[:9]
    check_counts(signer.statistics())


def test_a_full_queue_holds_coroutines_up_but_not_their_loop(gate: Gate, expected: list[bytes]) -> None:
    async def main(signer: rsa.Signer) -> list[bytes]:
        tasks = [asyncio.ensure_future(signer.asign(message(number))) for number in range(50)]
        await asyncio.sleep(0.05)  # the loop runs while they wait
        assert signer.statistics().accepted < 50
        dropped = tasks[-10:]
        for task in dropped:
            task.cancel()
        gate.open.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[-10:])
        return [answer for answer in answers if isinstance(answer, bytes)]

    with one_at_a_time(max_queue=3, max_batch=2) as signer:
        assert asyncio.run(main(signer)) == expected[:40]
    check_counts(signer.statistics())


def test_cancelled_requests_are_not_signed_and_lose_no_other(gate: Gate, expected: list[bytes]) -> None:
    """Some while none is signed, others while they are."""
    source = random.Random(1)
    with one_at_a_time(max_batch=64) as signer:
        futures = [signer.submit(message(number)) for number in range(3000)]
        for position, future in enumerate(source.sample(futures, 1500)):
            future.cancel()
            if position == 500:
                gate.open.set()
        done = concurrent.futures.wait(futures, 120)
        assert not done.not_done
    cancelled = [future.cancelled() for future in futures]
    assert all(
        future.result() == expected[number] for number, future in enumerate(futures) if not cancelled[number]
    )
    found = signer.statistics()
    check_counts(found)
    assert (found.cancelled, found.signed) == (sum(cancelled), 3000 - sum(cancelled))
    assert found.cancelled > 0


def test_a_cancelled_coroutine_cancels_its_request(gate: Gate) -> None:
    async def main(signer: rsa.Signer) -> None:
        first = asyncio.ensure_future(signer.asign(message(0)))
        while not gate.batches:
            await asyncio.sleep(0.001)
        second = asyncio.ensure_future(signer.asign(message(1)))
        await asyncio.sleep(0.01)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.open.set()
        assert await first

    with one_at_a_time() as signer:
        asyncio.run(main(signer))
    assert (signer.statistics().signed, signer.statistics().cancelled) == (1, 1)


def test_a_closed_coroutine_leaves_the_room_to_others(gate: Gate, expected: list[bytes]) -> None:
    async def main(signer: rsa.Signer) -> bytes:
        closed = signer.asign(message(2))
        closed.send(None)  # it waits for room, before the other one
        other = asyncio.ensure_future(signer.asign(message(3)))
        await asyncio.sleep(0.01)
        closed.close()
        gate.open.set()
        return await asyncio.wait_for(other, 20)

    with one_at_a_time(max_queue=1) as signer:
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures.append(signer.submit(message(1)))
        assert asyncio.run(main(signer)) == expected[3]
        assert [future.result(60) for future in futures] == expected[:2]
    check_counts(signer.statistics())


def test_a_coroutine_may_be_closed_by_a_thread_that_holds_the_lock() -> None:
    """As garbage collection does, at any time."""
    with one_at_a_time() as signer:

        def collect() -> None:
            with signer._service._lock:
                signer._service.withdraw(lambda: None)

        thread = threading.Thread(target=collect, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()


def test_room_and_answer_have_one_deadline(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    result = Job.result

    def recorded(job: Any, timeout: float | None = None) -> Any:
        waits.append(timeout)
        return result(job, timeout)

    with one_at_a_time() as signer:
        put = signer._service.put

        def slow(*args: Any) -> None:
            time.sleep(0.3)
            put(*args)

        monkeypatch.setattr(signer._service, "put", slow)
        monkeypatch.setattr(Job, "result", recorded)
        with pytest.raises(concurrent.futures.TimeoutError):
            signer.sign(message(0), timeout=0.4)
        gate.open.set()
    (wait,) = waits
    assert wait is not None
    assert wait <= 0.11


def test_a_request_that_times_out_is_cancelled(gate: Gate) -> None:
    with one_at_a_time() as signer:
        first = signer.submit(message(0))
        gate.wait_entered()
        with pytest.raises(concurrent.futures.TimeoutError):
            signer.sign(message(1), timeout=0.01)
        gate.open.set()
        assert first.result(60)
    assert signer.statistics().cancelled == 1


def test_a_consumer_that_does_not_read_holds_nobody_up(expected: list[bytes]) -> None:
    with rsa.Signer(private_key(BITS), *HOW, max_queue=100) as signer:
        unread = [signer.submit(message(number)) for number in range(2000)]
        assert signer.sign(message(5000)) == expected[5000]
        assert [future.result(60) for future in unread] == expected[:2000]


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


@pytest.mark.parametrize("direct", [True, False])
def test_callbacks_cannot_make_the_signer_wait_for_itself(
    monkeypatch: pytest.MonkeyPatch, direct: bool
) -> None:
    """Neither on the signer's thread nor on that of a caller who signs itself."""
    outcomes: list[Any] = []
    made: list[Future[bytes]] = []
    original = signer_module._Request.__init__

    def in_callback(_future: Future[bytes]) -> None:
        for attempt in (
            lambda: signer.sign(b"itself"),
            lambda: [signer.submit(b"more") for _ in range(3)],
            signer.close,
        ):
            try:
                attempt()
            except (RuntimeError, rsa.SignerFullError) as error:
                outcomes.append(type(error))
        raise SystemExit

    def observed(request: Any, *args: Any) -> None:
        original(request, *args)
        if not made:
            made.append(request.future)
            request.future.add_done_callback(in_callback)

    monkeypatch.setattr(signer_module._Request, "__init__", observed)
    signer = one_at_a_time(max_queue=2)
    if direct:
        with pytest.raises(SystemExit):
            signer.sign(b"a")
    else:
        assert signer.submit(b"a").result(60)
    signer.close()
    assert outcomes == [RuntimeError, rsa.SignerFullError]
    assert made[0].result(0)
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.signed, found.refused) == (3, 3, 1)


def test_futures_that_someone_else_answers(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time() as signer:
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures += [signer.submit(message(number)) for number in range(1, 5)]
        futures[1].set_result(b"mine")
        futures[2].set_exception(KeyError("mine"))
        futures[3].set_running_or_notify_cancel()  # not an answer
        gate.open.set()
        assert [futures[number].result(20) for number in (0, 3, 4)] == [
            expected[number] for number in (0, 3, 4)
        ]
        assert futures[1].result(0) == b"mine"
        assert signer.sign(message(5)) == expected[5]
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.cancelled) == (4, 2)


def test_closing_ends_all_requests_whatever_their_callbacks_raise(gate: Gate) -> None:
    def leave(_future: Future[bytes]) -> None:
        raise SystemExit

    signer = one_at_a_time()
    running = signer.submit(message(0))
    gate.wait_entered()
    waiting = [signer.submit(message(number)) for number in range(1, 6)]
    waiting[0].set_result(b"mine")
    for future in waiting[1:3]:
        future.add_done_callback(leave)
    closing = manymod.submit(signer.close, drain=False)
    assert not concurrent.futures.wait(waiting, 20).not_done
    gate.open.set()
    with pytest.raises(SystemExit):
        closing.result(60)
    assert running.result(0)
    assert [future.cancelled() for future in waiting] == [False] + [True] * 4
    signer.close()
    check_counts(signer.statistics())


def test_ctrl_c_leaves_no_place_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when a request that its caller signed itself is answered."""

    class Interrupted:
        def __init__(self, lock: Any) -> None:
            self.lock = lock
            self.comes = False

        def __enter__(self) -> None:
            if self.comes:
                self.comes = False
                raise KeyboardInterrupt
            self.lock.__enter__()

        def __exit__(self, *given: object) -> None:
            self.lock.__exit__(*given)

    with one_at_a_time() as signer:
        service = signer._service
        lock = Interrupted(service._lock)
        answer = service._answer

        def answer_and_interrupt(batch: Any) -> None:
            answer(batch)
            lock.comes = True

        with monkeypatch.context() as patched:
            patched.setattr(service, "_lock", lock)
            patched.setattr(service, "_answer", answer_and_interrupt)
            with pytest.raises(KeyboardInterrupt):
                signer.sign(b"a")
        assert not service._owners
        assert signer.sign(b"b")
    check_counts(signer.statistics())


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
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.failed) == (50, 150)


def test_a_call_that_fails_is_every_requests_answer(gate: Gate, expected: list[bytes]) -> None:
    """As when a device is lost and nothing else can compute: all are told, and the signer goes on."""
    with one_at_a_time() as signer:
        futures = [signer.submit(message(0))]
        gate.wait_entered()
        futures += [signer.submit(message(number)) for number in range(1, 20)]
        gate.failure = manymod.DeviceError("lost")
        gate.open.set()
        assert all(isinstance(future.exception(60), manymod.DeviceError) for future in futures)
        gate.failure = None
        assert signer.sign(message(30)) == expected[30]
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.failed) == (1, 20)


ON_GPU = """
import json, sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from manymod import rsa
from manymod.asynchronous import Job
from tests.python.fake_gpu import count

given = json.load(sys.stdin)
key = rsa.PrivateKey.from_numbers(n=given["n"], e=65537, d=given["d"])
answers = Counter()

def ask(number):
    try:
        answers[number, signer.submit(b"request %d" % number).result(60).hex()] += 1
    except Exception as error:
        answers[number, type(error).__name__] += 1

ring = rsa.KeyRing([key], device=given["device"], variant="row32.cuda.t1")
options = {"max_concurrent": given["concurrent"]}
with rsa.Signer(ring, "pkcs1v15", "sha256", **options) as signer, ThreadPoolExecutor(8) as pool:
    list(pool.map(ask, range(given["requests"])))
found = signer.statistics()
json.dump({
    "answers": [[number, answer, times] for (number, answer), times in answers.items()],
    "counts": [found.accepted, found.signed, found.failed],
    "calls": count("calls"),
}, sys.stdout)
"""


def test_a_gpu_lost_midway(expected: list[bytes]) -> None:
    """On device auto nobody notices; on device cuda those who come too late are told."""
    fake_gpu.needed()
    numbers = peer_key(BITS).private_numbers()
    given = {"n": numbers.public_numbers.n, "d": numbers.d, "requests": 200, "concurrent": 1}
    gpu = {"multiprocessors": 1, "threads_per_multiprocessor": 128}
    whole = fake_gpu.run(ON_GPU, {**given, "device": "cuda"}, **gpu)
    assert whole["counts"] == [200, 200, 0]
    for device in ("auto", "cuda"):
        cut = fake_gpu.run(ON_GPU, {**given, "device": device}, lost_at_call=whole["calls"] // 2, **gpu)
        answers = {number: answer for number, answer, times in cut["answers"] if times == 1}
        assert sorted(answers) == list(range(200))
        assert len(cut["answers"]) == 200
        signed = [number for number, answer in answers.items() if answer == expected[number].hex()]
        lost = [number for number, answer in answers.items() if answer == "DeviceError"]
        assert len(signed) + len(lost) == 200
        assert cut["counts"] == [200, len(signed), len(lost)]
        assert bool(lost) == (device == "cuda")
        assert signed
    given["concurrent"] = 8
    for call in (whole["calls"] // 4, whole["calls"] // 2):
        cut = fake_gpu.run(ON_GPU, {**given, "device": "auto"}, lost_at_call=call, **gpu)
        assert sorted(cut["answers"]) == [[number, expected[number].hex(), 1] for number in range(200)]


@pytest.mark.parametrize("drain", [True, False])
def test_closing(gate: Gate, expected: list[bytes], drain: bool) -> None:
    signer = one_at_a_time(max_queue=5)
    running = signer.submit(message(0))
    gate.wait_entered()
    waiting = [signer.submit(message(number)) for number in range(1, 6)]
    blocked = manymod.submit(signer.sign, message(6))  # waits for room
    wait_until(blocked.running)
    time.sleep(0.02)
    closing = manymod.submit(signer.close, drain=drain)
    wait_until(lambda: signer._service._closed)
    with pytest.raises(rsa.SignerClosedError):
        signer.submit(message(7))
    with pytest.raises(rsa.SignerClosedError):
        asyncio.run(signer.asign(message(7)))
    gate.open.set()
    closing.result(60)
    with pytest.raises(rsa.SignerClosedError):
        blocked.result(60)
    assert running.result(0) == expected[0]
    if drain:
        assert [future.result(0) for future in waiting] == expected[1:6]
    else:
        for future in waiting:
            with pytest.raises(CancelledError):
                future.result(0)
    assert not any(thread.is_alive() for thread in signer._service._threads)
    signer.close()
    check_counts(signer.statistics())


def test_an_exception_in_the_block_cancels_what_waits(gate: Gate) -> None:
    def leave() -> None:
        with one_at_a_time() as signer:
            futures.append(signer.submit(message(0)))
            gate.wait_entered()
            futures.append(signer.submit(message(1)))
            thread.start()
            raise KeyError

    def open_once_cancelled() -> None:
        wait_until(futures[1].cancelled)
        gate.open.set()

    thread = threading.Thread(target=open_once_cancelled, daemon=True)
    futures: list[Future[bytes]] = []
    with pytest.raises(KeyError):
        leave()
    assert futures[0].result(0)
    assert futures[1].cancelled()


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
    with one_at_a_time() as signer:
        future = signer.submit(message(0))
        gate.wait_entered()
        child = os.fork()
        if child == 0:
            told = 0
            attempts: list[Any] = [
                lambda: signer.submit(message(1)),
                lambda: future.result(5),
                signer.statistics,
            ]
            for attempt in attempts:
                try:
                    attempt()
                except RuntimeError:
                    told += 1
            signer.close()
            os._exit(told)
        gate.open.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert future.result(60)


def test_wrong_arguments() -> None:
    key = private_key(BITS)
    bad: list[dict[str, Any]] = [
        {"deadline": -1},
        {"deadline": float("nan")},
        {"max_batch": 0},
        {"max_queue": 0},
        {"max_concurrent": 0},
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
