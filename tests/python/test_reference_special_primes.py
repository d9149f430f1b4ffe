# SPDX-License-Identifier: Apache-2.0
"""The oracle's special primes: real ones at their bounds, small analogues whole, counted instructions."""

from __future__ import annotations

import random

import pytest
from reference.ecc.curves import CURVE448, CURVE25519, P256, P384, P521, SECP256K1, SM2
from reference.modmul.special_primes.folding import Folding
from reference.modmul.special_primes.halved_mersenne import HalvedMersenne
from reference.modmul.special_primes.machine import Ifma, Machine, Muludq
from reference.modmul.special_primes.primes import PRIMES, DigitField, SpecialPrime
from reference.modmul.special_primes.redundant_25519 import BOUND, LENGTH, P, Redundant25519
from reference.modmul.special_primes.redundant_25519 import value as redundant_value
from reference.modmul.special_primes.sparse_montgomery import SparseMontgomery
from reference.modmul.special_primes.words import (
    FoldedWords,
    P256Words,
    P384Words,
    P521Words,
    Sm2Words,
    WordField,
)
from reference.repr import worst_case_words

NAMES = [prime.name for prime in PRIMES]


def divisor(f: DigitField) -> int:
    """Return what mul multiplies a b by, modulo p."""
    if isinstance(f, SparseMontgomery):
        return pow(1 << f.bits, -1, f.p)
    return 2 if isinstance(f, HalvedMersenne) else 1


