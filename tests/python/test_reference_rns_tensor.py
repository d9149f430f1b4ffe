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

import pytest
from reference.rns_bases import Base, BaseError, BasePair, Condition, Cox, exits_with_one_subtraction, require
from reference.rns_bytes import ByteMatrix, join, split
from reference.rns_conversion import RadixToResidues, ResiduesToRadix, resolve_carries
from reference.rns_extension import MixedRadix, Uncorrected
from reference.rns_layout import constants, fragments
from reference.rns_tensor import (
    CANONICAL_RESIDUES,
    ExtensionMatrix,
    TensorBases,
    TensorElement,
    TensorMontgomery,
    conditions,
)
from reference.rns_words import largest_below, remainder

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
def bases(bits: int) -> TensorBases:
    """The smallest bases of the largest primes below 2^31."""
    count = (bits + 3) // 31 + 1
    primes = list(itertools.islice(tool.primes_down_from((1 << 31) - 1), 2 * count))
    return TensorBases(Base(tuple(primes[::2])), Base(tuple(primes[1::2])), bits)


def extreme_coordinates(extension: ExtensionMatrix) -> list[list[int]]:
    """Nothing but the largest values, the largest bytes, the least, and mixtures."""
    bound, moduli = extension.cox.slack, extension.cox.base.moduli
    return [
        [largest_below(bound, m) for m in moduli],
        [min(0xFFFFFF, largest_below(bound, m)) for m in moduli],
        [0] * len(moduli),
        [largest_below(bound, m) if i % 2 else 0 for i, m in enumerate(moduli)],
    ]


@pytest.mark.parametrize("bits", [60, 521, 4096, 8192])
def test_extensions_of_extreme_coordinates(bits: int) -> None:
    tables = bases(bits) if bits < 4096 else tool.bases_for("tensor", bits).tensor
    require(conditions(tables))
    n = (1 << bits) - 3
    for extension in (tables.to_a, tables.to_b, tables.to_scaled_a(n)):
        base = extension.cox.base
        for xi in extreme_coordinates(extension):
            exact = sum(x * c for x, c in zip(xi, base.cofactors, strict=True))
            exact -= extension.cox.rank(xi) * base.product
            result, uncorrected = extension.extend(xi), extension.extend(xi, 2)
            rows = zip(result, uncorrected, extension.scales, extension.target.moduli, strict=True)
            assert all(r == exact * scale % m and u in (r, r + m) for r, u, scale, m in rows)


def test_the_narrow_form_is_chosen_by_the_channels_alone() -> None:
    for bits, narrow in ((3072, True), (4096, False)):
        tables = tool.bases_for("tensor", bits).tensor
        assert [e.narrow for e in (tables.to_a, tables.to_b, tables.to_scaled_a(3))] == [narrow] * 3


def test_remainders_in_a_are_in_range_for_any_matrix() -> None:
    """Nothing but entries of m - 1, at the widest bases; base B's would not be."""
    tables = tool.bases_for("tensor", 8192).tensor
    m, rank = min(tables.a.moduli), tables.to_a.cox.largest_rank
    matrix = ByteMatrix(((m - 1,),) * (4 * len(tables.b) + 4), largest=tables.to_a.matrix.largest)
    sums = [int(s) for s in matrix.largest_sums[0]]
    assert remainder(sums, m) == join(sums) % m
    assert tables.to_a.largest_byte_sum == 1020 * len(tables.b) + 255 + (rank >> 8)
    assert all(tables.to_a.holds_for_any_scale(a) for a in tables.a.moduli)
    assert not all(tables.to_a.holds_for_any_scale(b) for b in tables.b.moduli)


@pytest.mark.parametrize("bits", [60, 521, 2048])
def test_products_and_powers(bits: int) -> None:
    tables, draw = bases(bits), random.Random(bits)
    for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1):
        for shared in (False, True):
            ring = TensorMontgomery(tables, n, shared)
            largest = ring.element(math.ceil(tables.pair.bound * n) - 1)
            ring.sqr(largest)
            ring.sqr(ring.sqr(ring.element(0)))
            x = draw.getrandbits(bits)
            assert ring.decode(ring.encode(x)) == x % n
            assert ring.power(x, 0b1011001, 8) == pow(x, 0b1011001, n)


@pytest.mark.parametrize("shared", [False, True])
def test_products_of_extreme_residues(shared: bool) -> None:
    """Residues of nothing but m - 1, which stand for no small number, stay within the bounds of each step."""
    ring = TensorMontgomery(bases(521), 2**521 - 1, shared)
    moduli = (ring.bases.a.moduli, ring.bases.b.moduli)
    largest = TensorElement(*(tuple(m - 1 for m in base) for base in moduli))
    least = TensorElement(*((0,) * len(base) for base in moduli))
    for x, y in itertools.product((largest, least), repeat=2):
        result = ring.product(x, y)
        for residues, base in zip(result, moduli, strict=True):
            assert all(0 <= r < m for r, m in zip(residues, base, strict=True))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bits", [4096, 8192])
