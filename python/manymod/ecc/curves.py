# SPDX-License-Identifier: Apache-2.0
"""Curves: keys and points as byte strings, one for each item."""

from __future__ import annotations

import secrets as randomness
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._run import Errors, Progress
from manymod.ecc._agreement import KeyAgreement
from manymod.ecc._calls import calls_with, split_options
from manymod.ecc._operands import byte_items, scalar_items
from manymod.ecc._options import (
    CurveSignOptions,
    CurveVerifyOptions,
    PointEncoding,
    point_settings,
    recover_settings,
    sign_settings,
    verify_settings,
)
from manymod.errors import InternalError, InvalidKeyError, Status
from manymod.plan import checked_integer

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from manymod._byte_typing import VerdictsAlone, VerifyErrors
    from manymod._typing import Raising, Statuses
    from manymod.ecc._options import PlanOptions

__all__ = ["NO_KEYS", "Curve", "named_curves"]

#: Why there is no key on a curve.
NO_KEYS = "Edwards curves of your own have no keys: EdDSA is for Ed25519 and Ed448"

#: Rounds after which random secrets that are all out of range mean that randomness is broken: each is in
#: range with a probability of more than 1/2.
_MOST_ROUNDS = 256


class Curve(KeyAgreement):
    """An elliptic curve: one of the module's, such as `P256`, or one of your own.

    Its methods take and return byte strings, one for each item: a bytes object, a list or 1-D array of them,
    ``uint8[N, W]``, an Arrow binary array, or a column of pandas or polars. The answer comes in the kind of
    the first argument of which there are many; one bytes object, such as a key, stands for all items. For
    keys of files, and for calls with keys of several curves, see `Key` and `KeyRing`.

    All methods take the keywords `device`, `variant` and `threads`, as the functions of `manymod`.

    Args:
        p: the prime of the field.
        a: coefficient of y^2 = x^3 + a x + b, or of a x^2 + y^2 = 1 + b x^2 y^2 on an Edwards curve.
        b: the other one.
        generator: its coordinates (x, y).
        n: the generator's order, an odd prime.
        cofactor: the number of points is n times it.
        form: ``"weierstrass"``, or ``"edwards"`` for a complete twisted Edwards curve.

    Raises:
        InvalidKeyError: (a ValueError) if these are no curve: p and n must be prime, the curve not singular,
            and the generator on it and of order n.

    >>> tiny = Curve(p=1009, a=1, b=6, generator=(3, 6), n=9941)
    Traceback (most recent call last):
    manymod.errors.InvalidKeyError: ...
    """

    def generate(
        self, count: int, **options: Unpack[PlanOptions]
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Make private keys of the operating system's randomness, and their public keys.

        Returns:
            ``uint8[count, secret_bytes]`` and ``uint8[count, public_bytes]``. Write zeros over the first when
            you are done with it.

        Raises:
            InvalidKeyError: if the curve has no keys.
            InternalError: if no random number is a private key: the operating system's randomness is none.

        >>> from manymod.ecc import P256
        >>> secrets, public_keys = P256.generate(3)
        >>> secrets.shape, public_keys.shape
        ((3, 32), (3, 65))
        """
        number = checked_integer("count", count)
        if number < 0:
            raise ValueError(f"count must be at least 0, not {number}")
        number = min(number, 1 << 32)  # which no memory holds
        size = self.secret_bytes
        # Random strings are cut to the length of the order, where keys are numbers below it.
        excess = 8 * size - self.order_bits if self.form == "weierstrass" else 0
        secrets = np.zeros((number, size), np.uint8)
        public_keys = np.zeros((number, self.public_bytes), np.uint8)
        missing = np.arange(number)
        for _ in range(_MOST_ROUNDS):
            if not len(missing):
                return secrets, public_keys
            drawn = np.frombuffer(bytearray(randomness.token_bytes(len(missing) * size)), np.uint8)
            drawn = drawn.reshape(len(missing), size)
            drawn[:, : excess // 8] = 0
            drawn[:, excess // 8] &= 0xFF >> excess % 8
            made, status = self.public_keys(drawn, errors="status", **options)
            secrets[missing], public_keys[missing] = drawn, made
            drawn.fill(0)
            if Status.ECC_CURVE in status:
                raise InvalidKeyError(NO_KEYS)
            missing = missing[status != Status.OK]
        raise InternalError("no random number is a private key")

    def public_keys(
        self,
        secrets: Any,
        *,
        encoding: PointEncoding = "uncompressed",
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """The public keys of private keys. Timing class: secret.

        Args:
            secrets: private keys: big-endian numbers 0 < d < n of `secret_bytes` bytes, or ints; for Ed25519,
                X25519, Ed448 and X448 the strings of RFC 8032 and RFC 7748.
            encoding: of Weierstrass curves (SEC 1): ``"uncompressed"``, ``"compressed"``, or ``"x"``, the x
                coordinate alone, as BIP 340 has it.
            errors: ``"raise"``, or ``"status"``, which raises nothing for an item and returns a pair of the
                answer and one `manymod.Status` per item.
            out: a list for a list, ``uint8[N, W]`` for ``uint8[N, W]``, to write into.
            progress: called with the number of items done and in all.
            **options: `device`, `variant`, `threads`.

        Raises:
            ItemValueError: (a ValueError) if one is no private key; it names the items.

        >>> from manymod.ecc import SECP256K1
        >>> SECP256K1.public_keys(1, encoding="x").hex()
        '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
        """
        operands = {"secrets": scalar_items("secrets", secrets, self.secret_bytes)}
        settings = point_settings([self.native], encoding)
        return calls_with("public_keys", self, options).run(
            "public_keys",
            _core.MM_ECC_PUBLIC_KEY,
            settings,
            operands,
            errors=errors,
            out=out,
            progress=progress,
        )

    @overload
    def sign(
        self,
        secrets: Buffer | int,
        messages: Buffer,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveSignOptions],
    ) -> bytes: ...

    @overload
    def sign(
        self,
        secrets: Any,
        messages: list[bytes],
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveSignOptions],
    ) -> list[bytes]: ...

    @overload
    def sign(
        self,
        secrets: Any,
        messages: list[bytes],
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveSignOptions],
    ) -> tuple[list[bytes], Statuses]: ...

    @overload
    def sign(
        self,
        secrets: Any,
        messages: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveSignOptions],
    ) -> Any: ...

    def sign(
        self,
        secrets: Any,
        messages: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[CurveSignOptions],
    ) -> Any:
        """Sign messages. Timing class: secret.

        Args:
            secrets: private keys, as in `public_keys`; one for all messages, or one for each.
            messages: what is signed; they decide the kind of the answer.
            errors: as in `public_keys`.
            out: likewise.
            progress: likewise.
            **options: `device`, `variant` and `threads`, and:

                - `scheme`: ``"ecdsa"``, ``"eddsa"``, ``"sm2"`` or ``"bip340"``; by default the one that is
                  usual on the curve, which on secp256k1 is ECDSA.
                - `algorithm`: the hash, by name or as an object of the cryptography package, or
                  `Prehashed` where the messages are digests. By default SM3 with SM2, else by the bits of
                  the order: SHA-256 up to 256, SHA-384 up to 384, SHA-512 above. EdDSA and BIP 340 have
                  their own; Ed25519 and Ed448 take ``Prehashed("sha512")`` and ``Prehashed("shake256")``
                  for Ed25519ph and Ed448ph.
                - `context`: bytes: the context of EdDSA, the signer's id of SM2.
                - `encoding`: ``"raw"``: r || s; ``"der"``; or ``"recoverable"``: r || s || v, with a
                  recovery id v of 0 to 3.
                - `nonces`: ``"deterministic"`` (RFC 6979); ``"hedged"``: with fresh randomness besides,
                  which protects against faults that are caused on purpose; or numbers 0 < k < n, bytes or
                  ints, one for each item, which must be secret and never used twice: two signatures with
                  one nonce give the key away. BIP 340: 32 bytes of auxiliary randomness in their place.
                - `low_s`: whether ECDSA's s is at most n / 2; by default it is on secp256k1 alone.
                - `check`: whether signatures with deterministic nonces are verified before they are
                  returned, True by default: a faulty one would reveal the key.

        Returns:
            Signatures in the kind of the messages (bytes, a list, an array of them, an Arrow array or a
            column). For ``uint8[N, W]`` it is the same, but a list with ``"der"``, where lengths differ.

        Raises:
            ItemValueError: (a ValueError) if a private key or a given nonce is out of range, or the curve
                does not have the scheme or an option; it names the items.
            ItemError: if a signature was computed wrongly, which only defective hardware does.
            ValueError: if lengths differ, or an option has an unknown value.
            TypeError: if an argument is of no accepted kind.
            VariantError: if the variant is unknown or cannot do this.

        >>> from manymod.ecc import ED25519
        >>> signature = ED25519.sign(bytes(32), b"message")
        >>> ED25519.verify(ED25519.public_keys(bytes(32)), signature, b"message")
        True
        """
        calls, how = split_options("sign", self, options, CurveSignOptions)
        settings = sign_settings(calls.curves, **how)
        operands = {
            "messages": byte_items("messages", messages),
            "secrets": scalar_items("secrets", secrets, self.secret_bytes),
        }
        return calls.run(
            "sign", _core.MM_ECC_SIGN, settings, operands, errors=errors, out=out, progress=progress
        )

    @overload
    def verify(
        self,
        public_keys: Buffer,
        signatures: Buffer,
        messages: Buffer,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> bool: ...

    @overload
    def verify(
        self,
        public_keys: Any,
        signatures: list[bytes],
        messages: Any,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> list[bool]: ...

    @overload
    def verify(
        self,
        public_keys: Any,
        signatures: list[bytes],
        messages: Any,
        *,
        errors: Literal["status"],
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> tuple[list[bool], Statuses]: ...

    @overload
    def verify(
        self,
        public_keys: Any,
        signatures: NDArray[np.uint8],
        messages: Any,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> NDArray[np.bool_]: ...

    @overload
    def verify(
        self,
        public_keys: Any,
        signatures: NDArray[np.uint8],
        messages: Any,
        *,
        errors: Literal["status"],
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> tuple[NDArray[np.bool_], Statuses]: ...

    @overload
    def verify(
        self,
        public_keys: Any,
        signatures: Any,
        messages: Any,
        *,
        errors: VerifyErrors = ...,
        progress: Progress | None = ...,
        **options: Unpack[CurveVerifyOptions],
    ) -> Any: ...

    def verify(
        self,
        public_keys: Any,
        signatures: Any,
        messages: Any,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        **options: Unpack[CurveVerifyOptions],
    ) -> Any:
        """Whether each signature is good; False for what is no signature or no key. Timing class: public.

        Args:
            public_keys: points in any encoding; with BIP 340 x alone. One for all items, or one for each.
            signatures: as `sign` made them; they decide the kind of the answer.
            messages: one for all items, or one for each.
            errors: items that cannot be checked (a bad key, a bad encoding, a wrong length) are False too,
                and with ``"status"`` have a `Status`; ``"raise"``: `ItemValueError` names them.
            progress: as in `public_keys`.
            **options: as in `sign`, without `nonces` and `check`, and:

                - `low_s`: True: s > n / 2 is not valid, which is so by default on secp256k1 alone.
                - `policy`: of Ed25519 and Ed448: ``"rfc8032"``, ``"strict"``, which rejects points of small
                  order, or ``"zip215"``; docs/ecc.md compares them.

        Returns:
            A bool for bytes, a list of them for a list, a bool array for ``uint8[N, W]`` and arrays of bytes,
            an Arrow array for Arrow and a column for a column (null where an operand is).

        Raises:
            ItemValueError: (a ValueError) with ``errors="raise"``, if an item cannot be checked.
            ValueError: if lengths differ, or an option has an unknown value.
            TypeError: if an argument is of no accepted kind.
        """
        calls, how = split_options("verify", self, options, CurveVerifyOptions)
        settings = verify_settings(calls.curves, **how)
        operands = _signed(public_keys, signatures, messages)
        return calls.verify(settings, operands, errors=errors, progress=progress)

    def verify_all(
        self,
        public_keys: Any,
        signatures: Any,
        messages: Any,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        **options: Unpack[CurveVerifyOptions],
    ) -> Any:
        """Whether all signatures are good: as `verify`, with one bool for the batch.

        EdDSA and BIP 340 do so by one random linear combination, several times as fast as `verify`; a batch
        with a bad signature passes with a probability below 2^-120. As its equation has the cofactor, EdDSA
        needs ``policy="zip215"``, with which `verify` gives the same answers.
        """
        calls, how = split_options("verify_all", self, options, CurveVerifyOptions)
        settings = verify_settings(calls.curves, **how)
        operands = _signed(public_keys, signatures, messages)
        return calls.verify_all(settings, operands, errors=errors, progress=progress)

    def recover(
        self,
        signatures: Any,
        messages: Any,
        *,
        algorithm: Any = None,
        low_s: bool | None = None,
        encoding: PointEncoding = "uncompressed",
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """The public keys that made recoverable ECDSA signatures, r || s || v.

        Args:
            signatures: as `sign` with ``encoding="recoverable"`` makes them; they decide the kind of the
                answer.
            messages: as in `sign`.
            algorithm: as in `sign`.
            low_s: as in `verify`.
            encoding: as in `public_keys`.
            errors: likewise.
            out: likewise.
            progress: likewise.
            **options: likewise.

        Raises:
            ItemValueError: (a ValueError) if there is no such key; it names the items.
        """
        calls = calls_with("recover", self, options)
        settings = recover_settings(calls.curves, algorithm, low_s, encoding)
        operands = {
            "signatures": byte_items("signatures", signatures),
            "messages": byte_items("messages", messages),
        }
        return calls.run(
            "recover", _core.MM_ECC_RECOVER, settings, operands, errors=errors, out=out, progress=progress
        )


def _signed(public_keys: Any, signatures: Any, messages: Any) -> dict[str, Any]:
    return {
        "signatures": byte_items("signatures", signatures),
        "messages": byte_items("messages", messages),
        "public_keys": byte_items("public_keys", public_keys),
    }


def named_curves() -> list[Curve]:
    """The named curves of this build."""
    return [Curve.named(curve.name) for curve in _core.EccCurve.named()]
