# SPDX-License-Identifier: Apache-2.0
"""Hash functions, by name or as objects of the ``cryptography`` package."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from manymod import _core
from manymod.errors import CryptoError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

__all__ = [
    "CURVE_HASHES",
    "EXTENDABLE",
    "HASHES",
    "Prehashed",
    "hash_number",
    "hasher",
    "read_algorithm",
]

#: mm_hash of each hash that RSA has.
HASHES = {
    "sha1": _core.MM_SHA1,
    "sha224": _core.MM_SHA224,
    "sha256": _core.MM_SHA256,
    "sha384": _core.MM_SHA384,
    "sha512": _core.MM_SHA512,
    "sha512-224": _core.MM_SHA512_224,
    "sha512-256": _core.MM_SHA512_256,
    "sha3-224": _core.MM_SHA3_224,
    "sha3-256": _core.MM_SHA3_256,
    "sha3-384": _core.MM_SHA3_384,
    "sha3-512": _core.MM_SHA3_512,
    "shake128": _core.MM_SHAKE128,
    "shake256": _core.MM_SHAKE256,
}
#: Hashes that PSS alone has, with their own output as the mask (RFC 8702).
EXTENDABLE = {"shake128", "shake256"}
#: Those that curves have.
CURVE_HASHES = {name: number for name, number in HASHES.items() if name not in EXTENDABLE} | {
    "sm3": _core.MM_SM3
}


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace("/", "")


@functools.cache
def _by_plain_name(known: tuple[tuple[str, int], ...]) -> dict[str, int]:
    return {_plain(name): number for name, number in known}


def hash_number(algorithm: Any, what: str = "algorithm", known: Mapping[str, int] = HASHES) -> int:
    """The mm_hash of a name such as ``"sha256"``, or of a hash object of the cryptography package.

    >>> hash_number("SHA-512/256") == hash_number("sha512_256") == HASHES["sha512-256"]
    True
    """
    name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a hash's name or object, not {type(algorithm).__name__}")
    number = _by_plain_name(tuple(known.items())).get(_plain(name))
    if number is None:
        raise ValueError(f"{what} {name!r} is none of {', '.join(known)}")
    size = getattr(algorithm, "digest_size", None)
    if _plain(name) in EXTENDABLE and size not in {None, _core.hash_size(number)}:
        raise ValueError(f"{what} {name} has digests of {_core.hash_size(number)} bytes here, not {size}")
    return number


def hasher(algorithm: Any) -> Callable[[Buffer], bytes]:
    """The digest of a message by a hash, given by its name or object.

    The function that it returns raises CryptoError where libcrypto fails, as it does without memory.

    >>> hasher("sha-256")(b"abc").hex()[:16]
    'ba7816bf8f01cfea'
    """
    number = hash_number(algorithm)
    name = next(name for name, other in HASHES.items() if other == number)
    own_name = name.replace("-", "_").replace("shake", "shake_")
    made = getattr(hashlib, own_name, None) or functools.partial(hashlib.new, own_name)  # new() is slower
    if _plain(name) in EXTENDABLE:  # SHAKE128 and SHAKE256, whose digests PSS has of one length
        size = _core.hash_size(number)
        return _failing_by_crypto_error(lambda data: cast("Any", made(data)).digest(size))
    return _failing_by_crypto_error(lambda data: made(data).digest())


def _failing_by_crypto_error(digest: Callable[[Buffer], bytes]) -> Callable[[Buffer], bytes]:
    """The same function with another exception: of libcrypto's failures hashlib makes ValueErrors."""

    def digest_or_crypto_error(data: Buffer) -> bytes:
        try:
            return digest(data)
        except ValueError as error:
            raise CryptoError(f"hashing failed: {error}") from error

    return digest_or_crypto_error


@dataclass(frozen=True)
class Prehashed:
    """Takes the place of a hash where the caller has hashed: messages are digests by this hash.

    Digests of another length than the hash's are refused, but by ECDSA: it takes any length, and the leftmost
    bits of digests that are longer than the order of the curve.

    >>> Prehashed("sha256")
    Prehashed(algorithm='sha256')
    """

    algorithm: Any

    def __post_init__(self) -> None:
        hash_number(self.algorithm, known=HASHES | CURVE_HASHES)


def read_algorithm(algorithm: Any) -> tuple[Any, bool]:
    """The hash of a signature, and whether the caller has hashed already."""
    if isinstance(algorithm, Prehashed):
        return algorithm.algorithm, True
    kind = type(algorithm)
    if kind.__name__ == "Prehashed" and kind.__module__.startswith("cryptography."):
        return algorithm._algorithm, True
    return algorithm, False
