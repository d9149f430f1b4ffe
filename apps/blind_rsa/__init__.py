# SPDX-License-Identifier: Apache-2.0
"""Blind RSA signatures on batches, RFC 9474: the signer sees neither the messages nor the signatures.

>>> from blind_rsa import Client, Signer
>>> from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
>>> from manymod import rsa
>>> key = rsa.PrivateKey.from_cryptography(generate_private_key(65537, 2048))
>>> client, signer = Client(key.public_key()), Signer(key)
>>> prepared = client.prepare([b"one token", b"another"])
>>> blinded, blinding = client.blind(prepared)
>>> signatures = client.finalize(blinding, signer.blind_sign(blinded))
>>> client.verify(signatures, prepared).tolist()
[True, True]
"""

from blind_rsa.encoding import VARIANTS, Variant
from blind_rsa.parties import Blinding, Client, SignatureError, Signer

__all__ = ["VARIANTS", "Blinding", "Client", "SignatureError", "Signer", "Variant"]
