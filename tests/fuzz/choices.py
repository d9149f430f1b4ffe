# SPDX-License-Identifier: Apache-2.0
"""What a fuzzing harness makes of its input, as ``choices.hpp`` does in C++.

An input that is used up gives zeros, so that every input is a valid one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Choices, numbers and bytes of an input."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        """Return the next byte."""
        if self._at >= len(self._data):
            return 0
        self._at += 1
        return self._data[self._at - 1]

    def below(self, bound: int) -> int:
        """Return a number below `bound`, which is at most 65536."""
        high = self.byte() if bound > 256 else 0
        return (high << 8 | self.byte()) % bound

    def one_in(self, n: int) -> bool:
        """Return True for one of `n` values of a byte; False once the input is used up."""
        return self.byte() % n == n - 1

    def among(self, values: Sequence[T]) -> T:
        """Return one of `values`."""
        return values[self.below(len(values))]

    def piece(self, longest: int) -> bytes:
        """Return at most `longest` bytes of the input."""
        size = self.below(longest + 1)
        taken = self._data[self._at : self._at + size]
        self._at += len(taken)
        return taken

    def rest(self) -> bytes:
        """Return what is left of the input."""
        taken = self._data[self._at :]
        self._at = len(self._data)
        return taken

    def source(self) -> random.Random:
        """Return a generator with a seed of the input, so that short inputs make long numbers."""
        return random.Random(self.byte() << 8 | self.byte())


def integer(source: random.Random, bits: int) -> int:
    """Return an integer of at most `bits` bits, biased to edges."""
    kind = source.randrange(6)
    if bits == 0 or kind == 0:
        return source.randrange(4) if bits >= 2 else 0
    if kind == 1:
        return (1 << bits) - 1
    if kind == 2:
        return 1 << source.randrange(bits)
    return source.getrandbits(bits)


def mutated(data: bytes, seeds: Sequence[bytes], source: random.Random, longest: int) -> bytes:
    """Return `data` with some changes, at most `longest` bytes."""
    changed = bytearray(data)
    for _ in range(1 + source.randrange(8)):
        source.choice(_MUTATIONS)(changed, seeds, source)
    return bytes(changed[:longest])


def _flip_bit(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _set_byte(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    if data:
        data[source.randrange(len(data))] = source.choice(
            (0, 9, 10, 34, 44, 48, 127, 128, 255, source.randrange(256))
        )


def _insert(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    at = source.randrange(len(data) + 1)
    data[at:at] = source.randbytes(1 + source.randrange(8))


def _erase(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    at = source.randrange(len(data) + 1)
    del data[at : at + source.randrange(16)]


def _repeat(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    at, start = source.randrange(len(data) + 1), source.randrange(len(data) + 1)
    data[at:at] = data[start : start + source.randrange(64)]


def _cross(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> None:
    other = source.choice(seeds)
    data[source.randrange(len(data) + 1) :] = other[source.randrange(len(other) + 1) :]


_MUTATIONS: tuple[Callable[[bytearray, Sequence[bytes], random.Random], None], ...] = (
    _flip_bit,
    _set_byte,
    _insert,
    _erase,
    _repeat,
    _cross,
)
