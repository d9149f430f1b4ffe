# SPDX-License-Identifier: Apache-2.0
"""Montgomery multiplication in separated operand scanning (SOS) form.

Sources
-------
- P. L. Montgomery, *Modular multiplication without trial division*, Math. Comp. 44 (1985), function REDC.
- Ç. K. Koç, T. Acar, B. S. Kaliski, *Analyzing and comparing Montgomery multiplication algorithms*,
  IEEE Micro 16 (1996): SOS, next to CIOS (coarsely integrated) and FIOS (finely integrated).
- A. Menezes, P. van Oorschot, S. Vanstone, *Handbook of Applied Cryptography* (HAC): 14.12 (product),
  14.16 (squaring), 14.32 (Montgomery reduction), 14.36 (Montgomery multiplication).

Form
----
With radix W, L words, R = W^L, odd n < R and operands a, b < n::

    t      = a * b                            exact, 2L words, t_high = floor(t / R), t_low = t mod R
    M      = t_low * (-n^-1) mod R            one word at a time: m_i = (word i) * n0' mod W
    q      = (t_low + M * n) / R              exact division; q <= n < R: no carry word beyond L words
    result = t_high + q                       congruent to t / R mod n, below 2n; one subtraction at most

Bounds. t_low + M n <= (R - 1)(n + 1) < R (n + 1), so the integer q is at most n. The sum is
t_high + q = (t + M n) / R with t < n R and M n < R n, so it is below 2n.

Almost reduced form. For operands that are only below R (long ones skip comparing with n), t <= (R - 1)^2,
so t_high + q <= R - 2 + n. Where that reaches R, one n is subtracted: the result is below R again.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.repr import Words, from_words, to_words, words_for_bits


def word_inverse(n0: int, word_bits: int) -> int:
    """``n0**-1 mod 2**word_bits`` for odd ``n0``, by Newton's iteration ``x <- x (2 - n0 x)``.

    ``x = n0`` is correct to 3 bits (n0^2 = 1 mod 8), and every step doubles that.

    >>> word_inverse(7, 8)
    183
    """
    if n0 % 2 == 0:
        raise ValueError("an even word has no inverse modulo a power of two")
    mask = (1 << word_bits) - 1
    x, correct_bits = n0, 3
    while correct_bits < word_bits:
        x = x * (2 - n0 * x) & mask
        correct_bits *= 2
    return x & mask


def product(a: Words, b: Words, word_bits: int) -> Words:
    """Exact product, operand scanning (HAC 14.12). Result: ``len(a) + len(b)`` words.

    Range: a product word plus an accumulator word plus a carry word is at most
    (W-1)^2 + 2 (W-1) = W^2 - 1, so the carry is one word.
    """
    mask = (1 << word_bits) - 1
    t = [0] * (len(a) + len(b))
    for i, b_i in enumerate(b):
        carry = 0
        for j, a_j in enumerate(a):
            u = a_j * b_i + t[i + j] + carry
            assert u >> (2 * word_bits) == 0
            t[i + j], carry = u & mask, u >> word_bits
        t[i + len(a)] = carry
    return tuple(t)


def square(a: Words, word_bits: int) -> Words:
    """Exact square (HAC 14.16): off-diagonal products once, doubled, then the diagonal. ``2 len(a)`` words.

    L (L - 1) / 2 off-diagonal and L diagonal word products, against L^2 for :func:`product`. The off-diagonal
    sum is at most (a^2 - sum a_i^2 W^(2i)) / 2 < W^(2L) / 2, so doubling does not overflow.
    """
    mask = (1 << word_bits) - 1
    length = len(a)
    t = [0] * (2 * length)
    for i in range(length):
        carry = 0
        for j in range(i + 1, length):
            u = a[i] * a[j] + t[i + j] + carry
            t[i + j], carry = u & mask, u >> word_bits
        t[i + length] = carry
    top_bit = 0
    for j in range(2 * length):
        doubled = (t[j] << 1) | top_bit
        t[j], top_bit = doubled & mask, doubled >> word_bits
    assert top_bit == 0, "doubled off-diagonal sum overflows"
    carry = 0
    for i in range(length):
        low = t[2 * i] + (a[i] * a[i] & mask) + carry
        high = t[2 * i + 1] + (a[i] * a[i] >> word_bits) + (low >> word_bits)
        t[2 * i], t[2 * i + 1], carry = low & mask, high & mask, high >> word_bits
    assert carry == 0, "square overflows"
    return tuple(t)


@dataclass(frozen=True)
class Montgomery:
    """Precomputed data of an odd modulus and the arithmetic on it.

    ``n0_prime`` is -n^-1 mod W; ``r1`` is R mod n (the Montgomery form of 1), ``r2`` is R^2 mod n.
    Operands called ``a``, ``b`` are ``length`` words with value below n.
    """

    n: Words
    word_bits: int
    n0_prime: int
    r1: Words
    r2: Words

    @staticmethod
    def of(n: int, word_bits: int = 64, length: int | None = None) -> Montgomery:
        """Prepare an odd ``n >= 1``, in ``length`` words (default: as few as hold it).

        >>> m = Montgomery.of(2**127 - 1)
        >>> m.length, hex(m.n0_prime)
        (2, '0x1')
        """
        if n < 1 or n % 2 == 0:
            raise ValueError("Montgomery arithmetic needs an odd positive modulus")
        length = length or words_for_bits(n.bit_length(), word_bits)
        r = 1 << (word_bits * length)
        words = to_words(n, length, word_bits)
        return Montgomery(
            n=words,
            word_bits=word_bits,
            n0_prime=-word_inverse(words[0], word_bits) % (1 << word_bits),
            r1=to_words(r % n, length, word_bits),
            r2=to_words(r * r % n, length, word_bits),
        )

    @property
    def length(self) -> int:
        """Words per operand, L."""
        return len(self.n)

    @property
    def modulus(self) -> int:
        """The modulus as an integer."""
        return from_words(self.n, self.word_bits)

    def reduce_low(self, t_low: Words) -> Words:
        """``q = (t_low + M n) / R`` with ``M = -t_low / n mod R``; L words in, L words out, q <= n.

        Row i adds m_i n, which clears the lowest word, and drops that word. The window t stays below R, so it
        needs no word beyond L: (t + m_i n) / W <= (R - 1 + (W - 1) n) / W < R.
        """
        bits, mask = self.word_bits, (1 << self.word_bits) - 1
        length = self.length
        t = list(t_low)
        for i in range(length):
            m = t[0] * self.n0_prime & mask
            carry = 0
            row = []
            for j in range(length):
                u = t[j] + m * self.n[j] + carry
                row.append(u & mask)
                carry = u >> bits
            assert row[0] == 0, f"word {i} is not cleared"
            assert carry < 1 << bits, "row overflows one carry word"
            t = [*row[1:], carry]
        q = tuple(t)
        assert from_words(q, bits) <= self.modulus, "q exceeds n"
        return q

    def reduce(self, t: Words) -> Words:
        """Montgomery reduction (HAC 14.32) of 2L words with value t < n R: ``t / R mod n``, fully reduced."""
        length, bits = self.length, self.word_bits
        assert len(t) == 2 * length
        assert from_words(t, bits) < self.modulus << (bits * length), "t is not below n R"
        return self._add_and_subtract_once(t[length:], self.reduce_low(t[:length]))

    def mul(self, a: Words, b: Words) -> Words:
        """``a b / R mod n`` (HAC 14.36), fully reduced, for one operand at most n, the other below R."""
        return self.reduce(product(a, b, self.word_bits))

    def sqr(self, a: Words) -> Words:
        """``a^2 / R mod n`` for a <= n, fully reduced."""
        return self.reduce(square(a, self.word_bits))

    def amul(self, a: Words, b: Words) -> Words:
        """Almost reduced ``a b / R mod n``: operands and result below R."""
        return self._almost(product(a, b, self.word_bits))

    def asqr(self, a: Words) -> Words:
        """Almost reduced ``a^2 / R mod n``: operand and result below R."""
        return self._almost(square(a, self.word_bits))

    def add(self, a: Words, b: Words) -> Words:
        """``a + b mod n``: the sum is below 2n, so one subtraction."""
        self._check(a)
        self._check(b)
        return self._add_and_subtract_once(a, b)

    def sub(self, a: Words, b: Words) -> Words:
        """``a - b mod n``: subtract, and add n where that borrows."""
        self._check(a)
        self._check(b)
        difference, borrow = _subtract(a, b, self.word_bits)
        correction = self.n if borrow else (0,) * self.length
        result, carry = _add(difference, correction, self.word_bits)
        assert carry == borrow
        return result

    def neg(self, a: Words) -> Words:
        """``-a mod n``; 0 stays 0."""
        return self.sub((0,) * self.length, a)

    def to_mont(self, a: Words) -> Words:
        """``a R mod n`` = mul(a, R^2)."""
        return self.mul(a, self.r2)

    def from_mont(self, a: Words) -> Words:
        """``a / R mod n``, fully reduced, for a below R: t_high is 0 and q <= n."""
        return self.reduce(a + (0,) * self.length)

    def residue(self, value: int) -> Words:
        """Montgomery form of any integer."""
        return self.to_mont(to_words(value % self.modulus, self.length, self.word_bits))

    def value(self, a: Words) -> int:
        """The integer in [0, n) whose Montgomery form is ``a``."""
        return from_words(self.from_mont(a), self.word_bits)

    def _almost(self, t: Words) -> Words:
        total, carry = _add(t[self.length :], self.reduce_low(t[: self.length]), self.word_bits)
        reduced, borrow = _subtract(total, self.n, self.word_bits)
        assert carry <= borrow, "one n is not enough"
        return reduced if carry else total

    def _check(self, a: Words) -> None:
        assert len(a) == self.length
        assert from_words(a, self.word_bits) < self.modulus, "operand is not below n"

    def _add_and_subtract_once(self, a: Words, b: Words) -> Words:
        """``a + b`` for a + b < 2n, minus n where it reaches n; the sum may need one bit beyond L words."""
        total, carry = _add(a, b, self.word_bits)
        assert from_words((*total, carry), self.word_bits) < 2 * self.modulus, "sum is not below 2n"
        reduced, borrow = _subtract(total, self.n, self.word_bits)
        assert carry <= borrow, "a sum with a carry out is below n + R"
        return reduced if carry or not borrow else total


def _add(a: Words, b: Words, word_bits: int) -> tuple[Words, int]:
    mask, carry, result = (1 << word_bits) - 1, 0, []
    for x, y in zip(a, b, strict=True):
        u = x + y + carry
        result.append(u & mask)
        carry = u >> word_bits
    return tuple(result), carry


def _subtract(a: Words, b: Words, word_bits: int) -> tuple[Words, int]:
    mask, borrow, result = (1 << word_bits) - 1, 0, []
    for x, y in zip(a, b, strict=True):
        u = x - y - borrow
        result.append(u & mask)
        borrow = int(u < 0)
    return tuple(result), borrow
