# SPDX-License-Identifier: Apache-2.0
"""`manymod provider`: what the OpenSSL provider needs besides its configuration."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path
from typing import Any

import click

from manymod._extras import missing_extra
from manymod.cli.keys import IN_PATH
from manymod.cli.options import output_option
from manymod.cli.outputs import check_output, write_output

__all__ = ["provider", "reference_pem"]

LABEL = "MANYMOD KEY REFERENCE"


def reference_pem(encoded: bytes) -> str:
    """Return the reference to the key that a certificate or public key belongs to.

    Args:
        encoded: PEM or DER; of several PEM certificates the first counts.

    Raises:
        ValueError: it is neither a certificate nor a public key.
    """
    name = _element(0x0C, LABEL.lower().encode("ascii"))
    der = _element(0x30, name + _subject_public_key_info(encoded))
    lines = textwrap.wrap(base64.b64encode(der).decode("ascii"), 64)
    return "\n".join([f"-----BEGIN {LABEL}-----", *lines, f"-----END {LABEL}-----", ""])


def _element(tag: int, contents: bytes) -> bytes:
    """Return a DER element."""
    size = len(contents)
    if size < 0x80:
        return bytes([tag, size]) + contents
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(digits)]) + digits + contents


def _subject_public_key_info(encoded: bytes) -> bytes:
    try:
        from cryptography import x509  # noqa: PLC0415 - the extra "rsa"
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("manymod provider reference", "rsa") from error
    is_pem = b"-----BEGIN" in encoded
    readers: list[Any] = [
        lambda: (x509.load_pem_x509_certificate if is_pem else x509.load_der_x509_certificate)(encoded),
        lambda: (serialization.load_pem_public_key if is_pem else serialization.load_der_public_key)(encoded),
    ]
    for read in readers:
        try:
            found = read()
        except ValueError:
            continue
        key = found.public_key() if isinstance(found, x509.Certificate) else found
        public: bytes = key.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return public
    if b"PRIVATE KEY-----" in encoded:
        raise ValueError("a private key: give its certificate or its public key")
    raise ValueError("neither a certificate nor a public key")


@click.group()
def provider() -> None:
    """Files for the OpenSSL provider."""


@provider.command()
@click.argument("source", type=IN_PATH, metavar="CERTIFICATE")
@output_option("File to write; standard output without it.")
def reference(source: Path, output: Path | None) -> None:
    """Write a reference to a key that manymod-signd holds.

    CERTIFICATE is a certificate or public key, in PEM or DER. Servers take the reference where they take the
    file of the private key; it holds nothing secret.
    """
    if output is not None:
        check_output(output, [("CERTIFICATE", source)])
    try:
        text = reference_pem(source.read_bytes())
    except ValueError as error:
        raise click.ClickException(f"{source}: {error}") from error
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text)
