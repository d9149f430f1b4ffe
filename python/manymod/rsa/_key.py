# SPDX-License-Identifier: Apache-2.0
"""What public and private RSA keys have in common."""

from __future__ import annotations

import base64
import functools
import hashlib
import json

from manymod import _core
from manymod.rsa._calls import KeyCalls
from manymod.rsa.padding import PssLimits, pss_limits

__all__ = ["EXPONENT_BITS", "Key"]

#: Bits of the longest public exponent that keys are read with, unless the caller says otherwise.
EXPONENT_BITS = _core.MM_RSA_EXPONENT_BITS


class Key:
    """A key of the extension, with the calls on it."""

    def __init__(self, native: _core.RsaKey | None = None) -> None:
        """Take a key that the extension has checked, else raise TypeError: ``from_*`` make keys."""
        if not isinstance(native, _core.RsaKey):
            raise TypeError("use from_pem, from_der, from_numbers or from_cryptography")
        self._native = native

    @functools.cached_property
    def _calls(self) -> KeyCalls:
        return KeyCalls([self._native])

    @functools.cached_property
    def _numbers(self) -> tuple[bytes, bytes]:
        return self._native.public_numbers()

    @property
    def n(self) -> int:
        """The modulus."""
        return int.from_bytes(self._numbers[0], "big")

    @property
    def e(self) -> int:
        """The public exponent."""
        return int.from_bytes(self._numbers[1], "big")

    @property
    def key_size(self) -> int:
        """Bits of the modulus."""
        return self._native.modulus_bits

    @property
    def modulus_bytes(self) -> int:
        """Bytes of the modulus, and so of every signature and ciphertext."""
        return self._native.modulus_bytes

    @functools.cached_property
    def pss_limits(self) -> PssLimits | None:
        """What a key for RSASSA-PSS alone (id-RSASSA-PSS) may be used for; None for a key without limits."""
        return pss_limits(self._native)

    @functools.cached_property
    def fingerprint(self) -> str:
        """The key's name: SHA-256 of its public numbers as RFC 7638 (JWK thumbprint) has them, base64url."""
        n, e = (base64.urlsafe_b64encode(number).rstrip(b"=").decode() for number in self._numbers)
        members = json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":"))
        return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()

    def __repr__(self) -> str:
        """Size and fingerprint; no number."""
        use = ", RSASSA-PSS" if self.pss_limits else ""
        return f"{type(self).__name__}({self.key_size} bits{use}, {self.fingerprint})"
