# SPDX-License-Identifier: Apache-2.0
"""The signer under load: every accepted request is answered right, exactly once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from tests.python.rsa_support import private_key
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
from manymod import _hashes, rsa
from manymod._hashes import HASHES
from manymod.asynchronous import Job


def test_one_request() -> None:
    ring = rsa.KeyRing([private_key()])
    with rsa.Signer(ring, *HOW) as signer:
        assert ring.private_items == 0
        assert signer.sign(b"a") == private_key().sign(b"a", *HOW)
        assert signer.sign(b"a", timeout=60) == private_key().sign(b"a", *HOW)
        assert signer.submit(bytearray(b"b")).result(60) == private_key().sign(b"b", *HOW)
        assert asyncio.run(signer.asign(memoryview(b"c"))) == private_key().sign(b"c", *HOW)
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.signed, found.batches, found.batch_sizes) == (4, 4, 4, {1: 4})
    assert ring.private_items == 4
    for times in (found.latency, found.queued, found.computing):
        assert set(times) == {0.5, 0.95, 0.99, 1.0}
        assert 0 < times[0.5] <= times[0.95] <= times[0.99] <= times[1.0] < 60


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


def test_a_lone_request_is_signed_on_its_own_thread(gate: Gate) -> None:
    """So that it needs no other one, such as that which hands out answers."""
    with one_at_a_time() as signer:
        held = gate.hold_answers(signer)
        assert signer.sign(b"b") == private_key(BITS).sign(b"b", *HOW)
        gate.open.set()
    assert all(future.result(0) for future in held)
    check_counts(signer.statistics())


def test_batches_are_bounded(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time(max_batch=4, max_queue=20) as signer:
        gate.hold(signer, 20)
        futures = [signer.submit(message(number)) for number in range(15)]
        gate.open.set()
        assert [future.result(60) for future in futures] == expected[:15]
    check_counts(signer.statistics())
    assert max(signer.statistics().batch_sizes) <= 4


def test_batches_at_the_same_time(gate: Gate, expected: list[bytes]) -> None:
    """As many as may be, then requests wait for the first of them to end."""
    with rsa.Signer(private_key(BITS), *HOW, max_concurrent=3, max_queue=10) as signer:
        held = gate.hold(signer, 10, 3)
        futures = [signer.submit(message(number)) for number in range(5)]
        assert signer.statistics().waiting == 5
        gate.open.set()
        assert [future.result(60) for future in futures] == expected[:5]
        assert len({future.result(60) for future in held}) == 1
    check_counts(signer.statistics())


def test_signing_and_closing_on_many_threads(gate: Gate, expected: list[bytes]) -> None:
    """close() waits for all requests, and for all answers to be handed out."""
    signer = rsa.Signer(private_key(BITS), *HOW, max_concurrent=2, max_queue=10)
    gate.hold(signer, 10, 2)
    jobs = [manymod.submit(signer.sign, message(0)), signer.submit(message(1))]
    wait_until(lambda: signer.statistics().waiting == 2)
    closing = manymod.submit(signer.close)
    wait_until(lambda: is_closed(signer))
    assert not closing.done()
    gate.open.set()
    closing.result(60)
    assert [job.result(60) for job in jobs] == expected[:2]
    check_counts(signer.statistics())


def test_a_full_queue_refuses_on_request(gate: Gate) -> None:
    with one_at_a_time(max_queue=2, full="raise") as signer:
        futures = gate.hold(signer, 2)
        futures += [signer.submit(message(1)), signer.submit(message(2))]
        with pytest.raises(rsa.SignerFullError, match="2 requests wait already"):
            signer.submit(message(3))
        with pytest.raises(rsa.SignerFullError):
            signer.sign(message(3))
        with pytest.raises(rsa.SignerFullError):
            signer.submit_many([message(3)])
        with pytest.raises(rsa.SignerFullError):
            asyncio.run(signer.asign(message(3)))
        gate.open.set()
        assert all(future.result(60) for future in futures)
        assert signer.sign(message(4))
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.refused) == (len(futures) + 1, 4)


def test_a_full_queue_holds_threads_up(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time(max_queue=2) as signer, ThreadPoolExecutor(8) as pool:
        gate.hold(signer, 2)
        jobs = [pool.submit(signer.sign, message(number)) for number in range(4)]
        jobs += [pool.submit(signer.sign, message(number), timeout=60) for number in range(4, 8)]
        wait_until(lambda: signer.statistics().waiting == 2)
        with pytest.raises(rsa.SignerFullError):
            signer.submit(message(9), timeout=0.01)
        assert not any(job.done() for job in jobs)
        gate.open.set()
        assert [job.result(60) for job in jobs] == expected[:8]
    check_counts(signer.statistics())
    assert signer.statistics().refused == 1


def test_a_full_queue_holds_coroutines_up_but_not_their_loop(gate: Gate, expected: list[bytes]) -> None:
    async def main(signer: rsa.Signer, held: int) -> list[bytes]:
        tasks = [asyncio.ensure_future(signer.asign(message(number))) for number in range(50)]
        while signer.statistics().waiting < 3:  # the loop runs while they wait
            await asyncio.sleep(0.001)
        assert signer.statistics().accepted == held + 3
        dropped = tasks[-10:]
        for task in dropped:
            task.cancel()
        await asyncio.wait(dropped)
        gate.open.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[-10:])
        return [answer for answer in answers if isinstance(answer, bytes)]

    with one_at_a_time(max_queue=3, max_batch=2) as signer:
        held = gate.hold(signer, 3)
        assert asyncio.run(main(signer, len(held))) == expected[:40]
    found = signer.statistics()
    check_counts(found)
    assert (found.accepted, found.cancelled) == (len(held) + 40, 0)  # others were not in the queue yet


def test_cancelled_requests_are_not_signed_and_lose_no_other(gate: Gate, expected: list[bytes]) -> None:
    """Some while none is signed, others while they are."""
    source = random.Random(1)
    with one_at_a_time(max_batch=64, max_queue=3000) as signer:
        held = gate.hold(signer, 3000)
        futures = [signer.submit(message(number)) for number in range(3000)]
        for position, future in enumerate(source.sample(futures, 1500)):
            assert future.cancel() or position > 500
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
    assert (found.cancelled, found.signed) == (sum(cancelled), len(held) + 3000 - sum(cancelled))
    assert found.cancelled > 500


def test_futures_are_like_others(gate: Gate, expected: list[bytes]) -> None:
    """Functions of concurrent.futures and asyncio take them, answered or not."""
    with one_at_a_time(max_queue=20) as signer:
        answered = [signer.submit(message(number)) for number in range(2)]
        concurrent.futures.wait(answered, 60)
        gate.hold(signer, 20)
        waiting = [signer.submit(message(number)) for number in range(2, 9)]
        assert waiting[6].cancel()
        assert waiting[6].cancel()
        assert not answered[0].cancel()
        assert [future.done() for future in (*answered, *waiting)] == [True] * 2 + [False] * 6 + [True]
        assert not waiting[0].running()
        assert "pending" in repr(waiting[0])
        with pytest.raises(concurrent.futures.TimeoutError):
            waiting[0].result(0.001)
        called: list[Future[bytes]] = []
        waiting[1].add_done_callback(called.append)
        answered[0].add_done_callback(called.append)

        async def wrapped() -> list[bytes]:
            pending = [asyncio.wrap_future(future) for future in (*answered, *waiting[2:4])]
            gate.open.set()
            return await asyncio.gather(*pending)

        assert asyncio.run(wrapped()) == expected[:2] + expected[4:6]
        completed = concurrent.futures.as_completed([*answered, *waiting], 60)
        assert {future for future in completed if future.cancelled()} == {waiting[6]}
        assert concurrent.futures.wait(waiting, 60, concurrent.futures.FIRST_EXCEPTION).not_done == set()
        assert [future.exception() for future in answered] == [None, None]
        assert called == [answered[0], waiting[1]]


def test_a_cancelled_coroutine_cancels_its_request(gate: Gate) -> None:
    async def main(signer: rsa.Signer) -> None:
        task = asyncio.ensure_future(signer.asign(message(1)))
        while signer.statistics().waiting == 0:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with one_at_a_time(max_queue=2) as signer:
        held = gate.hold(signer, 2)
        asyncio.run(main(signer))
        gate.open.set()
    assert (signer.statistics().signed, signer.statistics().cancelled) == (len(held), 1)


def test_a_closed_coroutine_leaves_the_room_to_others(gate: Gate, expected: list[bytes]) -> None:
    async def main(signer: rsa.Signer) -> bytes:
        closed = signer.asign(message(2))
        closed.send(None)  # it waits for room, before the other one
        other = asyncio.ensure_future(signer.asign(message(3)))
        await asyncio.sleep(0)
        closed.close()
        gate.open.set()
        return await asyncio.wait_for(other, 20)

    with one_at_a_time(max_queue=1) as signer:
        held = gate.hold(signer, 1)
        waiting = signer.submit(message(1))
        assert asyncio.run(main(signer)) == expected[3]
        assert waiting.result(60) == expected[1]
    check_counts(signer.statistics())
    assert signer.statistics().accepted == len(held) + 2


def test_room_and_answer_have_one_deadline(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    result = Job.result

    def recorded(job: Any, timeout: float | None = None) -> Any:
        waits.append(timeout)
        return result(job, timeout)

    with one_at_a_time(max_queue=1) as signer:
        gate.hold(signer, 1)
        submit = signer.submit

        def slow(*args: Any, **options: Any) -> Any:
            time.sleep(0.3)
            return submit(*args, **options)

        monkeypatch.setattr(signer, "submit", slow)
        monkeypatch.setattr(Job, "result", recorded)
        with pytest.raises(concurrent.futures.TimeoutError):
            signer.sign(message(0), timeout=0.4)
        gate.open.set()
    (wait,) = waits
    assert wait is not None
    assert wait <= 0.11


def test_a_request_that_times_out_is_cancelled(gate: Gate) -> None:
    with one_at_a_time(max_queue=2) as signer:
        gate.hold(signer, 2)
        with pytest.raises(concurrent.futures.TimeoutError):
            signer.sign(message(1), timeout=0.01)
        gate.open.set()
    check_counts(signer.statistics())
    assert signer.statistics().cancelled == 1


def test_a_consumer_that_does_not_read_holds_nobody_up(expected: list[bytes]) -> None:
    with rsa.Signer(private_key(BITS), *HOW, max_queue=100) as signer:
        unread = [signer.submit(message(number)) for number in range(2000)]
        assert signer.sign(message(5000)) == expected[5000]
        assert [future.result(60) for future in unread] == expected[:2000]


def test_long_messages_are_hashed_by_their_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coroutine's long message holds up its loop no more than others."""
    hashed_by: list[int] = []
    original = _hashes.hasher

    def recorded(algorithm: Any) -> Any:
        make = original(algorithm)

        def digest(data: Any) -> Any:
            if len(data):
                hashed_by.append(threading.get_ident())
            return make(data)

        return digest

    monkeypatch.setattr("manymod.rsa.signer.hasher", recorded)
    long, own = bytes(3 << 20), threading.get_ident()
    with one_at_a_time() as signer:
        signatures = [signer.sign(long), signer.submit(long).result(60), asyncio.run(signer.asign(b"short"))]
        assert hashed_by == [own] * 3
        signatures.append(asyncio.run(signer.asign(long)))
        assert len(hashed_by) == 4
        assert hashed_by[3] != own
    key = private_key(BITS)
    assert signatures == [key.sign(text, *HOW) for text in (long, long, b"short", long)]


