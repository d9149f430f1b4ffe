# SPDX-License-Identifier: Apache-2.0
"""RSA keys."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod import _core
from manymod._byte_typing import ByteBatch, VerifyErrors
from manymod._run import Errors, Progress
from manymod._typing import Raising, Statuses
from manymod.errors import InvalidKeyError
from manymod.plan import checked_flag
from manymod.rsa._calls import KeyCalls
from manymod.rsa._decode import decoded, foreign_numbers, native_key, private_numbers
from manymod.rsa.padding import PssLimits, pss_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Self

__all__ = ["PrivateKey", "PublicKey", "checked_keys", "read_key"]

_EXPONENT_BITS = _core.MM_RSA_EXPONENT_BITS


class _Key:
    """What private and public keys have in common."""

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


class PublicKey(_Key):
    """An RSA public key of 1024 to 16384 bits.

    >>> key = PublicKey.from_numbers(n=2**1024 - 105, e=65537)
    >>> key.key_size, key.modulus_bytes, key.e
    (1024, 128, 65537)
    >>> key.verify([bytes(128)], [b"message"], "pkcs1v15", "sha256")
    [False]
    """

    @classmethod
    def from_pem(cls, data: str | Buffer, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
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
    def from_der(cls, data: Buffer, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
        """Read SubjectPublicKeyInfo, PKCS#1 or a certificate from DER. Otherwise as `from_pem`."""
        return cls._made(decoded(data, None, "der", _core.MM_RSA_KEY_PUBLIC, max_exponent_bits))

    @classmethod
    def from_cryptography(cls, key: Any, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
        """Take the numbers of an ``RSAPublicKey`` of the cryptography package. Otherwise as `from_pem`."""
        numbers = foreign_numbers(key, "public_numbers")
        return cls.from_numbers(n=numbers.n, e=numbers.e, max_exponent_bits=max_exponent_bits)

    @classmethod
    def from_numbers(cls, *, n: Any, e: Any = 65537, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
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
        return _restored, (self.n, self.e, self._native.pss)


def _restored(n: int, e: int, pss: tuple[int, int, int, int] = (0, 0, 0, 0)) -> PublicKey:
    """The key of numbers that were accepted before."""
    return PublicKey(native_key({"n": n, "e": e}, _core.MM_RSA_MAX_BITS, pss=pss))


class PrivateKey(_Key):
    """An RSA private key of 1024 to 16384 bits.

    Its secret numbers are in the library's memory alone, where they are zeroed when the key and all rings and
    signers made of it are gone; there is no way to read, print or pickle them. Whatever Python object they
    came from (bytes, ints) is the caller's, and Python zeroes none.
    """

    @classmethod
    def from_pem(
        cls,
        data: str | Buffer,
        password: str | Buffer | None = None,
        *,
        check_primes: bool = False,
        max_exponent_bits: int = _EXPONENT_BITS,
    ) -> Self:
        """Read PKCS#8 or PKCS#1, encrypted or not, from PEM.

        Of several blocks, such as a certificate and its key, the first private key is taken. Line breaks may
        be missing. OpenSSH's format needs the cryptography package.

        Args:
            data: the text of the file.
            password: of an encrypted key.
            check_primes: also test that the primes are prime, which takes as long as some hundred signatures.
                Where one is not, results are wrong as a rule, and have `Status.RSA_FAULT`.
            max_exponent_bits: bits of the longest public exponent to accept, with which every result is
                checked; as in `PublicKey.from_pem`.

        Raises:
            InvalidKeyError: (a ValueError) if it is no RSA private key, if its numbers contradict each other,
                if its public exponent is too long, or if the password is missing or wrong; it says what was
                found.
        """
        checks = _checks(check_primes)
        return cls._made(decoded(data, password, "pem", _core.MM_RSA_KEY_PRIVATE, max_exponent_bits, checks))

    @classmethod
    def from_der(
        cls,
        data: Buffer,
        password: str | Buffer | None = None,
        *,
        check_primes: bool = False,
        max_exponent_bits: int = _EXPONENT_BITS,
    ) -> Self:
        """Read PKCS#8 or PKCS#1, encrypted or not, from DER. Otherwise as `from_pem`."""
        checks = _checks(check_primes)
        return cls._made(decoded(data, password, "der", _core.MM_RSA_KEY_PRIVATE, max_exponent_bits, checks))

    @classmethod
    def from_cryptography(
        cls, key: Any, *, check_primes: bool = False, max_exponent_bits: int = _EXPONENT_BITS
    ) -> Self:
        """Take the numbers of an ``RSAPrivateKey`` of the cryptography package. Otherwise as `from_pem`."""
        numbers = private_numbers(foreign_numbers(key, "private_numbers"))
        return cls.from_numbers(**numbers, check_primes=check_primes, max_exponent_bits=max_exponent_bits)

    @classmethod
    def from_numbers(
        cls,
        *,
        n: Any,
        e: Any,
        d: Any,
        p: Any = None,
        q: Any = None,
        dp: Any = None,
        dq: Any = None,
        qinv: Any = None,
        primes: Any = None,
        check_primes: bool = False,
        max_exponent_bits: int = _EXPONENT_BITS,
    ) -> Self:
        """Make a key of its numbers.

        Args:
            n: the modulus.
            e: the public exponent.
            d: the private exponent.
            p: a prime factor of n; with `q` or not at all: then all primes are recovered.
            q: the other one.
            dp: d mod p - 1, else computed.
            dq: d mod q - 1, else computed.
            qinv: q^-1 mod p, else computed.
            primes: all primes of n, of which there may be up to 10, instead of p and q (RFC 8017).
            check_primes: as in `from_pem`.
            max_exponent_bits: as in `from_pem`.

        Raises:
            InvalidKeyError: (a ValueError) if they are no key; it names the relation that does not hold.
            TypeError: if one is no integer, or if p or q is given beside primes.
        """
        names = {"n": n, "e": e, "d": d, "p": p, "q": q, "dp": dp, "dq": dq, "qinv": qinv}
        if d is None:
            raise TypeError("a private key needs d")
        others: Sequence[Any] = ()
        if primes is not None:
            if any(number is not None for number in (p, q, dp, dq, qinv)):
                raise TypeError("primes stands for p and q, and excludes dp, dq and qinv")
            if len(primes := tuple(primes)) < 2:
                raise InvalidKeyError("RSA key: primes has fewer than two primes")
            names["p"], names["q"], *others = primes
        return cls._made(native_key(names, max_exponent_bits, _checks(check_primes), others))

    @classmethod
    def _made(cls, native: _core.RsaKey) -> Self:
        if not native.is_private:
            raise InvalidKeyError("RSA key: a public key, where a private one is needed")
        return cls(native)

    @property
    def prime_count(self) -> int:
        """Number of primes of the modulus: 2, or more for a multi-prime key (RFC 8017)."""
        return self._native.primes

    def public_key(self) -> PublicKey:
        """The public half."""
        return _restored(self.n, self.e, self._native.pss)

    @overload
    def sign(
        self,
        messages: ByteBatch,
        padding: Any,
        algorithm: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ByteBatch: ...

    @overload
    def sign(
        self,
        messages: ByteBatch,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> tuple[ByteBatch, Statuses]: ...

    def sign(
        self,
        messages: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Sign messages; as `KeyRing.sign` with this key for every item."""
        return self._calls.sign(messages, None, padding, algorithm, errors, out, progress)

    @overload
    def decrypt(
        self,
        ciphertexts: bytes,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> bytes: ...

    @overload
    def decrypt(
        self,
        ciphertexts: list[bytes] | NDArray[np.uint8],
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> list[bytes]: ...

    @overload
    def decrypt(
        self,
        ciphertexts: Any,
        padding: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def decrypt(
        self,
        ciphertexts: Any,
        padding: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Decrypt ciphertexts; as `KeyRing.decrypt` with this key for every item."""
        return self._calls.decrypt(ciphertexts, None, padding, errors, out, progress)

    def raw(self, numbers: Any, *, errors: Errors = "raise", out: Any = None) -> Any:
        """c^d mod n of big-endian numbers c < n, without padding; as `KeyRing.raw_private`."""
        return self._calls.raw(True, numbers, None, errors, out)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled."""
        raise TypeError("a PrivateKey cannot be pickled: make it anew where it is used")


def _checks(check_primes: bool) -> int:
    return _core.MM_RSA_CHECK_PRIMES if checked_flag("check_primes", check_primes) else 0


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
