# SPDX-License-Identifier: Apache-2.0
"""The tensor-core data flow of rns, its conversions, its predicate, and the tool that chooses bases."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
import random
import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from reference.rns_bases import Base, BaseError, BasePair, Condition, exits_with_one_subtraction, require
from reference.rns_bytes import ByteMatrix, centred, join, recombine, split
from reference.rns_conversion import RadixToResidues, ResiduesToRadix, resolve_carries
from reference.rns_extension import MixedRadix, Uncorrected
from reference.rns_layout import constants, fragments
from reference.rns_tensor import (
    CORRECTED,
    ONE_CORRECTION,
    UNCORRECTED,
    Ranges,
    TensorBases,
    TensorMontgomery,
    conditions,
)
from reference.rns_words import WORD, largest_below, montgomery_reduce, reduction_holds

ROOT = Path(__file__).resolve().parents[2]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rns_bases_tool", ROOT / "tools/rns_bases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


tool = load_tool()


@functools.cache
def bases(
    bits: int,
    ranges: Ranges = CORRECTED,
    signed: bool = False,
    narrow: bool = False,
    balanced: bool = False,
    length: int = 31,
) -> TensorBases:
    """The smallest bases of the largest primes below 2^length, one correction's below (2 - 2^-14) 2^30."""
    limit = int(WORD / (1 + ONE_CORRECTION.t)) if ranges is ONE_CORRECTION else (1 << length) - 1
    count = (bits + 3) // length + 1
    primes = list(itertools.islice(tool.primes_down_from(limit), 2 * count))
    return TensorBases(
        Base(tuple(primes[::2])), Base(tuple(primes[1::2])), bits, ranges, signed, narrow, balanced
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "corrected": {},
    "one correction": {"ranges": ONE_CORRECTION},
    "uncorrected": {"ranges": UNCORRECTED, "length": 29},
    "signed": {"signed": True},
    "narrow": {"narrow": True},
    "balanced": {"ranges": ONE_CORRECTION, "balanced": True},
    "signed, narrow, one correction": {"ranges": ONE_CORRECTION, "signed": True, "narrow": True},
}


