# SPDX-License-Identifier: Apache-2.0
"""RSA in bulk: signatures and encryption of many messages, with one key or many, and a signing service.

>>> from manymod import rsa
>>> key = rsa.PublicKey.from_numbers(n=2**1024 - 105, e=65537)
>>> len(key.encrypt(b"message", rsa.Padding("oaep", algorithm="sha256")))
128
"""

from manymod import _core
from manymod._hashes import Prehashed
from manymod.errors import InvalidKeyError, ItemError, ItemValueError
from manymod.rsa.keys import PrivateKey, PublicKey
from manymod.rsa.padding import Padding, PssLimits
from manymod.rsa.ring import KeyRing
from manymod.rsa.signer import Signer, SignerClosedError, SignerFullError, SignerStatistics

__all__ = [
    "InvalidKeyError",
    "ItemError",
    "ItemValueError",
    "KeyRing",
    "Padding",
    "Prehashed",
    "PrivateKey",
    "PssLimits",
    "PublicKey",
    "Signer",
    "SignerClosedError",
    "SignerFullError",
    "SignerStatistics",
    "supported",
]


def supported() -> bool:
    """Whether this build computes RSA; one made without OpenSSL's libcrypto raises `UnsupportedError`."""
    return _core.rsa_supported()
