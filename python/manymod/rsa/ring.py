# SPDX-License-Identifier: Apache-2.0
"""Many keys at once: batches in which each item names its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._forked import ProcessOwn
from manymod._run import Errors, Progress, Watched
from manymod.errors import Status, _raise_items
from manymod.plan import checked_choice, checked_errors, checked_integer, checked_items, checked_threads
from manymod.rsa._items import Items, Kind, bytes_answer, check_out, common_count, flags_answer, items
from manymod.rsa.padding import NO_PADDING, native_padding

if TYPE_CHECKING:
    from manymod.rsa.keys import PrivateKey, PublicKey

__all__ = ["KeyRing"]

#: mm_rsa_op, from rsa.h.
_PUBLIC, _PRIVATE, _SIGN, _ENCRYPT, _DECRYPT = 0, 1, 2, 4, 5

#: MM_ERR_ITEMS: the call ran, some items carry a status.
_SOME_ITEMS = 64


class KeyRing:
    """Keys, public or private, of any sizes, and where to compute with them.

    Args:
        keys: `PrivateKey` and `PublicKey` objects, at least one; items name them by their position.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:K"``.
        variant: name of a variant to force for every power; see `manymod.variants`.
        threads: CPU threads of its calls; 0: as `manymod.set_threads` says.
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
        self._keys = tuple(keys)
        if not self._keys:
            raise ValueError("a KeyRing needs at least one key")
        for position, key in enumerate(self._keys):
            if not isinstance(getattr(key, "_native", None), _core.RsaKey):
                raise TypeError(f"key {position} is a {type(key).__name__}, no PrivateKey or PublicKey")
        self._widths = np.array([key.modulus_bytes for key in self._keys], np.int64)
        self._options = (*checked_choice(device, variant), checked_threads(threads), bool(blinding))
        self._handle = ProcessOwn(self._make())

    def _make(self) -> _core.RsaRing:
        return _core.RsaRing([key._native for key in self._keys], *self._options)

    def _handle_here(self) -> _core.RsaRing:
        return self._handle.get(self._make)

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
        """CPU threads of its calls; 0: as `manymod.set_threads` says."""
        return int(self._options[2])

    @property
    def private_items(self) -> int:
        """Private operations computed so far; not those of items that could not begin."""
        return self._handle_here().private_items

    @property
    def recomputed(self) -> int:
        """Private operations whose result failed the check and which were computed again without CRT.

        Their results are right; a number other than 0 says that the hardware, or its memory, is failing, or
        that a factor of a key is not prime (see `check_primes` of `PrivateKey.from_pem`).
        """
        return self._handle_here().recomputed

    def variant_for(self, key: int, items: int, *, private: bool = True) -> str:
        """Name of the variant that computes the private or public operation of `items` items of a key.

        Where both powers of a private operation are computed together, it is the one for twice as many.
        """
        self._keys[key]
        return self._handle_here().variant(key % len(self), bool(private), checked_items("items", items))

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
                beside several key indices is signed with each.
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
                for the padding, or if a digest has a wrong length; names the items.

        Every signature was checked with the public key. Timing class: secret.
        """
        return self._run(
            "sign",
            _SIGN,
            native_padding(padding, algorithm, "sign"),
            ("messages", messages),
            key_indices,
            errors,
            out,
            progress,
        )

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
        native = native_padding(padding, None, "encrypt")
        return self._run(
            "decrypt", _DECRYPT, native, ("ciphertexts", ciphertexts), key_indices, errors, out, progress
        )

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
        native = native_padding(padding, None, "encrypt")
        return self._run(
            "encrypt", _ENCRYPT, native, ("messages", messages), key_indices, errors, out, progress
        )

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
        return self._run("raw", _PRIVATE, NO_PADDING, ("numbers", numbers), key_indices, errors, out, None)

    def raw_public(
        self, numbers: Any, key_indices: Any = None, *, errors: Errors = "raise", out: Any = None
    ) -> Any:
        """m^e mod n of big-endian numbers m < n (RFC 8017, RSAEP), without padding; as `raw_private`."""
        return self._run("raw", _PUBLIC, NO_PADDING, ("numbers", numbers), key_indices, errors, out, None)

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
    ) -> Any:
        """Whether each signature is good; what is no signature, for whatever reason, is False: none raises.

        Args:
            signatures: in any kind that `sign` takes, of any length.
            messages: likewise; one bytes object stands for every item.
            key_indices: as in `sign`; an item whose key is not there is False.
            padding: as in `sign`.
            algorithm: as in `sign`.
            errors: ``"status"`` also returns one `Status` per item, which tells a missing key and a digest of
                the wrong length from a bad signature.
            progress: as in `sign`.

        Returns:
            A bool for bytes, a list of them for a list, a bool array for ``uint8[N, W]``, an Arrow array for
            Arrow (null where a signature or message is); the signatures decide, or the messages if the
            signature is a single one.
        """
        if errors not in {"false", "status"}:
            raise ValueError(f"errors must be 'false' or 'status', not {errors!r}")
        native = native_padding(padding, algorithm, "verify")
        given, texts = items("signatures", signatures), items("messages", messages)
        indices = self._indices(key_indices)
        count = common_count(
            {"signatures": given.count, "messages": texts.count, "key_indices": _length(indices)}
        )
        source = _source(count, given, texts)
        total = 1 if count is None else count
        null, rows = _present(source, given, texts)
        valid = np.zeros(total, np.bool_)
        part = total if rows is None else len(rows)
        flags, status = np.zeros(part, np.uint8), np.empty(part, np.uint8)
        if rows is not None:
            given, texts, indices = given.take(rows), texts.take(rows), _taken(indices, rows)
        watched = None if progress is None else Watched(progress)
        keys = _broadcast(indices, part)
        self._handle_here().verify(
            native, part, keys, texts.block, texts.offsets, given.block, given.offsets, flags, status, watched
        )
        if watched is not None:
            watched.finish(total)
        there = slice(None) if rows is None else rows
        valid[there] = flags != 0
        verdicts = flags_answer(source, valid, null)
        if errors == "false":
            return verdicts
        statuses = np.full(total, Status.NOT_COMPUTED, np.uint8)
        statuses[there] = status
        return verdicts, (Status(int(status[0])) if count is None else statuses)

    def _indices(self, key_indices: Any) -> NDArray[np.uint32] | None:
        """Indices as the C ABI has them; one that no key has becomes the first such one."""
        if key_indices is None:
            return None
        if isinstance(key_indices, (int, np.integer)):
            key_indices = [checked_integer("key_indices", key_indices)]
            return self._bounded(np.asarray(key_indices)).reshape(())
        given = np.asarray(key_indices)
        if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
            raise TypeError("key_indices must be an integer or a 1-D sequence of integers")
        return self._bounded(given)

    def _bounded(self, given: NDArray[Any]) -> NDArray[np.uint32]:
        missing = (given < 0) | (given >= len(self))
        return np.where(missing, len(self), given).astype(np.uint32)

    def _width(self, indices: NDArray[np.uint32] | None, one_size: bool) -> int:
        """Bytes of the longest modulus that is used."""
        if indices is None:
            return self._keys[0].modulus_bytes
        used = self._widths[indices[indices < len(self)]]
        widest = int(np.max(used, initial=0))
        if one_size and np.size(used) and int(np.min(used)) != widest:
            raise ValueError("keys of different sizes: give the batch as a list, the results vary in length")
        return widest or int(self._widths.max())

    def _run(
        self,
        op: str,
        number: int,
        padding: _core.RsaPadding,
        operand: tuple[str, Any],
        key_indices: Any,
        errors: Errors,
        out: Any,
        progress: Progress | None,
    ) -> Any:
        checked_errors(errors)
        name, value = operand
        given, indices = items(name, value), self._indices(key_indices)
        count = common_count({name: given.count, "key_indices": _length(indices)})
        source = _source(count, given)
        if number == _DECRYPT and source.kind is Kind.ROWS:
            source = Items(Kind.LIST, source.count, ())
        total = 1 if count is None else count
        width = self._width(indices, source.kind is Kind.ROWS)
        if out is not None:
            check_out(out, source.kind, total, width)
        null, present = _present(source, given)
        batch = _Batch(total, width, _direct(out, value))
        watched = None if progress is None else Watched(progress)
        try:
            some_bad = batch.run(self._handle_here(), number, padding, given, indices, present, watched)
            if watched is not None:
                watched.finish(total)
            one_size = number != _DECRYPT
            result = bytes_answer(source, batch.rows, batch.sizes, null, out, one_size=one_size)
        finally:
            if number == _DECRYPT:
                batch.rows.fill(0)  # every answer of this operation is a copy
        if errors == "status":
            return result, (Status(int(batch.status[0])) if count is None else batch.status)
        if some_bad:
            bad = batch.status != 0
            if null is not None:
                bad &= ~null
            _raise_items(op, bad, batch.status, result, count is None)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse to be pickled: the keys may be private."""
        raise TypeError("a KeyRing cannot be pickled: make it anew where it is used")

    def __repr__(self) -> str:
        """Number and sizes of the keys; no number of theirs."""
        sizes = sorted({key.key_size for key in self._keys})
        device = self._options[0]
        return f"KeyRing({len(self)} keys, bits={sizes}, device={device!r})"


