# SPDX-License-Identifier: Apache-2.0
"""Keys on curves in OpenSSH's formats, alone and beside other encodings."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from tests.python.ecc_support import FOLDER
from tests.python.rsa_support import peer_key
from tests.python.test_rsa_encodings import LAYOUTS, PEM, PKCS8, SPKI, text_of

from manymod import InvalidKeyError, ecc
from manymod.ecc.keys import read_key

OPENSSH = serialization.PrivateFormat.OpenSSH
VECTORS = FOLDER / "OpenSSH"
PEERS: dict[str, Any] = {
    "P-256": ec.generate_private_key(ec.SECP256R1()),
    "P-384": ec.generate_private_key(ec.SECP384R1()),
    "P-521": ec.generate_private_key(ec.SECP521R1()),
    "Ed25519": ed25519.Ed25519PrivateKey.generate(),
}


def line_of(peer: Any) -> bytes:
    """The line of a public key."""
    encoded: bytes = peer.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return encoded


@pytest.mark.parametrize("curve", PEERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_keys_in_every_layout(curve: str, layout: str) -> None:
    change, peer = LAYOUTS[layout], PEERS[curve]
    expected = ecc.Key.from_cryptography(peer)
    found = ecc.Key.from_pem(change(text_of(peer, OPENSSH).decode()))
    assert (found, found.curve.name) == (expected, curve)
    assert ecc.Key.from_pem(change(text_of(peer, OPENSSH).decode()), "needless") == expected
    if layout not in {"text around it", "short lines"}:  # a public key is the first line of its text
        for line in (line_of(peer), line_of(peer) + b" user@host\n", b"\n" + line_of(peer) + b"\n"):
            assert ecc.Key.from_pem(change(line.decode())) == expected.public_key()


def test_which_of_several_keys_is_taken() -> None:
    first, second = PEERS["Ed25519"], PEERS["P-256"]
    key, other = map(ecc.Key.from_cryptography, (first, second))
    public = second.public_key().public_bytes(PEM, SPKI)
    for form, other_form in ((PKCS8, OPENSSH), (OPENSSH, PKCS8), (OPENSSH, OPENSSH)):
        assert ecc.Key.from_pem(text_of(first, form) + text_of(second, other_form)) == key
    rsa_key = text_of(peer_key(1024), OPENSSH)
    locked = (VECTORS / "ed25519-psw.key").read_bytes()
    for before in (public, rsa_key, locked, line_of(second) + b"\n", b"ssh-ed25519 AAAA\n"):
        assert ecc.Key.from_pem(before + text_of(first, OPENSSH)) == key
    for text in (public + text_of(first, OPENSSH), line_of(second) + b"\n" + text_of(first, OPENSSH)):
        assert read_key(text, None) == key
        assert read_key(text, None, public_only=True) == other.public_key()


def test_certificates() -> None:
    for name in ("ecdsa-nopsw.key", "ed25519-nopsw.key"):
        key = ecc.Key.from_pem((VECTORS / name).read_bytes())
        assert ecc.Key.from_pem((VECTORS / f"{name}-cert.pub").read_text()) == key.public_key()


@pytest.mark.parametrize("name", ["ecdsa-psw.key", "ed25519-psw.key", "ed25519-aesgcm-psw.key"])
def test_encrypted_keys(name: str) -> None:
    pytest.importorskip("bcrypt")
    text = (VECTORS / name).read_bytes()
    public = ecc.Key.from_pem((VECTORS / f"{name}.pub").read_bytes())
    assert ecc.Key.from_pem(text, "password").public_key() == public
    assert read_key(text, b"password").is_private
    with pytest.raises(InvalidKeyError, match="^key on a curve: an OpenSSH key that cannot be read: "):
        ecc.Key.from_pem(text, "wrong")


def test_what_cannot_be_read() -> None:
    locked = (VECTORS / "ed25519-psw.key").read_bytes()
    for text, said in (
        (locked, "an OpenSSH key that cannot be read: .*password was not provided"),
        ((VECTORS / "sk-ecdsa-nopsw.key").read_bytes(), "an OpenSSH key that cannot be read"),
        (b"ssh-ed25519 AAAA", "an OpenSSH key that cannot be read"),
        (text_of(peer_key(1024), OPENSSH), "an RSA private key, not on a curve"),
        (text_of(peer_key(1024)) + locked, "an RSA private key, not on a curve"),
        (text_of(PEERS["P-256"], OPENSSH)[:200], "truncated"),
    ):
        with pytest.raises(InvalidKeyError, match=f"^key on a curve: {said}"):
            ecc.Key.from_pem(text)
    with pytest.raises(InvalidKeyError, match="an OpenSSH public key"):
        ecc.Key.from_der(line_of(PEERS["P-256"]))


def test_keys_need_the_cryptography_package(monkeypatch: pytest.MonkeyPatch) -> None:
    text, line, other = text_of(PEERS["Ed25519"], OPENSSH), line_of(PEERS["P-256"]), text_of(PEERS["P-384"])
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    for encoded, command in ((text, "-p -m PEM"), (line, "-e -m PKCS8")):
        with pytest.raises(InvalidKeyError, match=f"pip install cryptography.*ssh-keygen {command} unless"):
            ecc.Key.from_pem(encoded)
    assert ecc.Key.from_pem(text + line + b"\n" + other).curve == ecc.P384
