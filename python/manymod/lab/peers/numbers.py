# SPDX-License-Identifier: Apache-2.0
"""Operands that all libraries get alike, and how their answers are compared."""

from __future__ import annotations

from collections.abc import Sequence

from manymod.cli.bench.operands import Item, random_items
from manymod.lab.model import RowError

__all__ = ["compare", "powers"]

#: Items of a loop by width: whole groups of eight, and fewer of those that take milliseconds.
_ITEMS = {1024: 64, 2048: 16}
_FEWEST = 8


def powers(bits: int) -> list[Item]:
    """Items of a loop: bases, exponents of full length and odd moduli of full length."""
    count = next((number for most, number in _ITEMS.items() if bits <= most), _FEWEST)
    return random_items(bits, count, shared=False, powers=True, seed=bits)


def compare(name: str, answers: Sequence[int], items: Sequence[Item]) -> None:
    """Compare every eighth answer with Python's.

    Raises:
        RowError: if one is wrong.
    """
    for at in range(0, len(items), 8):
        if answers[at] != pow(*items[at]):
            raise RowError(f"{name}: item {at} is wrong")
