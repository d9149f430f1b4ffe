# SPDX-License-Identifier: Apache-2.0
"""Signers that nobody has any more, and that nobody has closed."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Future
from typing import Any

import pytest
from tests.python.rsa_support import peer_key, private_key
from tests.python.signer_support import BITS, HOW, Gate, message, one_at_a_time, wait_until

from manymod import rsa


def thread_of(signer: rsa.Signer) -> threading.Thread:
    """The thread that hands out answers."""
    return signer._delivery._thread


def has_ended(thread: threading.Thread) -> bool:
    return not thread.is_alive()


def test_a_dropped_signer_ends_and_leaves_its_ring() -> None:
    """The thread, what atexit calls, and the service, which has the ring and thus the keys, are gone."""
    ring = rsa.KeyRing([private_key(BITS)])
    handle = ring._calls.handle
    before = sys.getrefcount(handle)
    signer = rsa.Signer(ring, *HOW)
    assert signer.sign(message(0))
    assert sys.getrefcount(handle) > before
    thread, delivery = thread_of(signer), weakref.ref(signer._delivery)
    del signer
    wait_until(lambda: has_ended(thread))
    assert sys.getrefcount(handle) == before
    assert delivery() is None


def test_a_dropped_signer_answers_what_it_has_accepted(gate: Gate, expected: list[bytes]) -> None:
    signer = one_at_a_time(max_queue=9)
    held = gate.hold(signer, 9)
    futures: list[Future[Any]] = [signer.submit(message(number)) for number in range(5)]
    array = signer.submit_many([message(5), message(6)])
    thread = thread_of(signer)
    del signer
    gc.collect()
    assert not any(future.done() for future in futures)
    gate.open.set()
    assert [future.result(60) for future in futures] == expected[:5]
    assert array.result(60) == expected[5:7]
    assert all(future.result(60) for future in held)
    wait_until(lambda: has_ended(thread))


def test_a_signer_that_only_its_callback_has(gate: Gate, expected: list[bytes]) -> None:
    """It is dropped on the thread that hands out its answers, which cannot wait for its own end."""
    dropped_on: list[threading.Thread] = []

    def drop(_: Future[bytes]) -> None:
        owners.clear()
        dropped_on.append(threading.current_thread())

    signer = one_at_a_time(max_queue=9)
    gate.hold(signer, 9)
    futures = [signer.submit(message(number)) for number in range(5)]
    owners, thread = [signer], thread_of(signer)
    del signer
    futures[0].add_done_callback(drop)
    gate.open.set()
    assert [future.result(60) for future in futures] == expected[:5]
    wait_until(lambda: has_ended(thread))
    assert dropped_on == [thread]


def test_a_signer_in_a_cycle_is_collected_by_any_thread(expected: list[bytes]) -> None:
    cycle: list[Any] = [rsa.Signer(private_key(BITS), *HOW)]
    cycle.append(cycle)
    thread, future = thread_of(cycle[0]), cycle[0].submit(message(0))
    del cycle
    collecting = threading.Thread(target=gc.collect)
    collecting.start()
    collecting.join()
    assert future.result(60) == expected[0]
    wait_until(lambda: has_ended(thread))


def test_coroutines_outlive_other_references(expected: list[bytes]) -> None:
    async def ask() -> list[bytes]:
        signer = rsa.Signer(private_key(BITS), *HOW)
        tasks = [asyncio.ensure_future(signer.asign(message(number))) for number in range(50)]
        threads.append(thread_of(signer))
        del signer
        return await asyncio.gather(*tasks)

    threads: list[threading.Thread] = []
    assert asyncio.run(ask()) == expected[:50]
    wait_until(lambda: has_ended(threads[0]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_leaves_its_parents_signer_alone(gate: Gate, expected: list[bytes]) -> None:
    signer = one_at_a_time(max_queue=2)
    gate.hold(signer, 2)
    future = signer.submit(message(0))
    child = os.fork()
    if child == 0:
        del signer
        gc.collect()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    gate.open.set()
    assert future.result(60) == expected[0]
    assert signer.sign(message(1)) == expected[1]
    signer.close()


@pytest.mark.parametrize("wait", ["", "futures[0].result()", "gc.collect()", "time.sleep(0.01)"])
def test_the_interpreter_exits_after_the_signer_is_dropped(wait: str) -> None:
    """What was accepted has ended before it is gone, by an answer or by cancellation."""
    numbers = peer_key(BITS).private_numbers()
    code = f"""
import atexit, gc, time
from manymod import rsa
from manymod.asynchronous import Job
atexit.register(lambda: print(sum(future.done() for future in futures)))
key = rsa.PrivateKey.from_numbers(n={numbers.public_numbers.n}, e=65537, d={numbers.d})
signer = rsa.Signer(key, "pkcs1v15", "sha256", max_batch=64, max_concurrent=2)
futures = [signer.submit(b"x") for _ in range(2000)]
del signer
{wait}
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, timeout=240
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "2000", "")
