# SPDX-License-Identifier: Apache-2.0
"""Chooses the bases of the residue number systems, checks them and prints them as a C++ header.

python tools/rns_bases.py --summary
python tools/rns_bases.py --kind tensor --bits 1024 2048 > bases.hpp

A base has a multiple of two to 16 channels and is the smallest that satisfies every inequality of
docs/rns/theory.md, as the modules of `reference/modmul/rns` evaluate them. The moduli are the largest of
their kind, dealt to the bases B and A so that their products are close; but a B of the tensor kind begins
after all moduli that an A may have. Nothing in the output is random or typed by hand.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reference.modmul.rns.bases import Base, BaseError, BasePair, check_bases, require
from reference.modmul.rns.extension import MixedRadix
from reference.modmul.rns.tensor import TensorBases, conditions
from reference.modmul.rns_float.channels import Channel, FullWord, HalfWord, Paired, Smooth
from reference.modmul.rns_float.staged import channel_conditions

WIDTHS = (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
#: A quad of threads shares the channels.
CHANNEL_STEP = 4
#: Of tensor channels a quad may share two by instances, which gains nothing at 4096 bits (measured).
SPLIT_STEP = 2
#: Of elements that stay in memory four words are read at a time.
STEP_IN_MEMORY = 16
WIDEST_IN_REGISTERS = 4096
WIDEST_SPLIT = 3072
#: Deterministic bases of Miller and Rabin's test below 3.3e24 (Sorenson, Webster 2015).
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
COLUMNS = 110

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Made by tools/rns_bases.py, which checks every inequality of docs/rns.md.
#pragma once

#include <cstdint>

// Tables, eight or so to a line.
// clang-format off
namespace manymod::rns {"""

TENSOR_HEAD = """\
/// Bases B and A for moduli below 2^bits.
struct BasePair {
  unsigned bits;
  unsigned channels;           ///< of each base
  bool lazy_b;                 ///< base B keeps remainders as they come (docs/rns.md, "Lazy remainders")
  bool lazy_b_of_one_modulus;  ///< the same where instances share a modulus
};"""


def is_prime(n: int) -> bool:
    """Of integers below 3.3e24.

    >>> [n for n in range(30) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    if n < 2:
        return False
    for p in WITNESSES:
        if n % p == 0:
            return n == p
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    for witness in WITNESSES:
        x = pow(witness, (n - 1) >> twos, n)
        if x != 1 and not any(pow(x, 1 << i, n) == n - 1 for i in range(twos)):
            return False
    return True


def primes_down_from(largest: int) -> Iterator[int]:
    """Odd primes, descending."""
    return (n for n in range(largest, 2, -1) if is_prime(n))


def dealt(moduli: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Descending moduli to B and A in the order B A A B: products that hardly differ.

    >>> dealt([8, 7, 6, 5, 4, 3, 2, 1])
    ((8, 5, 4, 1), (7, 6, 3, 2))
    """
    b = tuple(m for i, m in enumerate(moduli) if i % 4 in {0, 3})
    return b, tuple(m for i, m in enumerate(moduli) if i % 4 in {1, 2})


@dataclass(frozen=True)
class Bases:
    """Bases of one kind and width, checked."""

    kind: str
    bits: int
    b: tuple[int, ...]
    a: tuple[int, ...]

    @cached_property
    def tensor(self) -> TensorBases:
        """As the kernels' data flow has them."""
        return TensorBases(Base(self.b), Base(self.a), self.bits)


#: Of a base of tensor channels.
MOST_CHANNELS = 272


