# SPDX-License-Identifier: Apache-2.0
"""Keys in OpenSSH's formats, which the cryptography package reads if it is installed."""

from __future__ import annotations

import re
from typing import Any

from manymod.errors import InvalidKeyError

__all__ = ["PRIVATE_BLOCK", "load_private", "load_public", "load_with_needless_password", "public_key_of"]

#: Base64 has no dash, so that one block ends before the next begins, and a search takes linear time.
PRIVATE_BLOCK = re.compile(rb"-----BEGIN OPENSSH PRIVATE KEY-----[^-]*-----END OPENSSH PRIVATE KEY-----")
#: Line breaks as two characters, as environment variables have them.
_ESCAPED = re.compile(rb"\\[nr]")


def public_key_of(algorithms: str) -> re.Pattern[bytes]:
    """A pattern that matches the beginning of a text with a public key, which is its group "key".

    Args:
        algorithms: a regular expression for the algorithms, such as ``ssh-rsa``.

    >>> public_key_of("ssh-rsa").match(b"ssh-rsa AAAA user@host")["key"]
    b'ssh-rsa AAAA'
    """
    key = rf"(?P<key>(?:{algorithms})(?:-cert-v01@openssh\.com)?\s+[A-Za-z0-9+/=]*)"
    return re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\\[nr]\s*)*" + key.encode())


def load_private(block: bytes, password: memoryview | None, title: str) -> Any:
    """The cryptography package's key of a block that `PRIVATE_BLOCK` matches.

    Args:
        block: the text.
        password: of an encrypted key; that of any other is ignored.
        title: what messages begin with.

    Raises:
        InvalidKeyError: if it cannot be read; the message says why.
    """

    def load(serialization: Any) -> Any:
        text = _ESCAPED.sub(b"\n", block)
        return load_with_needless_password(serialization.load_ssh_private_key, text, password)

    return _loaded(load, title, "ssh-keygen -p -m PEM")


def load_public(key: bytes, title: str) -> Any:
    """The cryptography package's key of what `public_key_of` finds. Otherwise as `load_private`.

    Raises:
        InvalidKeyError: if it cannot be read; the message says why.
    """
    return _loaded(
        lambda serialization: serialization.load_ssh_public_key(key), title, "ssh-keygen -e -m PKCS8"
    )


def load_with_needless_password(load: Any, text: bytes, password: memoryview | None) -> Any:
    """The key that `load` reads, which refuses the password of a key that is not encrypted by a TypeError."""
    try:
        return load(text, None if password is None else bytes(password))
    except TypeError:
        return load(text, None)


def _loaded(load: Any, title: str, conversion: str) -> Any:
    """What `load` reads with a module of the cryptography package, whose errors become ours.

    Without the package, `conversion` is the command that writes another format.
    """
    try:
        from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    except ImportError:
        raise InvalidKeyError(
            f"{title}an OpenSSH key: install cryptography (pip install cryptography), or convert it with "
            f"{conversion} unless it is of Ed25519"
        ) from None
    try:
        return load(serialization)
    except InvalidTag:
        problem = "its password is wrong"
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        problem = str(error) + (" (pip install bcrypt)" if "bcrypt" in str(error) else "")
    raise InvalidKeyError(f"{title}an OpenSSH key that cannot be read: {problem}")
