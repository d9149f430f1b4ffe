# SPDX-License-Identifier: Apache-2.0
"""Long calls, threads, processes, plans."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gmpy2
import numpy as np
import pyarrow as pa
import pytest

import manymod
from manymod import IntArray, Status, ecc

#: Takes several seconds even on a fast machine with many cores.
LONG = "x = [3] * 200_000; n = 2**4096 - 17; e = 2**4096 - 1"


class EnoughError(Exception):
    pass


def long_call(progress: Any = None, **options: Any) -> Any:
    return manymod.powmod([3] * 200_000, 2**4096 - 1, 2**4096 - 17, progress=progress, **options)


def test_progress_is_called_and_its_exception_stops_the_call() -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        long_call(progress)
    assert len(seen) == 3
    assert all(total == 200_000 for _, total in seen)
    counts = [done for done, _ in seen]
    assert counts == sorted(counts)
    assert manymod.powmod([2], 10, 1000) == [24]


def test_progress_without_items_is_not_called() -> None:
    """A caller may divide by the total."""
    seen: list[tuple[int, int]] = []
    for call in (manymod.powmod, manymod.mulmod):
        assert call([], 3, 7, progress=lambda *counts: seen.append(counts)) == []
    assert ecc.P256.multiply([], progress=lambda *counts: seen.append(counts)) == []
    assert not seen


def test_progress_ends_at_the_total_over_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manymod._run, "RUN_BYTES", 50_000)
    seen: list[tuple[int, int]] = []
    base = list(range(3000))
    manymod.powmod(base, 2**1024 - 1, 2**1024 - 105, progress=lambda *numbers: seen.append(numbers))
    assert seen[-1] == (3000, 3000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    seen.clear()
    manymod.mulmod([1, 2], 3, 7, progress=lambda *numbers: seen.append(numbers))
    assert seen == [(2, 2)]
    for bases, exps, total in (([[2], [3]], [[2], [3]], 2), ([2, 3, 4], [2, 3, 4], 3)):
        seen.clear()
        manymod.multi_powmod(bases, exps, 9, progress=lambda *numbers: seen.append(numbers))
        assert seen == [(total, total)]


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize(
    "call",
    [
        "manymod.powmod(x, e, n)",
        "manymod.powmod(x, e, n, threads=1)",
        "manymod.FixedBase(3, 2**16384 - 1, exponent_bits=2**20)",
    ],
)
def test_ctrl_c_stops_a_long_call(call: str) -> None:
    """Each of these calls would take minutes."""
    # A background job of a shell inherits an ignored SIGINT, and Python then leaves it ignored.
    code = f"""
import manymod, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
{LONG}
try:
    print("ready", flush=True)
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(manymod.powmod(2, 10, 1000), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            assert process.poll() is None
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < 15  # at once, but for what else the machine does
            assert process.stdout.readline() == "24\n"
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_other_threads_run_meanwhile() -> None:
    stop = threading.Event()
    started = threading.Event()

    def progress(_done: int, _total: int) -> None:
        started.set()
        if stop.is_set():
            raise EnoughError

    def call() -> None:
        with pytest.raises(EnoughError):
            long_call(progress, threads=1)

    thread = threading.Thread(target=call)
    thread.start()
    assert started.wait(30)
    # With the GIL held by the call this loop would stand still until the call ends, minutes later.
    counter = 0
    deadline = time.monotonic() + 0.3
    while time.monotonic() < deadline:
        counter += 1
    assert thread.is_alive()
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert counter > 1000


def test_calls_from_many_threads() -> None:
    n = 2**255 - 19

    def work(seed: int) -> bool:
        base = [seed + i for i in range(300)]
        return bool(manymod.powmod(base, seed + 65537, n) == [pow(b, seed + 65537, n) for b in base])

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(24)))


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 16])
def test_thread_counts_give_the_same_answer(threads: int) -> None:
    n = 2**521 - 1
    base = list(range(500))
    assert manymod.powmod(base, n - 2, n, threads=threads) == [0, *[pow(b, -1, n) for b in base[1:]]]


def test_set_threads() -> None:
    default = manymod.get_threads()
    assert default >= 1
    try:
        assert manymod.set_threads(3) == 3
        assert manymod.get_threads() == 3
        assert manymod.powmod(list(range(100)), 5, 1009) == [pow(b, 5, 1009) for b in range(100)]
    finally:
        assert manymod.set_threads(0) == default


