# SPDX-License-Identifier: Apache-2.0
"""A signing service: requests of many threads and coroutines, gathered into batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from manymod import _core
from manymod._batch_signer import BatchSigner, Scheme, SignerStatistics
from manymod.ecc._operands import byte_items
from manymod.ecc._options import SignOptions, check_keywords, sign_settings
from manymod.ecc.keys import Key
from manymod.ecc.ring import KeyRing
from manymod.errors import SignerClosedError, SignerFullError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from manymod._batch_signer import SignerOptions

__all__ = ["Signer", "SignerClosedError", "SignerFullError", "SignerStatistics"]


class Signer(BatchSigner):
    """Signs single messages for many threads and coroutines, in batches, as `manymod.rsa.Signer` does.

    Messages wait whole, and the batch hashes them.

    Args:
        keys: a `Key`, or a `KeyRing` whose keys requests name by their index.
        how: keywords of `Curve.sign`, such as ``{"encoding": "der"}``; nonces that are given are not allowed.
        **options: `deadline`, `max_batch`, `max_queue`, `max_waiters`, `max_concurrent`, `full` of
            `manymod.rsa.Signer`.

    Raises:
        TypeError: if `keys` is neither, or a public `Key`.
        ValueError: if none of their curves has such signatures.

    >>> from manymod import ecc
    >>> key = ecc.Key.generate(ecc.P256)
    >>> with Signer(key) as signer:
    ...     signature = signer.sign(b"message")
    >>> key.verify(signature, b"message")
    True
    """

    def __init__(
        self, keys: Key | KeyRing, how: Mapping[str, Any] | None = None, **options: Unpack[SignerOptions]
    ) -> None:
        if not isinstance(keys, (Key, KeyRing)):
            raise TypeError(f"keys must be a Key or a KeyRing, not {type(keys).__name__}")
        if isinstance(keys, Key) and not keys.is_private:
            raise TypeError("keys must be a private Key or a KeyRing, not a public Key")
        ring = keys if isinstance(keys, KeyRing) else KeyRing([keys])
        if not isinstance(how, (Mapping, type(None))):
            raise TypeError(f"how must be a mapping of keywords of sign, not {type(how).__name__}")
        words = dict(how or {})
        check_keywords("sign", words, SignOptions)
        if not isinstance(words.get("nonces", ""), str):
            raise ValueError("nonces of a Signer cannot be given: they are 'deterministic' or 'hedged'")
        calls = ring._calls
        settings = sign_settings(calls.on_curves.curves, **words)

        def add(service: _core.SigningService) -> tuple[int, int]:
            try:
                number = calls.add_signing(service, settings)
            except ValueError:
                # The service says what the C ABI would have; a call, why these keys cannot sign in this way.
                ring.sign(b"", **words)
                raise
            return number, number

        def width_of(_indices: Any, one_size: bool) -> tuple[int, int]:
            if one_size:
                calls.check_one_size()
            return settings.width, settings.width

        def on_gpu(_batch: int) -> bool:
            return any(
                backend in ring.variant_for(key) for key in range(len(ring)) for backend in ("cuda", "opencl")
            )

        scheme = Scheme(add, bytes, byte_items, width_of, settings.one_size, len(ring), ring.threads, on_gpu)
        super().__init__(scheme, **options)
