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
from tests.python.signer_support import BITS, HOW, Gate, check_counts, message, one_at_a_time, wait_until

import manymod
from manymod import _hashes, rsa
from manymod._hashes import HASHES
from manymod.asynchronous import Job
from manymod.rsa import ring as ring_module


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


def test_long_messages_are_hashed_by_their_callers(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue holds digests alone; a coroutine's long message holds up its loop no more than others."""
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
    gate.open.set()
    long, own = bytes(3 << 20), threading.get_ident()
    with one_at_a_time() as signer:
        signatures = [signer.sign(long), signer.submit(long).result(60), asyncio.run(signer.asign(b"short"))]
        assert hashed_by == [own] * 3
        signatures.append(asyncio.run(signer.asign(long)))
        assert len(hashed_by) == 4
        assert hashed_by[3] != own
    key = private_key(BITS)
    assert signatures == [key.sign(text, *HOW) for text in (long, long, b"short", long)]
    assert gate.longest == 32


@pytest.mark.parametrize("name", HASHES)
def test_every_hash_as_one_call_has_it(name: str) -> None:
    key = private_key()
    texts: list[Any] = [b"", bytearray(b"abc"), memoryview(b"a.b.c.")[::2]]
    with rsa.Signer(key, "pss", name) as signer:
        signatures = [signer.sign(text) for text in texts]
    assert all(key.public_key().verify(signatures, [bytes(text) for text in texts], "pss", name))


def test_coroutines_that_await_room_are_bounded(gate: Gate, expected: list[bytes]) -> None:
    """One that was woken keeps its place; one more than may wait is refused."""
    refused: list[int] = []

    async def ask(number: int) -> bytes:
        try:
            return await signer.asign(message(number))
        except rsa.SignerFullError:
            refused.append(number)
            return b""

    async def main() -> list[bytes]:
        tasks = [asyncio.create_task(ask(number)) for number in range(1, 9)]
        while len(refused) < 3:
            await asyncio.sleep(0.001)
        gate.open.set()
        return await asyncio.gather(*tasks)

    with one_at_a_time(max_queue=2, max_waiters=3) as signer:
        first = signer.submit(message(0))
        gate.wait_entered()
        answers = asyncio.run(main())
        assert first.result(60) == expected[0]
    assert refused == [6, 7, 8]
    assert answers == [*expected[1:6], b"", b"", b""]
    check_counts(signer.statistics())
    assert signer.statistics().refused == 3
