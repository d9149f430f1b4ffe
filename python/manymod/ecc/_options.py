# SPDX-License-Identifier: Apache-2.0
"""Options of calls on curves, and what the C ABI makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from manymod import _core
from manymod._byte_items import Items
from manymod._hashes import CURVE_HASHES, HASHES, hash_number, read_algorithm
from manymod.ecc._operands import byte_items, scalar_items
from manymod.plan import checked_flag, checked_integer

__all__ = [
    "BATCH_SCHEME",
    "CurveExchangeOptions",
    "CurveSignOptions",
    "CurveVerifyOptions",
    "PlanOptions",
    "PointEncoding",
    "Settings",
    "SignOptions",
    "SignatureOptions",
    "VerifyOptions",
    "check_keywords",
    "exchange_settings",
    "is_edwards",
    "point_settings",
    "point_width",
    "recover_settings",
    "sign_settings",
    "sm2_exchange_settings",
    "verify_settings",
]

PointEncoding = Literal["uncompressed", "compressed", "x"]
SignatureEncoding = Literal["raw", "der", "recoverable"]
SchemeName = Literal["ecdsa", "eddsa", "bip340", "sm2"]
Policy = Literal["rfc8032", "strict", "zip215"]


class PlanOptions(TypedDict, total=False):
    """Where to compute."""

    device: str
    variant: str | None
    threads: int


class SignatureOptions(TypedDict, total=False):
    """What signing and verifying have in common."""

    scheme: SchemeName | None
    algorithm: Any
    context: Any
    encoding: SignatureEncoding
    low_s: bool | None


class SignOptions(SignatureOptions, total=False):
    """How to sign."""

    nonces: Any
    check: bool


class VerifyOptions(SignatureOptions, total=False):
    """What is valid."""

    policy: Policy


class CurveSignOptions(SignOptions, PlanOptions, total=False):
    """How and where to sign."""


class CurveVerifyOptions(VerifyOptions, PlanOptions, total=False):
    """What is valid, and where to compute it."""


class CurveExchangeOptions(PlanOptions, total=False):
    """How and where to agree on secrets."""

    algorithm: Any


_SCHEMES = {
    None: _core.MM_ECC_DEFAULT,
    "ecdsa": _core.MM_ECC_ECDSA,
    "eddsa": _core.MM_ECC_EDDSA,
    "bip340": _core.MM_ECC_BIP340,
    "sm2": _core.MM_ECC_SM2DSA,
}
_NONCES = {"deterministic": _core.MM_ECC_NONCE_DETERMINISTIC, "hedged": _core.MM_ECC_NONCE_HEDGED}
_POLICIES = {
    "rfc8032": _core.MM_ECC_RFC8032,
    "strict": _core.MM_ECC_STRICT,
    "zip215": _core.MM_ECC_ZIP215,
}
_SIGNATURES = {
    "raw": _core.MM_ECC_RAW,
    "der": _core.MM_ECC_DER,
    "recoverable": _core.MM_ECC_RECOVERABLE,
}
_POINTS = {
    "uncompressed": _core.MM_ECC_UNCOMPRESSED,
    "compressed": _core.MM_ECC_COMPRESSED,
    "x": _core.MM_ECC_X_ONLY,
}
#: The hash of Ed25519ph and Ed448ph by the bits of the field (RFC 8032).
_EDWARDS_DIGESTS = {255: "sha512", 448: "shake256"}


#: Bytes of a digest that confirms a key of SM2, and of the longest key (ecc.h).
_CONFIRMATION, _LONGEST_KEY = 32, 65536


def _chosen(name: str, value: Any, choices: dict[Any, int]) -> int:
    if value not in tuple(choices):
        listed = ", ".join(repr(choice) for choice in choices if choice is not None)
        raise ValueError(f"{name} must be one of {listed}, not {value!r}")
    return choices[value]


@dataclass(frozen=True)
class Settings:
    """How a call computes."""

    native: _core.EccScheme
    #: bytes of the longest result
    width: int
    scheme: str | None = None
    policy: str = "rfc8032"
    #: whether all results by one curve have one length
    one_size: bool = True
    context: Items | None = None
    nonces: Items | None = None


def _native(
    *,
    scheme: int = _core.MM_ECC_DEFAULT,
    hash_function: int = _core.MM_HASH_NONE,
    prehashed: bool = False,
    nonces: int = _core.MM_ECC_NONCE_DETERMINISTIC,
    policy: int = _core.MM_ECC_RFC8032,
    signature: int = _core.MM_ECC_RAW,
    point: int = _core.MM_ECC_UNCOMPRESSED,
    low_s: int = 0,
    check: bool = True,
    key_bytes: int = 0,
    responder: bool = False,
    confirm: bool = False,
) -> _core.EccScheme:
    return _core.EccScheme(
        scheme,
        hash_function,
        prehashed,
        nonces,
        policy,
        signature,
        point,
        low_s,
        not check,
        key_bytes,
        responder,
        confirm,
    )


#: The scheme of operations that have none, such as key agreement.
BATCH_SCHEME = _native()


def check_keywords(name: str, options: Iterable[str], accepted: type) -> None:
    """Raise TypeError for a keyword of the function `name` that its TypedDict `accepted` does not have."""
    known: frozenset[str] = accepted.__optional_keys__  # type: ignore[attr-defined]
    for word in options:
        if word not in known:
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}")


def is_edwards(scheme: str | None, curves: Sequence[_core.EccCurve]) -> bool:
    """Whether signatures on these curves are EdDSA's."""
    return scheme == "eddsa" or (
        scheme is None and all(curve.form == _core.MM_ECC_EDWARDS for curve in curves)
    )


