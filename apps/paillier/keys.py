# SPDX-License-Identifier: Apache-2.0
"""Private keys: generation, and decryption by the Chinese remainder theorem."""

from __future__ import annotations

import math
import secrets

from cryptography.hazmat.primitives.asymmetric import rsa

import manymod
from manymod import IntArray, Plan
from paillier.public import PublicKey

__all__ = ["PrivateKey"]


def _secret_plan(op: str, modulus: int) -> Plan:
    return Plan(op, modulus=modulus, secret=True)


class _Prime:
    """Decryption modulo one prime factor p of n.

    Paillier 1999, section 7:

        m mod p = L(c^(p-1) mod p^2) h mod p,   L(x) = (x - 1) / p,   h = L((1 + n)^(p-1) mod p^2)^-1 mod p.

    The division by p leaves no remainder, so it is a product too: L(x) < p is (x - 1) p^-1 modulo the odd
    number p + 2, which has no factor in common with p. Every step is constant-time; numbers that all items
    share are rows of limbs, whose width is that of p.
    """

    def __init__(self, p: int, n: int) -> None:
        self._exponent = IntArray.from_ints([p - 1], bits=p.bit_length()).limbs
        self._power = _secret_plan("powmod", p * p)
        self._less_one = _secret_plan("submod", p + 2)
        self._quotient = _secret_plan("mulmod", p + 2)
        self._product = _secret_plan("mulmod", p)
        self._inverse_of_p = manymod.invmod_sec(IntArray.from_ints([p]), p + 2).limbs
        logarithm = self._logarithm(IntArray.from_ints([1 + n]))
        self._h = manymod.invmod_sec(logarithm, p).limbs

    def _logarithm(self, ciphertexts: IntArray) -> IntArray:
        """L(c^(p-1) mod p^2)."""
        powers = self._power(ciphertexts, self._exponent)
        return self._quotient(self._less_one(powers, 1), self._inverse_of_p)

    def decrypt(self, ciphertexts: IntArray) -> IntArray:
        """The messages modulo p."""
        return self._product(self._logarithm(ciphertexts), self._h)


class PrivateKey:
    """Decrypts ciphertexts of n = p q.

    Args:
        p: an odd prime, of as many bits as q, 256 at least.
        q: another one. The product of p and q must have no factor in common with (p - 1) (q - 1). Whether
            they are prime is not tested: with others, decryption gives wrong numbers.
        randomiser: of the public key.

    Every step of a decryption is constant-time; see `PublicKey` for what Python's ints do. A decryption does
    not check its result, as signatures of RSA do: a fault of the hardware may give a number that reveals p.
    """

    def __init__(self, p: int, q: int, randomiser: int | None = None) -> None:
        if min(p, q) < 0 or p == q or p % 2 == 0 or q % 2 == 0 or p.bit_length() != q.bit_length():
            raise ValueError("p and q must be positive, odd, of the same length, and differ")
        n = p * q
        if math.gcd(n, (p - 1) * (q - 1)) != 1:
            raise ValueError("n must have no factor in common with (p - 1) (q - 1)")
        self.public_key = PublicKey(n, randomiser)
        self.p, self.q = p, q
        self._modulo_p, self._modulo_q = _Prime(p, n), _Prime(q, n)
        self._difference = _secret_plan("submod", q)
        self._product = _secret_plan("mulmod", q)
        self._recombined = _secret_plan("fmamod", n)
        factor = IntArray.from_ints([p])
        self._p_row = factor.limbs
        self._inverse_of_p = manymod.invmod_sec(factor, q).limbs

    @classmethod
    def generate(cls, bits: int = 2048) -> PrivateKey:
        """A new key with a randomiser.

        Args:
            bits: of n; even, 1024 or more. NIST SP 800-57 part 1 gives 2048 bits 112 bits of security, and
                3072 bits 128.

        p = q = 3 mod 4 and gcd(p - 1, q - 1) = 2, so that h = -x^2 for a random x generates, but for a
        negligible fraction of x, all numbers of Jacobi symbol 1 (Damgård, Jurik, Nielsen 2010, section 4.2).
        The primes are those of OpenSSL's RSA keys, for this package does not generate primes.

        Raises:
            ValueError: if `bits` is odd or less than 1024.
        """
        if bits < 1024 or bits % 2:
            raise ValueError(f"bits must be even and at least 1024, not {bits}")
        while True:
            p, q = _blum_prime(bits), _blum_prime(bits)
            if p != q and math.gcd(p - 1, q - 1) == 2 and math.gcd(p * q, (p - 1) * (q - 1)) == 1:
                break
        n = p * q
        h = -pow(secrets.randbelow(n - 1) + 1, 2, n)
        return cls(p, q, manymod.powmod(h % n, n, n * n))

    def decrypt(self, ciphertexts: IntArray) -> IntArray:
        """The messages, as wide as n.

        Raises:
            CiphertextError: naming the items that are no ciphertexts; nothing is decrypted then.

        Garner's formula: m = m_p + p ((m_q - m_p) / p mod q).
        """
        self.public_key.check(ciphertexts)
        m_p, m_q = self._modulo_p.decrypt(ciphertexts), self._modulo_q.decrypt(ciphertexts)
        quotient = self._product(self._difference(m_q, m_p), self._inverse_of_p)
        return self._recombined(quotient, self._p_row, m_p)


def _blum_prime(bits: int) -> int:
    """A random prime of bits / 2 bits that is 3 modulo 4, its top two bits set."""
    while True:
        numbers = rsa.generate_private_key(65537, bits).private_numbers()
        for prime in (numbers.p, numbers.q):
            if prime % 4 == 3:
                return prime