@pytest.mark.parametrize("m", [3, 5, 255, 65537, 2**29 - 3, 2**31 - 1])
def test_reductions_at_the_edges_of_their_ranges(m: int) -> None:
    inverse = pow(WORD, -1, m)
    edges = [0, 1, m - 1, m, WORD - 1, WORD, (m - 1) ** 2, m * WORD // 2, m * WORD - 1]
    for total in edges:
        assert montgomery_reduce(total, m) == total * inverse % m
        for bound in (Fraction(3, 2), 2):
            if reduction_holds(total, m, bound):
                assert montgomery_reduce(total, m, bound) % m == total * inverse % m
    with pytest.raises(AssertionError):
        montgomery_reduce(m * WORD, m)


def test_the_largest_uncorrected_result() -> None:
    """The largest result, that of q = 2^32 - 1, is the one that the bound allows."""
    m = 2**31 - 1
    limit = int((ONE_CORRECTION.t - 1) * WORD * m)
    assert reduction_holds(limit, m, ONE_CORRECTION.t)
    assert not reduction_holds(limit + 1, m, ONE_CORRECTION.t)
    assert montgomery_reduce(limit, m, ONE_CORRECTION.t) <= largest_below(ONE_CORRECTION.t, m)
    total = (limit >> 32 << 32) + m
    assert total <= limit
    assert montgomery_reduce(total, m, ONE_CORRECTION.t) == largest_below(ONE_CORRECTION.t, m)


@pytest.mark.parametrize("signed", [False, True])
def test_digits_and_recombination(signed: bool) -> None:
    m = 2**31 - 1
    for x in [0, 1, 127, 128, 255, 0x7F7F7F7F, 0x80808080 % m, m // 2, m // 2 + 1, m - 1]:
        entry = centred(x, m) if signed else x
        digits = split(entry, 4, signed)
        assert join(digits) == entry
        assert all(-128 <= d <= 127 for d in digits) if signed else all(0 <= d <= 255 for d in digits)
        sums = [255 * 40 * d for d in digits]
        assert recombine(sums, signed, True) == recombine(sums, signed, False) == 255 * 40 * entry
    with pytest.raises(AssertionError, match="recombination"):
        recombine([0, 1 << 24, 0, 0], signed, True)


def test_accumulators_that_may_overflow_are_told_and_noticed() -> None:
    """Plain bytes: 8256 channels fit an int32, one more does not; 64 channels a 32-bit recombination."""
    for channels, fits in ((8256, True), (8257, False)):
        matrix = ByteMatrix(((0xFFFFFFFF,),) * (4 * channels))
        assert matrix.fits_int32 is fits
    with pytest.raises(AssertionError, match="overflow"):
        ByteMatrix(((0xFFFFFFFF,),) * (4 * 8257)).product([255] * 4 * 8257)
    assert ByteMatrix(((0xFFFFFFFF,),) * (4 * 64)).recombines_in_32_bits
    assert not ByteMatrix(((0xFFFFFFFF,),) * (4 * 65)).recombines_in_32_bits
    worst = -0x80808080
    assert ByteMatrix(((worst,),) * (4 * 16448), signed=True).fits_int32
    assert not ByteMatrix(((worst,),) * (4 * 16449), signed=True).fits_int32
    assert ByteMatrix(((worst,),) * (4 * 64), signed=True).recombines_in_32_bits
    assert not ByteMatrix(((worst,),) * (4 * 65), signed=True).recombines_in_32_bits


@pytest.mark.parametrize("variant", VARIANTS)
def test_extensions_of_extreme_coordinates(variant: str) -> None:
    """Coordinates of nothing but the largest values and of the largest bytes."""
    tables = bases(256, **VARIANTS[variant])
    require(conditions(tables))
    for extension, bound, xi_bound in (
        (tables.to_a, tables.ranges.t, tables.ranges.xi_b),
        (tables.to_b, tables.ranges.x_b, tables.ranges.xi_a),
    ):
        base = extension.cox.base
        rows = [
            [largest_below(xi_bound, m) for m in base.moduli],
            [min(0xFFFFFF, largest_below(xi_bound, m)) for m in base.moduli],
            [0] * len(base),
            [largest_below(xi_bound, m) if i % 2 else 0 for i, m in enumerate(base.moduli)],
        ]
        for xi in rows:
            exact = sum(x * c for x, c in zip(xi, base.cofactors, strict=True))
            exact -= extension.cox.rank(xi) * base.product
            result = extension.extend(xi, bound)
            assert all((r - exact) % m == 0 for r, m in zip(result, extension.target.moduli, strict=True))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bits", [60, 521, 2048])
def test_products_and_powers(bits: int, variant: str) -> None:
    tables, draw = bases(bits, **VARIANTS[variant]), random.Random(bits)
    for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1):
        for shared in (False, True):
            ring = TensorMontgomery(tables, n, shared)
            largest = ring.element(math.ceil(tables.pair.bound * n) - 1)
            ring.sqr(largest)
            ring.sqr(ring.sqr(ring.element(0)))
            x = draw.getrandbits(bits)
            assert ring.decode(ring.encode(x)) == x % n
            assert ring.power(x, 0b1011001, 8) == pow(x, 0b1011001, n)


def test_a_full_exponentiation() -> None:
    draw = random.Random(5)
    n, x, e = (draw.getrandbits(512) | 1 for _ in range(3))
    assert TensorMontgomery(bases(512, ONE_CORRECTION), n).power(x, e) == pow(x, e, n)


@pytest.mark.parametrize("n", [1, 2, 3, 2**60 - 1, 2**59])
def test_the_least_and_even_moduli(n: int) -> None:
    ring = TensorMontgomery(bases(60), n)
    for x in (0, 1, 2**60 - 1):
        assert ring.decode(ring.encode(x)) == x % n
        assert ring.power(x, 5) == pow(x, 5, n)


def test_a_modulus_with_a_channel_as_factor_is_refused() -> None:
    tables = bases(60)
    with pytest.raises(BaseError, match="prime to M_B"):
        TensorMontgomery(tables, 3 * tables.b.moduli[0])
    assert TensorMontgomery(tables, 3 * tables.a.moduli[0]).power(5, 77) == pow(5, 77, 3 * tables.a.moduli[0])


def test_conversions() -> None:
    tables, draw = bases(521), random.Random(3)
    into = RadixToResidues(tables.a.moduli, (1,) * len(tables.a), 66)
    for x in [0, 1, 255, 2**528 - 1, 2**527, *(draw.getrandbits(528) for _ in range(5))]:
        assert into.convert(x) == tables.a.residues(x)
    out = ResiduesToRadix(tables.to_b.cox, 68)
    limit = math.ceil(tables.pair.from_a.room * tables.a.product)
    for x in [0, 1, 255, 2**521 - 1, 2**520, min(limit, 2**544) - 1]:
        assert out.convert(tables.a.coordinates(tables.a.residues(x))) == x
    require(into.conditions())
    require(out.conditions())


def test_carries() -> None:
    draw = random.Random(4)
    patterns = [[2**31 - 1] * 12, [0] * 12, [255] * 12, [256] + [255] * 11, [255, 255, 255, 255, 1] + [0] * 7]
    for columns in [*patterns, *([draw.getrandbits(31) for _ in range(12)] for _ in range(20))]:
        assert resolve_carries(columns) == join(columns) % 2**96


def small(**changes: object) -> TensorBases:
    return replace(bases(60), **changes)  # type: ignore[arg-type]


NO_RANK = BasePair.of(Uncorrected(Base((13, 9, 7))), MixedRadix(Base((11, 17, 5))), 2)
NEAR_B, NEAR_A = Base((2**31 - 1, 2**31 - 61)), Base((2**31 - 19, 2**31 - 69))
BROKEN: dict[str, Callable[[], Iterable[Condition]]] = {
    "odd moduli of at most 31 bits": lambda: conditions(small(b=Base((2**31, *NEAR_B.moduli)))),
    "M_B holds the product": lambda: conditions(small(b=NEAR_B, a=NEAR_A, bits=62)),
    "cox error": lambda: conditions(small(b=Base((65537, 2**30 + 3, 2**30 + 7)))),
    "exit with one subtraction": lambda: [("exit with one subtraction", exits_with_one_subtraction(NO_RANK))],
    "range of s": lambda: conditions(small(ranges=replace(CORRECTED, x_b=2))),
    "range of xi_b": lambda: conditions(small(ranges=replace(CORRECTED, xi_b=1 + Fraction(1, 9)))),
    "range of x_b": lambda: conditions(small(ranges=replace(ONE_CORRECTION, x_b=1 + Fraction(1, 1 << 29)))),
    "range of t": lambda: conditions(small(ranges=replace(ONE_CORRECTION, t=1 + Fraction(1, 1 << 29)))),
    "range of w": lambda: conditions(small(ranges=replace(CORRECTED, t=2))),
    "range of w, one modulus": lambda: (
        condition
        for condition in conditions(small(ranges=replace(CORRECTED, w=1 + Fraction(1, 9))))
        if "one modulus" in condition[0]
    ),
    "range of xi_a": lambda: conditions(small(ranges=replace(CORRECTED, xi_a=1 + Fraction(1, 9)))),
    "32-bit recombination": lambda: conditions(bases(31 * 140, narrow=True)),
    "accumulator": lambda: [("accumulator", ByteMatrix(((0xFFFFFFFF,),) * 40000).fits_int32)],
    "input accumulator": lambda: RadixToResidues((2**31 - 19,), (1,), 80000).conditions(),
    "input range": lambda: RadixToResidues((2**31 - 1,), (1,), 60, 1 + Fraction(1, 1 << 29)).conditions(),
    "output coordinates": lambda: ResiduesToRadix(replace(bases(60).to_b.cox, slack=3), 8).conditions(),
    "output words": lambda: ResiduesToRadix(bases(60).to_b.cox, 9).conditions(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_inequality_is_named(name: str) -> None:
    with pytest.raises(BaseError, match=f"^{name}$"):
        require(iter(BROKEN[name]()))


def test_every_inequality_is_in_the_document() -> None:
    text = " ".join((ROOT / "docs/rns.md").read_text().split())
    names = {name for name, _ in conditions(bases(60))} | set(BROKEN)
    names |= {"redundant modulus", "half word", "full word", "smooth factors", "digits between channels"}
    assert [name for name in sorted(names) if f"**{name}**" not in text] == []


def test_chosen_bases_satisfy_their_inequalities_and_are_the_smallest() -> None:
    for kind, channels in (("tensor", 20), ("half", 44), ("full", 24), ("smooth", 24)):
        found = tool.bases_for(kind, 512)
        assert (len(found.b), len(found.a)) == (channels, channels)
        family = tool.KINDS[kind]
        with pytest.raises(BaseError):
            family.checked(512, *tool.dealt(family.moduli(2 * channels - 8)))
    tables = tool.bases_for("tensor", 512)
    ring = TensorMontgomery(TensorBases(Base(tables.b), Base(tables.a), 512, ONE_CORRECTION), 2**512 - 569)
    assert ring.power(3, 65537) == pow(3, 65537, 2**512 - 569)


def test_papers_channel_counts() -> None:
    """Moss, Page, Smart, section 4.2: 88 moduli below 2^12 or 44 below 2^24 for 1024 bits."""
    assert [len(tool.bases_for(kind, 1024).b) for kind in ("half", "full", "smooth")] == [88, 44, 44]


def test_widths_without_bases_are_refused() -> None:
    """The primes below 2^12 have 5,810 bits together."""
    with pytest.raises(BaseError, match="no half bases for 3072 bits"):
        tool.bases_for("half", 3072)


def test_the_header(capsys: pytest.CaptureFixture[str]) -> None:
    tool.main(["--kind", "full", "tensor", "--bits", "128", "256"])
    first = capsys.readouterr().out
    tool.main(["--kind", "full", "tensor", "--bits", "128", "256"])
    assert capsys.readouterr().out == first
    assert max(map(len, first.splitlines())) <= 110
    assert all(f"struct {name} {{" in first for name in ("Full128", "Full256"))
    assert all(
        f"    {{{row}, false, true, true, true}},\n" in first for row in ("128, 8, 15, 16", "256, 12, 23, 24")
    )
    assert all(f" {m}," in first for m in tool.bases_for("tensor", 256).a)
    tool.main(["--summary", "--kind", "half", "--bits", "64", "4096"])
    assert "half 64: 8 channels" in capsys.readouterr().out


def test_balanced_bases() -> None:
    """4096 bits: 32-bit recombination with balanced entries alone, for shared moduli too."""
    found = tool.bases_for("tensor", 4096)
    assert found.flags[:2] == (True, True)
    assert not tool.narrow_extensions(replace(found.tensor, balanced=False))
    for n in (3, 2**4096 - 1, random.Random(8).getrandbits(4096)):
        assert found.tensor.to_scaled_a(n).matrix.recombines_in_32_bits


def test_the_compiled_bases_are_those_of_the_tool(capsys: pytest.CaptureFixture[str]) -> None:
    tool.main(["--kind", "tensor"])
    assert capsys.readouterr().out == (ROOT / "src/modmul/rns/bases.hpp").read_text()


@pytest.mark.parametrize("bits", [512, 1024, 4096])
def test_the_compiled_constants_have_the_bytes_of_the_reference(bits: int) -> None:
    """tests/cpp/modmul/rns_constants_test.cpp expects the same checksums."""
    text = (ROOT / "tests/cpp/modmul/rns_constants_test.cpp").read_text()
    tables = tool.bases_for("tensor", bits).tensor
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
