# SPDX-License-Identifier: Apache-2.0
"""`manymod.rsa` on objects of every kind: round trips, and no exception but the documented ones."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.fuzz.choices import Choices, integer
from tests.fuzz.make_corpus import first_key

from manymod import ItemError, ManymodError, rsa

CORPUS = Path(__file__).resolve().parent / "corpus" / "rsa_key"
HASHES = ("sha1", "sha256", "sha384", "sha512", "sha3-256", "SHA-512/256")
#: What a malformed call may raise; bad items raise errors that are a ManymodError too.
REFUSALS = (ManymodError, TypeError, ValueError)


@functools.cache
def _numbers() -> dict[str, Any]:
    private = first_key().private_numbers()
    public = private.public_numbers
    return {"n": public.n, "e": public.e, "d": private.d, "p": private.p, "q": private.q}


@functools.cache
def _key() -> rsa.PrivateKey:
    return rsa.PrivateKey.from_numbers(**_numbers())


@functools.cache
def _encodings() -> list[bytes]:
    return [path.read_bytes()[1:] for path in sorted(CORPUS.iterdir())]


def _odd_object(choices: Choices, source: random.Random) -> Any:
    """Something that is no message, number, padding or key index, or hardly one."""
    odd: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: "text",
        lambda: "\udc80",
        lambda: 2.5,
        lambda: -3,
        lambda: 1 << 70,
        lambda: True,
        list,
        lambda: [None],
        lambda: [b"a", "b"],
        lambda: bytearray(b"bytes"),
        lambda: memoryview(b"even bytes")[::2],
        lambda: np.zeros((2, 3), np.uint8)[:, ::2],
        lambda: np.zeros((2, 0), np.uint8),
        lambda: np.array([1, 2], np.int64),
        lambda: pa.array([b"a", None]),
        lambda: pa.array(["a"]),
        lambda: pa.chunked_array([pa.array([b"a"]), pa.array([b"bcd"])]),
        lambda: {b"a": 1},
        lambda: object(),
        lambda: source.randbytes(choices.below(300)),
        lambda: [source.randbytes(choices.below(300)) for _ in range(choices.below(4))],
    )
    return choices.among(odd)()


def _check_numbers(choices: Choices, source: random.Random) -> None:
    numbers: dict[str, Any] = dict(_numbers())
    for _ in range(choices.below(3)):
        name = choices.among(list(numbers))
        kind = choices.below(4)
        if kind == 0:
            numbers[name] = numbers[name] + choices.below(9) - 4 if isinstance(numbers[name], int) else 5
        elif kind == 1:
            numbers[name] = integer(source, choices.below(9000))
        elif kind == 2:
            numbers[name] = _odd_object(choices, source)
        else:
            numbers[name] = None
    try:
        key = rsa.PrivateKey.from_numbers(**numbers)
    except (TypeError, rsa.InvalidKeyError):
        return
    assert key.n == int(numbers["n"]) and key.e == int(numbers["e"])


def _check_encoding(choices: Choices, source: random.Random) -> None:
    encoded: Any = bytearray(choices.among(_encodings()))
    for _ in range(choices.below(4)):
        encoded[source.randrange(len(encoded))] = choices.byte()
    password: Any = choices.among((None, b"password", "password", b"", 5, b"wrong"))
    kind = choices.below(4)
    if kind == 1:
        encoded = bytes(encoded)
    elif kind == 2:
        encoded = encoded.decode("latin-1")
    elif kind == 3 and choices.one_in(4):
        encoded = _odd_object(choices, source)
    make = choices.among((rsa.PrivateKey.from_pem, rsa.PrivateKey.from_der))
    public = choices.among((rsa.PublicKey.from_pem, rsa.PublicKey.from_der))
    for call in (lambda: make(encoded, password), lambda: public(encoded)):
        try:
            key = call()
        except (TypeError, rsa.InvalidKeyError, UnicodeEncodeError):  # the last for text with lone surrogates
            continue
        assert 1024 <= key.key_size <= 8192 and key.n % 2 == 1


def _messages(choices: Choices, source: random.Random) -> tuple[Any, list[bytes] | None]:
    """Messages, and what they are; None: something odd."""
    plain = [source.randbytes(choices.below(40)) for _ in range(choices.below(5))]
    kind = choices.below(6)
    if kind == 0:
        return plain, plain
    if kind == 1 and plain:
        return plain[0], [plain[0]]
    if kind == 2:
        rows = np.frombuffer(source.randbytes(8 * 20), np.uint8).reshape(8, 20)[:: 1 + choices.below(2)]
        return rows, [row.tobytes() for row in rows]
    if kind == 3:
        return pa.array([*plain, b"x"], pa.large_binary())[:-1], plain
    if kind == 4:
        return pa.array(plain, pa.binary()), plain
    return _odd_object(choices, source), None


def _listed(answer: Any) -> list[Any]:
    if isinstance(answer, (bytes, bool)):
        return [answer]
    if isinstance(answer, np.ndarray) and answer.ndim == 2:
        return [row.tobytes() for row in answer]
    return list(answer.to_pylist() if hasattr(answer, "to_pylist") else answer)


def _padding(choices: Choices, source: random.Random, schemes: tuple[str, ...]) -> Any:
    if choices.one_in(12):
        return _odd_object(choices, source)
    scheme: Any = choices.among(schemes)
    if choices.one_in(2):
        return scheme
    salt: Any = choices.among(("digest", "max", "auto", 0, 20, 5000, -1, "none"))
    return rsa.Padding(scheme, algorithm=choices.among(HASHES), salt_length=salt, label=choices.piece(9))


def _check_signatures(choices: Choices, source: random.Random) -> None:
    messages, plain = _messages(choices, source)
    padding = _padding(choices, source, ("pss", "pkcs1v15"))
    algorithm = _odd_object(choices, source) if choices.one_in(12) else choices.among(HASHES)
    try:
        signatures = _key().sign(messages, padding, algorithm)
    except ItemError as error:
        assert not any(any(_listed(error.result)[i] or b"") for i in error.indices), error.result
        return
    public = _key().public_key()
    verdicts = _listed(public.verify(signatures, messages, padding, algorithm))
    assert False not in verdicts, f"{messages!r} {padding!r} {algorithm!r}"
    if plain:
        assert len(verdicts) == len(plain)
        changed = [bytes([first[0] ^ 1]) + first[1:] for first in _listed(signatures)]
        assert not any(public.verify(changed, plain, padding, algorithm)), "a changed signature is valid"


def _check_encryption(choices: Choices, source: random.Random) -> None:
    messages, plain = _messages(choices, source)
    padding = _padding(choices, source, ("oaep", "pkcs1v15"))
    ciphertexts = _key().public_key().encrypt(messages, padding)
    decrypted = _key().decrypt(ciphertexts, padding)
    if plain is not None:
        assert _listed(decrypted) == plain, f"{messages!r} {padding!r}"


def _check_ring(choices: Choices, source: random.Random) -> None:
    ring = rsa.KeyRing([_key(), _key().public_key()])
    messages, _ = _messages(choices, source)
    indices = choices.among((0, 1, 2, -1, None, [0, 1], [0] * 5, np.array([0, 1, 0]), np.array([0.5])))
    signatures, statuses = ring.sign(messages, indices, "pss", "sha256", errors="status")
    assert len(_listed(signatures)) == np.size(statuses)


def check(data: bytes) -> None:
    """Run one input."""
    choices = Choices(data)
    source = choices.source()
    checks = (_check_numbers, _check_encoding, _check_signatures, _check_encryption, _check_ring)
    part = choices.among(checks)
    try:
        part(choices, source)
    except REFUSALS as error:
        # Keys have errors of their own.
        assert part not in (_check_numbers, _check_encoding), repr(error)
