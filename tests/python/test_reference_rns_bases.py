# SPDX-License-Identifier: Apache-2.0
"""The inequalities of rns, each with bases that violate it, and the tool that chooses bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from reference.modmul.rns.bases import (
    Base,
    BaseError,
    BasePair,
    Condition,
    Cox,
    exits_with_one_subtraction,
    require,
)
from reference.modmul.rns.conversion import RadixToResidues, ResiduesToRadix
from reference.modmul.rns.extension import MixedRadix, Uncorrected
from reference.modmul.rns.operands import Coordinates
from reference.modmul.rns.tensor import (
    FULL_RANGES,
    TensorBases,
    TensorMontgomery,
    conditions,
)
from tests.python.rns_support import ROOT, bases, tensor

import rns_bases as tool


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


def test_every_inequality_is_in_the_documents() -> None:
    pages = [(ROOT / f"docs/rns/{name}.md").read_text() for name in ("theory", "floating_point")]
    text = " ".join(" ".join(pages).split())
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
