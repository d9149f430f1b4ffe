# SPDX-License-Identifier: Apache-2.0
"""The oracle's scalar multiplications: all scalars and points of tiny curves, random ones of real curves."""

from __future__ import annotations

import random
from itertools import product

import gmpy2
import pytest
from reference.ecc.curves import (
    CURVE448,
    CURVE25519,
    EDWARDS,
    EDWARDS448,
    EDWARDS25519,
    P256,
    SECP256K1,
    WEIERSTRASS,
    Edwards,
    Point,
    Weierstrass,
)
from reference.ecc.groups import AffineGroup, EdwardsGroup, JacobianGroup, multiply, multiply_edwards
from reference.ecc.normalise import add_all, affine_all, invert_all
from reference.ecc.numbers import PrimeField
from reference.ecc.scalar import double_base, glv, half, ladder, pippenger, variable_base
from reference.ecc.scalar.fixed_base import FixedBase
from reference.ecc.tiny import (
    TINY_A0,
    TINY_A0_199,
    TINY_A3,
    TINY_COFACTOR,
    TINY_EDWARDS,
    TINY_EDWARDS_8,
    TINY_EDWARDS_A1,
    TINY_GENERAL,
    TINY_WEIERSTRASS,
    edwards_points,
    search_edwards,
    search_weierstrass,
    weierstrass_points,
)
from reference.modexp.recoding import pack, signed_digit_count, signed_digits, unpack
from reference.modexp.windows import width_naf

NAMES = [curve.name for curve in WEIERSTRASS]


@pytest.mark.parametrize("curve", WEIERSTRASS, ids=NAMES)
def test_parameters_of_weierstrass_curves(curve: Weierstrass) -> None:
    """p and n are prime, G is of order n, and n h is in Hasse's interval."""
    assert gmpy2.is_prime(curve.p)
    assert gmpy2.is_prime(curve.n)
    assert curve.is_nonsingular
    assert curve.contains(curve.generator)
    assert multiply(curve, curve.n, curve.generator) is None
    assert abs(curve.n * curve.cofactor - curve.p - 1) <= 2 * gmpy2.isqrt(curve.p) + 1
    # Neither anomalous nor of small embedding degree, but for the curves made for pairings.
    assert curve.n != curve.p
    assert "G1" in curve.name or all(pow(curve.p, k, curve.n) != 1 for k in range(1, 20))


@pytest.mark.parametrize("curve", EDWARDS, ids=[curve.name for curve in EDWARDS])
def test_parameters_of_edwards_curves(curve: Edwards) -> None:
    assert gmpy2.is_prime(curve.p)
    assert gmpy2.is_prime(curve.n)
    assert curve.is_complete
    assert curve.contains(curve.generator)
    assert multiply_edwards(curve, curve.n, curve.generator) == (0, 1)
    assert abs(curve.n * curve.cofactor - curve.p - 1) <= 2 * gmpy2.isqrt(curve.p) + 1


def test_montgomery_curves_are_those_of_the_edwards_curves() -> None:
    """The generators correspond: (1 + y) / (1 - y) is 9, and by the isogeny of curve448 y^2 / x^2 is 5."""
    y = EDWARDS25519.generator[1]
    assert (1 + y) * pow(1 - y, -1, EDWARDS25519.p) % EDWARDS25519.p == CURVE25519.u
    x, y = EDWARDS448.generator
    assert y * y * pow(x * x, -1, EDWARDS448.p) % EDWARDS448.p == CURVE448.u
    assert [CURVE25519.a24, CURVE448.a24] == [121665, 39081]


def test_search_finds_groups_of_prime_order() -> None:
    """Orders counted by repeated addition, for the first curves of several kinds."""
    for p, a in ((23, 0), (31, 0), (29, -3), (41, -3), (43, 7)):
        for curve in [*search_weierstrass(p, a)][:2]:
            group, point, order = AffineGroup(curve), curve.generator, 1
            total: Point = point
            while total is not None:
                total, order = group.mul(total, point), order + 1
            assert order == curve.n == len(weierstrass_points(curve))
    edwards = next(search_edwards(53, -1, 4))
    points = edwards_points(edwards)
    assert len(points) == 4 * edwards.n
    for first, second in product(points, points):
        assert edwards.contains(EdwardsGroup(edwards).mul(first, second))


@pytest.mark.parametrize("p", [3, 7, 13, 17, 29, 41, 43, 97, 193])
def test_square_roots(p: int) -> None:
    """Primes of all forms: 3 mod 4, 5 mod 8, and 1 mod 8 up to 1 mod 64."""
    f = PrimeField(p)
    squares = {x * x % p for x in range(p)}
    for a in range(p):
        root = f.sqrt(a)
        assert (root is not None) == (a in squares)
        assert root is None or root * root % p == a


