# SPDX-License-Identifier: Apache-2.0
"""Keys on curves in OpenSSH's formats, as the encodings that libcrypto reads."""

from __future__ import annotations

import re
from typing import Any

from manymod import _core
from manymod._openssh import PRIVATE_BLOCK, load_private, load_public, public_key_of
from manymod.errors import InvalidKeyError

__all__ = ["decoded_text", "is_openssh_public"]

#: What the messages of errors begin with.
_TITLE = "key on a curve: "
_PUBLIC = public_key_of(r"ssh-ed25519|ecdsa-sha2-nistp\d+")


def is_openssh_public(text: memoryview) -> bool:
    """Whether a text begins with a public key on a curve in OpenSSH's format."""
    return _PUBLIC.match(text) is not None


def decoded_text(text: memoryview, password: memoryview | None, *, public_only: bool) -> _core.EccKey:
    """The key in the contents of a file, DER or any text with a key.

    Args:
        text: the contents.
        password: of an encrypted private key.
        public_only: whether a public key goes before a private one.

    Raises:
        InvalidKeyError: if there is none; the message says what was found.
    """
    replaced, problem = _without_openssh(text, password)
    try:
        return _core.EccKey(replaced, password, public_only)
    except InvalidKeyError as error:
        # Of OpenSSH's keys those are left that could not be read, and this is why.
        if problem is not None and "OpenSSH" in str(error):
            raise problem from None
        raise


def _without_openssh(
    text: memoryview, password: memoryview | None
) -> tuple[memoryview, InvalidKeyError | None]:
    """The text with other PEM in place of OpenSSH's keys, and what is wrong with the first that is left."""
    problems: list[InvalidKeyError] = []

    def replacement(found: re.Match[bytes]) -> bytes:
        try:
            if found.re is PRIVATE_BLOCK:
                return _pem(load_private(found[0], password, _TITLE))
            return _pem(load_public(found["key"], _TITLE))
        except InvalidKeyError as error:
            problems.append(error)
            return found[0]

    line = _PUBLIC.match(text)
    if line is None and PRIVATE_BLOCK.search(text) is None:
        return text, None
    begin, end = (b"", 0) if line is None else (replacement(line), line.end())
    replaced = begin + PRIVATE_BLOCK.sub(replacement, text.cast("B")[end:])
    return memoryview(replaced), problems[0] if problems else None


def _pem(key: Any) -> bytes:
    """PKCS#8 or SubjectPublicKeyInfo of a key of the cryptography package."""
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415 (optional)

    if hasattr(key, "private_bytes"):
        return bytes(key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()))
    return bytes(key.public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo))
