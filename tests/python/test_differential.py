# SPDX-License-Identifier: Apache-2.0
"""Every operation of every usable variant, in both timing classes, against Python's integers and gmpy2.

Each run draws new cases. A failure prints the seed; MANYMOD_TEST_SEED=<seed> repeats it.
"""

from __future__ import annotations

import math
import os
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from reference import cases, expected
from reference.expected import Answer

import manymod

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = int(os.environ.get("MANYMOD_TEST_SEED") or random.SystemRandom().getrandbits(32))
USABLE = [variant for variant in manymod.variants() if variant.usable]

RING_OPERATIONS = ("addmod", "submod", "negmod", "mulmod", "sqrmod", "invmod")
UNARY = ("negmod", "sqrmod", "invmod")

HUGE_BITS = 20_011


def offered(*operations: str) -> list[tuple[str, str]]:
    """``(operation, variant)`` for what the usable variants offer in variable time."""
    return [(op, variant.name) for op in operations for variant in USABLE if op in variant.public_ops]


def offered_classes(op: str) -> list[tuple[bool, str]]:
    """``(secret, variant)`` for the timing classes in which the usable variants offer ``op``."""
    public = [(False, variant.name) for variant in USABLE if op in variant.public_ops]
    return public + [(True, variant.name) for variant in USABLE if op in variant.secret_ops]


WIDE = {variant.name for variant in USABLE if variant.max_bits >= 16384}


def wide(pairs: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """Those of the pairs whose variant serves every width."""
    return [pair for pair in pairs if pair[1] in WIDE]


@dataclass(frozen=True)
class Item:
    """Operands of one item."""

    x: int
    y: int
    n: int


def rng_for(*key: object) -> random.Random:
    """A generator of its own for each set of cases, so that tests do not depend on each other's order."""
    return random.Random(f"{SEED} {key}")


def show(value: int) -> str:
    text = hex(value)
    return text if len(text) <= 700 else f"{text[:340]}..{text[-340:]} ({value.bit_length()} bits)"


def compare(title: str, items: Sequence[Item], results: Sequence[Any], answers: Sequence[Answer]) -> None:
    """Check values and statuses of a whole batch; name the first wrong item and the seed."""
    values, statuses = results
    assert len(values) == len(statuses) == len(items)
    for i, (item, answer) in enumerate(zip(items, answers, strict=True)):
        got = Answer(int(values[i]), int(statuses[i]))
        if got != answer:
            pytest.fail(
                f"{title}, item {i} of {len(items)} (MANYMOD_TEST_SEED={SEED})\n"
                f"x = {show(item.x)}\ny = {show(item.y)}\nn = {show(item.n)}\n"
                f"got  {show(got.value)} status {got.status}\n"
                f"want {show(answer.value)} status {answer.status}"
            )


def call(op: str, items: Sequence[Item], variant: str, *, secret: bool = False) -> Any:
    """One batched call with a modulus for each item: ``(values, statuses)``."""
    words: dict[str, Any] = {"variant": variant, "errors": "status"}
    if secret:
        words["secret"] = True
    xs, ys, ns = ([getattr(item, name) for item in items] for name in "xyn")
    operands = [xs, ns] if op in UNARY else [xs, ys, ns]
    return getattr(manymod, op)(*operands, **words)


def check(op: str, items: Sequence[Item], variant: str, *, secret: bool = False) -> None:
    """Run a batch and compare."""
    answers = [expected.answer(op, item.x, item.y, item.n, secret=secret) for item in items]
    title = f"{op} {variant} {'secret' if secret else 'public'}"
    compare(title, items, call(op, items, variant, secret=secret), answers)


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


def exponent_bits(bits: int) -> int:
    """Exponents as long as the modulus where that is quick, shorter ones for wide moduli."""
    return bits if bits <= 2049 else 2_000_000 // bits


@cache
def power_items(bits: int, *, secret: bool) -> tuple[tuple[Item, ...], tuple[Answer, ...]]:
    """Powers modulo each modulus of one width, with their answers."""
    rng = rng_for("power", bits, secret)
    moduli = cases.moduli(rng, bits, odd=secret)
    per_modulus = 5 if bits <= 577 else 2 if bits <= 2049 else 1
    items = []
    for modulus in rng.sample(moduli, min(len(moduli), 6)) if bits > 4097 else moduli:
        n = -modulus if rng.random() < 0.2 else modulus
        bases = cases.operands(rng, n, per_modulus)
        exps = cases.exponents(rng, max(3, exponent_bits(bits)), per_modulus)
        items += [Item(x, -y if rng.random() < 0.15 else y, n) for x, y in zip(bases, exps, strict=True)]
    return tuple(items), tuple(expected.answer("powmod", i.x, i.y, i.n, secret=secret) for i in items)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS)))
