# SPDX-License-Identifier: Apache-2.0
"""What the exceptions of RSA calls carry, to logs and to other processes: nothing that was secret."""

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
from manymod import rsa

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
