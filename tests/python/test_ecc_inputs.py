# SPDX-License-Identifier: Apache-2.0
"""Inputs of manymod.ecc that are easily taken for others: integers, rows of zeros, curves without keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
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