def _hash(scheme: str | None, algorithm: Any, curves: Sequence[_core.EccCurve]) -> tuple[int, bool]:
    """The mm_hash of a call, and whether its messages are digests."""
    if algorithm is None:
        return _core.MM_HASH_NONE, False
    name, prehashed = read_algorithm(algorithm)
    if scheme == "bip340":
        raise ValueError("BIP 340 has its own hash: leave out algorithm")
    if not is_edwards(scheme, curves):
        return hash_number(name, known=CURVE_HASHES), prehashed
    if not prehashed:
        raise ValueError("Ed25519 and Ed448 have their own hashes: leave out algorithm, or give Prehashed")
    for curve in curves:
        digest = _EDWARDS_DIGESTS.get(curve.field_bits)
        if digest is None:
            raise ValueError(f"{curve.name or 'the curve'} has no EdDSA, whose digests algorithm is for")
        if hash_number(name) != HASHES[digest]:
            raise ValueError(f"{curve.name or 'the curve'}: digests are by {digest}, not by {name}")
    return _core.MM_HASH_NONE, True


def _check_scheme(
    scheme: str | None,
    context: Any,
    encoding: str,
    low_s: bool | None,
    *,
    policy: str = "rfc8032",
    deterministic: bool = True,
) -> None:
    """Raise ValueError for options of other schemes than the one that is named."""
    if scheme == "bip340" and (context is not None or encoding != "raw" or low_s is not None):
        raise ValueError("BIP 340 has no context and one form of signatures: leave out encoding and low_s")
    for option, given, schemes in (
        ("context", context is not None, ("eddsa", "sm2")),
        ("low_s", low_s is not None, ("ecdsa",)),
        ("policy", policy != "rfc8032", ("eddsa",)),
        ("encoding", encoding != "raw", ("ecdsa", "sm2")),
        ("nonces", not deterministic, ("ecdsa", "sm2", "bip340")),
    ):
        if given and scheme is not None and scheme not in schemes:
            raise ValueError(f"{option} is an option of {', '.join(schemes)}, not of {scheme}: leave it out")


def _context(value: Any) -> Items | None:
    return None if value is None else byte_items("context", value)


def _nonces(value: Any, curves: Sequence[_core.EccCurve]) -> Items:
    sizes = {curve.scalar_bytes for curve in curves}
    return scalar_items("nonces", value, sizes.pop() if len(sizes) == 1 else None)


def _low_s(value: bool | None) -> int:
    if value is None:
        return 0
    return 1 if checked_flag("low_s", value) else -1


def _signature_width(encoding: str, curves: Sequence[_core.EccCurve]) -> int:
    """Bytes of the longest signature. DER: two INTEGERs, each with two bytes before it and perhaps a zero."""
    if encoding == "der":
        return max(2 * (curve.scalar_bytes + 3) for curve in curves) + 3
    return max(curve.signature_bytes for curve in curves) + (encoding == "recoverable")


