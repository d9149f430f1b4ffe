# SPDX-License-Identifier: Apache-2.0
"""Paillier's cryptosystem on batches: sums and multiples of numbers that stay encrypted.

>>> from paillier import PrivateKey
>>> key = PrivateKey.generate(1024)
>>> public = key.public_key
>>> ciphertexts = public.encrypt(public.messages([20, -3, 7]))
>>> total = public.dot(ciphertexts, [2, 10, 1])
>>> public.numbers(key.decrypt(total))
[17]
"""

from paillier.keys import PrivateKey
from paillier.public import CiphertextError, PublicKey

__all__ = ["CiphertextError", "PrivateKey", "PublicKey"]
