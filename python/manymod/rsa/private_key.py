# SPDX-License-Identifier: Apache-2.0
"""Private RSA keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod import _core
from manymod._byte_typing import ByteBatch
from manymod._run import Errors, Progress
from manymod._typing import Raising, Statuses
from manymod.errors import InvalidKeyError
from manymod.plan import checked_flag
from manymod.rsa._decode import decoded, foreign_numbers, native_key, private_numbers
from manymod.rsa._key import EXPONENT_BITS, Key
from manymod.rsa.public_key import PublicKey, restored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Self

__all__ = ["PrivateKey"]


class PrivateKey(Key):
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
        max_exponent_bits: int = EXPONENT_BITS,
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
        max_exponent_bits: int = EXPONENT_BITS,
    ) -> Self:
        """Read PKCS#8 or PKCS#1, encrypted or not, from DER. Otherwise as `from_pem`."""
        checks = _checks(check_primes)
        return cls._made(decoded(data, password, "der", _core.MM_RSA_KEY_PRIVATE, max_exponent_bits, checks))

    @classmethod
    def from_cryptography(
        cls, key: Any, *, check_primes: bool = False, max_exponent_bits: int = EXPONENT_BITS
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
        max_exponent_bits: int = EXPONENT_BITS,
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
        return restored(self.n, self.e, self._native.pss)

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