def test_each_width(op: str, variant: str) -> None:
    for bits in cases.EDGE_WIDTHS:
        check(op, ring_items(bits), variant)


@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize(("secret", "variant"), wide(offered_classes("fmamod")))
def test_fmamod_each_width(secret: bool, variant: str, signs: bool) -> None:
    """Addends of any length and sign, with a modulus for each item and one for all."""
    rng = rng_for("fmamod")
    for bits in cases.EDGE_WIDTHS:
        every = [i if signs else Item(abs(i.x), abs(i.y), i.n) for i in ring_items(bits)]
        for items in (every, [i for i in every if i.n == every[-1].n]):
            zs = [
                rng.choice((0, -1, abs(i.n) - 1, (1 << bits) - 1, *cases.operands(rng, i.n, 2)))
                for i in items
            ]
            zs = zs if signs else [abs(z) for z in zs]
            columns = [[getattr(item, name) for item in items] for name in "xyn"]
            n = columns[2] if len(set(columns[2])) > 1 else columns[2][0]
            results = manymod.fmamod(
                columns[0], columns[1], zs, n, variant=variant, errors="status", secret=secret
            )
            # Of x y and z the sum is wanted.
            answers = [
                expected.answer("addmod", i.x * i.y, z, i.n, secret=secret)
                for i, z in zip(items, zs, strict=True)
            ]
            compare(f"fmamod {variant} {bits} bits", items, results, answers)


@pytest.mark.parametrize(("secret", "variant"), wide(offered_classes("powmod")))
def test_powmod_each_width(secret: bool, variant: str) -> None:
    for bits in cases.EDGE_WIDTHS:
        items, answers = power_items(bits, secret=secret)
        compare(
            f"powmod {variant} {bits} bits", items, call("powmod", items, variant, secret=secret), answers
        )


@pytest.mark.parametrize(("op", "variant"), wide(offered("powmod", "mulmod", "sqrmod", "invmod")))
def test_every_limb_count(op: str, variant: str) -> None:
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
    check(op, items, variant)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_full_length_powers_of_wide_moduli(secret: bool, variant: str) -> None:
    rng = rng_for("wide", secret)
    items = []
    for bits in (3072, 4095, 4096):
        n = rng.choice(cases.moduli(rng, bits, odd=secret))
        items.append(Item(rng.getrandbits(bits), cases.exact_width(rng.getrandbits(bits), bits), n))
    check("powmod", items, variant, secret=secret)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_every_small_power(secret: bool, variant: str) -> None:
    """All (base, exponent, modulus) with modulus up to 2^6, base and exponent up to the modulus."""
    items = [Item(x, y, n) for n in range(65) for x in range(n + 1) for y in range(n + 1)]
    check("powmod", items, variant, secret=secret)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_every_small_signed_power(secret: bool, variant: str) -> None:
    span = range(-18, 19)
    check("powmod", [Item(x, y, n) for n in span for x in span for y in span], variant, secret=secret)


@pytest.mark.parametrize(("op", "variant"), offered(*RING_OPERATIONS))
def test_every_small_operand(op: str, variant: str) -> None:
    seconds = (0,) if op in UNARY else range(-18, 19)
    items = [Item(x, y, n) for n in range(-18, 19) for x in range(-18, 19) for y in seconds]
    check(op, items, variant)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS, "powmod")))
def test_mixed_widths_keep_their_order(op: str, variant: str) -> None:
    """All widths in one shuffled batch, with items that fail between them."""
    rng = rng_for("mixed", op)
    items = []
    for bits in cases.EDGE_WIDTHS:
        if op == "powmod":
            items += rng.sample(power_items(bits, secret=False)[0], 4 if bits <= 1025 else 1)
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
    check(op, items, variant)


@pytest.mark.parametrize(
    "variant", [variant for secret, variant in wide(offered_classes("powmod")) if secret]
)
def test_mixed_widths_and_parities_in_class_secret(variant: str) -> None:
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
        items += rng.sample(power_items(bits, secret=bits % 2 == 0)[0], 2 if bits <= 1025 else 1)
    rng.shuffle(items)
    check("powmod", items, variant, secret=True)


