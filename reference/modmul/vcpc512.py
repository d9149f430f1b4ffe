# SPDX-License-Identifier: Apache-2.0
"""Vector carry propagation chains (VCPC): Montgomery multiplication of one instance across a vector.

Source
------
Y. Zhao, W. Pan, J. Lin, P. Liu, C. Xue, F. Zheng, *PhiRSA: Exploiting the Computing Power of Vector
Instructions on Intel Xeon Phi for RSA*: section 4 and Algorithm 3 in its appendix ("line" below).

Form
----
S, A, M are vectors of N elements of w bits, R = 2^(w N). A round takes in b_i, forms q and shifts S right by
one element. Carries out of an element are not added to its neighbour at once: the shift moves the neighbour
to their position, and the next round's addition includes them (a *chain*). There are four separate chains,
one for each addition of a round. Carries that are pending after the last round are added at the end.

Two forms:

- :func:`algorithm_3`, the paper's: low and high halves of all products, carries of w-bit elements.
- :func:`even_odd`, the form for AVX-512: full products of the even or of the odd elements, added to S as
  elements of 2w bits. A carry out of such an element belongs two elements of w bits higher, where the element
  of the same chain arrives after two shifts, so that the chains of even and of odd rounds are separate.
  Carries stay in masks (``MaskChains``) or are summed in vectors of counts (``CountChains``).

Bounds. A product is at most (W - 1)^2 = W^2 - 2W + 1 for W = 2^w, so up to 2W - 2 pending carries are added
to it without overflow. After all rounds S + pending = (a b + q n) / R with q < R, which is below 2n for
a < R, b <= n: one subtraction reduces fully.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.modmul.scalar64 import word_inverse
from reference.repr import from_words, to_words

if TYPE_CHECKING:
    from collections.abc import Sequence

Vector = list[int]
"""Elements, lowest first."""

Mask = list[int]
"""One bit an element."""


def vadc(s: Vector, k: Mask, addend: Sequence[int], bits: int) -> tuple[Vector, Mask]:
    """The paper's Vadc (vpadcd): element by element ``s + addend + k``; the carries out are the new mask.

    >>> vadc([255, 1], [1, 0], [255, 2], 8)
    ([255, 3], [1, 0])
    """
    sums = [x + y + carry for x, y, carry in zip(s, addend, k, strict=True)]
    return [total & ((1 << bits) - 1) for total in sums], [total >> bits for total in sums]


def carries_into(generate: int, propagate: int, carry: int, elements: int) -> tuple[int, int]:
    """Which elements receive a carry, by one addition of the masks; and the carry out.

    ``generate``: elements that overflowed; ``propagate``: elements of all ones; disjoint. An addition passes
    a carry through a run of ones of ``propagate`` and leaves 0 there, so that the bits that differ are those
    that a carry entered. It replaces the loops of lines 25-31 and 38-44, whose time depends on the data.

    >>> [bin(x) for x in carries_into(0b00001, 0b00110, 0, 5)]
    ['0b1110', '0b0']
    >>> carries_into(0, 0b11, 1, 2)
    (3, 1)
    """
    assert generate & propagate == 0
    total = propagate + ((generate << 1) | carry)
    return (total ^ propagate) & ((1 << elements) - 1), total >> elements


def add_vectors(s: Vector, addend: Sequence[int], bits: int) -> tuple[Vector, int]:
    """``s + addend`` as integers: element-wise sums, then the carries by :func:`carries_into`.

    >>> add_vectors([255, 255, 7], [1, 0, 0], 8)
    ([0, 0, 8], 0)
    """
    sums, out = vadc(s, [0] * len(s), addend, bits)
    ones = (1 << bits) - 1
    generate = from_words(out, 1)
    propagate = from_words([int(x == ones) for x in sums], 1)
    entering, carry = carries_into(generate, propagate, 0, len(s))
    return [(x + (entering >> j & 1)) & ones for j, x in enumerate(sums)], carry


def _finish(s: Vector, pending: int, n: int, bits: int) -> int:
    """``S + pending``, less n where that is at least n; lines 19-46."""
    top, low = divmod(pending, 1 << (bits * len(s)))
    total, carry = add_vectors(s, to_words(low, len(s), bits), bits)
    value = from_words(total, bits) + ((top + carry) << (bits * len(s)))
    assert value < 2 * n, "the sum of all rounds is not below 2n"
    return value - n if value >= n else value


def _mu(n: int, w: int) -> int:
    return -word_inverse(n & ((1 << w) - 1), w) % (1 << w)


def algorithm_3(a: int, b: int, n: int, w: int, elements: int) -> int:
    """``a b / R mod n``, fully reduced, for a < R, b <= n < R, n odd: the paper's Algorithm 3.

    >>> n = 2**64 - 59
    >>> algorithm_3(n - 2, n - 3, n, 16, 4) == 6 * pow(2, -64, n) % n
    True
    """
    ones = (1 << w) - 1
    a_vector, m_vector = to_words(a, elements, w), to_words(n, elements, w)
    mu = _mu(n, w)  # line 3
    k: list[Mask] = [[0] * elements for _ in range(4)]  # line 1
    s: Vector = [0] * elements  # line 2
    for b_i in to_words(b, elements, w):  # lines 4, 5
        s, k[0] = vadc(s, k[0], [x * b_i & ones for x in a_vector], w)  # lines 6, 7
        q = s[0] * mu & ones  # line 8
        if k[1][0]:  # line 9: the chain's carry as the write mask; it stays in the chain
            q = (q + mu) & ones
        s, k[1] = vadc(s, k[1], [x * q & ones for x in m_vector], w)  # lines 11, 12
        assert s[0] == 0, "q does not clear element 0"
        s = [*s[1:], 0]  # line 13
        s, k[2] = vadc(s, k[2], [x * b_i >> w for x in a_vector], w)  # lines 14, 15
        s, k[3] = vadc(s, k[3], [x * q >> w for x in m_vector], w)  # lines 16, 17
    aligned = sum((k[0][j] + k[1][j]) << (w * j) for j in range(elements))
    one_higher = sum((k[2][j] + k[3][j]) << (w * (j + 1)) for j in range(elements))
    return _finish(s, aligned + one_higher, n, w)


@dataclass
class MaskChains:
    """Carries of 2w-bit elements in masks: ``k[parity of the round][chain]``."""

    elements: int
    bits: int
    k: list[list[Mask]] = field(init=False)

    def __post_init__(self) -> None:
        self.k = [[[0] * self.elements for _ in range(4)] for _ in range(2)]

    def add(self, parity: int, chain: int, s: Vector, product: Sequence[int]) -> Vector:
        """The chain's Vadc in three instructions: product + k, S + that, compare."""
        with_carry = [x + carry for x, carry in zip(product, self.k[parity][chain], strict=True)]
        assert all(x >> self.bits == 0 for x in with_carry)
        total, self.k[parity][chain] = vadc(s, [0] * self.elements, with_carry, self.bits)
        return total

    def waiting_at_element_0(self, parity: int) -> int:
        """The carry that q must include although its chain has not added it yet."""
        return self.k[parity][1][0]

    def pending(self, w: int) -> int:
        """The carries that no chain has added after an odd round, as an integer."""
        shift_of = {(0, 0): 0, (0, 1): 0, (0, 2): 1, (0, 3): 1, (1, 0): 1, (1, 1): 1, (1, 2): 2, (1, 3): 2}
        return sum(
            carry << (w * (2 * j + shift))
            for (parity, chain), shift in shift_of.items()
            for j, carry in enumerate(self.k[parity][chain])
        )


