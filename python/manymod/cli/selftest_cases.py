# SPDX-License-Identifier: Apache-2.0
"""Operands that break arithmetic, with the answers Python gives."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["OPERANDS", "WIDTHS", "Batch", "batch", "expected", "exponents", "operands"]

#: Operations with one item per row, and their operands, the modulus last.
OPERANDS = {
    "addmod": 3,
    "submod": 3,
    "negmod": 2,
    "mulmod": 3,
    "sqrmod": 2,
    "powmod": 3,
    "invmod": 2,
    "multi_powmod": 3,
    "fmamod": 4,
    "summod": 2,
    "prodmod": 2,
    "dotmod": 3,
}

#: Terms of each item of an operation with terms.
TERMS = 3

#: Widths around limb boundaries, around the unrolled sizes, and beyond.
WIDTHS = (
    1,
    2,
    8,
    63,
    64,
    65,
    127,
    128,
    192,
    255,
    256,
    320,
    384,
    511,
    512,
    521,
    1024,
    1536,
    2048,
    4096,
    16384,
)

#: Exponents are of full length up to this width, and two or three limbs long above: the oracle is slow.
FULL_EXPONENT_BITS = 1024


@dataclass(frozen=True)
class Batch:
    """Operands by column; for each item the answer and status name, in variable time and in constant time."""

    columns: tuple[tuple[Any, ...], ...]
    public: tuple[tuple[int, str], ...]
    secret: tuple[tuple[int, str], ...]


@cache
def expected(op: str, values: tuple[Any, ...], secret: bool) -> tuple[int, str]:
    """Answer (0 where there is none) and status name of one item, by Python's own arithmetic."""
    n = values[-1]
    if n == 0:
        return 0, "zero_modulus"
    if secret and n % 2 == 0:
        return 0, "even_modulus"
    x, y = values[0], values[1]
    answers: dict[str, Callable[[], int]] = {
        "addmod": lambda: (x + y) % n,
        "submod": lambda: (x - y) % n,
        "negmod": lambda: -x % n,
        "mulmod": lambda: x * y % n,
        "sqrmod": lambda: x * x % n,
        "powmod": lambda: pow(x, y, n),
        "invmod": lambda: pow(x, -1, n),
        "multi_powmod": lambda: math.prod(map(pow, x, y, [n] * TERMS)) % n,
        "fmamod": lambda: (x * y + values[2]) % n,
        "summod": lambda: sum(x) % n,
        "prodmod": lambda: math.prod(x) % n,
        "dotmod": lambda: sum(map(operator.mul, x, y)) % n,
    }
    try:
        return answers[op](), "ok"
    except ValueError:
        return 0, "not_invertible"


def _runs(source: random.Random, bits: int) -> int:
    """Long runs of ones and zeros, top bit set."""
    value, filled = 0, 0
    while filled < bits:
        length = source.randint(1, max(1, bits // 3))
        value = value << length | ((1 << length) - 1 if source.random() < 0.5 else 0)
        filled += length
    return value & ((1 << bits) - 1) | 1 << (bits - 1)


def _moduli(source: random.Random, bits: int) -> list[int]:
    top = 1 << (bits - 1)
    common = [
        source.getrandbits(bits) | top | 1,
        (1 << bits) - 1,
        source.getrandbits(bits) | top,
        -(source.getrandbits(bits) | top | 1),
        0,
    ]
    if bits > FULL_EXPONENT_BITS:
        return common
    return [*common, top | 1, _runs(source, bits) | 1, top, 1]


def operands(source: random.Random, bits: int, n: int) -> list[int]:
    """Operands of one modulus: around 0, n and the width, of either sign, and far wider."""
    return [
        *(0, 1, 2, n - 1, n, n + 1, -1, -n, (1 << bits) - 1),
        *(_runs(source, bits), source.getrandbits(bits), -source.getrandbits(bits)),
        source.getrandbits(2 * bits + 70),
    ]


def exponents(source: random.Random, bits: int) -> list[int]:
    """Exponents at one width: small, negative, and of full length where the oracle is quick enough."""
    length = bits if bits <= FULL_EXPONENT_BITS else 130 if bits <= 4096 else 65
    return [
        *(0, 1, 2, 3, 65537, -1, -65537, (1 << min(length, 300)) - 1, 1 << (length - 1)),
        *(_runs(source, length), source.getrandbits(length)),
    ]


def _rows(op: str, source: random.Random, bits: int, n: int) -> list[tuple[Any, ...]]:
    first = operands(source, bits, n)
    starts = range(len(first) - TERMS)
    if op in {"summod", "prodmod"}:
        return [(tuple(first[i : i + TERMS]), n) for i in starts]
    if OPERANDS[op] == 2:
        return [(x, n) for x in first]
    second = exponents(source, bits) if "pow" in op else operands(source, bits, n)
    pairs = list(zip(first, second, strict=False))
    if op in {"multi_powmod", "dotmod"}:
        bases, exps = zip(*pairs, strict=True)
        return [(bases[i : i + TERMS], exps[i : i + TERMS], n) for i in starts[: len(pairs) - TERMS]]
    if op != "powmod" or bits <= 300:
        pairs.extend((x, y) for x in first for y in second[source.randrange(3) :: 3])
    if op == "fmamod":
        return [(x, y, first[i % len(first)], n) for i, (x, y) in enumerate(pairs)]
    return [(x, y, n) for x, y in pairs]


@cache
def batch(op: str, bits: int, seed: int, shared: bool) -> Batch:
    """Edge items of one operation at one width; `shared` gives all of them one odd modulus."""
    source = random.Random(f"{op} {bits} {seed}")  # noqa: S311 (test operands)
    moduli = _moduli(source, bits)
    rows = [row for n in (moduli[:1] if shared else moduli) for row in _rows(op, source, bits, n)]
    return Batch(
        columns=tuple(zip(*rows, strict=True)),
        public=tuple(expected(op, row, False) for row in rows),
        secret=tuple(expected(op, row, True) for row in rows),
    )
