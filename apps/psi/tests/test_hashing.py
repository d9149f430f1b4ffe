# SPDX-License-Identifier: Apache-2.0
"""Hashing to P-256 against the vectors of RFC 9380, appendix J.1.1, and against its definition on ints."""

from __future__ import annotations

import hashlib
import random

import gmpy2
import numpy as np
import pytest

from manymod import IntArray, ecc
from psi import p256
from psi.groups import ffdhe2048_prime
from psi.hashing import expand_messages

TAG = b"QUUX-V01-CS02-with-P256_XMD:SHA-256_SSWU_RO_"
VECTORS = {
    b"": "2c15230b26dbc6fc9a37051158c95b79656e17a1a920b11394ca91c44247d3e4"
    "8a7a74985cc5c776cdfe4b1f19884970453912e9d31528c060be9ab5c43e8415",
    b"abc": "0bb8b87485551aa43ed54f009230450b492fead5f1cc91658775dac4a3388a0f"
    "5c41b3d0731a27a7b14bc0bf0ccded2d8751f83493404c84a88e71ffd424212e",
    b"abcdef0123456789": "65038ac8f2b1def042a5df0b33b1f4eca6bff7cb0f9c6c1526811864e544ed80"
    "cad44d40a656e7aff4002a8de287abc8ae0482b5ae825822bb870d6df9b56ca3",
    b"q128_" + b"q" * 128: "4be61ee205094282ba8a2042bcb48d88dfbb609301c49aa8b078533dc65a0b5d"
    "98f8df449a072c4721d241a3b1236d3caccba603f916ca680f4539d2bfb3c29e",
    b"a512_" + b"a" * 512: "457ae2981f70ca85d8e24c308b14db22f3e3862c5ea0f652ca38b5e49cd64bc5"
    "ecb9f0eadc9aeed232dabc53235368c1394c78de05dd96893eefa62b0f4757dc",
}


def test_vectors() -> None:
    found = p256.hash_to_curve(list(VECTORS), TAG)
    assert [row.tobytes().hex() for row in found] == ["04" + vector for vector in VECTORS.values()]


def expanded(message: bytes, tag: bytes, size: int) -> bytes:
    """RFC 9380, section 5.3.1, as it is written."""
    tag += bytes([len(tag)])
    seed = hashlib.sha256(bytes(64) + message + size.to_bytes(2, "big") + b"\0" + tag).digest()
    blocks = [hashlib.sha256(seed + b"\1" + tag).digest()]
    while 32 * len(blocks) < size:
        mixed = bytes(a ^ b for a, b in zip(seed, blocks[-1], strict=True))
        blocks.append(hashlib.sha256(mixed + bytes([len(blocks) + 1]) + tag).digest())
    return b"".join(blocks)[:size]


@pytest.mark.parametrize("size", [1, 32, 33, 96, 272, 8160])
def test_expansion(size: int) -> None:
    messages = [b"", b"a", bytes(range(200))]
    assert list(expand_messages(messages, b"tag", size)) == [expanded(m, b"tag", size) for m in messages]


@pytest.mark.parametrize(("tag", "size"), [(b"", 32), (bytes(256), 32), (b"tag", 8161), (b"tag", 0)])
def test_what_is_not_expanded(tag: bytes, size: int) -> None:
    with pytest.raises(ValueError, match="a tag has 1 to 255 bytes"):
        list(expand_messages([b""], tag, size))


def mapped(u: int) -> tuple[int, int]:
    """RFC 9380, section 6.6.2, as it is written."""
    p, a, b, z = p256.P, p256.A, p256.B, p256.Z
    inverse = pow(z * z * pow(u, 4, p) + z * u * u, p - 2, p)
    x1 = -b * pow(a, -1, p) * (1 + inverse) % p if inverse else b * pow(z * a, -1, p) % p
    x2 = z * u * u * x1 % p
    for x in (x1, x2):
        square = (x**3 + a * x + b) % p
        y = pow(square, (p + 1) // 4, p)
        if y * y % p == square:
            return x, y if y % 2 == u % 2 else p - y
    raise AssertionError("one of both is a square")


def test_the_map() -> None:
    """Field elements at random, at the ends, and the three for which Z^2 u^4 + Z u^2 = 0."""
    p = p256.P
    exceptional = pow(pow(-p256.Z, -1, p), (p + 1) // 4, p)
    assert (p256.Z * exceptional**2 + 1) % p == 0
    rng = random.Random(1)
    elements = [0, 1, 2, p - 1, p - 2, exceptional, p - exceptional, *(rng.randrange(p) for _ in range(50))]
    x, d, y = p256._map_to_curve(IntArray.from_ints(elements, bits=256).limbs)
    found = zip(*(IntArray.from_limbs(part).to_ints() for part in (x, d, y)), strict=True)
    assert [(a * pow(b, -1, p) % p, c) for a, b, c in found] == [mapped(u) for u in elements]


def test_sums_are_those_of_the_curve() -> None:
    messages = [b"message %d" % number for number in range(100)]
    elements = [expanded(m, TAG, 96) for m in messages]
    halves = [
        [
            b"\4"
            + b"".join(c.to_bytes(32, "big") for c in mapped(int.from_bytes(e[at : at + 48], "big") % p256.P))
            for e in elements
        ]
        for at in (0, 48)
    ]
    expected = ecc.P256.add(*halves)
    assert [row.tobytes() for row in p256.hash_to_curve(messages, TAG)] == expected


def test_equal_points_are_not_added_wrongly() -> None:
    x, d, y = p256._map_to_curve(IntArray.from_ints([5, 5], bits=256).limbs)
    with pytest.raises(ArithmeticError, match="the same x"):
        p256._sums(x, d, y)


def test_no_messages() -> None:
    assert p256.hash_to_curve([], TAG).shape == (0, 65)


def test_the_prime_is_a_safe_one() -> None:
    """Of the form that RFC 7919 states: its top and bottom 64 bits are set."""
    p = ffdhe2048_prime()
    assert p.bit_length() == 2048
    assert (p >> 1984, p % 2**64) == (2**64 - 1, 2**64 - 1)
    assert gmpy2.is_prime(p)
    assert gmpy2.is_prime(p // 2)
    assert np.isclose((p >> 64) % 2**1920 / 2**1918, np.e)
