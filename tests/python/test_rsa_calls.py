# SPDX-License-Identifier: Apache-2.0
"""Calls of manymod.rsa beside the cryptography package: paddings, hashes, kinds of batches, bad items."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, utils
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.python import fake_gpu
from tests.python.rsa_support import peer_key, private_key

import manymod
from manymod import rsa
from manymod.rsa._calls import KeyCalls

HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha1": hashes.SHA1(),
    "sha224": hashes.SHA224(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha512-224": hashes.SHA512_224(),
    "sha512-256": hashes.SHA512_256(),
    "sha3-224": hashes.SHA3_224(),
    "sha3-256": hashes.SHA3_256(),
    "sha3-384": hashes.SHA3_384(),
    "sha3-512": hashes.SHA3_512(),
}
SHA256 = hashes.SHA256()
PSS = padding.PSS(padding.MGF1(SHA256), padding.PSS.DIGEST_LENGTH)
OAEP = padding.OAEP(padding.MGF1(SHA256), SHA256, None)
TUNING = "manymod-tuning\t1\tSome CPU\ttoday\n"
MESSAGES = [b"", b"a", b"message" * 100, bytes(range(256))]


def peer_accepts(signature: bytes, message: bytes, *how: Any, bits: int = 2048, number: int = 0) -> bool:
    try:
        peer_key(bits, number).public_key().verify(signature, message, *how)
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("name", HASHES)
def test_signatures_of_every_hash_both_ways(name: str) -> None:
    algorithm = HASHES[name]
    paddings = [
        padding.PKCS1v15(),
        *(
            padding.PSS(padding.MGF1(mgf), salt)
            for mgf in (algorithm, hashes.SHA256())
            for salt in (padding.PSS.DIGEST_LENGTH, padding.PSS.MAX_LENGTH, 0, 17)
        ),
    ]
    for how in paddings:
        signatures = private_key().sign(MESSAGES, how, algorithm)
        for message, signature in zip(MESSAGES, signatures, strict=True):
            assert peer_accepts(signature, message, how, algorithm)
            assert not peer_accepts(signature, message + b"x", how, algorithm)
        theirs = [peer_key().sign(message, how, algorithm) for message in MESSAGES]
        public = private_key().public_key()
        assert public.verify(theirs, MESSAGES, how, algorithm) == [True] * 4
        assert public.verify(theirs, MESSAGES[::-1], how, algorithm) == [False] * 4
        assert public.verify(signatures, MESSAGES, how, name) == [True] * 4


def test_the_salt_length_is_checked_unless_it_is_automatic() -> None:
    public = private_key().public_key()
    mgf = padding.MGF1(SHA256)
    short = private_key().sign(MESSAGES, padding.PSS(mgf, 7), SHA256)
    assert public.verify(short, MESSAGES, padding.PSS(mgf, padding.PSS.AUTO), SHA256) == [True] * 4
    for other in (8, padding.PSS.DIGEST_LENGTH, padding.PSS.MAX_LENGTH):
        assert public.verify(short, MESSAGES, padding.PSS(mgf, other), SHA256) == [False] * 4
    with pytest.raises(ValueError, match="salt"):
        private_key().sign(MESSAGES, padding.PSS(mgf, padding.PSS.AUTO), SHA256)


def test_digests_made_by_the_caller() -> None:
    digests = [hashlib.sha256(message).digest() for message in MESSAGES]
    for prehashed in (utils.Prehashed(SHA256), rsa.Prehashed("sha256")):
        signatures = private_key().sign(digests, PSS, prehashed)
        assert private_key().public_key().verify(signatures, MESSAGES, PSS, SHA256) == [True] * 4
        assert private_key().public_key().verify(signatures, digests, PSS, prehashed) == [True] * 4
        with pytest.raises(manymod.ItemValueError, match="length.*: item 1$") as caught:
            private_key().sign([digests[0], b"short"], "pkcs1v15", prehashed)
        assert caught.value.indices == [1]
        assert private_key().public_key().verify(signatures[:2], [digests[0], b"x"], PSS, prehashed) == [
            True,
            False,
        ]


@pytest.mark.parametrize(("digest", "mgf"), list(itertools.product(["sha1", "sha256", "sha512"], repeat=2)))
def test_oaep_both_ways(digest: str, mgf: str) -> None:
    for label in (None, b"label"):
        how = padding.OAEP(padding.MGF1(HASHES[mgf]), HASHES[digest], label)
        longest = 256 - 2 * HASHES[digest].digest_size - 2
        messages = [b"", b"a", bytes(range(100)), secrets.token_bytes(longest)]
        ciphertexts = private_key().public_key().encrypt(messages, how)
        assert [peer_key().decrypt(text, how) for text in ciphertexts] == messages
        theirs = [peer_key().public_key().encrypt(message, how) for message in messages]
        assert private_key().decrypt(theirs, how) == messages
        with pytest.raises(manymod.ItemValueError, match="length.*: item 1$"):
            private_key().public_key().encrypt([b"", bytes(longest + 1)], how)


def test_pkcs1v15_encryption_both_ways() -> None:
    messages = [b"", b"a", secrets.token_bytes(256 - 11)]
    ciphertexts = private_key().public_key().encrypt(messages, padding.PKCS1v15())
    assert [peer_key().decrypt(text, padding.PKCS1v15()) for text in ciphertexts] == messages
    theirs = [peer_key().public_key().encrypt(message, padding.PKCS1v15()) for message in messages]
    assert private_key().decrypt(theirs, "pkcs1v15") == messages


def test_a_bad_pkcs1v15_padding_gives_a_message_of_its_own() -> None:
    """No error; the same for the same ciphertext, another for another, and the same as OpenSSL's."""
    key = private_key()
    modulus = key.n
    bad = [secrets.randbelow(modulus).to_bytes(256, "big") for _ in range(50)]
    first, statuses = key.decrypt(bad, "pkcs1v15", errors="status")
    assert not statuses.any()
    assert key.decrypt(bad, "pkcs1v15") == first
    assert len(set(first)) > 40
    assert first == [peer_key().decrypt(text, padding.PKCS1v15()) for text in bad]


