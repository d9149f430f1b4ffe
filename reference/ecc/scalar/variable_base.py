# SPDX-License-Identifier: Apache-2.0
"""k P for points that are known only at the call.

Sources: HAC 14.79; Giorgi, Izard, Tisserand 2009, sections 3.2 and 3.3 (right-to-left double-and-add; w-NAF
with w = 2 and 3, 3 P precomputed); Booth 1951 (signed windows); Solinas 2000 (w-NAF).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.modexp.recoding import pack, signed_digits, unpack
from reference.modexp.windows import width_naf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.ecc.groups import Group

P = TypeVar("P")


def right_to_left(group: Group[P], k: int, point: P, bits: int) -> P:
    """Paper 003's double-and-add: ``point`` is doubled in each step, and added where the bit is 1.

    Threads of a warp differ only in which of them add.
    """
    assert 0 <= k < 1 << bits
    result = group.one()
    for i in range(bits):
        if k >> i & 1:
            result = group.mul(result, point)
        point = group.sqr(point)
    return result


def naf_digits(k: int, width: int, *, packed: bool) -> Sequence[int]:
    """Paper 003's w-NAF digits, read back from a word each (basic) or from ``width`` bits each (packed)."""
    digits = width_naf(k, width)
    if not packed:
        return digits
    words = pack(digits, width)
    return [unpack(words, width, i) for i in range(len(digits))]


def multiply_naf(group: Group[P], k: int, point: P, width: int, *, packed: bool = False) -> P:
    """w-NAF from the most significant digit down, over the odd multiples of ``point``. Variable-time.

    For w = 2 there is ``point`` alone, for w = 3 also 3 ``point``.
    """
    table = odd_multiples(group, point, width)
    result = group.one()
    for digit in reversed(naf_digits(k, width, packed=packed)):
        result = group.sqr(result)
        if digit:
            result = group.mul(result, signed(group, table, abs(digit) >> 1, digit < 0))
    return result


def odd_multiples(group: Group[P], point: P, width: int) -> list[P]:
    """``point``, 3 ``point``, .., (2^(width - 1) - 1) ``point``."""
    table = [point]
    twice = group.sqr(point) if width > 2 else point
    while len(table) < 1 << (width - 2):
        table.append(group.mul(table[-1], twice))
    return table


def signed(group: Group[P], table: Sequence[P], index: int, negative: bool) -> P:
    """An entry of a table, or its inverse."""
    entry = group.select(table, index)
    return group.inv(entry) if negative else entry


def multiples(group: Group[P], point: P, count: int) -> list[P]:
    """``0, point, 2 point, .., count point``: even ones by doublings."""
    table = [group.one(), point]
    while len(table) <= count:
        half = len(table) // 2
        table.append(group.mul(table[-1], point) if len(table) % 2 else group.sqr(table[half]))
    return table


def multiply_windows(group: Group[P], k: int, point: P, width: int, bits: int) -> P:
    """Signed windows: the same operations for every scalar below 2^bits. Digit 0 adds the neutral element.

    The table is 0 .. 2^(width - 1) times ``point``; kernels normalise it to affine form by a shared
    inversion.
    """
    table = multiples(group, point, 1 << (width - 1))
    digits = signed_digits(k, width, bits)
    result = signed(group, table, abs(digits[-1]), digits[-1] < 0)
    for digit in reversed(digits[:-1]):
        for _ in range(width):
            result = group.sqr(result)
        result = group.mul(result, signed(group, table, abs(digit), digit < 0))
    return result
