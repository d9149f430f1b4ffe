# SPDX-License-Identifier: Apache-2.0
"""A signer that can be held up, and signatures to expect; conftest.py offers its fixtures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from tests.python.rsa_support import private_key

from manymod import rsa
from manymod._batch_signer import BatchSigner

HOW = ("pkcs1v15", "sha256")
BITS = 1024  # the load is on the queue, not on the arithmetic


def message(number: int) -> bytes:
    return b"request %d" % number


@pytest.fixture(scope="module")
def expected() -> list[bytes]:
    """Signatures of requests 0 to 9999."""
    return private_key(BITS).sign([message(i) for i in range(10_000)], *HOW)


def one_at_a_time(**options: Any) -> rsa.Signer:
    """A signer whose batches follow one another."""
    return rsa.Signer(private_key(BITS), *HOW, max_concurrent=1, **options)


def wait_until(condition: Any) -> None:
    for _ in range(60_000):
        if condition():
            return
        time.sleep(0.001)
    raise AssertionError("waited for a minute")


def is_closed(signer: BatchSigner) -> bool:
    try:
        signer.submit(b"one more", timeout=0).cancel()
    except rsa.SignerClosedError:
        return True
    except rsa.SignerFullError:
        pass
    return False


class Gate:
    """Holds up signers until it is opened, so that a test decides what waits when."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def hold_answers(self, signer: BatchSigner) -> list[Future[bytes]]:
        """Let no answer be handed out any more, by a callback that does not return. Returns the requests."""
        entered = threading.Event()
        asker = threading.current_thread()

        def wait(_: Future[bytes]) -> None:
            if threading.current_thread() is not asker:  # as where the answer came before the callback
                entered.set()
                assert self.open.wait(60)

        asked: list[Future[bytes]] = []
        while not entered.is_set():
            asked.append(signer.submit(b"gate"))
            asked[-1].add_done_callback(wait)
            wait_until(asked[-1].done)
            entered.wait(0.01)
        return asked

    def hold(self, signer: BatchSigner, max_queue: int, concurrent: int = 1) -> list[Future[bytes]]:
        """Let nothing be computed any more, as too many answers wait to be handed out. Returns the requests.

        The last `concurrent` of these are being computed until the gate opens.
        """
        asked = self.hold_answers(signer)
        accepted = signer.statistics().accepted
        wait_until(lambda: signer.statistics().signed == accepted)
        asked += [signer.submit(b"gate") for _ in range(max_queue)]
        wait_until(lambda: signer.statistics().signed == accepted + max_queue)
        for _ in range(concurrent):
            asked.append(signer.submit(b"gate"))
            wait_until(lambda: signer.statistics().waiting == 0)
        return asked


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


def check_counts(found: rsa.SignerStatistics) -> None:
    """Nothing accepted is lost, and nothing is counted twice."""
    assert found.accepted == found.signed + found.failed + found.cancelled
    assert found.waiting == 0
    assert sum(found.batch_sizes.values()) == found.batches
    least = sum(size * count for size, count in found.batch_sizes.items())
    assert least <= found.signed + found.failed < 2 * least or found.batches == 0
