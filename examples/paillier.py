#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paillier's cryptosystem on batches, in constant time: sums and multiples of numbers that stay encrypted.

Source: P. Paillier, "Public-key cryptosystems based on composite degree residuosity classes", 1999. The
public key is n = p q, a ciphertext of m < n is c = (1 + m n) r^n mod n^2, and the product of two
ciphertexts is one of the sum. To decrypt, modulo p as modulo q,

    m mod p = (c^(p-1) mod p^2 - 1) / p * h mod p,    h = ((1 + n)^(p-1) mod p^2 - 1) / p)^-1 mod p.

What is covered: every operation on a secret number is a call with secret=True on arrays whose width depends
on the key's size alone. Secret are the messages, r, p, q, what is computed of them, and the factors of
`times`; public are n, ciphertexts, the number of items and the size of the key. The division by p, which
leaves no remainder, is a product too: x / p < p is x p^-1 modulo the odd number p + 2, which has no factor
in common with p.

What is not covered: the generation of keys, and the Python ints that numbers come from and go to. Python
converts them in a time that depends on their lengths, and cannot zero them: a program that must not reveal
a message's length keeps it in an IntArray or in bytes. Decryption does not check its result as RSA does: a
fault in the hardware may give an answer that reveals p.
"""

from __future__ import annotations

import secrets

import numpy as np
from cryptography.hazmat.primitives.asymmetric import rsa

import manymod
from manymod import IntArray, Plan


def secret_plan(op: str, modulus: int) -> Plan:
    """A constant-time plan for one odd modulus."""
    return Plan(op, modulus=modulus, secret=True)


class PublicKey:
    """Encrypts, adds and multiplies."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.bits = n.bit_length()
        self._product = secret_plan("mulmod", n * n)
        self._sum = secret_plan("addmod", n * n)
        self._power = secret_plan("powmod", n * n)

    def messages(self, values: list[int]) -> IntArray:
        """An array of messages, 0 <= m < n, whose width does not depend on them."""
        return IntArray.from_ints(values, bits=self.bits)

    def encrypt(self, messages: IntArray) -> IntArray:
        """Ciphertexts of messages."""
        size = (self.bits + 7) // 8 + 16  # so much wider than n that r mod n is as good as uniform
        noise = np.frombuffer(secrets.token_bytes(len(messages) * size), np.uint8).reshape(-1, size)
        masks = self._power(IntArray.from_bytes(noise), self.n)
        return self._product(self._sum(self._product(messages, self.n), 1), masks)

    def add(self, first: IntArray, second: IntArray) -> IntArray:
        """Ciphertexts of sums; ciphertexts are public, and so is this product."""
        return manymod.mulmod(first, second, self.n * self.n)

    def times(self, ciphertexts: IntArray, factors: IntArray) -> IntArray:
        """Ciphertexts of the messages times secret factors, an array as `messages` makes it."""
        return self._power(ciphertexts, factors)


class _Prime:
    """Decryption modulo one prime factor of n."""

    def __init__(self, p: int, n: int) -> None:
        self._exponent = IntArray.from_ints([p - 1], bits=p.bit_length())
        self._power = secret_plan("powmod", p * p)
        self._less_one = secret_plan("submod", p + 2)
        self._quotient = secret_plan("mulmod", p + 2)
        self._product = secret_plan("mulmod", p)
        self._inverse_of_p = manymod.invmod(IntArray.from_ints([p]), p + 2, secret=True)
        logarithm = self._logarithm(IntArray.from_ints([1 + n]))
        self._h = manymod.invmod(logarithm, p, secret=True)

    def _logarithm(self, ciphertexts: IntArray) -> IntArray:
        """(c^(p-1) mod p^2 - 1) / p."""
        powers = self._power(ciphertexts, repeated(self._exponent, len(ciphertexts)))
        return self._quotient(self._less_one(powers, 1), repeated(self._inverse_of_p, len(powers)))

    def decrypt(self, ciphertexts: IntArray) -> IntArray:
        """The messages modulo p."""
        logarithms = self._logarithm(ciphertexts)
        return self._product(logarithms, repeated(self._h, len(logarithms)))


def repeated(number: IntArray, count: int) -> IntArray:
    """An array of `count` times the same number."""
    return IntArray.from_limbs(np.repeat(number.limbs, count, axis=0))


class PrivateKey:
    """Decrypts."""

    def __init__(self, p: int, q: int) -> None:
        n = p * q
        self.public_key = PublicKey(n)
        self._p, self._q = _Prime(p, n), _Prime(q, n)
        self._difference = secret_plan("submod", q)
        self._product_q = secret_plan("mulmod", q)
        self._product_n = secret_plan("mulmod", n)
        self._sum = secret_plan("addmod", n)
        self._p_value = IntArray.from_ints([p])
        self._inverse_of_p = manymod.invmod(self._p_value, q, secret=True)

    def decrypt(self, ciphertexts: IntArray) -> IntArray:
        """The messages, by Garner's formula m = m_p + p ((m_q - m_p) / p mod q)."""
        count = len(ciphertexts)
        m_p, m_q = self._p.decrypt(ciphertexts), self._q.decrypt(ciphertexts)
        t = self._product_q(self._difference(m_q, m_p), repeated(self._inverse_of_p, count))
        return self._sum(m_p, self._product_n(t, repeated(self._p_value, count)))


def main() -> None:
    """Add up salaries that nobody sees."""
    numbers = rsa.generate_private_key(65537, 2048).private_numbers()
    key = PrivateKey(numbers.p, numbers.q)
    public = key.public_key
    salaries, raises = [52_000, 61_500, 48_250, 0], [3, 2, 4, 7]
    encrypted = public.encrypt(public.messages(salaries))
    raised = public.times(encrypted, public.messages(raises))
    total = raised[0:1]
    for item in range(1, len(salaries)):
        total = public.add(total, raised[item : item + 1])
    decrypted = key.decrypt(IntArray.concatenate([encrypted, raised, total])).to_ints()
    products = [salary * factor for salary, factor in zip(salaries, raises, strict=True)]
    print(decrypted)
    if decrypted != [*salaries, *products, sum(products)]:
        raise SystemExit("wrong")


if __name__ == "__main__":
    main()
