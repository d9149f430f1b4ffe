# SPDX-License-Identifier: Apache-2.0
"""Paillier's cryptosystem beside python-paillier, both ways, and what is no ciphertext."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import phe
import pytest

from manymod import IntArray
from paillier import CiphertextError, PrivateKey, PublicKey
from paillier.__main__ import main


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return PrivateKey.generate(1024)


@pytest.fixture(scope="module")
def peer(key: PrivateKey) -> Any:
    return phe.PaillierPrivateKey(phe.PaillierPublicKey(key.public_key.n), key.p, key.q)


def edges(n: int) -> list[int]:
    return [0, 1, n - 1, n // 2, n // 2 + 1, 2**64 - 1, 2**512, n - 2**300]


@pytest.mark.parametrize("with_randomiser", [True, False])
def test_the_peer_decrypts_what_is_encrypted(key: PrivateKey, peer: Any, with_randomiser: bool) -> None:
    public = key.public_key if with_randomiser else PublicKey(key.public_key.n)
    messages = IntArray.from_ints(edges(public.n), bits=public.bits)
    ciphertexts = public.encrypt(messages).to_ints()
    assert len(set(ciphertexts)) == len(ciphertexts)
    assert [peer.raw_decrypt(c) for c in ciphertexts] == edges(public.n)


def test_what_the_peer_encrypts_is_decrypted(key: PrivateKey, peer: Any) -> None:
    values = edges(key.public_key.n)
    ciphertexts = key.public_key.ciphertexts([peer.public_key.raw_encrypt(m) for m in values])
    assert key.decrypt(ciphertexts).to_ints() == values


def test_generated_keys(key: PrivateKey) -> None:
    """The randomiser is an n-th power of a number of Jacobi symbol 1, and the primes are Blum's."""
    n = key.public_key.n
    assert n.bit_length() == 1024
    assert (key.p % 4, key.q % 4) == (3, 3)
    randomiser = key.public_key.randomiser
    assert randomiser is not None
    assert PrivateKey(key.p, key.q).decrypt(IntArray.from_ints([randomiser])).to_ints() == [0]


def test_sums_products_and_constants(key: PrivateKey) -> None:
    public = key.public_key
    values, others = [5, -7, 0, 2**40, -1], [-5, 1, 3, 2**41, -(2**70)]
    first, second = public.encrypt(public.messages(values)), public.encrypt(public.messages(others))

    def shown(ciphertexts: IntArray) -> list[int]:
        return public.numbers(key.decrypt(ciphertexts))

    assert shown(public.add(first, second)) == [a + b for a, b in zip(values, others, strict=True)]
    assert shown(public.add_constants(first, others)) == [a + b for a, b in zip(values, others, strict=True)]
    assert shown(public.add_constants(first, -3)) == [a - 3 for a in values]
    assert shown(public.times(first, public.messages(others))) == [
        a * b for a, b in zip(values, others, strict=True)
    ]
    assert shown(public.sum(first)) == [sum(values)]
    assert shown(public.dot(first, others)) == [sum(a * b for a, b in zip(values, others, strict=True))]
    again = public.rerandomise(first)
    assert shown(again) == values
    assert not (again == first).any()


def test_masks_made_before(key: PrivateKey) -> None:
    public = key.public_key
    masks = public.masks(2)
    assert key.decrypt(masks).to_ints() == [0, 0]
    assert key.decrypt(public.encrypt(public.messages([3, 4]), masks)).to_ints() == [3, 4]
    with pytest.raises(ValueError, match="2 masks for 1 messages"):
        public.encrypt(public.messages([3]), masks)


def test_what_is_no_ciphertext_is_named(key: PrivateKey) -> None:
    public = key.public_key
    good = public.encrypt(public.messages([1])).to_ints()[0]
    values = [good, key.p, good, public.n, 0, public.square, public.square - key.q, good]
    for call in (public.ciphertexts, lambda found: key.decrypt(IntArray.from_ints(found))):
        with pytest.raises(CiphertextError, match="items 1, 3, 4, 5, 6") as caught:
            call(values)
        assert caught.value.indices == [1, 3, 4, 5, 6]
    with pytest.raises(CiphertextError, match="items 0"):
        public.ciphertexts([-good])
    with pytest.raises(CiphertextError, match="items 1$"):
        public.dot(IntArray.from_ints([good, key.p]), [1, -1])


