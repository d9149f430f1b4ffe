# SPDX-License-Identifier: Apache-2.0
"""`manymod provider`."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from tests.python.provider_support import identity

from manymod.cli.main import main


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and output of the command."""
    result = CliRunner().invoke(main, ["provider", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.parametrize("kind", ["rsa2048", "p384", "ed25519"])
def test_references_hold_the_public_key(tmp_path: Path, kind: str) -> None:
    """From certificates and public keys, PEM and DER, the same reference."""
    own = identity(tmp_path, kind)
    certificate = x509.load_pem_x509_certificate(own.certificate.read_bytes())
    key = certificate.public_key()
    public = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    der_certificate = certificate.public_bytes(serialization.Encoding.DER)
    sources = [own.certificate.read_bytes(), der_certificate, public, pem]
    references = set()
    for number, contents in enumerate(sources):
        source = tmp_path / f"source{number}"
        source.write_bytes(contents)
        code, shown = run("reference", source)
        assert code == 0, shown
        references.add(shown)
    (reference,) = references
    begin, *lines, end = reference.splitlines()
    assert (begin, end) == ("-----BEGIN MANYMOD KEY REFERENCE-----", "-----END MANYMOD KEY REFERENCE-----")
    assert max(map(len, lines)) == 64
    der = base64.b64decode("".join(lines))
    assert der.endswith(b"\x0c\x15manymod key reference" + public)
    output = tmp_path / "reference.pem"
    assert run("reference", tmp_path / "source0", "-o", output) == (0, "")
    assert output.read_text() == reference
    code, shown = run("reference", output.with_name("source0"), "-o", tmp_path / "." / "source0")
    assert (code, "OUT is CERTIFICATE: write to another file" in shown) == (2, True)
    assert output.with_name("source0").read_bytes() == sources[0]
    code, shown = run("reference", tmp_path / "source0", "-o", tmp_path / "nosuch" / "x")
    assert (code, "nosuch is not a directory" in shown) == (2, True)


def test_private_keys_are_no_sources(tmp_path: Path) -> None:
    """What is neither a certificate nor a public key is refused by name."""
    own = identity(tmp_path, "p256")
    code, shown = run("reference", own.key)
    assert code == 1
    assert shown == f"Error: {own.key}: a private key: give its certificate or its public key\n"
    (tmp_path / "empty").write_bytes(b"")
    assert run("reference", tmp_path / "empty")[0] == 1
