# SPDX-License-Identifier: Apache-2.0
"""A signing service: requests of many threads and coroutines, gathered into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manymod import _core
from manymod._batch_signer import BatchSigner, Scheme, SignerOptions, SignerStatistics
from manymod._byte_items import items
from manymod._hashes import Prehashed, hasher, read_algorithm
from manymod.errors import SignerClosedError, SignerFullError
from manymod.rsa.keys import PrivateKey
from manymod.rsa.padding import native_padding
from manymod.rsa.ring import KeyRing

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

__all__ = ["Signer", "SignerClosedError", "SignerFullError", "SignerStatistics"]


class Signer(BatchSigner):
    """Signs single messages for many threads and coroutines, in batches.

    Requests wait in a queue of bounded length (docs/service.md), from which up to `max_concurrent` batches
    are signed at the same time. The signer knows how fast requests come and how long batches take. It holds
    a request back, for at most `deadline`, only while that lets it keep up: a request that finds it idle is
    signed at once, one of `sign` without a timeout on its caller's own thread. Single messages are hashed by
    their callers: a long one holds up no other request, and the queue holds digests alone, at most 64 bytes
    a request. Arrays of messages (`submit_many`) are hashed with their batches.

    Args:
        keys: a `PrivateKey`, or a `KeyRing` whose keys requests name by their index.
        padding: as in `KeyRing.sign`.
        algorithm: as in `KeyRing.sign`.
        deadline: seconds that a request may be held back for others to join it.
        max_batch: most requests of one call.
        max_queue: requests that wait when the queue counts as full, and answers that wait to be handed out
            when no more are computed.
        max_waiters: most coroutines that await room in the queue; one more meets `SignerFullError`.
        max_concurrent: most batches that are signed at the same time, each by a thread of its own; None: 6
            for each GPU where GPUs sign full batches, otherwise as many as the ring has CPU threads.
        full: what a request meets that finds the queue full: ``"block"``, it waits for room, or ``"raise"``,
            `SignerFullError`.

    Raises:
        TypeError: if `keys` is neither.
        ValueError: for a number that is out of range.

    Every request that was accepted is answered exactly once: with its signature, with an exception, or, if it
    is cancelled before it begins, by its cancellation. Close the signer, or use it as a context manager; one
    that nobody has any more signs what waits, and ends. When the interpreter exits, requests that wait are
    cancelled. It belongs to its process: in a forked child it takes no requests and has no statistics.

    >>> from manymod import rsa
    >>> from cryptography.hazmat.primitives.asymmetric import rsa as foreign
    >>> key = rsa.PrivateKey.from_cryptography(foreign.generate_private_key(65537, 1024))
    >>> messages = [b"one", b"two"]
    >>> with Signer(key, "pkcs1v15", "sha256") as signer:
    ...     single, many = signer.submit(b"one"), signer.submit_many(messages)
    >>> many.result() == key.sign(messages, "pkcs1v15", "sha256")
    True
    >>> single.result() == many.result()[0]
    True
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
        calls = ring._calls

        def add(service: _core.SigningService) -> tuple[int, int]:
            single = service.add_rsa(calls.handle, _core.MM_RSA_SIGN, native)
            if prehashed:
                return single, single
            hashing = native_padding(padding, algorithm, "sign")
            return single, service.add_rsa(calls.handle, _core.MM_RSA_SIGN, hashing)

        def prepare(message: Buffer) -> bytes:
            """The digest; of a given one of a wrong length only that it has one."""
            if not prehashed:
                return digest(message)
            return bytes(message) if memoryview(message).nbytes == size else b""

        def width_of(indices: Any, one_size: bool) -> tuple[int, int]:
            return calls.width(indices, one_size), calls.handle.max_modulus_bytes

        def on_gpu(batch: int) -> bool:
            names = (ring.variant_for(key, batch) for key in range(len(ring)))
            return any(backend in name.split(".") for name in names for backend in ("cuda", "opencl"))

        scheme = Scheme(add, prepare, items, width_of, True, len(ring), ring.threads, on_gpu)
        super().__init__(scheme, **options)
