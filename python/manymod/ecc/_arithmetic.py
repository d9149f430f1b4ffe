# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of points of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manymod import _core
from manymod._byte_items import Items, common_count
from manymod._run import Errors, Progress
from manymod.ecc._calls import calls_with
from manymod.ecc._definition import CurveDefinition
from manymod.ecc._operands import point_items, scalar_items
from manymod.ecc._options import PointEncoding, point_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from manymod.ecc._options import PlanOptions

__all__ = ["PointArithmetic"]


class PointArithmetic(CurveDefinition):
    """What a curve computes on points without keys; `Curve.public_keys` documents the common keywords."""

    def multiply(
        self,
        scalars: Any,
        points: Any = None,
        *,
        encoding: PointEncoding = "uncompressed",
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        r"""Multiples k P of points, or k G of the generator. The scalars are secret, the points public.

        Args:
            scalars: any numbers of `scalar_bytes` bytes, or ints; 0 and numbers above n, too. Bytes are
                big-endian, and on Edwards curves little-endian, as their standards have it.
            points: in any encoding; None: the generator. The point at infinity is one zero byte, and in
                ``uint8[N, W]`` a row of zeros. Of scalars and points, those that are many decide the kind of
                the answer, first the points.
            encoding: as in `Curve.public_keys`.
            errors: likewise.
            out: likewise.
            progress: likewise.
            **options: likewise.

        Returns:
            Points in `encoding`, in the kind that the operands decide.

        Raises:
            ItemValueError: (a ValueError) if a point is not on the curve, or a scalar has a wrong length or
                is an int that does not fit into `scalar_bytes`; it names the items.

        >>> from manymod.ecc import P256
        >>> P256.multiply([2, 0], encoding="compressed")[1]
        b'\x00'
        """
        calls = calls_with("multiply", self, options)
        operands = {} if points is None else {"points": self._points("points", points)}
        operands["scalars"] = self._scalars(scalars)
        settings = point_settings(calls.curves, encoding)
        return calls.run(
            "multiply", _core.MM_ECC_MULTIPLY, settings, operands, errors=errors, out=out, progress=progress
        )

    def add(
        self,
        points: Any,
        others: Any,
        *,
        encoding: PointEncoding = "uncompressed",
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """Sums P + Q of points, equal and opposite ones and infinity included. Timing class: public.

        Args:
            points: as in `multiply`; one for all items, or one for each.
            others: likewise, the second points.
            encoding: as in `Curve.public_keys`.
            errors: likewise.
            out: likewise.
            progress: likewise.
            **options: likewise.

        Raises:
            ItemValueError: (a ValueError) if a point is not on the curve; it names the items.

        >>> from manymod.ecc import P256
        >>> P256.add(P256.multiply([1, 2]), P256.multiply(3)) == P256.multiply([4, 5])
        True
        """
        calls = calls_with("add", self, options)
        operands = {"points": self._points("points", points), "others": self._points("others", others)}
        settings = point_settings(calls.curves, encoding)
        return calls.run(
            "add", _core.MM_ECC_ADD, settings, operands, errors=errors, out=out, progress=progress
        )

    def points(
        self,
        points: Any,
        encoding: PointEncoding = "uncompressed",
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """The same points in another encoding, checked to be on the curve. Timing class: public.

        This compresses, decompresses and validates.

        Args:
            points: as in `multiply`.
            encoding: as in `Curve.public_keys`.
            errors: likewise.
            out: likewise.
            progress: likewise.
            **options: likewise.

        Raises:
            ItemValueError: (a ValueError) if one is no encoding of a point of the curve; it names the items.

        >>> from manymod.ecc import P256
        >>> generator = P256.multiply(1)
        >>> P256.points(P256.points(generator, "compressed")) == generator
        True
        >>> P256.points([generator, bytes(65)], errors="status")[1].tolist()[0]
        0
        """
        calls = calls_with("points", self, options)
        operands = {"points": self._points("points", points)}
        settings = point_settings(calls.curves, encoding)
        return calls.run(
            "points", _core.MM_ECC_POINT, settings, operands, errors=errors, out=out, progress=progress
        )

    def msm(
        self,
        scalars: Any,
        points: Any,
        *,
        encoding: PointEncoding = "uncompressed",
        errors: Errors = "raise",
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """The sum of the multiples k_i P_i, a multi-scalar multiplication. Timing class: public.

        Args:
            scalars: as in `multiply`, but public.
            points: as in `multiply`, one for each scalar.
            encoding: as in `Curve.public_keys`.
            errors: likewise.
            progress: likewise.
            **options: likewise.

        Returns:
            One point, as bytes. Every item must be valid, else there is no sum. Without items it is infinity.

        Raises:
            ItemValueError: (a ValueError) if a point is not on the curve, or a scalar has a wrong length or
                is an int that does not fit into `scalar_bytes`; it names the items.

        >>> from manymod.ecc import P256
        >>> P256.msm([2, 3], [P256.multiply(5), P256.multiply(7)]) == P256.multiply(31)
        True
        """
        calls = calls_with("msm", self, options)
        operands = {"points": self._points("points", points), "scalars": self._scalars(scalars)}
        if 0 in {operand.count for operand in operands.values()}:
            common_count({name: operand.count for name, operand in operands.items()})
            none = self.multiply(0, encoding=encoding, errors=errors, **options)
            return none if errors == "raise" else (none[0], np.empty(0, np.uint8))
        settings = point_settings(calls.curves, encoding)
        return calls.total(settings, operands, errors=errors, progress=progress)

    def _points(self, name: str, points: Any) -> Items:
        return point_items(name, points, infinity_is_zero=self.form == "weierstrass")

    def _scalars(self, scalars: Any) -> Items:
        order: Literal["big", "little"] = "little" if self.form == "edwards" else "big"
        return scalar_items("scalars", scalars, self.scalar_bytes, order)
