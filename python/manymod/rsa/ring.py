# SPDX-License-Identifier: Apache-2.0
"""Rings of keys: batches in which each item names its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from manymod import _core
from manymod._run import Errors, Progress
from manymod.plan import checked_items
from manymod.rsa._calls import KeyCalls
from manymod.rsa.keys import PrivateKey, PublicKey

__all__ = ["KeyRing"]


class KeyRing:
    """Keys, public or private, of any sizes, and where to compute with them.

    Args:
        keys: `PrivateKey` and `PublicKey` objects, at least one; items name them by their position.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:K"``.
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
        if isinstance(keys, (PrivateKey, PublicKey)):
            raise TypeError(f"keys must be a sequence of keys: [{type(keys).__name__}]")
        self._keys = tuple(keys)
        if not self._keys:
            raise ValueError("a KeyRing needs at least one key")
        for position, key in enumerate(self._keys):
            if not isinstance(getattr(key, "_native", None), _core.RsaKey):
                raise TypeError(f"key {position} is a {type(key).__name__}, no PrivateKey or PublicKey")
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
            messages: bytes, a list of bytes, ``uint8[N, W]``, or an Arrow binary array; one bytes object
                is signed with each of several key indices.
            key_indices: an integer, or N of them; None: key 0.
            padding: ``PKCS1v15`` or ``PSS`` of the cryptography package, a `Padding`, or its scheme's name.
            algorithm: the hash, by name or as an object of the cryptography package; or `Prehashed` (of
                either package), where the messages are digests.
            errors: as in `powmod`.
            out: a list, or ``uint8[N, K]`` for messages of that kind, to write into.
            progress: called with the number of items done and in all.

        Returns:
            Signatures as long as the item's modulus, in the kind of the messages. ``uint8[N, K]`` needs keys
            of one size; of fixed_size_binary the answer is fixed_size_binary where they have one size, else,
            and where no item has a result, binary.

        Raises:
            ItemValueError: (a ValueError) if there is no such key or it is public, if the key is too short
                for the padding or excludes it, or if a digest has a wrong length; names the items.

        Every signature was checked with the public key. Timing class: secret.
        """
        return self._calls.sign(messages, key_indices, padding, algorithm, errors, out, progress)

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
            errors: as in `powmod`.
            out: a list to write into.
            progress: as in `sign`.

        Returns:
            The messages in the kind of the ciphertexts; as lengths vary, a list for ``uint8[N, W]`` and
            binary for fixed_size_binary.

        Raises:
            ItemValueError: (a ValueError) if there is no such key or it is public, if a ciphertext has a
                wrong length or is not below the modulus, or if OAEP's padding is wrong; names the items.

        PKCS#1 v1.5 rejects implicitly: of a wrong padding comes a message that depends on the key and the
        ciphertext alone, and no error. Timing class: secret.
        """
        return self._calls.decrypt(ciphertexts, key_indices, padding, errors, out, progress)

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
            errors: as in `powmod`.
            out: as in `sign`.

        Raises:
            ItemValueError: (a ValueError) if a number is not below its modulus, among others.

        Without padding this is neither a signature nor a decryption that is safe to use.
        """
        return self._calls.raw(True, numbers, key_indices, errors, out)

    def raw_public(
        self, numbers: Any, key_indices: Any = None, *, errors: Errors = "raise", out: Any = None
    ) -> Any:
        """m^e mod n of big-endian numbers m < n (RFC 8017, RSAEP), without padding; as `raw_private`."""
        return self._calls.raw(False, numbers, key_indices, errors, out)

    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        *,
        errors: Literal["false", "status"] = "false",
        progress: Progress | None = None,
        left_pad: bool = False,
    ) -> Any:
        """Whether each signature is good; what is no signature, for whatever reason, is False: none raises.

        Args:
            signatures: in any kind that `sign` takes, of any length.
            messages: likewise; one bytes object is the message of every item.
            key_indices: as in `sign`; an item whose key is not there is False.
            padding: as in `sign`.
            algorithm: as in `sign`.
            errors: ``"status"`` also returns one `Status` per item, which tells a missing key, a padding that
                the key excludes, and a signature or a digest of the wrong length from a bad signature.
            progress: as in `sign`.
            left_pad: take a signature that is shorter than its modulus for one whose leading zero bytes were
                left out, as some writers do; otherwise it is False.

        Returns:
            A bool for bytes, a list of them for a list, a bool array for ``uint8[N, W]``, an Arrow array for
            Arrow (null where a signature or message is); the signatures decide, or the messages if the
            signature is a single one.

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
        device = self._calls.device
        return f"KeyRing({len(self)} keys, bits={sizes}, device={device!r})"
