# SPDX-License-Identifier: Apache-2.0
"""The batches of test_differential.py, with the answers of Python's integers and gmpy2.

The answers take longer to compute than the results of a variant: each batch is made once for all variants.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from reference import cases, expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.expected import Answer

SEED = int(os.environ.get("MANYMOD_TEST_SEED") or random.SystemRandom().getrandbits(32))
RING_OPERATIONS = ("addmod", "submod", "negmod", "mulmod", "sqrmod", "invmod")
UNARY = ("negmod", "sqrmod", "invmod")
HUGE_BITS = 20_011


@dataclass(frozen=True)
class Item:
    """Operands of one item."""

    x: int
    y: int
    n: int


@dataclass(frozen=True)
class Batch:
    """Items with their answers."""

    items: Sequence[Item]
    answers: Sequence[Answer]


def rng_for(*key: object) -> random.Random:
    """A generator of its own for each set of cases, so that tests do not depend on each other's order."""
    return random.Random(f"{SEED} {key}")


def answered(op: str, items: Sequence[Item], *, secret: bool = False) -> Batch:
    """The items with the answers of Python or GMP."""
    return Batch(items, [expected.answer(op, item.x, item.y, item.n, secret=secret) for item in items])


@cache
def ring_items(bits: int) -> tuple[Item, ...]:
    """Operand pairs for the moduli of one width, some of the moduli negative."""
    rng = rng_for("ring", bits)
    items = []
    for modulus in cases.moduli(rng, bits, odd=False):
        n = -modulus if rng.random() < 0.2 else modulus
        operands = cases.operands(rng, n, 18)
        items += [Item(x, y, n) for x, y in zip(operands[:9], operands[9:], strict=True)]
        items += [Item(abs(n) - 1, abs(n) - 1, n), Item(0, abs(n) - 1, n)]
    return tuple(items)


@cache
def ring_batch(op: str, bits: int) -> Batch:
    return answered(op, ring_items(bits))


def exponent_bits(bits: int) -> int:
    """Exponents as long as the modulus where that is quick, shorter ones for wide moduli."""
    return bits if bits <= 2049 else 2_000_000 // bits


@cache
def power_batch(bits: int, *, secret: bool) -> Batch:
    """Powers modulo each modulus of one width."""
    rng = rng_for("power", bits, secret)
    moduli = cases.moduli(rng, bits, odd=secret)
    per_modulus = 5 if bits <= 577 else 2 if bits <= 2049 else 1
    items = []
    for modulus in rng.sample(moduli, min(len(moduli), 6)) if bits > 4097 else moduli:
        n = -modulus if rng.random() < 0.2 else modulus
        bases = cases.operands(rng, n, per_modulus)
        exps = cases.exponents(rng, max(3, exponent_bits(bits)), per_modulus)
        items += [Item(x, -y if rng.random() < 0.15 else y, n) for x, y in zip(bases, exps, strict=True)]
    return answered("powmod", items, secret=secret)


@cache
def sums_with_products(secret: bool, signs: bool) -> list[tuple[list[int], Batch]]:
    """For each width the addends, of any length and sign, and items of the sum x y + z.

    First with a modulus for each item, then with one for all.
    """
    rng = rng_for("fmamod")
    batches = []
    for bits in cases.EDGE_WIDTHS:
        every = [i if signs else Item(abs(i.x), abs(i.y), i.n) for i in ring_items(bits)]
        for items in (every, [i for i in every if i.n == every[-1].n]):
            zs = [
                rng.choice((0, -1, abs(i.n) - 1, (1 << bits) - 1, *cases.operands(rng, i.n, 2)))
                for i in items
            ]
            zs = zs if signs else [abs(z) for z in zs]
            # Of x y and z the sum is wanted.
            answers = [
                expected.answer("addmod", i.x * i.y, z, i.n, secret=secret)
                for i, z in zip(items, zs, strict=True)
            ]
            batches.append((zs, Batch(items, answers)))
    return batches


