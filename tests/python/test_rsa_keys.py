# SPDX-License-Identifier: Apache-2.0
"""Keys of manymod.rsa: where they come from, what is refused, and that nothing secret comes out."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric import rsa as cryptography_rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.python.cli_support import run
from tests.python.rsa_support import FOLDER, peer_key, private_key

from manymod import rsa

ENCODINGS = {"PEM": serialization.Encoding.PEM, "DER": serialization.Encoding.DER}
FORMATS = {
    "PKCS8": serialization.PrivateFormat.PKCS8,
    "PKCS1": serialization.PrivateFormat.TraditionalOpenSSL,
}


def numbers_of(bits: int = 2048) -> dict[str, Any]:
    private = peer_key(bits).private_numbers()
    return {
        "n": private.public_numbers.n,
        "e": private.public_numbers.e,
        "d": private.d,
        "p": private.p,
        "q": private.q,
        "dp": private.dmp1,
        "dq": private.dmq1,
        "qinv": private.iqmp,
    }


PASSWORDS = [None, b"pass word \xc3\xa4"]
PRIVATE_ENCODINGS = [
    case
    for case in itertools.product(ENCODINGS, FORMATS, PASSWORDS)
    if case != ("DER", "PKCS1", PASSWORDS[1])  # there is no such encoding
]


@pytest.mark.parametrize(("encoding", "form", "password"), PRIVATE_ENCODINGS)
def test_private_encodings(encoding: str, form: str, password: bytes | None) -> None:
    cipher = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    data = peer_key().private_bytes(ENCODINGS[encoding], FORMATS[form], cipher)
    read = rsa.PrivateKey.from_pem if encoding == "PEM" else rsa.PrivateKey.from_der
    other = rsa.PrivateKey.from_der if encoding == "PEM" else rsa.PrivateKey.from_pem
    passwords: list[Any] = (
        [password] if password is None else [password, password.decode(), bytearray(password)]
    )
    for given_password in passwords:
        key = read(data, given_password)
        assert key.fingerprint == private_key().fingerprint
        assert key.sign(b"a", "pkcs1v15", "sha256") == private_key().sign(b"a", "pkcs1v15", "sha256")
    if encoding == "PEM":
        assert rsa.PrivateKey.from_pem(data.decode(), password).fingerprint == private_key().fingerprint
    with pytest.raises(TypeError, match="open the file with 'rb'"):
        rsa.PrivateKey.from_der("text", password)  # type: ignore[arg-type]
    with pytest.raises(rsa.InvalidKeyError, match="PEM"):
        other(data, password)
    with pytest.raises(rsa.InvalidKeyError):
        (rsa.PublicKey.from_pem if encoding == "PEM" else rsa.PublicKey.from_der)(data)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "form", [serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.PKCS1]
)
def test_public_encodings(encoding: str, form: serialization.PublicFormat) -> None:
    data = peer_key().public_key().public_bytes(ENCODINGS[encoding], form)
    key = (rsa.PublicKey.from_pem if encoding == "PEM" else rsa.PublicKey.from_der)(data)
    assert key == private_key().public_key() == rsa.PublicKey.from_cryptography(peer_key().public_key())
    assert len({key, private_key().public_key()}) == 1
    assert key != private_key(1024).public_key()
    with pytest.raises(rsa.InvalidKeyError):
        (rsa.PrivateKey.from_pem if encoding == "PEM" else rsa.PrivateKey.from_der)(data)


@pytest.mark.parametrize("left_out", ["", "dp dq qinv", "qinv", "dp", "p q dp dq qinv"])
def test_numbers_that_are_left_out_are_computed(left_out: str) -> None:
    numbers = {name: value for name, value in numbers_of().items() if name not in left_out.split()}
    key = rsa.PrivateKey.from_numbers(**numbers)
    assert key.sign(b"a", "pss", "sha256")
    assert key.sign(b"a", "pkcs1v15", "sha256") == private_key().sign(b"a", "pkcs1v15", "sha256")


def test_p_and_q_may_be_exchanged() -> None:
    numbers = numbers_of()
    given_numbers = {"n": numbers["n"], "e": numbers["e"], "d": numbers["d"]}
    key = rsa.PrivateKey.from_numbers(**given_numbers, p=numbers["q"], q=numbers["p"])
    assert key.sign(b"a", "pkcs1v15", "sha256") == private_key().sign(b"a", "pkcs1v15", "sha256")


def test_long_public_exponents_need_to_be_allowed(tmp_path: Path) -> None:
    n, e = 2**1024 - 105, 2**255 + 1
    numbers = cryptography_rsa.RSAPublicNumbers(e, n)
    key = numbers.public_key()
    pem, der = (
        key.public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)
        for encoding in (serialization.Encoding.PEM, serialization.Encoding.DER)
    )
    makers: list[Callable[..., rsa.PublicKey]] = [
        functools.partial(rsa.PublicKey.from_numbers, n=n, e=e),
        functools.partial(rsa.PublicKey.from_cryptography, key),
        functools.partial(rsa.PublicKey.from_pem, pem),
        functools.partial(rsa.PublicKey.from_der, der),
    ]
    message = b"\x02".rjust(128, b"\0")
    for make in makers:
        for options in ({}, {"max_exponent_bits": 64}, {"max_exponent_bits": 255}):
            with pytest.raises(
                rsa.InvalidKeyError, match=r"e has 256 bits, but at most (64|255) are allowed"
            ):
                make(**options)
        for bits in (256, 1024, 2**70):
            made = make(max_exponent_bits=bits)
            assert int.from_bytes(made.raw(message), "big") == pow(2, e, n)
            assert pickle.loads(pickle.dumps(made)) == made
        for bits in (1, 0, -1):
            with pytest.raises(ValueError, match="max_exponent_bits is"):
                make(max_exponent_bits=bits)
    assert rsa.PublicKey.from_numbers(n=n, e=n - 2, max_exponent_bits=1024).e == n - 2
    table, out, path = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "key.der"
    path.write_bytes(der)
    table.write_text('{"m": "text", "k": "key"}\n')
    for keys in (("--key", path), ("--keys", tmp_path, "--key-column", "k")):
        arguments = ("rsa", "encrypt", table, "-o", out, *keys, "--message", "m")
        refused = run(*arguments)
        assert refused.code == 1
        assert f"{path}: RSA key: e has 256 bits" in refused.err
        assert run(*arguments, "--max-exponent-bits", 256).code == 0


def test_private_keys_of_long_public_exponents_need_to_be_allowed() -> None:
    numbers = numbers_of(1024)
    p, q, e = numbers["p"], numbers["q"], 2**64 + 13
    d = pow(e, -1, math.lcm(p - 1, q - 1))
    original = cryptography_rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), cryptography_rsa.RSAPublicNumbers(e, p * q)
    ).private_key()
    form, clear = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    makers: list[Callable[..., rsa.PrivateKey]] = [
        functools.partial(rsa.PrivateKey.from_numbers, n=p * q, e=e, d=d),
        functools.partial(rsa.PrivateKey.from_cryptography, original),
        functools.partial(rsa.PrivateKey.from_pem, original.private_bytes(ENCODINGS["PEM"], form, clear)),
        functools.partial(rsa.PrivateKey.from_der, original.private_bytes(ENCODINGS["DER"], form, clear)),
    ]
    for make in makers:
        with pytest.raises(rsa.InvalidKeyError, match="e has 65 bits, but at most 64 are allowed"):
            make()
        key = make(max_exponent_bits=65)
        signature = key.sign(b"a", "pkcs1v15", "sha256")
        assert key.public_key().verify(signature, b"a", "pkcs1v15", "sha256")


WRONG: list[dict[str, Any]] = [
    {"n": 0},
    {"n": 1},
    {"n": 2**2047},
    {"e": 1},
    {"e": 2},
    {"e": 65538},
    {"e": 3},
    {"d": 1},
    {"d": 0},
    {"p": 4},
    {"p": 1},
    {"p": 0},
    {"q": 9},
    {"p": None},
    {"dp": 5},
    {"dq": 0},
    {"qinv": 7},
]


@pytest.mark.parametrize("change", WRONG, ids=str)
def test_numbers_that_contradict_each_other_are_refused(change: dict[str, Any]) -> None:
    numbers = numbers_of()
    with pytest.raises(rsa.InvalidKeyError) as caught:
        rsa.PrivateKey.from_numbers(**{**numbers, **change})
    for name in ("d", "p", "q", "dp", "dq", "qinv"):
        assert str(numbers[name]) not in str(caught.value)
        assert f"{numbers[name]:x}" not in str(caught.value).lower()


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(["n", "d", "p", "q", "dp", "dq", "qinv"]), st.integers(0, 1023))
def test_a_key_with_a_changed_bit_is_refused(name: str, bit: int) -> None:
    numbers = numbers_of()
    numbers[name] ^= 1 << bit
    with pytest.raises(rsa.InvalidKeyError):
        rsa.PrivateKey.from_numbers(**numbers)


def test_composite_primes_are_refused_on_request() -> None:
    """A modulus of three primes, two of them taken for one, consistent in all that is cheap to check."""
    numbers = numbers_of(1024)
    p, other = numbers["p"], numbers_of(1024)["q"]
    composite = other * 1_000_003
    n, e = p * composite, 65537
    d = pow(e, -1, (p - 1) * (composite - 1))
    assert rsa.PrivateKey.from_numbers(n=n, e=e, d=d, p=p, q=composite).key_size > 1024
    with pytest.raises(rsa.InvalidKeyError, match="prime"):
        rsa.PrivateKey.from_numbers(n=n, e=e, d=d, p=p, q=composite, check_primes=True)


def test_sizes_that_are_not_supported() -> None:
    with pytest.raises(rsa.InvalidKeyError):
        rsa.PublicKey.from_numbers(n=(1 << 1022) + 1)
    with pytest.raises(rsa.InvalidKeyError):
        rsa.PublicKey.from_numbers(n=(1 << 16384) + 1)
    assert rsa.PublicKey.from_numbers(n=(1 << 16383) + 1).key_size == 16384


NO_KEYS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"n": -5}, rsa.InvalidKeyError, "n is negative"),
    ({"n": 0}, rsa.InvalidKeyError, "n has 0 bits"),
    ({"e": -3}, rsa.InvalidKeyError, "e is negative"),
    ({"e": 0}, rsa.InvalidKeyError, "e is even"),
    ({"e": 1}, rsa.InvalidKeyError, "e is 1"),
    ({"e": (1 << 16384) + 1}, rsa.InvalidKeyError, "e has more than 16384 bits|e is not below n"),
    ({"e": None}, TypeError, "e must be an integer, not NoneType"),
    ({"e": 3.0}, TypeError, "e must be an integer, not float"),
    ({"n": "5"}, TypeError, "n must be an integer, not str"),
    ({"n": None}, TypeError, "n must be an integer, not NoneType"),
]
NO_PRIVATE_KEYS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"d": -1}, rsa.InvalidKeyError, "d is negative"),
    ({"p": -7}, rsa.InvalidKeyError, "p is negative"),
    ({"q": -7}, rsa.InvalidKeyError, "q is negative"),
    ({"dp": -7}, rsa.InvalidKeyError, "dp is negative"),
    ({"dq": -7}, rsa.InvalidKeyError, "dq is negative"),
    ({"qinv": -7}, rsa.InvalidKeyError, "qinv is negative"),
    ({"d": "5"}, TypeError, "d must be an integer, not str"),
    ({"p": b"5"}, TypeError, "p must be an integer, not bytes"),
    ({"d": None}, TypeError, "needs d"),
]


@pytest.mark.parametrize(
    ("change", "error", "message"), NO_KEYS, ids=lambda case: case if isinstance(case, str) else None
)
def test_what_is_no_key_is_an_error_of_its_kind(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    public = {name: numbers_of()[name] for name in ("n", "e")}
    with pytest.raises(error, match=message):
        rsa.PublicKey.from_numbers(**{**public, **change})
    with pytest.raises(error, match=message):
        rsa.PrivateKey.from_numbers(**{**numbers_of(), **change})


@pytest.mark.parametrize(
    ("change", "error", "message"), NO_PRIVATE_KEYS, ids=lambda case: case if isinstance(case, str) else None
)
def test_what_is_no_private_key_is_an_error_of_its_kind(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rsa.PrivateKey.from_numbers(**{**numbers_of(), **change})


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_damaged_encodings_are_refused_or_read(data: st.DataObject) -> None:
    """Whatever is done to a key's encoding, the answer is a key that is consistent, or InvalidKeyError."""
    encoding = data.draw(st.sampled_from(sorted(ENCODINGS)))
    text = bytearray(
        peer_key(1024).private_bytes(ENCODINGS[encoding], FORMATS["PKCS8"], serialization.NoEncryption())
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        match data.draw(st.sampled_from(["change", "delete", "insert", "cut"])):
            case "change":
                text[at] = data.draw(st.integers(0, 255))
            case "delete":
                del text[at]
            case "insert":
                text.insert(at, data.draw(st.integers(0, 255)))
            case _:
                del text[max(at, 8) :]
    read = rsa.PrivateKey.from_pem if encoding == "PEM" else rsa.PrivateKey.from_der
    try:
        key = read(bytes(text))
    except rsa.InvalidKeyError:
        return
    signature = key.sign(b"a", "pkcs1v15", "sha256")
    assert key.public_key().verify(signature, b"a", "pkcs1v15", "sha256")


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_are_no_key(data: bytes, pem: bool) -> None:
    text = b"-----BEGIN PRIVATE KEY-----\n" + data + b"\n-----END PRIVATE KEY-----\n" if pem else data
    for kind in (rsa.PrivateKey, rsa.PublicKey):
        with pytest.raises(rsa.InvalidKeyError):
            (kind.from_pem if pem else kind.from_der)(text)


@pytest.mark.parametrize(
    "name",
    [
        "PEM_Serialization/rsa-bad-1025-q-is-2.pem",
        "PEM_Serialization/ec_private_key.pem",
    ],
)
def test_files_that_hold_no_good_key(name: str) -> None:
    with pytest.raises(rsa.InvalidKeyError):
        rsa.PrivateKey.from_pem((FOLDER / name).read_bytes())


def test_keys_that_are_not_rsa() -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    wrong: Any
    for wrong in (other, peer_key().public_key(), "key", None):
        with pytest.raises(TypeError, match="must be an RSAPrivateKey"):
            rsa.PrivateKey.from_cryptography(wrong)
    for wrong in (other.public_key(), peer_key(), "key", None):
        with pytest.raises(TypeError, match="must be an RSAPublicKey"):
            rsa.PublicKey.from_cryptography(wrong)
    data = other.private_bytes(ENCODINGS["PEM"], FORMATS["PKCS8"], serialization.NoEncryption())
    with pytest.raises(rsa.InvalidKeyError):
        rsa.PrivateKey.from_pem(data)


def test_nothing_secret_is_shown_or_pickled() -> None:
    key = private_key()
    ring = rsa.KeyRing([key])
    shown = " ".join([repr(key), str(key), repr(ring), str(vars(key))])
    for name, number in numbers_of().items():
        if name != "e":
            assert str(number) not in shown
            assert f"{number:x}" not in shown.lower()
    assert key.fingerprint in repr(key)
    with rsa.Signer(key, "pss", "sha256") as signer:
        for item in (key, ring, signer):
            for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="cannot be pickled"):
                    duplicate(item)
    public = key.public_key()
    assert pickle.loads(pickle.dumps(public)) == public


