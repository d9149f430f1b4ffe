# SPDX-License-Identifier: Apache-2.0
"""Keys of the extension from PEM, DER and OpenSSH's format."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from manymod import _core
from manymod._key_files import contents_of, is_pem
from manymod._openssh import PRIVATE_BLOCK, load_private, load_public, public_key_of
from manymod.errors import InvalidKeyError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["decoded", "foreign_numbers", "native_key", "private_numbers"]

#: What the messages of errors begin with.
_TITLE = "RSA key: "
_OPENSSH_PUBLIC = public_key_of("ssh-rsa")
#: Beginnings of the cryptography package's messages about what a wrong password decrypts.
_WRONG_PASSWORD = ("Incorrect password", "Could not deserialize")


def decoded(
    data: str | Buffer,
    password: str | Buffer | None,
    form: Literal["pem", "der", "any"],
    kind: int,
    exponent_bits: int,
    checks: int = 0,
) -> _core.RsaKey:
    """Read a key.

    Args:
        data: the contents of a file.
        password: of an encrypted private key.
        form: what it must be; "pem" includes OpenSSH's format.
        kind: an mm_rsa_key_kind.
        exponent_bits: longest public exponent to accept, in bits.
        checks: flags of the C ABI.

    Raises:
        InvalidKeyError: if it is not such a key; the message says what was found.
    """
    encoded = contents_of("data", data, title=_TITLE, text=form != "der")
    secret = None if password is None else contents_of("password", password, title=_TITLE)
    reader = _Reader(secret, _allowed(exponent_bits), checks)
    pem = is_pem(encoded)
    if form == "der" and pem:
        raise InvalidKeyError("RSA key: PEM, not DER: use from_pem")
    line = None if form == "der" else _OPENSSH_PUBLIC.match(encoded)
    if line and (kind == _core.MM_RSA_KEY_PUBLIC or not pem):
        if kind == _core.MM_RSA_KEY_PRIVATE:
            raise InvalidKeyError("RSA key: a public key, where a private one is needed")
        return reader.of_cryptography(_rsa(load_public(line["key"], _TITLE)))
    if pem:
        return reader.of_blocks(encoded, kind)
    key = reader.of_libcrypto(encoded, kind)
    if isinstance(key, _Unread):
        raise InvalidKeyError(key.message)
    if form == "pem":
        raise InvalidKeyError("RSA key: DER, not PEM: use from_der")
    return key


class _Unread(NamedTuple):
    """Why no key could be read, as opposed to a key that was read and is refused."""

    reason: int  #: an mm_rsa_unread_reason
    message: str
    begin: int  #: of the part of the encoding that the reason is about
    end: int


@dataclass(frozen=True)
class _Reader:
    """Reads keys with a password, by the rules that the arguments of `decoded` give."""

    password: memoryview | None
    exponent_bits: int
    checks: int

    def of_libcrypto(self, encoded: memoryview, kind: int) -> _core.RsaKey | _Unread:
        """The key that libcrypto reads, or the cryptography package if libcrypto lacks the encryption.

        Raises:
            InvalidKeyError: if a key was read, and is refused.
        """
        key = _core.RsaKey.decode(encoded, self.password, self.checks, self.exponent_bits, kind)
        if isinstance(key, _core.RsaKey):
            return key
        unread = _Unread(*key)
        if unread.reason != _core.MM_RSA_UNREAD_ENCRYPTION:
            return unread
        try:
            old = _old_encryption(bytes(encoded.cast("B")[unread.begin : unread.end]), self.password)
        except InvalidKeyError as error:
            return unread._replace(message=str(error))
        return unread if old is None else self.of_cryptography(old)

    def of_blocks(self, encoded: memoryview, kind: int) -> _core.RsaKey:
        """The key of a text of PEM, some of whose blocks may have OpenSSH's format."""
        unread: InvalidKeyError | None = None
        if kind == _core.MM_RSA_KEY_PUBLIC:
            unread = InvalidKeyError("RSA key: a private key, where a public one is needed")
        else:
            for block in PRIVATE_BLOCK.finditer(encoded):
                try:
                    key = _rsa(load_private(block[0], self.password, _TITLE))
                except InvalidKeyError as error:  # passed over, as libcrypto's reader does
                    unread = unread or error
                    continue
                earlier = self._private_key_of(encoded.cast("B")[: block.start()])
                return earlier or self.of_cryptography(key)
        found = self.of_libcrypto(encoded, kind)
        if not isinstance(found, _Unread):
            return found
        if unread is not None and found.reason == _core.MM_RSA_UNREAD_OPENSSH:
            raise unread
        raise InvalidKeyError(found.message)

    def _private_key_of(self, text: memoryview) -> _core.RsaKey | None:
        """The first private key of a text that libcrypto's reader can read; None if there is none."""
        if not is_pem(text):
            return None
        found = self.of_libcrypto(text, _core.MM_RSA_KEY_PRIVATE)
        return None if isinstance(found, _Unread) else found

    def of_cryptography(self, key: Any) -> _core.RsaKey:
        """An RSA key of the cryptography package."""
        if hasattr(key, "private_numbers"):
            return native_key(private_numbers(key.private_numbers()), self.exponent_bits, self.checks)
        numbers = key.public_numbers()
        return native_key({"n": numbers.n, "e": numbers.e}, self.exponent_bits)


