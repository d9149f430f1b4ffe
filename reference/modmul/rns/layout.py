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
"""Bytes along K that one matrix instruction takes."""

QUAD_COLUMNS = 16
"""Columns of the targets of one channel quad."""


def placed(by_channel: Sequence[T]) -> tuple[T, ...]:
    """What is given by channel, by place: the two channels of a split quad occupy it twice.

    >>> placed("abcdef")
    ('a', 'b', 'c', 'd', 'e', 'f', 'e', 'f')
    """
    return (*by_channel, *by_channel[-SPLIT:]) if len(by_channel) % QUAD == SPLIT else tuple(by_channel)


def by_source_place(matrix: ByteMatrix) -> ByteMatrix:
    """The matrix with the rows of a word for each place, then those of the rank."""
    rows = matrix.entries
    *channels, rank = (rows[i : i + WORD_BYTES] for i in range(0, len(rows), WORD_BYTES))
    return ByteMatrix(tuple(row for word in (*placed(channels), rank) for row in word), matrix.width)


def by_target_place(matrix: ByteMatrix) -> ByteMatrix:
    """The matrix with the columns of a target for each place."""
    return ByteMatrix(tuple(placed(row) for row in matrix.entries), matrix.width)


def fragments(matrix: ByteMatrix) -> bytes:
    """Pieces of 8 columns times 16 bytes along K, in each of which a column's bytes are neighbours.

    For each step of K and each channel quad of targets there are four: the targets' low two bytes and the
    first half of the step, the second half, then the same with their high two bytes.
    """
    rows, columns = matrix.columns.shape
    steps, quads = -(-rows // STEP_BYTES), -(-columns // QUAD_COLUMNS)
    padded = np.zeros((steps * STEP_BYTES, quads * QUAD_COLUMNS), dtype=np.uint8)
    padded[:rows, :columns] = matrix.columns
    # Row: step, half, place in it; column: quad, target in it, high or low, byte in it.
    cut = padded.reshape(steps, 2, STEP_BYTES // 2, quads, 4, 2, 2)
    return bytes(cut.transpose(0, 3, 5, 1, 4, 6, 2).tobytes())


def channel(m: int, first: int, second: int) -> bytes:
    """The words of a channel: m, -1 / m mod 2^32, and the constants of coordinates or ranks."""
    return struct.pack("<4I", m, -pow(m, -1, WORD) % WORD, first % WORD, second)


def channels_of_b(bases: TensorBases, ring: TensorMontgomery | None) -> bytes:
    """The channels of B.

    The bases alone have no constants of coordinates. With roots these are a sign, and 2 m where it is
    negative.
    """
    moduli = bases.b.moduli
    if ring is None:
        return b"".join(placed([channel(m, 0, 0) for m in moduli]))
    if ring.rooted:
        rows = zip(moduli, ring.roots, strict=True)
        return b"".join(placed([channel(m, sign, 0 if sign > 0 else 2 * m) for m, (_, sign) in rows]))
    constants = zip(moduli, ring.to_coordinates, strict=True)
    return b"".join(placed([channel(m, c, shoup_quotient(c, m)) for m, c in constants]))


def channels_of_a(bases: TensorBases) -> bytes:
    """The channels of A: the weights of a word's bytes in the rank, as low bytes and high bytes."""
    rows = zip(bases.a.moduli, bases.stored_in_a.weights, strict=True)
    parts = ((m, join([g & 255 for g in w]), join([g >> 8 for g in w])) for m, w in rows)
    return b"".join(placed([channel(m, low, high) for m, low, high in parts]))


def set_up(bases: TensorBases) -> bytes:
    """The words that constants of a modulus are computed from, for each place of B, then of A."""
    b = zip(bases.b.moduli, bases.b.inverse_cofactors, strict=True)
    a = zip(bases.a.moduli, bases.kappa, strict=True)
    words = placed([-inverse * WORD % m for m, inverse in b]) + placed([k * WORD % m for m, k in a])
    return struct.pack(f"<{len(words)}I", *words)


def negatives(moduli: Residues) -> bytes:
    """``2^32 - m``, in blocks of 16 places, with four of each thread next to each other."""
    by_place = placed(moduli)
    words = [0] * (-(-len(by_place) // 16) * 16)
    for i, m in enumerate(by_place):
        words[i // 16 * 16 + i % 4 * 4 + i // 4 % 4] = WORD - m
    return struct.pack(f"<{len(words)}I", *words)


def constants(bases: TensorBases, n: int | None = None) -> bytes:
    """All tables, for instances with a modulus each, or for those that share n."""
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
