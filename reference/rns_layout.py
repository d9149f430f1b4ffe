# SPDX-License-Identifier: Apache-2.0
"""The tables of :mod:`reference.rns_tensor` as bytes in memory, as src/modmul/rns/layout.hpp places them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from reference.rns_tensor import TensorMontgomery
from reference.rns_words import WORD, shoup_quotient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.rns_bytes import ByteMatrix
    from reference.rns_tensor import TensorBases

STEP_BYTES = 32
"""Bytes along K of one matrix instruction."""

FOUR_COLUMNS = 16
"""Columns of four targets."""


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


def channel(m: int, to_coordinate: int) -> bytes:
    """Its modulus, -1 / m mod 2^32, and a constant with its quotient."""
    return struct.pack("<4I", m, -pow(m, -1, WORD) % WORD, to_coordinate, shoup_quotient(to_coordinate, m))


def channels(bases: TensorBases, to_coordinates_b: Sequence[int]) -> bytes:
    """Of B, then of A."""
    b = zip(bases.b.moduli, to_coordinates_b, strict=True)
    a = zip(bases.a.moduli, bases.coordinate_factors, strict=True)
    return b"".join(channel(m, c) for rows in (b, a) for m, c in rows)


def set_up(bases: TensorBases) -> bytes:
    """What the constants of a modulus are made of: a word for each channel of B, then of A."""
    b = zip(bases.b.moduli, bases.b.inverse_cofactors, strict=True)
    a = zip(bases.a.moduli, bases.kappa, strict=True)
    words = [-inverse * WORD % m for m, inverse in b] + [k * WORD % m for m, k in a]
    return struct.pack(f"<{len(words)}I", *words)


def constants(bases: TensorBases, n: int | None = None) -> bytes:
    """For instances with a modulus each, or those that share n."""
    into_a, into_b = bases.inputs
    ring = None if n is None else TensorMontgomery(bases, n, shared=True)
    to_coordinates = (0,) * len(bases.b) if ring is None else ring.to_coordinates
    to_a = bases.to_a if ring is None else ring.scaled_extension
    tables = (to_a, bases.to_b, into_b, into_a, bases.output)
    parts = [channels(bases, to_coordinates), set_up(bases), *(fragments(table.matrix) for table in tables)]
    return b"".join(parts)
