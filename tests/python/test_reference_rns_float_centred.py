# SPDX-License-Identifier: Apache-2.0
"""Centred channels of rns: every integer in small formats, the ends of binary32, and the kernels' bases."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from reference.modmul.rns_float.binary_float import BinaryFloat
from reference.modmul.rns_float.centred import SMALLEST_MODULUS, reduce, reduced_product

import rns_bases

ROOT = Path(__file__).resolve().parents[2]
BINARY32 = BinaryFloat()


@pytest.mark.parametrize("precision", [5, 6, 7])
def test_every_remainder(precision: int) -> None:
    f = BinaryFloat(precision)
    for m in range(SMALLEST_MODULUS, f.whole + 1):
        for x in range(-f.whole, f.whole + 1):
            assert (reduce(f, m, x) - x) % m == 0


@pytest.mark.parametrize("precision", [5, 6])
def test_every_product(precision: int) -> None:
    f = BinaryFloat(precision)
    for m in range(SMALLEST_MODULUS, f.whole + 1):
        largest = m * ((f.whole >> 2) - 1)
        for a in range(1, m + 1):
            for b in range(1, min(f.whole, largest // a) + 1):
                assert (reduced_product(f, m, a, -b) + a * b) % m == 0


def test_binary32_ends() -> None:
    draw = random.Random(5)
    for m in (5, 7, 1201, 4093, 4095, 5505023, 5501941, 4093 * 4091, 2**24 - 3):
        ends = [0, 1, m // 2, m // 2 + 1, m - 1, m, 2**24 - 1, 2**24, draw.getrandbits(24)]
        for x in ends:
            for y in (x, -x):
                assert (reduce(BINARY32, m, y) - y) % m == 0
        for a in ends:
            limit = m * (2**22 - 1) // max(1, a)
            for b in {min(limit, 2**24), min(limit, m // 2), min(limit, draw.getrandbits(23))}:
                assert (reduced_product(BINARY32, m, a, b) - a * b) % m == 0
                assert (reduced_product(BINARY32, m, -a, b) + a * b) % m == 0


def test_the_kernels_bases_are_the_tools(capsys: pytest.CaptureFixture[str]) -> None:
    kinds, widths = ["half", "fused", "smooth"], ["512", "1024", "2048"]
    rns_bases.main(["--kind", *kinds, "--bits", *widths])
    assert capsys.readouterr().out == (ROOT / "src/modmul/rns_float/bases.hpp").read_text()


@pytest.mark.parametrize("kind", ["half", "fused", "smooth"])
@pytest.mark.parametrize("bits", [512, 1024, 2048])
def test_bases_hold_centred_numbers(kind: str, bits: int) -> None:
    """Products above four times the numbers' bound, which (11) asks for."""
    bases = rns_bases.bases_for(kind, bits)
    assert min(math.prod(bases.b), math.prod(bases.a)) > 4 << bits
    assert min(bases.b + bases.a) >= SMALLEST_MODULUS
