# SPDX-License-Identifier: Apache-2.0
"""Finely integrated operand scanning (FIOS) Montgomery multiplication; modular addition and subtraction.

Sources
-------
- P. Giorgi, T. Izard, A. Tisserand, *Comparison of Modular Arithmetic Algorithms on GPUs*, section 2: FIOS
  in radix beta = 2^16 with 32-bit words, or 2^32; the basic addition and subtraction.
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): FIOS.

Form
----
k digits of d bits, beta = 2^d, R = beta^k. One inner loop adds a_j b_i and q n_j and shifts by a digit.

- :func:`koc_acar_kaliski`, the original: the carry of the first product is added to t[j + 1], from where it
  propagates as far as the data require (its ADD).
- :func:`product`: each of the two rows keeps its own carry. A product of digits and two digits are below
  beta^2, so that no carry exceeds a digit; the paper's three extra words are these two carries and the top
  digit.

The product is (a b + q n) / R < a + n, and one conditional subtraction follows. It is below n where a < n or
b <= n; operands are reduced in the paper.

Lanes: the paper has one thread for each number. :func:`product_by_lanes` and :func:`square_by_lanes` divide
the digits among lanes. Each lane has its own top digit, and passes the digit that it shifts out to the
lane below. The row of digit i of one lane in a square has each lane's digits j > i, doubled, and j = i once:
digits with i = j of different lanes are multiplied in two rows, all others in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.modmul.scalar64 import word_inverse
from reference.repr import Words, from_words, to_words


def negative_inverse(n: Sequence[int], d: int) -> int:
    """``-1/n mod beta``."""
    return -word_inverse(n[0], d) % (1 << d)


def _split(total: int, d: int) -> tuple[int, int]:
    """Carry and digit of ``a b + c + e``."""
    assert 0 <= total < 1 << (2 * d), "a sum exceeds two digits"
    return total >> d, total & ((1 << d) - 1)


def koc_acar_kaliski(a: Words, b: Words, n: Words, d: int) -> int:
    """``(a b + q n) / R`` by the original FIOS, with k + 2 digits of t."""
    k, n0 = len(n), negative_inverse(n, d)
    beta = 1 << d
    t = [0] * (k + 2)

    def add(j: int, carry: int) -> None:
        while carry:
            carry, t[j] = divmod(t[j] + carry, beta)
            j += 1

    for b_i in b:
        carry, s = _split(t[0] + a[0] * b_i, d)
        add(1, carry)
        m = s * n0 % beta
        carry, s = _split(s + m * n[0], d)
        assert s == 0
        for j in range(1, k):
            carry_a, s = _split(t[j] + a[j] * b_i + carry, d)
            add(j + 1, carry_a)
            carry, t[j - 1] = _split(s + m * n[j], d)
        carry, t[k - 1] = divmod(t[k] + carry, beta)
        t[k], t[k + 1] = t[k + 1] + carry, 0
    return from_words(t, d)


def product(a: Words, b: Words, n: Words, d: int) -> tuple[list[int], int]:
    """Digits and top digit of ``(a b + q n) / R``, which is below a + n, for a, b < R and odd n < R.

    >>> product((3, 7), (5, 1), (15, 15), 4)
    ([8, 7], 0)
    """
    k, n0 = len(n), negative_inverse(n, d)
    bound = from_words(a, d) + from_words(n, d)
    r, top = [0] * k, 0
    for b_i in b:
        carry, s = _split(a[0] * b_i + r[0], d)
        q = s * n0 % (1 << d)
        quotient_carry, s = _split(q * n[0] + s, d)
        assert s == 0, "q does not clear the lowest digit"
        for j in range(1, k):
            carry, s = _split(a[j] * b_i + r[j] + carry, d)
            quotient_carry, r[j - 1] = _split(q * n[j] + s + quotient_carry, d)
        top, r[k - 1] = _split(top + carry + quotient_carry, d)
        assert top <= 1
        assert from_words(r, d) + (top << (d * k)) < bound
    return r, top


def _row_of_lanes(
    t: list[tuple[list[int], int]], rows: Sequence[Words], first: int, b: int, n: Sequence[Words], d: int
) -> list[tuple[list[int], int]]:
    """``(t + b rows + q n) / beta``, rows from digit ``first`` to the one above the lane; digits and top."""
    n0 = negative_inverse(n[0], d)
    q = (t[0][0][0] + (rows[0][0] * b if first == 0 else 0)) * n0 % (1 << d)
    outgoing, kept = [], []
    for (r, top), row, own_n in zip(t, rows, n, strict=True):
        carry = quotient_carry = 0
        digits = []
        for j, n_j in enumerate(own_n):
            s = r[j]
            if j >= first:
                carry, s = _split(row[j] * b + s + carry, d)
            quotient_carry, s = _split(q * n_j + s + quotient_carry, d)
            digits.append(s)
        outgoing.append(digits[0])
        kept.append((digits[1:], top + carry + quotient_carry + row[-1] * b))
    assert outgoing[0] == 0, "q does not clear the lowest digit"
    result = []
    for (digits, above), incoming in zip(kept, [*outgoing[1:], 0], strict=True):
        top, digit = _split(above + incoming, d)
        result.append(([*digits, digit], top))
    return result


def _lanes_of(a: Words, lanes: int) -> list[Words]:
    k = len(a) // lanes
    assert k * lanes == len(a)
    return [tuple(a[i : i + k]) for i in range(0, len(a), k)]


def _sum_of_lanes(t: Sequence[tuple[list[int], int]], d: int) -> int:
    k = len(t[0][0])
    return sum(from_words([*digits, top], d) << (d * k * lane) for lane, (digits, top) in enumerate(t))


def product_by_lanes(a: Words, b: Words, n: Words, d: int, lanes: int) -> int:
    """``(a b + q n) / R``, as :func:`product` has it.

    >>> product_by_lanes((3, 7), (5, 1), (15, 15), 4, 2) == 8 + 7 * 16
    True
    """
    rows = [(*own, 0) for own in _lanes_of(a, lanes)]
    t = [([0] * (len(n) // lanes), 0)] * lanes
    for b_i in b:
        t = _row_of_lanes(t, rows, 0, b_i, _lanes_of(n, lanes), d)
        assert all(top <= (1 if lanes == 1 else 2) for _, top in t)
        assert _sum_of_lanes(t, d) < from_words(a, d) + from_words(n, d)
    return _sum_of_lanes(t, d)


def square_by_lanes(a: Words, n: Words, d: int, lanes: int) -> int:
    """``(a^2 + q n) / R``.

    >>> square_by_lanes((3, 7), (15, 15), 4, 1) == product_by_lanes((3, 7), (3, 7), (15, 15), 4, 2)
    True
    """
    own, k = _lanes_of(a, lanes), len(n) // lanes
    t = [([0] * k, 0)] * lanes
    for source in own:
        for i, a_i in enumerate(source):
            rows = []
            for digits in own:
                above = from_words(digits[i + 1 :], d) << (d * (i + 1))
                rows.append(to_words((digits[i] << (d * i)) + 2 * above, k + 1, d))
            t = _row_of_lanes(t, rows, i, a_i, _lanes_of(n, lanes), d)
            assert all(top <= 3 for _, top in t)
            assert _sum_of_lanes(t, d) < 3 << (d * len(n))
    return _sum_of_lanes(t, d)


def subtract_multiple(a: Sequence[int], b: Sequence[int], factor: int, d: int) -> tuple[list[int], int]:
    """Digits of ``a - b factor`` and the borrow, for factor 0 or 1."""
    borrow = 0
    digits = []
    for x, y in zip(a, b, strict=True):
        difference = x - y * factor - borrow
        digits.append(difference % (1 << d))
        borrow = int(difference < 0)
    return digits, borrow


def add_multiple(a: Sequence[int], b: Sequence[int], factor: int, d: int) -> tuple[list[int], int]:
    """Digits of ``a + b factor`` and the carry, for factor 0 or 1."""
    carry = 0
    digits = []
    for x, y in zip(a, b, strict=True):
        carry, digit = _split(x + y * factor + carry, d)
        digits.append(digit)
    return digits, carry


def reduce_once(r: Sequence[int], top: int, n: Words, d: int) -> Words:
    """``r + top R`` less n where it is not below n, without a branch on the digits."""
    _, borrow = subtract_multiple(r, n, 1, d)
    digits, borrow = subtract_multiple(r, n, top | (1 - borrow), d)
    assert borrow == top, "more than one n too large"
    return tuple(digits)


def montgomery(a: Words, b: Words, n: Words, d: int) -> Words:
    """``a b / R mod n``; below R for a, b < R, below n if a < n or b <= n."""
    return reduce_once(*product(a, b, n, d), n, d)


def add(a: Words, b: Words, n: Words, d: int) -> Words:
    """``a + b mod n`` for a, b < n.

    >>> add((9, 3), (8, 3), (13, 3), 4)
    (4, 3)
    """
    return reduce_once(*add_multiple(a, b, 1, d), n, d)


def subtract(a: Words, b: Words, n: Words, d: int) -> Words:
    """``a - b mod n`` for a, b < n.

    >>> subtract((8, 3), (9, 3), (13, 3), 4)
    (12, 3)
    """
    digits, borrow = subtract_multiple(a, b, 1, d)
    digits, carry = add_multiple(digits, n, borrow, d)
    assert carry == borrow, "the difference is out of range"
    return tuple(digits)


def residue(value: int, n: Words, d: int) -> Words:
    """Montgomery form of any integer."""
    return to_words((value << (d * len(n))) % from_words(n, d), len(n), d)
