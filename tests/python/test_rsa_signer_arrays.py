# SPDX-License-Identifier: Apache-2.0
"""`Signer.submit_many`: arrays of messages get what `KeyRing.sign` makes of them, in their kind."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.python.rsa_support import private_key
from tests.python.signer_support import BITS, HOW, Gate, check_counts, message, one_at_a_time, wait_until

import manymod
from manymod import Status, rsa

ROWS = np.arange(60, dtype=np.uint8).reshape(12, 5)
LISTED = [bytes(row) for row in ROWS]


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, np.ndarray):
        return isinstance(found, np.ndarray) and found.dtype == wanted.dtype and bool((found == wanted).all())
    return type(found) is type(wanted) and bool(found == wanted)


@pytest.mark.parametrize(
    "messages",
    [
        b"one alone",
        [],
        LISTED,
        [bytearray(b"a"), memoryview(b"b"), b""],
        ROWS,
        ROWS[::2],
        ROWS[::-1],
        np.zeros((0, 4), np.uint8),
        np.array(LISTED, object),
    ],
)
def test_kinds(messages: Any) -> None:
    key = private_key(BITS)
    with rsa.Signer(key, *HOW) as signer:
        assert same(signer.submit_many(messages).result(60), key.sign(messages, *HOW))
    check_counts(signer.statistics())


def test_columns_and_nulls() -> None:
    pa = pytest.importorskip("pyarrow")
    key = private_key(BITS)
    columns = [
        pa.array(LISTED, pa.binary(5)),
        pa.array([b"one", None, b"three"]),
        pa.array([None, None], pa.large_binary()),
        pa.chunked_array([[b"one"], [b"two", None]]),
    ]
    with rsa.Signer(key, *HOW) as signer:
        for column in columns:
            assert signer.submit_many(column).result(60).equals(key.sign(column, *HOW))
        signatures, statuses = signer.submit_many(columns[1], errors="status").result(60)
        assert signatures.to_pylist()[1] is None
        assert statuses.tolist() == [0, Status.NOT_COMPUTED, 0]
    assert signer.statistics().signed == 12 + 2 + 2 + 2


def test_keys() -> None:
    """Of several lengths, or not there; one message may have several keys."""
    ring = rsa.KeyRing([private_key(BITS), private_key(2048), private_key(BITS).public_key()])
    indices = np.arange(12) % 2
    with rsa.Signer(ring, *HOW) as signer:
        assert signer.submit_many(LISTED, indices).result(60) == ring.sign(LISTED, indices, *HOW)
        assert same(signer.submit_many(ROWS, 0).result(60), ring.sign(ROWS, 0, *HOW))
        with pytest.raises(TypeError, match="key_indices are needed: they tell which of the 3 keys"):
            signer.submit_many(ROWS)
        assert same(signer.submit_many(ROWS, 1).result(60), ring.sign(ROWS, 1, *HOW))
        assert signer.submit_many(b"all", [0, 1]).result(60) == ring.sign(b"all", [0, 1], *HOW)
        with pytest.raises(ValueError, match="different sizes"):
            signer.submit_many(ROWS, indices)
        with pytest.raises(ValueError, match="different lengths"):
            signer.submit_many(ROWS, [0])
        wrong = np.array([0, 1, 2, -1, 9, 0, 0, 0, 0, 0, 0, 0])
        found = signer.submit_many(LISTED, wrong, errors="status").result(60)
        wanted = ring.sign(LISTED, wrong, *HOW, errors="status")
        assert found[0] == wanted[0]
        assert found[1].tolist() == wanted[1].tolist() == [0, 0, *[Status.RSA_KEY] * 3, *[0] * 7]
        error = signer.submit_many(LISTED, wrong).exception(60)
        assert isinstance(error, rsa.ItemValueError)
        assert error.indices == [2, 3, 4]
        assert error.result == wanted[0]
        alone = signer.submit_many(b"alone", 2, errors="status").result(60)
        assert alone == (b"", Status.RSA_KEY)
    check_counts(signer.statistics())


def test_digests() -> None:
    key, how = private_key(BITS), ("pkcs1v15", rsa.Prehashed("sha256"))
    digests = [bytes(32), b"short", b"\1" * 32]
    with rsa.Signer(key, *how) as signer:
        signatures, statuses = signer.submit_many(digests, errors="status").result(60)
        assert signer.sign(bytes(32)) == signatures[0]
    assert signatures == [key.sign(digests[0], *how), b"", key.sign(digests[2], *how)]
    assert statuses.tolist() == [0, Status.RSA_LENGTH, 0]


def test_arrays_and_single_requests_of_many_threads(expected: list[bytes]) -> None:
    def ask(start: int) -> bool:
        parts = [range(part, part + 100) for part in range(start, start + 1000, 100)]
        arrays = [signer.submit_many([message(number) for number in part]) for part in parts]
        single = [signer.submit(message(number)) for number in range(start, start + 50)]
        return [signature for array in arrays for signature in array.result(60)] == expected[
            start : start + 1000
        ] and [future.result(60) for future in single] == expected[start : start + 50]

    with rsa.Signer(private_key(BITS), *HOW, max_queue=700) as signer, ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(0, 8000, 1000)))
    check_counts(signer.statistics())
    assert signer.statistics().signed == 8 * 1050


def test_arrays_are_accepted_whole(gate: Gate, expected: list[bytes]) -> None:
    """Where there is room for one request; then others wait."""
    with one_at_a_time(max_queue=3) as signer:
        gate.hold(signer, 3)
        first = signer.submit_many([message(number) for number in range(20)])
        assert signer.statistics().waiting == 20
        with pytest.raises(rsa.SignerFullError, match="20 requests wait already"):
            signer.submit_many([message(20)], timeout=0.01)
        waits = manymod.submit(signer.submit_many, [message(number) for number in range(20, 30)])
        gate.open.set()
        assert first.result(60) + waits.result(60).result(60) == expected[:30]
    check_counts(signer.statistics())
    assert signer.statistics().refused == 1


def test_cancelling(gate: Gate, expected: list[bytes]) -> None:
    with one_at_a_time(max_queue=100) as signer:
        held = gate.hold(signer, 100)
        first, second = (signer.submit_many([message(number) for number in range(10)]) for _ in range(2))
        assert first.cancel()
        assert signer.statistics().waiting == 10
        gate.open.set()
        assert second.result(60) == expected[:10]
        assert not second.cancel()
        with pytest.raises(CancelledError):
            first.result(60)
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.cancelled) == (len(held) + 10, 10)


def test_an_array_that_has_begun_is_cancelled_in_part(expected: list[bytes]) -> None:
    """Its callers learn which messages were signed."""
    messages = [message(number) for number in range(5000)]
    with one_at_a_time(max_batch=1) as signer:
        array = signer.submit_many(messages, errors="status")
        wait_until(lambda: signer.statistics().signed > 0)
        assert not array.cancel()
        signatures, statuses = array.result(60)
    signed = statuses == 0
    found = signer.statistics()
    check_counts(found)
    assert (found.signed, found.cancelled) == (int(signed.sum()), int((~signed).sum()))
    assert set(statuses[~signed].tolist()) <= {Status.NOT_COMPUTED}
    assert signatures == [
        signature if good else b"" for signature, good in zip(expected, signed, strict=False)
    ]


def test_closing_cancels_arrays_that_wait(gate: Gate) -> None:
    signer = one_at_a_time(max_queue=5)
    gate.hold(signer, 5)
    array = signer.submit_many([message(number) for number in range(10)])
    closing = manymod.submit(signer.close, drain=False)
    wait_until(lambda: signer.statistics().waiting == 0)
    gate.open.set()
    closing.result(60)
    assert array.cancelled()
    check_counts(signer.statistics())


def test_coroutines(expected: list[bytes]) -> None:
    async def main() -> list[bytes]:
        return await asyncio.wrap_future(signer.submit_many([message(number) for number in range(7)]))

    with rsa.Signer(private_key(BITS), *HOW) as signer:
        assert asyncio.run(main()) == expected[:7]


def test_wrong_arguments() -> None:
    with rsa.Signer(private_key(BITS), *HOW) as signer:
        for wrong in ("text", 5, np.zeros(3), [b"a", "b"]):
            with pytest.raises(TypeError):
                signer.submit_many(wrong)
        with pytest.raises(ValueError, match="errors"):
            signer.submit_many([b"a"], errors="false")  # type: ignore[arg-type]
        assert signer.statistics().accepted == 0
