# SPDX-License-Identifier: Apache-2.0
"""Operands of the base extensions of rns: what their bytes stand for, and their ranks."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from reference.modmul.rns.bases import (
    Base,
)
from reference.modmul.rns.byte_matrix import join, split
from reference.modmul.rns.operands import INSTANCES, StoredResidues, integer_of
from tests.python.rns_support import bases, extreme_words, tensor

import rns_bases as tool


def test_coordinates_stand_for_their_sum() -> None:
    """Coordinates of any size below their bound do, without a rank and with one."""
    to_a = bases(60).to_a
    for xi in extreme_words(to_a):
        exact = sum(x * c for x, c in zip(xi, to_a.operand.base.cofactors, strict=True))
        assert integer_of(to_a.operand, xi, 0) == exact
        assert integer_of(to_a.operand, xi, 3) == exact - 3 * to_a.operand.base.product
        assert exact < to_a.operand.base.product * (1 + bases(60).pair.from_b.excess)


def test_the_rank_of_bytes_of_every_value() -> None:
    """All residues of two bytes within the room."""
    base = Base((263, 257))
    for units in ((1, 1), (262, 256), (77, 202)):
        stored = StoredResidues(base, units)
        room = 1 - stored.alpha - stored.over
        assert stored.under <= stored.alpha
        for x in range(math.ceil(room * base.product)):
            words = stored.words(base.residues(x))
            assert integer_of(stored, words, stored.rank(words)) == x


def estimate(stored: StoredResidues, words: list[int]) -> Fraction:
    """The sum of docs/rns/theory.md, "Bytes as coordinates", without its offset."""
    total = 0
    for thread in range(4):
        rows = list(zip(words, stored.weights, strict=True))[thread::4]
        pairs = [(b, g) for w, weights in rows for b, g in zip(split(w, 4), weights, strict=True)]
        total += sum(b * (g // 256) for b, g in pairs) + sum(b * (g % 256) for b, g in pairs) // 256
    return Fraction(total, 256)


def misled(stored: StoredResidues, sign: int) -> list[int]:
    """The largest bytes wherever weights err in one direction, up or down."""
    words = []
    for constants_, weights, m in zip(stored.constants, stored.weights, stored.base.moduli, strict=True):
        errors = ((g * m - (v << 16)) * sign for v, g in zip(constants_, weights, strict=True))
        chosen = [255 if e > 0 else 0 for e in errors]
        words.append(join([*chosen[:3], min(chosen[3], 126)]))
    return words


def with_fraction(stored: StoredResidues, words: list[int], fraction: Fraction) -> list[int]:
    """The words with another first one, so that the value is the next above this fraction of M."""
    m, first = stored.base.moduli[0], stored.base.cofactors[0]
    rest = integer_of(stored, [0, *words[1:]], 0)
    xi = -(-(math.ceil(fraction * stored.base.product) - rest) // first) % m
    return [xi * pow(stored.to_coordinates[0], -1, m) % m, *words[1:]]


@pytest.mark.parametrize("bits", [60, *tool.WIDTHS])
def test_the_rank_of_bytes_at_the_edges_of_its_room(bits: int) -> None:
    """Weights that err as much as they can, for the least values and the largest that fit, and beyond."""
    tables = bases(bits) if bits < 512 else tensor(bits)
    stored, room, product = tables.stored_in_a, tables.pair.from_a.room, tables.a.product
    assert stored.under <= stored.alpha
    step = Fraction(2, stored.base.moduli[0])
    for sign, fraction in itertools.product((1, -1), (Fraction(0), room / 2, room - step)):
        words = with_fraction(stored, misled(stored, sign), fraction)
        rank, value = divmod(integer_of(stored, words, 0), product)
        assert fraction <= Fraction(value, product) < min(room, fraction + step)
        exact = rank + Fraction(value, product)
        assert exact - stored.under <= estimate(stored, words) <= exact + stored.over
        assert stored.rank(words) == math.floor(estimate(stored, words) + stored.alpha) == rank
        assert stored.rank(words, 1) == rank
    words = with_fraction(stored, misled(stored, 1), 1 - stored.alpha)
    assert stored.rank(words) == integer_of(stored, words, 0) // product + 1


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_the_error_of_weights_is_nearly_reached(bits: int) -> None:
    """It is reached but for what threads drop, and for one in the top bytes."""
    stored = tensor(bits).stored_in_a
    for sign, error in ((1, stored.over), (-1, stored.under)):
        words = misled(stored, sign)
        exact = Fraction(integer_of(stored, words, 0), stored.base.product)
        assert error - Fraction(5, 256) < (estimate(stored, words) - exact) * sign <= error


def test_weights_are_at_most_two_bytes() -> None:
    """They are nearest to the fraction, but for those that would round to 1."""
    stored = StoredResidues(Base((2**31 - 1,)), (2**31 - 2,))
    assert stored.weights[0] == (65535, 65535, 65536 - 2, 65536 - 512)
    for tables in (bases(60), tensor(8192)):
        for v, g, m in zip(
            tables.stored_in_a.constants, tables.stored_in_a.weights, tables.a.moduli, strict=True
        ):
            assert all(abs((x << 16) - y * m) * 2 <= m or y == 65535 for x, y in zip(v, g, strict=True))


def test_sums_of_the_operands_bytes() -> None:
    """Coordinates may have any bytes, residues no top byte above 127."""
    tables = tensor(8192)
    assert tables.to_a.largest_byte_sum == 1020 * 272 + 255 + (tables.to_a.operand.largest_rank >> 8)
    assert tables.to_b.largest_byte_sum == 892 * 272 + 255 + 255 + 1
    assert tables.to_b.operand.largest_rank >> 16 == 1
    for operand in (tables.to_a.operand, tables.to_b.operand):
        assert operand.rank([m - 1 for m in operand.base.moduli]) <= operand.largest_rank


@pytest.mark.parametrize("channels", [17, 18, 20])
def test_a_split_quad_is_summed_by_the_second_two_threads_for_the_second_instance(channels: int) -> None:
    """The rank of each instance is the sum of its threads, in units of 1/256, each rounded down."""
    moduli = tuple(itertools.islice(tool.primes_down_from((1 << 31) - 1), channels))
    stored = StoredResidues(Base(moduli), tuple(m // 3 for m in moduli))
    draw = random.Random(channels)
    ranks = set()
    for _ in range(2000):
        words = [draw.randrange(m) for m in moduli]
        threads = [[i % 4 for i in range(channels)] for _ in INSTANCES]
        if channels % 4 == 2:
            threads[1][-2:] = [2, 3]
        for instance, of_channel in zip(INSTANCES, threads, strict=True):
            low, total = [0] * 4, stored.offset
            for thread, w, weights in zip(of_channel, words, stored.weights, strict=True):
                low[thread] += sum(b * (g % 256) for b, g in zip(split(w, 4), weights, strict=True))
                total += sum(b * (g // 256) for b, g in zip(split(w, 4), weights, strict=True))
            assert stored.rank(words, instance) == (total + sum(x // 256 for x in low)) // 256
        ranks.add(stored.rank(words, 1) - stored.rank(words))
    assert (ranks == {0}) == (channels % 4 != 2)