def _old_encryption(encoded: bytes, password: memoryview | None) -> Any:
    """The RSA key by the cryptography package, if that has the encryption that libcrypto does not provide.

    Raises:
        InvalidKeyError: if it has the encryption, and the password is missing or wrong or the key is not RSA.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    except ImportError:
        return None
    load = serialization.load_pem_private_key if is_pem(encoded) else serialization.load_der_private_key
    secret = b"" if password is None else bytes(password)
    try:
        # That package looks at the encryption only if there is a password, which must not be empty.
        key = load(encoded, secret or b"?")
    except (TypeError, UnsupportedAlgorithm):  # TypeError: to that package it is not encrypted
        return None
    except ValueError as error:
        if not str(error).startswith(_WRONG_PASSWORD):  # but for instance "Unknown key encryption algorithm"
            return None
        key = None
    if password is None:
        raise InvalidKeyError("RSA key: encrypted: its password is needed")
    if key is None or not secret:
        raise InvalidKeyError("RSA key: encrypted: its password is wrong")
    return _rsa(key)


def _rsa(key: Any) -> Any:
    """A key of the cryptography package, if it is RSA.

    Raises:
        InvalidKeyError: if it is not.
    """
    if "RSA" not in type(key).__name__:
        raise InvalidKeyError(f"RSA key: not RSA: {type(key).__name__}")
    return key


def foreign_numbers(key: Any, method: str) -> Any:
    """Return the numbers of a key of the cryptography package; keys of other kinds have the same methods."""
    numbers = getattr(key, method, None)
    if numbers is None or "RSA" not in type(key).__name__:
        kind = "RSAPrivateKey" if method == "private_numbers" else "RSAPublicKey"
        raise TypeError(f"key must be an {kind} of the cryptography package, not {type(key).__name__}")
    return numbers()


def private_numbers(numbers: Any) -> dict[str, Any]:
    """The numbers of an ``RSAPrivateNumbers`` of the cryptography package by our names."""
    public = numbers.public_numbers
    names = {"p": numbers.p, "q": numbers.q, "dp": numbers.dmp1, "dq": numbers.dmq1, "qinv": numbers.iqmp}
    return {"n": public.n, "e": public.e, "d": numbers.d, **names}


def _allowed(exponent_bits: Any) -> int:
    """The longest public exponent to accept; all are below the modulus."""
    bits = operator.index(exponent_bits)
    if bits < 2:
        raise ValueError(f"max_exponent_bits is {bits}, expected at least 2")
    return min(bits, _core.MM_RSA_MAX_BITS)


def _integer(name: str, value: Any) -> int:
    """A number of a key, of any integer type.

    Raises:
        TypeError: if it is no integer.
        InvalidKeyError: if it is negative.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if number < 0:
        raise InvalidKeyError(f"RSA key: {name} is negative")
    return number


def native_key(
    numbers: dict[str, Any],
    exponent_bits: int,
    checks: int = 0,
    others: Sequence[Any] = (),
    pss: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> _core.RsaKey:
    """A key of numbers; those that are missing or None are computed, except n and e.

    Args:
        numbers: by name, as `PrivateKey.from_numbers` has them.
        exponent_bits: longest public exponent to accept, in bits.
        checks: flags of the C ABI.
        others: primes besides p and q.
        pss: fields of an mm_rsa_pss_limits.
    """
    given: dict[str, Any] = dict.fromkeys(("d", "p", "q", "dp", "dq", "qinv"))
    for name, value in numbers.items():
        if value is not None or name in {"n", "e"}:
            given[name] = _integer(name, value)
    primes = [(_integer("a prime", prime), None, None) for prime in others]
    rules = {"checks": checks, "max_exponent_bits": _allowed(exponent_bits)}
    return _core.RsaKey.from_numbers(**given, others=primes, pss=pss, **rules)
