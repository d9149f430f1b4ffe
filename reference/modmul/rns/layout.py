# SPDX-License-Identifier: Apache-2.0
"""The tables of :mod:`reference.modmul.rns.tensor` as bytes, as src/modmul/rns/layout.hpp places them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from reference.modmul.rns.byte_matrix import ByteMatrix, join
from reference.modmul.rns.operands import QUAD, SPLIT, WORD_BYTES
from reference.modmul.rns.tensor import TensorMontgomery
from reference.modmul.rns.words import WORD, shoup_quotient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from reference.modmul.rns.bases import Residues
    from reference.modmul.rns.tensor import TensorBases

    T = TypeVar("T")

STEP_BYTES = 32
"""Bytes along K of one matrix instruction."""

FOUR_COLUMNS = 16
"""Columns of four targets."""


def placed(by_channel: Sequence[T]) -> tuple[T, ...]:
    """By place what is given by channel: where the last four has two channels alone, they stand there twice.

    >>> placed("abcdef")
    ('a', 'b', 'c', 'd', 'e', 'f', 'e', 'f')
    """
    return (*by_channel, *by_channel[-SPLIT:]) if len(by_channel) % QUAD == SPLIT else tuple(by_channel)


def by_source_place(matrix: ByteMatrix) -> ByteMatrix:
    """Rows of a word for each place, then those of the rank."""
    rows = matrix.entries
    *channels, rank = (rows[i : i + WORD_BYTES] for i in range(0, len(rows), WORD_BYTES))
    return ByteMatrix(tuple(row for word in (*placed(channels), rank) for row in word), matrix.width)


def by_target_place(matrix: ByteMatrix) -> ByteMatrix:
    """Columns of a target for each place."""
    return ByteMatrix(tuple(placed(row) for row in matrix.entries), matrix.width)


def fragments(matrix: ByteMatrix) -> bytes:
    """Pieces of 8 columns times 16 bytes along K, in each of which a column's bytes are neighbours.

    For each step of K and each four targets there are four: the targets' low two bytes and the first half of
    the step, the second half, then the same with their high two bytes.
    """
    rows, columns = matrix.columns.shape
    steps, fours = -(-rows // STEP_BYTES), -(-columns // FOUR_COLUMNS)
    padded = np.zeros((steps * STEP_BYTES, fours * FOUR_COLUMNS), dtype=np.uint8)
    padded[:rows, :columns] = matrix.columns
    # Row: step, half, place in it; column: four, target in it, high or low, byte in it.
    cut = padded.reshape(steps, 2, STEP_BYTES // 2, fours, 4, 2, 2)
    return bytes(cut.transpose(0, 3, 5, 1, 4, 6, 2).tobytes())


def channel(m: int, first: int, second: int) -> bytes:
    """Its modulus, -1 / m mod 2^32, and what makes coordinates or ranks."""
    return struct.pack("<4I", m, -pow(m, -1, WORD) % WORD, first % WORD, second)


def channels_of_b(bases: TensorBases, ring: TensorMontgomery | None) -> bytes:
    """Those of the bases alone make no coordinates; with roots a sign does, and 2 m where it is negative."""
    moduli = bases.b.moduli
    if ring is None:
        return b"".join(placed([channel(m, 0, 0) for m in moduli]))
    if ring.rooted:
        rows = zip(moduli, ring.roots, strict=True)
        return b"".join(placed([channel(m, sign, 0 if sign > 0 else 2 * m) for m, (_, sign) in rows]))
    constants = zip(moduli, ring.to_coordinates, strict=True)
    return b"".join(placed([channel(m, c, shoup_quotient(c, m)) for m, c in constants]))


def channels_of_a(bases: TensorBases) -> bytes:
    """With the low bytes of the weights of a word's bytes, and their high bytes."""
    rows = zip(bases.a.moduli, bases.stored_in_a.weights, strict=True)
    parts = ((m, join([g & 255 for g in w]), join([g >> 8 for g in w])) for m, w in rows)
    return b"".join(placed([channel(m, low, high) for m, low, high in parts]))


def set_up(bases: TensorBases) -> bytes:
    """What the constants of a modulus are made of: a word for each place of B, then of A."""
    b = zip(bases.b.moduli, bases.b.inverse_cofactors, strict=True)
    a = zip(bases.a.moduli, bases.kappa, strict=True)
    words = placed([-inverse * WORD % m for m, inverse in b]) + placed([k * WORD % m for m, k in a])
    return struct.pack(f"<{len(words)}I", *words)


def negatives(moduli: Residues) -> bytes:
    """``2^32 - m``, in blocks of 16 places, four of each thread's together."""
    by_place = placed(moduli)
    words = [0] * (-(-len(by_place) // 16) * 16)
    for i, m in enumerate(by_place):
        words[i // 16 * 16 + i % 4 * 4 + i // 4 % 4] = WORD - m
    return struct.pack(f"<{len(words)}I", *words)


def constants(bases: TensorBases, n: int | None = None) -> bytes:
    """For instances with a modulus each, or those that share n."""
    ring = None if n is None else TensorMontgomery(bases, n, shared=True)
    into_a, into_b = bases.inputs if ring is None else ring.inputs
    to_a = bases.to_a if ring is None else ring.scaled_extension
    to_b = bases.to_b if ring is None else ring.to_b
    extensions = (by_target_place(by_source_place(table.matrix)) for table in (to_a, to_b))
    inputs = (by_target_place(table.matrix) for table in (into_b, into_a))
    matrices = map(fragments, (*extensions, *inputs, by_source_place(bases.output.matrix)))
    words = [channels_of_b(bases, ring), channels_of_a(bases), set_up(bases)]
    words += [negatives(base.moduli) for base in (bases.b, bases.a)]
    return b"".join([*words, *matrices])