@pytest.mark.parametrize(
    ("op", "variant"),
    [(op, name) for op in RING_OPERATIONS for secret, name in offered_classes(op) if secret],
)
def test_ring_operations_in_class_secret(op: str, variant: str) -> None:
    """All widths in one batch, operands of any width and sign, then one modulus for all items."""
    rng = rng_for("secret", op)
    widest = next(known.max_bits for known in USABLE if known.name == variant)
    widths = [bits for bits in cases.EDGE_WIDTHS if bits <= widest]
    items = [item for bits in widths for item in rng.sample(ring_items(bits), 8)]
    items += [Item(5, 3, 0), Item(7, 2, 1), Item(7, 2, -1), Item(-(2**20_000), 2**9000 - 1, 2**521 - 1)]
    rng.shuffle(items)
    check(op, items, variant, secret=True)
    for bits in (3, 64, 65, 511, 513, 1088, 2048):
        n = rng.choice(cases.moduli(rng, bits, odd=True))
        xs = cases.operands(rng, n, 20)
        items = [Item(x, y, n) for x, y in zip(xs, reversed(xs), strict=True)]
        operands = [xs, n] if op in UNARY else [xs, xs[::-1], n]
        results = getattr(manymod, op)(*operands, variant=variant, errors="status", secret=True)
        answers = [expected.answer(op, item.x, item.y, item.n, secret=True) for item in items]
        compare(f"{op} {variant} shared {bits} bits", items, results, answers)


@pytest.mark.parametrize(("op", "variant"), offered(*RING_OPERATIONS, "powmod"))
def test_shared_modulus(op: str, variant: str) -> None:
    """One modulus for the batch takes another path: precomputed constants, and simultaneous inversion."""
    rng = rng_for("shared", op)
    for bits in (1, 2, 63, 64, 65, 127, 192, 256, 257, 512, 577, 1024, 1536, 2048):
        for n in rng.sample(cases.moduli(rng, bits, odd=False), 5):
            xs = cases.operands(rng, n, 40 if bits <= 512 else 9)
            ys = cases.exponents(rng, min(bits, 512), len(xs)) if op == "powmod" else list(reversed(xs))
            items = [Item(x, y, n) for x, y in zip(xs, ys, strict=True)]
            operands = [xs, n] if op in UNARY else [xs, ys, n]
            results = getattr(manymod, op)(*operands, variant=variant, errors="status")
            answers = [expected.answer(op, item.x, item.y, item.n) for item in items]
            compare(f"{op} {variant} shared {bits} bits", items, results, answers)


@pytest.mark.parametrize("variant", [variant for _, variant in offered("invmod")])
def test_simultaneous_inversion_isolates_items_without_inverse(variant: str) -> None:
    """Hundreds of items on one composite modulus, a few of which share a factor with it."""
    rng = rng_for("simultaneous")
    for n in (3 * 5 * 7 * 11 * 13, (2**127 - 1) * 3, 2**64 * 15, (2**521 - 1) * (2**61 - 1)):
        for bad in ([], [0], [511], [0, 1, 255, 256, 510], list(range(0, 512, 3))):
            xs = [rng.getrandbits(n.bit_length()) | 1 for _ in range(512)]
            for i in bad:
                xs[i] = rng.choice((0, n, 3 * n // 3, n * rng.getrandbits(40)))
            items = [Item(x, 0, n) for x in xs]
            answers = [expected.answer("invmod", x, 0, n) for x in xs]
            compare(
                f"invmod {variant}", items, manymod.invmod(xs, n, variant=variant, errors="status"), answers
            )


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_shared_operands_of_powmod(secret: bool, variant: str) -> None:
    """Scalars broadcast: a shared base, a shared exponent, both, with a shared or an own modulus."""
    rng = rng_for("broadcast", secret)
    for bits in (64, 320, 513, 1024):
        ns = cases.moduli(rng, bits, odd=secret)
        n = ns[3]
        xs = cases.operands(rng, n, len(ns))
        ys = cases.exponents(rng, bits, len(ns))
        x, y = xs[0], ys[-1]
        words: dict[str, Any] = {"variant": variant, "secret": secret, "errors": "status"}
        for a, b, c in [(x, ys, n), (xs, y, n), (x, y, ns), (x, ys, ns), (xs, y, ns)]:
            columns = [operand if isinstance(operand, list) else [operand] * len(ns) for operand in (a, b, c)]
            items = [Item(*row) for row in zip(*columns, strict=True)]
            answers = [expected.answer("powmod", i.x, i.y, i.n, secret=secret) for i in items]
            compare(f"powmod {variant} {bits}", items, manymod.powmod(a, b, c, **words), answers)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_bases_and_exponents_wider_than_any_modulus(secret: bool, variant: str) -> None:
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
    check("powmod", items, variant, secret=secret)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS)))