def test_what_is_no_message_or_key(key: PrivateKey) -> None:
    n = key.public_key.n
    with pytest.raises(OverflowError, match="item 1 is not between"):
        key.public_key.messages([0, n // 2 + 1])
    numbers: Any = np.array([5, -5])
    assert key.public_key.messages(numbers).to_ints() == [5, n - 5]
    with pytest.raises(TypeError, match="element 1 is not an integer: float"):
        key.public_key.messages([1, 2.5])  # type: ignore[list-item]
    for n_of_key in (2**600, 2**101 - 1, -n):
        with pytest.raises(ValueError, match="odd and have at least 512 bits"):
            PublicKey(n_of_key)
    with pytest.raises(ValueError, match="the randomiser must be"):
        PublicKey(n, n * n)
    with pytest.raises(ValueError, match="coprime to n"):
        PublicKey(n, 5 * key.p)
    with pytest.raises(ValueError, match="must be positive"):
        PrivateKey(-key.p, -key.q)
    for bits in (1022, 1025):
        with pytest.raises(ValueError, match="bits must be even and at least 1024"):
            PrivateKey.generate(bits)
    with pytest.raises(ValueError, match="of the same length, and differ"):
        PrivateKey(key.p, key.p)
    with pytest.raises(ValueError, match="no factor in common"):
        PrivateKey(3 * (2**299 + 1), 2**300 + 3)


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_lines_that_are_no_text_are_named(
    tmp_path: Path,
    command: Callable[..., Callable[..., str]],
    monkeypatch: pytest.MonkeyPatch,
    errors: str,
) -> None:
    """In the C locale, standard input replaces what is no UTF-8 by surrogates; it is strict in others."""
    private, public, weights = tmp_path / "private", tmp_path / "public", tmp_path / "weights"
    run = command(main)
    run("keygen", private, public, "--bits", 1024)
    for arguments in (("encrypt", public), ("decrypt", private), ("sum", public)):
        lines = io.BytesIO(b"5\n\xff\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(lines, encoding="utf-8", errors=errors))
        with pytest.raises(SystemExit, match="^line 2: not a number$"):
            main(list(map(str, arguments)))
    weights.write_bytes(b"5\n\xff\n")
    assert run("sum", public, "--weights", weights) == f"exit: {weights}: line 2: not a number"


def test_the_command_line(tmp_path: Path, command: Callable[..., Callable[..., str]]) -> None:
    run = command(main)
    private, public, weights = tmp_path / "private", tmp_path / "public", tmp_path / "weights"
    public.touch()
    assert "File exists" in run("keygen", private, public, "--bits", 1024)
    assert not private.exists()
    public.unlink()
    run("keygen", private, public, "--bits", 1024)
    assert private.stat().st_mode & 0o777 == 0o600
    assert "File exists" in run("keygen", private, public, "--bits", 1024)
    ciphertexts = run("encrypt", public, lines="52000\n-3\n7\n")
    assert run("decrypt", private, lines=ciphertexts) == "52000\n-3\n7\n"
    weights.write_text("1\n10\n-100\n")
    totals = run("sum", public, lines=ciphertexts)
    totals += run("sum", public, "--weights", weights, lines=ciphertexts)
    assert run("decrypt", private, lines=totals) == "52004\n51270\n"
    assert "lines 4" in run("decrypt", private, lines=ciphertexts + "0\n")
    assert "line 4: not a number" in run("decrypt", private, lines=ciphertexts + "four\n")
    assert "3 weights, and more" in run("sum", public, "--weights", weights, lines=ciphertexts * 2)
    assert "3 weights for 0" in run("sum", public, "--weights", weights)
    assert run("bench", "--items", 0) == "exit: 2"
    wrong_fields = (b'{"n": 5, "p": 5, "q": 7}', b'{"n": "x", "p": "x"}')
    for text in (b"", b"5", b"[]", b"{}", *wrong_fields, b"[" * 100_000, b"\xff"):
        weights.write_bytes(text)
        assert run("encrypt", weights) == f"exit: paillier: not a public key: {weights}"
        assert run("decrypt", weights) == f"exit: paillier: not a private key: {weights}"
