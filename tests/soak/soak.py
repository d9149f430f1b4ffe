# SPDX-License-Identifier: Apache-2.0
"""Random calls of the Python package from threads and forked children, some while libcrypto has no memory.

``python tests/soak/soak.py [--seconds N] [--seed S] [--threads N] [--allocations LIBRARY]``

Answers are checked against ``pow`` and by round trips. Between rounds the process must have the same memory,
descriptors and threads. LIBRARY is ``libmanymod_failing_allocations.so`` of the C++ tests, with which this
program starts again: allocations of libcrypto then fail in some rounds. (Those of the C interface fail in
``soak.cpp``: nanobind, between both, ends the process where it gets no memory.)
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import manymod
from manymod import IntArray, rsa

ROUNDS = 10
WARM_UP_ROUNDS = 4
SLACK_MIB = 48
#: Threads that wait for jobs are started as they are needed, up to so many.
SLACK_THREADS = 8
SECONDS_OF_A_CHILD = 60
#: In rounds one after the other, one of so many allocations of libcrypto fails; 0: none.
FAILING = (0, 300, 0, 30)
DEVICES = ("auto", *(device.name for device in manymod.devices()))
#: A child cannot use GPUs that its parent used.
DEVICES_OF_A_CHILD = ("auto", "cpu")
#: Drivers of GPUs start threads with a descriptor each when calls first overlap.
SLACK_DESCRIPTORS = 0 if set(DEVICES) <= {"auto", "cpu"} else 8


class Stopped(Exception):  # noqa: N818 - no error
    """Raised by a progress function to stop a call."""


def _batch(source: random.Random) -> tuple[list[int], list[int], list[int]]:
    bits = source.choice((30, 64, 65, 256, 500, 1024))
    count = source.choice((1, 2, 7, 16, 40))
    bases = [source.getrandbits(bits + 9) for _ in range(count)]
    exps = [source.getrandbits(min(bits, 80)) for _ in range(count)]
    return bases, exps, [source.getrandbits(bits) | 1 << (bits - 1) | 1 for _ in range(count)]


def _powers(source: random.Random, devices: tuple[str, ...] = DEVICES) -> None:
    bases, exps, moduli = _batch(source)
    device = source.choice(devices)
    options: dict[str, Any] = {
        "secret": not device.startswith("opencl") and source.randrange(2) == 1,
        "threads": source.randrange(4),
        "device": device,
    }
    given: Any = IntArray.from_ints(bases) if source.randrange(2) else bases
    expected = [pow(b, e, n) for b, e, n in zip(bases, exps, moduli, strict=True)]
    assert list(manymod.powmod(given, exps, moduli, **options)) == expected


def _others(source: random.Random) -> None:
    x, y, moduli = _batch(source)
    assert manymod.mulmod(x, y, moduli) == [a * b % n for a, b, n in zip(x, y, moduli, strict=True)]
    assert manymod.submod(x, y, moduli[0]) == [(a - b) % moduli[0] for a, b in zip(x, y, strict=True)]
    inverses, statuses = manymod.invmod(x, moduli, errors="status")
    for a, n, inverse, status in zip(x, moduli, inverses, statuses, strict=True):
        assert status == manymod.Status.NOT_INVERTIBLE or a * inverse % n == 1 % n
    powers = manymod.FixedBase(x[0], moduli[0], exponent_bits=80)
    assert powers.powmod(y) == [pow(x[0], e, moduli[0]) for e in y]


def _jobs(source: random.Random) -> None:
    bases, exps, moduli = _batch(source)
    futures = [manymod.submit(manymod.powmod, bases, exps, n) for n in moduli[:6]]
    for future in futures:
        if source.randrange(3) == 0:
            future.cancel()
    for future, n in zip(futures, moduli, strict=False):
        with contextlib.suppress(CancelledError):
            assert future.result() == [pow(b, e, n) for b, e in zip(bases, exps, strict=True)]


def _stopped(source: random.Random) -> None:
    bits = 4096
    numbers = [source.getrandbits(bits) | 1 for _ in range(64)]

    def stop(done: int, total: int) -> None:
        raise Stopped

    with contextlib.suppress(Stopped):
        manymod.powmod(numbers, numbers, numbers[::-1], threads=1, progress=stop)


class Keys:
    """Keys that the threads share."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import rsa as foreign

        made = [foreign.generate_private_key(65537, bits) for bits in (1024, 2048)]
        self.ring = rsa.KeyRing([rsa.PrivateKey.from_cryptography(key) for key in made])
        self.signer = rsa.Signer(self.ring, "pss", "sha256", deadline=0.01)

    def round_trip(self, source: random.Random) -> None:
        """Sign and verify, encrypt and decrypt."""
        messages = [source.randbytes(source.randrange(60)) for _ in range(source.choice((1, 3, 9)))]
        indices = [source.randrange(2) for _ in messages]
        padding = source.choice(("pss", "pkcs1v15"))
        signatures = self.ring.sign(messages, indices, padding, "sha256")
        assert all(self.ring.verify(signatures, messages, indices, padding, "sha256"))
        ciphertexts = self.ring.encrypt(messages, indices, "oaep")
        assert self.ring.decrypt(ciphertexts, indices, "oaep") == messages

    def requests(self, source: random.Random) -> None:
        """Ask the signer, and change some minds."""
        messages = [source.randbytes(20) for _ in range(6)]
        futures = [self.signer.submit(message, 0) for message in messages]
        for future in futures:
            if source.randrange(4) == 0:
                future.cancel()
        for future, message in zip(futures, messages, strict=True):
            with contextlib.suppress(CancelledError):
                signature = future.result()
                assert self.ring.verify([signature], [message], [0], "pss", "sha256") == [True]


