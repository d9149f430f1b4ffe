# SPDX-License-Identifier: Apache-2.0
"""Keys on curves, private or public."""

from __future__ import annotations

import base64
import functools
import hashlib
import operator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from manymod import _core
from manymod._key_files import contents_of, is_pem
from manymod._run import Errors, Progress
from manymod.ecc._decode import decoded_text, is_openssh_public
from manymod.ecc._key_calls import KeyCalls, KeyNumbers
from manymod.ecc._operands import is_integer
from manymod.ecc._options import point_settings
from manymod.ecc.curves import NO_KEYS, Curve
from manymod.errors import InvalidKeyError, ItemError, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Self, Unpack

    from manymod._byte_typing import VerdictsAlone, VerifyErrors
    from manymod._typing import Raising, Statuses
    from manymod.ecc._options import PointEncoding, SignOptions, VerifyOptions

__all__ = ["Key", "read_key"]


class Key:
    """A key on a named curve, or on one of your own: private, which includes the public half, or public.

    A private key's number is in memory of its own, which is zeroed when the key and all rings made of it are
    gone; it is not printed or pickled. Whatever Python object it came from is the caller's, and Python
    zeroes none.

    >>> key = Key.generate(Curve.named("Ed25519"))
    >>> key.public_key().verify(key.sign([b"one", b"two"]), [b"one", b"two"])
    [True, True]
    """

    def __init__(self, numbers: KeyNumbers | None = None) -> None:
        """Take numbers that were checked, else raise TypeError: `generate` and ``from_*`` make keys."""
        if not isinstance(numbers, KeyNumbers):
            raise TypeError(
                "use Key.generate, from_secret, from_public, from_pem, from_der or from_cryptography"
            )
        self._numbers = numbers

    @classmethod
    def generate(cls, curve: Curve) -> Self:
        """Make a private key of the operating system's randomness; `Curve.generate` makes many, as bytes."""
        _title(curve)
        secrets, public_keys = curve.generate(1)
        secret = bytearray(secrets.data)
        secrets.fill(0)
        return cls(KeyNumbers(curve, public_keys.tobytes(), secret))

    @classmethod
    def from_secret(cls, curve: Curve, secret: Buffer | int) -> Self:
        """A private key of its number, an int or `Curve.secret_bytes` big-endian bytes.

        On Ed25519, X25519, Ed448 and X448 `secret` is the string of RFC 8032 or RFC 7748.

        Raises:
            InvalidKeyError: (a ValueError) if it is none, or of a wrong length.
            TypeError: if it is an int there, or neither int nor bytes.

        >>> Key.from_secret(Curve.named("P-256"), 0)
        Traceback (most recent call last):
        manymod.errors.InvalidKeyError: P-256 key: a private key is not a number of 1 to n - 1
        """
        title = _title(curve)
        if is_integer(secret):
            if curve.form != "weierstrass":
                raise TypeError(f"{title}: a private key is a string of bytes, not an int")
            number = operator.index(secret)
            if number < 0 or number.bit_length() > 8 * curve.secret_bytes:
                raise InvalidKeyError(f"{title}: {_REASON}")
            secret = number.to_bytes(curve.secret_bytes, "big")
        kept = bytearray(_view("secret", secret))
        if len(kept) != curve.secret_bytes:
            raise InvalidKeyError(f"{title}: a private key has {curve.secret_bytes} bytes")
        try:
            return cls(KeyNumbers(curve, curve.public_keys(memoryview(kept)), kept))
        except ItemError as error:
            kept[:] = bytes(len(kept))
            reason = NO_KEYS if Status.ECC_CURVE in error.statuses else _REASON
            raise InvalidKeyError(f"{title}: {reason}") from None

    @classmethod
    def from_public(cls, curve: Curve, point: Buffer) -> Self:
        """A public key of its encoding: SEC 1, or x alone for BIP 340; or as in RFC 8032 and RFC 7748.

        Raises:
            InvalidKeyError: (a ValueError) if it is no point of the curve, or infinity. On Ed25519, X25519,
                Ed448 and X448 only its length is looked at: calls check the rest, by their policy.
        """
        title, encoded = _title(curve), bytes(_view("point", point))
        if curve.form == "weierstrass":
            if len(encoded) == curve.coordinate_bytes:  # x alone stands for the even y
                encoded = b"\2" + encoded
            try:
                encoded = curve.points(encoded)
            except ItemError:
                encoded = b""
        if len(encoded) != curve.public_bytes:
            raise InvalidKeyError(f"{title}: not the encoding of a public key")
        return cls(KeyNumbers(curve, encoded, None))

    @classmethod
    def from_pem(cls, data: str | Buffer, password: str | Buffer | None = None) -> Self:
        """Read PKCS#8 or SEC 1, encrypted or not, SubjectPublicKeyInfo or a certificate from PEM.

        Of several blocks the private key is taken, if there is one. The signature and the dates of a
        certificate are not checked. OpenSSH's keys are read where the cryptography package is installed:
        private ones, and public ones with which the text begins.

        Args:
            data: the text of the file.
            password: of an encrypted key.

        Raises:
            InvalidKeyError: (a ValueError) if it is no key on a named curve; it says what was found.
        """
        encoded = contents_of("data", data)
        if not is_pem(encoded) and not is_openssh_public(encoded):
            raise InvalidKeyError("key on a curve: no block of PEM: DER is read by from_der")
        return cls._of_native(decoded_text(encoded, _password(password), public_only=False))

    @classmethod
    def from_der(cls, data: Buffer, password: str | Buffer | None = None) -> Self:
        """Read PKCS#8 or SEC 1, SubjectPublicKeyInfo or a certificate from DER. Otherwise as `from_pem`.

        Raises:
            TypeError: if `data` is text.
            InvalidKeyError: also for PEM.
        """
        encoded = contents_of("data", data, text=False)
        if is_pem(encoded):
            raise InvalidKeyError("key on a curve: PEM, not DER: use from_pem")
        return cls._of_native(_core.EccKey(encoded, _password(password), False))

    @classmethod
    def from_cryptography(cls, key: Any) -> Self:
        """Take a private or public key of the cryptography package, of any class on a named curve.

        Raises:
            TypeError: if it is none.
            InvalidKeyError: (a ValueError) if it is RSA, or on a curve that there is not.
        """
        from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415 (optional)

        if hasattr(key, "private_bytes"):
            encoded = key.private_bytes(forms.Encoding.DER, forms.PrivateFormat.PKCS8, forms.NoEncryption())
        elif hasattr(key, "public_bytes"):
            encoded = key.public_bytes(forms.Encoding.DER, forms.PublicFormat.SubjectPublicKeyInfo)
        else:
            raise TypeError(f"key must be a key of the cryptography package, not {type(key).__name__}")
        return cls._of_native(_core.EccKey(encoded, None, False))

    @classmethod
    def _of_native(cls, native: _core.EccKey) -> Self:
        secret = native.secret
        curve = Curve.named(native.curve.name)
        return cls(KeyNumbers(curve, bytes(native.public_bytes), secret or None))

    @property
    def curve(self) -> Curve:
        """The key's curve."""
        return self._numbers.curve

    @property
    def is_private(self) -> bool:
        """Whether it is a private key."""
        return self._numbers.secret is not None

    def public_key(self) -> Key:
        """The public half."""
        return Key(KeyNumbers(self.curve, self._numbers.public, None))

    def public_bytes(self, encoding: PointEncoding = "uncompressed") -> bytes:
        """The public key as `Curve.verify` takes it; `encoding` is as in `Curve.public_keys`."""
        point_settings([self.curve.native], encoding)  # raises for a wrong one
        if self.curve.form != "weierstrass" or encoding == "uncompressed":
            return self._numbers.public
        return bytes(self.curve.points(self._numbers.public, encoding))

    def secret_bytes(self) -> bytes:
        """A copy of the private key as `Curve.sign` takes it, which Python does not zero.

        Raises:
            TypeError: if it is a public key.
        """
        return bytes(self._check_private())

    @functools.cached_property
    def fingerprint(self) -> str:
        """The key's name: SHA-256 of its curve's name, a colon and its public key, in base64url."""
        curve = self.curve.name or repr(self.curve)
        digest = hashlib.sha256(curve.encode() + b":" + self._numbers.public).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    @functools.cached_property
    def _calls(self) -> KeyCalls:
        return KeyCalls([self._numbers])

    @overload
    def sign(
        self,
        messages: Buffer,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[SignOptions],
    ) -> bytes: ...

    @overload
    def sign(
        self,
        messages: list[bytes],
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[SignOptions],
    ) -> list[bytes]: ...

    @overload
    def sign(
        self,
        messages: list[bytes],
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[SignOptions],
    ) -> tuple[list[bytes], Statuses]: ...

    @overload
    def sign(
        self,
        messages: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[SignOptions],
    ) -> Any: ...

    def sign(
        self,
        messages: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[SignOptions],
    ) -> Any:
        """Sign messages; as `Curve.sign` with this key for every item.

        Raises:
            TypeError: also if it is a public key.
        """
        self._check_private()
        return self._calls.sign(messages, None, errors, out, progress, **options)

    @overload
    def verify(
        self,
        signatures: Buffer,
        messages: Buffer,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> bool: ...

    @overload
    def verify(
        self,
        signatures: list[bytes],
        messages: Any,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> list[bool]: ...

    @overload
    def verify(
        self,
        signatures: list[bytes],
        messages: Any,
        *,
        errors: Literal["status"],
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> tuple[list[bool], Statuses]: ...

    @overload
    def verify(
        self,
        signatures: NDArray[np.uint8],
        messages: Any,
        *,
        errors: VerdictsAlone = ...,
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> NDArray[np.bool_]: ...

    @overload
    def verify(
        self,
        signatures: Any,
        messages: Any,
        *,
        errors: VerifyErrors = ...,
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> Any: ...

    def verify(
        self,
        signatures: Any,
        messages: Any,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        **options: Unpack[VerifyOptions],
    ) -> Any:
        """Whether each signature is good; as `Curve.verify` with this key for every item."""
        return self._calls.verify(signatures, messages, None, errors, progress, **options)

    def exchange(
        self,
        public_keys: Any,
        *,
        algorithm: Any = None,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Shared secrets with other keys; as `Curve.exchange` with this key for every item.

        Raises:
            TypeError: also if it is a public key.
        """
        self._check_private()
        return self._calls.exchange(public_keys, None, algorithm, errors, out, progress)

    def sm2_exchange(
        self, ephemeral_secrets: Any, public_keys: Any, ephemeral_public_keys: Any, **how: Any
    ) -> Any:
        """Keys of SM2 key exchanges: `Curve.sm2_exchange` with this private key.

        Args:
            ephemeral_secrets: as there.
            public_keys: as there.
            ephemeral_public_keys: as there.
            **how: its keywords.

        Raises:
            TypeError: also if it is a public key.
        """
        secret = memoryview(self._check_private())
        return self.curve.sm2_exchange(secret, ephemeral_secrets, public_keys, ephemeral_public_keys, **how)

    def _check_private(self) -> bytearray:
        """The secret. Raises TypeError if there is none."""
        if self._numbers.secret is None:
            raise TypeError("a public key has no secret")
        return self._numbers.secret

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        mine, theirs = self._numbers, other._numbers
        same = (mine.curve, mine.public) == (theirs.curve, theirs.public)
        return same and self.is_private == other.is_private

    def __hash__(self) -> int:
        return hash((self.curve, self._numbers.public))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a public key; refuse to with a private one."""
        if self._numbers.secret is not None:
            raise TypeError("a private Key cannot be pickled: make it anew where it is used")
        return _restored, (self.curve, self._numbers.public)

    def __repr__(self) -> str:
        """Curve and fingerprint; no number."""
        kind = "private" if self.is_private else "public"
        return f"Key({self.curve.name or 'a curve of its own'}, {kind}, {self.fingerprint})"


def _restored(curve: Curve, public: bytes) -> Key:
    return Key(KeyNumbers(curve, public, None))


#: What is wrong with a number that is no private key.
_REASON = "a private key is not a number of 1 to n - 1"


def _title(curve: Curve) -> str:
    """What errors of keys begin with; a TypeError if there is no curve."""
    if not isinstance(curve, Curve):
        raise TypeError(f"curve must be a Curve, as Curve.named('P-256') is, not {type(curve).__name__}")
    return f"{curve.name or 'own curve'} key"


def _password(given: str | Buffer | None) -> memoryview | None:
    return None if given is None else contents_of("password", given)


def _view(name: str, value: Any) -> memoryview:
    """The bytes of a key: bytes() and bytearray() would make zeros of an int."""
    try:
        return memoryview(value)
    except TypeError:
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}") from None


def read_key(data: bytes, password: bytes | None, *, public_only: bool = False) -> Key:
    """The key in a file's contents, PEM or DER; the private one, if there is one, unless `public_only`.

    Raises:
        InvalidKeyError: if there is none; the message says what was found.
    """
    return Key._of_native(decoded_text(memoryview(data), _password(password), public_only=public_only))
