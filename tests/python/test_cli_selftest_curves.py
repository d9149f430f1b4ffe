# SPDX-License-Identifier: Apache-2.0
"""The known answers of curves that selftest has, against reference.ecc, and that it finds wrong ones."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from reference.ecc import curves as oracle
from reference.ecc import ecdsa, eddsa, encodings, sm2, xdh
from reference.ecc.groups import multiply
from tests.python.cli_support import run

from manymod import ecc
from manymod.cli import selftest_curves
from manymod.cli.selftest_curves import KNOWN, MESSAGE, private_keys, short_digest

WEIERSTRASS: dict[str, Any] = {
    "P-256": oracle.P256,
    "P-384": oracle.P384,
    "P-521": oracle.P521,
    "secp256k1": oracle.SECP256K1,
    "SM2": oracle.SM2,
    "brainpoolP256r1": oracle.BRAINPOOL_P256R1,
    "brainpoolP384r1": oracle.BRAINPOOL_P384R1,
    "brainpoolP512r1": oracle.BRAINPOOL_P512R1,
    "BN254": oracle.BN254_G1,
    "BLS12-381": oracle.BLS12_381_G1,
}
EDWARDS = {"Ed25519": eddsa.ED25519, "Ed448": eddsa.ED448}
MONTGOMERY = {"X25519": oracle.CURVE25519, "X448": oracle.CURVE448}


def expect(name: str, answers: dict[str, list[bytes]]) -> None:
    assert {key: tuple(map(short_digest, values)) for key, values in answers.items()} == KNOWN[name]


def signature(name: str, curve: Any, d: int) -> bytes:
    if name == "SM2":
        digest = sm2.sm3(sm2.za(sm2.public_key(d)), MESSAGE)
        nonces = ecdsa.nonces(curve.n, d, digest, "sm3")
        r, s = next(made for k in nonces if (made := sm2.sign_with_nonce(d, MESSAGE, k)))
    else:
        bits = curve.n.bit_length()
        algorithm = "sha256" if bits <= 256 else "sha384" if bits <= 384 else "sha512"
        digest = hashlib.new(algorithm, MESSAGE).digest()
        signed = ecdsa.sign(curve, d, digest, algorithm, low_s=name == "secp256k1")
        r, s = signed.r, signed.s
    return encodings.encode_raw(r, s, -(-curve.n.bit_length() // 8))


@pytest.mark.parametrize("name", WEIERSTRASS)
def test_answers_on_weierstrass_curves(name: str) -> None:
    curve = WEIERSTRASS[name]
    keys = [int.from_bytes(secret, "big") for secret in private_keys(ecc.Curve.named(name))]
    points: list[Any] = [multiply(curve, d, curve.generator) for d in keys]
    # SEC 1, section 3.3.1: without the cofactor.
    shared: Any = multiply(curve, keys[0], points[1])
    answers = {
        "public_keys": [encodings.encode_point(curve, point, compressed=False) for point in points],
        "sign": [signature(name, curve, d) for d in keys],
        "exchange": [shared[0].to_bytes(curve.bytes, "big")],
    }
    expect(name, answers)


@pytest.mark.parametrize("name", EDWARDS)
def test_answers_on_edwards_curves(name: str) -> None:
    keys = private_keys(ecc.Curve.named(name))
    signatures = [eddsa.sign(EDWARDS[name], key, MESSAGE) for key in keys]
    expect(name, {"public_keys": [eddsa.public_key(EDWARDS[name], key) for key in keys], "sign": signatures})


@pytest.mark.parametrize("name", MONTGOMERY)
def test_answers_on_montgomery_curves(name: str) -> None:
    first, second = private_keys(ecc.Curve.named(name))
    public = [xdh.public_key(MONTGOMERY[name], key) for key in (first, second)]
    expect(name, {"public_keys": public, "exchange": [xdh.exchange(MONTGOMERY[name], first, public[1])[0]]})


def test_every_curve_has_answers() -> None:
    assert list(KNOWN) == [curve.name for curve in ecc.named_curves()]


def test_selftest_of_curves() -> None:
    finished = run("selftest", "--op", "ecc")
    assert finished.code == 0, finished.out + finished.err
    for variant in selftest_curves.curve_variants():
        assert variant in finished.out
    for operation in selftest_curves.CURVE_OPERATIONS:
        assert f"ecc {operation}" in finished.out
    assert " 0 wrong" in finished.out


@pytest.mark.parametrize("operation", selftest_curves.CURVE_OPERATIONS)
def test_selftest_finds_wrong_answers_and_statuses(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(ecc.Curve, operation)

    def wrong(self: ecc.Curve, *operands: Any, **words: Any) -> Any:
        answer = right(self, *operands, **words)
        if words.get("errors") != "status" or self.name not in {"P-256", "X25519"}:
            return answer
        values, statuses = answer
        values[4] = not values[4] if operation == "verify" else bytes(len(values[4]))
        statuses[5] = 1 if operation != "verify" else statuses[5]
        return values, statuses

    monkeypatch.setattr(ecc.Curve, operation, wrong)
    finished = run("selftest", "--op", "ecc", "--variant", "scalar64")
    assert finished.code == 1
    fault = "is True, got False" if operation == "verify" else "is not the known answer"
    assert f": {operation}(item 4) {fault}" in finished.err
