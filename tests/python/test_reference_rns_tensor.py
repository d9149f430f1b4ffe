# SPDX-License-Identifier: Apache-2.0
"""The tensor-core data flow of rns, its conversions, its predicate, and the tool that chooses bases."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
import random
import struct
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
from reference.rns_layout import by_source_place, by_target_place, constants, fragments, negatives, placed
from reference.rns_operands import INSTANCES, Coordinates, StoredResidues, integer_of
from reference.rns_tensor import (
    FULL_RANGES,
    ExtensionMatrix,
    TensorBases,
    TensorElement,
    TensorMontgomery,
    conditions,
)
from reference.rns_words import WORD, largest_below, montgomery_reduce, reduction_holds, remainder

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
    count = (bits + 11) // 31 + 1
    primes = list(itertools.islice(tool.primes_down_from((1 << 31) - 1), 2 * count))
    return TensorBases(Base(tuple(primes[::2])), Base(tuple(primes[1::2])), bits)


@functools.cache
def tensor(bits: int) -> TensorBases:
    """The bases that are compiled."""
    tables: TensorBases = tool.bases_for("tensor", bits).tensor
    return tables


def largest_words(extension: ExtensionMatrix) -> list[int]:
    """Of the operand."""
    operand = extension.operand
    bound = operand.cox.slack if isinstance(operand, Coordinates) else 1
    return [largest_below(bound, m) for m in operand.base.moduli]


def extreme_words(extension: ExtensionMatrix) -> list[list[int]]:
    """Nothing but the largest values, the largest bytes, the least, and mixtures."""
    largest = largest_words(extension)
    return [
        largest,
        [((x + 1 >> 24) - 1 << 24) + 0xFFFFFF for x in largest],
        [0xFFFFFF] * len(largest),
        [0] * len(largest),
        [x if i % 2 else 0 for i, x in enumerate(largest)],
    ]


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("bits", [60, 521, 4096, 8192])
def test_extensions_of_extreme_words(bits: int, ranked: bool) -> None:
    tables = bases(bits) if bits < 4096 else tensor(bits)
    require(conditions(tables))
    n = (1 << bits) - 3
    for extension in (tables.to_a, tables.to_b, tables.to_scaled_a(n)):
        for words in extreme_words(extension):
            exact = integer_of(extension.operand, words, extension.operand.rank(words) if ranked else 0)
            result, uncorrected = extension.extend(words, 1, ranked), extension.extend(words, 2, ranked)
            rows = zip(result, uncorrected, extension.scales, extension.target.moduli, strict=True)
            assert all(r == exact * scale % m and u in (r, r + m) for r, u, scale, m in rows)
            assert all(u <= v for u, v in zip(uncorrected, extension.largest_remainders, strict=True))


def test_coordinates_stand_for_their_sum() -> None:
    """Of any size below their bound, without a rank and with one."""
    to_a = bases(60).to_a
    for xi in extreme_words(to_a):
        exact = sum(x * c for x, c in zip(xi, to_a.operand.base.cofactors, strict=True))
        assert integer_of(to_a.operand, xi, 0) == exact
        assert integer_of(to_a.operand, xi, 3) == exact - 3 * to_a.operand.base.product
        assert exact < to_a.operand.base.product * (1 + bases(60).pair.from_b.excess)


def test_the_rank_of_bytes_of_every_value() -> None:
    """Residues of two bytes: all that are in the room."""
    base = Base((263, 257))
    for units in ((1, 1), (262, 256), (77, 202)):
        stored = StoredResidues(base, units)
        room = 1 - stored.alpha - stored.over
        assert stored.under <= stored.alpha
        for x in range(math.ceil(room * base.product)):
            words = stored.words(base.residues(x))
            assert integer_of(stored, words, stored.rank(words)) == x


def estimate(stored: StoredResidues, words: list[int]) -> Fraction:
    """The sum of docs/rns.md, "Bytes as coordinates", without its offset."""
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
    """Another first word, so that the value is the next above this fraction of M."""
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
    """But for what threads drop, and one in the top bytes."""
    stored = tensor(bits).stored_in_a
    for sign, error in ((1, stored.over), (-1, stored.under)):
        words = misled(stored, sign)
        exact = Fraction(integer_of(stored, words, 0), stored.base.product)
        assert error - Fraction(5, 256) < (estimate(stored, words) - exact) * sign <= error


def test_weights_are_at_most_two_bytes() -> None:
    """Nearest to the fraction, but for those that would round to 1."""
    stored = StoredResidues(Base((2**31 - 1,)), (2**31 - 2,))
    assert stored.weights[0] == (65535, 65535, 65536 - 2, 65536 - 512)
    for tables in (bases(60), tensor(8192)):
        for v, g, m in zip(
            tables.stored_in_a.constants, tables.stored_in_a.weights, tables.a.moduli, strict=True
        ):
            assert all(abs((x << 16) - y * m) * 2 <= m or y == 65535 for x, y in zip(v, g, strict=True))


def test_the_narrow_form_is_chosen_by_the_channels_alone() -> None:
    for bits, narrow in ((3072, True), (4096, False)):
        tables = tensor(bits)
        assert [e.narrow for e in (tables.to_a, tables.to_b, tables.to_scaled_a(3))] == [narrow] * 3


def test_remainders_in_a_are_in_range_for_any_matrix() -> None:
    """Nothing but entries of m - 1, at the widest bases; base B's would not be."""
    tables = tensor(8192)
    m = min(tables.a.moduli)
    matrix = ByteMatrix(((m - 1,),) * (4 * len(tables.b) + 4), largest=tables.to_a.matrix.largest)
    sums = [int(s) for s in matrix.largest_sums[0]]
    assert remainder(sums, m) == join(sums) % m
    assert remainder(sums, m, 2) <= tables.to_a.largest_remainders_for_any_scale[-1]
    assert all(tables.to_a.holds_for_any_scale(a) for a in tables.a.moduli)
    assert not all(tables.to_a.holds_for_any_scale(b) for b in tables.b.moduli)


