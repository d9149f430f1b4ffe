# SPDX-License-Identifier: Apache-2.0
"""Inputs of manymod.ecc that are easily taken for others: integers, rows of zeros, curves without keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import ec as crypto_ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from reference.ecc import tiny

from manymod import InvalidKeyError, ecc

SHORT = next(tiny.search_weierstrass(1021))
EDWARDS = next(tiny.search_edwards(29, -1, 4))


def test_numpy_integers_are_scalars() -> None:
    """They are buffers, too: of two bytes, and so many has a scalar of this curve."""
    curve = ecc.Curve(p=SHORT.p, a=SHORT.a, b=SHORT.b, generator=SHORT.generator, n=SHORT.n)
    assert curve.scalar_bytes == 2
    assert curve.multiply([np.uint16(5), 5]) == [curve.multiply(5)] * 2
    assert curve.public_keys(np.uint16(5)) == curve.public_keys(5)
    assert ecc.Key.from_secret(curve, np.uint16(5)) == ecc.Key.from_secret(curve, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [32, np.int64(32), "x" * 32, [0] * 32, None])
def test_keys_are_bytes(wrong: Any) -> None:
    """bytes(32) of an integer would be a key of zeros."""
    for curve in (ecc.P256, ecc.ED25519):
        with pytest.raises((TypeError, InvalidKeyError)):
            ecc.Key.from_public(curve, wrong)
    with pytest.raises(TypeError):
        ecc.Key.from_secret(ecc.ED25519, wrong)


def test_row_of_zeros() -> None:
    """Infinity on Weierstrass curves; on Ed25519 the point with y = 0, whose order is 4."""
    zeros = np.zeros((2, 32), np.uint8)
    assert (ecc.ED25519.points(zeros) == 0).all()
    assert ecc.ED25519.multiply([4, 1], zeros).tolist() == [[1, *[0] * 31], [0] * 32]
    assert ecc.ED25519.add(zeros, bytes(32))[0].tobytes() == ecc.ED25519.add(bytes(32), bytes(32))
    assert ecc.ED25519.msm([1, 3], zeros) == ecc.ED25519.multiply(0)
    assert (ecc.P256.points(np.zeros((1, 65), np.uint8)) == 0).all()


def test_edwards_curves_without_keys() -> None:
    curve = ecc.Curve(
        p=EDWARDS.p,
        a=EDWARDS.a % EDWARDS.p,
        b=EDWARDS.d,
        generator=EDWARDS.generator,
        n=EDWARDS.n,
        cofactor=EDWARDS.cofactor,
        form="edwards",
    )
    for make in (
        curve.generate,
        lambda _: ecc.Key.generate(curve),
        lambda _: ecc.Key.from_secret(curve, b"\1"),
    ):
        with pytest.raises(InvalidKeyError, match="have no keys"):
            make(3)


def test_messages_of_mistakes() -> None:
    key = ecc.Key.generate(ecc.ED25519)
    with pytest.raises(ValueError, match="encoding must be"):
        key.public_bytes("hex")  # type: ignore[arg-type]
    for text in ("", "ssh-ed25519 AAAA", "/home/key.pem"):
        with pytest.raises(InvalidKeyError, match="no block of PEM"):
            ecc.Key.from_pem(text)
    with pytest.raises(TypeError, match="pair"):
        ecc.Curve(p=29, a=1, b=2, generator=5, n=3)  # type: ignore[arg-type]
    for options in ({"encoding": "der"}, {"low_s": True}, {"context": b"x"}):
        with pytest.raises(ValueError, match="BIP 340"):
            ecc.SECP256K1.sign(5, [], scheme="bip340", **options)
    with pytest.raises(ValueError, match="needs policy='zip215'"):
        ecc.ED25519.verify_all(bytes(32), [bytes(64)], b"")


def test_operands_have_their_names() -> None:
    """Errors name arguments, not what the library has in their place."""
    with pytest.raises(TypeError, match="public_keys: item 0"):
        ecc.P256.verify(["x"], [b""], b"")
    with pytest.raises(TypeError, match="scalars: item 0"):
        ecc.P256.multiply(["x"])
    with pytest.raises(ValueError, match="public_keys has 1"):
        ecc.P256.exchange([1, 2], [b""])


def test_nonces_are_ints_or_bytes() -> None:
    listed = ecc.P521.sign(5, [b"a", b"b"], nonces=[7, 8])
    assert listed == ecc.P521.sign(5, [b"a", b"b"], nonces=[k.to_bytes(66, "big") for k in (7, 8)])
    assert ecc.P521.sign(5, b"a", nonces=7) == listed[0]
    keys = [ecc.Key.from_secret(curve, 5) for curve in (ecc.P256, ecc.SECP256K1, ecc.P521)]
    assert ecc.KeyRing(keys[:2]).sign([b"a", b"b"], [0, 1], nonces=[7, 8]) == [
        keys[0].sign(b"a", nonces=7),
        keys[1].sign(b"b", nonces=8),
    ]
    with pytest.raises(ValueError, match="nonces: the curves differ"):
        ecc.KeyRing(keys).sign([b"a", b"b"], [0, 1], nonces=[7, 8])
    with pytest.raises(ValueError, match="nonces"):
        ecc.P256.sign(5, b"a", nonces=1 << 256)


KEY = ecc.Key.from_secret(ecc.P256, 1)
CALLS: list[tuple[str, Any, tuple[Any, ...], str]] = [
    ("sign", ecc.P256.sign, (1, b""), "hash"),
    ("sign", KEY.sign, (b"",), "policy"),
    ("sign", ecc.KeyRing([KEY]).sign, (b"",), "device"),
    ("verify", ecc.P256.verify, (b"", b"", b""), "nonces"),
    ("verify_all", ecc.KeyRing([KEY]).verify_all, ([], [], []), "check"),
    ("exchange", ecc.P256.exchange, (1, b""), "hash"),
    ("sm2_exchange", ecc.SM2.sm2_exchange, (1, 1, b"", b""), "size"),
    ("public_keys", ecc.P256.public_keys, (1,), "format"),
    ("recover", ecc.P256.recover, (b"", b""), "policy"),
    ("multiply", ecc.P256.multiply, (1,), "point"),
    ("add", ecc.P256.add, (b"", b""), "check"),
    ("points", ecc.P256.points, (b"",), "check"),
    ("msm", ecc.P256.msm, ([], []), "check"),
]


@pytest.mark.parametrize(("name", "function", "operands", "word"), CALLS)
def test_unknown_keywords_name_the_function(
    name: str, function: Any, operands: tuple[Any, ...], word: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument '{word}'$"):
        function(*operands, **{word: 1})


def test_unknown_keywords_of_signers() -> None:
    with pytest.raises(TypeError, match=r"^sign\(\) got an unexpected keyword argument 'hash'$"):
        ecc.Signer(KEY, {"hash": "sha256"})


def test_der_ends_with_the_key() -> None:
    peer = crypto_ec.generate_private_key(crypto_ec.SECP256R1())
    der = peer.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    assert ecc.Key.from_der(der) == ecc.Key.from_cryptography(peer)
    for more in (b"\0", b"x", der):
        with pytest.raises(InvalidKeyError, match="bytes behind its end"):
            ecc.Key.from_der(der + more)
