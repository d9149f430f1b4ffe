# SPDX-License-Identifier: Apache-2.0
"""Products of powers ``prod_t g_t^(e_t)``.

Sources
-------
- E. G. Straus, *Addition chains of vectors*, Amer. Math. Monthly 71 (1964): one joint table (HAC 14.88).
- B. Möller, *Algorithms for multi-exponentiation*, SAC 2001: interleaving, one table per base.
- N. Pippenger, *On the evaluation of powers and related problems*, FOCS 1976: buckets.

All share one chain of squarings among the terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.modexp.windows import MAX_WIDTH, digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.modexp.monoid import Monoid

T = TypeVar("T")


def power_product_joint(ring: Monoid[T], bases: Sequence[T], exponents: Sequence[int], width: int = 1) -> T:
    """Straus with one table of all ``2^(width * terms)`` products of small powers (HAC 14.88)."""
    if not bases:
        return ring.one()
    table = [ring.one()]
    for base in bases:
        powers = [ring.one()]
        for _ in range((1 << width) - 1):
            powers.append(ring.mul(powers[-1], base))
        table = [ring.mul(entry, power) for power in powers for entry in table]
    bits = max(exponent.bit_length() for exponent in exponents)
    result = ring.one()
    for position in range(-(-bits // width) - 1, -1, -1):
        for _ in range(width):
            result = ring.sqr(result)
        mask = (1 << width) - 1
        index = sum((e >> (width * position) & mask) << (width * t) for t, e in enumerate(exponents))
        result = ring.mul(result, table[index])
    return result


def power_product_interleaved(
    ring: Monoid[T], bases: Sequence[T], exponents: Sequence[int], width: int | None = None
) -> T:
    """Straus, interleaved: a table of odd powers per base and sliding windows on one squaring chain.

    ``events[i]`` lists the odd powers to multiply in after the squaring that reaches bit i.
    """
    bits = max((exponent.bit_length() for exponent in exponents), default=0)
    width = width or interleaved_width(bits)
    events: list[list[T]] = [[] for _ in range(bits)]
    for base, exponent in zip(bases, exponents, strict=True):
        odd_powers = [base]
        square = ring.sqr(base) if width > 1 else base
        while len(odd_powers) < 1 << (width - 1):
            odd_powers.append(ring.mul(odd_powers[-1], square))
        for low, digit in sliding_digits(exponent, width):
            events[low].append(odd_powers[digit >> 1])
    result = ring.one()
    for i in range(bits - 1, -1, -1):
        result = ring.sqr(result)
        for power in events[i]:
            result = ring.mul(result, power)
    return result


def sliding_digits(exponent: int, width: int) -> list[tuple[int, int]]:
    """``(position, odd digit)`` pairs with ``exponent = sum digit 2^position`` and digits below 2^width.

    >>> sliding_digits(0b1011000, 3)
    [(3, 3), (6, 1)]
    """
    result, position = [], 0
    while exponent >> position:
        if not exponent >> position & 1:
            position += 1
            continue
        result.append((position, exponent >> position & ((1 << width) - 1)))
        position += width
    return result


def interleaved_width(bits: int) -> int:
    """Window of least expected cost 2^(w-1) + bits / (w + 1) per term."""
    return min(range(1, MAX_WIDTH + 1), key=lambda w: ((1 << (w - 1)) + bits / (w + 1), w))


def pippenger_cost(terms: int, bits: int, width: int) -> int:
    """Multiplications and squarings of :func:`power_product_buckets`.

    Per digit position: one multiplication a term, 2 (2^w - 1) to combine the buckets, w squarings.
    """
    return -(-max(bits, 1) // width) * (terms + 2 * ((1 << width) - 1) + width)


def pippenger_width(terms: int, bits: int) -> int:
    """Width of least :func:`pippenger_cost`."""
    return min(range(1, 17), key=lambda width: (pippenger_cost(terms, bits, width), width))


def power_product_buckets(
    ring: Monoid[T], bases: Sequence[T], exponents: Sequence[int], width: int | None = None
) -> T:
    """Pippenger: at each digit position multiply each base into the bucket of its digit.

    ``prod_d B_d^d`` is the product over d, downwards, of the running products B_(max) .. B_d.
    """
    bits = max((exponent.bit_length() for exponent in exponents), default=0)
    width = width or pippenger_width(len(bases), bits)
    columns = [digits(exponent, width, bits) for exponent in exponents]
    result = ring.one()
    for position in range(-(-bits // width) - 1, -1, -1):
        for _ in range(width):
            result = ring.sqr(result)
        buckets = [ring.one()] * (1 << width)
        for base, column in zip(bases, columns, strict=True):
            if column[position]:
                buckets[column[position]] = ring.mul(buckets[column[position]], base)
        running = total = ring.one()
        for bucket in reversed(buckets[1:]):
            running = ring.mul(running, bucket)
            total = ring.mul(total, running)
        result = ring.mul(result, total)
    return result


def interleaved_cost(terms: int, bits: int) -> float:
    """Expected multiplications and squarings of :func:`power_product_interleaved`."""
    width = interleaved_width(bits)
    return bits + terms * ((1 << (width - 1)) + bits / (width + 1))


def power_product(ring: Monoid[T], bases: Sequence[T], exponents: Sequence[int]) -> T:
    """The cheaper of interleaved Straus and Pippenger by expected counts; one for no terms."""
    bits = max((exponent.bit_length() for exponent in exponents), default=0)
    terms = len(bases)
    if interleaved_cost(terms, bits) <= pippenger_cost(terms, bits, pippenger_width(terms, bits)):
        return power_product_interleaved(ring, bases, exponents)
    return power_product_buckets(ring, bases, exponents)
