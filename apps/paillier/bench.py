# SPDX-License-Identifier: Apache-2.0
"""Rates beside python-paillier (`phe`), which computes with GMP where gmpy2 is installed."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable
from pathlib import Path

import phe

import manymod
import pairwise
from paillier.keys import PrivateKey
from paillier.public import PublicKey

__all__ = ["bench"]

_PEER_ITEMS = 16


def bench(bits: int, items: int, output: Path | None) -> None:
    """Measure encryption, sums, products and decryption with one thread; phe is variable-time."""
    pairwise.pin_to_one_cpu()
    key = PrivateKey.generate(bits)
    public, plain = key.public_key, PublicKey(key.public_key.n)
    peer_public = phe.PaillierPublicKey(public.n)
    peer = phe.PaillierPrivateKey(peer_public, key.p, key.q)
    values = [secrets.randbelow(2**32) for _ in range(items)]
    messages = public.messages(values)
    masks = public.masks(items)
    encrypted = public.encrypt(messages, masks)
    numbers = encrypted.to_ints()
    few = numbers[:_PEER_ITEMS]
    factors = manymod.IntArray.from_ints(values, bits=32)

    def times(number: int, value: int) -> int:
        product: int = phe.EncryptedNumber(peer_public, number)._raw_mul(value)
        return product

    def added(numbers: Iterable[int]) -> None:
        total = phe.EncryptedNumber(peer_public, 1)
        for number in numbers:
            total = phe.EncryptedNumber(peer_public, total._raw_add(number, total.ciphertext(False)))

    def peer_encrypt() -> None:
        deque(map(peer_public.raw_encrypt, values[: len(few)]), 0)

    def peer_decrypt() -> None:
        deque(map(peer.raw_decrypt, few), 0)

    def peer_times() -> None:
        deque(map(times, numbers, values), 0)

    def peer_dot() -> None:
        added(map(times, numbers, values))

    def peer_sum() -> None:
        added(numbers)

    count = len(few)
    rows = [
        pairwise.compare(
            "encrypt, powers of h^n", items, lambda: public.encrypt(messages), "phe", count, peer_encrypt
        ),
        pairwise.compare("encrypt, r^n", items, lambda: plain.encrypt(messages), "phe", count, peer_encrypt),
        pairwise.single("encrypt, masks made before", items, lambda: public.encrypt(messages, masks)),
        pairwise.compare("decrypt", items, lambda: key.decrypt(encrypted), "phe", count, peer_decrypt),
        pairwise.compare(
            "multiply by 32 bits", items, lambda: public.times(encrypted, factors), "phe", items, peer_times
        ),
        pairwise.compare(
            "weighted sum, 32 bits", items, lambda: public.dot(encrypted, values), "phe", items, peer_dot
        ),
        pairwise.compare("sum", items, lambda: public.sum(encrypted), "phe", items, peer_sum),
    ]
    pairwise.report(rows, output, ("phe", "gmpy2"), bits=bits)