def test_the_fingerprint_is_the_thumbprint_of_rfc_7638() -> None:
    """The RFC's own example, section 3.1."""
    n = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs"
        "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91"
        "CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    import base64

    modulus = int.from_bytes(base64.urlsafe_b64decode(n + "=="), "big")
    key = rsa.PublicKey.from_numbers(n=modulus)
    assert key.fingerprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_rings_need_keys() -> None:
    with pytest.raises(ValueError, match="at least one"):
        rsa.KeyRing([])
    with pytest.raises(TypeError, match="key 1 is a str"):
        rsa.KeyRing([private_key(), "key"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="device"):
        rsa.KeyRing([private_key()], device="abacus:1")
    with pytest.raises(TypeError, match="keys must be a sequence of keys"):
        rsa.KeyRing(private_key())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keys must be a sequence of keys, not NoneType"):
        rsa.KeyRing(None)  # type: ignore[arg-type]
    ring = rsa.KeyRing([private_key(), private_key(1024)])
    assert (len(ring), ring[1], list(ring)) == (2, private_key(1024), list(ring.keys))


@pytest.mark.parametrize("kind", [rsa.PrivateKey, rsa.PublicKey])
def test_keys_are_not_made_of_other_things(kind: Any) -> None:
    for wrong in ((), (3,), (private_key(),)):
        with pytest.raises(TypeError, match="use from_pem, from_der, from_numbers or from_cryptography"):
            kind(*wrong)


def test_flags_are_bools() -> None:
    """What turns off a safeguard says so: None, 0 and "no" do not."""
    key, wrong = private_key(1024), ("no", None, 0)
    for flag in wrong:
        given: Any = flag
        with pytest.raises(TypeError, match="blinding must be a bool"):
            rsa.KeyRing([key], blinding=given)
        with pytest.raises(TypeError, match="left_pad must be a bool"):
            key.public_key().verify(b"x", b"x", "pss", "sha256", left_pad=given)
        with pytest.raises(TypeError, match="check_primes must be a bool"):
            rsa.PrivateKey.from_numbers(n=key.n, e=key.e, d=3, check_primes=given)
    with pytest.raises(TypeError, match="salt_length must be an int or a str, not bool"):
        rsa.Padding("pss", salt_length=True)


def test_indices_of_different_lengths() -> None:
    ring, ragged = rsa.KeyRing([private_key(1024)]), [[0], [0, 0]]
    with pytest.raises(TypeError, match="key_indices must be an integer or a 1-D sequence of integers"):
        ring.sign([b"a", b"b"], ragged, "pss", "sha256")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_uses_the_parents_keys() -> None:
    ring = rsa.KeyRing([private_key()])
    expected = ring.sign([b"a"] * 20, 0, "pkcs1v15", "sha256")
    child = os.fork()
    if child == 0:
        os._exit(0 if ring.sign([b"a"] * 20, 0, "pkcs1v15", "sha256") == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_without_the_cryptography_package() -> None:
    """Keys, names and paddings of our own need it for nothing."""
    numbers = numbers_of(1024)
    code = f"""
import sys
sys.modules["cryptography"] = None
from manymod import rsa
key = rsa.PrivateKey.from_numbers(n={numbers["n"]}, e=65537, d={numbers["d"]})
signature = key.sign(b"a", rsa.Padding("pss", salt_length=9), "sha256")
assert key.public_key().verify(signature, b"a", rsa.Padding("pss", salt_length="auto"), "sha256")
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=240)
