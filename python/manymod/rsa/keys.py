# SPDX-License-Identifier: Apache-2.0
"""RSA keys."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import operator
import re
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod import _core
from manymod._run import Errors, Progress
from manymod._typing import Raising, Statuses
from manymod.errors import InvalidKeyError
from manymod.rsa._calls import KeyCalls
from manymod.rsa._typing import ByteBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Self

__all__ = ["PrivateKey", "PublicKey"]

_PEM = b"-----BEGIN"
_EXPONENT_BITS = _core.MM_RSA_EXPONENT_BITS


def _integer(name: str, value: Any) -> int | None:
    try:
        return None if value is None else operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def _exponent_bits(given: Any) -> int:
    """The longest public exponent to accept; all are below the modulus."""
    bits = operator.index(given)
    if bits < 2:
        raise ValueError(f"max_exponent_bits is {bits}, expected at least 2")
    return min(bits, _core.MM_RSA_MAX_BITS)


def _decoded(
    data: str | Buffer, password: str | Buffer | None, pem: bool, checks: int, exponent_bits: int
) -> _core.RsaKey:
    if isinstance(data, str) and not pem:
        raise TypeError("data must be bytes, not str: open the file with 'rb'")
    encoded = memoryview(data.encode() if isinstance(data, str) else data)
    if (re.search(_PEM, encoded) is not None) is not pem:
        raise InvalidKeyError("no PEM" if pem else "PEM, not DER: use from_pem")
    password = password.encode() if isinstance(password, str) else password
    return _core.RsaKey.decode(encoded, password, checks, _exponent_bits(exponent_bits))


def _foreign_numbers(key: Any, method: str) -> Any:
    """Return the numbers of a key of the cryptography package; keys of other kinds have the same methods."""
    numbers = getattr(key, method, None)
    if numbers is None or "RSA" not in type(key).__name__:
        kind = "RSAPrivateKey" if method == "private_numbers" else "RSAPublicKey"
        raise TypeError(f"key must be an {kind} of the cryptography package, not {type(key).__name__}")
    return numbers()


def _native(numbers: dict[str, Any], checks: int, exponent_bits: int) -> _core.RsaKey:
    given: dict[str, Any] = dict.fromkeys(("d", "p", "q", "dp", "dq", "qinv"))
    given.update({name: _integer(name, value) for name, value in numbers.items()})
    return _core.RsaKey.from_numbers(**given, checks=checks, max_exponent_bits=_exponent_bits(exponent_bits))


class _Key:
    """What private and public keys have in common."""

    def __init__(self, native: _core.RsaKey) -> None:
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
    def fingerprint(self) -> str:
        """The key's name: SHA-256 of its public numbers as RFC 7638 (JWK thumbprint) has them, base64url."""
        n, e = (base64.urlsafe_b64encode(number).rstrip(b"=").decode() for number in self._numbers)
        members = json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":"))
        return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()

    def __repr__(self) -> str:
        """Size and fingerprint; no number."""
        return f"{type(self).__name__}({self.key_size} bits, {self.fingerprint})"


