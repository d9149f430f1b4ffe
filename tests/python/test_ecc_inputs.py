# SPDX-License-Identifier: Apache-2.0
"""Inputs of manymod.ecc that are easily taken for others: integers, rows of zeros, curves without keys."""

from __future__ import annotations

from typing import Any, cast

import gmpy2
import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.asymmetric import ec as crypto_ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from reference.ecc import curves as oracle
from reference.ecc import tiny

from manymod import InvalidKeyError, ItemValueError, Status, _byte_items, ecc

SHORT = next(tiny.search_weierstrass(1021))
EDWARDS = next(tiny.search_edwards(29, -1, 4))


def test_numpy_integers_are_scalars() -> None:
    """They are buffers, too: of two bytes, and so many has a scalar of this curve."""
    curve = ecc.Curve(p=SHORT.p, a=SHORT.a, b=SHORT.b, generator=SHORT.generator, n=SHORT.n)
    assert curve.scalar_bytes == 2
    assert curve.multiply([np.uint16(5), 5]) == [curve.multiply(5)] * 2
    assert curve.public_keys(np.uint16(5)) == curve.public_keys(5)
    assert ecc.Key.from_secret(curve, np.uint16(5)) == ecc.Key.from_secret(curve, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [32, np.int64(32), "x" * 32, [0] * 32, None])
def test_keys_are_bytes(wrong: Any) -> None:
    """bytes(32) of an integer would be a key of zeros."""
    for curve in (ecc.P256, ecc.ED25519):
        with pytest.raises((TypeError, InvalidKeyError)):
            ecc.Key.from_public(curve, wrong)
    with pytest.raises(TypeError):
        ecc.Key.from_secret(ecc.ED25519, wrong)


def test_row_of_zeros() -> None:
    """Infinity on Weierstrass curves; on Ed25519 the point with y = 0, whose order is 4."""
    zeros = np.zeros((2, 32), np.uint8)
    assert (ecc.ED25519.points(zeros) == 0).all()
    assert ecc.ED25519.multiply([4, 1], zeros).tolist() == [[1, *[0] * 31], [0] * 32]
    assert ecc.ED25519.add(zeros, bytes(32))[0].tobytes() == ecc.ED25519.add(bytes(32), bytes(32))
    assert ecc.ED25519.msm([1, 3], zeros) == ecc.ED25519.multiply(0)
    assert (ecc.P256.points(np.zeros((1, 65), np.uint8)) == 0).all()


def test_copies_of_secrets_are_zeroed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of arrays whose rows are not contiguous."""
    copies: list[np.ndarray[Any, Any]] = []
    from_numpy = _byte_items._from_numpy

    def reading(*arguments: Any) -> Any:
        items = from_numpy(*arguments)
        if items.copied:
            copies.append(items.block)
        return items

    secrets = np.array([[index] * 32 for index in (1, 2, 3)], np.uint8)
    wide = np.repeat(secrets, 2, axis=1)[:, ::2]
    monkeypatch.setattr(_byte_items, "_from_numpy", reading)
    assert (ecc.P256.public_keys(wide) == ecc.P256.public_keys(secrets)).all()
    assert (
        ecc.P256.sign(wide, secrets, nonces=wide) == ecc.P256.sign(secrets, secrets, nonces=secrets)
    ).all()
    assert (wide == secrets).all()
    assert len(copies) == 3
    assert not any(copy.any() for copy in copies)


@pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(32)])
def test_copies_of_secrets_beside_nulls_are_zeroed(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow arrays, of which a call takes the items that are not null; the caller's own stay as they are."""
    copies: list[Any] = []
    take = _byte_items.Items.take

    def watched(self: Any, rows: Any) -> Any:
        taken = take(self, rows)
        copies.append(taken.block)
        return taken

    monkeypatch.setattr(_byte_items.Items, "take", watched)
    values = [bytes(31) + b"\1", None, bytes(31) + b"\2"]
    secrets = pa.array(values, dtype)
    assert ecc.P256.public_keys(secrets).to_pylist()[::2] == ecc.P256.public_keys(values[::2])
    with pytest.raises(ItemValueError):
        ecc.P256.public_keys(pa.array([bytes(31) + b"\1", None, b"\xff" * 32], dtype))
    assert len(copies) == 2
    assert not any(any(bytes(copy)) for copy in copies)
    assert secrets.to_pylist() == values


@pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(32)])
def test_copies_of_chunks_of_secrets_are_zeroed(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of several chunks are copied into one, empty ones too; a single chunk is the caller's memory."""
    blocks: list[Any] = []
    of_arrow = _byte_items._of_arrow

    def watched(array: Any) -> Any:
        items = of_arrow(array)
        blocks.append(items.block)
        return items

    monkeypatch.setattr(_byte_items, "_of_arrow", watched)
    first, second = [bytes(31) + b"\1"], [bytes(31) + b"\2"]
    one = pa.array(first, dtype)
    for chunks in ([one, pa.array(second, dtype)], [one, pa.array([], dtype)], [pa.array([], dtype), one]):
        secrets = pa.chunked_array(chunks)
        values = secrets.to_pylist()
        assert ecc.P256.public_keys(secrets).to_pylist() == ecc.P256.public_keys(values)
        assert not any(bytes(blocks.pop()))
        assert secrets.to_pylist() == values
    assert ecc.P256.public_keys(pa.chunked_array([one])).to_pylist() == ecc.P256.public_keys(first)
    assert one.to_pylist() == first


@pytest.mark.parametrize("strides", [(-32, 1), (0, 1), (1, 1)])
def test_a_single_row_of_any_stride_is_not_zeroed(strides: tuple[int, int]) -> None:
    """NumPy calls it contiguous, so that what it makes contiguous is the caller's array."""
    secret = np.arange(32, dtype=np.uint8)
    row = np.lib.stride_tricks.as_strided(secret, (1, 32), strides)
    expected = ecc.P256.public_keys([bytes(range(32))])[0]
    assert [bytes(key) for key in ecc.P256.public_keys(row)] == [expected]
    assert ecc.P256.sign(row, b"m", nonces=row).any()
    assert secret.tolist() == list(range(32))


def test_matrices_are_arrays() -> None:
    points = np.array([list(key) for key in ecc.P256.public_keys([1, 2, 3])], np.uint8).view(np.matrix)
    points[1] = 0
    assert ecc.P256.points(points)[1].tolist() == [0] * 65
    assert type(ecc.P256.points(points)) is np.ndarray


def test_edwards_curves_without_keys() -> None:
    curve = ecc.Curve(
        p=EDWARDS.p,
        a=EDWARDS.a % EDWARDS.p,
        b=EDWARDS.d,
        generator=EDWARDS.generator,
        n=EDWARDS.n,
        cofactor=EDWARDS.cofactor,
        form="edwards",
    )
    for make in (
        curve.generate,
        lambda _: ecc.Key.generate(curve),
        lambda _: ecc.Key.from_secret(curve, b"\1"),
    ):
        with pytest.raises(InvalidKeyError, match="have no keys"):
            make(3)


def test_messages_of_mistakes() -> None:
    key = ecc.Key.generate(ecc.ED25519)
    with pytest.raises(ValueError, match="encoding must be"):
        key.public_bytes("hex")  # type: ignore[arg-type]
    for text in ("", "ssh-rsa AAAA", "/home/key.pem"):
        with pytest.raises(InvalidKeyError, match="no block of PEM"):
            ecc.Key.from_pem(text)
    with pytest.raises(TypeError, match="pair"):
        ecc.Curve(p=29, a=1, b=2, generator=5, n=3)  # type: ignore[arg-type]
    for options in ({"encoding": "der"}, {"low_s": True}, {"context": b"x"}):
        with pytest.raises(ValueError, match="BIP 340"):
            ecc.SECP256K1.sign(5, [], scheme="bip340", **options)
    with pytest.raises(ValueError, match="needs policy='zip215'"):
        ecc.ED25519.verify_all(bytes(32), [bytes(64)], b"")
    mixed = ecc.KeyRing([ecc.Key.generate(ecc.P256), key])
    with pytest.raises(ValueError, match="needs policy='zip215'"):
        mixed.verify_all([bytes(64)] * 3, b"", [0, 1, 2])
    assert not mixed.verify_all([bytes(64)] * 2, b"", [0, 2])
    for nonces in (7, bytes(31) + b"\7"):
        with pytest.raises(ValueError, match="^nonces: each item needs its own"):
            ecc.P256.sign(5, [b"a", b"b"], nonces=nonces)
    ecc.SECP256K1.sign(5, [b"a", b"b"], scheme="bip340", nonces=7)  # auxiliary randomness may repeat


@pytest.mark.parametrize(
    ("scheme", "options", "said"),
    [
        ("ecdsa", {"context": b"x"}, "context is an option of eddsa, sm2, not of ecdsa"),
        ("sm2", {"low_s": True}, "low_s is an option of ecdsa, not of sm2"),
        ("eddsa", {"encoding": "der"}, "encoding is an option of ecdsa, sm2, not of eddsa"),
        ("eddsa", {"nonces": "hedged"}, "nonces is an option of ecdsa, sm2, bip340, not of eddsa"),
        ("eddsa", {"algorithm": ecc.Prehashed("sha512")}, "P-256 has no EdDSA"),
        ("ecdsa", {"policy": "strict"}, "policy is an option of eddsa, not of ecdsa"),
        ("bip340", {"policy": "zip215"}, "policy is an option of eddsa, not of bip340"),
    ],
)
def test_options_of_other_schemes(scheme: Any, options: dict[str, Any], said: str) -> None:
    call = ecc.P256.verify if "policy" in options else ecc.P256.sign
    arguments = (b"",) * (3 if "policy" in options else 2)
    with pytest.raises(ValueError, match=said):
        call(*arguments, scheme=scheme, **options)


def test_operands_have_their_names() -> None:
    """Errors name arguments, not what the library has in their place."""
    with pytest.raises(TypeError, match="public_keys: item 0"):
        ecc.P256.verify(["x"], [b""], b"")
    with pytest.raises(TypeError, match="scalars: item 0"):
        ecc.P256.multiply(["x"])
    with pytest.raises(ValueError, match="public_keys has 1"):
        ecc.P256.exchange([1, 2], [b""])


def test_nonces_are_ints_or_bytes() -> None:
    listed = ecc.P521.sign(5, [b"a", b"b"], nonces=[7, 8])
    assert listed == ecc.P521.sign(5, [b"a", b"b"], nonces=[k.to_bytes(66, "big") for k in (7, 8)])
    assert ecc.P521.sign(5, b"a", nonces=7) == listed[0]
    keys = [ecc.Key.from_secret(curve, 5) for curve in (ecc.P256, ecc.SECP256K1, ecc.P521)]
    assert ecc.KeyRing(keys[:2]).sign([b"a", b"b"], [0, 1], nonces=[7, 8]) == [
        keys[0].sign(b"a", nonces=7),
        keys[1].sign(b"b", nonces=8),
    ]
    with pytest.raises(ValueError, match="nonces: the curves differ"):
        ecc.KeyRing(keys).sign([b"a", b"b"], [0, 1], nonces=[7, 8])
    with pytest.raises(ItemValueError, match="nonce"):
        ecc.P256.sign(5, b"a", nonces=1 << 256)


@pytest.mark.parametrize("wrong", [-1, 1 << 256, np.int64(-1)])
def test_ints_that_are_out_of_range_are_named(wrong: Any) -> None:
    """As byte strings are that are: their items have a status, and the others a result."""
    point = ecc.P256.multiply(5)
    calls: list[Any] = [
        lambda **how: ecc.P256.public_keys([1, wrong], **how),
        lambda **how: ecc.P256.multiply([1, wrong], **how),
        lambda **how: ecc.P256.exchange([1, wrong], point, **how),
        lambda **how: ecc.P256.sign([1, wrong], b"a", **how),
        lambda **how: ecc.P256.sign(1, [b"a", b"b"], nonces=[7, wrong], **how),
        lambda **how: ecc.P256.msm([1, wrong], [point, point], **how),
    ]
    for call in calls:
        with pytest.raises(ItemValueError, match="item 1$") as caught:
            call()
        assert caught.value.indices == [1]
        assert call(errors="status")[1].tolist() == [0, Status.ECC_SECRET]
    assert ecc.P256.public_keys(wrong, errors="status") == (b"", Status.ECC_SECRET)


def test_scalars_in_every_kind_of_sequence() -> None:
    ints = [1, 2, (1 << 256) - 189]
    encoded = [number.to_bytes(32, "big") for number in ints]
    keys = ecc.P256.public_keys(encoded[:2])
    for given in (ints[:2], tuple(ints[:2]), [ints[0], encoded[1]], range(1, 3)):
        assert ecc.P256.public_keys(given) == keys
    objects = np.array([1, encoded[1]], object)
    assert ecc.P256.public_keys(objects).tolist() == keys
    assert ecc.P256.multiply(ints) == ecc.P256.multiply(encoded)


@pytest.mark.parametrize("wrong", [None, 1.0, "1", True])
def test_scalars_of_another_type_are_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"secrets: item 1 must be bytes, not {type(wrong).__name__}"):
        ecc.P256.public_keys([1, wrong])


