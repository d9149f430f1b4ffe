# SPDX-License-Identifier: Apache-2.0
"""RSA keys in OpenSSH's format, alone and beside other encodings."""

from __future__ import annotations

import sys

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.asymmetric import rsa as peer
from tests.python.rsa_support import FOLDER, peer_key
from tests.python.test_rsa_encodings import LAYOUTS, PEM, PKCS8, SECRET, SPKI, certificate_of, n_of, text_of

from manymod import rsa
from manymod.rsa.keys import read_key

OPENSSH = serialization.PrivateFormat.OpenSSH


def line_of() -> bytes:
    """The line of a public key."""
    public = peer_key(1024).public_key()
    return public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)


def test_openssh_keys() -> None:
    key = peer_key(1024)
    text = text_of(key, OPENSSH)
    assert rsa.PrivateKey.from_pem(text).n == n_of(key)
    assert rsa.PrivateKey.from_pem(text.replace(b"\n", b"\r\n").decode(), check_primes=True).n == n_of(key)
    line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    assert rsa.PublicKey.from_pem(line + b" user@host\n").n == n_of(key)
    with pytest.raises(rsa.InvalidKeyError, match="a private key, where a public one is needed"):
        rsa.PublicKey.from_pem(text)
    with pytest.raises(rsa.InvalidKeyError, match="a public key, where a private one is needed"):
        rsa.PrivateKey.from_pem(line)
    with pytest.raises(rsa.InvalidKeyError, match="truncated"):
        rsa.PrivateKey.from_pem(text[:200])
    with pytest.raises(rsa.InvalidKeyError, match="OpenSSH key that cannot be read: .*password"):
        rsa.PrivateKey.from_pem((FOLDER / "OpenSSH" / "rsa-psw.key").read_bytes())
    with pytest.raises(rsa.InvalidKeyError, match="not RSA: Ed25519"):
        rsa.PrivateKey.from_pem((FOLDER / "OpenSSH" / "ed25519-nopsw.key").read_bytes())


def test_a_key_behind_many_openssh_begin_lines() -> None:
    """A block that has no end ends where the next begins: a search beyond that would take quadratic time."""
    begin = b"-----BEGIN OPENSSH PRIVATE KEY-----\n"
    assert rsa.PrivateKey.from_pem(begin * 20_000 + text_of(None, OPENSSH)).n == n_of(peer_key(1024))
    with pytest.raises(rsa.InvalidKeyError, match="truncated"):
        rsa.PrivateKey.from_pem(begin * 20_000)


