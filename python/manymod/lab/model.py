# SPDX-License-Identifier: Apache-2.0
"""Rows of the lab: what a paper printed, and the ways to measure the same here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Figure", "Hardware", "Row", "RowError", "Unavailable", "hardware_of"]


class Unavailable(Exception):  # noqa: N818 (a statement about the machine, no error)
    """This machine cannot measure a row in this way; the message says why and what would help."""


class RowError(Exception):
    """A measurement gave a wrong answer, or none."""


@dataclass(frozen=True)
class Hardware:
    """What a paper measured on. None: the paper does not say.

    Attributes:
        name: of the card or processor.
        units: multiprocessors, or cores.
        mhz: their clock.
    """

    name: str
    units: float | None = None
    mhz: float | None = None


@dataclass(frozen=True)
class Figure:
    """A number that a paper printed; the value is None where it printed that there is none."""

    value: float | None
    unit: str
    hardware: Hardware


@dataclass(frozen=True)
class Row:
    """One row of the report.

    Attributes:
        id: such as ``002/II/two_pass16/512``: paper, table, and what tells the rows of a table apart.
        paper: the first part of the id.
        table: the second.
        what: the operation in words.
        bits: width.
        figure: what the paper printed, if the row is of a paper.
        per_unit: whether figures compare by multiprocessor (core) and MHz: the paper's own rule.
        measures: ways to measure it here, the preferred first: each has `by`, the name of a recipe, `on`,
            where it runs ("cuda", "cpu"), and the recipe's own parameters.
        note: what a reader has to know.
    """

    id: str
    paper: str
    table: str
    what: str
    bits: int
    figure: Figure | None
    per_unit: bool
    measures: tuple[Mapping[str, Any], ...]
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what a reader of a report needs. How a row was measured, its measurement tells."""
        return {name: value for name, value in asdict(self).items() if name != "measures"}


def hardware_of(known: Mapping[str, Mapping[str, Any]], name: str) -> Hardware:
    """The hardware of a name, among the cards that the papers describe."""
    card = known.get(name, {})
    return Hardware(name, card.get("multiprocessors"), card.get("mhz"))
