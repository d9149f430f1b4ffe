# SPDX-License-Identifier: Apache-2.0
"""RSA calls on keys of the extension: what keys and rings of keys have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._byte_items import (
    Items,
    Kind,
    Results,
    Verdicts,
    answer_or_error,
    bytes_answer,
    check_out,
    check_verdict_errors,
    common_count,
    direct_out,
    items,
    present_rows,
    source_of,
)
from manymod._forked import ProcessOwn
from manymod._key_indices import broadcast, key_numbers, length, taken
from manymod._run import Progress, Watched
from manymod._series import check_labels
from manymod.errors import Status
from manymod.plan import checked_choice, checked_errors, checked_flag, checked_threads
from manymod.rsa.padding import NO_PADDING, native_padding, pss_limits

__all__ = ["KeyCalls"]

#: Operations with secret results, which no exception holds.
_SECRET_RESULTS = frozenset({_core.MM_RSA_DECRYPT, _core.MM_RSA_PRIVATE})


class KeyCalls:
    """The calls on some keys, with what the library precomputes for them. `KeyRing` documents each call."""

    def __init__(
        self,
        keys: Sequence[_core.RsaKey],
        device: str = "auto",
        variant: str | None = None,
        threads: int = 0,
        blinding: bool = True,
    ) -> None:
        self._keys = list(keys)
        self._widths = np.array([key.modulus_bytes for key in keys], np.int64)
        self.device, variant = checked_choice(device, variant)
        self.threads = checked_threads(threads)
        self._options = (self.device, variant, self.threads, checked_flag("blinding", blinding))
        self._handle = ProcessOwn(self._make())

    def _make(self) -> _core.RsaRing:
        return _core.RsaRing(self._keys, *self._options)

    @property
    def handle(self) -> _core.RsaRing:
        """The extension's ring, of this process."""
        return self._handle.get(self._make)

    def sign(
        self,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        errors: str,
        out: Any,
        progress: Progress | None,
    ) -> Any:
        """Sign messages."""
        native = native_padding(padding, algorithm, "sign")
        operand = ("messages", messages)
        return self._run("sign", _core.MM_RSA_SIGN, native, operand, key_indices, errors, out, progress)

    def decrypt(
        self,
        ciphertexts: Any,
        key_indices: Any,
        padding: Any,
        errors: str,
        out: Any,
        progress: Progress | None,
    ) -> Any:
        """Decrypt ciphertexts."""
        native = native_padding(padding, None, "encrypt")
        operand = ("ciphertexts", ciphertexts)
        return self._run("decrypt", _core.MM_RSA_DECRYPT, native, operand, key_indices, errors, out, progress)

    def encrypt(
        self, messages: Any, key_indices: Any, padding: Any, errors: str, out: Any, progress: Progress | None
    ) -> Any:
        """Encrypt messages."""
        native = native_padding(padding, None, "encrypt")
        operand = ("messages", messages)
        return self._run("encrypt", _core.MM_RSA_ENCRYPT, native, operand, key_indices, errors, out, progress)

    def raw(self, private: bool, numbers: Any, key_indices: Any, errors: str, out: Any) -> Any:
        """Compute the private or public power of numbers, without padding."""
        op = _core.MM_RSA_PRIVATE if private else _core.MM_RSA_PUBLIC
        return self._run("raw", op, NO_PADDING, ("numbers", numbers), key_indices, errors, out, None)

    def verify(
        self,
        signatures: Any,
        messages: Any,
        key_indices: Any,
        padding: Any,
        algorithm: Any,
        errors: str,
        progress: Progress | None,
        left_pad: bool,
    ) -> Any:
        """Check signatures."""
        check_verdict_errors(errors)
        left_pad = checked_flag("left_pad", left_pad)
        native = native_padding(padding, algorithm, "verify")
        given, texts = items("signatures", signatures), items("messages", messages)
        indices, labels = key_numbers(key_indices, len(self._keys))
        count = common_count(
            {"signatures": given.count, "messages": texts.count, "key_indices": length(indices)}
        )
        check_labels({"signatures": given.labels, "messages": texts.labels, "key_indices": labels})
        source = source_of(count, given, texts)
        total = 1 if count is None else count
        null, rows = present_rows(source, given, texts)
        verdicts = Verdicts(total, rows)
        if rows is not None:
            given, texts, indices = given.take(rows), texts.take(rows), taken(indices, rows)
        watched = None if progress is None else Watched(progress)
        keys = broadcast(indices, verdicts.count)
        blocks = (texts.block, texts.offsets, given.block, given.offsets)
        results = (verdicts.flags, verdicts.status)
        code = self.handle.verify(native, verdicts.count, keys, *blocks, *results, watched, left_pad)
        untold = code == _core.MM_ERR_ITEMS and errors == "false" and len(self._keys) == 1
        if untold and (verdicts.status == Status.RSA_PADDING).any():
            raise ValueError(f"the padding is not one that the key allows: {pss_limits(self._keys[0])}")
        if watched is not None:
            watched.finish(total)
        return verdicts.answer(source, null, errors, scalar=count is None)

    def width(self, indices: NDArray[np.uint32] | None, one_size: bool) -> int:
        """Bytes of the longest modulus that is used."""
        if indices is None:
            return self._keys[0].modulus_bytes
        used = self._widths[indices[indices < len(self._keys)]]
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
        errors: str,
        out: Any,
        progress: Progress | None,
    ) -> Any:
        checked_errors(errors)
        name, value = operand
        given, (indices, labels) = items(name, value), key_numbers(key_indices, len(self._keys))
        count = common_count({name: given.count, "key_indices": length(indices)})
        check_labels({name: given.labels, "key_indices": labels})
        source = source_of(count, given)
        if number == _core.MM_RSA_DECRYPT and source.kind is Kind.ROWS:
            source = Items(Kind.LIST, source.count, ())
        total = 1 if count is None else count
        width = self.width(indices, source.kind is Kind.ROWS)
        if out is not None:
            check_out(out, source.kind, total, width)
        null, present = present_rows(source, given)
        batch = _Batch(total, width, direct_out(out, value), sized=source.kind is not Kind.ROWS)
        watched = None if progress is None else Watched(progress)
        decrypts = number == _core.MM_RSA_DECRYPT
        try:
            some_bad = batch.run(self.handle, number, padding, given, indices, present, watched)
            if watched is not None:
                watched.finish(total)
            result = bytes_answer(
                source, batch.rows, batch.sizes, null, out, one_size=not decrypts, wiped=decrypts
            )
        finally:
            if decrypts:
                batch.rows.fill(0)
        if number in _SECRET_RESULTS and some_bad and errors == "raise":
            result = None  # exceptions are logged and pickled, and tracebacks hold this frame
        return answer_or_error(op, result, batch.status, null, errors, scalar=count is None)


class _Batch(Results):
    """The results of a call, which it computes."""

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
            keys = broadcast(indices, len(self.rows))
            arguments = (given.block, given.offsets, self.rows, self.sizes, self.status)
            return handle.run(op, padding, len(self.rows), keys, *arguments, progress) == _core.MM_ERR_ITEMS
        part = self.part(len(present))
        try:
            bad = part.run(handle, op, padding, given.take(present), taken(indices, present), None, progress)
            self.put(present, part)
        finally:
            part.rows.fill(0)
        return bad
