# SPDX-License-Identifier: Apache-2.0
"""Calls on plans of the extension: what curves, keys and rings of keys have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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
    present_rows,
    source_of,
)
from manymod._forked import KeptHandles, ProcessOwn
from manymod._key_indices import broadcast, length, taken
from manymod._run import Progress, Watched
from manymod._series import check_labels
from manymod.ecc._options import PlanOptions, Settings, check_keywords, is_edwards
from manymod.errors import _item_error
from manymod.plan import (
    checked_choice,
    checked_errors,
    checked_threads,
)

__all__ = ["CurveCalls", "calls_with", "split_options"]

#: The operands of the C ABI's mm_ecc_call, in its order, each with the names that calls have for it.
_INPUTS = (
    ("secrets", "scalars"),
    ("points", "public_keys"),
    ("others", "ephemeral_public_keys"),
    ("messages",),
    ("signatures",),
    ("nonces", "ephemeral_secrets"),
    ("context", "ids"),
    ("peer_ids",),
)
#: Operands whose copies are zeroed after use.
_SECRETS = frozenset({"secrets", "scalars", "nonces", "ephemeral_secrets"})
#: Operations with secret results, which no exception holds.
_SECRET_RESULTS = frozenset({_core.MM_ECC_EXCHANGE, _core.MM_ECC_MULTIPLY, _core.MM_ECC_SM2_EXCHANGE})


class CurveCalls:
    """The calls on some curves, with what the library precomputes for them."""

    def __init__(
        self,
        curves: Sequence[_core.EccCurve],
        device: str = "auto",
        variant: str | None = None,
        threads: int = 0,
    ) -> None:
        self.curves = list(curves)
        self.device, variant = checked_choice(device, variant)
        self.threads = checked_threads(threads)
        self._options = (self.device, variant, self.threads)
        self._handle = ProcessOwn(self._make())

    def _make(self) -> _core.EccPlan:
        return _core.EccPlan(self.curves, *self._options)

    @property
    def handle(self) -> _core.EccPlan:
        """The extension's plan, of this process."""
        return self._handle.get(self._make)

    def run(
        self,
        name: str,
        op: int,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        curves: NDArray[np.uint32] | None = None,
        labels: Mapping[str, Any] | None = None,
        errors: str = "raise",
        out: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """Compute results that are bytes. The first batch among `operands` decides the kind of the answer.

        Args:
            name: of the operation in messages.
            op: an mm_ecc_op.
            settings: how to compute.
            operands: by their names in messages; `nonces` and `context` are in the settings.
            curves: indices of the items' curves; None: the first one.
            labels: of further operands.
            errors: as everywhere in the package.
            out: likewise.
            progress: likewise.
        """
        checked_errors(errors)
        count, given = _checked(operands, settings, curves, labels)
        source = source_of(count, *operands.values())
        if source.kind is Kind.ROWS and not settings.one_size:
            source = Items(Kind.LIST, source.count, ())
        total = 1 if count is None else count
        if out is not None:
            check_out(out, source.kind, total, settings.width)
        null, present = present_rows(source, *given.values())
        direct = out
        for operand in given.values():
            direct = direct_out(direct, operand.block)
        batch = _Batch(total, settings.width, direct, sized=source.kind is not Kind.ROWS)
        watched = None if progress is None else Watched(progress)
        secret = op in _SECRET_RESULTS
        wiped = secret and source.kind is not Kind.ROWS
        try:
            some_bad = batch.run(self.handle, op, settings.native, given, curves, present, watched)
            if watched is not None:
                watched.finish(total)
            result = bytes_answer(
                source, batch.rows, batch.sizes, null, out, one_size=settings.one_size, wiped=wiped
            )
        finally:
            if wiped:
                batch.rows.fill(0)
            for word in _SECRETS & given.keys():
                given[word].wipe()
        if secret and some_bad and errors == "raise":
            result = None  # exceptions are logged and pickled, and tracebacks hold this frame
        return answer_or_error(name, result, batch.status, null, errors, scalar=count is None)

    def verify(
        self,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        curves: NDArray[np.uint32] | None = None,
        labels: Mapping[str, Any] | None = None,
        errors: str = "false",
        progress: Progress | None = None,
    ) -> Any:
        """Compute a verdict for each item."""
        check_verdict_errors(errors)
        count, given = _checked(operands, settings, curves, labels)
        source = source_of(count, *operands.values())
        total = 1 if count is None else count
        null, present = present_rows(source, *given.values())
        verdicts = Verdicts(total, present)
        watched = None if progress is None else Watched(progress)
        arguments = _arguments(given, curves, present, verdicts.count)
        op, part = _core.MM_ECC_VERIFY, verdicts.count
        flags, status = verdicts.flags, verdicts.status
        self.handle.run(op, settings.native, part, *arguments, None, None, flags, status, watched)
        if watched is not None:
            watched.finish(total)
        return verdicts.answer(source, null, errors, scalar=count is None)

    def verify_all(
        self,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        curves: NDArray[np.uint32] | None = None,
        labels: Mapping[str, Any] | None = None,
        errors: str = "false",
        progress: Progress | None = None,
    ) -> Any:
        """Compute one verdict for all items."""
        check_verdict_errors(errors)
        if settings.policy != "zip215" and self._has_eddsa(settings.scheme, curves):
            raise ValueError("verify_all of EdDSA needs policy='zip215', whose equation has the cofactor")
        count, given = _checked(operands, settings, curves, labels)
        total = 1 if count is None else count
        if any(operand.null is not None for operand in given.values()):
            raise ValueError("an operand has nulls: one verdict for all items needs all of them")
        flag, status = np.zeros(1, np.uint8), np.empty(total, np.uint8)
        watched = None if progress is None else Watched(progress)
        arguments = _arguments(given, curves, None, total)
        op = _core.MM_ECC_VERIFY_ALL
        self.handle.run(op, settings.native, total, *arguments, None, None, flag, status, watched)
        if watched is not None:
            watched.finish(total)
        if errors == "status":
            return bool(flag[0]), status
        if errors == "raise" and (bad := status != 0).any():
            raise _item_error("verify_all", bad, status, bool(flag[0]), count is None)
        return bool(flag[0])

    def _has_eddsa(self, scheme: str | None, curves: NDArray[np.uint32] | None) -> bool:
        """Whether the signature of an item is one of EdDSA, by the scheme or else by the curve of its key."""
        if scheme is not None or curves is None:
            return is_edwards(scheme, self.curves[:1])
        used = (self.curves[index] for index in np.unique(curves) if index < len(self.curves))
        return any(is_edwards(None, [curve]) for curve in used)

    def total(
        self,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        errors: str = "raise",
        progress: Progress | None = None,
    ) -> Any:
        """Compute the sum of products, one point as bytes."""
        checked_errors(errors)
        count, given = _checked(operands, settings, None, None)
        total = 1 if count is None else count
        if any(operand.null is not None for operand in given.values()):
            raise ValueError("an operand has nulls: a sum needs all items")
        row, size, status = (
            np.zeros((1, settings.width), np.uint8),
            np.zeros(1, np.uint64),
            np.empty(total, np.uint8),
        )
        watched = None if progress is None else Watched(progress)
        arguments = _arguments(given, None, None, total)
        code = self.handle.run(
            _core.MM_ECC_SUM, settings.native, total, *arguments, row, size, None, status, watched
        )
        if watched is not None:
            watched.finish(total)
        result = _core.rows_to_bytes(row, size)[0]
        if errors == "status":
            return result, status
        if code == _core.MM_ERR_ITEMS:
            raise _item_error("msm", status != 0, status, result, count is None)
        return result


def _checked(
    operands: Mapping[str, Items],
    settings: Settings,
    curves: NDArray[np.uint32] | None,
    labels: Mapping[str, Any] | None,
) -> tuple[int | None, dict[str, Items]]:
    """The number of items, None where all operands stand for every item, and all operands."""
    given = dict(operands)
    if settings.nonces is not None:
        given["nonces"] = settings.nonces
    if settings.context is not None:
        given["context"] = settings.context
    counts = {name: operand.count for name, operand in given.items()}
    counts["key_indices"] = length(curves)
    check_labels({name: operand.labels for name, operand in given.items()} | dict(labels or {}))
    count = common_count(counts)
    once = settings.nonces is not None and settings.scheme != "bip340" and settings.nonces.count is None
    if once and (count or 1) > 1:
        raise ValueError("nonces: each item needs its own")
    return count, given


def _arguments(
    given: Mapping[str, Items], curves: NDArray[np.uint32] | None, present: NDArray[np.intp] | None, part: int
) -> tuple[NDArray[np.uint32] | None, tuple[tuple[Any, NDArray[np.int64] | None, str] | None, ...]]:
    """The curves and operands of these items (None: all), as the extension takes them."""
    if present is not None:
        given = {name: operand.take(present) for name, operand in given.items()}
        curves = taken(curves, present)
    curves = broadcast(curves, part)
    found = [next((name for name in names if name in given), None) for names in _INPUTS]
    return curves, tuple(
        None if name is None else (given[name].block, given[name].offsets, name) for name in found
    )


class _Batch(Results):
    """The results of a call, which it computes."""

    def run(
        self,
        handle: _core.EccPlan,
        op: int,
        scheme: _core.EccScheme,
        given: Mapping[str, Items],
        curves: NDArray[np.uint32] | None,
        present: NDArray[np.intp] | None,
        progress: Progress | None,
    ) -> bool:
        """Compute the items that are present (None: all). Returns whether some have a status."""
        if present is None:
            arguments = _arguments(given, curves, None, len(self.rows))
            count, rows, sizes, status = len(self.rows), self.rows, self.sizes, self.status
            code = handle.run(op, scheme, count, *arguments, rows, sizes, None, status, progress)
            return code != _core.MM_OK
        part = self.part(len(present))
        chosen = {name: operand.take(present) for name, operand in given.items()}
        try:
            bad = part.run(handle, op, scheme, chosen, taken(curves, present), None, progress)
            self.put(present, part)
        finally:
            part.rows.fill(0)
            for name in _SECRETS & chosen.keys():
                chosen[name].wipe()
        return bad


def _make_calls(
    _environment: str | None, curve: Any, device: str, variant: str | None, threads: int
) -> CurveCalls:
    return CurveCalls([curve.native], device, variant, threads)


_calls = KeptHandles(_make_calls)


def _shared_calls(
    curve: Any, device: str = "auto", variant: str | None = None, threads: int = 0
) -> CurveCalls:
    """The calls on a `Curve` with these options, made at most once while it stays among the 64 last used."""
    device, variant = checked_choice(device, variant)
    environment = None if variant else os.environ.get("MANYMOD_VARIANT")
    return _calls.get(environment, curve, device, variant, checked_threads(threads))


def calls_with(name: str, curve: Any, options: Mapping[str, Any]) -> CurveCalls:
    """The calls on a `Curve` where the keywords of the function `name` say."""
    return split_options(name, curve, options, PlanOptions)[0]


def split_options(
    name: str, curve: Any, options: Mapping[str, Any], accepted: type
) -> tuple[CurveCalls, dict[str, Any]]:
    """The calls on a `Curve` where the keywords of the function `name` say, and the other keywords.

    `accepted` is the TypedDict of all of them.
    """
    check_keywords(name, options, accepted)
    places = PlanOptions.__annotations__
    where = {word: value for word, value in options.items() if word in places}
    how = {word: value for word, value in options.items() if word not in places}
    return _shared_calls(curve, **where), how
