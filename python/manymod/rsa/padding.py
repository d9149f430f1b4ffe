# SPDX-License-Identifier: Apache-2.0
"""Paddings of RSA, by name or as objects of the ``cryptography`` package."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, cast

from manymod import _core
from manymod._hashes import EXTENDABLE, HASHES, hash_number, read_algorithm

__all__ = ["NO_PADDING", "Padding", "PssLimits", "Purpose", "native_padding", "pss_limits"]

#: mm_rsa_scheme of each padding.
_SCHEMES = {
    "raw": _core.MM_RSA_RAW,
    "pkcs1v15": _core.MM_RSA_PKCS1V15,
    "pss": _core.MM_RSA_PSS,
    "oaep": _core.MM_RSA_OAEP,
}
#: MM_RSA_SALT_* of each name.
_SALT_LENGTHS = {
    "digest": _core.MM_RSA_SALT_DIGEST,
    "auto": _core.MM_RSA_SALT_AUTO,
    "max": _core.MM_RSA_SALT_MAX,
}
_MAX_SALT_LENGTH = _core.MM_RSA_MAX_BITS // 8

#: ``name`` of the paddings of the cryptography package.
_FOREIGN_SCHEMES = {"EMSA-PKCS1-v1_5": "pkcs1v15", "EMSA-PSS": "pss", "EME-OAEP": "oaep"}

#: The parameters of each padding.
_OPTIONS = {"pkcs1v15": (), "pss": ("mgf", "salt_length"), "oaep": ("algorithm", "mgf", "label")}

Purpose = Literal["sign", "verify", "encrypt"]

_SIGNING = ("pkcs1v15", "pss")
_ENCRYPTING = ("pkcs1v15", "oaep")


@dataclass(frozen=True)
class Padding:
    """A padding and its parameters, for programs without the cryptography package.

    Attributes:
        scheme: ``"pkcs1v15"`` (signatures, encryption), ``"pss"`` (signatures) or ``"oaep"`` (encryption).
        algorithm: OAEP's hash of the label. Signatures get their hash with the call.
        mgf: hash of MGF1 (PSS, OAEP); None: the same as the hash of the messages or the label. SHAKE has its
            own mask and no other.
        salt_length: PSS: bytes, ``"digest"`` (as long as the digest), ``"max"`` (as long as fits) or
            ``"auto"`` (verification only: the length found in the signature).
        label: OAEP's label.

    A parameter that the scheme does not have is a ValueError.

    >>> Padding("pss", salt_length="max").salt_length
    'max'
    """

    scheme: Literal["pkcs1v15", "pss", "oaep"]
    algorithm: Any = "sha256"
    mgf: Any = None
    salt_length: int | Literal["digest", "max", "auto"] = "digest"
    label: bytes = b""

    def __post_init__(self) -> None:
        if self.scheme not in _FOREIGN_SCHEMES.values():
            raise ValueError(f"scheme {self.scheme!r} is none of pkcs1v15, pss, oaep")
        if not isinstance(self.label, bytes):
            raise TypeError(f"label must be bytes, not {type(self.label).__name__}")
        for option in dataclasses.fields(self)[1:]:
            if option.name not in _OPTIONS[self.scheme] and getattr(self, option.name) != option.default:
                raise ValueError(f"{self.scheme} has no {option.name}")
        self.native_salt_length()
        hash_number(self.algorithm)
        if self.mgf is not None:
            hash_number(self.mgf, "mgf")

    def native_salt_length(self) -> int:
        """The salt length as the C ABI has it.

        Raises:
            TypeError: if it is neither an int nor a str.
            ValueError: if it is another str, or out of range.
        """
        if isinstance(self.salt_length, str):
            if self.salt_length not in _SALT_LENGTHS:
                raise ValueError(f"salt_length {self.salt_length!r} is none of digest, max, auto")
            return _SALT_LENGTHS[self.salt_length]
        if isinstance(self.salt_length, bool) or not isinstance(self.salt_length, int):
            raise TypeError(f"salt_length must be an int or a str, not {type(self.salt_length).__name__}")
        if not 0 <= self.salt_length <= _MAX_SALT_LENGTH:
            raise ValueError(f"salt_length {self.salt_length} is not within 0 to {_MAX_SALT_LENGTH}")
        return self.salt_length


@dataclass(frozen=True)
class PssLimits:
    """What a key for RSASSA-PSS alone may be used for (id-RSASSA-PSS, RFC 4055); no other padding will do.

    Attributes:
        algorithm: the only hash of messages; None: any.
        mgf: the only hash of the mask; None: any.
        salt_length: least length of salts in bytes.
    """

    algorithm: str | None = None
    mgf: str | None = None
    salt_length: int = 0

    def native(self) -> tuple[int, int, int, int]:
        """As the C ABI has it."""
        algorithm, mgf = (0 if name is None else hash_number(name) for name in (self.algorithm, self.mgf))
        return 1, algorithm, mgf, self.salt_length


def pss_limits(key: _core.RsaKey) -> PssLimits | None:
    """The limits of a key for RSASSA-PSS alone, None for other keys."""
    only, algorithm, mgf, salt_length = key.pss
    names = {number: name for name, number in HASHES.items()}
    return PssLimits(names.get(algorithm), names.get(mgf), salt_length) if only else None


def _foreign_salt_length(length: Any) -> Any:
    """A salt length of the cryptography package, whose named ones are objects."""
    from cryptography.hazmat.primitives.asymmetric import padding  # noqa: PLC0415 (optional)

    named = (
        (padding.PSS.MAX_LENGTH, "max"),
        (padding.PSS.AUTO, "auto"),
        (padding.PSS.DIGEST_LENGTH, "digest"),
    )
    return next((name for constant, name in named if length is constant), length)


def _read_padding(padding: Any) -> Padding:
    """Return the `Padding` of a name or of a padding of the cryptography package."""
    if isinstance(padding, Padding):
        return padding
    if isinstance(padding, str):
        return Padding(cast("Any", padding))
    scheme = _FOREIGN_SCHEMES.get(getattr(padding, "name", ""))
    if scheme is None:
        raise TypeError(f"padding must be a Padding, or one of the cryptography package, not {padding!r}")
    if scheme == "pkcs1v15":
        return Padding("pkcs1v15")
    # Neither the salt length nor the label, nor before version 42 any of the rest, has a public name.
    mgf = padding._mgf._algorithm
    if scheme == "pss":
        return Padding("pss", mgf=mgf, salt_length=_foreign_salt_length(padding._salt_length))
    return Padding("oaep", algorithm=padding._algorithm, mgf=mgf, label=padding._label or b"")


def _check_extendable(scheme: str, digest: int, mgf: int) -> None:
    extendable = {HASHES[name] for name in EXTENDABLE}
    if scheme != "pss" and extendable & {digest, mgf}:
        raise ValueError("shake128 and shake256 are for PSS alone")
    if mgf not in {0, digest} and extendable & {digest, mgf}:
        raise ValueError("the mask of shake128 and shake256 is their own output: leave out mgf (RFC 8702)")


def native_padding(padding: Any, algorithm: Any, purpose: Purpose) -> _core.RsaPadding:
    """The padding of a call, as the C ABI has it.

    Args:
        padding: a `Padding`, a scheme's name, or a padding of the cryptography package; or what this function
            returned before, which includes the algorithm and the purpose.
        algorithm: for signatures: hash of the messages, or `Prehashed` of one (of either package).
        purpose: what it is for; decryption has what encryption has.
    """
    if isinstance(padding, _core.RsaPadding):
        return padding
    given, signature = _read_padding(padding), purpose != "encrypt"
    if given.scheme not in (_SIGNING if signature else _ENCRYPTING):
        raise ValueError(f"{given.scheme} is no padding for {'signatures' if signature else 'encryption'}")
    if purpose == "sign" and given.scheme == "pss" and given.salt_length == "auto":
        raise ValueError("salt_length auto is for verification alone")
    algorithm, prehashed = read_algorithm(algorithm)
    digest = 0
    if signature:
        digest = hash_number(algorithm)
    elif given.scheme == "oaep":
        digest = hash_number(given.algorithm)
    mgf = hash_number(given.mgf, "mgf") if given.mgf is not None and given.scheme != "pkcs1v15" else 0
    _check_extendable(given.scheme, digest, mgf)
    salt_length = given.native_salt_length() if given.scheme == "pss" else 0
    label = given.label if given.scheme == "oaep" else b""
    return _core.RsaPadding(_SCHEMES[given.scheme], digest, mgf, salt_length, prehashed, label)


#: The padding of operations that have none.
NO_PADDING = _core.RsaPadding(_SCHEMES["raw"], 0, 0, 0, False, b"")
