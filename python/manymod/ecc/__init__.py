# SPDX-License-Identifier: Apache-2.0
"""Elliptic curves in bulk: signatures, key agreement and the arithmetic of points.

A key for each item, as bytes: the methods of a curve.

>>> from manymod import ecc
>>> secrets, public_keys = ecc.P256.generate(2)
>>> messages = [b"first", b"second"]
>>> signatures = ecc.P256.sign(secrets, messages)
>>> ecc.P256.verify(public_keys, signatures, messages)
[True, True]

Keys of files and of the cryptography package: `Key`; several of them, on any curves, in one call: `KeyRing`.

>>> key = ecc.Key.generate(ecc.ED25519)
>>> key.verify(key.sign(messages), messages)
[True, True]
"""

from manymod import _core
from manymod._hashes import Prehashed
from manymod.ecc.curves import Curve, named_curves
from manymod.ecc.keys import Key
from manymod.ecc.ring import KeyRing
from manymod.ecc.signer import Signer, SignerClosedError, SignerFullError, SignerStatistics
from manymod.errors import InvalidKeyError, ItemError, ItemValueError

__all__ = [
    "BLS12_381",
    "BN254",
    "BRAINPOOL_P256R1",
    "BRAINPOOL_P384R1",
    "BRAINPOOL_P512R1",
    "ED448",
    "ED25519",
    "P256",
    "P384",
    "P521",
    "SECP256K1",
    "SM2",
    "X448",
    "X25519",
    "Curve",
    "InvalidKeyError",
    "ItemError",
    "ItemValueError",
    "Key",
    "KeyRing",
    "Prehashed",
    "Signer",
    "SignerClosedError",
    "SignerFullError",
    "SignerStatistics",
    "named_curves",
    "supported",
    "variants",
]

P256 = Curve.named("P-256")
P384 = Curve.named("P-384")
P521 = Curve.named("P-521")
SECP256K1 = Curve.named("secp256k1")
SM2 = Curve.named("SM2")
BRAINPOOL_P256R1 = Curve.named("brainpoolP256r1")
BRAINPOOL_P384R1 = Curve.named("brainpoolP384r1")
BRAINPOOL_P512R1 = Curve.named("brainpoolP512r1")
BN254 = Curve.named("BN254")
BLS12_381 = Curve.named("BLS12-381")
ED25519 = Curve.named("Ed25519")
X25519 = Curve.named("X25519")
ED448 = Curve.named("Ed448")
X448 = Curve.named("X448")


def supported() -> bool:
    """Whether this build computes with curves; one without OpenSSL's libcrypto raises `UnsupportedError`."""
    return _core.ecc_supported()


def variants(curve: Curve | None = None) -> list[str]:
    """Names of the variants of point arithmetic, fastest first: those that this machine can run on a curve.

    OpenCL's, which computes where it is named only, comes before the last.

    Args:
        curve: None: all that this build has, whether or not the machine can run them. Otherwise OpenCL
            drivers are loaded, after which a process should not fork.
    """
    return [name for name in _core.ecc_variants() if curve is None or curve.native.usable(name)]
