# SPDX-License-Identifier: Apache-2.0
"""reference/field.py against Python's integers: each function with all magnitudes of the contract."""

from __future__ import annotations

from itertools import product

import pytest
from reference.field import MAX_MAGNITUDE, MAX_PRODUCT, Element, Field

FIELDS = [
    Field.scalar(13),
    Field.scalar(2**521 - 1),
    Field.in_lanes(13, 29),
    Field.in_lanes(199, 52),
    Field.in_lanes(2**256 - 189, 52),
    Field.in_lanes(2**384 - 317, 29),
    Field.row32(199),
    Field.row32(2**256 - 189),
]


def operands(f: Field, magnitude: int) -> list[Element]:
    """Return elements at both ends of a magnitude's range."""
    top = magnitude * f.bound if f.lazy else f.bound
    return [f.element(number, magnitude) for number in (0, 1, f.n - 1, top - 2, top - 1)]


MAGNITUDES = range(1, MAX_MAGNITUDE + 1)
BOUNDS = (1, 2, 4)


@pytest.mark.parametrize("f", FIELDS)
def test_functions_of_one_element(f: Field) -> None:
    """Every magnitude that the contract allows, with elements at the ends of its range."""
    for a in (a for m in MAGNITUDES for a in operands(f, m)):
        m = a.magnitude
        x = f.to_int(a)
        assert f.to_int(f.normalize_weak(a)) == x
        assert m == MAX_MAGNITUDE or f.to_int(f.half(a)) * 2 % f.n == x
        assert {f.to_int(f.neg(a, k)) for k in BOUNDS if m <= k} <= {-x % f.n}


@pytest.mark.parametrize("f", FIELDS)
def test_functions_of_two_elements(f: Field) -> None:
    """Every pair of magnitudes that the contract allows, with elements at the ends of their ranges."""
    for m, other in product(MAGNITUDES, MAGNITUDES):
        for a, b in product(operands(f, m), operands(f, other)):
            x, y = f.to_int(a), f.to_int(b)
            if m * other <= MAX_PRODUCT:
                assert f.to_int(f.mul(a, b)) == x * y % f.n
            if m + other <= MAX_MAGNITUDE:
                assert f.to_int(f.add(a, b)) == (x + y) % f.n
            allowed = [k for k in BOUNDS if other <= k and m + k <= MAX_MAGNITUDE]
            assert {f.to_int(f.sub(a, b, k)) for k in allowed} <= {(x - y) % f.n}


@pytest.mark.parametrize("f", FIELDS)
def test_comparisons_and_inverses(f: Field) -> None:
    """Numbers that stand for one residue are equal, and inverses are inverses."""
    for a in operands(f, 1):
        x = f.to_int(a)
        assert f.is_zero(a) == (x == 0)
        assert f.equal(a, f.from_int(x))
        assert not f.equal(a, f.from_int(x + 1))
        inverse, exists = f.inverse(a)
        assert exists == (x != 0)
        assert f.to_int(f.mul(a, inverse)) == int(exists)


def test_breaches_are_caught() -> None:
    """A call outside of the contract stops."""
    f = Field.in_lanes(199, 52)
    two, three = f.element(1, 2), f.element(1, 3)
    for call in (
        lambda: f.mul(two, three),
        lambda: f.sqr(three),
        lambda: f.add(f.element(0, 8), f.one()),
        lambda: f.sub(f.one(), two),
        lambda: f.neg(two),
        lambda: f.half(f.element(0, 8)),
        lambda: f.normalize_weak(three, 2),
        lambda: f.is_zero(two),
    ):
        with pytest.raises(AssertionError):
            call()