class PublicKey(_Key):
    """An RSA public key of 1024 to 8192 bits.

    >>> key = PublicKey.from_numbers(n=2**1024 - 105, e=65537)
    >>> key.key_size, key.modulus_bytes, key.e
    (1024, 128, 65537)
    >>> key.verify([bytes(128)], [b"message"], "pkcs1v15", "sha256")
    [False]
    """

    @classmethod
    def from_pem(cls, data: str | Buffer, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
        """Read SubjectPublicKeyInfo or PKCS#1 from PEM, the text of a file.

        Args:
            data: the text of the file.
            max_exponent_bits: bits of the longest public exponent to accept. Verifying and encrypting take
                longer with a longer exponent, up to hundreds of times, and whoever made the key chose it.
                FIPS 186-5 allows 256; any exponent is below the modulus.

        Raises:
            InvalidKeyError: (a ValueError) if it is no RSA public key, or its exponent is too long; of a
                private key take `public_key`.
        """
        return cls._made(_decoded(data, None, True, 0, max_exponent_bits))

    @classmethod
    def from_der(cls, data: Buffer, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
        """Read SubjectPublicKeyInfo or PKCS#1 from DER. Otherwise as `from_pem`."""
        return cls._made(_decoded(data, None, False, 0, max_exponent_bits))

    @classmethod
    def from_cryptography(cls, key: Any, *, max_exponent_bits: int = _EXPONENT_BITS) -> Self:
        """Take the numbers of an ``RSAPublicKey`` of the cryptography package. Otherwise as `from_pem`."""
        numbers = _foreign_numbers(key, "public_numbers")
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

        >>> PublicKey.from_numbers(n=2**1024 - 105, e=2**64 + 1)
        Traceback (most recent call last):
        manymod.errors.InvalidKeyError: RSA key: e has 65 bits, but at most 64 are allowed (max_exponent_bits)
        >>> PublicKey.from_numbers(n=2**1024 - 105, e=2**64 + 1, max_exponent_bits=256).e.bit_length()
        65
        """
        return cls._made(_native({"n": n, "e": e}, 0, max_exponent_bits))

    @classmethod
    def _made(cls, native: _core.RsaKey) -> Self:
        if native.is_private:
            raise InvalidKeyError("a private key: read it with PrivateKey and take its public_key()")
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
        errors: Literal["false", "status"] = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def verify(
        self,
        signatures: Any,
        messages: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["false", "status"] = "false",
        progress: Progress | None = None,
    ) -> Any:
        """Whether each signature is good; as `KeyRing.verify` with this key for every item."""
        return self._calls.verify(signatures, messages, None, padding, algorithm, errors, progress)

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
        return self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the public numbers."""
        return _restored, (self.n, self.e)


def _restored(n: int, e: int) -> PublicKey:
    """The key of numbers that were accepted before."""
    return PublicKey.from_numbers(n=n, e=e, max_exponent_bits=_core.MM_RSA_MAX_BITS)


class PrivateKey(_Key):
    """An RSA private key of 1024 to 8192 bits.

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

        Args:
            data: the text of the file.
            password: of an encrypted key.
            check_primes: also test that p and q are prime, which takes as long as some hundred signatures.
                Where one is not, results are wrong as a rule, and have `Status.RSA_FAULT`.
            max_exponent_bits: bits of the longest public exponent to accept, with which every result is
                checked; as in `PublicKey.from_pem`.

        Raises:
            InvalidKeyError: (a ValueError) if it is no RSA private key, if its numbers contradict each other,
                if its public exponent is too long, or if the password is missing or wrong; it names
                encrypted, OpenSSH's and truncated PEM.
        """
        return cls._made(_decoded(data, password, True, _checks(check_primes), max_exponent_bits))

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
        return cls._made(_decoded(data, password, False, _checks(check_primes), max_exponent_bits))

    @classmethod
    def from_cryptography(
        cls, key: Any, *, check_primes: bool = False, max_exponent_bits: int = _EXPONENT_BITS
    ) -> Self:
        """Take the numbers of an ``RSAPrivateKey`` of the cryptography package. Otherwise as `from_pem`."""
        numbers = _foreign_numbers(key, "private_numbers")
        public = numbers.public_numbers
        return cls.from_numbers(
            n=public.n,
            e=public.e,
            d=numbers.d,
            p=numbers.p,
            q=numbers.q,
            dp=numbers.dmp1,
            dq=numbers.dmq1,
            qinv=numbers.iqmp,
            check_primes=check_primes,
            max_exponent_bits=max_exponent_bits,
        )

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
        check_primes: bool = False,
        max_exponent_bits: int = _EXPONENT_BITS,
    ) -> Self:
        """Make a key of its numbers.

        Args:
            n: the modulus.
            e: the public exponent.
            d: the private exponent.
            p: a prime factor of n; with `q` or not at all: then both are recovered.
            q: the other one.
            dp: d mod p - 1, else computed.
            dq: d mod q - 1, else computed.
            qinv: q^-1 mod p, else computed.
            check_primes: as in `from_pem`.
            max_exponent_bits: as in `from_pem`.

        Raises:
            InvalidKeyError: (a ValueError) if they are no key; it names the relation that does not hold.
        """
        names = {"n": n, "e": e, "d": d, "p": p, "q": q, "dp": dp, "dq": dq, "qinv": qinv}
        if d is None:
            raise TypeError("a private key needs d")
        return cls._made(_native(names, _checks(check_primes), max_exponent_bits))

    @classmethod
    def _made(cls, native: _core.RsaKey) -> Self:
        if not native.is_private:
            raise InvalidKeyError("a public key, where a private one is needed")
        return cls(native)

    def public_key(self) -> PublicKey:
        """The public half."""
        return _restored(self.n, self.e)

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
    return _core.MM_RSA_CHECK_PRIMES if check_primes else 0