@cache
def every_limb_count(op: str) -> Batch:
    """1 to 72 limbs, odd and even moduli: code that works in blocks of limbs has another rest at each."""
    rng = rng_for("limbs", op)
    items = []
    for limbs in range(1, 73):
        bits = 64 * limbs - rng.randrange(64)
        moduli = [
            *rng.sample(cases.moduli(rng, bits, odd=True), 3),
            cases.exact_width(rng.getrandbits(bits), bits),
        ]
        k = rng.randrange(bits)
        moduli.append(cases.exact_width((rng.getrandbits(bits) | 1) << k, bits))
        for n in moduli:
            x, y = cases.operands(rng, n, 2)
            items.append(Item(x, rng.getrandbits(40) if op == "powmod" else y, n))
            items.append(Item(n - 1, 3 if op == "powmod" else n - 2, n))
    return answered(op, items)


@cache
def full_length_powers(secret: bool) -> Batch:
    rng = rng_for("wide", secret)
    items = []
    for bits in (3072, 4095, 4096):
        n = rng.choice(cases.moduli(rng, bits, odd=secret))
        items.append(Item(rng.getrandbits(bits), cases.exact_width(rng.getrandbits(bits), bits), n))
    return answered("powmod", items, secret=secret)


@cache
def small_powers(secret: bool) -> Batch:
    """All (base, exponent, modulus) with modulus up to 2^6, base and exponent up to the modulus."""
    items = [Item(x, y, n) for n in range(65) for x in range(n + 1) for y in range(n + 1)]
    return answered("powmod", items, secret=secret)


@cache
def small_signed_operands(op: str, secret: bool) -> Batch:
    span = range(-18, 19)
    items = [Item(x, y, n) for n in span for x in span for y in ((0,) if op in UNARY else span)]
    return answered(op, items, secret=secret)


@cache
def mixed_widths(op: str) -> Batch:
    """All widths in one shuffled batch, with items that fail between them."""
    rng = rng_for("mixed", op)
    items = []
    for bits in cases.EDGE_WIDTHS:
        if op == "powmod":
            items += rng.sample(power_batch(bits, secret=False).items, 4 if bits <= 1025 else 1)
        else:
            items += rng.sample(ring_items(bits), 8)
    items += [
        Item(5, 3, 0),
        Item(-5, -3, 0),
        Item(2, -1, 4),
        Item(7, 2, 1),
        Item(7, 0, 1),
        Item(7, 2, -1),
    ] * 3
    rng.shuffle(items)
    return answered(op, items)


@cache
def mixed_widths_and_parities() -> Batch:
    """Even moduli are refused item by item; moduli 1 and -1 are odd and answer 0."""
    rng = rng_for("mixed secret")
    items = [
        Item(3, 5, 8),
        Item(3, 5, 0),
        Item(3, 5, 1),
        Item(3, 0, -1),
        Item(3, -1, 9),
        Item(2**70, 3, 2**64),
    ]
    for bits in cases.EDGE_WIDTHS:
        items += rng.sample(power_batch(bits, secret=bits % 2 == 0).items, 2 if bits <= 1025 else 1)
    rng.shuffle(items)
    return answered("powmod", items, secret=True)


@cache
def secret_ring_batches(op: str, widest: int) -> list[Batch]:
    """All widths in one batch, operands of any width and sign; then batches with one modulus each."""
    rng = rng_for("secret", op)
    widths = [bits for bits in cases.EDGE_WIDTHS if bits <= widest]
    items = [item for bits in widths for item in rng.sample(ring_items(bits), 8)]
    items += [Item(5, 3, 0), Item(7, 2, 1), Item(7, 2, -1), Item(-(2**20_000), 2**9000 - 1, 2**521 - 1)]
    rng.shuffle(items)
    batches = [answered(op, items, secret=True)]
    for bits in (3, 64, 65, 511, 513, 1088, 2048):
        n = rng.choice(cases.moduli(rng, bits, odd=True))
        xs = cases.operands(rng, n, 20)
        items = [Item(x, y, n) for x, y in zip(xs, reversed(xs), strict=True)]
        batches.append(answered(op, items, secret=True))
    return batches


