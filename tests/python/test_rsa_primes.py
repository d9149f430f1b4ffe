# SPDX-License-Identifier: Apache-2.0
"""RSA keys of more than two primes (RFC 8017, multi-prime) and of up to 16384 bits."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as peer
from tests.python.rsa_support import private_key
from tests.python.test_rsa_encodings import KEYS

from manymod import rsa

E = 65537
MESSAGES = [b"%d" % number for number in range(37)]


@functools.cache
def primes_of(*sizes: int) -> tuple[int, ...]:
    """Primes of these numbers of bits, all different, for which E has an inverse."""
    found: list[int] = []
    for size in sizes:
        # The cryptography package has no function for primes alone.
        keys = (peer.generate_private_key(E, 2 * size).private_numbers() for _ in itertools.count())
        found.append(next(prime for key in keys for prime in (key.p, key.q) if prime not in found))
    return tuple(found)


def numbers_of(*primes: int) -> dict[str, Any]:
    """n, e and d of these primes."""
    return {"n": math.prod(primes), "e": E, "d": pow(E, -1, math.lcm(*(prime - 1 for prime in primes)))}


def signatures_are_right(key: rsa.PrivateKey, numbers: dict[str, Any], messages: list[bytes]) -> None:
    """Signatures are what Python computes, and decryption undoes encryption."""
    ring = rsa.KeyRing([key], threads=2)
    width = key.modulus_bytes
    values = [pow(5, 100 + number, numbers["n"]).to_bytes(width, "big") for number in range(len(messages))]
    powers = [int.from_bytes(power, "big") for power in ring.raw_private(values)]
    # e is coprime to every prime - 1, so that each value has one root alone.
    backs = [pow(power, numbers["e"], numbers["n"]).to_bytes(width, "big") for power in powers]
    assert (backs, max(powers) < numbers["n"]) == (values, True)
    assert ring.recomputed == 0
    signatures = key.sign(messages, "pkcs1v15", "sha256")
    public = peer.RSAPublicNumbers(numbers["e"], numbers["n"]).public_key()
    public.verify(signatures[0], messages[0], padding.PKCS1v15(), hashes.SHA256())
    assert key.public_key().verify(signatures, messages, "pkcs1v15", "sha256") == [True] * len(messages)
    hidden = key.public_key().encrypt(messages, "oaep")
    assert key.decrypt(hidden, "oaep") == messages


@pytest.mark.parametrize(
    "sizes", [(512, 512, 512), (512, 700, 600), (640, 512, 515, 513), (512,) * 5], ids=str
)
@pytest.mark.parametrize("count", [1, 37])
def test_keys_of_several_primes(sizes: tuple[int, ...], count: int) -> None:
    primes = primes_of(*sizes)
    numbers = numbers_of(*primes)
    key = rsa.PrivateKey.from_numbers(**numbers, primes=primes, check_primes=True)
    assert key.prime_count == len(sizes)
    signatures_are_right(key, numbers, MESSAGES[:count])


def test_primes_are_recovered_and_may_have_any_order() -> None:
    primes = primes_of(512, 512, 700)
    numbers = numbers_of(*primes)
    expected = rsa.PrivateKey.from_numbers(**numbers, primes=primes).sign(b"a", "pkcs1v15", "sha256")
    for order in itertools.permutations(primes):
        key = rsa.PrivateKey.from_numbers(**numbers, primes=list(order))
        assert (key.prime_count, key.sign(b"a", "pkcs1v15", "sha256")) == (3, expected)
    for several in (primes, primes_of(512, 512), primes_of(*[512] * 5)):
        assert rsa.PrivateKey.from_numbers(**numbers_of(*several)).prime_count == len(several)
    assert rsa.PrivateKey.from_numbers(**numbers).sign(b"a", "pkcs1v15", "sha256") == expected


def test_ten_primes_and_no_more() -> None:
    primes = primes_of(*[512] * 11)
    assert rsa.PrivateKey.from_numbers(**numbers_of(*primes[:10])).prime_count == 10
    with pytest.raises(rsa.InvalidKeyError, match="more than 10 primes"):
        rsa.PrivateKey.from_numbers(**numbers_of(*primes), primes=primes)
    with pytest.raises(rsa.InvalidKeyError, match="cannot be recovered"):
        rsa.PrivateKey.from_numbers(**numbers_of(*primes))


@pytest.mark.parametrize("name", ["three_primes.pem", "four_primes.pem"])
def test_encoded_keys_of_several_primes(name: str) -> None:
    text = (KEYS / name).read_bytes()
    key = rsa.PrivateKey.from_pem(text, check_primes=True)
    assert key.prime_count == {"t": 3, "f": 4}[name[0]]
    with pytest.raises(ValueError, match="."):
        serialization.load_pem_private_key(text, None)
    signatures = key.sign(MESSAGES, "pss", "sha256")
    public = peer.RSAPublicNumbers(key.e, key.n).public_key()
    how = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    for signature, message in zip(signatures, MESSAGES, strict=True):
        public.verify(signature, message, how, hashes.SHA256())


def test_keys_of_two_and_of_more_primes_in_one_ring() -> None:
    """All moduli have 2048 bits, so that their rows are computed together."""
    primes = primes_of(700, 700, 648)
    keys = [private_key(), rsa.PrivateKey.from_numbers(**numbers_of(*primes)), private_key(2048, 1)]
    assert keys[1].modulus_bytes in {255, 256}
    indices = [number % 3 for number in range(30)]
    ring = rsa.KeyRing(keys)
    signatures = ring.sign([b"a"] * 30, indices, "pkcs1v15", "sha256")
    assert signatures == [keys[index].sign(b"a", "pkcs1v15", "sha256") for index in indices]
    assert ring.verify(signatures, b"a", indices, "pkcs1v15", "sha256") == [True] * 30
    assert ring.recomputed == 0


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"primes": slice(2)}, rsa.InvalidKeyError, "p q is not n"),
    ({"primes": slice(1)}, rsa.InvalidKeyError, "fewer than two primes"),
    ({"more": [3]}, rsa.InvalidKeyError, "the product of the primes is not n"),
    ({"more": [1]}, rsa.InvalidKeyError, "prime 4 is even or 1"),
    ({"more": [0]}, rsa.InvalidKeyError, "prime 4 is even or 1"),
    ({"more": [-1]}, rsa.InvalidKeyError, "a prime is negative"),
    ({"more": ["7"]}, TypeError, "a prime must be an integer, not str"),
    ({"again": True}, rsa.InvalidKeyError, "q and prime 4 are the same"),
    ({"p": 7}, TypeError, "primes stands for p and q"),
    ({"qinv": 7}, TypeError, "primes stands for p and q"),
    ({"d": 5}, rsa.InvalidKeyError, "e d is not 1 mod p - 1"),
]


@pytest.mark.parametrize(
    ("change", "error", "message"), WRONG, ids=lambda value: getattr(value, "upper", str)()
)
def test_primes_that_do_not_belong_together(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    primes = list(primes_of(512, 512, 700))
    numbers: dict[str, Any] = numbers_of(*primes)
    numbers.update({name: value for name, value in change.items() if name in {"p", "qinv", "d"}})
    given = primes[change.get("primes", slice(None))] + change.get("more", [])
    with pytest.raises(error, match=message) as caught:
        rsa.PrivateKey.from_numbers(**numbers, primes=given + primes[1:2] if "again" in change else given)
    assert not any(str(prime) in str(caught.value) for prime in primes)


def test_a_composite_among_the_primes_is_refused_on_request() -> None:
    p, q, other = primes_of(512, 512, 700)
    numbers = numbers_of(p, q, other, 1_000_003)
    with pytest.raises(rsa.InvalidKeyError, match="e d is not 1 mod prime 3 - 1"):
        rsa.PrivateKey.from_numbers(**numbers, primes=[p, q, other * 1_000_003])
    consistent = {**numbers, "d": pow(E, -1, math.lcm(p - 1, q - 1, other * 1_000_003 - 1))}
    assert rsa.PrivateKey.from_numbers(**consistent, primes=[p, q, other * 1_000_003]).prime_count == 3
    with pytest.raises(rsa.InvalidKeyError, match="prime 3 is not prime|p is not prime"):
        rsa.PrivateKey.from_numbers(**consistent, primes=[p, q, other * 1_000_003], check_primes=True)


# ---- long keys ------------------------------------------------------------------------------------------


@functools.cache
def longest() -> tuple[rsa.PrivateKey, dict[str, Any]]:
    """A key of 16384 bits; to find its primes takes minutes, so that they are in a file."""
    p, q = (int(line, 16) for line in (KEYS / "primes_8192.txt").read_text().split())
    numbers = numbers_of(p, q)
    return rsa.PrivateKey.from_numbers(**numbers, p=p, q=q), numbers


def test_keys_of_16384_bits() -> None:
    key, numbers = longest()
    assert (key.key_size, key.modulus_bytes, key.public_key().key_size) == (16384, 2048, 16384)
    signatures_are_right(key, numbers, MESSAGES[:2])
    public = peer.RSAPublicNumbers(numbers["e"], numbers["n"]).public_key()
    longest_salt = 2048 - 32 - 2
    for size in (0, 32, longest_salt):
        how = rsa.Padding("pss", salt_length="max" if size == longest_salt else size)
        signature = key.sign(b"a", how, "sha256")
        public.verify(signature, b"a", padding.PSS(padding.MGF1(hashes.SHA256()), size), hashes.SHA256())
        assert key.public_key().verify(signature, b"a", how, "sha256")
    hidden = public.encrypt(
        b"b" * (2048 - 66), padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    )
    assert key.decrypt(hidden, "oaep") == b"b" * (2048 - 66)
    hidden = public.encrypt(b"b" * (2048 - 11), padding.PKCS1v15())
    assert key.decrypt(hidden, "pkcs1v15") == b"b" * (2048 - 11)


def test_implicit_rejection_with_16384_bits_depends_on_the_ciphertext_alone() -> None:
    key, _ = longest()
    wrong = [(number).to_bytes(2048, "big") for number in (3, 3, 5)]
    messages = key.decrypt(wrong, "pkcs1v15")
    assert messages[0] == messages[1] != messages[2]
    assert all(len(message) <= 2048 - 11 for message in messages)


def test_long_and_short_keys_in_one_ring() -> None:
    keys = [longest()[0], private_key(1024)]
    ring = rsa.KeyRing(keys)
    signatures = ring.sign([b"a"] * 3, [1, 0, 1], "pkcs1v15", "sha256")
    assert [len(signature) for signature in signatures] == [128, 2048, 128]
    assert ring.verify(signatures, b"a", [1, 0, 1], "pkcs1v15", "sha256") == [True] * 3


def test_primes_of_very_different_sizes() -> None:
    """A key of about 9216 bits, of primes of 8192 and 512 bits."""
    longest_prime = int((KEYS / "primes_8192.txt").read_text().split()[0], 16)
    primes = (*primes_of(512, 512), longest_prime)
    key = rsa.PrivateKey.from_numbers(**numbers_of(*primes), primes=primes)
    signature = key.sign(b"a", "pkcs1v15", "sha256")
    assert key.public_key().verify(signature, b"a", "pkcs1v15", "sha256")
    # libcrypto checks whether what was recovered is prime, which takes it 13 s for 8192 bits.
    assert rsa.PrivateKey.from_numbers(**numbers_of(*primes_of(512, 1536))).prime_count == 2
