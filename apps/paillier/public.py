# SPDX-License-Identifier: Apache-2.0
"""Encryption and the operations on ciphertexts, with a public key.

Sources: P. Paillier, "Public-key cryptosystems based on composite degree residuosity classes", 1999;
I. Damgård, M. Jurik, J. B. Nielsen, "A generalization of Paillier's public-key system with applications to
electronic voting", 2010, section 4.2 (powers of one randomiser).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import FixedBase, IntArray, Plan, Status

__all__ = ["CiphertextError", "PublicKey", "random_numbers"]

_UNIFORM_BITS = 128  # of so many bits more than n, a random number modulo n is within 2^-128 of uniform


class CiphertextError(ValueError):
    """Some ciphertexts are none: not in 1 .. n^2 - 1, or not coprime to n.

    Attributes:
        indices: their positions, ascending.
    """

    def __init__(self, indices: list[int]) -> None:
        shown = ", ".join(map(str, indices[:8])) + (", ..." if len(indices) > 8 else "")
        super().__init__(f"not a ciphertext of this key (out of range, or not coprime to n): items {shown}")
        self.indices = indices


def random_numbers(count: int, bits: int) -> IntArray:
    """Uniform secret numbers of `bits` bits, a multiple of 8, from the operating system."""
    size = bits // 8
    return IntArray.from_bytes(np.frombuffer(secrets.token_bytes(count * size), np.uint8).reshape(-1, size))


class PublicKey:
    """Encrypts, adds and multiplies; modulo n, so that a message m is an integer modulo n.

    A ciphertext of m is c = (1 + m n) rho mod n^2, rho being an n-th power that hides m:

    - with `randomiser` = h^n mod n^2, rho = (h^n)^a for a random a of half as many bits as n, from a comb
      that is computed once. That such powers cannot be told from all n-th powers is an assumption beyond
      Paillier's own (Damgård, Jurik, Nielsen 2010, section 4.2): short exponents in the group that h
      generates. The owner of the private key chooses h.
    - without, rho = r^n for a random r: slower, with no more than Paillier's assumption.

    Args:
        n: the modulus, odd, of at least 512 bits.
        randomiser: h^n mod n^2 as the key's owner published it, or None.

    Timing: constant-time in messages, in a and r, and in the factors of `times`; ciphertexts, `constants` and
    weights are public. What it does to Python's ints is not covered: give arrays whose width does not depend
    on secrets, as `messages` makes them.
    """

    def __init__(self, n: int, randomiser: int | None = None) -> None:
        if n % 2 == 0 or n < 1 << 511:
            raise ValueError("n must be odd and have at least 512 bits")
        self.n = n
        self.square = n * n
        self.bits = n.bit_length()
        self.randomiser = randomiser
        self._linear = Plan("fmamod", modulus=self.square, secret=True)
        self._product = Plan("mulmod", modulus=self.square, secret=True)
        self._power = Plan("powmod", modulus=self.square, secret=True)
        self._comb: FixedBase | None = None
        if randomiser is not None:
            if not 1 < randomiser < self.square or math.gcd(randomiser, n) != 1:
                raise ValueError("the randomiser must be in 2 .. n^2 - 1 and coprime to n")
            bits = 8 * ((self.bits + 15) // 16)
            self._comb = FixedBase(randomiser, self.square, exponent_bits=bits, secret=True)

    def messages(self, values: Sequence[int]) -> IntArray:
        """An array of messages as wide as n. Negative values stand for themselves plus n.

        Raises:
            OverflowError: if a value is not in -n/2 .. n/2; it names the item.
            TypeError: if it is no integer; it names the item.
        """
        numbers = IntArray.from_ints(values).to_ints()  # those of numpy would overflow
        for item, value in enumerate(numbers):
            if not -self.n < 2 * value < self.n:
                raise OverflowError(f"item {item} is not between -n/2 and n/2")
        return IntArray.from_ints([value % self.n for value in numbers], bits=self.bits)

    def numbers(self, messages: IntArray) -> list[int]:
        """Messages as integers between -n/2 and n/2."""
        return [value - self.n if 2 * value > self.n else value for value in messages]

    def ciphertexts(self, values: Sequence[int]) -> IntArray:
        """An array of ciphertexts that came from elsewhere, checked.

        Raises:
            CiphertextError: naming those that are not in 1 .. n^2 - 1 or not coprime to n.
        """
        array = IntArray.from_ints(values)
        self.check(array)
        return array

    def check(self, ciphertexts: IntArray) -> None:
        """Raise CiphertextError unless all are in 1 .. n^2 - 1 and coprime to n. Variable-time.

        A number with a common factor with n reveals that factor; no honest ciphertext has one.
        """
        _, statuses = manymod.invmod(ciphertexts, self.n, errors="status")
        bad: NDArray[np.bool_] = (statuses != Status.OK) | (ciphertexts >= self.square) | (ciphertexts < 0)
        if bad.any():
            raise CiphertextError([int(item) for item in np.flatnonzero(bad)])

    def masks(self, count: int) -> IntArray:
        """Ciphertexts of 0, each a new random one, by which `encrypt` multiplies."""
        if self._comb is not None:
            masks: IntArray = self._comb.powmod(random_numbers(count, self._comb.exponent_bits))
            return masks
        bits = 8 * ((self.bits + 7) // 8) + _UNIFORM_BITS
        return self._power(random_numbers(count, bits), self.n)

    def encrypt(self, messages: IntArray, masks: IntArray | None = None) -> IntArray:
        """Ciphertexts of messages.

        Args:
            messages: as `messages` makes them; numbers of n and more count modulo n.
            masks: of `masks`, as many as there are messages, each used once and then never again.
        """
        if masks is None:
            masks = self.masks(len(messages))
        if len(masks) != len(messages):
            raise ValueError(f"{len(masks)} masks for {len(messages)} messages")
        return self._product(self._linear(messages, self.n, 1), masks)  # (1 + n)^m = 1 + m n modulo n^2

    def add(self, first: IntArray, second: IntArray) -> IntArray:
        """Ciphertexts of sums, item by item."""
        return manymod.mulmod(first, second, self.square)

    def add_constants(self, ciphertexts: IntArray, constants: Sequence[int] | int) -> IntArray:
        """Ciphertexts of the messages plus public constants, one for each item or one for all."""
        offsets = manymod.fmamod(constants, self.n, 1, self.square)
        return manymod.mulmod(ciphertexts, offsets, self.square)

    def times(self, ciphertexts: IntArray, factors: IntArray) -> IntArray:
        """Ciphertexts of the messages times secret factors, constant-time; the time grows with their width.

        Args:
            ciphertexts: N of them.
            factors: N numbers, 0 or more; `messages` makes them as wide as n.

        Whoever knows the ciphertext and sees the product may test a guess of the factor: `rerandomise` it.
        """
        return self._power(ciphertexts, factors)

    def sum(self, ciphertexts: IntArray) -> IntArray:
        """One ciphertext of the sum of all messages."""
        return IntArray.from_ints([manymod.prodmod(ciphertexts, self.square)], bits=2 * self.bits)

    def dot(self, ciphertexts: IntArray, weights: Sequence[int]) -> IntArray:
        """One ciphertext of the sum of weight times message; weights are public integers of any sign.

        Raises:
            CiphertextError: where a weight is negative and its ciphertext not coprime to n.
        """
        try:
            product = manymod.multi_powmod(ciphertexts, list(weights), self.square)
        except manymod.ItemValueError:
            self.check(ciphertexts)
            raise
        return IntArray.from_ints([product], bits=2 * self.bits)

    def rerandomise(self, ciphertexts: IntArray) -> IntArray:
        """Other ciphertexts of the same messages, which nobody can tell from new ones."""
        return self._product(ciphertexts, self.masks(len(ciphertexts)))