def test_huge_operands(op: str, variant: str) -> None:
    rng = rng_for("huge", op)
    items = []
    for bits in (1, 64, 65, 500, 2048, 16384):
        for n in rng.sample(cases.moduli(rng, bits, odd=False), 4):
            huge = [cases.runs(rng, HUGE_BITS), rng.getrandbits(2 * HUGE_BITS), abs(n) << 3000]
            items += [Item(x, -y, n) for x in huge for y in huge]
    check(op, items, variant)


@pytest.mark.parametrize("variant", [variant for _, variant in offered("powmod")])
def test_powers_of_two_and_their_multiples(variant: str) -> None:
    """Even moduli 2^k and 2^k m for every k around limb boundaries, with even and odd bases."""
    rng = rng_for("even")
    items = []
    for k in (1, 2, 3, 31, 32, 33, 62, 63, 64, 65, 127, 128, 129, 191, 192, 256, 511, 512, 640, 1024):
        for m in (1, 3, 2**64 - 1, rng.getrandbits(150) | 1, cases.runs(rng, 300) | 1):
            n = m << k
            xs = (0, 1, 2, n - 1, m, 1 << (k - 1), rng.getrandbits(2 * k), rng.getrandbits(k) | 1)
            items += [Item(x, rng.choice((0, 1, 2, k, k - 1, rng.getrandbits(70), -3)), n) for x in xs]
    for op in ("powmod", "invmod", "mulmod"):
        if (op, variant) in offered(op):
            check(op, items, variant)


def factors(rng: random.Random, n: int, count: int) -> list[int]:
    """Bases of a product: biased where they are few, else units modulo n, so that it does not vanish."""
    if count <= 3:
        return cases.operands(rng, n, count)
    result: list[int] = []
    while len(result) < count:
        x = rng.getrandbits(n.bit_length() + 9)
        if math.gcd(x, n) == 1:
            result.append(-x if rng.random() < 0.2 else x)
    return result


@pytest.mark.parametrize("variant", [variant for _, variant in offered("multi_powmod")])
def test_multi_powmod(variant: str) -> None:
    """Products of 0 to 300 powers, so that Straus and Pippenger are both taken; some exponents negative."""
    rng = rng_for("multi")
    for terms in (0, 1, 2, 3, 7, 16, 64, 300):
        for bits in (5, 64, 200, 256, 521, 1024):
            if terms * bits > 70_000:
                continue
            ns = [0, 1, -1, *rng.sample(cases.moduli(rng, bits, odd=False), 4)]
            bases = [factors(rng, n or 7, terms) for n in ns]
            exps = [cases.exponents(rng, 64 if terms > 64 else 160, terms) for _ in ns]
            if terms:
                exps[-1][0] = -3
            answers = [expected.product_of_powers(*row) for row in zip(bases, exps, ns, strict=True)]
            items = [Item(sum(x), sum(y), n) for x, y, n in zip(bases, exps, ns, strict=True)]
            results = manymod.multi_powmod(bases, exps, ns, variant=variant, errors="status")
            compare(f"multi_powmod {variant} {terms} terms {bits} bits", items, results, answers)


@pytest.mark.parametrize("variant", [variant for _, variant in offered("multi_powmod")])
def test_multi_powmod_with_shared_terms(variant: str) -> None:
    """One set of bases or of exponents for every product, a shared modulus, and one long product."""
    rng = rng_for("multi shared")
    for bits in (64, 127, 320, 600):
        for n in rng.sample(cases.moduli(rng, bits, odd=False), 3):
            rows = [factors(rng, n, 5) for _ in range(4)]
            exps = [cases.exponents(rng, 200, 5) for _ in range(4)]
            shapes: list[tuple[Any, Any, list[list[int]], list[list[int]]]] = [
                (rows, exps, rows, exps),
                (rows[0], exps, [rows[0]] * 4, exps),
                (rows, exps[0], rows, [exps[0]] * 4),
            ]
            for bases, powers, all_bases, all_powers in shapes:
                pairs = list(zip(all_bases, all_powers, strict=True))
                answers = [expected.product_of_powers(x, y, n) for x, y in pairs]
                items = [Item(sum(x), sum(y), n) for x, y in pairs]
                results = manymod.multi_powmod(bases, powers, n, variant=variant, errors="status")
                compare(f"multi_powmod {variant} shared {bits} bits", items, results, answers)
            xs, ys = factors(rng, n, 1500), cases.exponents(rng, 100, 1500)
            value = manymod.multi_powmod(xs, ys, n, variant=variant)
            assert Answer(value) == expected.product_of_powers(xs, ys, n), f"MANYMOD_TEST_SEED={SEED}"


