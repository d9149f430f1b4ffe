# SPDX-License-Identifier: Apache-2.0
"""The oracle of rns: tiny bases exhaustively, edges of the Cox, all extensions, the predicate."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from reference.modmul.rns.bases import Base, BaseError, BasePair, Cox, Extension, check_bases, conditions
from reference.modmul.rns.extension import ByteRower, CoxRower, MixedRadix, ShenoyKumaresan, Uncorrected
from reference.modmul.rns.montgomery import Element, RnsMontgomery
from reference.modmul.rns.operands import StoredResidues

TINY_B, TINY_A = Base((13, 9, 8)), Base((11, 7, 5))
TINY_COX_B, TINY_COX_A = Cox.truncating(TINY_B, 4), Cox.truncating(TINY_A, 4, offset=12)
WEIGHED_B, WEIGHED_A = Cox.weighing(TINY_B, 8, 4), Cox.weighing(TINY_A, 8, 4, offset=32)
STORED = ByteRower(StoredResidues(TINY_A, (4, 3, 4)))
TINY_PAIRS = {
    "szabo-tanaka": BasePair.of(MixedRadix(TINY_B), MixedRadix(TINY_A), 5),
    "cox-rower": BasePair.of(CoxRower(TINY_COX_B), CoxRower(TINY_COX_A), 4),
    "weighing cox": BasePair.of(CoxRower(WEIGHED_B), CoxRower(WEIGHED_A), 5),
    "shenoy-kumaresan": BasePair.of(Uncorrected(TINY_B), ShenoyKumaresan(TINY_A, 17), 4),
    "bytes of residues": BasePair.of(Uncorrected(TINY_B, Fraction(3, 2)), STORED, 4),
}


def odd_primes_below(limit: int, count: int) -> tuple[int, ...]:
    found = [n for n in range(limit - 20 * count, limit) if all(n % d for d in range(2, math.isqrt(n) + 1))]
    return tuple(found[-count:])


def wide_pairs(bits: int) -> dict[str, BasePair]:
    """Bases of 24-bit primes for moduli of ``bits`` bits."""
    count = bits // 23 + 1
    primes = odd_primes_below(1 << 24, 2 * count)
    b, a = Base(primes[::2]), Base(primes[1::2])
    coxes = Cox.truncating(b, 16), Cox.truncating(a, 16, offset=1 << 15)
    return {
        "szabo-tanaka": BasePair.of(MixedRadix(b), MixedRadix(a), bits),
        "cox-rower": BasePair.of(CoxRower(coxes[0]), CoxRower(coxes[1]), bits),
        "shenoy-kumaresan": BasePair.of(Uncorrected(b), ShenoyKumaresan(a, 1 << 11), bits),
    }


def check_extension(extension: Extension, x: int, target: Base) -> int:
    """The multiples of M that were added to x."""
    result = target.value(extension.extend(extension.carried.residues(x), target))
    multiples, remainder = divmod(result - x, extension.source.product)
    assert remainder == 0
    assert result == x or result < (1 + extension.excess) * extension.source.product
    assert multiples >= 0
    return multiples


@pytest.mark.parametrize("name", TINY_PAIRS)
def test_extensions_of_every_value(name: str) -> None:
    pair = TINY_PAIRS[name]
    wide = Base((17, 19, 23, 29))
    added = {check_extension(pair.from_b, x, wide) for x in range(pair.b.product)}
    assert max(added) <= math.ceil(pair.from_b.excess)
    room = pair.from_a.room * pair.from_a.source.product
    target = pair.b if name == "shenoy-kumaresan" else wide
    assert {check_extension(pair.from_a, x, target) for x in range(math.floor(room))} == {0}


@pytest.mark.parametrize("name", TINY_PAIRS)
def test_every_product_of_tiny_bases(name: str) -> None:
    pair = TINY_PAIRS[name]
    served = 0
    for n in range(1, 1 << pair.bits):
        if math.gcd(n, pair.radix) != 1:
            continue
        served += 1
        ring = RnsMontgomery(pair, n)
        elements = [ring.element(x) for x in range(math.ceil(pair.bound * n))]
        inverse = pow(pair.radix, -1, n)
        for x, y in itertools.product(range(len(elements)), repeat=2):
            w = ring.integer(ring.mul(elements[x], elements[y]))
            assert w % n == x * y * inverse % n
    assert served > 1


@pytest.mark.parametrize("name", TINY_PAIRS)
def test_every_number_in_and_out(name: str) -> None:
    pair = TINY_PAIRS[name]
    for n in range(1, 1 << pair.bits):
        if math.gcd(n, pair.radix) == 1:
            ring = RnsMontgomery(pair, n)
            assert [ring.decode(ring.encode(x)) for x in range(1 << pair.bits)] == [
                x % n for x in range(1 << pair.bits)
            ]


def test_the_cox_is_off_by_its_error_and_no_more() -> None:
    """The rank of every value; some values reach the extra multiple, all of them below Delta M."""
    for cox in (TINY_COX_B, WEIGHED_B, Cox.truncating(TINY_B, 8), Cox.truncating(TINY_A, 3)):
        base, largest = cox.base, Fraction(0)
        for x in range(base.product):
            xi = base.coordinates(base.residues(x))
            exact = sum(Fraction(c, m) for c, m in zip(xi, base.moduli, strict=True))
            estimate = sum((c * u) >> s for c, u, s in zip(xi, cox.weights, cox.shifts, strict=True))
            shortfall = exact - Fraction(estimate, 1 << cox.bits)
            assert 0 <= shortfall <= cox.error
            largest = max(largest, shortfall)
            off = math.floor(exact) - cox.rank(xi)
            assert off == 0 or (off == 1 and Fraction(x, base.product) < cox.error)
        assert largest > cox.error / 2


@pytest.mark.parametrize("slack", [1, 2])
def test_the_error_is_reached_where_nothing_is_truncated(slack: int) -> None:
    """Every combination of coordinates below slack m."""
    for base in (TINY_B, TINY_A):
        cox = Cox.truncating(base, 4, slack=slack)
        assert set(cox.shifts) == {0}
        shortfalls = {
            sum(
                Fraction(c, m) - Fraction(c * u, 16)
                for c, m, u in zip(xi, base.moduli, cox.weights, strict=True)
            )
            for xi in itertools.product(*(range(slack * m) for m in base.moduli))
        }
        assert min(shortfalls) >= 0
        assert max(shortfalls) == cox.error


@pytest.mark.parametrize("slack", [1, 2])
def test_coordinates_at_the_edge_of_their_range(slack: int) -> None:
    """Ranks of all combinations of extreme coordinates, of 16-bit truncation and unequal channels."""
    base = Base((2**31 - 1, 2**31 - 19, 2**28 - 57, 2**20 - 3, 65521, 4093))
    for offset in (0, 1 << 15):
        cox = Cox.truncating(base, 16, offset, slack)
        assert cox.error < (1 if offset == 0 else Fraction(1, 2))
        edges = [(0, 1, (slack * m) // 2, slack * m - 2, slack * m - 1) for m in base.moduli]
        for xi in itertools.islice(itertools.product(*edges), 0, None, 3):
            total = sum(c * cofactor for c, cofactor in zip(xi, base.cofactors, strict=True))
            k, x = divmod(total, base.product)
            fraction = Fraction(x, base.product)
            if offset == 0:
                assert cox.rank(xi) == k or (cox.rank(xi) == k - 1 and fraction < cox.error)
            elif fraction < 1 - cox.alpha:
                assert cox.rank(xi) == k


def test_the_offset_is_exact_to_its_last_value_and_wrong_above() -> None:
    primes = odd_primes_below(1 << 16, 24)
    base, target = Base(primes[:12]), Base(primes[12:])
    extension = CoxRower(Cox.truncating(base, 14, offset=1 << 13))
    limit = math.ceil(extension.room * base.product)
    for x in (0, 1, 2, limit // 2, limit - 2, limit - 1):
        assert extension.extend(base.residues(x), target) == target.residues(x)
    beyond = base.product - 1
    assert extension.extend(base.residues(beyond), target) == target.residues(beyond - base.product)


def test_offset_zero_takes_every_value_and_may_add_one_multiple() -> None:
    primes = odd_primes_below(1 << 16, 26)
    base, target = Base(primes[:12]), Base(primes[12:])
    extension = CoxRower(Cox.truncating(base, 14))
    assert extension.excess < 1
    values = [0, 1, 2, base.product // 2, base.product - 1]
    values += [random.Random(1).randrange(base.product) for _ in range(200)]
    edge = math.floor(extension.excess * base.product)
    values += [random.Random(2).randrange(edge) for _ in range(200)]
    added = [check_extension(extension, x, target) for x in values]
    assert set(added) == {0, 1}
    assert all(x < edge for x, j in zip(values, added, strict=True) if j)


@pytest.mark.parametrize("bits", [60, 256, 521, 1024, 2048])
def test_powers(bits: int) -> None:
    draw = random.Random(bits)
    for name, pair in wide_pairs(bits).items():
        for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1, 3 * draw.getrandbits(bits - 3) + 2):
            if math.gcd(n, pair.radix) != 1:
                continue
            x, e = draw.getrandbits(bits), draw.getrandbits(10)
            assert RnsMontgomery(pair, n).power(x, e, bits=12, width=3) == pow(x, e, n), name


@pytest.mark.parametrize("n", [1, 2, 2**59, 2**60 - 1])
def test_the_least_and_even_moduli(n: int) -> None:
    """Only common factors with M_B matter."""
    for pair in wide_pairs(60).values():
        ring = RnsMontgomery(pair, n)
        largest = ring.element(math.ceil(pair.bound * n) - 1)
        assert ring.integer(ring.sqr(largest)) % n == ring.integer(largest) ** 2 * pow(pair.radix, -1, n) % n
        assert ring.power(12345, 678) == pow(12345, 678, n)
        assert ring.power(0, 0) == 1 % n


def test_factors_beyond_the_bound_where_the_product_stays_below() -> None:
    """x y / (M_B N) + 1 + excess < c suffices: sums need no reduction where M_B is much larger than N."""
    pair = wide_pairs(60)["cox-rower"]
    ring = RnsMontgomery(pair, 2**60 - 93)
    spare = (pair.bound - 1 - pair.from_b.excess) * pair.radix
    x = math.isqrt(math.floor(spare * ring.n)) - 1
    assert x > 10 * pair.bound * ring.n
    assert ring.is_element(ring.product(ring.element(x), ring.element(x)))


BROKEN: dict[str, BasePair] = {
    "moduli above 1": BasePair.of(MixedRadix(Base((13, 1))), MixedRadix(TINY_A), 1),
    "coprime moduli": BasePair.of(MixedRadix(Base((13, 9))), MixedRadix(Base((11, 12))), 3),
    "cox weight": BasePair.of(
        CoxRower(replace(TINY_COX_B, weights=(1, 2, 2))), CoxRower(TINY_COX_A), bits=4, bound=Fraction(3)
    ),
    "cox width": BasePair.of(CoxRower(Cox.truncating(TINY_B, 31)), CoxRower(TINY_COX_A), 4),
    "cox offset": BasePair.of(CoxRower(TINY_COX_B), CoxRower(replace(TINY_COX_A, offset=16)), 4),
    "cox error": BasePair.of(CoxRower(Cox.truncating(TINY_B, 1)), CoxRower(TINY_COX_A), 1),
    "rank width": BasePair.of(
        MixedRadix(TINY_B), ByteRower(replace(STORED.stored, offset=1 << 32)), 4, bound=Fraction(3)
    ),
    "rank offset": BasePair.of(MixedRadix(TINY_B), ByteRower(replace(STORED.stored, offset=256)), 4),
    "redundant modulus": BasePair.of(Uncorrected(Base((13, 9, 7))), ShenoyKumaresan(Base((11, 17, 5)), 2), 2),
    "B takes every residue": BasePair.of(CoxRower(replace(WEIGHED_B, offset=1)), CoxRower(WEIGHED_A), 4),
    "A to B is exact": BasePair.of(CoxRower(WEIGHED_B), CoxRower(replace(WEIGHED_A, offset=1)), 4),
    "M_B holds the product": BasePair.of(MixedRadix(TINY_B), MixedRadix(Base((11, 7, 5, 17))), 8),
    "M_A holds an element": BasePair.of(MixedRadix(TINY_B), MixedRadix(Base((11, 7))), 6),
}


def test_an_offset_below_the_error_of_bytes_is_refused() -> None:
    """Ranks may be one too small then, and no value is exact for sure."""
    for offset, holds in ((4, False), (5, True)):
        extension = ByteRower(replace(STORED.stored, offset=offset))
        assert (extension.stored.under <= extension.stored.alpha) == holds == (extension.excess == 0)
        checks = dict(conditions(BasePair.of(MixedRadix(TINY_B), extension, 4)))
        assert checks["A to B is exact"] == holds


@pytest.mark.parametrize("slack", [1, 2])
def test_the_excess_without_a_rank(slack: int) -> None:
    """Every combination of coordinates below slack m: sums below (1 + excess) M, and near it."""
    extension = Uncorrected(TINY_B, slack)
    largest = sum((slack * m - 1) * c for m, c in zip(TINY_B.moduli, TINY_B.cofactors, strict=True))
    limit = (1 + extension.excess) * TINY_B.product
    assert limit - sum(TINY_B.cofactors) == largest < limit


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_inequality_is_named(name: str) -> None:
    with pytest.raises(BaseError, match=f"^{name}$"):
        check_bases(BROKEN[name])


def test_every_inequality_has_a_pair_that_breaks_it() -> None:
    names = {name for pair in [*TINY_PAIRS.values(), *BROKEN.values()] for name, _ in conditions(pair)}
    assert names == set(BROKEN)


@pytest.mark.parametrize(
    ("name", "bits", "broken"),
    [
        ("szabo-tanaka", 7, "M_B holds the product"),
        ("shenoy-kumaresan", 6, "M_B holds the product"),
        ("cox-rower", 4, "M_A holds an element"),
    ],
)
def test_bounds_are_where_the_predicate_puts_them(name: str, bits: int, broken: str) -> None:
    """The most bits of N, computed by hand from the products 936 and 385; one bit more is refused."""
    check_bases(replace(TINY_PAIRS[name], bits=bits))
    with pytest.raises(BaseError, match=broken):
        check_bases(replace(TINY_PAIRS[name], bits=bits + 1))


@pytest.mark.parametrize(
    ("n", "name"), [(0, "modulus range"), (32, "modulus range"), (27, "modulus prime to M_B")]
)
def test_moduli_that_are_not_served(n: int, name: str) -> None:
    with pytest.raises(BaseError, match=name):
        RnsMontgomery(TINY_PAIRS["szabo-tanaka"], n)


def test_disagreeing_bases_are_noticed() -> None:
    ring = RnsMontgomery(TINY_PAIRS["szabo-tanaka"], 5)
    x, y = ring.element(3), ring.element(4)
    with pytest.raises(AssertionError, match="disagree"):
        ring.mul(Element(x.a, y.b), x)
