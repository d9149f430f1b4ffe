# SPDX-License-Identifier: Apache-2.0
"""Residues by folding and long division with lazy quotient digits, for element-wise products on GPUs.

Sources
-------
- D. E. Knuth, *The Art of Computer Programming*, volume 2, section 4.3.1, algorithm D: the normalised
  divisor, and quotient digits estimated from leading words.
- N. Möller, T. Granlund, *Improved division by invariant integers*, IEEE Transactions on Computers 60
  (2011): a reciprocal of the leading word in place of a division.

Form
----
Words of w bits, W >= 2 of them; N = n 2^shift with 2^(w W - 1) <= N < 2^(w W). A remainder r is extended by
e bits: T = 2^e r + digit, r = T - q N, where with a reciprocal v of N, 0 <= 2^(w W + w - 1) / N - v < 2,

    u = floor(T / 2^(w W - 1)),  q = floor(u v / 2^w).

No digit is corrected. For r < 4 N and e <= w - 3: u < 2^w, and T / N < q + 4, so the next r is below 4 N;
for e <= w - 4 it is below 3 N. The last digit is so short, and two conditional subtractions follow. At last
the `shift` zero bits that extended the number are dropped: (a 2^shift mod n 2^shift) / 2^shift = a mod n.

Folding comes before: F = 2^(w (W + 3)) mod N. The upper W + 3 words of a product are extended by its other
words, each time with t F in place of t 2^(w (W + 3)), t the top word. A carry out of W + 3 words counts as
another F. The W + 3 words that are left are extended by `shift` zero bits and divided.

Lanes: lane l holds words l k .. (l + 1) k - 1. What leaves them in a row is added to the lane above in the
next one. So the top lane estimates q from a number that is a little too small, and whose part above its
words may be -1.
"""

from __future__ import annotations

from dataclasses import dataclass


def reciprocal(divisor: int, words: int, bits: int) -> int:
    """Return v for a normalised divisor N, from its top ``bits + 1`` bits.

    >>> hex(reciprocal(0xC000_0000_0000_0001, 2, 32))
    '0xaaaaaaaa'
    """
    assert divisor.bit_length() == words * bits
    leading = divisor >> (words * bits - bits - 1)
    v = ((1 << 2 * bits) - 1) // (leading + 1)
    assert v < 1 << bits
    assert v * divisor <= 1 << (words * bits + bits - 1) < (v + 2) * divisor
    return v


@dataclass
class Remainder:
    """A remainder modulo N whose words are spread over lanes."""

    divisor: int
    words: int
    bits: int
    lanes: int = 1

    def __post_init__(self) -> None:
        """The remainder is 0."""
        assert self.words % self.lanes == 0
        self.v = reciprocal(self.divisor, self.words, self.bits)
        self.lane_bits = self.words // self.lanes * self.bits
        self.low = [0] * self.lanes
        self.over = [0] * self.lanes

    @property
    def value(self) -> int:
        """The number: each lane's words, and what belongs above them."""
        parts = zip(self.low, self.over, strict=True)
        return sum(
            (low + (over << self.lane_bits)) << lane * self.lane_bits
            for lane, (low, over) in enumerate(parts)
        )

    def start(self, number: int) -> None:
        """Set the remainder to a number below 4 N."""
        assert 0 <= number < 4 * self.divisor
        mask = (1 << self.lane_bits) - 1
        self.low = [number >> lane * self.lane_bits & mask for lane in range(self.lanes)]
        self.over = [0] * (self.lanes - 1) + [number >> self.words * self.bits]

    def quotient(self, extension: int) -> int:
        """Return q, as the top lane sees the remainder."""
        w = self.bits
        top = (self.over[-1] << w) + (self.low[-1] >> (self.lane_bits - w))
        u = 0 if self.over[-1] < 0 else top >> (w - 1 - extension)
        assert 0 <= u < 1 << w
        return u * self.v >> w

    def append(self, digit: int, extension: int) -> None:
        """Extend the remainder by a digit of that many bits, and subtract a multiple of N."""
        w, last = self.bits, self.lanes - 1
        assert 0 <= digit < 1 << extension <= 1 << (w - 3)
        before = self.value
        assert 0 <= before < 4 * self.divisor
        q = self.quotient(extension)
        minus = (1 << self.words * w) - self.divisor
        mask = (1 << self.lane_bits) - 1
        low, over = [], []
        for lane in range(self.lanes):
            own = self.low[lane] + (self.over[lane] << self.lane_bits if lane == last else 0)
            pending = self.over[lane - 1] if lane > 0 else 0
            total = ((own + pending) << extension) + (digit if lane == 0 else 0)
            total += q * (minus >> lane * self.lane_bits & mask)
            low.append(total & mask)
            over.append(total >> self.lane_bits)
            assert lane == last or over[-1] < 1 << w
        over[last] -= q
        self.low, self.over = low, over
        assert self.value == (before << extension) + digit - q * self.divisor
        assert 0 <= self.value < (4 if extension == w - 3 else 3) * self.divisor


FOLDED = 3
"""Words above W of a number that is being folded."""