def test_products_in_the_widest_bases(bits: int, shared: bool) -> None:
    tables = tool.bases_for("tensor", bits).tensor
    n = (1 << bits) - 5
    ring, x = TensorMontgomery(tables, n, shared), random.Random(bits).getrandbits(bits)
    assert ring.decode(ring.sqr(ring.encode(x))) == x * x % n
    ring.sqr(ring.element(math.ceil(tables.pair.bound * n) - 1))


def test_a_full_exponentiation() -> None:
    draw = random.Random(5)
    n, x, e = (draw.getrandbits(512) | 1 for _ in range(3))
    assert TensorMontgomery(bases(512), n).power(x, e) == pow(x, e, n)


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


def named(name: str, tables: TensorBases) -> Iterable[Condition]:
    """The conditions of this name: earlier ones are violated as well."""
    return (condition for condition in conditions(tables) if condition[0] == name)


def broken_range(name: str, **changes: Fraction) -> Iterable[Condition]:
    """The conditions of this name, with one bound too small."""
    return named(name, small(ranges=replace(CANONICAL_RESIDUES, **changes)))


def widest() -> TensorBases:
    """The bases of 8192 bits."""
    tables: TensorBases = tool.bases_for("tensor", 8192).tensor
    return tables


NEAR_B, NEAR_A = Base((2**31 - 1, 2**31 - 61)), Base((2**31 - 19, 2**31 - 69))
BROKEN: dict[str, Callable[[], Iterable[Condition]]] = {
    "odd moduli of at most 31 bits": lambda: conditions(small(b=Base((2**31, *NEAR_B.moduli)))),
    "M_B holds the product": lambda: conditions(small(b=NEAR_B, a=NEAR_A, bits=62)),
    "cox error": lambda: conditions(small(b=Base((65537, 2**30 + 3, 2**30 + 7)))),
    "exit with one subtraction": lambda: [("exit with one subtraction", exits_with_one_subtraction(NO_RANK))],
    "range of s": lambda: broken_range("range of s", s=1 + Fraction(1, 9)),
    "range of xi_b": lambda: broken_range("range of xi_b", xi_b=1 + Fraction(1, 9)),
    "range of xi_b, one modulus": lambda: broken_range("range of xi_b, one modulus", xi_b=Fraction(3, 2)),
    "range of w": lambda: named("range of w", small(a=Base((*NEAR_A.moduli, 2**32 - 5)))),
    "range of w, one modulus": lambda: named("range of w, one modulus", small(a=Base((2**32 - 5, 7)))),
    "range of xi_a": lambda: broken_range("range of xi_a", xi_a=1 + Fraction(1, 9)),
    "range of remainder": lambda: named("range of remainder", small(a=Base((2**31 - 151, 2**30 - 35)))),
    "range of remainder, one modulus": lambda: conditions(replace(widest(), b=widest().a, a=widest().b)),
    "accumulator": lambda: replace(bases(60).to_a, cox=Cox.truncating(Base((3,) * 8257), 16)).conditions(),
    "input accumulator": lambda: RadixToResidues((2**31 - 19,), (1,), 80000).conditions(),
    "input range": lambda: RadixToResidues((2**31 - 2**14 + 1,), (1,), 2048).conditions(),
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
            family.checked(512, *family.deal(family.moduli(2 * channels - 8)))
    ring = TensorMontgomery(tool.bases_for("tensor", 512).tensor, 2**512 - 569)
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
    assert all(f"    {{{row}}},\n" in first for row in ("128, 8", "256, 12"))
    assert all(f" {m}," in first for m in tool.bases_for("tensor", 256).a)
    tool.main(["--summary", "--kind", "half", "--bits", "64", "4096"])
    assert "half 64: 8 channels" in capsys.readouterr().out


def test_tensor_bases_of_all_widths() -> None:
    """A's moduli are above B's; those of wider bases go on where others end; none is too wide."""
    widest_pair = tool.bases_for("tensor", 8192)
    for bits in tool.WIDTHS:
        found = tool.bases_for("tensor", bits)
        assert (found.b, found.a) == (widest_pair.b[: len(found.b)], widest_pair.a[: len(found.a)])
    assert min(widest_pair.a) > max(widest_pair.b)
    with pytest.raises(BaseError, match="no tensor bases for 8448 bits"):
        tool.bases_for("tensor", 8448)


def test_the_compiled_bases_are_those_of_the_tool(capsys: pytest.CaptureFixture[str]) -> None:
    tool.main(["--kind", "tensor"])
    assert capsys.readouterr().out == (ROOT / "src/modmul/rns/bases.hpp").read_text()


@pytest.mark.parametrize("bits", tool.WIDTHS)
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