@pytest.mark.parametrize(("secret", "variant"), offered_classes("fixed_base_powmod"))
def test_fixed_base(secret: bool, variant: str) -> None:
    """The comb, over exponents of its own length; in variable time also over longer and negative ones."""
    rng = rng_for("fixed", secret)
    for bits in (1, 2, 60, 64, 65, 255, 256, 521, 1024, 2048):
        for n in rng.sample(cases.moduli(rng, bits, odd=secret), 3):
            g = cases.operands(rng, n, 1)[0]
            length = rng.choice((1, 7, 64, 65, 160, 256, bits))
            base = manymod.FixedBase(g, n, exponent_bits=length, secret=secret, variant=variant)
            ys = [0, 1, (1 << length) - 1, 1 << (length - 1), *cases.exponents(rng, length, 12)]
            if not secret:
                ys += [rng.getrandbits(3 * length + 70), 1 << length, -1, -rng.getrandbits(length)]
            items = [Item(g, y, n) for y in ys]
            answers = [expected.answer("powmod", g, y, n, secret=secret) for y in ys]
            title = f"FixedBase {variant} {length}-bit exponents"
            compare(title, items, base.powmod(ys, errors="status"), answers)


@pytest.mark.parametrize("variant", [variant for secret, variant in offered_classes("invmod") if secret])
def test_secret_inverses(variant: str) -> None:
    """Class secret inverts item by item in a fixed number of steps, for one modulus or many."""
    rng = rng_for("secret inverses")
    items = [Item(3, 0, 0), Item(3, 0, 4), Item(3, 0, 1), Item(0, 0, -1), Item(3, 0, 9), Item(-2, 0, -9)]
    for bits in cases.EDGE_WIDTHS:
        for n in cases.moduli(rng, bits, odd=True):
            modulus = -n if rng.random() < 0.2 else n
            items += [Item(x, 0, modulus) for x in cases.operands(rng, n, 4 if bits <= 2049 else 1)]
    rng.shuffle(items)
    plan = manymod.Plan("invmod", modulus_bits=16384, secret=True, variant=variant)
    answers = [expected.answer("invmod", item.x, 0, item.n, secret=True) for item in items]
    results = plan([item.x for item in items], [item.n for item in items], errors="status")
    compare(f"invmod {variant} secret", items, results, answers)
    for n in (1, 3, 2**64 - 1, 3**161, 2**127 - 1):
        xs = cases.operands(rng, n, 40)
        shared = manymod.Plan("invmod", modulus=n, secret=True, variant=variant)
        answers = [expected.answer("invmod", x, 0, n, secret=True) for x in xs]
        compare(f"invmod {variant} secret", [Item(x, 0, n) for x in xs], shared(xs, errors="status"), answers)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("invmod"))
def test_many_inverses(secret: bool, variant: str) -> None:
    """Thousands of random inverses of one to four limbs, for ranges that only rare values leave."""
    rng = rng_for("many inverses", secret)
    items = []
    for _ in range(12_000):
        bits = rng.randrange(2, 250)
        items.append(Item(rng.getrandbits(bits), 0, cases.exact_width(rng.getrandbits(bits), bits) | 1))
    plan = manymod.Plan("invmod", modulus_bits=256, secret=secret, variant=variant)
    answers = [expected.answer("invmod", item.x, 0, item.n, secret=secret) for item in items]
    results = plan([item.x for item in items], [item.n for item in items], errors="status")
    compare(f"invmod {variant}", items, results, answers)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_one_large_batch_on_any_number_of_threads(secret: bool, variant: str) -> None:
    """A batch big enough for the thread pool."""
    rng = rng_for("threads", secret)
    items = []
    for _ in range(3000):
        bits = rng.choice((64, 128, 256, 320, 384, 512))
        n = cases.exact_width(rng.getrandbits(bits), bits) | 1
        items.append(Item(rng.getrandbits(bits), rng.getrandbits(rng.choice((8, 64, bits))), n))
    xs, ys, ns = ([getattr(item, name) for item in items] for name in "xyn")
    answers = [expected.answer("powmod", i.x, i.y, i.n, secret=secret) for i in items]
    for threads in (1, 2, 5):
        words: dict[str, Any] = {"variant": variant, "secret": secret, "threads": threads}
        results = manymod.powmod(xs, ys, ns, errors="status", **words)
        compare(f"powmod {variant} {threads} threads", items, results, answers)
