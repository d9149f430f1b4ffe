# SPDX-License-Identifier: Apache-2.0
"""RSA keys of either kind: read from files, and checked for rings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from manymod import _core
from manymod.rsa._decode import decoded
from manymod.rsa.private_key import PrivateKey
from manymod.rsa.public_key import PublicKey

__all__ = ["PrivateKey", "PublicKey", "checked_keys", "read_key"]


def read_key(
    data: bytes, password: bytes | None, exponent_bits: int, *, private: bool | None = None
) -> PrivateKey | PublicKey:
    """The private or public key in a file's contents, PEM or DER; None: the private one if there is one.

    Raises:
        InvalidKeyError: if there is none; the message says what was found.
    """
    kinds = {None: _core.MM_RSA_KEY_ANY, True: _core.MM_RSA_KEY_PRIVATE, False: _core.MM_RSA_KEY_PUBLIC}
    native = decoded(data, password, "any", kinds[private], exponent_bits)
    return PrivateKey(native) if native.is_private else PublicKey(native)


def checked_keys(keys: Any) -> tuple[PrivateKey | PublicKey, ...]:
    """The keys of a ring: at least one (else a ValueError), and RSA keys alone (else a TypeError)."""
    if isinstance(keys, (PrivateKey, PublicKey)) or not isinstance(keys, Iterable):
        raise TypeError(f"keys must be a sequence of keys, not {type(keys).__name__}")
    found = tuple(keys)
    if not found:
        raise ValueError("a KeyRing needs at least one key")
    for position, key in enumerate(found):
        if not isinstance(getattr(key, "_native", None), _core.RsaKey):
            raise TypeError(f"key {position} is a {type(key).__name__}, no PrivateKey or PublicKey")
    return found
