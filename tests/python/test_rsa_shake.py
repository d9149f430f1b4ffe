# SPDX-License-Identifier: Apache-2.0
"""PSS with SHAKE128 and SHAKE256 (RFC 8702), against a slow implementation and vectors of Wycheproof."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from tests.python.cli_support import read_arrow, run, write_table
from tests.python.rsa_support import private_key
from tests.python.test_rsa_encodings import KEYS, text_of

from manymod import rsa

SIZES = {"shake128": 32, "shake256": 64}


def shake(name: str, data: bytes, size: int) -> bytes:
    """Output of SHAKE of `size` bytes."""
    output: bytes = getattr(hashlib, name.replace("shake", "shake_"))(data).digest(size)
    return output


def recovered_salt(encoded: bytes, bits: int, message: bytes, name: str) -> bytes | None:
    """The salt of an encoded message of `bits` bits; None if it is not one of `message` (RFC 8017, 9.1.2)."""
    size = SIZES[name]
    hashed, masked, last = encoded[-size - 1 : -1], encoded[: -size - 1], encoded[-1]
    mask = shake(name, hashed, len(masked))  # RFC 8702, section 3.1
    block = int.from_bytes(masked, "big") ^ int.from_bytes(mask, "big")
    block &= (1 << (bits - 8 * (size + 1))) - 1
    text = block.to_bytes(len(masked), "big").lstrip(b"\0")
    if last != 0xBC or not text.startswith(b"\1"):
        return None
    salt = text[1:]
    digest = shake(name, message, size)
    return salt if shake(name, bytes(8) + digest + salt, size) == hashed else None


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("bits", [1024, 1032, 2048])
@pytest.mark.parametrize("salt", ["digest", 0, 20, "max"])
def test_signatures_hold_what_rfc_8702_says(name: str, bits: int, salt: Any) -> None:
    key, how = private_key(bits), rsa.Padding("pss", salt_length=salt)
    width = (bits - 1 + 7) // 8
    if name == "shake256" and salt == "digest" and bits < 1040:
        with pytest.raises(ValueError, match="wrong length"):
            key.sign(b"a", how, name)
        return
    signatures = key.sign([b"a", b"b"], how, name)
    for signature, message in zip(signatures, (b"a", b"b"), strict=True):
        encoded = pow(int.from_bytes(signature, "big"), key.e, key.n).to_bytes(width, "big")
        found = recovered_salt(encoded, bits - 1, message, name)
        sizes = {"digest": SIZES[name], "max": width - SIZES[name] - 2}
        assert found is not None
        assert len(found) == sizes.get(salt, salt)
    for checked in (how, rsa.Padding("pss", salt_length="auto")):
        assert key.public_key().verify(signatures, [b"a", b"a"], checked, name) == [True, False]


@pytest.mark.parametrize("name", SIZES)
def test_vectors_of_wycheproof(name: str) -> None:
    group = json.loads((KEYS / "wycheproof_pss_shake.json").read_text())[name]
    public = rsa.PublicKey.from_der(bytes.fromhex(group["key"]))
    how = rsa.Padding("pss", salt_length=SIZES[name])
    tests = group["tests"]
    signatures, messages = ([bytes.fromhex(test[field]) for test in tests] for field in ("sig", "msg"))
    expected = [test["result"] == "valid" for test in tests]
    assert set(expected) == {True, False}
    assert public.verify(signatures, messages, how, name) == expected


def test_names_and_objects() -> None:
    key = private_key()
    signature = key.sign(b"a", "pss", "SHAKE-128")
    assert key.public_key().verify(signature, b"a", rsa.Padding("pss", mgf="shake128"), hashes.SHAKE128(32))
    digest = shake("shake256", b"a", 64)
    signature = key.sign(digest, "pss", rsa.Prehashed("shake256"))
    assert key.public_key().verify(signature, b"a", "pss", hashes.SHAKE256(64))
    with pytest.raises(ValueError, match="wrong length"):
        key.sign(digest[:32], "pss", rsa.Prehashed("shake256"))
    with pytest.raises(ValueError, match="shake128 has digests of 32 bytes"):
        key.sign(b"a", "pss", hashes.SHAKE128(16))


@pytest.mark.parametrize(
    ("how", "algorithm"),
    [
        ("pkcs1v15", "shake128"),
        (rsa.Padding("pss", mgf="sha256"), "shake128"),
        (rsa.Padding("pss", mgf="shake256"), "shake128"),
        (rsa.Padding("pss", mgf="shake256"), "sha256"),
    ],
    ids=str,
)
def test_shake_has_its_own_mask_and_no_other_padding(how: Any, algorithm: str) -> None:
    for call in (private_key().sign, lambda *given: private_key().public_key().verify(b"", *given)):
        with pytest.raises(ValueError, match="shake128 and shake256"):
            call(b"a", how, algorithm)


@pytest.mark.parametrize("options", [{"algorithm": "shake128"}, {"mgf": "shake256"}], ids=str)
def test_shake_is_not_for_encryption(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="are for PSS alone"):
        private_key().public_key().encrypt(b"a", rsa.Padding("oaep", **options))


def test_shake_on_the_command_line(tmp_path: Path) -> None:
    table, signed, key = tmp_path / "in.arrow", tmp_path / "out.arrow", tmp_path / "k.pem"
    write_table(table, [{"m": "a"}])
    key.write_bytes(text_of())
    command = ("rsa", "sign", table, "-o", signed, "--key", key, "--message", "m", "--hash", "shake128")
    assert run(*command).code == 0
    signature = read_arrow(signed)["result"].to_pylist()[0]
    assert private_key(1024).public_key().verify(signature, b"a", "pss", "shake128")
    for wrong in (("--padding", "pkcs1v15"), ("--mgf-hash", "sha256")):
        finished = run(*command, *wrong)
        assert (finished.code, "shake128 and shake256" in finished.err) == (2, True)