def test_lifted_points_of_tiny_curves() -> None:
    """Every x with both parities: the points of the curve, and none for other x."""
    for curve in (TINY_GENERAL, TINY_COFACTOR):
        points = weierstrass_points(curve)
        lifted = [curve.lift_x(x, odd) for x in range(-1, curve.p + 2) for odd in (0, 1)]
        assert sorted(point for point in lifted if point) == sorted(point for point in points if point)


def test_jacobian_group_is_the_affine_one() -> None:
    """Every pair of points, every exceptional case, with Z of 1 and not."""
    for curve in (*TINY_WEIERSTRASS, TINY_COFACTOR):
        affine, group = AffineGroup(curve), JacobianGroup(curve)
        for p, q in product(weierstrass_points(curve), repeat=2):
            expected = affine.mul(p, q)
            assert group.affine(group.mul(group.point(p), group.point(q))) == expected
            z = group.field(5)
            x, y, one = group.point(q)
            scaled = (x * z.sqr(), y * z.sqr() * z, one * z)
            assert group.affine(group.mul(group.point(p), scaled)) == expected
            assert group.affine(group.sqr(scaled)) == affine.sqr(q)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7])
def test_signed_digits(width: int) -> None:
    for bits in (1, 5, 9):
        for k in range(1 << bits):
            digits = signed_digits(k, width, bits)
            assert len(digits) == signed_digit_count(bits, width)
            assert sum(d << (width * i) for i, d in enumerate(digits)) == k
            assert max(map(abs, digits)) <= 1 << (width - 1)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("word_bits", [8, 16, 32])
def test_packed_digits(width: int, word_bits: int) -> None:
    draw = random.Random(width)
    for bits in (1, 31, 64, 160, 384):
        digits = width_naf(draw.getrandbits(bits), width)
        words = pack(digits, width, word_bits)
        assert all(word < 1 << word_bits for word in words)
        assert [unpack(words, width, i, word_bits) for i in range(len(digits))] == digits


@pytest.mark.parametrize("curve", [TINY_A0, TINY_A3, TINY_GENERAL], ids=lambda curve: curve.name)
def test_all_scalars_of_tiny_curves(curve: Weierstrass) -> None:
    """Every scalar, beyond the order too, by every method, against repeated addition."""
    affine, group = AffineGroup(curve), JacobianGroup(curve)
    base = group.point(curve.generator)
    bits = 7
    combs = [FixedBase.of(group, base, width, bits) for width in (2, 3, 7)]
    expected: Point = None
    for k in range(1 << bits):
        results = [
            variable_base.right_to_left(group, k, base, bits),
            *(
                variable_base.multiply_naf(group, k, base, w, packed=packed)
                for w in (2, 3, 5)
                for packed in (False, True)
            ),
            *(variable_base.multiply_windows(group, k, base, w, bits) for w in (1, 2, 4, 5)),
            *(comb.multiply(k) for comb in combs),
        ]
        assert {group.affine(result) for result in results} == {expected}
        assert multiply(curve, k, curve.generator) == expected
        if curve.generator[0]:
            x = ladder.weierstrass(curve, k, curve.generator[0], bits)
            assert x == (expected[0] if expected else None)
        expected = affine.mul(expected, curve.generator)


def test_all_pairs_of_scalars_with_every_relation_of_the_points() -> None:
    """u1 G + u2 Q for Q = infinity, G, -G, 2 G, ..: partial sums meet every exceptional case."""
    curve = TINY_A0
    group, affine = JacobianGroup(curve), AffineGroup(curve)
    g = group.point(curve.generator)
    comb = FixedBase.of(group, g, 3, 5)
    multiples = [multiply(curve, k, curve.generator) for k in range(curve.n)]
    for q_scalar in (0, 1, 2, 3, curve.n - 1, curve.n - 2, 11):
        q = group.point(multiples[q_scalar])
        for u1, u2 in product(range(curve.n), range(0, curve.n, 2)):
            expected = multiples[(u1 + u2 * q_scalar) % curve.n]
            assert group.affine(double_base.joint(group, u1, g, u2, q)) == expected
            assert group.affine(double_base.interleaved(group, u1, g, u2, q, (4, 3))) == expected
            assert group.affine(double_base.with_comb(group, comb, u1, u2, q, 3)) == expected
    assert group.exceptional > 1000
    assert affine.mul(multiples[1], multiples[-1]) is None


def test_edwards_scalars() -> None:
    """Generic methods over a complete law, where no case is exceptional."""
    for curve in (TINY_EDWARDS, TINY_EDWARDS_A1):
        group = EdwardsGroup(curve)
        for point in edwards_points(curve)[::3]:
            total = (0, 1)
            for k in range(2 * curve.n * curve.cofactor):
                assert multiply_edwards(curve, k, point) == total
                assert variable_base.multiply_windows(group, k, point, 3, 8) == total
                total = group.mul(total, point)


