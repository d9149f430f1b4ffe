# SPDX-License-Identifier: Apache-2.0
"""`manymod.ecc.Signer`: what it adds to the service that test_rsa_signer.py tests."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from manymod import ItemValueError, Status, ecc


def test_threads_and_coroutines() -> None:
    """Every request gets the signature of its message by its key, on whatever curve that is."""
    keys = [ecc.Key.generate(curve) for curve in (ecc.P256, ecc.ED25519, ecc.SM2)]
    messages = [b"message %d" % number for number in range(60)]
    with ecc.Signer(ecc.KeyRing(keys), deadline=0.002) as signer, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: signer.sign(messages[i], i % 3), range(60)))

        async def ask() -> list[bytes]:
            return await asyncio.gather(*(signer.asign(messages[i], i % 3) for i in range(60)))

        awaited = asyncio.run(ask())
    assert signer.statistics().signed == 120
    for i in range(60):
        assert keys[i % 3].verify([found[i], awaited[i]], messages[i]) == [True, True]
    assert found == awaited


def test_options() -> None:
    key = ecc.Key.generate(ecc.SECP256K1)
    with ecc.Signer(key, {"scheme": "bip340", "nonces": "hedged"}) as signer:
        signature = signer.submit(b"message").result()
    assert key.verify(signature, b"message", scheme="bip340") is True
    digest = ecc.Prehashed("sha256")
    with ecc.Signer(key, {"algorithm": digest, "encoding": "der"}) as signer:
        signature = signer.sign(memoryview(bytes(64))[::2])
    assert key.verify(signature, bytes(32), algorithm=digest, encoding="der") is True
    wrong: list[Any] = [{"nonces": [bytes(32)]}, {"scheme": "rsa"}, {"encoding": "asn1"}]
    for how in wrong:
        with pytest.raises(ValueError, match="must be one of|cannot be given"):
            ecc.Signer(key, how)
    with pytest.raises(TypeError, match="Key or a KeyRing"):
        ecc.Signer(b"key")  # type: ignore[arg-type]


def test_keys_that_cannot_sign() -> None:
    """A signer is refused with the reason that a call gives, where none of its keys could ever sign."""
    key, exchanging = ecc.Key.generate(ecc.P256), ecc.Key.generate(ecc.X25519)
    for keys, how in ((exchanging, {}), (ecc.KeyRing([exchanging]), {}), (key, {"scheme": "sm2"})):
        with pytest.raises(ItemValueError, match="the curve has no such operation, scheme"):
            ecc.Signer(keys, how)
    with pytest.raises(TypeError, match="a private Key or a KeyRing, not a public Key"):
        ecc.Signer(key.public_key())


def test_options_of_another_type() -> None:
    key = ecc.Key.generate(ecc.P256)
    wrong: Any = "x"
    with pytest.raises(TypeError, match="deadline must be a number of seconds, not str"):
        ecc.Signer(key, deadline=wrong)
    wrong = []
    with pytest.raises(ValueError, match=r"full must be 'block' or 'raise', not \[\]"):
        ecc.Signer(key, full=wrong)
    with ecc.Signer(ecc.KeyRing([key, key]), deadline=0) as signer:
        flags: list[Any] = [True, False, np.True_]
        for flag in flags:
            with pytest.raises(TypeError, match="key must be an integer"):
                signer.sign(b"a", flag)
            with pytest.raises(TypeError, match="key must be an integer"):
                signer.submit(b"a", flag)


def test_bad_requests_fail_alone() -> None:
    keys = [ecc.Key.generate(ecc.P256), ecc.Key.generate(ecc.P256).public_key(), ecc.Key.generate(ecc.X25519)]
    with ecc.Signer(ecc.KeyRing(keys), deadline=0.05) as signer:
        futures = [signer.submit(b"message", key) for key in (0, 1, 2, 0)]
        for future, status in ((futures[1], Status.ECC_SECRET), (futures[2], Status.ECC_CURVE)):
            with pytest.raises(ItemValueError) as caught:
                future.result()
            assert caught.value.statuses.tolist() == [status]
        assert keys[0].verify([futures[0].result(), futures[3].result()], b"message") == [True, True]
        with pytest.raises(ValueError, match="key 3"):
            signer.submit(b"message", 3)
    with pytest.raises(ecc.SignerClosedError):
        signer.sign(b"message")


def test_arrays() -> None:
    """On one curve or several, in encodings of one length and of any."""
    keys = [ecc.Key.generate(curve) for curve in (ecc.P256, ecc.ED25519, ecc.P384)]
    ring, indices = ecc.KeyRing([*keys, keys[0].public_key()]), [0, 1, 2, 0]
    messages = [b"", b"a", b"ab", b"abc"]
    rows = np.arange(12, dtype=np.uint8).reshape(4, 3)
    with ecc.Signer(ring) as signer:
        assert signer.submit_many(messages, indices).result(60) == ring.sign(messages, indices)
        found = signer.submit_many(messages, [0, 3, 9, 1], errors="status").result(60)
        wanted = ring.sign(messages, [0, 3, 9, 1], errors="status")
        assert found[0] == wanted[0]
        assert found[1].tolist() == wanted[1].tolist()
        with pytest.raises(ValueError, match="different sizes"):
            signer.submit_many(rows, 0)
    with ecc.Signer(keys[0]) as signer:
        assert signer.submit_many(rows).result(60).tolist() == keys[0].sign(rows).tolist()
    with ecc.Signer(keys[0], {"encoding": "der"}) as signer:
        assert signer.submit_many(rows).result(60) == keys[0].sign(rows, encoding="der")
    with ecc.Signer(keys[1], {"context": b"", "algorithm": ecc.Prehashed("sha512")}) as signer:
        (signature,) = signer.submit_many([bytes(64)]).result(60)
    assert keys[1].verify(signature, bytes(64), algorithm=ecc.Prehashed("sha512"))


def test_how_is_a_mapping() -> None:
    wrong: Any = "hedged"
    with pytest.raises(TypeError, match="how must be a mapping of keywords of sign, not str"):
        ecc.Signer(ecc.Key.generate(ecc.P256), wrong)