class _Batch:
    """Results of a call while they are made: rows, their sizes and statuses."""

    def __init__(self, count: int, width: int, out: NDArray[np.uint8] | None) -> None:
        self.rows = np.zeros((count, width), np.uint8) if out is None else out
        self.sizes = np.zeros(count, np.uint64)
        self.status = np.full(count, Status.NOT_COMPUTED, np.uint8)

    def run(
        self,
        handle: _core.RsaRing,
        op: int,
        padding: _core.RsaPadding,
        given: Items,
        indices: NDArray[np.uint32] | None,
        present: NDArray[np.intp] | None,
        progress: Progress | None,
    ) -> bool:
        """Compute the items that are present (None: all). Returns whether some have a status."""
        if present is None:
            keys = _broadcast(indices, len(self.rows))
            arguments = (given.block, given.offsets, self.rows, self.sizes, self.status)
            return handle.run(op, padding, len(self.rows), keys, *arguments, progress) == _SOME_ITEMS
        part = _Batch(len(present), self.rows.shape[1], None)
        try:
            bad = part.run(handle, op, padding, given.take(present), _taken(indices, present), None, progress)
            self.rows[present], self.sizes[present] = part.rows, part.sizes
            self.status[present] = part.status
        finally:
            part.rows.fill(0)
        return bad


