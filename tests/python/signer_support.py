# SPDX-License-Identifier: Apache-2.0
"""A signer whose calls can be held, and signatures to expect; conftest.py offers its fixtures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.python.rsa_support import private_key

from manymod import rsa
from manymod.rsa import ring as ring_module

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
        self.longest = 0
        self.failure: Exception | None = None
        sign = ring_module.KeyRing.sign

        def held(ring: rsa.KeyRing, messages: Any, *args: Any, **options: Any) -> Any:
            self.batches.append(len(messages))
            self.longest = max(self.longest, *map(len, messages))
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
