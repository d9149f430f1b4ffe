# SPDX-License-Identifier: Apache-2.0
"""Kinds of batches and keys that manymod.ecc takes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reference.ecc import curves as oracle
from tests.python.ecc_support import ALL, SIGNING

from manymod import DeviceError, InvalidKeyError, Status, ecc


def named(curve: ecc.Curve) -> str:
    return curve.name


class TestKinds:
    """Answers have the kind of what was given."""

    secrets, public_keys = ecc.P256.generate(5)
    rows = np.arange(100, dtype=np.uint8).reshape(5, 20)

    def test_rows(self) -> None:
        signatures = ecc.P256.sign(self.secrets, self.rows)
        assert (signatures.dtype, signatures.shape) == (np.uint8, (5, 64))
        listed = ecc.P256.sign([row.tobytes() for row in self.secrets], [row.tobytes() for row in self.rows])
        assert [row.tobytes() for row in signatures] == listed
        verdicts = ecc.P256.verify(self.public_keys, signatures, self.rows)
        assert verdicts.dtype == np.bool_
        assert verdicts.all()
        strided = np.repeat(self.rows, 2, axis=1)[::-1, ::2]
        assert (ecc.P256.sign(self.secrets[::-1], strided) == signatures[::-1]).all()
        assert isinstance(ecc.P256.sign(self.secrets, self.rows, encoding="der"), list)

    def test_out(self) -> None:
        out = np.empty((5, 64), np.uint8)
        assert ecc.P256.sign(self.secrets, self.rows, out=out) is out
        assert ecc.P256.verify(self.public_keys, out, self.rows).all()
        mine: list[Any] = [None] * 2
        assert ecc.P256.sign(self.secrets[0].tobytes(), [b"a", b"b"], out=mine) is mine
        with pytest.raises(ValueError, match="out must be"):
            ecc.P256.sign(self.secrets, self.rows, out=np.empty((5, 63), np.uint8))

    @pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(20)])
    def test_arrow(self, dtype: Any) -> None:
        secrets = pa.array([row.tobytes() for row in self.secrets])
        messages = pa.array([None if i == 2 else row.tobytes() for i, row in enumerate(self.rows)], dtype)
        signatures = ecc.P256.sign(secrets, messages)
        assert signatures.null_count == 1
        assert ecc.P256.verify(self.public_keys[0].tobytes(), signatures, messages).to_pylist() == [
            True,
            False,
            None,
            False,
            False,
        ]
        statuses = ecc.P256.sign(secrets, messages, errors="status")[1]
        assert statuses.tolist() == [0, 0, Status.NOT_COMPUTED, 0, 0]
        if dtype == pa.binary(20):
            assert signatures.type == pa.binary(64)

    @pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(65)])
    def test_secret_results_in_arrow(self, dtype: Any) -> None:
        """Memory of secret results is overwritten when the answer is made, which may not be a view of it."""
        secrets, points = (
            pa.array(list(map(bytes, rows)), kind)
            for rows, kind in ((self.secrets, pa.binary(32)), (self.public_keys, dtype))
        )
        for method in (ecc.P256.exchange, ecc.P256.multiply):
            listed = method(secrets.to_pylist(), points.to_pylist())
            assert len(set(listed)) == len(listed)
            assert method(secrets, points).to_pylist() == listed

    def test_columns(self) -> None:
        messages = pd.Series([b"a", b"b"], index=[7, 3], name="m")
        signatures = ecc.ED25519.sign(bytes(32), messages)
        assert isinstance(signatures, pd.Series)
        assert list(signatures.index) == [7, 3]
        verdicts = ecc.ED25519.verify(ecc.ED25519.public_keys(bytes(32)), signatures, messages)
        assert verdicts.tolist() == [True, True]
        column = pl.Series("m", [b"a", None])
        assert ecc.ED25519.sign(bytes(32), column).null_count() == 1

    def test_one_and_many(self) -> None:
        signature = ecc.P256.sign(self.secrets[0].tobytes(), b"m")
        assert isinstance(signature, bytes)
        many = ecc.P256.sign([row.tobytes() for row in self.secrets], b"m")
        assert many[0] == signature
        assert len(many) == 5
        with pytest.raises(ValueError, match="different lengths"):
            ecc.P256.sign(self.secrets, [b"m"] * 4)
        assert ecc.P256.sign(self.secrets[:0], []) == []
        assert ecc.P256.verify_all([], [], []) is True

    def test_mixed_curves(self) -> None:
        keys = [ecc.Key.generate(curve) for curve in SIGNING]
        ring = ecc.KeyRing(keys)
        indices = [i % len(keys) for i in range(40)]
        messages = [bytes([i]) for i in range(40)]
        signatures = ring.sign(messages, indices)
        assert {len(item) for item in signatures} == {curve.signature_bytes for curve in SIGNING}
        assert all(ring.verify(signatures, messages, indices))
        assert not any(ring.verify(signatures, messages[::-1], indices))
        for i in range(len(keys)):
            assert keys[i].verify(signatures[i], messages[i]) is True
        with pytest.raises(ValueError, match="different sizes"):
            ring.sign(np.zeros((40, 3), np.uint8), indices)

    def test_gpu_arrays_are_refused(self) -> None:
        class OnDevice:
            def __dlpack__(self, **_: Any) -> Any:
                raise AssertionError

            def __dlpack_device__(self) -> tuple[int, int]:
                return 2, 0

        with pytest.raises(DeviceError, match="messages.*host"):
            ecc.P256.sign(1, OnDevice())
        for name in ("nonces", "context"):
            options: Any = {name: OnDevice()}
            with pytest.raises(DeviceError, match=f"{name}.*host"):
                ecc.ED25519.sign(bytes(32), b"", **options)


class TestKeys:
    """Reading, writing and comparing."""

    def test_generate(self) -> None:
        for curve in ALL:
            secrets, points = curve.generate(4)
            assert secrets.shape == (4, curve.secret_bytes)
            assert points.shape == (4, curve.public_bytes)
            assert len({row.tobytes() for row in secrets}) == 4
            assert (curve.public_keys(secrets) == points).all()
        assert ecc.P256.generate(0)[0].shape == (0, 32)

    def test_copies_and_secrecy(self) -> None:
        key = ecc.Key.generate(ecc.P256)
        assert key == ecc.Key.from_secret(ecc.P256, key.secret_bytes())
        assert key.secret_bytes().hex() not in repr(key)
        assert str(int.from_bytes(key.secret_bytes(), "big")) not in repr(key)
        for refused in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="pickled"):
                refused(key)
            with pytest.raises(TypeError, match="pickled"):
                refused(ecc.KeyRing([key]))
            with pytest.raises(TypeError, match="pickled"):
                refused(key._numbers)
        public = key.public_key()
        assert pickle.loads(pickle.dumps(public)) == public
        assert pickle.loads(pickle.dumps(public._numbers)).public == public.public_bytes()
        assert public != key
        assert not public.is_private
        with pytest.raises(TypeError, match="no secret"):
            public.secret_bytes()
        assert pickle.loads(pickle.dumps(ecc.P256)) == ecc.P256

    def test_zeroed(self) -> None:
        key = ecc.Key.generate(ecc.P256)
        secret = key._numbers.secret
        assert secret is not None
        assert any(secret)
        del key
        assert not any(secret)

    def test_public(self) -> None:
        uncompressed = ecc.P256.public_keys(5)
        for encoding in ("compressed", "uncompressed"):
            point = ecc.P256.public_keys(5, encoding=encoding)
            assert ecc.Key.from_public(ecc.P256, point).public_bytes() == uncompressed
            assert ecc.Key.from_public(ecc.P256, uncompressed).public_bytes(encoding) == point
        for wrong in (b"", b"\0", uncompressed[:-1], uncompressed[:-1] + b"\0\0"):
            with pytest.raises(InvalidKeyError):
                ecc.Key.from_public(ecc.P256, wrong)
        for wrong_secret in (0, -1, 1 << 256, oracle.P256.n, b"", bytes(33)):
            with pytest.raises(InvalidKeyError):
                ecc.Key.from_secret(ecc.P256, wrong_secret)

    def test_rings(self) -> None:
        for wrong in ([], [1]):
            with pytest.raises((TypeError, ValueError)):
                ecc.KeyRing(wrong)  # type: ignore[arg-type]
        key = ecc.Key.generate(ecc.P256)
        with pytest.raises(TypeError):
            ecc.KeyRing(key)  # type: ignore[arg-type]
        ring = ecc.KeyRing([key], threads=1, device="cpu")
        assert (len(ring), ring[0], list(ring), ring.keys, ring.threads) == (1, key, [key], (key,), 1)
        assert ring.variant_for(0) in ecc.variants(ecc.P256)
        assert "P-256" in repr(ring)