@pytest.mark.parametrize("curve", WEIERSTRASS[:8], ids=NAMES[:8])
def test_scalars_of_real_curves(curve: Weierstrass) -> None:
    """Scalars at the ends, with long runs, and random ones: all methods agree."""
    draw = random.Random(curve.name)
    bits = curve.n.bit_length()
    group = JacobianGroup(curve)
    base = group.point(curve.generator)
    comb = FixedBase.of(group, base, 4, bits)
    for k in (curve.n - 1, (1 << (bits - 1)) - 1, draw.randrange(curve.n)):
        expected = multiply(curve, k, curve.generator)
        assert group.affine(comb.multiply(k)) == expected
        assert group.affine(variable_base.multiply_windows(group, k, base, 5, bits)) == expected
        assert group.affine(variable_base.multiply_naf(group, k, base, 3, packed=True)) == expected
    x = ladder.weierstrass(curve, 12345, curve.generator[0], 14)
    reached = multiply(curve, 12345, curve.generator)
    assert reached is not None
    assert x == reached[0]


def test_operations_of_the_methods() -> None:
    """Constant methods take the same operations for all scalars; the counts are those of the plan."""
    group = JacobianGroup(P256)
    base = group.point(P256.generator)
    comb = FixedBase.of(group, base, 7, 256)
    assert (comb.additions, sum(map(len, comb.tables))) == (36, 37 * 64)
    counts = set()
    for k in (0, 1, P256.n - 1, (1 << 256) - 1):
        group.additions = group.doublings = 0
        comb.multiply(k)
        variable_base.multiply_windows(group, k, base, 5, 256)
        counts.add((group.additions, group.doublings))
    assert counts == {(36 + 7 + 51, 8 + 255)}
    # Paper 003: 256 doublings and 128 additions for a scalar of Hamming weight 128.
    group.additions = group.doublings = 0
    variable_base.right_to_left(group, int("10" * 128, 2), base, 256)
    assert (group.additions, group.doublings) == (128, 256)
    assert 128 * 16 + 256 * 9 == 4352