@pytest.mark.parametrize("bits", [1024, 1031, 1536, 3072])
def test_other_sizes(bits: int) -> None:
    key = private_key(bits)
    assert (key.key_size, key.modulus_bytes) == (bits, (bits + 7) // 8)
    signatures = key.sign(MESSAGES, PSS, SHA256)
    assert all(peer_accepts(*pair, PSS, SHA256, bits=bits) for pair in zip(signatures, MESSAGES, strict=True))
    assert key.decrypt(key.public_key().encrypt([b"x"] * 3, OAEP), OAEP) == [b"x"] * 3


def test_a_ring_of_mixed_sizes() -> None:
    shapes = [(2048, 0), (1024, 0), (3072, 0), (1024, 1)]
    ring = rsa.KeyRing([private_key(*shape) for shape in shapes])
    indices = [0, 1, 2, 3, 2, 1, 0, 3, 3]
    messages = [bytes([i]) * i for i in range(len(indices))]
    signatures = ring.sign(messages, indices, PSS, SHA256)
    for message, signature, index in zip(messages, signatures, indices, strict=True):
        bits, number = shapes[index]
        assert peer_accepts(signature, message, PSS, SHA256, bits=bits, number=number)
    assert ring.verify(signatures, messages, np.array(indices), PSS, SHA256) == [True] * len(indices)
    assert not any(ring.verify(signatures, messages, [1, 0, 3, 2, 1, 0, 1, 0, 0], PSS, SHA256))
    ciphertexts = ring.encrypt(messages, indices, OAEP)
    assert ring.decrypt(ciphertexts, indices, OAEP) == messages
    assert [len(s) for s in ring.sign(b"one for all", [0, 1, 2], "pkcs1v15", "sha256")] == [256, 128, 384]


def test_missing_and_public_keys_are_named() -> None:
    ring = rsa.KeyRing([private_key(), private_key().public_key()])
    with pytest.raises(manymod.ItemValueError, match="no such key.*: items 1, 2, 3$") as caught:
        ring.sign([b"a"] * 4, [0, 1, 2, -1], "pkcs1v15", "sha256")
    good = caught.value.result[0]
    assert caught.value.indices == [1, 2, 3]
    assert caught.value.result[1:] == [b""] * 3
    assert peer_accepts(good, b"a", padding.PKCS1v15(), SHA256)
    assert ring.verify([good] * 4, b"a", [0, 1, 2, -1], "pkcs1v15", "sha256") == [True, True, False, False]
    with pytest.raises(manymod.ItemValueError, match="no such key"):
        ring.sign(b"a", 1, "pkcs1v15", "sha256")


def test_signatures_of_a_wrong_length_have_a_status() -> None:
    key = private_key(1024)
    public = key.public_key()
    texts = [b"%d" % number for number in range(2000)]
    signatures = key.sign(texts, "pkcs1v15", "sha256")
    item = next(i for i, signature in enumerate(signatures) if signature[0] == 0)
    good, text = signatures[item], texts[item]
    given = [good, good.lstrip(b"\0"), b"\0" + good, b"", bytes(127)]
    call = (given, text, "pkcs1v15", "sha256")
    wrong = manymod.Status.RSA_SIGNATURE_LENGTH
    assert public.verify(*call) == [True, False, False, False, False]
    valid, statuses = public.verify(*call, errors="status")
    assert (valid, statuses.tolist()) == ([True, False, False, False, False], [0, wrong, wrong, wrong, wrong])
    valid, statuses = public.verify(*call, errors="status", left_pad=True)
    assert (valid, statuses.tolist()) == ([True, True, False, False, False], [0, 0, wrong, 0, 0])
    assert public.verify(given[1], text, "pkcs1v15", "sha256", errors="status") == (False, wrong)
    ring = rsa.KeyRing([key])
    assert ring.verify(given[:2], text, [0, 0], "pkcs1v15", "sha256", left_pad=True) == [True, True]


def test_statuses_instead_of_an_exception() -> None:
    key = private_key()
    good = key.public_key().encrypt(b"secret", OAEP)
    texts = [good, bytes(256), good[:-1], b"\xff" * 256, good[:-1] + bytes([good[-1] ^ 1])]
    results, statuses = key.decrypt(texts, OAEP, errors="status")
    status = manymod.Status
    assert statuses.tolist() == [
        status.OK,
        status.RSA_DECRYPTION,
        status.RSA_LENGTH,
        status.RSA_RANGE,
        status.RSA_DECRYPTION,
    ]
    assert results == [b"secret", b"", b"", b"", b""]
    assert key.decrypt(good, OAEP, errors="status") == (b"secret", status.OK)


def test_wrong_paddings_and_hashes_are_errors_of_the_call() -> None:
    key = private_key()
    for how, algorithm, error in [
        ("oaep", "sha256", "no padding for signatures"),
        (OAEP, "sha256", "no padding for signatures"),
        ("pss", "md5", "'md5' is none of"),
        ("x931", "sha256", "is none of"),
    ]:
        with pytest.raises(ValueError, match=error):
            key.sign(b"a", how, algorithm)
    with pytest.raises(ValueError, match="no padding for encryption"):
        key.decrypt(b"a", PSS)
    for wrong in (None, 5, object()):
        with pytest.raises(TypeError):
            key.sign(b"a", wrong, "sha256")
        with pytest.raises(TypeError):
            key.sign(b"a", "pss", wrong)
    bad: list[dict[str, Any]] = [
        {"salt_length": -1},
        {"salt_length": 3000},
        {"salt_length": "long"},
        {"mgf": "md5"},
    ]
    for options in bad:
        with pytest.raises(ValueError, match="salt_length|md5"):
            rsa.Padding("pss", **options)


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("pkcs1v15", {"label": b"x"}),
        ("pkcs1v15", {"mgf": "sha1"}),
        ("pkcs1v15", {"salt_length": 9}),
        ("pkcs1v15", {"algorithm": "sha512"}),
        ("pss", {"label": b"x"}),
        ("pss", {"algorithm": "sha512"}),
        ("oaep", {"salt_length": "max"}),
    ],
)
def test_parameters_that_a_padding_does_not_have(scheme: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{scheme} has no {next(iter(options))}$"):
        rsa.Padding(scheme, **options)


def test_a_key_too_short_for_the_padding_is_an_error_of_the_item() -> None:
    with pytest.raises(manymod.ItemValueError, match="length"):
        private_key(1024).sign(b"a", rsa.Padding("pss", salt_length=64), "sha512")


def test_progress_and_its_exceptions() -> None:
    calls: list[tuple[int, int]] = []
    private_key().sign([b"a"] * 300, "pkcs1v15", "sha256", progress=lambda *call: calls.append(call))
    assert calls[-1] == (300, 300)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        private_key().sign([b"a"] * 3000, "pkcs1v15", "sha256", progress=stop)


def test_verifications_of_many_blocks_stop_early() -> None:
    """Blocks are computed in steps, each of which may be too short for a call of `progress` in its middle."""
    count = 4_000_000  # 46 blocks: more than a second, on any one core
    short = rsa.PublicKey.from_numbers(n=private_key(1024).n, e=3)  # whose powers are the shortest
    ring, messages = rsa.KeyRing([short], threads=1), np.zeros((count, 1), np.uint8)
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done > count // 4:
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        ring.verify(b"x" * 128, messages, 0, "pkcs1v15", "sha256", progress=stop)
    assert [total for _, total in seen] == [count] * len(seen)
    assert seen[-1][0] < count // 2


def test_calls_on_another_thread() -> None:
    future = manymod.submit(private_key().sign, [b"a"], "pkcs1v15", "sha256")
    assert future.result() == private_key().sign([b"a"], "pkcs1v15", "sha256")


def test_raw_operations_against_pow() -> None:
    key = private_key()
    values = [0, 1, key.n - 1, *(secrets.randbelow(key.n) for _ in range(20))]
    numbers = [value.to_bytes(256, "big") for value in values]
    powers = key.public_key().raw(numbers)
    assert [int.from_bytes(power, "big") for power in powers] == [
        pow(value, key.e, key.n) for value in values
    ]
    assert key.raw(powers) == numbers
    assert key.raw(b"\x02") == pow(2, peer_key().private_numbers().d, key.n).to_bytes(256, "big")
    with pytest.raises(manymod.ItemValueError, match="not below the modulus: item 1"):
        key.raw([b"\1", key.n.to_bytes(256, "big")])


def test_blinding_changes_no_result() -> None:
    bare = rsa.KeyRing([private_key()], blinding=False, threads=1)
    assert bare.sign([b"a"] * 9, None, "pkcs1v15", "sha256") == private_key().sign(
        [b"a"] * 9, "pkcs1v15", "sha256"
    )
    assert bare.private_items == 9
    assert bare.recomputed == 0
    assert bare.variant_for(0, 100) in {variant.name for variant in manymod.variants()}


def test_items_that_cannot_begin_are_not_counted() -> None:
    ring = rsa.KeyRing([private_key(1024)])
    digests = [bytes(32), b"short", bytes(31), bytes(32)]
    ring.sign(digests, None, "pkcs1v15", rsa.Prehashed("sha256"), errors="status")
    ring.decrypt([bytes(127), b"\xff" * 128], None, "pkcs1v15", errors="status")
    ring.sign(b"a", 4, "pkcs1v15", "sha256", errors="status")
    assert ring.private_items == 2


def test_both_powers_of_a_private_operation_choose_the_variant(tmp_path: Path) -> None:
    """Those of few items are computed together, those of many one after the other."""
    names = {
        variant.name
        for variant in manymod.variants()
        if variant.usable and variant.name.startswith("scalar64")
    }
    if len(names) < 2:
        pytest.skip("this machine has one variant of scalar64")
    few, many = sorted(names)[:2]
    file = tmp_path / "tuning"
    rows = [f"powmod\tsecret\t1\t16384\t{least}\t{name}\tx\n" for least, name in ((6, many), (1, few))]
    file.write_text(TUNING + "".join(rows))
    try:
        manymod.load_tuning(file)
        shared = rsa.KeyRing([private_key(1024)], device="cpu", threads=1)
        pooled = rsa.KeyRing([private_key(1024)], device="cpu", threads=100)
    finally:
        manymod.load_tuning(None)
    assert [pooled.variant_for(0, items) for items in (1, 2, 3, 5, 1 << 63)] == [few, few, many, many, many]
    assert [shared.variant_for(0, items) for items in (1, 5, 6)] == [few, few, many]


def test_a_call_that_ends_early_leaves_no_plaintext(monkeypatch: pytest.MonkeyPatch) -> None:
    key = private_key(1024)
    texts = key.public_key().encrypt([b"secret"] * 2, "oaep")
    seen: list[Any] = []

    class Handle:
        def run(self, *arguments: Any) -> int:
            seen.append(arguments[6])
            seen[-1].fill(0xEE)
            raise InterruptedError

    monkeypatch.setattr(KeyCalls, "handle", property(lambda _: Handle()))
    for batch in (texts, pa.array([*texts, None])):
        with pytest.raises(InterruptedError):
            key.decrypt(batch, "oaep")
        with pytest.raises(InterruptedError):
            key.raw(batch)
    assert len(seen) == 4
    assert not any(rows.any() for rows in seen)


def test_a_factor_that_is_not_prime_is_named() -> None:
    p, q = (getattr(peer_key(1024).private_numbers(), name) for name in "pq")
    composite = q * 1_000_003
    d = pow(65537, -1, (p - 1) * (composite - 1))
    key = rsa.PrivateKey.from_numbers(n=p * composite, e=65537, d=d, p=p, q=composite)
    with pytest.raises(manymod.ItemError, match=r"p or q is not prime \(check_primes\)"):
        key.sign(b"a", "pkcs1v15", "sha256")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=8))
