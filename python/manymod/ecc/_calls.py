# SPDX-License-Identifier: Apache-2.0
"""Calls on plans of the extension: what curves, keys and rings of keys have in common."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod._byte_calls import Operands, answer_bytes, answer_verdicts
from manymod._byte_items import Items, Places, check_verdict_errors, source_of
from manymod._forked import KeptHandles, ProcessOwn
from manymod._run import Progress, Watched
from manymod.ecc._options import PlanOptions, Settings, check_keywords, is_edwards
from manymod.errors import _item_error
from manymod.plan import checked_choice, checked_errors, checked_threads

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
        ring: _core.EccRing | None = None,
        index_labels: Any = None,
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
            curves: indices of the items' curves, or of their keys in `ring`; None: the first one.
            ring: private keys on the curves; None: operands have the keys, if there are any.
            index_labels: as of `Operands`.
            errors: as everywhere in the package.
            out: likewise.
            progress: likewise.
        """
        checked_errors(errors)
        checked = _checked(operands, settings, curves, index_labels)
        return answer_bytes(
            name,
            functools.partial(self._compute, op, settings, ring=ring),
            checked,
            source_of(checked.count, *operands.values(), one_size=settings.one_size),
            width=settings.width,
            one_size=settings.one_size,
            secret=op in _SECRET_RESULTS,
            errors=errors,
            out=out,
            progress=progress,
        )

    def verify(
        self,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        curves: NDArray[np.uint32] | None = None,
        index_labels: Any = None,
        errors: str = "false",
        progress: Progress | None = None,
    ) -> Any:
        """Compute a verdict for each item."""
        check_verdict_errors(errors)
        checked = _checked(operands, settings, curves, index_labels)
        source = source_of(checked.count, *operands.values())
        compute = functools.partial(self._compute, _core.MM_ECC_VERIFY, settings)
        return answer_verdicts(compute, checked, source, errors=errors, progress=progress)

    def verify_all(
        self,
        settings: Settings,
        operands: Mapping[str, Items],
        *,
        curves: NDArray[np.uint32] | None = None,
        index_labels: Any = None,
        errors: str = "false",
        progress: Progress | None = None,
    ) -> Any:
        """Compute one verdict for all items."""
        check_verdict_errors(errors)
        if settings.policy != "zip215" and self._has_eddsa(settings.scheme, curves):
            raise ValueError("verify_all of EdDSA needs policy='zip215', whose equation has the cofactor")
        checked = _checked(operands, settings, curves, index_labels)
        _refuse_nulls(checked, "one verdict for all items needs all of them")
        flag, status = np.zeros(1, np.uint8), np.empty(checked.total, np.uint8)
        places = Places(status, flags=flag)
        self._compute_together(_core.MM_ECC_VERIFY_ALL, settings, checked, places, progress)
        return _answer_of_all("verify_all", bool(flag[0]), checked, status, errors)

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
        checked = _checked(operands, settings)
        _refuse_nulls(checked, "a sum needs all items")
        row, size = np.zeros((1, settings.width), np.uint8), np.zeros(1, np.uint64)
        status = np.empty(checked.total, np.uint8)
        self._compute_together(_core.MM_ECC_SUM, settings, checked, Places(status, row, size), progress)
        return _answer_of_all("msm", _core.rows_to_bytes(row, size)[0], checked, status, errors)

    def _compute_together(
        self, op: int, settings: Settings, operands: Operands, places: Places, progress: Progress | None
    ) -> None:
        """Compute one result of all items."""
        watched = None if progress is None else Watched(progress)
        self._compute(op, settings, operands, places, watched)
        if watched is not None:
            watched.finish(operands.total)

    def _compute(
        self,
        op: int,
        settings: Settings,
        operands: Operands,
        places: Places,
        progress: Progress | None,
        *,
        ring: _core.EccRing | None = None,
    ) -> int:
        """Compute items. Returns MM_OK or MM_ERR_ITEMS."""
        given = operands.given
        found = [next((name for name in names if name in given), None) for names in _INPUTS]
        inputs = tuple(
            None if name is None else (given[name].block, given[name].offsets, name) for name in found
        )
        count, indices = operands.total, operands.index_of_each()
        results = (places.rows, places.sizes, places.flags, places.status)
        return self.handle.run(op, settings.native, count, indices, ring, inputs, *results, progress)


def _checked(
    operands: Mapping[str, Items],
    settings: Settings,
    curves: NDArray[np.uint32] | None = None,
    index_labels: Any = None,
) -> Operands:
    """All operands of a call."""
    given = dict(operands)
    if settings.nonces is not None:
        given["nonces"] = settings.nonces
    if settings.context is not None:
        given["context"] = settings.context
    checked = Operands(given, curves, index_labels, _SECRETS)
    once = settings.nonces is not None and settings.scheme != "bip340" and settings.nonces.count is None
    if once and checked.total > 1:
        raise ValueError("nonces: each item needs its own")
    return checked


def _refuse_nulls(operands: Operands, reason: str) -> None:
    if any(operand.null is not None for operand in operands.given.values()):
        raise ValueError(f"an operand has nulls: {reason}")


def _answer_of_all(name: str, result: Any, operands: Operands, status: NDArray[np.uint8], errors: str) -> Any:
    """One result of all items, with their statuses if asked for."""
    if errors == "status":
        return result, status
    if errors == "raise" and status.any():
        raise _item_error(name, status != 0, status, result, operands.count is None)
    return result


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