def tensor_moduli(count: int) -> list[int]:
    """The largest primes below 2^31, half of ``count``, for A; for B as many after the first MOST_CHANNELS.

    Remainders of byte sums ask more of A, where a shared modulus is part of the matrix at all widths. B has
    those first that are 3 modulo 4: narrow enough, it has no others, and so roots (docs/rns/theory.md).
    """
    primes = list(itertools.islice(primes_down_from((1 << 31) - 1), 2 * MOST_CHANNELS))
    rooted_first = sorted(primes[MOST_CHANNELS:], key=lambda m: (m % 4 != 3, -m))
    used = min(count // 2, MOST_CHANNELS)
    return primes[:used] + rooted_first[:used]


def halved(moduli: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The second half to B, the first to A.

    >>> halved([8, 7, 6, 5])
    ((6, 5), (8, 7))
    """
    half = len(moduli) // 2
    return tuple(moduli[half:]), tuple(moduli[:half])


def half_word_moduli(count: int) -> list[int]:
    """The largest primes below 2^12, all of them where ``count`` is more."""
    return list(itertools.islice(primes_down_from((1 << 12) - 1), count))


def full_word_moduli(count: int) -> list[int]:
    """The largest primes below 2^24."""
    return list(itertools.islice(primes_down_from((1 << 24) - 1), count))


def fused_moduli(count: int) -> list[int]:
    """The largest primes below 21 2^18, for full words: docs/rns/floating_point.md, "Centred channels"."""
    return list(itertools.islice(primes_down_from(21 << 18), count))


def smooth_factors(count: int) -> list[tuple[int, int]]:
    """The largest 2 ``count`` primes below 2^12 in pairs, the largest with the smallest."""
    primes = half_word_moduli(2 * count)
    half = len(primes) // 2
    return list(zip(primes[:half], primes[: -half - 1 : -1], strict=True))


def smooth_moduli(count: int) -> list[int]:
    """Products of :func:`smooth_factors`, descending."""
    return sorted((p * q for p, q in smooth_factors(count)), reverse=True)


def half_word_channels(moduli: tuple[int, ...]) -> list[Channel[int]]:
    """Channels of their own inequalities."""
    return [HalfWord(m) for m in moduli]


def full_word_channels(moduli: tuple[int, ...]) -> list[Channel[int]]:
    """Channels of centred residues."""
    return [FullWord(m) for m in moduli]


def paired_channels(moduli: tuple[int, ...]) -> list[Channel[tuple[int, int]]]:
    """Pairs; :class:`Smooth` inside checks what the joined form requires."""
    factors = {p * q: (p, q) for p, q in smooth_factors(len(moduli))}
    return [Paired(Smooth(*factors[m])) for m in moduli]


def checked_tensor(bits: int, b: tuple[int, ...], a: tuple[int, ...]) -> Bases:
    """With plain bytes."""
    bases = Bases("tensor", bits, b, a)
    require(conditions(bases.tensor))
    return bases


def checked_floating(kind: Kind, bits: int, b: tuple[int, ...], a: tuple[int, ...]) -> Bases:
    """With mixed radix extensions."""
    check_bases(BasePair.of(MixedRadix(Base(b)), MixedRadix(Base(a)), bits))
    require(channel_conditions(kind.channels(b + a)))
    return Bases(kind.name, bits, b, a)


@dataclass(frozen=True)
class Kind:
    """A kind of channel: its moduli, of at most ``length`` bits, and how it is computed."""

    name: str
    length: int
    moduli: Callable[[int], list[int]]
    channels: Callable[[tuple[int, ...]], Sequence[Channel[Any]]] = half_word_channels
    deal: Callable[[list[int]], tuple[tuple[int, ...], tuple[int, ...]]] = dealt

    def checked(self, bits: int, b: tuple[int, ...], a: tuple[int, ...]) -> Bases:
        """Bases that satisfy every inequality, or BaseError."""
        return checked_tensor(bits, b, a) if self.name == "tensor" else checked_floating(self, bits, b, a)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("tensor", 31, tensor_moduli, deal=halved),
        Kind("half", 12, half_word_moduli, half_word_channels),
        Kind("full", 24, full_word_moduli, full_word_channels),
        Kind("fused", 22, fused_moduli, full_word_channels),
        Kind("smooth", 24, smooth_moduli, paired_channels),
    )
}


def channel_step(name: str, bits: int) -> int:
    """Of which number the number of channels of a base is a multiple."""
    if bits > WIDEST_IN_REGISTERS:
        return STEP_IN_MEMORY
    return SPLIT_STEP if name == "tensor" and bits <= WIDEST_SPLIT else CHANNEL_STEP


def bases_for(name: str, bits: int) -> Bases:
    """The smallest bases of a kind; BaseError tells what the largest available ones violate.

    >>> len(bases_for("half", 1024).b), len(bases_for("full", 1024).b)
    (88, 44)
    """
    kind = KINDS[name]
    failed = BaseError("enough moduli")
    step = channel_step(name, bits)
    for count in itertools.count(-(-bits // (kind.length * step)) * step, step):
        moduli = kind.moduli(2 * count)
        if len(moduli) < 2 * count:
            raise BaseError(f"no {name} bases for {bits} bits: {failed}")
        try:
            return kind.checked(bits, *kind.deal(moduli))
        except BaseError as error:
            failed = error
    raise AssertionError


def wrapped(moduli: tuple[int, ...]) -> Iterator[str]:
    """Lines of an initialiser."""
    line = "   "
    for m in moduli:
        if len(line) + len(f" {m},") > COLUMNS:
            yield line
            line = "   "
        line += f" {m},"
    yield line


def declaration(bases: Bases) -> str:
    """One width's constants."""
    name, count = f"{bases.kind.capitalize()}{bases.bits}", len(bases.b)
    lines = [f"struct {name} {{", f"  static constexpr unsigned kBits = {bases.bits};"]
    lines.append(f"  static constexpr unsigned kChannels = {count};")
    tables = {"B": bases.b, "A": bases.a}
    if bases.kind == "smooth":
        factors = {p * q: p for p, q in smooth_factors(2 * len(bases.b))}
        tables |= {f"First{base}": tuple(factors[m] for m in tables[base]) for base in "BA"}
    for table, moduli in tables.items():
        lines += [f"  static constexpr std::uint32_t k{table}[kChannels] = {{", *wrapped(moduli), "  };"]
    return "\n".join([*lines, "};"])


def tensor_row(bases: Bases) -> str:
    """One width's line of the table."""
    lazy = (str(bases.tensor.lazy_b(shared)).lower() for shared in (False, True))
    return f"    {{{bases.bits}, {len(bases.b)}, {', '.join(lazy)}}},"


def tensor_table(found: list[Bases]) -> str:
    """All widths of the tensor kind, whose channels are the first ones of two lists of primes."""
    primes = tensor_moduli(2 * MOST_CHANNELS)
    b, a = halved(primes)
    assert all((b[: len(bases.b)], a[: len(bases.a)]) == (bases.b, bases.a) for bases in found)
    return "\n".join(
        (
            TENSOR_HEAD,
            "\ninline constexpr BasePair kBasePairs[] = {",
            *(tensor_row(bases) for bases in found),
            f"}};\n\ninline constexpr unsigned kMostChannels = {MOST_CHANNELS};",
            "\n/// The largest below 2^31. Channels of A are the first of them, those of B the first from",
            "/// kMostChannels on: remainders of byte sums in A are in range for any modulus. Both descend,",
            "/// B by those that are 3 modulo 4 and then by the others.",
            "inline constexpr std::uint32_t kPrimes[] = {",
            *wrapped(tuple(primes)),
            "};",
        )
    )


def header(found: list[Bases]) -> str:
    """The header's text."""
    tensor = [bases for bases in found if bases.kind == "tensor"]
    tables = [tensor_table(tensor)] if tensor else []
    others = [declaration(bases) for bases in found if bases.kind != "tensor"]
    return "\n\n".join([HEAD, *tables, *others, "}  // namespace manymod::rns"]) + "\n"


def summary(name: str, bits: int) -> str:
    """One line about one kind and width."""
    try:
        bases = bases_for(name, bits)
    except BaseError as error:
        return str(error)
    moduli = bases.b + bases.a
    return f"{name} {bits}: {len(bases.b)} channels from {min(moduli)} to {max(moduli)}"


def main(arguments: list[str]) -> None:
    """Print the header, or a line for each kind and width."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--bits", type=int, nargs="+", default=list(WIDTHS))
    parser.add_argument("--summary", action="store_true", help="one line each, no header")
    chosen = parser.parse_args(arguments)
    wanted = [(name, bits) for name in chosen.kind for bits in chosen.bits]
    if chosen.summary:
        for name, bits in wanted:
            print(summary(name, bits))
        return
    try:
        print(header([bases_for(name, bits) for name, bits in wanted]), end="")
    except BaseError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
