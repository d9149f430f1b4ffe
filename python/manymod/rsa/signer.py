# SPDX-License-Identifier: Apache-2.0
"""A signing service: requests of many threads and coroutines, gathered into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manymod._batch_signer import BatchSigner, SignerOptions
from manymod._hashes import Prehashed, hasher, read_algorithm
from manymod._signer_service import SignerClosedError, SignerFullError, SignerStatistics
from manymod.hardware import variants
from manymod.rsa.keys import PrivateKey
from manymod.rsa.padding import native_padding
from manymod.rsa.ring import KeyRing

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

__all__ = ["Signer", "SignerClosedError", "SignerFullError", "SignerStatistics"]


class Signer(BatchSigner):
    """Signs single messages for many threads and coroutines, in batches.

    Requests wait in a queue of bounded length; threads take them out, at most `max_batch` at a time, and sign
    them in one call. A batch begins when `max_batch` requests wait, or when the first of them has waited for
    `deadline`, and `max_concurrent` batches may be signed at the same time; a request that finds the signer
    idle is signed at once, one of `sign` without a timeout on its caller's own thread. Messages are hashed by
    their callers: a long one holds up no other request, and the queue holds digests alone, at most 64 bytes a
    request.

    Args:
        keys: a `PrivateKey`, or a `KeyRing` whose keys requests name by their index.
        padding: as in `KeyRing.sign`.
        algorithm: as in `KeyRing.sign`.
        deadline: seconds that a request may be held back for others to join it; a quarter of them is left to
            the threads and the interpreter.
        max_batch: most requests of one call.
        max_queue: most requests that wait.
        max_waiters: most coroutines that await room in the queue; one more meets `SignerFullError`.
        max_concurrent: most batches that are signed at the same time, each by a thread of its own; None: 16
            where a GPU signs full batches, otherwise as many as the ring has CPU threads.
        full: what a request meets that finds the queue full: ``"block"``, it waits for room, or ``"raise"``,
            `SignerFullError`.

    Every request that was accepted is answered exactly once: with its signature, with an exception, or, if it
    is cancelled before it begins, by its cancellation. Close the signer, or use it as a context manager; when
    the interpreter exits, requests that wait are cancelled. It belongs to its process: in a forked child it
    takes no requests and has no statistics.
    """

    def __init__(
        self, keys: PrivateKey | KeyRing, padding: Any, algorithm: Any, **options: Unpack[SignerOptions]
    ) -> None:
        hash_name, prehashed = read_algorithm(algorithm)
        native = native_padding(padding, Prehashed(hash_name), "sign")  # once for all requests
        digest = hasher(hash_name)
        size = len(digest(b""))
        if not isinstance(keys, (PrivateKey, KeyRing)):
            raise TypeError(f"keys must be a PrivateKey or a KeyRing, not {type(keys).__name__}")
        ring = keys if isinstance(keys, KeyRing) else KeyRing([keys])
        several = len(ring) > 1

        def compute(digests: list[bytes], indices: list[int]) -> Any:
            return ring.sign(digests, indices if several else None, native, None, errors="status")

        def prepare(message: Buffer) -> bytes:
            """The digest; of a given one of a wrong length only that it has one."""
            if not prehashed:
                return digest(message)
            return bytes(message) if memoryview(message).nbytes == size else b""

        def on_gpu(batch: int) -> bool:
            names = {variant.name for variant in variants() if variant.backend == "cuda"}
            return any(ring.variant_for(key, batch) in names for key in range(len(ring)))

        super().__init__(compute, prepare, len(ring), ring.threads, on_gpu, **options)
