# SPDX-License-Identifier: Apache-2.0
"""Floating-point channels of rns: every residue in small formats, binary32 as numpy rounds, all kinds."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.modmul.rns.bases import BaseError, BasePair
from reference.modmul.rns.extension import MixedRadix
from reference.modmul.rns_float.binary_float import BinaryFloat
from reference.modmul.rns_float.channels import Channel, FullWord, HalfWord, Paired, Smooth
from reference.modmul.rns_float.staged import R, StagedMontgomery

BINARY32 = BinaryFloat()


def check_channel(channel: Channel[R], digits: range | list[int]) -> None:
    m = channel.modulus
    assert channel.largest_digit >= m - 1
    residues = [(x, channel.load(x)) for x in digits]
    for x, a in residues:
        assert channel.digit(a) == x % m
    below = [(x, a) for x, a in residues if x < m]
    for (x, a), (y, b) in itertools.product(below, repeat=2):
        assert channel.digit(channel.mul(a, b)) == x * y % m
        assert channel.digit(channel.add(a, b)) == (x + y) % m
        assert channel.digit(channel.sub(a, b)) == (x - y) % m


def every_digit(channel: Channel[R]) -> range:
    return range(channel.largest_digit + 1)


@pytest.mark.parametrize("precision", [4, 5, 6])
def test_every_half_word(precision: int) -> None:
    f = BinaryFloat(precision)
    for m in range(3, math.isqrt(f.whole) + 1):
        check_channel(HalfWord(m, f), every_digit(HalfWord(m, f)))


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("precision", [3, 4, 5, 6])
def test_every_full_word(precision: int, fused: bool) -> None:
    f = BinaryFloat(precision)
    for m in range(3, f.whole, 2) if precision < 6 else (f.whole // 2 + 1, f.whole - 1):
        channel = FullWord(m, f, fused)
        check_channel(channel, every_digit(channel))


@pytest.mark.parametrize(("precision", "p", "q"), [(4, 4, 3), (5, 3, 5), (5, 5, 4), (6, 8, 7), (6, 7, 3)])
def test_small_smooth_moduli(precision: int, p: int, q: int) -> None:
    smooth = Smooth(p, q, BinaryFloat(precision))
    check_channel(smooth, every_digit(smooth))
    check_channel(Paired(smooth), every_digit(Paired(smooth)))


WIDE = [
    HalfWord(4096),
    HalfWord(4093),
    HalfWord(3),
    FullWord(16777213),
    FullWord(16777215),
    FullWord(8388609),
    FullWord(16777213, fused=False),
    FullWord(16777215, fused=False),
    Smooth(4093, 4091),
    Smooth(4096, 4093),
    Smooth(3, 4096),
]


@pytest.mark.parametrize("channel", WIDE, ids=repr)
def test_binary32_edges(channel: Channel[int]) -> None:
    m, draw = channel.modulus, random.Random(channel.modulus)
    edges = {0, 1, 2, m // 2 - 1, m // 2, m // 2 + 1, m - 2, m - 1, channel.largest_digit}
    edges |= {draw.randrange(m) for _ in range(24)}
    check_channel(channel, sorted(edges))


def test_a_pair_agrees_with_its_product() -> None:
    smooth = Smooth(4093, 4079)
    check_channel(Paired(smooth), [0, 1, 4079, 4093, smooth.modulus - 1, 2**24 - 4096, 12345678])


def test_rounding_is_binary32s() -> None:
    """Sums, products and reciprocals as the processor computes them."""
    draw = random.Random(7)
    for _ in range(1000):
        a, b = draw.getrandbits(24), draw.getrandbits(draw.randrange(1, 25))
        assert BINARY32.mul(a, b) == int(np.float32(a) * np.float32(b))
        wide = int(BINARY32.mul(a, b))
        assert BINARY32.add(wide, b) == int(np.float32(wide) + np.float32(b))
        assert BINARY32.reciprocal(b + 1) * 2**60 == int(float(np.float32(1) / np.float32(b + 1)) * 2**60)
        assert BINARY32.two_product(a, b) == BINARY32.two_product_split(a, b)
        assert sum(BINARY32.two_product(a, b)) == a * b


@pytest.mark.parametrize("fused", [True, False])
def test_an_odd_precision_splits_too(fused: bool) -> None:
    check_channel(FullWord(2**11 - 1, BinaryFloat(11), fused), [0, 1, 2, 1000, 1023, 1024, 2045, 2046])


def test_inexact_results_are_noticed() -> None:
    with pytest.raises(AssertionError, match="inexact"):
        BINARY32.exact(2**24 + 1)
    with pytest.raises(AssertionError, match="inexact"):
        BINARY32.exact(BINARY32.reciprocal(3))


def staged_kinds(n: int, bits: int) -> list[StagedMontgomery[Any]]:
    """The four representations, with bases of their own kind."""
    half = [m for m in range(4095, 3, -2) if all(m % d for d in range(3, 64, 2))]
    full = [m for m in range(2**24 - 1, 2**24 - 2000, -2) if all(m % d for d in range(3, 4097, 2))]
    few, many = -(-(bits + 2) // 23), -(-(bits + 2) // 11)
    words = [HalfWord(m) for m in half[: 2 * many]]
    wide = [FullWord(m) for m in full[: 2 * few]]
    split = [FullWord(m, fused=False) for m in full[: 2 * few]]
    smooth = [
        Smooth(p, q) for p, q in zip(half[: 2 * few], half[4 * few - 1 : 2 * few - 1 : -1], strict=True)
    ]
    pairs = [Paired(s) for s in smooth]
    return [
        StagedMontgomery(tuple(words[::2]), tuple(words[1::2]), n, bits),
        StagedMontgomery(tuple(wide[::2]), tuple(wide[1::2]), n, bits),
        StagedMontgomery(tuple(split[::2]), tuple(split[1::2]), n, bits),
        StagedMontgomery(tuple(smooth[::2]), tuple(smooth[1::2]), n, bits),
        StagedMontgomery(tuple(pairs[::2]), tuple(pairs[1::2]), n, bits),
    ]


def check_staged(ring: StagedMontgomery[R], values: list[tuple[int, int]]) -> None:
    inverse = pow(ring.pair.radix, -1, ring.n)
    for x, y in values:
        w = ring.integer(ring.mul(ring.element(x), ring.element(y)))
        assert w % ring.n == x * y * inverse % ring.n


@pytest.mark.parametrize("bits", [20, 90])
def test_four_representations_multiply(bits: int) -> None:
    draw = random.Random(bits)
    for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1):
        values = [(2 * n - 1, 2 * n - 1), (0, n), (draw.randrange(2 * n), draw.randrange(2 * n))]
        for ring in staged_kinds(n, bits):
            check_staged(ring, values)


def staged_power(ring: StagedMontgomery[R], x: int, exponent: int) -> int:
    radix = ring.pair.radix
    base = ring.mul(ring.element(x), ring.element(radix**2 % ring.n))
    result = ring.element(radix % ring.n)
    for bit in f"{exponent:b}":
        result = ring.mul(result, result)
        result = ring.mul(result, base) if bit == "1" else result
    return ring.integer(ring.mul(result, ring.element(1))) % ring.n


def test_four_representations_exponentiate() -> None:
    n = 2**61 - 1
    for ring in staged_kinds(n, 61):
        assert staged_power(ring, 3**30, 22) == pow(3**30, 22, n)


BROKEN: dict[str, Callable[[], object]] = {
    "half word": lambda: HalfWord(4097),
    "full word": lambda: FullWord(16777216),
    "smooth factors": lambda: Smooth(4095, 3 * 5),
    "digits between channels": lambda: StagedMontgomery(
        (FullWord(16777213), FullWord(3)), (FullWord(16777199), FullWord(16777183)), 5, 8
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_inequality_is_named(name: str) -> None:
    with pytest.raises(BaseError, match=f"^{name}$"):
        BROKEN[name]()


def test_stages_use_mixed_radix_bases() -> None:
    ring = staged_kinds(1000003, 20)[1]
    assert isinstance(ring.pair, BasePair)
    assert isinstance(ring.pair.from_b, MixedRadix)
    assert ring.pair.bound == 2
