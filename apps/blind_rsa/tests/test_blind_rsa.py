# SPDX-License-Identifier: Apache-2.0
"""Blind signatures against the vectors of RFC 9474, appendix A, and the cryptography package; bad answers."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as peer

from blind_rsa import VARIANTS, Client, SignatureError, Signer
from blind_rsa.__main__ import main
from blind_rsa.encoding import encode
from manymod import IntArray, ItemValueError, rsa

RFC = json.loads((Path(__file__).parent / "rfc9474.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def original() -> peer.RSAPrivateKey:
    return peer.generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def key(original: peer.RSAPrivateKey) -> rsa.PrivateKey:
    return rsa.PrivateKey.from_cryptography(original)


@pytest.fixture(scope="module")
def rfc_key() -> rsa.PrivateKey:
    p, q, e = (int(RFC[name], 16) for name in "pqe")
    return rsa.PrivateKey.from_numbers(n=p * q, e=e, d=pow(e, -1, (p - 1) * (q - 1)))


@pytest.mark.parametrize("vector", RFC["vectors"], ids=lambda vector: str(vector["name"]))
def test_vectors(rfc_key: rsa.PrivateKey, vector: dict[str, str]) -> None:
    values = {name: bytes.fromhex(text) for name, text in vector.items() if name != "name"}
    client = Client(rfc_key.public_key(), VARIANTS[vector["name"]])
    inverse = int(vector["inv"], 16)
    factors = IntArray.from_ints([pow(inverse, -1, rfc_key.n)])
    prepared = values["msg_prefix"] + values["msg"]
    blinded, blinding = client.blind_with([prepared], [values["salt"]], factors)
    assert (blinded.tobytes(), blinding.inverses.to_ints()) == (values["blinded_msg"], [inverse])
    blind_signatures = Signer(rfc_key).blind_sign(blinded)
    assert blind_signatures.tobytes() == values["blind_sig"]
    assert client.finalize(blinding, blind_signatures).tobytes() == values["sig"]
    assert bool(values["msg_prefix"]) == client.variant.randomized


@pytest.mark.parametrize("name", list(VARIANTS))
def test_signatures_are_those_that_openssl_accepts(
    original: peer.RSAPrivateKey, key: rsa.PrivateKey, name: str
) -> None:
    client = Client(key.public_key(), VARIANTS[name])
    messages = [b"", b"one", b"two" * 100]
    prepared = client.prepare(messages)
    assert [message[32 * client.variant.randomized :] for message in prepared] == messages
    blinded, blinding = client.blind(prepared)
    signatures = client.finalize(blinding, Signer(key).blind_sign(blinded))
    pss = padding.PSS(padding.MGF1(hashes.SHA384()), client.variant.salt_bytes)
    for signature, message in zip(signatures, prepared, strict=True):
        original.public_key().verify(signature.tobytes(), message, pss, hashes.SHA384())
        with pytest.raises(InvalidSignature):
            original.public_key().verify(signature.tobytes(), message + b"!", pss, hashes.SHA384())
    assert client.verify(signatures, prepared[::-1]).tolist() == [False, True, False]


@pytest.mark.parametrize("bits", [1024, 1025, 1031, 1032, 1033])
def test_encodings_of_every_length(bits: int) -> None:
    """Signatures by the private exponent of what is encoded are good for the cryptography package's rules."""
    messages, salts = [b"a", b"b"], [bytes(48), bytes(range(48))]
    for number, message, salt in zip(encode(messages, salts, bits), messages, salts, strict=True):
        assert number.bit_length() <= bits
        encoded = number.to_bytes((bits + 7) // 8, "big")
        assert encoded.endswith(b"\xbc")
        digest = encoded[-49:-1]
        mask = b"".join(
            hashed(digest + counter.to_bytes(4, "big")) for counter in range(-(-(len(encoded) - 49) // 48))
        )
        block = bytearray(a ^ b for a, b in zip(encoded[:-49], mask, strict=False))
        block[0] &= 0xFF >> (-bits % 8)
        assert bytes(block) == bytes(len(block) - 49) + b"\1" + salt
        assert digest == hashed(bytes(8) + hashed(message) + salt)


def hashed(data: bytes) -> bytes:
    digest = hashes.Hash(hashes.SHA384())
    digest.update(data)
    return digest.finalize()


def test_nothing_repeats(key: rsa.PrivateKey) -> None:
    client = Client(key.public_key(), VARIANTS["RSABSSA-SHA384-PSSZERO-Deterministic"])
    blinded, _ = client.blind(client.prepare([b"same"] * 20))
    assert len({row.tobytes() for row in blinded}) == 20
    assert len(client.blind([])[0]) == 0


def test_wrong_answers_are_named(key: rsa.PrivateKey) -> None:
    client = Client(key.public_key())
    blinded, blinding = client.blind(client.prepare([b"one", b"two", b"three", b"four"]))
    answers = Signer(key).blind_sign(blinded)
    wrong = answers.copy()
    wrong[1], wrong[3] = answers[2], 0
    with pytest.raises(SignatureError, match="items 1, 3$") as caught:
        client.finalize(blinding, wrong)
    assert caught.value.indices == [1, 3]
    assert (caught.value.signatures.any(axis=1)).tolist() == [True, False, True, False]
    for shape in (answers[:3], answers[:, :-1]):
        with pytest.raises(ValueError, match="expected 4 blind signatures of 256 bytes"):
            client.finalize(blinding, shape)
    other = Client(rsa.PublicKey.from_numbers(n=key.n - 2))
    with pytest.raises(SignatureError, match="items 0, 1, 2, 3$"):
        other.finalize(blinding, answers)


def test_what_is_not_blinded_or_signed(key: rsa.PrivateKey, original: peer.RSAPrivateKey) -> None:
    client = Client(key.public_key())
    p = original.private_numbers().p
    with pytest.raises(ItemValueError, match="not invertible.*: items 1, 2"):
        client.blind_with([b"a"] * 3, [bytes(48)] * 3, IntArray.from_ints([5, 3 * p, 0]))
    with pytest.raises(ValueError, match="each message has a salt"):
        client.blind_with([b"a", b"b"], [bytes(48), b""], IntArray.from_ints([5, 7]))
    rows = np.stack([np.frombuffer((key.n + d).to_bytes(256, "big"), np.uint8) for d in (-1, 0, 1)])
    with pytest.raises(ItemValueError, match="not below the modulus: items 1, 2"):
        Signer(key).blind_sign(rows)
    with pytest.raises(TypeError, match="the client needs the signer's public key, not a PrivateKey"):
        Client(key)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the signer needs its private key, not a PublicKey"):
        Signer(key.public_key())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a modulus of 777 bits is too short"):
        encode([b"a"], [bytes(48)], 776)


def test_the_command_line(tmp_path: Path, command: Callable[..., Callable[..., str]]) -> None:
    run = command(main)
    private, public, state = tmp_path / "private", tmp_path / "public", tmp_path / "state"
    public.touch()
    assert "File exists" in run("keygen", private, public)
    assert not private.exists()
    public.unlink()
    run("keygen", private, public)
    blinded = run("blind", public, state, lines="one\ntwo\n")
    assert (private.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o600)
    answers = run("sign", private, lines=blinded)
    signed = run("finalize", public, state, lines=answers)
    assert run("verify", public, lines=signed) == "2 valid, 0 invalid\n"
    assert "lines 1, 2" in run("finalize", public, state, lines="".join(answers.splitlines(True)[::-1]))
    assert "lines 1" in run("sign", private, lines="ff" * 256 + "\n")
    assert "line 2: 1 bytes, not 256" in run("sign", private, lines=blinded.splitlines(True)[0] + "ff\n")
    assert run("bench", "--items", 0) == "exit: 2"
    kept = json.loads(state.read_text())
    states: list[Any] = [
        [],
        {},
        kept | {"prepared": [5, 6]},
        kept | {"inverses": kept["inverses"][:1]},
        kept | {"inverses": ["f" * 600] * 2},
        kept | {"inverses": 5},
    ]
    for damaged in [*(json.dumps(fields).encode() for fields in states), b"\xff"]:
        state.write_bytes(damaged)
        said = run("finalize", public, state, lines=answers)
        assert said == f"exit: blind_rsa: not what blind kept for this key: {state}"
    for key in (private, public):
        key.write_bytes(key.read_bytes()[:-30])
    assert re.fullmatch(rf"exit: blind_rsa: RSA key: truncated PEM.*: {private}", run("sign", private))
    for name in ("blind", "finalize"):
        said = run(name, public, tmp_path / "new")
        assert re.fullmatch(rf"exit: blind_rsa: RSA key: truncated PEM.*: {public}", said)


def test_finalize_prints_the_good_signatures_beside_wrong_answers(
    tmp_path: Path,
    command: Callable[..., Callable[..., str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = command(main)
    private, public, state = tmp_path / "private", tmp_path / "public", tmp_path / "state"
    run("keygen", private, public)
    answers = run("sign", private, lines=run("blind", public, state, lines="one\ntwo\nthree\n"))
    signed = run("finalize", public, state, lines=answers).splitlines(True)
    rows = answers.splitlines(True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(rows[0] + rows[0] + rows[2]))
    with pytest.raises(SystemExit, match="^wrong blind signatures: lines 2$"):
        main(["finalize", str(public), str(state)])
    assert capsys.readouterr().out == signed[0] + signed[2]


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_lines_that_are_no_text_are_named(
    tmp_path: Path,
    command: Callable[..., Callable[..., str]],
    monkeypatch: pytest.MonkeyPatch,
    errors: str,
) -> None:
    """In the C locale, standard input replaces what is no UTF-8 by surrogates; it is strict in others."""
    private, public, state = tmp_path / "private", tmp_path / "public", tmp_path / "state"
    command(main)("keygen", private, public)
    for arguments, said in (
        (("blind", public, state), "line 2: not UTF-8"),
        (("sign", private), "line 2: not hexadecimal"),
    ):
        lines = io.BytesIO(b"00" * 256 + b"\n\xff\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(lines, encoding="utf-8", errors=errors))
        with pytest.raises(SystemExit, match=f"^{said}$"):
            main(list(map(str, arguments)))
    assert not state.exists()