def test_keys_of_subclasses_of_int() -> None:
    class Odd(int):
        def __int__(self) -> int:
            return 99

    assert ecc.P256.public_keys(Odd(5)) == ecc.P256.public_keys(5)
    assert ecc.Key.from_secret(ecc.P256, Odd(5)) == ecc.Key.from_secret(ecc.P256, 5)


def test_scalars_of_gmpy2() -> None:
    numbers = [gmpy2.mpz(5), gmpy2.mpz(7)]
    assert ecc.P256.public_keys(numbers) == ecc.P256.public_keys([5, 7])
    assert ecc.Key.from_secret(ecc.P256, numbers[0]) == ecc.Key.from_secret(ecc.P256, 5)


def test_keys_have_curves_and_numbers() -> None:
    wrong: Any = "P-256"
    with pytest.raises(TypeError, match="curve must be a Curve, as Curve.named.* is, not str"):
        ecc.Key.generate(wrong)
    with pytest.raises(TypeError, match="curve must be a Curve, as Curve.named.* is, not str"):
        ecc.Key.from_secret(wrong, 5)
    with pytest.raises(TypeError, match="curve must be a Curve, as Curve.named.* is, not str"):
        ecc.Key.from_public(wrong, b"")
    for given in (None, wrong, cast("Any", KEY)):
        with pytest.raises(TypeError, match="use Key.generate, from_secret"):
            ecc.Key(given)
    with pytest.raises(TypeError, match="secret must be bytes, not bool"):
        ecc.Key.from_secret(ecc.P256, True)
    with pytest.raises(TypeError, match="keys must be a sequence of keys, not int"):
        ecc.KeyRing(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="count must be at least 0, not -1"):
        ecc.P256.generate(-1)


