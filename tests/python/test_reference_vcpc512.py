# SPDX-License-Identifier: Apache-2.0
"""The oracle of vcpc512: exhaustive over toy elements, carry patterns and random operands over real ones."""

from __future__ import annotations

import itertools
import random

import pytest
from reference.modmul.vcpc512 import (
    CountChains,
    MaskChains,
    add_vectors,
    algorithm_3,
    carries_into,
    even_odd,
)
from reference.repr import from_words, to_words


def multiply(form: str, a: int, b: int, n: int, w: int, elements: int) -> int:
    if form == "algorithm_3":
        return algorithm_3(a, b, n, w, elements)
    chains = (MaskChains if form == "masks" else CountChains)(elements // 2, 2 * w)
    return even_odd(a, b, n, w, elements, chains)


FORMS = ["algorithm_3", "masks", "counts"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("w", "elements", "sample"), [(2, 2, 1), (3, 2, 5), (2, 4, 331)])
def test_every_modulus_and_operand(form: str, w: int, elements: int, sample: int) -> None:
    """All odd n, b <= n, a < R for the shortest vectors; one in `sample` cases for the others."""
    r = 1 << (w * elements)
    cases = ((n, b, a) for n in range(1, r, 2) for b in range(n + 1) for a in range(r))
    for n, b, a in itertools.islice(cases, 0, None, sample):
        assert multiply(form, a, b, n, w, elements) == a * b * pow(r, -1, n) % n


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("elements", [2, 16, 32])
def test_carry_patterns(form: str, elements: int) -> None:
    """Operands, moduli and quotients of runs of ones: b = n makes q = -a mod R."""
    w = 32
    r = 1 << (w * elements)
    generator = random.Random(elements)
    patterns = [
        0,
        1,
        r - 1,
        r - 2,
        r >> 1,
        r - (r >> w),
        (1 << w) - 1,
        from_words([2**32 - 1, 0] * (elements // 2), w),
    ]
    patterns += [generator.getrandbits(w * elements) for _ in range(3)]
    for n in {pattern | 1 for pattern in patterns}:
        inverse = pow(r, -1, n)
        for a, b in itertools.product(patterns, [*patterns, n, n - 1]):
            if b <= n:
                assert multiply(form, a, b, n, w, elements) == a * b * inverse % n


class ForgetfulChains(MaskChains):
    """Chains whose q does not count the carry that waits at element 0."""

    def waiting_at_element_0(self, parity: int) -> int:
        del parity
        return 0


def test_q_needs_the_waiting_carry() -> None:
    """Without the write mask element 0 is not cleared, and the oracle says so."""
    w, elements = 32, 4
    n = (1 << (w * elements)) - 1
    with pytest.raises(AssertionError, match="element 0"):
        even_odd(n - 1, n - 2, n, w, elements, ForgetfulChains(elements // 2, 2 * w))


@pytest.mark.parametrize("elements", [1, 2, 3, 4])
def test_carry_lookahead_is_addition(elements: int) -> None:
    bits = 2
    limit = 1 << (bits * elements)
    for x, y in itertools.product(range(limit), repeat=2):
        total, carry = add_vectors(list(to_words(x, elements, bits)), to_words(y, elements, bits), bits)
        assert from_words(total, bits) + carry * limit == x + y


def test_carry_lookahead_with_a_carry_in() -> None:
    """Against handing carries on one by one."""
    elements = 4
    for generate, propagate, carry in itertools.product(range(16), range(16), range(2)):
        if generate & propagate:
            continue
        moving, entering = carry, 0
        for j in range(elements):
            entering |= moving << j
            moving = (generate >> j & 1) | (moving & (propagate >> j & 1))
        assert carries_into(generate, propagate, carry, elements) == (entering, moving)