def sign_settings(
    curves: Sequence[_core.EccCurve],
    *,
    scheme: str | None = None,
    algorithm: Any = None,
    context: Any = None,
    encoding: str = "raw",
    low_s: bool | None = None,
    nonces: Any = "deterministic",
    check: bool = True,
) -> Settings:
    """Settings of signing."""
    given = None if isinstance(nonces, str) else _nonces(nonces, curves)
    how = _core.MM_ECC_NONCE_GIVEN if given is not None else _chosen("nonces", nonces, _NONCES)
    number = _chosen("scheme", scheme, _SCHEMES)
    deterministic = how == _core.MM_ECC_NONCE_DETERMINISTIC
    _check_scheme(scheme, context, encoding, low_s, deterministic=deterministic)
    hash_function, prehashed = _hash(scheme, algorithm, curves)
    native = _native(
        scheme=number,
        hash_function=hash_function,
        prehashed=prehashed,
        nonces=how,
        signature=_chosen("encoding", encoding, _SIGNATURES),
        low_s=_low_s(low_s),
        check=checked_flag("check", check),
    )
    width = _signature_width(encoding, curves)
    one_size = encoding != "der"
    return Settings(native, width, scheme, one_size=one_size, context=_context(context), nonces=given)


def verify_settings(
    curves: Sequence[_core.EccCurve],
    *,
    scheme: str | None = None,
    algorithm: Any = None,
    context: Any = None,
    encoding: str = "raw",
    low_s: bool | None = None,
    policy: str = "rfc8032",
) -> Settings:
    """Settings of verifying."""
    number = _chosen("scheme", scheme, _SCHEMES)
    _check_scheme(scheme, context, encoding, low_s, policy=policy)
    hash_function, prehashed = _hash(scheme, algorithm, curves)
    native = _native(
        scheme=number,
        hash_function=hash_function,
        prehashed=prehashed,
        policy=_chosen("policy", policy, _POLICIES),
        signature=_chosen("encoding", encoding, _SIGNATURES),
        low_s=_low_s(low_s),
    )
    return Settings(native, 0, scheme, policy, context=_context(context))


def recover_settings(
    curves: Sequence[_core.EccCurve], algorithm: Any, low_s: bool | None, encoding: str
) -> Settings:
    """Settings of recovering keys, which are written in `encoding`."""
    hash_function, prehashed = _hash("ecdsa", algorithm, curves)
    native = _native(
        hash_function=hash_function,
        prehashed=prehashed,
        signature=_core.MM_ECC_RECOVERABLE,
        point=_chosen("encoding", encoding, _POINTS),
        low_s=_low_s(low_s),
    )
    return Settings(native, point_width(encoding, curves))


def exchange_settings(curves: Sequence[_core.EccCurve], algorithm: Any = None) -> Settings:
    """Settings of key agreement: secrets are digested by `algorithm`, unless that is None."""
    if algorithm is None:
        return Settings(BATCH_SCHEME, max(curve.coordinate_bytes for curve in curves))
    number = hash_number(algorithm, known=CURVE_HASHES)
    return Settings(_native(hash_function=number), _core.hash_size(number))


def sm2_exchange_settings(key_bytes: int, *, responder: bool, confirm: bool) -> Settings:
    """Settings of SM2 key exchanges."""
    size = checked_integer("key_bytes", key_bytes)
    if not 1 <= size <= _LONGEST_KEY:
        raise ValueError(f"key_bytes must be 1 to {_LONGEST_KEY}, not {size}")
    native = _native(
        nonces=_core.MM_ECC_NONCE_GIVEN,
        key_bytes=size,
        responder=checked_flag("responder", responder),
        confirm=checked_flag("confirm", confirm),
    )
    return Settings(native, size + (2 * _CONFIRMATION if confirm else 0))


def point_width(encoding: str, curves: Sequence[_core.EccCurve]) -> int:
    """Bytes of the longest point."""
    weierstrass = [curve for curve in curves if curve.form == _core.MM_ECC_WEIERSTRASS]
    others = [curve.public_bytes for curve in curves if curve.form != _core.MM_ECC_WEIERSTRASS]
    sizes = {"uncompressed": (2, 1), "compressed": (1, 1), "x": (1, 0)}
    coordinates, prefix = sizes.get(encoding, (2, 1))
    return max([*(coordinates * curve.coordinate_bytes + prefix for curve in weierstrass), *others])


def point_settings(curves: Sequence[_core.EccCurve], encoding: str) -> Settings:
    """Settings of operations whose results are points."""
    return Settings(_native(point=_chosen("encoding", encoding, _POINTS)), point_width(encoding, curves))
