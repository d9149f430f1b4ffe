# SPDX-License-Identifier: Apache-2.0
"""Every operation of every usable variant, in both timing classes, against Python's integers and gmpy2.

Each run draws new cases. A failure prints the seed; MANYMOD_TEST_SEED=<seed> repeats it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from reference import cases, expected
from reference.expected import Answer
from tests.python import differential_batches as batches
from tests.python.differential_batches import RING_OPERATIONS, SEED, UNARY, Batch, Item, rng_for

import manymod

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

USABLE = [variant for variant in manymod.variants() if variant.usable]


def offered(*operations: str) -> list[tuple[str, str]]:
    """``(operation, variant)`` for what the usable variants offer in variable time."""
    return [(op, variant.name) for op in operations for variant in USABLE if op in variant.public_ops]


def offered_classes(op: str) -> list[tuple[bool, str]]:
    """``(secret, variant)`` for the timing classes in which the usable variants offer ``op``."""
    public = [(False, variant.name) for variant in USABLE if op in variant.public_ops]
    return public + [(True, variant.name) for variant in USABLE if op in variant.secret_ops]


MAX_BITS = {variant.name: variant.max_bits for variant in USABLE}


def wide(pairs: list[tuple[Any, str]], bits: int = 16384) -> list[tuple[Any, str]]:
    """Those of the pairs whose variant serves moduli of so many bits."""
    return [pair for pair in pairs if MAX_BITS[pair[1]] >= bits]


def widths(variant: str, *bits: int) -> list[int]:
    """Those of the widths that a variant serves."""
    return [width for width in bits if width <= MAX_BITS[variant]]


def served(batch: Batch, variant: str) -> Batch:
    """The items of a batch whose moduli a variant serves."""
    pairs = zip(batch.items, batch.answers, strict=True)
    kept = [(item, answer) for item, answer in pairs if item.n.bit_length() <= MAX_BITS[variant]]
    return Batch([item for item, _ in kept], [answer for _, answer in kept])


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


def check(op: str, batch: Batch, variant: str, *, secret: bool = False) -> None:
    """Run the items of a batch that the variant serves, and compare."""
    batch = served(batch, variant)
    assert batch.items
    title = f"{op} {variant} {'secret' if secret else 'public'}"
    compare(title, batch.items, call(op, batch.items, variant, secret=secret), batch.answers)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS)))
def test_each_width(op: str, variant: str) -> None:
    for bits in cases.EDGE_WIDTHS:
        check(op, batches.ring_batch(op, bits), variant)


@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize(("secret", "variant"), wide(offered_classes("fmamod")))
def test_fmamod_each_width(secret: bool, variant: str, signs: bool) -> None:
    for zs, batch in batches.sums_with_products(secret, signs):
        xs, ys, ns = ([getattr(item, name) for item in batch.items] for name in "xyn")
        n = ns if len(set(ns)) > 1 else ns[0]
        results = manymod.fmamod(xs, ys, zs, n, variant=variant, errors="status", secret=secret)
        compare(f"fmamod {variant} {ns[0].bit_length()} bits", batch.items, results, batch.answers)


@pytest.mark.parametrize(("secret", "variant"), wide(offered_classes("powmod")))
def test_powmod_each_width(secret: bool, variant: str) -> None:
    for bits in cases.EDGE_WIDTHS:
        check("powmod", batches.power_batch(bits, secret=secret), variant, secret=secret)


@pytest.mark.parametrize(("op", "variant"), wide(offered("powmod", "mulmod", "sqrmod", "invmod")))
def test_every_limb_count(op: str, variant: str) -> None:
    check(op, batches.every_limb_count(op), variant)


@pytest.mark.parametrize(("secret", "variant"), wide(offered_classes("powmod"), 3072))
def test_full_length_powers_of_wide_moduli(secret: bool, variant: str) -> None:
    check("powmod", batches.full_length_powers(secret), variant, secret=secret)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_every_small_power(secret: bool, variant: str) -> None:
    check("powmod", batches.small_powers(secret), variant, secret=secret)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_every_small_signed_power(secret: bool, variant: str) -> None:
    check("powmod", batches.small_signed_operands("powmod", secret), variant, secret=secret)


@pytest.mark.parametrize(("op", "variant"), offered(*RING_OPERATIONS))
def test_every_small_operand(op: str, variant: str) -> None:
    check(op, batches.small_signed_operands(op, secret=False), variant)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS, "powmod")))
def test_mixed_widths_keep_their_order(op: str, variant: str) -> None:
    check(op, batches.mixed_widths(op), variant)


@pytest.mark.parametrize(
    "variant", [variant for secret, variant in wide(offered_classes("powmod")) if secret]
)
def test_mixed_widths_and_parities_in_class_secret(variant: str) -> None:
    check("powmod", batches.mixed_widths_and_parities(), variant, secret=True)


def check_shared(op: str, batch: Batch, variant: str, *, secret: bool = False) -> None:
    """Run a batch whose items have one modulus, which is passed once, and compare. It may be too long."""
    xs, ys = ([getattr(item, name) for item in batch.items] for name in "xy")
    n = batch.items[0].n
    if not widths(variant, n.bit_length()):
        return
    operands = [xs, n] if op in UNARY else [xs, ys, n]
    results = getattr(manymod, op)(*operands, variant=variant, errors="status", secret=secret)
    compare(f"{op} {variant} shared {n.bit_length()} bits", batch.items, results, batch.answers)


@pytest.mark.parametrize(
    ("op", "variant"),
    [(op, name) for op in RING_OPERATIONS for secret, name in offered_classes(op) if secret],
)
def test_ring_operations_in_class_secret(op: str, variant: str) -> None:
    mixed, *shared = batches.secret_ring_batches(op, MAX_BITS[variant])
    check(op, mixed, variant, secret=True)
    for batch in shared:
        check_shared(op, batch, variant, secret=True)


@pytest.mark.parametrize(("op", "variant"), offered(*RING_OPERATIONS, "powmod"))
def test_shared_modulus(op: str, variant: str) -> None:
    for batch in batches.shared_moduli(op):
        check_shared(op, batch, variant)


@pytest.mark.parametrize("variant", [variant for _, variant in offered("invmod")])
def test_simultaneous_inversion_isolates_items_without_inverse(variant: str) -> None:
    for batch in batches.few_without_inverse():
        check_shared("invmod", batch, variant)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_shared_operands_of_powmod(secret: bool, variant: str) -> None:
    """Scalars broadcast: a shared base, a shared exponent, both, with a shared or an own modulus."""
    rng = rng_for("broadcast", secret)
    for bits in widths(variant, 64, 320, 513, 1024):
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
    check("powmod", batches.powers_wider_than_any_modulus(secret), variant, secret=secret)


@pytest.mark.parametrize(("op", "variant"), wide(offered(*RING_OPERATIONS)))
def test_huge_operands(op: str, variant: str) -> None:
    check(op, batches.huge_operands(op), variant)


@pytest.mark.parametrize("variant", [variant for _, variant in offered("powmod")])
def test_powers_of_two_and_their_multiples(variant: str) -> None:
    for op in ("powmod", "invmod", "mulmod"):
        if (op, variant) in offered(op):
            check(op, batches.powers_of_two_and_their_multiples(op), variant)


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
        for bits in widths(variant, 5, 64, 200, 256, 521, 1024):
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
    for bits in widths(variant, 64, 127, 320, 600):
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
    for bits in widths(variant, 1, 2, 60, 64, 65, 255, 256, 521, 1024, 2048):
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
    for bits in widths(variant, *cases.EDGE_WIDTHS):
        for n in cases.moduli(rng, bits, odd=True):
            modulus = -n if rng.random() < 0.2 else n
            items += [Item(x, 0, modulus) for x in cases.operands(rng, n, 4 if bits <= 2049 else 1)]
    rng.shuffle(items)
    plan = manymod.Plan("invmod", modulus_bits=min(16384, MAX_BITS[variant]), secret=True, variant=variant)
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
    batch = batches.many_inverses(secret)
    plan = manymod.Plan("invmod", modulus_bits=256, secret=secret, variant=variant)
    results = plan([item.x for item in batch.items], [item.n for item in batch.items], errors="status")
    compare(f"invmod {variant}", batch.items, results, batch.answers)


@pytest.mark.parametrize(("secret", "variant"), offered_classes("powmod"))
def test_one_large_batch_on_any_number_of_threads(secret: bool, variant: str) -> None:
    items = batches.large_batch(secret).items
    xs, ys, ns = ([getattr(item, name) for item in items] for name in "xyn")
    for threads in (1, 2, 5):
        words: dict[str, Any] = {"variant": variant, "secret": secret, "threads": threads}
        results = manymod.powmod(xs, ys, ns, errors="status", **words)
        compare(f"powmod {variant} {threads} threads", items, results, batches.large_batch(secret).answers)
