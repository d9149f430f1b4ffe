# SPDX-License-Identifier: Apache-2.0
"""What the client and the signer of RFC 9474 compute, section 4, on batches."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import manymod
from blind_rsa.encoding import VARIANTS, Variant, encode
from manymod import IntArray, Plan, rsa

__all__ = ["Blinding", "Client", "SignatureError", "Signer"]

Rows = NDArray[np.uint8]  # uint8[N, K], K being the bytes of the modulus

_DEFAULT = VARIANTS["RSABSSA-SHA384-PSS-Randomized"]
_UNIFORM_BYTES = 16  # of so many bytes more than n, a random number modulo n is within 2^-128 of uniform


class SignatureError(ValueError):
    """The signer's answers for some items give no valid signatures.

    Attributes:
        indices: their positions, ascending.
        signatures: those of all items, zeros in the place of the bad ones.
    """

    def __init__(self, indices: list[int], signatures: Rows) -> None:
        shown = ", ".join(map(str, indices[:8])) + (", ..." if len(indices) > 8 else "")
        super().__init__(f"the blind signatures are wrong: items {shown}")
        self.indices = indices
        self.signatures = signatures


@dataclass(frozen=True)
class Blinding:
    """What the client keeps of a batch until the signer answers.

    Attributes:
        prepared: the prepared messages.
        inverses: r^-1 mod n of each; secret, as whoever knows it links the signature to the blinded message.
    """

    prepared: list[bytes]
    inverses: IntArray = field(repr=False)


class Client:
    """Blinds messages, and finalizes and verifies signatures.

    Args:
        key: the signer's public key, of 1024 bits or more; 2048 at least is the practice.
        variant: one of `VARIANTS`. Deterministic ones need messages with enough entropy for their purpose
            (RFC 9474, section 7).

    Timing: constant-time in r and the encoded messages; blinded messages, signatures and lengths of messages
    are public.
    """

    def __init__(self, key: rsa.PublicKey, variant: Variant = _DEFAULT) -> None:
        if not isinstance(key, rsa.PublicKey):
            raise TypeError(f"the client needs the signer's public key, not a {type(key).__name__}")
        self.key = key
        self.variant = variant
        self._product = Plan("mulmod", modulus=key.n, secret=True)
        self._padding = rsa.Padding("pss", mgf="sha384", salt_length=variant.salt_bytes)

    def prepare(self, messages: Sequence[bytes]) -> list[bytes]:
        """What is signed: the messages, after 32 random bytes each in randomized variants."""
        if not self.variant.randomized:
            return list(messages)
        return [secrets.token_bytes(32) + message for message in messages]

    def blind(self, prepared: Sequence[bytes]) -> tuple[Rows, Blinding]:
        """Blinded messages for the signer, and what `finalize` needs.

        Raises:
            ValueError: if the modulus is too short for the variant.
            ItemValueError: naming a message whose encoding has a factor in common with n; it reveals p.
        """
        count = len(prepared)
        salts = [secrets.token_bytes(self.variant.salt_bytes) for _ in range(count)]
        size = self.key.modulus_bytes + _UNIFORM_BYTES
        noise = np.frombuffer(secrets.token_bytes(count * size), np.uint8).reshape(-1, size)
        factors = self._product(IntArray.from_bytes(noise), 1)
        return self.blind_with(prepared, salts, factors)

    def blind_with(
        self, prepared: Sequence[bytes], salts: Sequence[bytes], factors: IntArray
    ) -> tuple[Rows, Blinding]:
        """`blind` with given salts and factors r, 0 < r < n, which are random, secret and used once."""
        encoded = encode(prepared, salts, self.key.n.bit_length() - 1)
        # One inversion serves both: (m r)^-1 exists where r and m, as the RFC demands, are coprime to n.
        inverses = self._product(
            manymod.invmod(self._product(encoded, factors), self.key.n, secret=True), encoded
        )
        powers = IntArray.from_bytes(self.key.raw(factors.to_bytes(self.key.modulus_bytes)))
        blinded = self._product(encoded, powers)
        return blinded.to_bytes(self.key.modulus_bytes), Blinding(list(prepared), inverses)

    def finalize(self, blinding: Blinding, blind_signatures: Rows) -> Rows:
        """Signatures of the prepared messages, each verified.

        Raises:
            ValueError: unless there is a row of the modulus's length for each message.
            SignatureError: naming the items whose signature is not valid.
        """
        if blind_signatures.shape != (len(blinding.prepared), self.key.modulus_bytes):
            raise ValueError(
                f"expected {len(blinding.prepared)} blind signatures of {self.key.modulus_bytes} bytes, "
                f"not uint8{list(blind_signatures.shape)}"
            )
        numbers = self._product(IntArray.from_bytes(blind_signatures), blinding.inverses)
        signatures = numbers.to_bytes(self.key.modulus_bytes)
        good = self.verify(signatures, blinding.prepared)
        if not good.all():
            signatures[~good] = 0
            raise SignatureError([int(item) for item in np.flatnonzero(~good)], signatures)
        return signatures

    def verify(self, signatures: Rows, prepared: Sequence[bytes]) -> NDArray[np.bool_]:
        """Whether each is a signature of its prepared message."""
        verdicts: NDArray[np.bool_] = self.key.verify(signatures, list(prepared), self._padding, "sha384")
        return verdicts


class Signer:
    """Signs blinded messages.

    Args:
        key: a private key that is used for nothing else (RFC 9474, section 6): its blind signatures are the
            bare power of whatever number a client sends. A key for RSASSA-PSS alone refuses that.

    Timing: constant-time in the private key, which manymod also blinds; every result is checked by the public
    key before it leaves, as the RFC demands.
    """

    def __init__(self, key: rsa.PrivateKey) -> None:
        if not isinstance(key, rsa.PrivateKey):
            raise TypeError(f"the signer needs its private key, not a {type(key).__name__}")
        self._key = key

    def blind_sign(self, blinded: Rows) -> Rows:
        """Blind signatures.

        Raises:
            ItemValueError: naming the items that are no numbers below n; the others' answers are not given.
        """
        signatures: Rows = self._key.raw(blinded)
        return signatures
