# SPDX-License-Identifier: Apache-2.0
"""A row of a table of formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference.ecc.numbers import Cost


@dataclass(frozen=True)
class Formula:
    """A function of points and curve constants, with what it costs and where it fails."""

    name: str
    source: str
    cost: Cost
    compute: Callable[..., tuple[Any, ...]]  #: of the points, then of the constants
    points: tuple[str, ...]  #: the form of each operand
    result: str
    constants: tuple[str, ...] = ()  #: of the curve: a, b, b3 = 3 b, d, d2 = 2 d, a24
    exceptions: str = "none"


def table(*rows: Formula) -> dict[str, Formula]:
    """Rows by name."""
    named = {row.name: row for row in rows}
    assert len(named) == len(rows)
    return named