@dataclass
class CountChains:
    """Counts of the carries of 2w-bit elements: ``due[parity]`` is added after that parity's next shift."""

    elements: int
    bits: int
    due: list[Vector] = field(init=False)

    def __post_init__(self) -> None:
        self.due = [[0] * self.elements for _ in range(2)]

    def add(self, parity: int, chain: int, s: Vector, product: Sequence[int]) -> Vector:
        """S + product; the first addition after the shift adds the counts, and each one increases them."""
        target = 1 - parity if chain < 2 else parity
        if chain == 2:
            product = [x + count for x, count in zip(product, self.due[target], strict=True)]
            assert all(x >> self.bits == 0 for x in product)
            self.due[target] = [0] * self.elements
        total, carries = vadc(s, [0] * self.elements, product, self.bits)
        self.due[target] = [count + carry for count, carry in zip(self.due[target], carries, strict=True)]
        assert max(self.due[target]) <= 4
        return total

    def waiting_at_element_0(self, parity: int) -> int:
        """Always 0: counts are added before their element becomes the lowest."""
        del parity
        return 0

    def pending(self, w: int) -> int:
        """The counts that are due after an odd round, as an integer."""
        return sum(
            count << (w * (2 * j + 1 + parity))
            for parity in range(2)
            for j, count in enumerate(self.due[parity])
        )


def even_odd(a: int, b: int, n: int, w: int, elements: int, chains: MaskChains | CountChains) -> int:
    """``a b / R mod n``, fully reduced, for a < R, b <= n < R, n odd: the form of the AVX-512 kernels.

    ``elements`` is even; ``chains`` are fresh ones of ``elements / 2`` elements of 2w bits.

    >>> n = 2**64 - 59
    >>> even_odd(n - 2, n - 3, n, 16, 4, MaskChains(2, 32)) == 6 * pow(2, -64, n) % n
    True
    >>> even_odd(n - 2, n - 3, n, 16, 4, CountChains(2, 32)) == 6 * pow(2, -64, n) % n
    True
    """
    ones = (1 << w) - 1
    a_vector, m_vector = to_words(a, elements, w), to_words(n, elements, w)
    mu = _mu(n, w)
    s: Vector = [0] * (elements // 2)
    for i, b_i in enumerate(to_words(b, elements, w)):
        parity = i % 2
        s = chains.add(parity, 0, s, [x * b_i for x in a_vector[0::2]])  # lines 6, 7
        q = (s[0] + chains.waiting_at_element_0(parity)) * mu & ones  # lines 8-10
        s = chains.add(parity, 1, s, [x * q for x in m_vector[0::2]])  # lines 11, 12
        assert s[0] & ones == 0, "q does not clear element 0"
        s = list(to_words(from_words(s, 2 * w) >> w, elements // 2, 2 * w))  # line 13
        s = chains.add(parity, 2, s, [x * b_i for x in a_vector[1::2]])  # lines 14, 15
        s = chains.add(parity, 3, s, [x * q for x in m_vector[1::2]])  # lines 16, 17
    return _finish(s, chains.pending(w), n, 2 * w)
