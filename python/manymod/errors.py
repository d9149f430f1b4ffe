# SPDX-License-Identifier: Apache-2.0
"""Statuses of items and the exceptions of manymod."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core

__all__ = [
    "CryptoError",
    "DeviceError",
    "InternalError",
    "InvalidKeyError",
    "ItemError",
    "ItemValueError",
    "ItemZeroDivisionError",
    "ManymodError",
    "SignerClosedError",
    "SignerFullError",
    "Status",
    "TuningError",
    "UnsupportedError",
    "VariantError",
]


class Status(IntEnum):
    """Outcome of one item.

    Unless it is ``OK``, the item has no result; 0, empty bytes or, in `verify`, False are in its place.
    """

    OK = _core.MM_OK
    #: the modulus is 0
    ZERO_MODULUS = _core.MM_ITEM_ZERO_MODULUS
    #: an inverse is needed and gcd(x, modulus) is not 1
    NOT_INVERTIBLE = _core.MM_ITEM_NOT_INVERTIBLE
    #: constant-time operations need an odd modulus
    EVEN_MODULUS = _core.MM_ITEM_EVEN_MODULUS
    #: the modulus is wider than 16384 bits, or than the plan was made for
    MODULUS_TOO_WIDE = _core.MM_ITEM_MODULUS_TOO_WIDE
    #: not computed: an operand is null (Arrow)
    NOT_COMPUTED = _core.MM_ITEM_NOT_COMPUTED
    #: RSA: no such key in the ring, or a public key where a private one is needed
    RSA_KEY = _core.MM_ITEM_RSA_KEY
    #: RSA: message, digest, salt or ciphertext of a wrong length for the key and the padding
    RSA_LENGTH = _core.MM_ITEM_RSA_LENGTH
    #: RSA: the number is not below the modulus
    RSA_RANGE = _core.MM_ITEM_RSA_RANGE
    #: RSA: decryption failed, for whatever reason
    RSA_DECRYPTION = _core.MM_ITEM_RSA_DECRYPTION
    #: RSA: computed wrongly, twice: defective hardware, or a prime of the key is not prime
    RSA_FAULT = _core.MM_ITEM_RSA_FAULT
    #: RSA: the key is for RSASSA-PSS alone, or for another hash or longer salts
    RSA_PADDING = _core.MM_ITEM_RSA_PADDING
    #: RSA: not valid, as the signature is not as long as the modulus; see `left_pad` of `KeyRing.verify`
    RSA_SIGNATURE_LENGTH = _core.MM_ITEM_RSA_SIGNATURE_LENGTH
    #: curves: the plan has no such curve, or the curve lacks this operation
    ECC_CURVE = _core.MM_ITEM_ECC_CURVE
    #: curves: a private key, scalar or nonce is out of range or has a wrong length
    ECC_SECRET = _core.MM_ITEM_ECC_SECRET
    #: curves: not a point of the curve, or no point for this purpose
    ECC_POINT = _core.MM_ITEM_ECC_POINT
    #: curves: the shared secret would be infinity or 0
    ECC_SMALL_ORDER = _core.MM_ITEM_ECC_SMALL_ORDER
    #: curves: not valid, as it is not the encoding of a signature
    ECC_SIGNATURE = _core.MM_ITEM_ECC_SIGNATURE
    #: curves: a digest, context or nonce has a wrong length
    ECC_LENGTH = _core.MM_ITEM_ECC_LENGTH
    #: curves: the given nonce gives no signature: use another
    ECC_NONCE = _core.MM_ITEM_ECC_NONCE
    #: curves: computed wrongly: defective hardware
    ECC_FAULT = _core.MM_ITEM_ECC_FAULT
    #: curves: no public key has this signature, or s is high where it must be low
    ECC_NO_KEY = _core.MM_ITEM_ECC_NO_KEY
    #: services: its time had passed before it began
    EXPIRED = _core.MM_ITEM_EXPIRED
    #: a secret exponent is wider than the `FixedBase` was made for
    EXPONENT_TOO_WIDE = _core.MM_ITEM_EXPONENT_TOO_WIDE


class ManymodError(Exception):
    """Base of every exception that manymod defines."""


class VariantError(ManymodError, ValueError):
    """No variant of that name, or it cannot run here or not this operation, width or timing class."""


class DeviceError(ManymodError, ValueError):
    """No such device, data on a device that no variant of this build uses, or a GPU or its driver failed."""


class TuningError(ManymodError, ValueError):
    """A tuning file is missing or malformed."""


class InternalError(ManymodError, RuntimeError):
    """A bug in manymod."""


class InvalidKeyError(ManymodError, ValueError):
    """The input is not a usable key or curve; the message explains why, without secret numbers."""


class UnsupportedError(ManymodError, NotImplementedError):
    """This build of manymod lacks something that the call needs, such as libcrypto for RSA and curves."""


class CryptoError(ManymodError, RuntimeError):
    """OpenSSL's libcrypto failed: no randomness, or no such hash function."""


class SignerFullError(ManymodError, RuntimeError):
    """As many requests wait as the signer lets wait, or as many coroutines for room."""


class SignerClosedError(ManymodError, RuntimeError):
    """The signer takes no more requests."""


