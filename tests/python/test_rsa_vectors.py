# SPDX-License-Identifier: Apache-2.0
"""Every RSA file of cryptography-vectors: signatures, encryption, FIPS 186-2 keys, each file in one batch."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from tests.python.rsa_support import (
    FOLDER,
    Vector,
    by_hash,
    nist_vectors,
    private_of,
    public_of,
    ring_of,
    rsa_laboratories_vectors,
)

from manymod import rsa

OAEP_CUSTOM = sorted(path.name for path in (FOLDER / "RSA/oaep-custom").glob("*.txt"))

#: Files of signatures by NIST: padding, and whether they hold private keys.
SIGNATURES = {
    "FIPS_186-2/SigGen15_186-2.rsp": "pkcs1v15",
    "FIPS_186-2/SigGen15_186-2.txt": "pkcs1v15",
    "FIPS_186-2/SigGen15_186-3.rsp": "pkcs1v15",
    "FIPS_186-2/SigGenPSS_186-2.rsp": rsa.Padding("pss", salt_length=20),
    "FIPS_186-2/SigGenPSS_186-2.txt": rsa.Padding("pss", salt_length=20),
    "FIPS_186-2/SigGenPSS_186-3.rsp": rsa.Padding("pss", salt_length=0),
}
VERDICTS = {
    "FIPS_186-2/SigVer15_186-3.rsp": "pkcs1v15",
    "FIPS_186-2/SigVerPSS_186-3.rsp": rsa.Padding("pss", salt_length=10),
    "SigVer15EMTest.txt": "pkcs1v15",
}
#: X9.31, which differs from PKCS#1 in the encoding alone: checked with the bare operations.
X931 = ("FIPS_186-2/SigGenRSA.rsp", "FIPS_186-2/SigGenRSA_186-2.rsp", "FIPS_186-2/SigGenRSA_186-2.txt")
X931_VERDICTS = "FIPS_186-2/SigVerRSA.rsp"
X931_TRAILERS = {"sha1": b"\x33\xcc", "sha256": b"\x34\xcc", "sha384": b"\x36\xcc", "sha512": b"\x35\xcc"}
KEYS = "FIPS_186-2/KeyGenRSA.rsp"
LABORATORIES = (
    "pkcs1v15crypt-vectors.txt",
    "pkcs1v15sign-vectors.txt",
    "pkcs-1v2-1d2-vec/pss-vect.txt",
    "pkcs-1v2-1d2-vec/pss-int.txt",
    "pkcs-1v2-1d2-vec/oaep-vect.txt",
    "pkcs-1v2-1d2-vec/oaep-int.txt",
)
LABEL = "oaep-label.txt"


def test_every_file_is_used() -> None:
    """Guards the tests below: a new file of the vectors is not passed over."""
    custom = {f"oaep-custom/{name}" for name in OAEP_CUSTOM}
    used = {*SIGNATURES, *VERDICTS, *X931, X931_VERDICTS, KEYS, *LABORATORIES, LABEL, *custom}
    found = {str(path.relative_to(FOLDER / "RSA")) for path in (FOLDER / "RSA").rglob("*") if path.is_file()}
    assert {name for name in found if "readme" not in name.lower()} == used
    assert len(OAEP_CUSTOM) == 24


def messages_of(vectors: list[Vector]) -> list[bytes]:
    return [vector.bytes("message") for vector in vectors]


def results_of(vectors: list[Vector]) -> list[bytes]:
    return [vector.bytes("result") for vector in vectors]


def test_pkcs1v15_signatures() -> None:
    vectors = rsa_laboratories_vectors("pkcs1v15sign-vectors.txt")
    ring, keys = ring_of(vectors, private_of)
    assert (len(vectors), len(ring)) == (300, 15)
    assert ring.sign(messages_of(vectors), keys, "pkcs1v15", "sha1") == results_of(vectors)
    assert all(ring.verify(results_of(vectors), messages_of(vectors), keys, "pkcs1v15", "sha1"))


@pytest.mark.parametrize(("name", "count"), [("pss-vect.txt", 60), ("pss-int.txt", 1)])
def test_pss_signatures(name: str, count: int) -> None:
    vectors = rsa_laboratories_vectors(f"pkcs-1v2-1d2-vec/{name}")
    ring, keys = ring_of(vectors, private_of)
    assert len(vectors) == count
    messages, padding = messages_of(vectors), rsa.Padding("pss", salt_length=20)
    assert all(ring.verify(results_of(vectors), messages, keys, padding, "sha1"))
    assert all(
        ring.verify(results_of(vectors), messages, keys, rsa.Padding("pss", salt_length="auto"), "sha1")
    )
    assert not any(
        ring.verify(results_of(vectors), messages, keys, rsa.Padding("pss", salt_length=19), "sha1")
    )
    signatures = ring.sign(messages, keys, padding, "sha1")
    assert all(ring.verify(signatures, messages, keys, padding, "sha1"))


def test_pkcs1v15_encryption() -> None:
    vectors = rsa_laboratories_vectors("pkcs1v15crypt-vectors.txt")
    ring, keys = ring_of(vectors, private_of)
    assert (len(vectors), len(ring)) == (300, 15)
    assert ring.decrypt(results_of(vectors), keys, "pkcs1v15") == messages_of(vectors)


@pytest.mark.parametrize(("name", "count"), [("oaep-vect.txt", 60), ("oaep-int.txt", 1)])
def test_oaep(name: str, count: int) -> None:
    vectors = rsa_laboratories_vectors(f"pkcs-1v2-1d2-vec/{name}")
    ring, keys = ring_of(vectors, private_of)
    assert len(vectors) == count
    padding = rsa.Padding("oaep", algorithm="sha1")
    assert ring.decrypt(results_of(vectors), keys, padding) == messages_of(vectors)


@pytest.mark.parametrize("name", OAEP_CUSTOM)
def test_oaep_with_two_hashes(name: str) -> None:
    vectors = rsa_laboratories_vectors(f"oaep-custom/{name}")
    ring, keys = ring_of(vectors, private_of)
    assert len(vectors) >= 10
    mgf, algorithm = name.removesuffix(".txt").split("-")[1:]
    padding = rsa.Padding("oaep", algorithm=algorithm, mgf=mgf)
    assert ring.decrypt(results_of(vectors), keys, padding) == messages_of(vectors)


def test_oaep_with_a_label() -> None:
    text = (FOLDER / "RSA" / LABEL).read_text()
    fields = dict(re.findall(r"^(\w+) = (.*)$", text, re.MULTILINE))
    key = rsa.PrivateKey.from_der(bytes.fromhex(fields["KEY"]))
    padding = rsa.Padding("oaep", algorithm="sha512", label=bytes.fromhex(fields["OAEPLabel"]))
    plain = rsa.Padding("oaep", algorithm="sha512")
    ciphertext = bytes.fromhex(fields["Input"])
    assert key.decrypt(ciphertext, padding) == fields["Output"].strip('"').encode()
    with pytest.raises(ValueError, match="decryption failed"):
        key.decrypt(ciphertext, plain)


@pytest.mark.parametrize("name", SIGNATURES)
def test_nist_signatures(name: str) -> None:
    vectors = nist_vectors(name, "S")
    assert len(vectors) == 250
    for algorithm, group in by_hash(vectors).items():
        ring, keys = ring_of(group, private_of if "d" in group[0].key else public_of)
        signatures = [vector.bytes("S") for vector in group]
        messages = [vector.bytes("Msg") for vector in group]
        assert all(ring.verify(signatures, messages, keys, SIGNATURES[name], algorithm))
        assert not any(ring.verify(signatures[1:], messages[:-1], keys[1:], SIGNATURES[name], algorithm))
        if "d" in group[0].key and SIGNATURES[name] == "pkcs1v15":
            assert ring.sign(messages, keys, "pkcs1v15", algorithm) == signatures


@pytest.mark.parametrize("name", VERDICTS)
def test_nist_verdicts(name: str) -> None:
    vectors = nist_vectors(name, "Result")
    expected, found = [], []
    for algorithm, group in by_hash(vectors).items():
        ring, keys = ring_of(group, public_of)
        signatures = [vector.bytes("S") for vector in group]
        messages = [vector.bytes("Msg") for vector in group]
        found += ring.verify(signatures, messages, keys, VERDICTS[name], algorithm)
        expected += [vector.fields["Result"].startswith("P") for vector in group]
    assert found == expected
    assert any(expected) == (name != "SigVer15EMTest.txt")
    assert len(expected) == (150 if name == "SigVer15EMTest.txt" else 450)


def x931_encoding(message: bytes, algorithm: str, bits: int) -> int:
    """ANSI X9.31, 5.2: the intermediate integer 6b bb .. ba hash trailer."""
    tail = hashlib.new(algorithm, message).digest() + X931_TRAILERS[algorithm]
    return int.from_bytes(b"\x6b" + b"\xbb" * (bits // 8 - len(tail) - 2) + b"\xba" + tail, "big")


def x931_is_good(power: bytes, vector: Vector) -> bool:
    """Whether s^e, or n - s^e, is the encoding."""
    value = int.from_bytes(power, "big")
    value = value if value % 16 == 12 else vector.key["n"] - value
    return value == x931_encoding(vector.bytes("Msg"), vector.hash, vector.key["n"].bit_length())


@pytest.mark.parametrize("name", X931)
def test_bare_operations_on_x931_signatures(name: str) -> None:
    vectors = nist_vectors(name, "S")
    ring, keys = ring_of(vectors, private_of if "d" in vectors[0].key else public_of)
    assert len(vectors) == 200
    signatures = [vector.bytes("S") for vector in vectors]
    powers = ring.raw_public(signatures, keys)
    assert all(map(x931_is_good, powers, vectors))
    if "d" in vectors[0].key:
        assert ring.raw_private(powers, keys) == signatures


def test_bare_operations_on_x931_verdicts() -> None:
    vectors = nist_vectors(X931_VERDICTS, "Result")
    ring, keys = ring_of(vectors, public_of)
    powers, statuses = ring.raw_public([vector.bytes("S") for vector in vectors], keys, errors="status")
    good = [x931_is_good(*pair) for pair in zip(powers, vectors, strict=True)]
    assert good == [vector.fields["Result"].startswith("P") for vector in vectors]
    assert 0 < sum(good) < len(vectors) == 360
    assert (statuses == 0).any()


def test_generated_keys() -> None:
    vectors = nist_vectors(KEYS, "d", first="e")
    assert len(vectors) == 30
    for vector in vectors:
        numbers = vector.key
        given = rsa.PrivateKey.from_numbers(**numbers, check_primes=numbers["n"].bit_length() <= 2048)
        recovered = rsa.PrivateKey.from_numbers(n=numbers["n"], e=numbers["e"], d=numbers["d"])
        message = np.arange(20, dtype=np.uint8).tobytes()
        signature = given.sign(message, "pkcs1v15", "sha256")
        assert recovered.sign(message, "pkcs1v15", "sha256") == signature
        assert given.public_key().verify(signature, message, "pkcs1v15", "sha256")


#: Key files that we read, with their passwords.
PRIVATE_FILES = {
    "PEM_Serialization/rsa_private_key.pem": "123456",
    "Traditional_OpenSSL_Serialization/testrsa.pem": None,
    "Traditional_OpenSSL_Serialization/testrsa-encrypted.pem": "password",
    "DER_Serialization/testrsa.der": None,
    "DER_Serialization/enc-rsa-pkcs8.der": "foobar",
    "DER_Serialization/enc2-rsa-pkcs8.der": "baz",
    "DER_Serialization/unenc-rsa-pkcs8.der": None,
    "PKCS8/enc-rsa-pkcs8.pem": "foobar",
    "PKCS8/enc2-rsa-pkcs8.pem": "baz",
    "PKCS8/unenc-rsa-pkcs8.pem": None,
    "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha224.pem": "PolarSSLTest",
    "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha384.pem": "PolarSSLTest",
    "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha512.pem": "PolarSSLTest",
}
PUBLIC_FILES = [
    "PEM_Serialization/rsa_public_key.pem",
    "DER_Serialization/rsa_public_key.der",
    "DER_Serialization/unenc-rsa-pkcs8.pub.der",
    "PKCS8/unenc-rsa-pkcs8.pub.pem",
    "public/PKCS1/rsa.pub.der",
    "public/PKCS1/rsa.pub.pem",
]


@pytest.mark.parametrize("name", PRIVATE_FILES)
def test_private_key_files(name: str) -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    data, password = (FOLDER / name).read_bytes(), PRIVATE_FILES[name]
    pem = Path(name).suffix == ".pem"
    key = (rsa.PrivateKey.from_pem if pem else rsa.PrivateKey.from_der)(data, password)
    load = serialization.load_pem_private_key if pem else serialization.load_der_private_key
    peer = load(data, None if password is None else password.encode(), unsafe_skip_rsa_key_validation=True)
    assert isinstance(peer, RSAPrivateKey)
    assert (key.n, key.e) == (peer.public_key().public_numbers().n, peer.public_key().public_numbers().e)
    peer.public_key().verify(
        key.sign(b"message", "pkcs1v15", "sha256"), b"message", padding.PKCS1v15(), hashes.SHA256()
    )
    if password is not None:
        for wrong in (None, "wrong", b""):
            with pytest.raises(rsa.InvalidKeyError):
                (rsa.PrivateKey.from_pem if pem else rsa.PrivateKey.from_der)(data, wrong)


@pytest.mark.parametrize("name", PUBLIC_FILES)
def test_public_key_files(name: str) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    data, pem = (FOLDER / name).read_bytes(), Path(name).suffix == ".pem"
    key = (rsa.PublicKey.from_pem if pem else rsa.PublicKey.from_der)(data)
    peer = (serialization.load_pem_public_key if pem else serialization.load_der_public_key)(data)
    assert isinstance(peer, RSAPublicKey)
    assert (key.n, key.e) == (peer.public_numbers().n, peer.public_numbers().e)