def operands(f: DigitField, draw: random.Random) -> list[int]:
    """Return numbers at the bounds: all digits of ones, multiples of p and their neighbours, runs, random."""
    top = min(1 << f.bits, f.p << 2 if isinstance(f, SparseMontgomery) else f.p << f.bits - f.p.bit_length())
    if isinstance(f, HalvedMersenne):
        top = 1 << (f.machine.w * (f.length - 1) + 20)
    near = [m * f.p + d for m in (0, 1, 2, 3, top // f.p) for d in (-1, 0, 1)]
    runs = [(1 << j) - 1 << i for i, j in ((0, 52), (52, 104), (0, 200), (64, 32), (29, 200), (1, 255))]
    values = [*near, *runs, top - 1, top - 2, top >> 1, draw.randrange(top), draw.randrange(top)]
    return [x for x in values if 0 <= x < top]


def check(f: DigitField, x: int, y: int) -> None:
    a, b = f.digits(x), f.digits(y)
    factor = divisor(f)
    product, square = f.mul(a, b), f.sqr(a)
    assert f.number(product) % f.p == x * y * factor % f.p
    assert f.number(square) % f.p == x * x * factor % f.p
    if not isinstance(f, SparseMontgomery):
        assert f.number(f.canonical(product)) == x * y * factor % f.p


@pytest.mark.parametrize("prime", PRIMES, ids=NAMES)
@pytest.mark.parametrize("radix", ["ifma", "muludq"])
def test_products_at_the_bounds(prime: SpecialPrime, radix: str) -> None:
    f = getattr(prime, radix)()
    assert f.p == prime.p
    draw = random.Random(1)
    values = operands(f, draw)
    for x in values:
        for y in draw.sample(values, 4):
            check(f, x, y)
            assert f.p * 4 > f.number(f.mul(f.digits(x), f.digits(y))) or isinstance(f, HalvedMersenne)
    for value in (0, 1, 2, prime.p - 1):
        if not isinstance(f, Folding):
            assert f.value(f.residue(value)) == value


@pytest.mark.parametrize("prime", PRIMES, ids=NAMES)
def test_counts_of_multiplications(prime: SpecialPrime) -> None:
    """What the table states, for any operands: nothing depends on them."""
    draw = random.Random(2)
    for radix in ("ifma", "muludq", "words") if prime.words is not None else ("ifma", "muludq"):
        stated = getattr(prime, f"{radix}_count")
        instruction = "wide" if radix == "words" else "mul"
        every = []
        for x in (0, prime.p - 1, draw.randrange(prime.p)):
            f = getattr(prime, radix)()
            counts = f.counts if radix == "words" else f.machine.counts
            a = x if radix == "words" else f.digits(x)
            f.mul(a, a)
            product = dict(counts)
            counts.clear()
            f.sqr(a)
            assert (product[instruction], counts[instruction]) == stated
            if radix != "muludq":
                both = (
                    sum(n for name, n in c.items() if name not in {"wide", "mul"}) for c in (product, counts)
                )
                assert tuple(both) == getattr(prime, f"{radix}_rest")
            every.append((product, dict(counts)))
        assert every[0] == every[1] == every[2]


def test_special_primes_beat_generic_montgomery() -> None:
    for prime in PRIMES:
        digits = -(-(prime.p.bit_length() + 2) // 52)
        generic = 4 * digits**2 + digits, digits * (digits + 1) + 2 * digits**2 + digits
        assert prime.ifma_count[0] < 0.8 * generic[0]
        assert prime.ifma_count[1] < 0.75 * generic[1]


def test_primes_are_those_of_the_curves() -> None:
    curves = (SECP256K1, CURVE25519, P256, SM2, P384, P521, CURVE448)
    assert [prime.p for prime in PRIMES] == [curve.p for curve in curves]


@pytest.mark.parametrize("prime", PRIMES, ids=NAMES)
@pytest.mark.parametrize("radix", ["ifma", "muludq"])
def test_contract_of_fields(prime: SpecialPrime, radix: str) -> None:
    """Magnitudes of ``src/field/field.hpp`` with B = 2 p: products up to 4, sums up to 8, results below B.

    P-521 in radix 2^52 has a wider bound of its own.
    """
    f = getattr(prime, radix)()
    bound = 2 * f.p if not isinstance(f, HalvedMersenne) else 128 << 52 * 10
    for m in range(1, 9):
        top = f.digits(m * bound - 1)
        for other in range(1, 9 - m):
            assert f.number(f.add(top, f.digits(other * bound - 1))) == (m + other) * bound - 2
        for other in range(1, 4 // m + 1):
            x, y = m * bound - 1, other * bound - 1
            result = f.number(f.mul(f.digits(x), f.digits(y)))
            assert result < bound
            assert result % f.p == x * y * divisor(f) % f.p
        if m * m <= 4:
            assert f.number(f.sqr(top)) % f.p == (m * bound - 1) ** 2 * divisor(f) % f.p


@pytest.mark.parametrize("prime", PRIMES, ids=NAMES)
@pytest.mark.parametrize("radix", ["ifma", "muludq"])
def test_sums_and_differences(prime: SpecialPrime, radix: str) -> None:
    """Sums are operands without a reduction; differences of results stay above 0."""
    f = getattr(prime, radix)()
    draw = random.Random(3)
    for _ in range(8):
        x, y = (
            f.number(f.mul(f.digits(draw.randrange(f.p)), f.digits(draw.randrange(f.p)))) for _ in range(2)
        )
        a, b = f.digits(x), f.digits(y)
        total = f.add(a, b)
        assert f.number(total) == x + y
        k = 4 if not isinstance(f, HalvedMersenne) else 64
        if k * f.p + x < 1 << f.bits:
            difference = f.sub(a, b, k)
            assert f.number(difference) == x - y + k * f.p
            assert f.number(f.sqr(difference)) % f.p == (x - y) ** 2 * divisor(f) % f.p
        assert f.number(f.mul(total, b)) % f.p == (x + y) * y * divisor(f) % f.p


@pytest.mark.parametrize("prime", PRIMES[:5], ids=NAMES[:5])
def test_sums_without_carries_in_radix_29(prime: SpecialPrime) -> None:
    """Two sums whose digits were not carried are multiplied: columns still fit 64 bits (not for P-521)."""
    f = prime.muludq()
    ones = [2 * f.machine.mask] * (f.length - 1) + [2]
    value = sum(x << (f.machine.w * k) for k, x in enumerate(ones))
    assert f.number(
        f.mul(ones, ones) if not isinstance(f, SparseMontgomery) else _unchecked(f, ones)
    ) % f.p == (value * value * divisor(f) % f.p)


def _unchecked(f: SparseMontgomery, a: list[int]) -> list[int]:
    return f.reduce(f.product(a, a, f.start))


@pytest.mark.parametrize(
    ("m", "c", "machine", "length"),
    [
        (11, 3, Ifma(6, 12), 2),
        (11, 5, Ifma(6, 12), 2),
        (17, 9, Ifma(6, 12), 3),
        (11, 3, Muludq(6, 6), 2),
        (17, 1, Muludq(6, 6), 3),
    ],
)
def test_every_number_of_small_folds(m: int, c: int, machine: Machine, length: int) -> None:
    """All squares, and a sample of products: numbers of two digits, and some of three."""
    f = Folding(m, c, machine, length)
    size = 1 << f.bits
    for x in range(0, size, 1 if length == 2 else 61):
        assert f.number(f.sqr(f.digits(x))) % f.p == x * x % f.p
        assert f.number(f.normalize_weak(f.digits(x))) % f.p == x % f.p
    for pair in range(0, size * size, size * size // 5003):
        x, y = divmod(pair, size)
        assert f.number(f.mul(f.digits(x), f.digits(y))) % f.p == x * y % f.p


@pytest.mark.parametrize(
    ("terms", "machine", "length"),
    [
        # A positive and a negative factor; two powers in one column; a low power, as P-384 in radix 2^52.
        ([(1, 9), (-1, 7), (1, 4)], Ifma(4, 12), 3),
        ([(1, 9), (-1, 7), (-1, 6), (1, 4)], Ifma(4, 12), 3),
        ([(1, 9), (-1, 7), (-1, 5), (1, 3)], Ifma(4, 12), 3),
        ([(1, 9), (-1, 7), (1, 4)], Muludq(4, 6), 3),
        ([(1, 9), (-1, 7), (-1, 6), (1, 4)], Muludq(4, 6), 3),
    ],
)
def test_every_number_of_small_montgomery_primes(
    terms: list[tuple[int, int]], machine: Machine, length: int
) -> None:
    """All squares of numbers below 4 p, and a sample of products; p need not be prime."""
    f = SparseMontgomery(terms, machine, length)
    inverse = pow(1 << f.bits, -1, f.p)
    for x in range(4 * f.p):
        assert f.number(f.sqr(f.digits(x))) % f.p == x * x * inverse % f.p
        for y in range(x % 61, 4 * f.p, 293):
            result = f.number(f.mul(f.digits(x), f.digits(y)))
            assert result % f.p == x * y * inverse % f.p


def test_every_number_of_a_small_halved_mersenne_prime() -> None:
    f = HalvedMersenne(Ifma(4, 12), 3)
    assert f.p == 511
    for x in range(1 << 10):
        assert f.number(f.sqr(f.digits(x))) % f.p == 2 * x * x % f.p
        for y in range(x % 13, 1 << 10, 97):
            assert f.number(f.canonical(f.mul(f.digits(x), f.digits(y)))) == 2 * x * y % f.p


WORD_FIELDS = [
    (FoldedWords, (977, True, 32)),
    (FoldedWords, (38, False, 32)),
    (P256Words, (32,)),
    (Sm2Words, (32,)),
    (P384Words, (32,)),
    (P521Words, (32, 9)),
    (FoldedWords, (5, True, 4)),
    (FoldedWords, (6, False, 6)),
    *((kind, (bits,)) for kind in (P256Words, Sm2Words, P384Words) for bits in (1, 2, 3, 8)),
    (P521Words, (5, 2)),
    (P521Words, (4, 1)),
]


@pytest.mark.parametrize(("kind", "arguments"), WORD_FIELDS)
def test_words_with_carry_chains(kind: type[WordField], arguments: tuple[int, ...]) -> None:
    """All patterns of words that stress carries, on real words and on words of a few bits."""
    f = kind(*arguments)
    inverse = pow(f.radix, -1, f.p)
    draw = random.Random(4)
    patterns = [sum(w << (f.bits * j) for j, w in enumerate(x)) for x in worst_case_words(f.words, f.bits)]
    values = [x for x in [*patterns, f.p, f.p - 1, f.p + 1, 2 * f.p, f.bound - 1, f.bound - 2] if x < f.bound]
    values += [draw.randrange(f.bound) for _ in range(40)]
    for x in values:
        assert f.sqr(x) % f.p == x * x * inverse % f.p
        for y in draw.sample(values, 4):
            assert f.mul(x, y) % f.p == x * y * inverse % f.p


def test_every_square_of_one_bit_words() -> None:
    for kind in (P256Words, Sm2Words):
        f = kind(1)
        inverse = pow(f.radix, -1, f.p)
        for x in range(f.bound):
            assert f.sqr(x) % f.p == x * x * inverse % f.p
            assert f.mul(x, f.bound - 1) % f.p == x * (f.bound - 1) * inverse % f.p


def test_small_multiples() -> None:
    """k a for X25519's constant: L products and one fold."""
    f = Folding(255, 19, Ifma())
    x = f.p - 3
    f.machine.counts.clear()
    assert f.number(f.mul_small(f.digits(x), CURVE25519.a24)) % f.p == x * CURVE25519.a24 % f.p
    assert f.machine.counts["mul"] == 11


def test_breaches_are_caught() -> None:
    """Operands above their bounds stop."""
    f = HalvedMersenne(Ifma(), 11)
    with pytest.raises(AssertionError):
        f.mul([0] * 10 + [1 << 26], [1] * 11)
    g = SparseMontgomery([(1, 256), (-1, 224), (1, 192), (1, 96)], Muludq())
    with pytest.raises(AssertionError):
        g.mul([1 << 33] * 9, [1] * 9)
    with pytest.raises(AssertionError, match="negative"):
        f.machine.sub(1, 2)


def test_redundant_digits_of_25519() -> None:
    """Its own assertions check all ranges."""
    draw = random.Random(51)
    factors = [[BOUND - 1] * LENGTH, [0] * LENGTH]
    factors += [
        [draw.choice((0, BOUND - 1, draw.randrange(BOUND))) for _ in range(LENGTH)] for _ in range(30)
    ]
    f = Redundant25519()
    columns = [[(1 << 59) - 1] * LENGTH, [0] * LENGTH, *(f.mul(a, factors[0]) for a in factors)]
    for a in factors:
        assert redundant_value(f.sqr(a)) == redundant_value(a) ** 2 % P
        rows = f.fix(a)
        for b in factors:
            assert (
                redundant_value(f.mul(a, b))
                == redundant_value(f.mul_fixed(b, rows))
                == redundant_value(a) * redundant_value(b) % P
            )
    for a in columns:
        for b in columns:
            assert redundant_value(f.add(a, b)) == (redundant_value(a) + redundant_value(b)) % P
            assert redundant_value(f.sub(a, b)) == (redundant_value(a) - redundant_value(b)) % P


def test_instructions_of_redundant_digits() -> None:
    """As `manymod.cli.bench.ecc_limit` counts a step of X25519's ladder."""
    a = [1] * LENGTH
    rows = Redundant25519().fix(a)

    def count(name: str, *operands: object) -> int:
        f = Redundant25519()
        getattr(f, name)(*operands)
        return f.counts.total()

    assert [count("mul", a, a), count("mul_fixed", a, rows), count("sqr", a)] == [55, 51, 35]
