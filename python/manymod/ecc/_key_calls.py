# SPDX-License-Identifier: Apache-2.0
"""Calls in which items have keys of a list: what keys and rings of keys have in common."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._byte_items import Items, Kind, common_count
from manymod._forked import ProcessOwn
from manymod._key_indices import key_numbers, length
from manymod._run import Progress
from manymod.ecc._calls import CurveCalls
from manymod.ecc._operands import byte_items
from manymod.ecc._options import (
    Settings,
    SignOptions,
    VerifyOptions,
    check_keywords,
    exchange_settings,
    sign_settings,
    verify_settings,
)
from manymod.ecc.curves import Curve

__all__ = ["KeyCalls", "KeyNumbers"]

T = TypeVar("T")


class KeyNumbers:
    """A key's curve and public key and, if it is private, its secret, which is zeroed at the end."""

    def __init__(self, curve: Curve, public: bytes, secret: bytearray | None) -> None:
        self.curve, self.public, self.secret = curve, public, secret

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled with a secret."""
        if self.secret is not None:
            raise TypeError("a private key cannot be pickled: make it anew where it is used")
        return KeyNumbers, (self.curve, self.public, None)

    def __del__(self) -> None:
        if self.secret:
            self.secret[:] = bytes(len(self.secret))


class _Once(Generic[T]):
    """An object that the first call makes, while other threads wait. Forked children may use it too."""

    def __init__(self) -> None:
        self._value: T | None = None
        # A signal's handler may interrupt the thread that makes the object, and ask for it.
        self._lock = ProcessOwn(threading.RLock())

    def get(self, make: Callable[[], T]) -> T:
        """Return the object: the result of the first `make()`."""
        if self._value is None:
            with self._lock.get(threading.RLock):
                if self._value is None:
                    self._value = make()
        return self._value


class KeyCalls:
    """The calls with some keys. `KeyRing` documents each call."""

    def __init__(
        self, keys: Sequence[KeyNumbers], device: str = "auto", variant: str | None = None, threads: int = 0
    ) -> None:
        self._keys = list(keys)
        curves = list(dict.fromkeys(key.curve for key in keys))
        numbers = {curve: number for number, curve in enumerate(curves)}
        # An item without a key has a curve that there is not.
        self._curves = np.array([*(numbers[key.curve] for key in keys), len(curves)], np.uint32)
        self.on_curves = CurveCalls([curve.native for curve in curves], device, variant, threads)
        self._ring: _Once[_core.EccRing] = _Once()
        self._public_keys: _Once[_Table] = _Once()
        self._x_coordinates: _Once[_Table] = _Once()

    def variant(self, key: int) -> str:
        """Name of the variant that computes items of a key."""
        return self.on_curves.handle.variant(int(self._curves[key]))

    def sign(
        self,
        messages: Any,
        key_indices: Any,
        errors: str,
        out: Any,
        progress: Progress | None,
        **options: Any,
    ) -> Any:
        """Sign messages."""
        check_keywords("sign", options, SignOptions)
        curves = self.on_curves.curves
        settings, given = sign_settings(curves, **options), byte_items("messages", messages)
        if given.kind is Kind.ROWS:
            self.check_one_size()
        how = {"errors": errors, "out": out, "progress": progress}
        return self._run("sign", _core.MM_ECC_SIGN, settings, ("messages", given), key_indices, how)

    def add_signing(self, service: _core.SigningService, settings: Settings) -> int:
        """Add signing by these keys to a service, which copies them. Returns the operation's number."""
        secrets = tuple(key.secret or b"" for key in self._keys)
        curves, context = self._curves[:-1], settings.context
        return service.add_ecc(
            self.on_curves.handle,
            _core.MM_ECC_SIGN,
            settings.native,
            np.ascontiguousarray(curves),
            secrets,
            None if context is None else context.block,
            None if context is None else context.offsets,
        )

    def _private_keys(self) -> _core.EccRing:
        """The extension's ring, which the first call with private keys makes."""
        return self._ring.get(self._make_ring)

    def _make_ring(self) -> _core.EccRing:
        secrets = tuple(key.secret or b"" for key in self._keys)
        return _core.EccRing(self.on_curves.handle, secrets, self._curves[:-1])

    def check_one_size(self) -> None:
        """Raise ValueError if signatures differ in size."""
        _check_sizes(curve.signature_bytes for curve in self.on_curves.curves)

    def exchange(
        self,
        public_keys: Any,
        key_indices: Any,
        algorithm: Any,
        errors: str,
        out: Any,
        progress: Progress | None,
    ) -> Any:
        """Compute shared secrets."""
        curves = self.on_curves.curves
        settings, given = exchange_settings(curves, algorithm), byte_items("public_keys", public_keys)
        if algorithm is None and given.kind is Kind.ROWS:
            _check_sizes(curve.coordinate_bytes for curve in curves)
        how = {"errors": errors, "out": out, "progress": progress}
        return self._run(
            "exchange", _core.MM_ECC_EXCHANGE, settings, ("public_keys", given), key_indices, how
        )

    def _run(
        self, name: str, op: int, settings: Settings, given: tuple[str, Items], key_indices: Any, how: Any
    ) -> Any:
        indices, labels = self._indices(key_indices, dict([given]))
        ring, operands = self._private_keys(), dict([given])
        return self.on_curves.run(
            name, op, settings, operands, curves=indices, ring=ring, index_labels=labels, **how
        )

    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any,
        errors: str,
        progress: Progress | None,
        *,
        together: bool = False,
        **options: Any,
    ) -> Any:
        """Check signatures, each or all `together`."""
        check_keywords("verify_all" if together else "verify", options, VerifyOptions)
        settings = verify_settings(self.on_curves.curves, **options)
        given = {
            "signatures": byte_items("signatures", signatures),
            "messages": byte_items("messages", messages),
        }
        indices, labels = self._indices(key_indices, given)
        operands = given | {"public_keys": self._chosen(indices, x_alone=settings.scheme == "bip340")}
        call = self.on_curves.verify_all if together else self.on_curves.verify
        return call(
            settings,
            operands,
            curves=self._curves_of(indices),
            index_labels=labels,
            errors=errors,
            progress=progress,
        )

    def _chosen(self, indices: NDArray[np.uint32] | None, *, x_alone: bool) -> Items:
        """The public keys of the items; no bytes for an index that no key has."""
        encode = _x_alone if x_alone else _public
        if indices is None or indices.ndim == 0:
            index = 0 if indices is None else int(indices)
            return Items(Kind.SCALAR, None, (encode(self._keys[index]) if index < len(self._keys) else b"",))
        kept = self._x_coordinates if x_alone else self._public_keys
        table = kept.get(functools.partial(_table, self._keys, encode))
        if isinstance(table, list):
            return Items(Kind.LIST, len(indices), tuple(table[index] for index in indices.tolist()))
        return Items(Kind.LIST, len(indices), table[indices])

    def _indices(self, key_indices: Any, given: Mapping[str, Items]) -> tuple[NDArray[np.uint32] | None, Any]:
        """As `key_numbers`, of as many items as are given: the lengths of what a caller gave are told."""
        indices, labels = key_numbers(key_indices, len(self._keys))
        counts = {name: items.count for name, items in given.items()}
        common_count(counts | {"key_indices": length(indices)})
        return indices, labels

    def _curves_of(self, indices: NDArray[np.uint32] | None) -> NDArray[np.uint32] | None:
        """Indices of the items' curves; None: the first one."""
        return None if indices is None else np.asarray(self._curves[indices])


def _check_sizes(sizes: Iterable[int]) -> None:
    if len(set(sizes)) > 1:
        raise ValueError("curves of different sizes: give the batch as a list, the results vary in length")


#: Encodings of all keys and of no key: rows where keys have one length.
_Table = NDArray[np.uint8] | list[bytes]


def _table(keys: Sequence[KeyNumbers], encode: Callable[[KeyNumbers], bytes]) -> _Table:
    encoded = [encode(key) for key in keys]
    if len({len(item) for item in encoded}) > 1:
        return [*encoded, b""]
    encoded.append(bytes(len(encoded[0])))
    return np.frombuffer(b"".join(encoded), np.uint8).reshape(len(encoded), -1)


def _public(key: KeyNumbers) -> bytes:
    return key.public


def _x_alone(key: KeyNumbers) -> bytes:
    """The x coordinate of an uncompressed point."""
    return key.public[1 : 1 + key.curve.coordinate_bytes]