def child_work(plan: manymod.Plan, fixed: manymod.FixedBase, queue: Any) -> None:
    base = list(range(2000))
    results = [
        manymod.powmod(base, 65537, 2**255 - 19) == [pow(b, 65537, 2**255 - 19) for b in base],
        plan(base, 77) == [pow(b, 77, 1009) for b in base],
        fixed.powmod(base) == [pow(3, b, 1009) for b in base],
    ]
    queue.put(results)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_use_after_fork() -> None:
    plan, fixed = manymod.Plan("powmod", modulus=1009), manymod.FixedBase(3, 1009)
    # the parent has running threads, cached plans and a used plan
    manymod.powmod(list(range(2000)), 65537, 2**255 - 19)
    plan([1], 2)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=child_work, args=(plan, fixed, queue))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert queue.get() == [True, True, True]
    assert plan([2], 10) == [pow(2, 10, 1009)]


def test_plan_is_called_many_times() -> None:
    n = 2**127 - 1
    plan = manymod.Plan("powmod", modulus=n)
    for exp in (0, 1, 65537, -1):
        assert plan([2, 3, 5], exp) == [pow(b, exp, n) for b in (2, 3, 5)]
        assert plan(IntArray.from_ints([2, 3]), exp).to_ints() == [pow(b, exp, n) for b in (2, 3)]
    each = manymod.Plan("mulmod", modulus_bits=100)
    assert each([2, 3], 5, [7, 11]) == [3, 4]
    assert each([2, 3], 5, 7) == [3, 1]
    result, status = each([2, 3], 5, [7, 1 << 101], errors="status")
    assert (result, status.tolist()) == ([3, 0], [0, Status.MODULUS_TOO_WIDE])
    assert (each.op, each.secret) == ("mulmod", False)
    assert "mulmod" in repr(each)
    secret = manymod.Plan("powmod", modulus=n, secret=True)
    assert secret([2, 3], 2**126) == [pow(2, 2**126, n), pow(3, 2**126, n)]


def test_shared_modulus_changes_between_calls() -> None:
    for n in (1009, 2**61 - 1, 1009, 10, 1, -5, 2**64 - 59):
        assert manymod.powmod([2, 3], 77, n) == [pow(2, 77, n), pow(3, 77, n)]


def test_clear_plans_keeps_results_right() -> None:
    manymod.clear_plans()
    assert manymod.mulmod([3], 5, 7) == [1]
    manymod.clear_plans()
    assert manymod.mulmod([3], 5, 7) == [1]


def test_devices_and_variants() -> None:
    cpu = manymod.devices()[0]
    assert (cpu.name, cpu.backend) == ("cpu", "cpu")
    assert cpu.units >= 1
    names = [variant.name for variant in manymod.variants()]
    assert len(set(names)) == len(names)
    generic = next(variant for variant in manymod.variants() if variant.name == "scalar64.generic")
    assert generic.usable
    assert generic.reason == ""
    assert set(generic.public_ops) - set(generic.secret_ops) == {"multi_powmod"}
    assert all(variant.usable or variant.reason for variant in manymod.variants())


def test_plans_are_pickled_with_their_own_modulus() -> None:
    """Not with the caller's array of it, which may have changed."""
    moduli: list[Any] = [np.array(7), np.array(7, object)]
    for modulus in moduli:
        plan = manymod.Plan("mulmod", modulus=modulus)
        modulus[()] = 9
        assert plan(5, 3) == pickle.loads(pickle.dumps(plan))(5, 3) == 1
    plan = pickle.loads(pickle.dumps(manymod.Plan("mulmod", modulus=gmpy2.mpz(7))))
    assert type(plan(5, 3)) is type(gmpy2.mpz())


def test_statuses_pickle_and_print() -> None:
    assert pickle.loads(pickle.dumps(Status.EVEN_MODULUS)) is Status.EVEN_MODULUS
    assert [Status(i).name for i in range(6)][2] == "NOT_INVERTIBLE"


@pytest.mark.parametrize("secret", [False, True])
def test_input_arrays_are_left_alone(secret: bool) -> None:
    source = np.random.default_rng(1)
    limbs = source.integers(0, 2**63, (50, 3), np.uint64) | np.uint64(1)
    rows = source.integers(0, 256, (50, 9), np.uint8) | np.uint8(1)
    arrays: list[Any] = [limbs, limbs[::-1], rows, np.arange(50, dtype=np.uint64), np.arange(-9, 41)]
    copies = [array.copy() for array in arrays]
    for first in arrays:
        for second in arrays:
            manymod.powmod(first, second, 2**61 - 1, secret=secret, errors="status")
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))
    limbs.flags.writeable = False
    manymod.powmod(limbs, limbs, limbs, secret=secret)


