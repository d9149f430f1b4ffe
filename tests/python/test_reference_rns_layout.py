# SPDX-License-Identifier: Apache-2.0
"""The tables of rns as bytes: places of entries, and the checksums that the C++ tests expect."""

from __future__ import annotations

import itertools
import random
import struct
import zlib

import pytest
from reference.modmul.rns.byte_matrix import ByteMatrix, join, split
from reference.modmul.rns.layout import (
    by_source_place,
    by_target_place,
    constants,
    fragments,
    negatives,
    placed,
)
from reference.modmul.rns.words import WORD
from tests.python.rns_support import ROOT, tensor

import rns_bases as tool


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_the_compiled_constants_have_the_bytes_of_the_reference(bits: int) -> None:
    """tests/cpp/modmul/rns/constants_test.cpp expects the same checksums."""
    text = (ROOT / "tests/cpp/modmul/rns/constants_test.cpp").read_text()
    tables = tensor(bits)
    for less in (0, 5):
        block = constants(tables, (1 << bits) - less if less else None)
        assert f"{{{bits}, {less}, 0x{zlib.crc32(block):08x}u}}" in text


def test_places_of_matrix_entries() -> None:
    """The formula of src/modmul/rns/layout.hpp."""
    draw, words, targets = random.Random(9), 11, 8
    entries = tuple(tuple(draw.getrandbits(32) for _ in range(targets)) for _ in range(4 * words))
    block = fragments(ByteMatrix(entries))
    assert len(block) == 2 * (targets // 4) * 512
    for v, p, i, b in itertools.product(range(words), range(4), range(targets), range(4)):
        four = (v // 8) * (targets // 4) + i // 4
        piece, column = 2 * (b // 2) + v // 4 % 2, 2 * (i % 4) + b % 2
        assert (
            block[four * 512 + piece * 128 + column * 16 + (4 * v + p) % 16]
            == split(entries[4 * v + p][i], 4)[b]
        )


@pytest.mark.parametrize("channels", [4, 16, 18, 20, 30, 36])
def test_places_of_negatives(channels: int) -> None:
    """Four places of a thread are next to each other."""
    moduli = tuple(2**31 - 1 - 2 * i for i in range(channels))
    by_place = placed(moduli)
    words = struct.unpack(f"<{(len(by_place) + 15) // 16 * 16}I", negatives(moduli))
    for thread, q in itertools.product(range(4), range(len(by_place) // 4)):
        assert words[16 * (q // 4) + 4 * thread + q % 4] == WORD - by_place[4 * q + thread]
    assert words.count(0) == len(words) - len(by_place)


def test_places_of_channels() -> None:
    """The channels of a split quad occupy it twice, as sources (before the rank) and as targets."""
    assert placed(range(8)) == tuple(range(8))
    assert placed(range(10)) == (*range(10), 8, 9)
    matrix = ByteMatrix(tuple(tuple(100 * row + i for i in range(6)) for row in range(4 * 7)))
    rows = [*range(24), *range(16, 24), *range(24, 28)]
    assert by_source_place(matrix).entries == tuple(matrix.entries[row] for row in rows)
    assert by_target_place(matrix).entries == tuple((*row, *row[4:6]) for row in matrix.entries)


def test_channels_hold_the_weights_of_their_bytes() -> None:
    tables = tensor(512)
    block = constants(tables)
    for i, (m, weights) in enumerate(zip(tables.a.moduli, tables.stored_in_a.weights, strict=True)):
        modulus, inverse, low, high = struct.unpack_from("<4I", block, 16 * (20 + i))  # behind 20 places of B
        assert (modulus, inverse * m % WORD) == (m, WORD - 1)
        assert tuple(join(pair) for pair in zip(split(low, 4), split(high, 4), strict=True)) == weights