def test_sums_of_the_operands_bytes() -> None:
    """Coordinates have any bytes, residues no top byte above 127."""
    tables = tensor(8192)
    assert tables.to_a.largest_byte_sum == 1020 * 272 + 255 + (tables.to_a.operand.largest_rank >> 8)
    assert tables.to_b.largest_byte_sum == 892 * 272 + 255 + 255 + 1
    assert tables.to_b.operand.largest_rank >> 16 == 1
    for operand in (tables.to_a.operand, tables.to_b.operand):
        assert operand.rank([m - 1 for m in operand.base.moduli]) <= operand.largest_rank


def ring_of(bits: int, compiled: bool, n: int, shared: bool) -> TensorMontgomery:
    """In the compiled bases, which have roots, or others."""
    return TensorMontgomery(tensor(bits) if compiled else bases(bits), n, shared)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("bits", "compiled"), [(60, False), (521, False), (512, True), (2048, False)])
def test_products_and_powers(bits: int, compiled: bool, shared: bool) -> None:
    draw = random.Random(bits)
    for n in ((1 << bits) - 1, draw.getrandbits(bits) | 1):
        ring = ring_of(bits, compiled, n, shared)
        assert ring.rooted == shared or not compiled
        largest = ring.element(math.ceil(ring.bases.pair.bound * n) - 1)
        ring.sqr(largest)
        ring.mul(largest, ring.sqr(largest))
        ring.sqr(ring.sqr(ring.element(0)))
        x = draw.getrandbits(bits)
        assert ring.decode(ring.encode(x)) == x % n
        assert ring.power(x, 0b1011001, 8) == pow(x, 0b1011001, n)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bits", [512, 4096])
def test_squarings_add_more_multiples_than_multiplications(bits: int, shared: bool) -> None:
    """Both are the product modulo N; that of a multiplication is below 2 N for small factors."""
    n, draw = (1 << bits) - 5, random.Random(bits)
    ring = TensorMontgomery(tensor(bits), n, shared)
    for x in (ring.encode(draw.getrandbits(bits)) for _ in range(3)):
        square, product = ring.integer(ring.sqr(x)), ring.integer(ring.mul(x, x))
        assert square % n == product % n
        assert product < 2 * n < square < ring.bases.pair.bound * n / 2 + 1


def shifted(ring: TensorMontgomery, x: TensorElement) -> TensorElement:
    """The same element, its residues in B uncorrected where that is in range."""
    rows = zip(x.b, ring.bases.b.moduli, ring.largest_in_b, strict=True)
    return TensorElement(x.a, tuple(r % m + m if r % m + m <= v else r % m for r, m, v in rows))


@pytest.mark.parametrize("shared", [False, True])
def test_remainders_in_b_stand_for_their_residues(shared: bool) -> None:
    n, draw = 2**512 - 569, random.Random(10)
    ring = TensorMontgomery(tensor(512), n, shared)
    for _ in range(5):
        x, y = ring.element(0), ring.encode(draw.getrandbits(512))
        assert shifted(ring, x).b == tuple(ring.bases.b.moduli)
        assert ring.integer(shifted(ring, y)) == ring.integer(y)
        for u in (x, y):
            product, square = ring.mul(shifted(ring, u), shifted(ring, y)), ring.sqr(shifted(ring, u))
            assert ring.integer(product) % n == ring.integer(ring.mul(u, y)) % n
            assert ring.integer(square) % n == ring.integer(ring.sqr(u)) % n
        assert ring.decode(shifted(ring, y)) == ring.decode(y)


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_b_is_lazy_where_products_of_remainders_are_in_range(bits: int) -> None:
    tables = tensor(bits)
    assert [tables.lazy_b(shared) for shared in (False, True)] == [bits <= 4096, bits <= 2048]
    for shared in (False, True):
        for v, m in zip(tables.largest_in_b(shared), tables.b.moduli, strict=True):
            assert v < 2 * m if tables.lazy_b(shared) else v == m - 1
            with_the_largest_q = (v * v - m) // WORD * WORD + m
            assert montgomery_reduce(v * v, m, 2) < 2 * m
            assert montgomery_reduce(with_the_largest_q, m, 2) < 2 * m