class ItemError(ManymodError):
    """Some items of a batch have no result; the others were computed.

    Attributes:
        indices: the positions of the bad items, ascending.
        statuses: uint8 array with the `Status` of every item of the batch.
        result: what the call would have returned, with 0, or empty bytes, in the bad items; None where these
            are secret, as of a decryption: ask for them with ``errors="status"``.
    """

    def __init__(self, message: str, indices: list[int], statuses: NDArray[np.uint8], result: Any) -> None:
        super().__init__(message)
        self.indices = indices
        self.statuses = statuses
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all attributes."""
        return type(self), (str(self), self.indices, self.statuses, self.result)


class ItemValueError(ItemError, ValueError):
    """`ItemError` where Python raises ValueError."""


class ItemZeroDivisionError(ItemError, ZeroDivisionError):
    """`ItemError` where Python raises ZeroDivisionError."""


_POWER_OPS = frozenset({"powmod", "invmod", "multi_powmod", "fixed_base_powmod"})
_MESSAGES = {
    Status.NOT_INVERTIBLE: "base is not invertible for the given modulus",
    Status.EVEN_MODULUS: "constant-time operations need an odd modulus",
    Status.MODULUS_TOO_WIDE: f"the modulus is wider than {_core.MM_MAX_MODULUS_BITS} bits"
    " or than the plan's modulus_bits",
    Status.NOT_COMPUTED: "the item was not computed",
    Status.RSA_KEY: "no such key in the ring, or a public key where a private one is needed",
    Status.RSA_LENGTH: "message, digest, salt or ciphertext of a wrong length for the key and the padding",
    Status.RSA_RANGE: "the number is not below the modulus",
    Status.RSA_DECRYPTION: "decryption failed",
    Status.RSA_FAULT: "computed wrongly, twice: the hardware is defective, or p or q is not prime"
    " (check_primes)",
    Status.RSA_PADDING: "the key is for RSASSA-PSS alone, or for another hash or longer salts (pss_limits)",
    Status.RSA_SIGNATURE_LENGTH: "the signature is not as long as the modulus",
    Status.ECC_CURVE: "the curve has no such operation, scheme, hash, encoding or context, or the ring no"
    " such key",
    Status.ECC_SECRET: "a private key, nonce or scalar is out of range or has a wrong length, or the key is"
    " public",
    Status.ECC_POINT: "not the encoding of a point of the curve, or infinity, which is no key",
    Status.ECC_SMALL_ORDER: "the shared secret would be infinity or 0",
    Status.ECC_SIGNATURE: "not the encoding of a signature",
    Status.ECC_LENGTH: "a digest, context or nonce has a wrong length",
    Status.ECC_NONCE: "the nonce gives no signature: use another",
    Status.ECC_FAULT: "computed wrongly: the hardware is defective",
    Status.ECC_NO_KEY: "no public key has this signature, or s is high where it must be low",
    Status.EXPIRED: "its time had passed before it began",
    Status.EXPONENT_TOO_WIDE: "the exponent is wider than exponent_bits allows in constant time",
}
_FAULTS = frozenset({Status.RSA_FAULT, Status.ECC_FAULT})
_MAX_NAMED = 8


def _named(indices: list[int]) -> str:
    shown = ", ".join(map(str, indices[:_MAX_NAMED]))
    rest = f" and {len(indices) - _MAX_NAMED} more" if len(indices) > _MAX_NAMED else ""
    return f"item{'s' if len(indices) > 1 else ''} {shown}{rest}"


def _item_error(
    op: str, bad: NDArray[np.bool_], statuses: NDArray[np.uint8], result: Any, scalar: bool
) -> ItemError:
    """Return what Python would raise at the first bad item, naming all items that share its status."""
    indices: list[int] = np.flatnonzero(bad).tolist()
    first = Status(int(statuses[indices[0]]))
    kind: type[ItemError] = ItemError if first in _FAULTS else ItemValueError
    if first is not Status.ZERO_MODULUS:
        message = _MESSAGES[first]
    elif op in _POWER_OPS:
        message = "pow() 3rd argument cannot be 0"
    else:
        kind, message = ItemZeroDivisionError, "integer modulo by zero"
    if not scalar:
        same: list[int] = np.flatnonzero(bad & (statuses == first)).tolist()
        message = f"{message}: {_named(same)}"
        if len(same) < len(indices):
            message += f"; {len(indices) - len(same)} more items failed otherwise"
    return kind(message, indices, statuses, result)


_CALL_ERRORS: dict[int, type[Exception]] = {
    _core.MM_ERR_NULL: InternalError,
    _core.MM_ERR_ARGUMENT: ValueError,
    _core.MM_ERR_OVERLAP: ValueError,
    _core.MM_ERR_MEMORY: MemoryError,
    _core.MM_ERR_CANCELLED: InternalError,
    _core.MM_ERR_UNKNOWN_VARIANT: VariantError,
    _core.MM_ERR_UNUSABLE_VARIANT: VariantError,
    _core.MM_ERR_UNKNOWN_DEVICE: DeviceError,
    _core.MM_ERR_TUNING: TuningError,
    _core.MM_ERR_DEVICE: DeviceError,
    _core.MM_ERR_UNSUPPORTED: UnsupportedError,
    _core.MM_ERR_KEY: InvalidKeyError,
    _core.MM_ERR_CRYPTO: CryptoError,
    _core.MM_ERR_FULL: SignerFullError,
    _core.MM_ERR_CLOSED: SignerClosedError,
}


def _call_error(status: int, message: str) -> Exception:
    """Return the exception for a failed call of the C ABI; the extension raises it."""
    return _CALL_ERRORS.get(status, InternalError)(message)