def test_openssh_keys_need_the_cryptography_package(monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(None, OPENSSH)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(rsa.InvalidKeyError, match="pip install cryptography"):
        rsa.PrivateKey.from_pem(text)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_openssh_keys_in_every_layout(layout: str) -> None:
    change, n = LAYOUTS[layout], n_of(peer_key(1024))
    assert rsa.PrivateKey.from_pem(change(text_of(None, OPENSSH).decode())).n == n
    if layout not in {"text around it", "short lines"}:  # a public key is the first line of its text
        for line in (line_of(), line_of() + b" user@host\n", b"\n" + line_of() + b"\n"):
            assert rsa.PublicKey.from_pem(change(line.decode())).n == n


def test_a_needless_password_is_ignored() -> None:
    for form in (PKCS8, OPENSSH):
        assert rsa.PrivateKey.from_pem(text_of(None, form), "needless").n == n_of(peer_key(1024))


def test_a_wrong_password_of_an_authenticated_cipher(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cryptography package's error of AES-GCM is no ValueError. Decryption itself needs bcrypt."""

    def refuse(*_: object) -> None:
        raise InvalidTag

    monkeypatch.setattr(serialization, "load_ssh_private_key", refuse)
    with pytest.raises(rsa.InvalidKeyError, match="OpenSSH key that cannot be read: its password is wrong"):
        rsa.PrivateKey.from_pem((FOLDER / "OpenSSH" / "ed25519-aesgcm-psw.key").read_bytes(), "wrong")


def test_the_first_private_key_is_taken() -> None:
    first, second = peer_key(1024), peer_key(1024, 1)
    ed = ed25519.Ed25519PrivateKey.generate()
    locked = text_of(second, PKCS8, serialization.BestAvailableEncryption(b"unknown"))
    for form, other_form in ((PKCS8, OPENSSH), (OPENSSH, PKCS8), (OPENSSH, OPENSSH)):
        mine, other = text_of(first, form), text_of(second, other_form)
        # Certificates, keys of other algorithms, and keys that cannot be read are passed over.
        passed = [b"", certificate_of(second).public_bytes(PEM), text_of(ed), text_of(ed, OPENSSH), locked]
        for before in passed:
            text = before + mine + other
            assert rsa.PrivateKey.from_pem(text, "secret").n == n_of(first)
            assert read_key(text, b"secret", 64).n == n_of(first)
    assert rsa.PrivateKey.from_pem(text_of(first) + text_of(ed, OPENSSH)).n == n_of(first)
    encrypted = text_of(first, PKCS8, SECRET)
    assert rsa.PrivateKey.from_pem(encrypted + text_of(second, OPENSSH), "secret").n == n_of(first)


def test_the_first_private_key_is_taken_even_if_its_numbers_are_refused() -> None:
    refused, good = text_of(peer_key(1024)), peer.generate_private_key(3, 1024)
    text = text_of(good, OPENSSH)
    with pytest.raises(rsa.InvalidKeyError, match="e has 17 bits"):
        rsa.PrivateKey.from_pem(refused + text, max_exponent_bits=2)
    assert rsa.PrivateKey.from_pem(text + refused, max_exponent_bits=2).n == n_of(good)


def test_an_encrypted_rsa_key_behind_a_key_of_another_kind_is_what_the_error_is_about() -> None:
    ed = ed25519.Ed25519PrivateKey.generate()
    locked = text_of(None, serialization.PrivateFormat.TraditionalOpenSSL, SECRET)
    nobody_has = locked.replace(b"DEK-Info: ", b"DEK-Info: NO-")
    for before in (text_of(ed), text_of(ed, PKCS8, SECRET), text_of(ed, OPENSSH), text_of(ed, OPENSSH) * 2):
        for password in (None, "secret", "wrong"):
            with pytest.raises(rsa.InvalidKeyError, match="encrypted with NO-AES-256-CBC, which libcrypto"):
                rsa.PrivateKey.from_pem(before + nobody_has, password)
        with pytest.raises(rsa.InvalidKeyError, match="encrypted: its password is needed"):
            rsa.PrivateKey.from_pem(before + locked)


def test_the_first_public_key_is_taken() -> None:
    """Private keys of OpenSSH's format are no public ones, as others are not."""
    key, other = peer_key(1024), peer_key(1024, 1)
    private, public = text_of(other, OPENSSH), key.public_key().public_bytes(PEM, SPKI)
    certificate = certificate_of(key).public_bytes(PEM)
    for text in (public + private, private + public, certificate + private, line_of() + b"\n" + private):
        assert rsa.PublicKey.from_pem(text).n == n_of(key)
    assert rsa.PublicKey.from_pem(line_of() + b"\n" + other.public_key().public_bytes(PEM, SPKI)).n == n_of(
        key
    )
    assert rsa.PrivateKey.from_pem(line_of() + b"\n" + private).n == n_of(other)
    assert read_key(public + private, None, 64).n == n_of(other)


def test_the_error_is_about_the_first_private_key_that_cannot_be_read() -> None:
    ed = ed25519.Ed25519PrivateKey.generate()
    for first, found in (
        (text_of(ed), "ED25519 private key, not RSA"),
        (text_of(ed, OPENSSH), "RSA: Ed25519P"),
    ):
        for second in (text_of(ed), text_of(ed, OPENSSH)):
            with pytest.raises(rsa.InvalidKeyError, match=found):
                rsa.PrivateKey.from_pem(certificate_of(peer_key(1024)).public_bytes(PEM) + first + second)
