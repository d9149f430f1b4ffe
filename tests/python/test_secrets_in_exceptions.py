# SPDX-License-Identifier: Apache-2.0
"""What the exceptions of calls with keys carry, to logs and to other processes: nothing that was secret."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.python.rsa_support import private_key

import manymod
from manymod import ecc, rsa
from manymod._byte_items import Results

PLAIN = b"the plaintext of others"


def frames(trace: TracebackType | None) -> Iterator[str]:
    """Local variables of the package's frames in a traceback, as text."""
    while trace is not None:
        if trace.tb_frame.f_globals["__name__"].startswith("manymod."):
            yield repr(trace.tb_frame.f_locals)
        trace = trace.tb_next


@pytest.mark.parametrize("kind", ["list", "rows", "arrow", "nulls"])
def test_exceptions_hold_nothing_decrypted(kind: str) -> None:
    """The other items are answered where statuses are asked for."""
    key = private_key()
    good = key.public_key().encrypt(PLAIN, "oaep")
    bad = bytes(len(good))
    ciphertexts: Any = [good, bad]
    if kind == "rows":
        ciphertexts = np.frombuffer(good + bad, np.uint8).reshape(2, -1)
    elif kind != "list":
        ciphertexts = pa.array([good, bad, None] if kind == "nulls" else [good, bad])
    with pytest.raises(manymod.ItemValueError, match="item 1$") as caught:
        key.decrypt(ciphertexts, "oaep")
    error = caught.value
    assert (error.result, error.indices) == (None, [1])
    restored = pickle.loads(pickle.dumps(error))
    assert (str(restored), restored.result) == (str(error), None)
    assert restored.statuses.tolist() == error.statuses.tolist()
    held = list(frames(error.__traceback__))
    assert held
    assert not any(PLAIN.decode() in text for text in held)
    results, statuses = key.decrypt(ciphertexts, "oaep", errors="status")
    assert (pa.array(results)[0].as_py(), statuses[0]) == (PLAIN, 0)


def test_exceptions_of_private_powers_hold_no_results() -> None:
    key = private_key()
    numbers = [bytes([1]), b"\xff" * key.modulus_bytes]
    with pytest.raises(manymod.ItemValueError, match="not below the modulus: item 1$") as caught:
        key.raw(numbers)
    assert caught.value.result is None
    with pytest.raises(manymod.ItemValueError) as caught:
        rsa.KeyRing([key]).raw_public(numbers)
    assert caught.value.result == [numbers[0].rjust(key.modulus_bytes, b"\0"), b""]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Results]:
    """The memory of results of the calls of a test."""
    made: list[Results] = []

    class Recorded(Results):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr("manymod._byte_calls.Results", Recorded)
    return made


def test_rows_of_secrets_are_zeroed_where_the_call_fails(made: list[Results]) -> None:
    secrets, keys = ecc.P256.generate(3)
    keys[1, 5] ^= 1
    with pytest.raises(manymod.ItemValueError, match="item 1$"):
        ecc.P256.exchange(secrets, keys)
    assert not made[-1].rows.any()
    results, statuses = ecc.P256.exchange(secrets, keys, errors="status")
    assert statuses.astype(bool).tolist() == [False, True, False]
    assert results[0].any()


def test_rows_of_secrets_are_zeroed_where_they_are_copied(made: list[Results]) -> None:
    secrets, keys = ecc.P256.generate(3)
    expected = ecc.P256.exchange(secrets, keys)
    for out in (np.zeros((3, 32), np.uint8, order="F"), np.zeros((3, 64), np.uint8)[:, ::2]):
        assert ecc.P256.exchange(secrets, keys, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert not made[-1].rows.any()
    direct = np.zeros((3, 32), np.uint8)
    assert ecc.P256.exchange(secrets, keys, out=direct) is direct
    np.testing.assert_array_equal(direct, expected)
