# SPDX-License-Identifier: Apache-2.0
"""Keys of the extension from PEM, DER and OpenSSH's format."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from manymod import _core
from manymod._key_files import contents_of, is_pem
from manymod.errors import InvalidKeyError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["decoded", "foreign_numbers", "native_key", "private_numbers"]

#: What the messages of errors begin with.
_TITLE = "RSA key: "
#: Base64 has no dash, so that one block ends before the next begins, and a search takes linear time.
_OPENSSH = re.compile(rb"-----BEGIN OPENSSH PRIVATE KEY-----[^-]*-----END OPENSSH PRIVATE KEY-----")
_OPENSSH_PUBLIC = re.compile(rb"\s*ssh-rsa(-cert-v01@openssh\.com)?\s")
#: Part of the message about an encryption that only OpenSSL's provider of old algorithms has.
_NOT_PROVIDED = "libcrypto does not provide"
_CONVERT = "convert it with ssh-keygen -p -m PEM, or install cryptography (pip install cryptography)"


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
    if form == "der" and is_pem(encoded):
        raise InvalidKeyError("RSA key: PEM, not DER: use from_pem")
    if form != "der" and (openssh := _openssh(encoded, secret, kind)) is not None:
        return _of_cryptography(openssh, exponent_bits, checks)
    try:
        key = _core.RsaKey.decode(encoded, secret, checks, _allowed(exponent_bits), kind)
    except InvalidKeyError as error:
        old = None
        if secret is not None and _NOT_PROVIDED in str(error):
            old = _old_encryption(bytes(encoded), bytes(secret))
        if old is None:
            raise
        return _of_cryptography(old, exponent_bits, checks)
    if form == "pem" and not is_pem(encoded):
        raise InvalidKeyError("RSA key: DER, not PEM: use from_der")
    return key


def _openssh(encoded: memoryview, password: memoryview | None, kind: int) -> Any:
    """The key of OpenSSH's private or public format, read by cryptography; None if there is none."""
    private = _OPENSSH.search(encoded)
    if private is None and not _OPENSSH_PUBLIC.match(encoded):
        return None
    found, wanted = ("public", "private") if private is None else ("private", "public")
    if kind == (_core.MM_RSA_KEY_PRIVATE if private is None else _core.MM_RSA_KEY_PUBLIC):
        raise InvalidKeyError(f"RSA key: a {found} key, where a {wanted} one is needed")
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    except ImportError:
        raise InvalidKeyError(f"RSA key: an OpenSSH key: {_CONVERT}") from None
    try:
        if private is None:
            return serialization.load_ssh_public_key(bytes(encoded).strip())
        secret = None if password is None else bytes(password)
        return serialization.load_ssh_private_key(private[0], secret)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        hint = " (pip install bcrypt)" if "bcrypt" in str(error) else ""
        raise InvalidKeyError(f"RSA key: an OpenSSH key that cannot be read: {error}{hint}") from None


def _old_encryption(encoded: bytes, password: bytes) -> Any:
    """The key by the cryptography package, if that has the encryption that libcrypto does not provide."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    except ImportError:
        return None
    load = serialization.load_pem_private_key if is_pem(encoded) else serialization.load_der_private_key
    try:
        return load(encoded, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def _of_cryptography(key: Any, exponent_bits: int, checks: int) -> _core.RsaKey:
    if "RSA" not in type(key).__name__:
        raise InvalidKeyError(f"RSA key: not RSA: {type(key).__name__}")
    if hasattr(key, "private_numbers"):
        return native_key(private_numbers(key.private_numbers()), exponent_bits, checks)
    numbers = key.public_numbers()
    return native_key({"n": numbers.n, "e": numbers.e}, exponent_bits)


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