def _length(indices: NDArray[np.uint32] | None) -> int | None:
    return None if indices is None or indices.ndim == 0 else len(indices)


def _broadcast(indices: NDArray[np.uint32] | None, count: int) -> NDArray[np.uint32] | None:
    return None if indices is None else np.ascontiguousarray(np.broadcast_to(indices, (count,)))


def _taken(indices: NDArray[np.uint32] | None, rows: NDArray[np.intp]) -> NDArray[np.uint32] | None:
    return indices if indices is None or indices.ndim == 0 else indices[rows]


def _source(count: int | None, *operands: Items) -> Items:
    """What decides the kind of the answer: the first batch; a list where key indices alone make it one."""
    batch = next((given for given in operands if given.count is not None), operands[0])
    return batch if batch.count is not None or count is None else Items(Kind.LIST, count, ())


def _present(source: Items, *operands: Items) -> tuple[NDArray[np.bool_] | None, NDArray[np.intp] | None]:
    """Where an operand is null, and the positions of the other items; None twice where none is."""
    null: NDArray[np.bool_] | None = None
    for given in operands:
        if given.null is not None:
            null = given.null if null is None else null | given.null
    if null is None:
        return None, None
    if source.kind is Kind.ROWS:
        raise ValueError(f"an operand has nulls, which results as {source.kind.value} cannot hold")
    return null, np.flatnonzero(~null)


def _direct(out: Any, value: Any) -> NDArray[np.uint8] | None:
    """`out` itself, where the library may write there while it reads `value`."""
    if not isinstance(out, np.ndarray) or not out.flags.c_contiguous:
        return None
    return None if isinstance(value, np.ndarray) and np.may_share_memory(out, value) else out