@pytest.mark.parametrize("name", HASHES)
def test_every_hash_as_one_call_has_it(name: str) -> None:
    key = private_key()
    texts: list[Any] = [b"", bytearray(b"abc"), memoryview(b"a.b.c.")[::2]]
    with rsa.Signer(key, "pss", name) as signer:
        signatures = [signer.sign(text) for text in texts]
        signatures += signer.submit_many([bytes(text) for text in texts]).result(60)
    assert all(key.public_key().verify(signatures, [bytes(text) for text in texts] * 2, "pss", name))


def test_coroutines_that_await_room_are_bounded(gate: Gate, expected: list[bytes]) -> None:
    """One more than may wait is refused, and one that no longer waits leaves its place."""
    refused: list[int] = []

    async def ask(number: int) -> bytes:
        try:
            return await signer.asign(message(number))
        except rsa.SignerFullError:
            refused.append(number)
            return b""

    async def main() -> list[bytes]:
        leaves = asyncio.create_task(ask(100))
        tasks = [asyncio.create_task(ask(number)) for number in range(1, 9)]
        while len(refused) < 5:
            await asyncio.sleep(0.001)
        leaves.cancel()
        await asyncio.wait([leaves])
        tasks.append(asyncio.create_task(ask(9)))
        await asyncio.sleep(0)
        gate.open.set()
        return await asyncio.gather(*tasks)

    with one_at_a_time(max_queue=2, max_waiters=4) as signer:
        gate.hold(signer, 2)
        waiting = [signer.submit(message(0)), signer.submit(message(0))]
        answers = asyncio.run(main())
        assert [future.result(60) for future in waiting] == [expected[0]] * 2
    assert refused == [4, 5, 6, 7, 8]
    assert answers == [*expected[1:4], *[b""] * 5, expected[9]]
    check_counts(signer.statistics())
    assert signer.statistics().refused == 5
