# SPDX-License-Identifier: Apache-2.0
"""Affine points with a given inverse of the denominator, which a batch shares (``normalise.py``).

Source: IEEE 1363, A.10.1; with Montgomery's trick an addition costs 3 M more and a share of one inversion.

The denominator is ``x2 - x1`` or ``2 y``. Where it is 0 the caller must have replaced it: the sum is
infinity or needs a doubling (:func:`reference.ecc.normalise.batch_add`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.formulas.formula import Formula, table
from reference.ecc.numbers import Cost

if TYPE_CHECKING:
    from reference.ecc.numbers import Number

N = TypeVar("N", bound="Number")
Pair = tuple[N, N]


def add(p: Pair[N], q: Pair[N], inverse: N) -> Pair[N]:
    """``p + q`` with ``inverse = 1 / (x2 - x1)``."""
    (x1, y1), (x2, y2) = p, q
    slope = (y2 - y1) * inverse
    x3 = slope.sqr() - x1 - x2
    return x3, slope * (x1 - x3) - y1


def double(p: Pair[N], inverse: N, a: N) -> Pair[N]:
    """``2 p`` with ``inverse = 1 / (2 y)``."""
    x1, y1 = p
    slope = (3 * x1.sqr() + a) * inverse
    x3 = slope.sqr() - 2 * x1
    return x3, slope * (x1 - x3) - y1


FORMULAS = table(
    Formula(
        "affine.add",
        "IEEE 1363 A.10.1",
        Cost(2, 1, 0, 5),
        add,
        ("affine", "affine", "inverse"),
        "affine",
        exceptions="x1 = x2",
    ),
    Formula(
        "affine.double",
        "IEEE 1363 A.10.1",
        Cost(2, 2, 0, 7),
        double,
        ("affine", "inverse"),
        "affine",
        ("a",),
        exceptions="y = 0",
    ),
)
