# SPDX-License-Identifier: Apache-2.0
"""The oracle of cox_rower; it asserts the ranges of the kernels. Its bases are those of the C++ header."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from reference.modmul.cox_rower import BASES, MEBI, Bases, CoxRower, R, source_channel

HEADER = Path(__file__).resolve().parents[2] / "src/modmul/cox_rower/bases.hpp"
WIDTHS = [pytest.param(bases, id=str(bases.bits)) for bases in BASES]


def test_bases_are_those_of_the_kernels() -> None:
    rows = re.findall(r"Bases\{(\d+), (\d), (\d+), (\d+) \* kMebi\}", HEADER.read_text())
    assert [Bases(int(a), int(b), int(c), int(d) * MEBI) for a, b, c, d in rows] == list(BASES)


@pytest.mark.parametrize("bases", WIDTHS)
def test_bases_satisfy_the_inequalities(bases: Bases) -> None:
    least = min(bases.primes)
    assert least * 10000 > bases.bound * 9999
    assert min(math.prod(bases.b), math.prod(bases.a)) >= 8 << bases.bits
    sources = [source_channel(bases, part, t) for part in range(bases.threads) for t in range(bases.terms)]
    assert sorted(sources) == list(range(bases.channels))


@pytest.mark.parametrize("bases", WIDTHS)
def test_ranks_are_within_a_thirtysecond(bases: Bases) -> None:
    """What the shift, the bound in place of primes, and the rounded factor take from the fractions."""
    most = bases.channels * Fraction(105, 100)
    shifts = Fraction(bases.channels << bases.shift, min(bases.primes))
    bound = most * (1 - Fraction(min(bases.primes), bases.bound))
    scale = Fraction(bases.bound, 1 << bases.shift)
    factor = most * (1 - scale * bases.factor / (1 << (32 + bases.divide)))
    assert 0 <= shifts + bound + factor < Fraction(1, 32)
    assert bases.factor < R
    assert abs(Fraction(bases.sixteenth << bases.shift, bases.bound) - Fraction(1, 16)) < Fraction(1, 1000)


@pytest.mark.parametrize("bases", WIDTHS[:4])
def test_products(bases: Bases) -> None:
    draw = random.Random(bases.bits)
    top = 1 << bases.bits
    for n in (3, top - 1, draw.randrange(top) | 1, draw.randrange(1 << 40) | 1):
        if math.gcd(n, math.prod(bases.b)) != 1:
            continue
        m = CoxRower(bases, n)
        inverse = pow(m.m_b, -1, n)
        for x, y in [(top - 1, top - 1), (0, top - 1), (draw.randrange(top), draw.randrange(top))]:
            product = m.multiply(m.element(x), m.element(y))
            assert m.value(product) % n == x * y * inverse % n
            square = m.multiply(product, product)
            assert m.value(square) % n == (x * y * inverse) ** 2 * inverse % n
            last = m.value(m.multiply(square, m.element(y % n)))
            assert last < 2 * n
            assert last % n == (x * y * inverse) ** 2 * inverse * y * inverse % n


def test_a_modulus_that_shares_a_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="shares a factor"):
        CoxRower(BASES[0], 3 * BASES[0].b[5])
