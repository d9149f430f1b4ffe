# SPDX-License-Identifier: Apache-2.0
"""Kinds of batches that calls of manymod.rsa take and give."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from tests.python.rsa_support import private_key

from manymod import rsa
from manymod.errors import Status

SHA256 = hashes.SHA256()
PSS = padding.PSS(padding.MGF1(SHA256), padding.PSS.DIGEST_LENGTH)
OAEP = padding.OAEP(padding.MGF1(SHA256), SHA256, None)
MESSAGES = [b"", b"a", b"message" * 100, bytes(range(256))]


class TestKinds:
    """Answers have the kind of what was given."""

    rows = np.frombuffer(os.urandom(5 * 20), np.uint8).reshape(5, 20)

    def test_one_bytes_object(self) -> None:
        for message in (b"text", bytearray(b"text"), memoryview(b"text")):
            signature = private_key().sign(message, "pkcs1v15", "sha256")  # type: ignore[type-var]
            assert isinstance(signature, bytes)
            verdict = private_key().public_key().verify(signature, b"text", "pkcs1v15", "sha256")
            assert verdict is True

    def test_lists_and_tuples_of_any_buffers(self) -> None:
        class Backwards(list[bytes]):
            def __iter__(self) -> Iterator[bytes]:
                return reversed(self)

        key = private_key()
        expected = key.sign(MESSAGES, "pkcs1v15", "sha256")
        mixed: list[Any] = [MESSAGES[0], bytearray(MESSAGES[1]), memoryview(MESSAGES[2]), MESSAGES[3]]
        kinds: list[Any] = [tuple(MESSAGES), mixed, tuple(mixed), Backwards(MESSAGES[::-1])]
        for given in kinds:
            assert list(key.sign(given, "pkcs1v15", "sha256")) == list(expected)
        masked: list[Any] = [b"a", np.ma.MaskedArray(np.frombuffer(b"ab", np.uint8), [True, False])]
        with pytest.raises(TypeError, match="messages: item 1 is a numpy masked array"):
            key.sign(masked, "pkcs1v15", "sha256")

    @pytest.mark.parametrize("several", [False, True])
    def test_buffers_that_are_not_contiguous(self, several: bool) -> None:
        message = memoryview(b"every other byte")[::2]
        with pytest.raises(TypeError, match="contiguous"):
            private_key().sign([message] if several else message, "pkcs1v15", "sha256")  # type: ignore[type-var]

    def test_rows(self) -> None:
        key, public = private_key(), private_key().public_key()
        signatures = key.sign(self.rows, "pkcs1v15", "sha256")
        assert signatures.dtype == np.uint8
        assert signatures.shape == (5, 256)
        expected = key.sign([row.tobytes() for row in self.rows], "pkcs1v15", "sha256")
        assert [row.tobytes() for row in signatures] == expected
        verdicts = public.verify(signatures, self.rows, "pkcs1v15", "sha256")
        assert verdicts.dtype == np.bool_
        assert verdicts.all()
        strided = np.repeat(self.rows, 2, axis=1)[::-1, ::2]
        assert (key.sign(strided, "pkcs1v15", "sha256") == signatures[::-1]).all()
        texts = public.encrypt(self.rows, OAEP)
        assert key.decrypt(texts, OAEP) == [row.tobytes() for row in self.rows]

    def test_rows_need_keys_of_one_size(self) -> None:
        ring = rsa.KeyRing([private_key(), private_key(1024)])
        assert ring.sign(self.rows, 1, "pkcs1v15", "sha256").shape == (5, 128)
        with pytest.raises(ValueError, match="different sizes"):
            ring.sign(self.rows, [0, 1, 0, 1, 0], "pkcs1v15", "sha256")

    @pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary_view()])
    def test_arrow(self, dtype: Any) -> None:
        key, public = private_key(), private_key().public_key()
        messages = [b"", b"bb", None, b"d" * 300]
        array = pa.array([b"unused", *messages], dtype)[1:]
        signatures = key.sign(array, "pkcs1v15", "sha256")
        expected = [None if m is None else key.sign(m, "pkcs1v15", "sha256") for m in messages]
        assert signatures.to_pylist() == expected
        assert str(signatures.type).removeprefix("large_") == "binary"
        verdicts = public.verify(signatures, array, "pkcs1v15", "sha256")
        assert verdicts.to_pylist() == [True, True, None, True]
        wrong = public.verify(signatures, pa.array([b"x", b"bb", b"", None], dtype), "pkcs1v15", "sha256")
        assert wrong.to_pylist() == [False, True, None, None]
        texts = public.encrypt(array[:3], OAEP)
        assert key.decrypt(texts, OAEP).to_pylist() == messages[:3]

    def test_arrow_of_fixed_size_and_in_chunks(self) -> None:
        key = private_key()
        chunks = [pa.array([b"ab", None], pa.binary(2)), pa.array([b"cd"], pa.binary(2))]
        column = pa.chunked_array(chunks)
        signatures = key.sign(column, "pkcs1v15", "sha256")
        assert isinstance(signatures, pa.ChunkedArray)
        assert [len(chunk) for chunk in signatures.chunks] == [2, 1]
        assert signatures.type == pa.binary(256)
        assert signatures.to_pylist()[2] == key.sign(b"cd", "pkcs1v15", "sha256")
        verdicts = key.public_key().verify(signatures, column, "pkcs1v15", "sha256")
        assert verdicts.to_pylist() == [True, None, True]

    def test_decryption_of_fixed_size_is_of_varying_size(self) -> None:
        key = private_key(1024)
        for messages in ([b""] * 3, [b"a", b"", b"ccc"], [bytes(range(62))] * 2):
            texts = pa.array(key.public_key().encrypt(messages, "oaep"), pa.binary(128))
            found = key.decrypt(texts, "oaep")
            assert (found.type, found.to_pylist()) == (pa.binary(), messages)
        bare = key.raw(pa.array([bytes(128)] * 2, pa.binary(128)))
        assert (bare.type, bare.to_pylist()) == (pa.binary(128), [bytes(128)] * 2)

    def test_arrow_of_fixed_size_without_results(self) -> None:
        """Binary where all items failed, fixed_size_binary where none was to be computed."""
        ring = rsa.KeyRing([private_key(1024), private_key()])

        def signed(messages: list[bytes | None], indices: list[int]) -> tuple[Any, list[bytes | None]]:
            array = pa.array(messages, pa.binary(2))
            answer, _ = ring.sign(array, indices, "pkcs1v15", "sha256", errors="status")
            return answer.type, answer.to_pylist()

        assert signed([b"aa", b"bb"], [7, -1]) == (pa.binary(), [b"", b""])
        assert signed([b"aa", None], [7, 0]) == (pa.binary(), [b"", None])
        assert signed([None, None], [0, 0]) == (pa.binary(128), [None, None])
        assert signed([], []) == (pa.binary(256), [])
        good = private_key(1024).sign(b"aa", "pkcs1v15", "sha256")
        assert signed([b"aa", b"bb"], [0, 7]) == (pa.binary(128), [good, bytes(128)])
        kind, mixed = signed([b"aa", b"bb"], [0, 1])
        assert (kind, [len(signature or b"") for signature in mixed]) == (pa.binary(), [128, 256])

    def test_empty_batches(self) -> None:
        key = private_key()
        assert key.sign([], "pkcs1v15", "sha256") == []
        assert key.sign(np.empty((0, 4), np.uint8), "pkcs1v15", "sha256").shape == (0, 256)
        assert key.sign(pa.array([], pa.binary()), "pkcs1v15", "sha256").to_pylist() == []
        assert key.public_key().verify([], [], "pkcs1v15", "sha256") == []
        assert key.decrypt([], OAEP) == []

    def test_out(self) -> None:
        key = private_key()
        expected = key.sign(self.rows, "pkcs1v15", "sha256")
        out = np.empty((5, 256), np.uint8)
        assert key.sign(self.rows, "pkcs1v15", "sha256", out=out) is out
        assert (out == expected).all()
        wide = np.zeros((5, 300), np.uint8)
        key.sign(self.rows, "pkcs1v15", "sha256", out=wide[:, 10:266])
        assert (wide[:, 10:266] == expected).all()
        assert not wide[:, :10].any()
        assert not wide[:, 266:].any()
        numbers = expected.copy()
        assert (key.raw(numbers, out=numbers) == key.raw(expected)).all()
        texts: list[Any] = [None] * 2
        assert key.sign([b"a", b"b"], "pkcs1v15", "sha256", out=texts) is texts
        assert all(isinstance(text, bytes) for text in texts)
        for wrong in (out[:4], np.empty((5, 255), np.uint8), [0] * 5, np.empty((5, 256), np.int8)):
            with pytest.raises(ValueError, match="out must be"):
                key.sign(self.rows, "pkcs1v15", "sha256", out=wrong)

    @pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64])
    def test_indices_of_keys(self, kind: type) -> None:
        ring = rsa.KeyRing([private_key(1024), private_key(1024, 1)])
        signatures = ring.sign(self.rows, [0, 1, 1, 0, 1], "pkcs1v15", "sha256")
        own: np.ndarray = np.array([0, 1, 1, 0, 1], kind)
        for indices in (own, own[::-1][::-1], 0, 1, 2, np.array([0, 2, 1, 255, 1], kind)):
            verdicts, statuses = ring.verify(
                signatures, self.rows, indices, "pkcs1v15", "sha256", errors="status"
            )
            assert verdicts.dtype == bool
            assert verdicts.flags.owndata
            assert verdicts.tolist() == (own == indices).tolist()
            missing = np.broadcast_to(np.asarray(indices) > 1, (5,))
            assert statuses.tolist() == np.where(missing, Status.RSA_KEY, 0).tolist()

    @pytest.mark.parametrize("indices", [[0, 5, 0, 7, 0], [5, -1, 7, 8, 9]])
    def test_out_is_zero_where_a_key_is_missing(self, indices: list[int]) -> None:
        ring = rsa.KeyRing([private_key(1024)])
        out = np.full((5, 128), 0xEE, np.uint8)
        ring.sign(self.rows, indices, "pkcs1v15", "sha256", errors="status", out=out)
        assert out.any(axis=1).tolist() == [index == 0 for index in indices]

    def test_what_is_not_taken(self) -> None:
        key = private_key()
        cases: list[Any] = [
            "text",
            5,
            [1, 2],
            ["text"],
            [b"a", None],
            np.zeros(4, np.uint8),
            np.zeros((2, 2)),
            np.ma.MaskedArray(np.zeros((2, 8), np.uint8), False),
            [np.ma.MaskedArray([1, 2], [False, True], np.uint8)],
            np.ma.MaskedArray([b"a", b"b"], [True, False], dtype=object),
        ]
        for wrong in cases:
            with pytest.raises(TypeError):
                key.sign(wrong, "pkcs1v15", "sha256")
        with pytest.raises(TypeError, match="messages: item 1"):
            key.sign([b"a", *cases[3]], "pkcs1v15", "sha256")
        with pytest.raises(TypeError, match="ciphertexts: item 1"):
            key.decrypt([b"a", *cases[3]], "oaep")
        with pytest.raises(TypeError, match="signatures: item 0"):
            key.public_key().verify(cases[3], [b"a"], "pkcs1v15", "sha256")
        with pytest.raises(TypeError, match="is text: cast it to binary"):
            key.sign(pa.array(["text"]), "pkcs1v15", "sha256")
        with pytest.raises(ValueError, match="different lengths"):
            key.public_key().verify([b"a"], [b"b"] * 2, "pkcs1v15", "sha256")
        indices: list[Any] = [
            [0.5],
            True,
            [True, 0],
            np.array([True, 0], object),
            pa.array([True, None]),
            np.ma.MaskedArray([0, 0], [False, True]),
            np.ma.masked,
        ]
        for wrong in indices:
            with pytest.raises(TypeError, match="key_indices"):
                rsa.KeyRing([key, key]).sign([b"a", b"b"], wrong, "pkcs1v15", "sha256")
