# SPDX-License-Identifier: Apache-2.0
"""Rings of keys: batches in which each item names its key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._run import Errors, Progress
from manymod.ecc._key_calls import KeyCalls
from manymod.ecc.keys import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer, Unpack

    from manymod._byte_typing import VerdictsAlone, VerifyErrors
    from manymod._typing import Raising, Statuses
    from manymod.ecc._options import SignOptions, VerifyOptions

__all__ = ["KeyRing"]


class KeyRing:
    """Keys, public or private, on any curves, and where to compute with them.

    Args:
        keys: `Key` objects, at least one; items name them by their position.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:K"``, ``"opencl"`` or ``"opencl:K"``; ``"auto"``
            uses no OpenCL device.
        variant: name of a variant to force; see `manymod.ecc.variants`.
        threads: CPU threads of its calls; 0 uses `manymod.get_threads`.

    Raises:
        TypeError: if `keys` is a single key, or an element is no key.
        ValueError: if there is none.

    Calls may run in several threads at once. The first one that needs private keys computes what their
    signatures need besides, such as public keys, for all keys of the ring.
    """

    def __init__(
        self, keys: Sequence[Key], *, device: str = "auto", variant: str | None = None, threads: int = 0
    ) -> None:
        if isinstance(keys, Key) or not isinstance(keys, Iterable):
            raise TypeError(f"keys must be a sequence of keys, not {type(keys).__name__}")
        self._keys = tuple(keys)
        if not self._keys:
            raise ValueError("a KeyRing needs at least one key")
        for position, key in enumerate(self._keys):
            if not isinstance(key, Key):
                raise TypeError(f"key {position} is a {type(key).__name__}, no Key")
        self._calls = KeyCalls([key._numbers for key in self._keys], device, variant, threads)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys, in the order of their indices."""
        return self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, index: int) -> Key:
        return self._keys[index]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    @property
    def threads(self) -> int:
        """CPU threads of its calls; 0: `manymod.get_threads`."""
        return self._calls.on_curves.threads

    def variant_for(self, key: int) -> str:
        """Name of the variant that computes items of a key."""
        self._keys[key]
        return self._calls.variant(key % len(self))

    @overload
    def sign(
        self,
        messages: Buffer,
        key_indices: int | None = ...,
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
        key_indices: Any = ...,
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
        key_indices: Any = ...,
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
        key_indices: Any = ...,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
        **options: Unpack[SignOptions],
    ) -> Any: ...

    def sign(
        self,
        messages: Any,
        key_indices: Any = None,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[SignOptions],
    ) -> Any:
        """Sign messages. Timing class: secret.

        Args:
            messages: of every kind that `Curve.sign` takes; one bytes object is signed with each of several
                keys.
            key_indices: an integer, or N of them, counted from 0, as a list, an array or a column; None: the
                only key of the ring.
                One that no key has, negative or null for instance, gives its item `Status.ECC_CURVE`, and a
                public key `Status.ECC_SECRET`.
            errors: as in `Curve.sign`.
            out: likewise.
            progress: likewise.
            **options: likewise; they are the same for all items.

        Returns:
            Signatures in the kind of the messages. ``uint8[N, W]`` needs curves whose signatures have one
            size.
        """
        return self._calls.sign(messages, key_indices, errors, out, progress, **options)

    @overload
    def verify(
        self,
        signatures: Buffer,
        messages: Buffer,
        key_indices: int | None = ...,
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
        key_indices: Any = ...,
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
        key_indices: Any = ...,
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
        key_indices: Any = ...,
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
        key_indices: Any = ...,
        *,
        errors: VerifyErrors = ...,
        progress: Progress | None = ...,
        **options: Unpack[VerifyOptions],
    ) -> Any: ...

    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any = None,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        **options: Unpack[VerifyOptions],
    ) -> Any:
        """Whether each signature is good; what is none, for whatever reason, is False.

        Arguments and answers are as in `Curve.verify`, and `key_indices` as in `sign`; an item whose key is
        not there is False, and has a status.
        """
        return self._calls.verify(signatures, messages, key_indices, errors, progress, **options)

    def verify_all(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any = None,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        **options: Unpack[VerifyOptions],
    ) -> Any:
        """Whether all signatures are good, as one bool.

        Arguments and answers are as in `Curve.verify_all`, and `key_indices` as in `sign`.
        """
        return self._calls.verify(
            signatures, messages, key_indices, errors, progress, together=True, **options
        )

    def exchange(
        self,
        public_keys: Any,
        key_indices: Any = None,
        *,
        algorithm: Any = None,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Shared secrets with the owners of public keys. Timing class: secret.

        Arguments and answers are as in `Curve.exchange`, and `key_indices` as in `sign`.
        """
        return self._calls.exchange(public_keys, key_indices, algorithm, errors, out, progress)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled: the keys may be private."""
        raise TypeError("a KeyRing cannot be pickled: make it anew where it is used")

    def __repr__(self) -> str:
        """Number and curves of the keys; no number of theirs."""
        curves = sorted({key.curve.name or "a curve of its own" for key in self._keys})
        return f"KeyRing({len(self)} keys, curves={curves}, device={self._calls.on_curves.device!r})"
