# SPDX-License-Identifier: Apache-2.0
"""Public RSA keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from manymod import _core
from manymod._byte_typing import ByteBatch, VerifyErrors
from manymod._run import Errors, Progress
from manymod._typing import Raising, Statuses
from manymod.errors import InvalidKeyError
from manymod.rsa._decode import decoded, foreign_numbers, native_key
from manymod.rsa._key import EXPONENT_BITS, Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Self

__all__ = ["PublicKey", "restored"]


class PublicKey(Key):
    """An RSA public key of 1024 to 16384 bits.

    >>> key = PublicKey.from_numbers(n=2**1024 - 105, e=65537)
    >>> key.key_size, key.modulus_bytes, key.e
    (1024, 128, 65537)
    >>> key.verify([bytes(128)], [b"message"], "pkcs1v15", "sha256")
    [False]
    """

    @classmethod
    def from_pem(cls, data: str | Buffer, *, max_exponent_bits: int = EXPONENT_BITS) -> Self:
        """Read SubjectPublicKeyInfo, PKCS#1 or a certificate from PEM, the text of a file.

        Of several blocks the first public key or certificate is taken. The signature and the dates of a
        certificate are not checked. Line breaks may be missing. OpenSSH's format needs the cryptography
        package.

        Args:
            data: the text of the file.
            max_exponent_bits: bits of the longest public exponent to accept. Verifying and encrypting take
                longer with a longer exponent, up to hundreds of times, and whoever made the key chose it.
                FIPS 186-5 allows 256; any exponent is below the modulus.

        Raises:
            InvalidKeyError: (a ValueError) if it is no RSA public key, or its exponent is too long; it says
                what was found. Of a private key take `public_key`.
        """
        return cls._made(decoded(data, None, "pem", _core.MM_RSA_KEY_PUBLIC, max_exponent_bits))

    @classmethod
    def from_der(cls, data: Buffer, *, max_exponent_bits: int = EXPONENT_BITS) -> Self:
        """Read SubjectPublicKeyInfo, PKCS#1 or a certificate from DER. Otherwise as `from_pem`."""
        return cls._made(decoded(data, None, "der", _core.MM_RSA_KEY_PUBLIC, max_exponent_bits))

    @classmethod
    def from_cryptography(cls, key: Any, *, max_exponent_bits: int = EXPONENT_BITS) -> Self:
        """Take the numbers of an ``RSAPublicKey`` of the cryptography package. Otherwise as `from_pem`."""
        numbers = foreign_numbers(key, "public_numbers")
        return cls.from_numbers(n=numbers.n, e=numbers.e, max_exponent_bits=max_exponent_bits)

    @classmethod
    def from_numbers(cls, *, n: Any, e: Any = 65537, max_exponent_bits: int = EXPONENT_BITS) -> Self:
        """Make a key of modulus `n`, odd, and public exponent `e`, odd and at least 3.

        Args:
            n: the modulus.
            e: the public exponent.
            max_exponent_bits: as in `from_pem`.

        Raises:
            InvalidKeyError: (a ValueError) if they are no key, or `e` is too long.
            TypeError: if one is no integer.

        >>> PublicKey.from_numbers(n=2**1024 - 105, e=2**64 + 1)
        Traceback (most recent call last):
        manymod.errors.InvalidKeyError: RSA key: e has 65 bits, but at most 64 are allowed (max_exponent_bits)
        >>> PublicKey.from_numbers(n=2**1024 - 105, e=2**64 + 1, max_exponent_bits=256).e.bit_length()
        65
        """
        return cls._made(native_key({"n": n, "e": e}, max_exponent_bits))

    @classmethod
    def _made(cls, native: _core.RsaKey) -> Self:
        if native.is_private:
            raise InvalidKeyError("RSA key: a private key, where a public one is needed")
        return cls(native)

    @overload
    def verify(self, signatures: bytes, messages: bytes, padding: Any, algorithm: Any) -> bool: ...

    @overload
    def verify(self, signatures: list[bytes], messages: Any, padding: Any, algorithm: Any) -> list[bool]: ...

    @overload
    def verify(
        self, signatures: NDArray[np.uint8], messages: Any, padding: Any, algorithm: Any
    ) -> NDArray[np.bool_]: ...

    @overload
    def verify(
        self,
        signatures: Any,
        messages: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerifyErrors = ...,
        progress: Progress | None = ...,
        left_pad: bool = ...,
    ) -> Any: ...

    def verify(
        self,
        signatures: Any,
        messages: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        left_pad: bool = False,
    ) -> Any:
        """Whether each signature is good; as `KeyRing.verify` with this key for every item."""
        return self._calls.verify(signatures, messages, None, padding, algorithm, errors, progress, left_pad)

    @overload
    def encrypt(
        self,
        messages: ByteBatch,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ByteBatch: ...

    @overload
    def encrypt(
        self,
        messages: ByteBatch,
        padding: Any,
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> tuple[ByteBatch, Statuses]: ...

    def encrypt(
        self,
        messages: Any,
        padding: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Encrypt messages; as `KeyRing.encrypt` with this key for every item."""
        return self._calls.encrypt(messages, None, padding, errors, out, progress)

    def raw(self, numbers: Any, *, errors: Errors = "raise", out: Any = None) -> Any:
        """m^e mod n of big-endian numbers m < n, without padding; as `KeyRing.raw_public`."""
        return self._calls.raw(False, numbers, None, errors, out)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PublicKey):
            return NotImplemented
        return (self._numbers, self.pss_limits) == (other._numbers, other.pss_limits)

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the public numbers, and the limits of a key for RSASSA-PSS alone."""
        return restored, (self.n, self.e, self._native.pss)


def restored(n: int, e: int, pss: tuple[int, int, int, int] = (0, 0, 0, 0)) -> PublicKey:
    """The key of numbers that were accepted before."""
    return PublicKey(native_key({"n": n, "e": e}, _core.MM_RSA_MAX_BITS, pss=pss))
