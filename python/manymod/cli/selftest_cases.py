# SPDX-License-Identifier: Apache-2.0
"""Operands that break arithmetic, with the answers Python gives."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

__all__ = ["OPERANDS", "WIDTHS", "Batch", "batch", "expected"]

#: Operands of each operation, the modulus last.
OPERANDS = {
    "addmod": 3,
    "submod": 3,
    "negmod": 2,
    "mulmod": 3,
    "sqrmod": 2,
    "powmod": 3,
    "invmod": 2,
}

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
    3072,
    4096,
    16384,
)

#: Exponents are of full length up to this width and a few limbs long above: the oracle is slow.
FULL_EXPONENT_BITS = 1024


@dataclass(frozen=True)
class Batch:
    """Operands by column, and for each item the answer and status name, without and with class secret."""

    columns: tuple[tuple[int, ...], ...]
    public: tuple[tuple[int, str], ...]
    secret: tuple[tuple[int, str], ...]


def expected(op: str, values: tuple[int, ...], secret: bool) -> tuple[int, str]:
    """Answer (0 where there is none) and status name of one item, by Python's own arithmetic."""
    n = values[-1]
    if n == 0:
        return 0, "zero_modulus"
    if secret and n % 2 == 0:
        return 0, "even_modulus"
    x, y = values[0], values[1]
    try:
        answers = {
            "addmod": lambda: (x + y) % n,
            "submod": lambda: (x - y) % n,
            "negmod": lambda: -x % n,
            "mulmod": lambda: x * y % n,
            "sqrmod": lambda: x * x % n,
            "powmod": lambda: pow(x, y, n),
            "invmod": lambda: pow(x, -1, n),
        }
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
    return [
        (1 << bits) - 1,
        top | 1,
        _runs(source, bits) | 1,
        source.getrandbits(bits) | top | 1,
        source.getrandbits(bits) | top,
        top,
        -(source.getrandbits(bits) | top | 1),
        1,
        0,
    ]


def _operands(source: random.Random, bits: int, n: int) -> list[int]:
    return [
        *(0, 1, 2, n - 1, n, n + 1, -1, -n, (1 << bits) - 1),
        *(_runs(source, bits), source.getrandbits(bits), -source.getrandbits(bits)),
        source.getrandbits(2 * bits + 70),
    ]


def _exponents(source: random.Random, bits: int) -> list[int]:
    length = bits if bits <= FULL_EXPONENT_BITS else 130
    return [
        *(0, 1, 2, 3, 65537, -1, -65537, (1 << min(length, 300)) - 1, 1 << (length - 1)),
        *(_runs(source, length), source.getrandbits(length)),
    ]


@cache
def batch(op: str, bits: int, seed: int, shared: bool) -> Batch:
    """Edge items of one operation at one width; `shared` gives all of them one odd modulus."""
    source = random.Random(f"{op} {bits} {seed}")  # noqa: S311 (test operands)
    rows: list[tuple[int, ...]] = []
    moduli = [_moduli(source, bits)[3]] if shared else _moduli(source, bits)
    for n in moduli:
        first = _operands(source, bits, n)
        if OPERANDS[op] == 2:
            rows.extend((x, n) for x in first)
            continue
        second = _exponents(source, bits) if op == "powmod" else _operands(source, bits, n)
        few = op == "powmod" and bits > 300
        pairs = list(zip(first, second, strict=False))
        if not few:
            pairs.extend((x, y) for x in first for y in second[source.randrange(3) :: 3])
        rows.extend((x, y, n) for x, y in pairs)
    return Batch(
        columns=tuple(zip(*rows, strict=True)),
        public=tuple(expected(op, row, False) for row in rows),
        secret=tuple(expected(op, row, True) for row in rows),
    )
