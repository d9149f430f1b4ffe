# SPDX-License-Identifier: Apache-2.0
"""Rings of keys: batches in which each item names its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from manymod._byte_typing import ByteBatch, ManyBytes, VerdictsAlone, VerifyErrors
from manymod._run import Errors, Progress
from manymod._typing import Raising, Statuses
from manymod.plan import checked_items
from manymod.rsa._calls import KeyCalls
from manymod.rsa.keys import PrivateKey, PublicKey, checked_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

__all__ = ["KeyRing"]


class KeyRing:
    """Keys, public or private, of any sizes, and where to compute with them.

    Args:
        keys: `PrivateKey` and `PublicKey` objects (else a TypeError), at least one (else a ValueError); items
            name them by their position.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:K"``, ``"opencl"`` or ``"opencl:K"``.
        variant: name of a variant to force for every power; see `manymod.variants`.
        threads: CPU threads of its calls; 0 uses `manymod.get_threads`.
        blinding: whether private operations work on randomly masked numbers.

    Calls may run in several threads at once. What a key needs is precomputed by the first call with it.
    """

    def __init__(
        self,
        keys: Sequence[PrivateKey | PublicKey],
        *,
        device: str = "auto",
        variant: str | None = None,
        threads: int = 0,
        blinding: bool = True,
    ) -> None:
        self._keys = checked_keys(keys)
        self._calls = KeyCalls([key._native for key in self._keys], device, variant, threads, blinding)

    @property
    def keys(self) -> tuple[PrivateKey | PublicKey, ...]:
        """The keys, in the order of their indices."""
        return self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, index: int) -> PrivateKey | PublicKey:
        return self._keys[index]

    def __iter__(self) -> Iterator[PrivateKey | PublicKey]:
        return iter(self._keys)

    @property
    def threads(self) -> int:
        """CPU threads of its calls; 0: `manymod.get_threads`."""
        return self._calls.threads

    @property
    def private_items(self) -> int:
        """Private operations computed so far; not those of items that could not begin."""
        return self._calls.handle.private_items

    @property
    def recomputed(self) -> int:
        """Private operations whose result failed the check and which were computed again without CRT.

        Their results are right; a number other than 0 means that the hardware, or its memory, is failing, or
        that a factor of a key is not prime (see `check_primes` of `PrivateKey.from_pem`).
        """
        return self._calls.handle.recomputed

    def variant_for(self, key: int, items: int, *, private: bool = True) -> str:
        """Name of the variant that computes the private or public operation of `items` items of a key.

        Where both powers of a private operation are computed together, it is the one for twice as many.
        """
        self._keys[key]
        return self._calls.handle.variant(key % len(self), bool(private), checked_items("items", items))

    @overload
    def sign(
        self,
        messages: ByteBatch,
        key_indices: int | None,
        padding: Any,
        algorithm: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ByteBatch: ...

    @overload
    def sign(
        self,
        messages: ManyBytes,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ManyBytes: ...

    @overload
    def sign(
        self,
        messages: ManyBytes,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> tuple[ManyBytes, Statuses]: ...

    @overload
    def sign(
        self,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def sign(
        self,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Sign messages (RFC 8017, RSASSA-PKCS1-v1_5 and RSASSA-PSS).

        Args:
            messages: bytes, a list or 1-D array of bytes objects, ``uint8[N, W]``, an Arrow binary array, or
                a column of pandas or polars; one bytes object is signed with each of several key indices.
            key_indices: an integer, or N of them, counted from 0, as a list, an array or a column; None: the
                only key of the ring.
                One that no key has, negative or null for instance, gives its item `Status.RSA_KEY`.
            padding: ``PKCS1v15`` or ``PSS`` of the cryptography package, a `Padding`, or its scheme's name.
            algorithm: the hash, by name or as an object of the cryptography package; or `Prehashed` (of
                either package), where the messages are digests.
            errors: ``"raise"``, or ``"status"``, which raises nothing for an item and returns a pair of the
                answer and one `Status` per item.
            out: a list for a list, ``uint8[N, K]`` for ``uint8[N, W]``, K being the bytes of the modulus, to
                write into; for answers of another kind it is an error.
            progress: called with the number of items done and in all.

        Returns:
            Signatures as long as the item's modulus, in the kind of the messages. ``uint8[N, K]`` needs keys
            of one size; of fixed_size_binary the answer is fixed_size_binary where they have one size, else,
            and where no item has a result, binary.

        Raises:
            ItemValueError: (a ValueError) if there is no such key or it is public, if the key is too short
                for the padding or excludes it, or if a digest has a wrong length; names the items.
            ItemError: if a result was computed wrongly, twice: the hardware is defective, or a factor of the
                key is not prime.

        Every signature was checked with the public key. Timing class: secret.
        """
        return self._calls.sign(messages, key_indices, padding, algorithm, errors, out, progress)

    @overload
    def decrypt(
        self,
        ciphertexts: bytes,
        key_indices: int | None,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> bytes: ...

    @overload
    def decrypt(
        self,
        ciphertexts: list[bytes] | NDArray[np.uint8],
        key_indices: Any,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> list[bytes]: ...

    @overload
    def decrypt(
        self,
        ciphertexts: list[bytes] | NDArray[np.uint8],
        key_indices: Any,
        padding: Any,
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> tuple[list[bytes], Statuses]: ...

    @overload
    def decrypt(
        self,
        ciphertexts: Any,
        key_indices: Any,
        padding: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def decrypt(
        self,
        ciphertexts: Any,
        key_indices: Any,
        padding: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Decrypt ciphertexts (RFC 8017, RSAES-OAEP and RSAES-PKCS1-v1_5).

        Args:
            ciphertexts: as the messages of `sign`, each as long as its modulus.
            key_indices: as in `sign`.
            padding: ``OAEP`` or ``PKCS1v15`` of the cryptography package, a `Padding`, or its scheme's name.
            errors: as in `sign`.
            out: a list to write into, where the answer is one.
            progress: as in `sign`.

        Returns:
            The messages in the kind of the ciphertexts; as lengths vary, a list for ``uint8[N, W]`` and
            binary for fixed_size_binary.

        Raises:
            ItemValueError: (a ValueError) if there is no such key or it is public, if a ciphertext has a
                wrong length or is not below the modulus, or if OAEP's padding is wrong; names the items, and
                holds no messages: its `result` is None.
            ItemError: if a result was computed wrongly, twice: the hardware is defective, or a factor of the
                key is not prime; its `result` is None too.

        PKCS#1 v1.5 rejects implicitly: of a wrong padding comes a message that depends on the key and the
        ciphertext alone, and no error. Timing class: secret.
        """
        return self._calls.decrypt(ciphertexts, key_indices, padding, errors, out, progress)

    @overload
    def encrypt(
        self,
        messages: ByteBatch,
        key_indices: int | None,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ByteBatch: ...

    @overload
    def encrypt(
        self,
        messages: ManyBytes,
        key_indices: Any,
        padding: Any,
        *,
        errors: Raising = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> ManyBytes: ...

    @overload
    def encrypt(
        self,
        messages: ManyBytes,
        key_indices: Any,
        padding: Any,
        *,
        errors: Literal["status"],
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> tuple[ManyBytes, Statuses]: ...

    @overload
    def encrypt(
        self,
        messages: Any,
        key_indices: Any,
        padding: Any,
        *,
        errors: Errors = ...,
        out: Any = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def encrypt(
        self,
        messages: Any,
        key_indices: Any,
        padding: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Encrypt messages (RFC 8017, RSAES-OAEP and RSAES-PKCS1-v1_5) with public keys.

        Arguments as of `sign` and `decrypt`.

        Returns:
            Ciphertexts as long as the item's modulus, in the kind of the messages, as of `sign`.

        Raises:
            ItemValueError: (a ValueError) if there is no such key or a message is too long; names the items.

        The messages count as secret.
        """
        return self._calls.encrypt(messages, key_indices, padding, errors, out, progress)

    def raw_private(
        self, numbers: Any, key_indices: Any = None, *, errors: Errors = "raise", out: Any = None
    ) -> Any:
        """c^d mod n of big-endian numbers c < n (RFC 8017, RSADP), without padding.

        Args:
            numbers: as the messages of `sign`.
            key_indices: as in `sign`.
            errors: as in `sign`.
            out: as in `sign`.

        Raises:
            ItemValueError: (a ValueError) if a number is not below its modulus, among others; its `result` is
                None.
            ItemError: if a result was computed wrongly, twice; its `result` is None, too.

        Without padding this is neither a signature nor a decryption that is safe to use.
        """
        return self._calls.raw(True, numbers, key_indices, errors, out)

    def raw_public(
        self, numbers: Any, key_indices: Any = None, *, errors: Errors = "raise", out: Any = None
    ) -> Any:
        """m^e mod n of big-endian numbers m < n (RFC 8017, RSAEP), without padding; as `raw_private`."""
        return self._calls.raw(False, numbers, key_indices, errors, out)

    @overload
    def verify(
        self,
        signatures: Buffer,
        messages: Buffer,
        key_indices: int | None,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerdictsAlone = ...,
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> bool: ...

    @overload
    def verify(
        self,
        signatures: list[bytes],
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerdictsAlone = ...,
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> list[bool]: ...

    @overload
    def verify(
        self,
        signatures: list[bytes],
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["status"],
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> tuple[list[bool], Statuses]: ...

    @overload
    def verify(
        self,
        signatures: NDArray[np.uint8],
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerdictsAlone = ...,
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> NDArray[np.bool_]: ...

    @overload
    def verify(
        self,
        signatures: NDArray[np.uint8],
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["status"],
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> tuple[NDArray[np.bool_], Statuses]: ...

    @overload
    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerifyErrors = ...,
        left_pad: bool = ...,
        progress: Progress | None = ...,
    ) -> Any: ...

    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: VerifyErrors = "false",
        progress: Progress | None = None,
        left_pad: bool = False,
    ) -> Any:
        """Whether each signature is good; what is no signature, for whatever reason, is False.

        Args:
            signatures: in any kind that `sign` takes, of any length.
            messages: likewise; one bytes object is the message of every item.
            key_indices: as in `sign`; an item whose key is not there is False, and has a status.
            padding: as in `sign`.
            algorithm: as in `sign`.
            errors: items that cannot be checked (no such key, a padding that it excludes, a wrong length) are
                False too, and with ``"status"`` have a `Status`; ``"raise"``: `ItemValueError` names them.
            progress: as in `sign`.
            left_pad: take a signature that is shorter than its modulus for one whose leading zero bytes were
                left out, as some writers do; otherwise it is False.

        Returns:
            A bool for bytes, a list of them for a list, a bool array for ``uint8[N, W]`` and arrays of bytes,
            an Arrow array for Arrow and a column for a column (null where a signature or message is); the
            signatures decide, or the messages if the signature is a single one.

        Raises:
            ValueError: if the ring has one key and that excludes the padding, the hash or the salt's length,
                unless statuses tell it.
        """
        return self._calls.verify(
            signatures, messages, key_indices, padding, algorithm, errors, progress, left_pad
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled: the keys may be private."""
        raise TypeError("a KeyRing cannot be pickled: make it anew where it is used")

    def __repr__(self) -> str:
        """Number and sizes of the keys; no number of theirs."""
        sizes = sorted({key.key_size for key in self._keys})
        return f"KeyRing({len(self)} keys, bits={sizes}, device={self._calls.device!r})"