@pytest.mark.parametrize("flag", ["no", None, 0])
def test_flags_are_bools(flag: Any) -> None:
    """What turns off a safeguard says so; None leaves `low_s` to the curve."""
    with pytest.raises(TypeError, match="check must be a bool"):
        KEY.sign(b"a", check=flag)
    if flag is not None:
        with pytest.raises(TypeError, match="low_s must be a bool"):
            KEY.sign(b"a", low_s=flag)


@pytest.mark.parametrize("name", ["P-256\0x", "\0", "P-256\ud800"])
def test_names_of_curves_do_not_end_before_other_characters(name: str) -> None:
    with pytest.raises(ValueError, match="^no curve 'P-256|^no curve '.x00'"):
        ecc.Curve.named(name)


def test_buffers_that_are_not_contiguous_are_named() -> None:
    with pytest.raises(TypeError, match="messages: item 1: the bytes of a buffer must be contiguous"):
        KEY.sign([b"a", memoryview(b"abcd")[::2]])


def test_choices_of_another_type() -> None:
    unhashable: Any = []
    for call in (
        lambda: KEY.sign(b"a", encoding=unhashable),
        lambda: KEY.sign(b"a", scheme=unhashable),
        lambda: KEY.verify(b"a", b"b", policy=unhashable),
        lambda: KEY.verify(b"a", b"b", errors=unhashable),
        lambda: ecc.Curve(
            p=SHORT.p, a=SHORT.a, b=SHORT.b, generator=SHORT.generator, n=SHORT.n, form=unhashable
        ),
    ):
        with pytest.raises(ValueError, match=r"must be .*, not \[\]"):
            call()