def test_remainders_of_3072_bits_are_barely_too_large_for_any_matrix() -> None:
    tables = tensor(3072)
    remainders = list(zip(tables.to_b.largest_remainders_for_any_scale, tables.b.moduli, strict=True))
    squares = [Fraction(v * v, m * WORD) for v, m in remainders]
    assert 1 < max(squares) < Fraction(102, 100)
    assert [reduction_holds(v * v, m, 2) for v, m in remainders] == [square <= 1 for square in squares]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("bits", "compiled"), [(521, False), (512, True), (6144, True)])
def test_products_of_extreme_residues(bits: int, compiled: bool, shared: bool) -> None:
    """Nothing but the largest residues, which stand for no small number, stay within each step's bounds."""
    ring = ring_of(bits, compiled, (1 << bits) - 1, shared)
    bounds = (tuple(m - 1 for m in ring.bases.a.moduli), ring.largest_in_b)
    largest, least = TensorElement(*bounds), TensorElement(*((0,) * len(base) for base in bounds))
    results = [ring.product(x, y) for x, y in itertools.product((largest, least), repeat=2)]
    for result in (*results, ring.square(largest), ring.square(least)):
        for residues, base in zip(result, bounds, strict=True):
            assert all(0 <= r <= bound for r, bound in zip(residues, base, strict=True))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bits", [4096, 8192])
def test_products_in_the_widest_bases(bits: int, shared: bool) -> None:
    tables = tensor(bits)
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


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_outputs_of_the_least_and_the_largest(bits: int) -> None:
    """Up to all that the words hold, 2 N and more."""
    tables = tensor(bits)
    for x in (0, 1, (2 << bits) - 1, (1 << 8 * tables.output.length) - 1):
        if x < tables.pair.from_a.room * tables.a.product:
            assert tables.output.convert(tables.stored_in_a.words(tables.a.residues(x))) == x
    assert 2 << bits <= 1 << 8 * tables.output.length