def _child(source: random.Random) -> None:
    """Compute in a child; RSA is left out, as a thread of the parent may hold a lock of libcrypto."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(SECONDS_OF_A_CHILD)
            _powers(source, DEVICES_OF_A_CHILD)
            _others(source)
            _jobs(source)
            code = 0
        except BaseException:  # noqa: BLE001 - reported by the status
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"a child ended with status {status}"


class Soak:
    """The threads of one run, and what they share."""

    def __init__(self, seed: int, allocations: Any) -> None:
        self.seed = seed
        self.allocations = allocations
        self.keys = Keys()
        self.calls = 0
        self.failures: list[str] = []
        self.with_failing = False

    def _one(self, source: random.Random) -> None:
        actions: tuple[Callable[[random.Random], None], ...] = (
            _powers,
            _others,
            _jobs,
            self.keys.round_trip,
            self.keys.requests,
        )
        choice = source.randrange(200)
        action = _child if choice == 0 else _stopped if choice == 1 else source.choice(actions)
        try:
            action(source)
        except (MemoryError, manymod.CryptoError):
            if not self.with_failing:
                raise

    def work(self, thread: int, until: float) -> None:
        """Call until that time."""
        number = 0
        while time.monotonic() < until and not self.failures:
            name = f"{self.seed}-{thread}-{until}-{number}"
            try:
                self._one(random.Random(name))
            except BaseException:  # noqa: BLE001 - reported when the round ends
                self.failures.append(f"seed {self.seed}, call {name}:\n{traceback.format_exc()}")
            number += 1
            self.calls += 1

    def round(self, index: int, threads: int, seconds: float) -> tuple[int, int, int]:
        """Run one round. Returns MiB, descriptors and threads after it."""
        one_of = FAILING[index % len(FAILING)] if self.allocations else 0
        self.with_failing = one_of != 0
        if self.allocations:
            self.allocations.failing_allocations_set(one_of, self.seed + index)
        until = time.monotonic() + seconds
        running = [threading.Thread(target=self.work, args=(i, until)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        if self.allocations:
            self.allocations.failing_allocations_set(0, 0)
        if self.failures:
            sys.exit("soak: " + "\n".join(self.failures))
        return usage()


def usage() -> tuple[int, int, int]:
    """Return MiB of resident memory, number of descriptors and of threads."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    entries = [len(list(Path("/proc/self", name).iterdir())) for name in ("fd", "task")]
    return pages * os.sysconf("SC_PAGESIZE") >> 20, entries[0], entries[1]


def failing_allocations(library: str | None) -> Any:
    """Return the preloaded library, set to libcrypto, or None. Begins again where it is not preloaded."""
    if library is None:
        return None
    if os.environ.get("LD_PRELOAD") != library:
        environment = os.environ | {"LD_PRELOAD": library, "MALLOC_ARENA_MAX": "2"}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    loaded = ctypes.CDLL(None)
    loaded.failing_allocations_set.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    loaded.failing_allocations_count.restype = ctypes.c_uint64
    if not loaded.failing_allocations_watch(b"libcrypto.so"):
        sys.exit("soak: the package uses no shared libcrypto")
    return loaded


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Random calls for a long time.")
    parser.add_argument("--seconds", type=float, default=60, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="default: a new one")
    parser.add_argument("--threads", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--allocations", metavar="LIBRARY", help="libmanymod_failing_allocations.so")
    arguments = parser.parse_args()
    allocations = failing_allocations(arguments.allocations)
    soak = Soak(arguments.seed, allocations)
    usual = (0, 0, 0)
    for index in range(ROUNDS):
        mib, descriptors, threads = soak.round(index, arguments.threads, arguments.seconds / ROUNDS)
        counts = f"{mib} MiB, {descriptors} descriptors, {threads} threads"
        print(f"round {index + 1}: {soak.calls} calls, {counts}", flush=True)
        if index < WARM_UP_ROUNDS:
            usual = max(usual[0], mib), max(usual[1], descriptors), max(usual[2], threads)
            continue
        allowed = usual[0] + SLACK_MIB, usual[1] + SLACK_DESCRIPTORS, usual[2] + SLACK_THREADS
        if mib > allowed[0] or descriptors > allowed[1] or threads > allowed[2]:
            sys.exit(f"soak: more than in the first rounds, {usual}; seed {soak.seed}")
    failed = allocations.failing_allocations_count() if allocations else 0
    print(f"{soak.calls} calls, {failed} failed allocations, seed {soak.seed}")
    soak.keys.signer.close()


if __name__ == "__main__":
    main()