@dataclass
class Folded:
    """A number of W + 3 words, its lower W words spread over lanes; ``out`` leaves the words of a lane."""

    factor: int
    words: int
    bits: int
    lanes: int
    carries: int = 0

    def __post_init__(self) -> None:
        """The number is 0."""
        assert 0 <= self.factor < 1 << self.words * self.bits
        self.lane_bits = self.words // self.lanes * self.bits
        self.low = [0] * self.lanes
        self.out = [0] * self.lanes
        self.upper = [0, 0]

    @property
    def value(self) -> int:
        """The number, what leaves a lane added to the one above."""
        lanes = zip(self.low, self.out, strict=True)
        value = sum(
            (low + (out << self.lane_bits)) << lane * self.lane_bits for lane, (low, out) in enumerate(lanes)
        )
        return value + (self.upper[0] + (self.upper[1] << self.bits) << (self.words + 1) * self.bits)

    def start(self, number: int) -> None:
        """Set the number."""
        mask, w = (1 << self.lane_bits) - 1, self.bits
        self.low = [number >> lane * self.lane_bits & mask for lane in range(self.lanes)]
        above = [number >> (self.words + i) * w & ((1 << w) - 1) for i in range(FOLDED)]
        self.out = [0] * (self.lanes - 1) + [above[0]]
        self.upper = above[1:]
        assert self.value == number

    def append(self, word: int) -> None:
        """Extend the number by a word and fold its top word."""
        w, mask, last = self.bits, (1 << self.lane_bits) - 1, self.lanes - 1
        before = self.value
        t, high = self.upper[1], self.out[last] >> w
        assert high <= 2
        top = self.upper[0] + high
        carry, top = top >> w, top & ((1 << w) - 1)
        assert carry <= 1
        self.upper = [self.out[last] & ((1 << w) - 1), top]
        self.carries += carry
        low, out = [], []
        for lane in range(self.lanes):
            pending = self.out[lane - 1] << w if lane > 0 else 0
            total = (self.low[lane] << w) + pending + (word if lane == 0 else 0)
            total += (t + carry) * (self.factor >> lane * self.lane_bits & mask)
            low.append(total & mask)
            out.append(total >> self.lane_bits)
            assert out[-1] < 1 << (w + 2)
        self.low, self.out = low, out
        whole = 1 << (self.words + FOLDED) * w
        assert self.value == (before << w) + word + (t + carry) * (self.factor - whole)
        assert self.value < whole + (1 << (self.words + 2) * w)


def extended(number: int, left: int, r: Remainder, low: int) -> int:
    """Return ``number`` below 4 N, extended by the ``left`` bits of ``low``, modulo N."""
    bits = r.bits
    r.start(number)
    while left > 0:
        extension = bits - 3 if left > 2 * (bits - 4) else min(bits - 4, left)
        left -= extension
        r.append(low >> left & ((1 << extension) - 1), extension)
    value = r.value
    for _ in range(2):
        if value >= r.divisor:
            value -= r.divisor
    assert value < r.divisor
    return value


def residue(number: int, n: int, words: int, bits: int, lanes: int = 1) -> int:
    """Return number mod n, for ``number`` below 2^(2 w W) and ``n`` below 2^(w W), W > 3.

    >>> residue(10**70, 999_999, 4, 32) == 10**70 % 999_999
    True
    """
    size, extra = words * bits, FOLDED * bits
    shift = size - n.bit_length()
    divisor = n << shift
    factor = extended((1 << size) - divisor, extra, Remainder(divisor, words, bits, lanes), 0)
    assert factor == (1 << (size + extra)) % divisor
    folded = Folded(factor, words, bits, lanes)
    below = size - extra
    folded.start(number >> below)
    while below > 0:
        below -= bits
        folded.append(number >> below & ((1 << bits) - 1))
    whole = folded.value
    r = Remainder(divisor, words, bits, lanes)
    value = extended(whole >> extra, extra + shift, r, (whole & ((1 << extra) - 1)) << shift)
    assert value % (1 << shift) == 0
    return value >> shift


def product(a: int, b: int, n: int, words: int, bits: int, lanes: int = 1) -> int:
    """Return a b mod n, for a and b below 2^(w W)."""
    assert max(a, b) >> words * bits == 0
    return residue(a * b, n, words, bits, lanes)


def divided(number: int, n: int, words: int, bits: int, least_bits: int) -> int:
    """Return number mod n by extension alone, in steps that depend on lengths only, as OpenCL devices do.

    On input: ``number`` < 2^(2 w W), so that its upper words are a remainder below 2 N; n has at least
    ``least_bits`` bits, which is all that the number of steps depends on.
    """
    size, step = words * bits, bits - 4
    assert least_bits <= n.bit_length() <= size
    shift = size - n.bit_length()
    r = Remainder(n << shift, words, bits)
    r.start(number >> size)
    for left in range(size, 0, -step):
        extension = min(step, left)
        r.append(number >> (left - extension) & ((1 << extension) - 1), extension)
    left = shift
    for _ in range(-(-(size - least_bits) // step)):
        r.append(0, min(step, left))
        left -= min(step, left)
    assert left == 0
    value = r.value
    for _ in range(2):
        value -= r.divisor if value >= r.divisor else 0
    assert value < r.divisor
    assert value % (1 << shift) == 0
    return value >> shift