def test_conversions() -> None:
    tables, draw = bases(521), random.Random(3)
    into = RadixToResidues(tables.a.moduli, (1,) * len(tables.a), 66)
    for x in [0, 1, 255, 2**528 - 1, 2**527, *(draw.getrandbits(528) for _ in range(5))]:
        assert into.convert(x) == tables.a.residues(x)
    out = ResiduesToRadix(tables.stored_in_a, 72)
    limit = math.ceil(tables.pair.from_a.room * tables.a.product)
    for x in [0, 1, 255, 2**521 - 1, 2**520, limit - 1]:
        assert x < 2**576
        assert out.convert(tables.stored_in_a.words(tables.a.residues(x))) == x
        assert TensorMontgomery(tables, 3).element(x).a == tables.stored_in_a.words(tables.a.residues(x))
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
    return named(name, small(ranges=replace(FULL_RANGES, **changes)))


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
    "range of remainder": lambda: named("range of remainder", small(a=Base((2**31 - 151, 2**30 - 35)))),
    "range of remainder, one modulus": lambda: named(
        "range of remainder, one modulus", replace(tensor(8192), b=tensor(8192).a, a=tensor(8192).b)
    ),
    "accumulator": lambda: replace(
        bases(60).to_a, operand=Coordinates(Cox.truncating(Base((3,) * 8257), 16))
    ).conditions(),
    "input accumulator": lambda: RadixToResidues((2**31 - 19,), (1,), 80000).conditions(),
    "input range, one modulus": lambda: [
        ("input range, one modulus", RadixToResidues((3,), (1,), 1024).holds_for_any_scale(2**31 - 11577))
    ],
    "input range": lambda: RadixToResidues((2**31 - 2**14 + 1,), (1,), 2048).conditions(),
    "output words": lambda: ResiduesToRadix(bases(60).stored_in_a, 9).conditions(),
    "rank width": lambda: replace(bases(60).stored_in_a, offset=1 << 32).conditions(),
    "rank offset": lambda: replace(bases(60).stored_in_a, offset=256).conditions(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_inequality_is_named(name: str) -> None:
    with pytest.raises(BaseError, match=f"^{name}$"):
        require(iter(BROKEN[name]()))


def test_every_inequality_is_in_the_document() -> None:
    text = " ".join((ROOT / "docs/rns.md").read_text().split())
    names = {name for name, _ in conditions(bases(60))} | {name for name, _ in conditions(tensor(512))}
    names |= set(BROKEN)
    names |= {"redundant modulus", "half word", "full word", "smooth factors", "digits between channels"}
    assert [name for name in sorted(names) if f"**{name}**" not in text] == []


def test_chosen_bases_satisfy_their_inequalities_and_are_the_smallest() -> None:
    for kind, channels in (("tensor", 18), ("half", 44), ("full", 24), ("smooth", 24)):
        found = tool.bases_for(kind, 512)
        assert (len(found.b), len(found.a)) == (channels, channels)
        family = tool.KINDS[kind]
        with pytest.raises(BaseError):
            family.checked(512, *family.deal(family.moduli(2 * (channels - tool.channel_step(kind, 512)))))
    ring = TensorMontgomery(tensor(512), 2**512 - 569)
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
    assert all(f"    {{{row}}},\n" in first for row in ("128, 6, true, true", "256, 10, true, true"))
    assert all(f" {m}," in first for m in tool.bases_for("tensor", 256).a)
    tool.main(["--summary", "--kind", "half", "--bits", "64", "4096"])
    assert "half 64: 8 channels" in capsys.readouterr().out


def test_tensor_bases_of_all_widths() -> None:
    """A's moduli are above B's; those of wider bases go on where others end; none is too wide."""
    b, a = tensor(8192).b.moduli, tensor(8192).a.moduli
    for bits in tool.WIDTHS:
        found = tensor(bits)
        assert (found.b.moduli, found.a.moduli) == (b[: len(found.b)], a[: len(found.a)])
    assert min(a) > max(b)
    with pytest.raises(BaseError, match="no tensor bases for 8448 bits"):
        tool.bases_for("tensor", 8448)


def test_the_compiled_bases_are_those_of_the_tool(capsys: pytest.CaptureFixture[str]) -> None:
    tool.main(["--kind", "tensor"])
    assert capsys.readouterr().out == (ROOT / "src/modmul/rns/bases.hpp").read_text()


@pytest.mark.parametrize("bits", tool.WIDTHS)
def test_the_compiled_constants_have_the_bytes_of_the_reference(bits: int) -> None:
    """tests/cpp/modmul/rns/constants_test.cpp expects the same checksums."""
    text = (ROOT / "tests/cpp/modmul/rns/constants_test.cpp").read_text()
    tables = tensor(bits)
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


@pytest.mark.parametrize("channels", [4, 16, 18, 20, 30, 36])
def test_places_of_negatives(channels: int) -> None:
    """A thread has four of its places side by side."""
    moduli = tuple(2**31 - 1 - 2 * i for i in range(channels))
    by_place = placed(moduli)
    words = struct.unpack(f"<{(len(by_place) + 15) // 16 * 16}I", negatives(moduli))
    for thread, q in itertools.product(range(4), range(len(by_place) // 4)):
        assert words[16 * (q // 4) + 4 * thread + q % 4] == WORD - by_place[4 * q + thread]
    assert words.count(0) == len(words) - len(by_place)


def test_places_of_channels() -> None:
    """Those of a split four are there twice, ahead of the rank: of the source and of the target."""
    assert placed(range(8)) == tuple(range(8))
    assert placed(range(10)) == (*range(10), 8, 9)
    matrix = ByteMatrix(tuple(tuple(100 * row + i for i in range(6)) for row in range(4 * 7)))
    rows = [*range(24), *range(16, 24), *range(24, 28)]
    assert by_source_place(matrix).entries == tuple(matrix.entries[row] for row in rows)
    assert by_target_place(matrix).entries == tuple((*row, *row[4:6]) for row in matrix.entries)


@pytest.mark.parametrize("channels", [17, 18, 20])
def test_a_split_four_is_summed_by_the_second_two_threads_for_the_second_instance(channels: int) -> None:
    """Of single bytes, each in units of 1/256 of the rank but for what the thread drops."""
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


def test_channels_hold_the_weights_of_their_bytes() -> None:
    tables = tensor(512)
    block = constants(tables)
    for i, (m, weights) in enumerate(zip(tables.a.moduli, tables.stored_in_a.weights, strict=True)):
        modulus, inverse, low, high = struct.unpack_from("<4I", block, 16 * (20 + i))  # behind 20 places of B
        assert (modulus, inverse * m % WORD) == (m, WORD - 1)
        assert tuple(join(pair) for pair in zip(split(low, 4), split(high, 4), strict=True)) == weights