def test_glv_bounds_and_results() -> None:
    """|k1|, |k2| below 2^128 for scalars near each rounding boundary; phi is lambda; k P."""
    n, draw = SECP256K1.n, random.Random(9)
    assert (glv.LAMBDA**2 + glv.LAMBDA + 1) % n == 0
    assert pow(glv.BETA, 3, SECP256K1.p) == 1
    assert (glv.A1 + glv.B1 * glv.LAMBDA) % n == (glv.A2 + glv.B2 * glv.LAMBDA) % n == 0
    assert (glv.A1 + glv.A2) // 2 < 1 << 128
    x, y = SECP256K1.generator
    assert multiply(SECP256K1, glv.LAMBDA, SECP256K1.generator) == (glv.BETA * x % SECP256K1.p, y)
    near = [
        (2 * j + 1) * n // (2 * v) + d
        for v in (glv.B2, -glv.B1)
        for j in (0, 1, v // 2, v - 1)
        for d in (-1, 0, 1)
    ]
    scalars = [
        0,
        1,
        n - 1,
        n // 2,
        glv.LAMBDA,
        n - glv.LAMBDA,
        *near,
        *(draw.randrange(n) for _ in range(300)),
    ]
    longest = 0
    for k in scalars:
        if 0 <= k < n:
            k1, k2 = glv.decompose(k)
            assert (k1 + k2 * glv.LAMBDA - k) % n == 0
            longest = max(longest, abs(k1), abs(k2))
    assert longest.bit_length() == 128
    group = JacobianGroup(SECP256K1)
    beta = group.field(glv.BETA)
    base = group.point(SECP256K1.generator)
    for k in (0, 1, n - 1, glv.LAMBDA, draw.randrange(n), draw.randrange(n)):
        result = glv.multiply(group, k, base, lambda p: (beta * p[0], p[1], p[2]))
        assert group.affine(result) == multiply(SECP256K1, k, SECP256K1.generator)


@pytest.mark.parametrize("width", [2, 3, 4])
def test_buckets_with_equal_and_opposite_points(width: int) -> None:
    curve = TINY_A0_199
    group, draw = JacobianGroup(curve), random.Random(width)
    for terms in (0, 1, 2, 17, 60):
        logs = [draw.choice((0, 1, 1, curve.n - 1, draw.randrange(curve.n))) for _ in range(terms)]
        scalars = [draw.choice((0, 1, curve.n - 1, draw.randrange(256))) for _ in range(terms)]
        points = [group.point(multiply(curve, log, curve.generator)) for log in logs]
        expected = multiply(
            curve, sum(k * log for k, log in zip(scalars, logs, strict=True)) % 199, curve.generator
        )
        assert group.affine(pippenger.multi_multiply(group, scalars, points, 8, width)) == expected


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_folded_buckets(bits: int) -> None:
    curve = TINY_A0_199
    group, draw = JacobianGroup(curve), random.Random(bits)
    for _ in range(5):
        logs = [draw.choice((0, 1, curve.n - 1, draw.randrange(curve.n))) for _ in range(1 << bits)]
        sums = pippenger.fold(group, [group.point(multiply(curve, log, curve.generator)) for log in logs])
        total = group.one()
        for part in reversed(sums):
            total = group.mul(group.sqr(total), part)
        expected = sum((j + 1) * log for j, log in enumerate(logs)) % curve.n
        assert group.affine(total) == multiply(curve, expected, curve.generator)


def test_a_zero_harms_only_its_own_item() -> None:
    """Hostile zeros at every place of a batch, alone and several, in one chain and in a tree of chains."""
    f = PrimeField(P256.p)
    draw = random.Random(10)
    for count, chain in ((1, None), (7, None), (7, 2), (9, 3), (8, 1000)):
        for zeros in ([0], [count - 1], [count // 2], list(range(count)), []):
            values = [f(0 if i in zeros else draw.randrange(1, f.p)) for i in range(count)]
            f.reset()
            inverses = invert_all(f, values, chain)
            assert f.inversions == 1
            for i, (value, inverse) in enumerate(zip(values, inverses, strict=True)):
                assert int(value * inverse) == (0 if i in zeros else 1)
    assert invert_all(f, []) == []


def test_inversion_costs_three_multiplications_an_item() -> None:
    f = PrimeField(P256.p)
    f.reset()
    invert_all(f, [f(i + 1) for i in range(100)])
    assert (f.mul, f.inversions) == (3 * 99, 1)


def test_batches_of_points() -> None:
    """Normalisation with infinity among the points; additions of all pairs of points at once."""
    for curve in (TINY_A0, TINY_COFACTOR):
        group, affine = JacobianGroup(curve), AffineGroup(curve)
        points = weierstrass_points(curve)
        scaled = [
            (p[0] * z.sqr(), p[1] * z.sqr() * z, p[2] * z)
            for z in [group.field(3)]
            for p in map(group.point, points)
        ]
        assert affine_all(group.field, scaled) == points
        pairs = list(product(points, points))
        assert add_all(curve, pairs) == [affine.mul(p, q) for p, q in pairs]


@pytest.mark.parametrize("n", [3, 13, 61, 251, 509])
@pytest.mark.parametrize("cofactor", [1, 2, 4, 8])
def test_halves_of_all_scalars_of_short_orders(n: int, cofactor: int) -> None:
    """What it promises is asserted there; here, that no fraction is much longer than the shortest."""
    for k in range(n):
        length = max(map(abs, half.split(k, n, cofactor)))
        assert length <= max(k, 1)
        assert length <= 4 * max(map(abs, half.shortest(k, n, cofactor))), k


@pytest.mark.parametrize("curve", [EDWARDS25519, EDWARDS448], ids=["25519", "448"])
def test_halves_of_scalars(curve: Edwards) -> None:
    n, cofactor, rng = curve.n, curve.cofactor, random.Random(7)
    edges = [0, 1, 2, 7, 8, n - 1, n - 2, n - 8, n // 2, n // 2 + 1, cofactor * n // 10, cofactor * n // 9]
    bits = (cofactor * n).bit_length() // 2
    longer = 0
    for k in [*edges, *(rng.randrange(n) for _ in range(300))]:
        length = max(map(abs, half.split(k, n, cofactor)))
        assert length <= max(k, 1)
        if k not in edges:
            assert length <= 8 * max(map(abs, half.shortest(k, n, cofactor)))
            longer += length >> bits + 3 > 0
    assert longer < 10


@pytest.mark.parametrize("curve", [TINY_EDWARDS, TINY_EDWARDS_8, TINY_EDWARDS_A1])
def test_halves_decide_equations_of_all_points(curve: Edwards) -> None:
    """Points of all orders: what is tested holds exactly where the equation does."""
    group, rng = EdwardsGroup(curve), random.Random(8)
    points = edwards_points(curve)
    held = 0
    for p, k in product(points, range(curve.n)):
        u = rng.randrange(curve.n)
        total = group.mul(multiply_edwards(curve, u, curve.generator), multiply_edwards(curve, k, p))
        for r in (total, group.inv(total), rng.choice(points)):
            operands = (u, k, p, r)
            assert half.is_sum(group, curve.generator, operands, curve.n, curve.cofactor) == (r == total)
            held += r == total
    assert held > len(points) * curve.n
