# SPDX-License-Identifier: Apache-2.0
"""The two groups: hashing into them, and secret powers of their elements, in batches."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import manymod
from manymod import IntArray, Plan, Status, ecc
from psi import p256
from psi.hashing import hash_to_field

__all__ = ["GROUPS", "ElementError", "Group", "ffdhe2048_prime"]

Elements = NDArray[np.uint8]  # uint8[N, W], an element's encoding a row


class ElementError(ValueError):
    """Some rows are no elements of the group that may occur.

    Attributes:
        indices: their positions, ascending.
    """

    def __init__(self, indices: Sequence[int]) -> None:
        shown = ", ".join(map(str, indices[:8])) + (", ..." if len(indices) > 8 else "")
        super().__init__(f"not elements of the group: items {shown}")
        self.indices = list(indices)


class Group(Protocol):
    """A cyclic group of prime order q in which the decisional Diffie-Hellman problem is hard.

    Powers by secret exponents are constant-time.
    """

    element_bytes: int

    def secret(self) -> int:
        """A random exponent, 1 <= k < q."""

    def inverse(self, k: int) -> int:
        """The exponent that undoes k."""

    def hashed(self, items: Sequence[bytes]) -> Elements:
        """An element of each item, a random oracle; of another width than encodings where that is faster."""

    def power(self, elements: Elements, k: int) -> Elements:
        """The k-th powers, encoded; elements of `hashed` or encodings that came from anywhere.

        Raises:
            ElementError: naming rows that encode no element, or the neutral one, which no honest party sends.
        """


def _refuse(bad: NDArray[np.bool_]) -> None:
    if bad.any():
        raise ElementError([int(item) for item in np.flatnonzero(bad)])


def _inverse(k: int, order: int) -> int:
    """1 / k modulo an odd prime, in constant time but for the conversions of Python's integers."""
    numbers = IntArray.from_ints([k], bits=order.bit_length() + 2)
    return int(manymod.invmod_sec(numbers, order)[0])


class _P256:
    """The curve P-256, points compressed."""

    element_bytes = 33

    def secret(self) -> int:
        return secrets.randbelow(p256.ORDER - 1) + 1

    def inverse(self, k: int) -> int:
        return _inverse(k, p256.ORDER)

    def hashed(self, items: Sequence[bytes]) -> Elements:
        return p256.hash_to_curve(items, b"manymod-psi-v1-P256_XMD:SHA-256_SSWU_RO_")

    def power(self, elements: Elements, k: int) -> Elements:
        powers, statuses = ecc.P256.multiply(
            k.to_bytes(32, "big"), elements, encoding="compressed", errors="status"
        )
        infinity = (elements == 0).all(axis=1)  # as manymod encodes it in an array
        _refuse((statuses != Status.OK) | infinity)
        result: Elements = powers
        return result


@cache
def ffdhe2048_prime() -> int:
    """The safe prime of the group ffdhe2048 of RFC 7919, appendix A.1, from its formula.

    p = 2^2048 - 2^1984 + (floor(2^1918 e) + 560316) 2^64 - 1.
    """
    guard = 64
    term = total = 1 << (1918 + guard)
    number = 0
    while term:
        number += 1
        term //= number
        total += term  # each term is less than 1 too small, and there are fewer than 2^9
    return 2**2048 - 2**1984 + ((total >> guard) + 560316) * 2**64 - 1


class _SafePrime:
    """The squares modulo a safe prime p = 2 q + 1.

    Exponents are even: 2 k in place of k. So the power of any number is a square, also of those that a peer
    sends and that are none, and reveals nothing of the parity of k; and hashes need not be squared.
    """

    element_bytes = 256
    _field_bytes = 272  # 128 bits more than p

    def __init__(self) -> None:
        self._p = ffdhe2048_prime()
        self._q = (self._p - 1) // 2
        self._power = Plan("powmod", modulus=self._p, secret=True)

    def secret(self) -> int:
        return secrets.randbelow(self._q - 1) + 1

    def inverse(self, k: int) -> int:
        return _inverse(4 * k, self._q)  # undoing the factor 2 of both

    def hashed(self, items: Sequence[bytes]) -> Elements:
        (numbers,) = hash_to_field(items, b"manymod-psi-v1-ffdhe2048_XMD:SHA-256_", self._field_bytes, 1)
        reduced = Plan("mulmod", modulus=self._p, secret=True)(numbers, 1)
        return reduced.to_bytes(self.element_bytes)

    def power(self, elements: Elements, k: int) -> Elements:
        numbers = IntArray.from_bytes(elements)
        _refuse((numbers < 2) | (numbers >= self._p - 1))
        exponent = IntArray.from_ints([2 * k], bits=self._p.bit_length())
        return self._power(numbers, exponent.limbs).to_bytes(self.element_bytes)


#: by their names on the command line and in the protocol
GROUPS: dict[str, Callable[[], Group]] = {"p256": _P256, "ffdhe2048": _SafePrime}