def test_arbitrary_signatures_are_never_an_exception(signatures: list[bytes]) -> None:
    public = private_key().public_key()
    for how in ("pkcs1v15", "pss", rsa.Padding("pss", salt_length="auto")):
        assert public.verify(signatures, b"message", how, "sha256") == [False] * len(signatures)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**2048),
    st.sampled_from(["pkcs1v15", "oaep"]),
    st.integers(0, 260),
    st.booleans(),
)
def test_arbitrary_ciphertexts_get_a_status(value: int, how: str, length: int, exact: bool) -> None:
    key = private_key()
    size = 256 if exact else length
    text = (value % 256**size).to_bytes(size, "big")
    (result,), (status,) = key.decrypt([text], how, errors="status")
    if size != 256:
        assert status == manymod.Status.RSA_LENGTH
    elif int.from_bytes(text, "big") >= key.n:
        assert status == manymod.Status.RSA_RANGE
    else:
        assert status == (0 if how == "pkcs1v15" else manymod.Status.RSA_DECRYPTION)
    assert len(result) <= 245
    assert not result or status == 0


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_signature_with_a_changed_bit_is_bad(data: st.DataObject) -> None:
    message = data.draw(st.binary(max_size=50))
    how = data.draw(st.sampled_from(["pkcs1v15", "pss"]))
    signature = bytearray(private_key().sign(message, how, "sha256"))
    public = private_key().public_key()
    assert public.verify(bytes(signature), message, how, "sha256")
    bit = data.draw(st.integers(0, 2047))
    signature[bit // 8] ^= 1 << bit % 8
    assert not public.verify(bytes(signature), message, how, "sha256")


TWO_GPUS = """
import json, sys
from manymod import rsa
from tests.python.fake_gpu import count

given = json.load(sys.stdin)
key = rsa.PrivateKey.from_numbers(n=given["n"], e=65537, d=given["d"])
messages = [b"%d" % number for number in range(300)]
ring = rsa.KeyRing([key], device="cuda", variant="row32.cuda.t1", threads=2)
signatures = ring.sign(messages, 0, "pkcs1v15", "sha256")
json.dump({
    "right": signatures == key.sign(messages, "pkcs1v15", "sha256"),
    "verified": sum(ring.verify(signatures, messages, 0, "pkcs1v15", "sha256")),
    "contexts": count("contexts"),
}, sys.stdout)
"""


def test_two_gpus_share_the_blocks_of_a_call() -> None:
    fake_gpu.needed()
    numbers = peer_key(1024).private_numbers()
    found = fake_gpu.run(
        TWO_GPUS,
        {"n": numbers.public_numbers.n, "d": numbers.d},
        devices=2,
        multiprocessors=1,
        threads_per_multiprocessor=128,
    )
    assert found == {"right": True, "verified": 300, "contexts": 2}