KEY = ecc.Key.from_secret(ecc.P256, 1)
CALLS: list[tuple[str, Any, tuple[Any, ...], str]] = [
    ("sign", ecc.P256.sign, (1, b""), "hash"),
    ("sign", KEY.sign, (b"",), "policy"),
    ("sign", ecc.KeyRing([KEY]).sign, (b"",), "device"),
    ("verify", ecc.P256.verify, (b"", b"", b""), "nonces"),
    ("verify_all", ecc.KeyRing([KEY]).verify_all, ([], [], []), "check"),
    ("exchange", ecc.P256.exchange, (1, b""), "hash"),
    ("sm2_exchange", ecc.SM2.sm2_exchange, (1, 1, b"", b""), "size"),
    ("public_keys", ecc.P256.public_keys, (1,), "format"),
    ("recover", ecc.P256.recover, (b"", b""), "policy"),
    ("multiply", ecc.P256.multiply, (1,), "point"),
    ("add", ecc.P256.add, (b"", b""), "check"),
    ("points", ecc.P256.points, (b"",), "check"),
    ("msm", ecc.P256.msm, ([], []), "check"),
]


@pytest.mark.parametrize(("name", "function", "operands", "word"), CALLS)
def test_unknown_keywords_name_the_function(
    name: str, function: Any, operands: tuple[Any, ...], word: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument '{word}'$"):
        function(*operands, **{word: 1})


def test_unknown_keywords_of_signers() -> None:
    with pytest.raises(TypeError, match=r"^sign\(\) got an unexpected keyword argument 'hash'$"):
        ecc.Signer(KEY, {"hash": "sha256"})


def test_der_ends_with_the_key() -> None:
    peer = crypto_ec.generate_private_key(crypto_ec.SECP256R1())
    der = peer.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    assert ecc.Key.from_der(der) == ecc.Key.from_cryptography(peer)
    for more in (b"\0", b"x", der):
        with pytest.raises(InvalidKeyError, match="bytes behind its end"):
            ecc.Key.from_der(der + more)


def test_private_numbers_out_of_range_in_files_without_public_keys() -> None:
    order = oracle.P256.n
    for number in (0, order, order + 1):
        body = bytes.fromhex("0201010420") + number.to_bytes(32, "big")
        der = bytes([0x30, len(body) + 12]) + body + bytes.fromhex("a00a06082a8648ce3d030107")
        with pytest.raises(InvalidKeyError, match="a private key that is 0, or the order of its curve"):
            ecc.Key.from_der(der)


@pytest.mark.parametrize("with_infinity", [False, True])
def test_answers_in_the_place_of_points(with_infinity: bool) -> None:
    points, others = (ecc.P256.generate(4)[1] for _ in range(2))
    if with_infinity:
        points[2] = 0

    def add(given: Any, out: Any) -> Any:
        return ecc.P256.add(given, others, out=out)

    def multiply(given: Any, out: Any) -> Any:
        return ecc.P256.multiply([5] * 4, given, out=out)

    def convert(given: Any, out: Any) -> Any:
        return ecc.P256.points(given, out=out)

    for call in (add, multiply, convert):
        expected, replaced = call(points, None), points.copy()
        assert call(replaced, replaced) is replaced
        np.testing.assert_array_equal(replaced, expected)


@pytest.mark.parametrize("view", [lambda row: row, memoryview])
def test_answers_in_the_place_of_views(view: Any) -> None:
    """Elements of a list, and a single item, may be views of the memory of the answers."""
    points, others = (ecc.P256.generate(4)[1] for _ in range(2))
    replaced = others.copy()
    ecc.P256.add(points, [view(row) for row in replaced], out=replaced)
    np.testing.assert_array_equal(replaced, ecc.P256.add(points, others))
    replaced = others.copy()
    ecc.P256.add(points, memoryview(replaced[1]), out=replaced)
    np.testing.assert_array_equal(replaced, ecc.P256.add(points, others[1].tobytes()))