def test_copies_of_secrets_are_zeroed(copies: list[Any]) -> None:
    assert manymod.powmod([2, 3], [77777, 5], 1009, secret=True) == [pow(2, 77777, 1009), 243]
    assert manymod.powmod([2, 3], 77777, 1009, secret=True)[0] == pow(2, 77777, 1009)
    fixed = manymod.FixedBase(2, 1009, exponent_bits=64, secret=True)
    assert fixed.powmod([77777]) == [pow(2, 77777, 1009)]
    assert len(copies) == 3
    assert not any(limbs.any() for limbs in copies)


def test_copies_of_secret_moduli_are_zeroed(copies: list[Any]) -> None:
    expected = [pow(2, 5, 77777), pow(3, 5, 1009)]
    assert manymod.powmod([2, 3], 5, [77777, 1009], secret=True) == expected
    assert manymod.powmod([2, 3], 5, 77777, secret=True)[0] == expected[0]
    assert manymod.powmod(pa.array([2, None, 3]), 5, [77777, 9, 1009], secret=True).to_pylist() == [
        expected[0],
        None,
        expected[1],
    ]
    plan = manymod.Plan("powmod", modulus=77777, secret=True)
    assert plan([2], [5]) == expected[:1]
    assert manymod.FixedBase(2, 77777, exponent_bits=64, secret=True).powmod([5]) == expected[:1]
    assert len(copies) >= 7
    assert not any(limbs.any() for limbs in copies)


def test_copies_of_secrets_are_zeroed_where_calls_fail(copies: list[Any]) -> None:
    with pytest.raises(ValueError, match="odd"):
        manymod.powmod([2, 3], [77777, 5], [1009, 10], secret=True)

    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    numbers = [77777, *range(3, 30_003)]
    with pytest.raises(KeyboardInterrupt):
        manymod.powmod(numbers, [2**2000 + 1] * len(numbers), 2**2048 - 9, secret=True, progress=stop)
    assert len(copies) == 2
    assert not any(limbs.any() for limbs in copies)


def test_other_copies_of_secrets_are_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    to_limbs, take = manymod._core.bytes_to_limbs, manymod._run._take

    def watched_bytes(rows: Any, limbs: Any) -> None:
        to_limbs(rows, limbs)
        seen.extend((rows, limbs))

    def watched_take(batch: Any, rows: Any, count: int) -> Any:
        taken = take(batch, rows, count)
        if taken is not batch:
            seen.append(taken[0])
        return taken

    monkeypatch.setattr(manymod._core, "bytes_to_limbs", watched_bytes)
    monkeypatch.setattr(manymod._run, "_take", watched_take)
    exponents = np.arange(16, dtype=np.uint8).reshape(2, 8)
    expected = [pow(3, int.from_bytes(row.tobytes(), "little"), 1009) for row in exponents]
    assert manymod.powmod([3, 3], exponents[:, ::-1], 1009, secret=True) == expected
    assert len(seen) == 2
    limbs = np.arange(1, 4, dtype=np.uint64).reshape(3, 1)
    assert manymod.powmod(pa.array([3, None, 5]), limbs, 1009, secret=True).to_pylist() == [3, None, 125]
    assert len(seen) == 4
    assert not any(array.any() for array in seen)
    assert limbs.tolist() == [[1], [2], [3]]


def test_secret_scalars_serve_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manymod._run, "RUN_BYTES", 1000)
    base = list(range(2, 300))
    expected = [pow(x, 2**70 + 1, 1009) for x in base]
    for exp in (2**70 + 1, IntArray.from_ints([2**70 + 1]).to_bytes(), IntArray.from_ints([2**70 + 1]).limbs):
        assert manymod.powmod(base, exp, 1009, secret=True) == expected
        assert manymod.powmod(pa.array([None, *base]), exp, 1009, secret=True).to_pylist() == [
            None,
            *expected,
        ]
    expected = [pow(3, x, 1009) for x in base]
    assert manymod.powmod(3, base, 1009, secret=True) == expected
