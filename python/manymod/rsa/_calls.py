# SPDX-License-Identifier: Apache-2.0
"""RSA calls on keys of the extension: what keys and rings of keys have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._byte_calls import Operands, answer_bytes, answer_verdicts
from manymod._byte_items import Kind, Results, Verdicts, check_verdict_errors, items, source_of
from manymod._forked import ProcessOwn
from manymod._key_indices import key_numbers
from manymod._run import Progress
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
        given = {"signatures": items("signatures", signatures), "messages": items("messages", messages)}
        indices, labels = key_numbers(key_indices, len(self._keys))
        operands = Operands(given, indices, labels)

        def compute(part: Operands, verdicts: Verdicts, watched: Progress | None) -> int:
            texts, signed = part.given["messages"], part.given["signatures"]
            blocks = (texts.block, texts.offsets, signed.block, signed.offsets)
            places = (verdicts.flags, verdicts.status, watched, left_pad)
            code = self.handle.verify(native, part.total, part.index_of_each(), *blocks, *places)
            untold = code == _core.MM_ERR_ITEMS and errors == "false" and len(self._keys) == 1
            if untold and (verdicts.status == Status.RSA_PADDING).any():
                raise ValueError(f"the padding is not one that the key allows: {pss_limits(self._keys[0])}")
            return code

        source = source_of(operands.count, *given.values())
        return answer_verdicts(compute, operands, source, errors=errors, progress=progress)

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
        secret_operands = frozenset({name} if number == _core.MM_RSA_ENCRYPT else ())
        operands = Operands({name: given}, indices, labels, secret_operands)
        one_size = number != _core.MM_RSA_DECRYPT
        source = source_of(operands.count, given, one_size=one_size)

        def compute(part: Operands, results: Results, watched: Progress | None) -> int:
            texts, keys = part.given[name], part.index_of_each()
            arrays = (texts.block, texts.offsets, results.rows, results.sizes, results.status)
            return self.handle.run(number, padding, part.total, keys, *arrays, watched)

        return answer_bytes(
            op,
            compute,
            operands,
            source,
            width=self.width(indices, source.kind is Kind.ROWS),
            one_size=one_size,
            secret=number in _SECRET_RESULTS,
            errors=errors,
            out=out,
            progress=progress,
        )
