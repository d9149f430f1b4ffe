# SPDX-License-Identifier: Apache-2.0
"""What a ring of keys on curves makes once and keeps."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

from manymod import _core, ecc
from manymod.ecc._key_calls import KeyNumbers


class _SlowRings:
    """Makes rings of the extension, counts them, and holds each back until `go` is set."""

    def __init__(self) -> None:
        self.make, self.count = _core.EccRing, 0
        self.started, self.go = threading.Event(), threading.Event()

    def __call__(self, *arguments: Any) -> _core.EccRing:
        self.count += 1
        self.started.set()
        assert self.go.wait(60)
        return self.make(*arguments)


@pytest.fixture
def slow_rings(monkeypatch: pytest.MonkeyPatch) -> _SlowRings:
    rings = _SlowRings()
    monkeypatch.setattr(_core, "EccRing", rings)
    return rings


def test_threads_share_the_first_ring(slow_rings: _SlowRings) -> None:
    ring = ecc.KeyRing([ecc.Key.generate(ecc.ED25519) for _ in range(2)])
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(ring.sign, [b"m"] * 2, [0, 1]) for _ in range(4)]
        assert slow_rings.started.wait(60)
        threading.Timer(0.2, slow_rings.go.set).start()  # others may reach the ring meanwhile
        assert len({tuple(call.result(60)) for call in calls}) == 1
    assert slow_rings.count == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_does_not_wait_for_the_parents_thread(slow_rings: _SlowRings) -> None:
    ring = ecc.KeyRing([ecc.Key.generate(ecc.ED25519)])
    thread = threading.Thread(target=ring.sign, args=([b"m"],))
    thread.start()
    assert slow_rings.started.wait(60)
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)  # ends a child that waits for ever
            _core.EccRing = slow_rings.make  # type: ignore[misc]
            good = ring.verify(ring.sign([b"m"]), [b"m"]) == [True]
            os._exit(0 if good else 1)
        finally:
            os._exit(1)
    slow_rings.go.set()
    thread.join(60)
    assert os.waitpid(child, 0)[1] == 0


class _CountedNumbers(KeyNumbers):
    """Numbers of a key that count how often the public key is read."""

    reads = 0

    @property
    def public(self) -> bytes:
        _CountedNumbers.reads += 1
        return self._public

    @public.setter
    def public(self, value: bytes) -> None:
        self._public = value


@pytest.mark.parametrize("scheme", ["ecdsa", "bip340"])
@pytest.mark.parametrize("other", [ecc.SECP256K1, ecc.P384], ids=["one length", "two lengths"])
def test_public_keys_are_read_once(
    other: ecc.Curve, scheme: Literal["ecdsa", "bip340"], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [ecc.Key.generate(curve)._numbers for curve in (ecc.SECP256K1, ecc.SECP256K1, other)]
    ring = ecc.KeyRing([ecc.Key(_CountedNumbers(key.curve, key.public, key.secret)) for key in made])
    signed = ring.sign([b"a", b"b"], [1, 0], scheme=scheme)
    monkeypatch.setattr(_CountedNumbers, "reads", 0)
    assert ring.verify(signed[0], b"a", 1, scheme=scheme) is True
    assert _CountedNumbers.reads == 1  # of one key alone
    for _ in range(3):
        assert ring.verify([*signed, signed[0]], [b"a", b"b", b"a"], [1, 0, 3], scheme=scheme) == [
            True,
            True,
            False,
        ]
    assert _CountedNumbers.reads == 1 + len(ring)