@cache
def shared_moduli(op: str) -> list[Batch]:
    """One modulus for the batch takes another path: precomputed constants, and simultaneous inversion."""
    rng = rng_for("shared", op)
    batches = []
    for bits in (1, 2, 63, 64, 65, 127, 192, 256, 257, 512, 577, 1024, 1536, 2048):
        for n in rng.sample(cases.moduli(rng, bits, odd=False), 5):
            xs = cases.operands(rng, n, 40 if bits <= 512 else 9)
            ys = cases.exponents(rng, min(bits, 512), len(xs)) if op == "powmod" else list(reversed(xs))
            batches.append(answered(op, [Item(x, y, n) for x, y in zip(xs, ys, strict=True)]))
    return batches


@cache
def few_without_inverse() -> list[Batch]:
    """Hundreds of items on one composite modulus, a few of which share a factor with it."""
    rng = rng_for("simultaneous")
    batches = []
    for n in (3 * 5 * 7 * 11 * 13, (2**127 - 1) * 3, 2**64 * 15, (2**521 - 1) * (2**61 - 1)):
        for bad in ([], [0], [511], [0, 1, 255, 256, 510], list(range(0, 512, 3))):
            xs = [rng.getrandbits(n.bit_length()) | 1 for _ in range(512)]
            for i in bad:
                xs[i] = rng.choice((0, n, 3 * n // 3, n * rng.getrandbits(40)))
            batches.append(answered("invmod", [Item(x, 0, n) for x in xs]))
    return batches


@cache
def powers_wider_than_any_modulus(secret: bool) -> Batch:
    rng = rng_for("huge", secret)
    items = []
    for bits in (1, 61, 64, 128, 200):
        for n in rng.sample(cases.moduli(rng, bits, odd=secret), 4):
            huge = cases.runs(rng, HUGE_BITS)
            items += [
                Item(huge, rng.getrandbits(80), n),
                Item(3, huge, n),
                Item(-huge, huge, n),
                Item(0, huge, n),
            ]
    return answered("powmod", items, secret=secret)


@cache
def huge_operands(op: str) -> Batch:
    rng = rng_for("huge", op)
    items = []
    for bits in (1, 64, 65, 500, 2048, 16384):
        for n in rng.sample(cases.moduli(rng, bits, odd=False), 4):
            huge = [cases.runs(rng, HUGE_BITS), rng.getrandbits(2 * HUGE_BITS), abs(n) << 3000]
            items += [Item(x, -y, n) for x in huge for y in huge]
    return answered(op, items)


@cache
def powers_of_two_and_their_multiples(op: str) -> Batch:
    """Even moduli 2^k and 2^k m for every k around limb boundaries, with even and odd bases."""
    rng = rng_for("even")
    items = []
    for k in (1, 2, 3, 31, 32, 33, 62, 63, 64, 65, 127, 128, 129, 191, 192, 256, 511, 512, 640, 1024):
        for m in (1, 3, 2**64 - 1, rng.getrandbits(150) | 1, cases.runs(rng, 300) | 1):
            n = m << k
            xs = (0, 1, 2, n - 1, m, 1 << (k - 1), rng.getrandbits(2 * k), rng.getrandbits(k) | 1)
            items += [Item(x, rng.choice((0, 1, 2, k, k - 1, rng.getrandbits(70), -3)), n) for x in xs]
    return answered(op, items)


@cache
def many_inverses(secret: bool) -> Batch:
    """Thousands of random inverses of one to four limbs, for ranges that only rare values leave."""
    rng = rng_for("many inverses", secret)
    items = []
    for _ in range(12_000):
        bits = rng.randrange(2, 250)
        items.append(Item(rng.getrandbits(bits), 0, cases.exact_width(rng.getrandbits(bits), bits) | 1))
    return answered("invmod", items, secret=secret)


@cache
def large_batch(secret: bool) -> Batch:
    """A batch big enough for the thread pool."""
    rng = rng_for("threads", secret)
    items = []
    for _ in range(3000):
        bits = rng.choice((64, 128, 256, 320, 384, 512))
        n = cases.exact_width(rng.getrandbits(bits), bits) | 1
        items.append(Item(rng.getrandbits(bits), rng.getrandbits(rng.choice((8, 64, bits))), n))
    return answered("powmod", items, secret=secret)
