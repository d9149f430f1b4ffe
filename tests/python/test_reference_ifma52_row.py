# SPDX-License-Identifier: Apache-2.0
"""The oracle of the horizontal IFMA multiplication: exhaustive over toy digits, edges over real ones."""

from __future__ import annotations

import itertools
import random

import pytest
from reference.modmul.ifma52_row import RowModulus, exact_digits
from reference.repr import from_words, to_words


@pytest.mark.parametrize(("w", "digits", "sample"), [(2, 4, 7), (2, 5, 1009)])
def test_products_in_the_almost_reduced_range(w: int, digits: int, sample: int) -> None:
    """Odd n up to R / 8, a and b below 2n; the code asserts its own ranges."""
    r = 1 << (w * digits)
    cases = ((n, a, b) for n in range(1, r // 8 + 1, 2) for a in range(2 * n) for b in range(2 * n))
    for n, a, b in itertools.islice(cases, 0, None, sample):
        assert RowModulus.of(n, w, digits).mul(a, b) % n == a * b * pow(r, -1, n) % n


@pytest.mark.parametrize("digits", [4, 10, 20])
def test_real_digits(digits: int) -> None:
    w = 52
    r = 1 << (w * digits)
    generator = random.Random(digits)
    for n in [r // 8 - 1, r // 8 - 3, 1, *(generator.getrandbits(w * digits - 3) | 1 for _ in range(5))]:
        modulus = RowModulus.of(n, w, digits)
        inverse = pow(r, -1, n)
        operands = [0, 1, n - 1, n, 2 * n - 1, generator.randrange(n)]
        for a, b in [*itertools.product(operands, repeat=2), (r - 1, n), (r - 1, n - 1), (n, r - 1)]:
            assert modulus.mul(a, b) % n == a * b * inverse % n


def test_unfit_moduli_are_refused() -> None:
    with pytest.raises(ValueError, match="odd"):
        RowModulus.of(6, 4, 4)
    with pytest.raises(ValueError, match="R / 8"):
        RowModulus.of(2**16 - 1, 4, 4)


def test_exact_digits_of_every_short_row() -> None:
    """All rows of three places of the widest allowed words, with a fourth for the carry out."""
    w = 2
    for t in itertools.product(range(1 << (2 * w - 1)), repeat=3):
        value = from_words([0], w) + sum(v << (w * j) for j, v in enumerate(t))
        assert exact_digits([*t, 0], w) == list(to_words(value, 4, w))
