# SPDX-License-Identifier: Apache-2.0
"""Statuses, arithmetic and options of manymod.ecc, against cryptography and reference.ecc."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, utils, x448, x25519
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.ecc import curves as oracle
from reference.ecc import schnorr, sm2
from reference.ecc.groups import multiply
from tests.python.ecc_support import PEERS, WEIERSTRASS

import manymod
from manymod import InvalidKeyError, ItemValueError, Status, ecc

MESSAGES = [b"", b"a", b"message" * 100, bytes(range(256))]
HASHES = {"sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}
#: n of curves.
ORDERS = {curve.name: curve.n for curve in (oracle.P256, oracle.P384, oracle.P521, oracle.SECP256K1)}


def named(curve: ecc.Curve) -> str:
    return curve.name


def order(curve: ecc.Curve) -> int:
    return ORDERS[curve.name]


class TestAgainstCryptography:
    """Both directions."""

    @pytest.mark.parametrize("curve", WEIERSTRASS, ids=named)
    @pytest.mark.parametrize("algorithm", HASHES)
    def test_ecdsa(self, curve: ecc.Curve, algorithm: str) -> None:
        peers = [ec.generate_private_key(PEERS[curve.name]) for _ in MESSAGES]
        keys = [ecc.Key.from_cryptography(peer) for peer in peers]
        ring, indices = ecc.KeyRing(keys), range(len(keys))
        how: Any = {"algorithm": algorithm, "encoding": "der", "low_s": False}
        for nonces in ("deterministic", "hedged"):
            signatures = ring.sign(MESSAGES, list(indices), nonces=nonces, **how)
            for peer, signature, message in zip(peers, signatures, MESSAGES, strict=True):
                peer.public_key().verify(signature, message, ec.ECDSA(HASHES[algorithm]))
        theirs = [
            peer.sign(message, ec.ECDSA(HASHES[algorithm]))
            for peer, message in zip(peers, MESSAGES, strict=True)
        ]
        assert ring.verify(theirs, MESSAGES, list(indices), **how) == [True] * 4
        assert ring.verify(theirs, MESSAGES, [1, 2, 3, 0], **how) == [False] * 4
        points = [key.public_bytes("compressed") for key in keys]
        assert curve.verify(points, theirs, MESSAGES, **how) == [True] * 4

    @pytest.mark.parametrize("curve", WEIERSTRASS, ids=named)
    def test_ecdh(self, curve: ecc.Curve) -> None:
        ours, theirs = (ec.generate_private_key(PEERS[curve.name]) for _ in range(2))
        key, other = map(ecc.Key.from_cryptography, (ours, theirs.public_key()))
        assert key.exchange(other.public_bytes()) == ours.exchange(ec.ECDH(), theirs.public_key())
        digest = key.exchange(other.public_bytes("compressed"), algorithm="sha256")
        expected = hashes.Hash(hashes.SHA256())
        expected.update(ours.exchange(ec.ECDH(), theirs.public_key()))
        assert digest == expected.finalize()

    @pytest.mark.parametrize("kind", [ed25519.Ed25519PrivateKey, ed448.Ed448PrivateKey])
    def test_eddsa(self, kind: Any) -> None:
        peer = kind.generate()
        key = ecc.Key.from_cryptography(peer)
        assert key.sign(MESSAGES) == [peer.sign(message) for message in MESSAGES]
        public = ecc.Key.from_cryptography(peer.public_key())
        assert public == key.public_key()
        assert public.verify([peer.sign(message) for message in MESSAGES], MESSAGES) == [True] * 4

    @pytest.mark.parametrize("kind", [x25519.X25519PrivateKey, x448.X448PrivateKey])
    def test_xdh(self, kind: Any) -> None:
        ours, theirs = kind.generate(), kind.generate()
        key, other = map(ecc.Key.from_cryptography, (ours, theirs.public_key()))
        assert key.exchange(other.public_bytes()) == ours.exchange(theirs.public_key())
        assert other.curve.public_keys(theirs.private_bytes_raw()) == other.public_bytes()

    @settings(max_examples=25, deadline=None)
    @given(st.integers(1, 2**256), st.binary(max_size=80), st.sampled_from(WEIERSTRASS[:4]))
    def test_any_key_and_message(self, number: int, message: bytes, curve: ecc.Curve) -> None:
        secret = number % (order(curve) - 1) + 1
        peer = ec.derive_private_key(secret, PEERS[curve.name])
        signature = curve.sign(secret, message, algorithm="sha256", encoding="der")
        peer.public_key().verify(signature, message, ec.ECDSA(hashes.SHA256()))
        numbers = peer.public_key().public_numbers()
        size = curve.coordinate_bytes
        public = b"\4" + numbers.x.to_bytes(size, "big") + numbers.y.to_bytes(size, "big")
        assert curve.public_keys(secret) == public
        assert curve.verify(public, signature, message, algorithm="sha256", encoding="der") is True
        assert curve.verify(public, signature, message + b"x", algorithm="sha256", encoding="der") is False


class TestStatuses:
    """One bad item has its status, and its neighbours their results."""

    @pytest.mark.parametrize("curve", WEIERSTRASS[:4], ids=named)
    def test_secrets(self, curve: ecc.Curve) -> None:
        size, n = curve.secret_bytes, order(curve)
        good = (n - 1).to_bytes(size, "big")
        numbers = [0, n, 256**size - 1]
        secrets = [good, *(number.to_bytes(size, "big") for number in numbers), good[1:], good + b"\0", b""]
        points, statuses = curve.public_keys(secrets, errors="status")
        assert statuses.tolist() == [Status.OK] + [Status.ECC_SECRET] * 6
        assert points[0] == curve.public_keys(n - 1)
        assert points[1:] == [b""] * 6
        assert curve.sign(secrets, b"m", errors="status")[1].tolist() == statuses.tolist()
        assert curve.exchange(secrets, points[0], errors="status")[1].tolist() == statuses.tolist()
        with pytest.raises(ItemValueError, match="private key, nonce or scalar is out of range.*items 1, 2"):
            curve.sign(secrets, b"m")

    @pytest.mark.parametrize("curve", [*WEIERSTRASS[:4], ecc.BN254, ecc.BLS12_381], ids=named)
    def test_points(self, curve: ecc.Curve) -> None:
        good, size = curve.public_keys(2), curve.coordinate_bytes
        top = b"\xff" * size
        bad = [
            b"",
            b"\4",
            good[:-1],
            good + b"\0",
            b"\5" + good[1:],
            b"\4" + top + good[1 + size :],
            good[: 1 + size] + top,
            good[:-1] + bytes([good[-1] ^ 1]),
            b"\2" + top,
            b"\0" * (1 + 2 * size),
        ]
        points, statuses = curve.points([good, *bad, b"\0", good], errors="status")
        assert statuses.tolist() == [0] + [Status.ECC_POINT] * len(bad) + [0, 0]
        assert [points[0], *points[-2:]] == [good, b"\0", good]
        secrets = [1] * (len(bad) + 2)
        shared, statuses = curve.exchange(secrets, [good, *bad, b"\0"], errors="status")
        assert statuses.tolist() == [0] + [Status.ECC_POINT] * (len(bad) + 1)
        assert shared[0] == good[1 : 1 + size]
        with pytest.raises(ItemValueError, match="point of the curve") as caught:
            curve.exchange(secrets, [good, *bad, b"\0"])
        assert caught.value.result is None
        assert caught.value.indices == list(range(1, len(bad) + 2))

    @pytest.mark.parametrize("curve", WEIERSTRASS[:4], ids=named)
    def test_signatures(self, curve: ecc.Curve) -> None:
        """r and s of 0, n and more, wrong lengths, bad keys; no other item is spoilt."""
        public, size, n = curve.public_keys(5), curve.scalar_bytes, order(curve)
        good = curve.sign(5, b"m")
        r, s = good[:size], good[size:]
        numbers = [number.to_bytes(size, "big") for number in (0, n, 256**size - 1)]
        bad = [
            *(number + s for number in numbers),
            *(r + number for number in numbers),
            b"",
            good[:-1],
            good + b"\0",
        ]
        verdicts, statuses = curve.verify(public, [good, *bad, good], b"m", errors="status")
        assert verdicts == [True] + [False] * len(bad) + [True]
        assert statuses.tolist() == [0] + [Status.ECC_SIGNATURE] * len(bad) + [0]
        verdicts, statuses = curve.verify(
            [public, b"\0", public[:-1], public], [good] * 4, b"m", errors="status"
        )
        assert verdicts == [True, False, False, True]
        assert statuses.tolist() == [0, Status.ECC_POINT, Status.ECC_POINT, 0]
        assert curve.verify(public, [good, *bad], b"m") == [True] + [False] * len(bad)
        with pytest.raises(ItemValueError, match="encoding of a signature"):
            curve.verify(public, [good, *bad], b"m", errors="raise")

    def test_der(self) -> None:
        good = ecc.P256.sign(7, b"m", encoding="der")
        r, s = utils.decode_dss_signature(good)
        assert ecc.P256.sign(7, b"m") == r.to_bytes(32, "big") + s.to_bytes(32, "big")
        body = good[2:]
        bad = [
            good + b"\0",
            good[:-1],
            b"\x30\x81" + bytes([len(body)]) + body,
            b"\x31" + good[1:],
            b"\x30" + bytes([len(body) + 1]) + b"\x02" + bytes([body[1] + 1]) + b"\0" + body[2:],
            utils.encode_dss_signature(r, 0),
            b"",
        ]
        how: Any = {"encoding": "der", "errors": "status"}
        verdicts, statuses = ecc.P256.verify(ecc.P256.public_keys(7), [good, *bad], b"m", **how)
        assert verdicts == [True] + [False] * len(bad)
        assert statuses.tolist() == [0] + [Status.ECC_SIGNATURE] * len(bad)

    def test_high_s(self) -> None:
        """secp256k1 signs and accepts low s by default, other curves take either."""
        for curve in (ecc.SECP256K1, ecc.P256):
            public, n = curve.public_keys(9), order(curve)
            signature = curve.sign([9] * 8, [bytes([i]) for i in range(8)], low_s=True)
            assert all(int.from_bytes(item[32:], "big") <= n // 2 for item in signature)
            high = signature[0][:32] + (n - int.from_bytes(signature[0][32:], "big")).to_bytes(32, "big")
            accepts = curve is ecc.P256
            assert curve.verify(public, high, b"\0") is accepts
            assert curve.verify(public, high, b"\0", low_s=False) is True
            assert curve.verify(public, high, b"\0", low_s=True) is False
            assert curve.verify(public, signature[0], b"\0", low_s=True) is True

    def test_nonces(self) -> None:
        nonces = [number.to_bytes(32, "big") for number in (1, 0, ORDERS["P-256"], 2)] + [b"\1"]
        signatures, statuses = ecc.P256.sign(3, b"m", nonces=nonces, errors="status")
        assert statuses[[0, 3]].tolist() == [0, 0]
        assert all(statuses[i] in {Status.ECC_SECRET, Status.ECC_LENGTH} for i in (1, 2, 4))
        assert signatures[1] == b""
        assert signatures[0][:32] == ecc.P256.multiply(1, encoding="x")
        assert ecc.P256.verify(ecc.P256.public_keys(3), [signatures[0], signatures[3]], b"m") == [True] * 2

    def test_small_orders(self) -> None:
        zero = [bytes(32), (1).to_bytes(32, "little"), (2**255 - 19).to_bytes(32, "little")]
        base = (9).to_bytes(32, "little")
        results, statuses = ecc.X25519.exchange(bytes(range(32)), [*zero, base], errors="status")
        assert statuses.tolist() == [Status.ECC_SMALL_ORDER] * 3 + [0]
        assert results[3] == ecc.X25519.public_keys(bytes(range(32)))
        masked = ecc.X25519.exchange(bytes(range(32)), base[:31] + b"\x80")
        assert masked == results[3]

    def test_curves_that_do_not_suit(self) -> None:
        ring = ecc.KeyRing([ecc.Key.generate(curve) for curve in (ecc.P256, ecc.X25519)])
        signatures, statuses = ring.sign([b"m"] * 4, [0, 1, 2, -1], errors="status")
        assert statuses.tolist() == [0] + [Status.ECC_CURVE] * 3
        assert ring[0].verify(signatures[0], b"m") is True
        public = ecc.KeyRing([ring[0].public_key(), ring[0]])
        assert public.sign([b"m"] * 2, [0, 1], errors="status")[1].tolist() == [Status.ECC_SECRET, 0]

    def test_keys_that_are_not_told(self) -> None:
        """Which key an item has must be said where a ring has several; a public key signs nothing."""
        ring = ecc.KeyRing([ecc.Key.generate(ecc.P256), ecc.Key.generate(ecc.P384)])
        signature = ring.sign(b"m", 1)
        for call in (lambda: ring.sign([b"m"]), lambda: ring.verify([signature], [b"m"])):
            with pytest.raises(TypeError, match="key_indices are needed: they tell which of the 2 keys"):
                call()
        assert ecc.KeyRing([ring[1]]).verify(signature, b"m")
        lengths = "^batches of different lengths: messages has 2, key_indices has 1$"
        with pytest.raises(ValueError, match=lengths):
            ring.sign([b"m"] * 2, [0])
        with pytest.raises(ValueError, match="messages has 2, key_indices has 1$"):
            ring.verify(signature, [b"m"] * 2, [0])
        public = ring[0].public_key()
        for refused in (lambda: public.sign(b"m"), lambda: public.exchange(public.public_bytes())):
            with pytest.raises(TypeError, match="a public key has no secret"):
                refused()

    def test_recovery(self) -> None:
        for curve in (ecc.SECP256K1, ecc.P256):
            signatures = curve.sign([11, 12, 13], MESSAGES[:3], encoding="recoverable")
            assert [len(item) for item in signatures] == [65] * 3
            expected = curve.public_keys([11, 12, 13])
            assert curve.recover(signatures, MESSAGES[:3]) == expected
            other = signatures[0][:64] + bytes([signatures[0][64] ^ 1])
            wrong = [other, signatures[0][:64] + b"\4", signatures[0][:64]]
            keys, statuses = curve.recover([*wrong, signatures[0]], MESSAGES[0], errors="status")
            assert keys[0] not in {expected[0], b""}
            assert keys[3] == expected[0]
            assert statuses.tolist() == [0, Status.ECC_SIGNATURE, Status.ECC_SIGNATURE, 0]
            # x = r + n is above p for nearly every r.
            out_of_range = signatures[0][:64] + bytes([signatures[0][64] | 2])
            assert curve.recover([out_of_range], MESSAGES[0], errors="status")[1] == [Status.ECC_NO_KEY]

    def test_digests(self) -> None:
        """ECDSA takes digests of any length, by their leftmost bits; EdDSA's have their length."""
        digest = bytes(range(1, 65))
        for size in (0, 1, 31, 32, 33, 64):
            prehashed = ecc.Prehashed("sha256")
            signature = ecc.P256.sign(21, digest[:size], algorithm=prehashed)
            public = ecc.P256.public_keys(21)
            assert ecc.P256.verify(public, signature, digest[:size], algorithm=prehashed) is True
            cut = ecc.P256.verify(public, signature, digest[: min(size, 32)], algorithm=prehashed)
            assert cut is True
        statuses = ecc.ED25519.sign(
            bytes(32), [digest, digest[:63]], algorithm=ecc.Prehashed("sha512"), errors="status"
        )[1]
        assert statuses.tolist() == [0, Status.ECC_LENGTH]


class TestArithmetic:
    """Exceptional cases of addition and multiplication."""

    @pytest.mark.parametrize("curve", [*WEIERSTRASS[:4], ecc.BN254], ids=named)
    def test_addition(self, curve: ecc.Curve) -> None:
        one, two, three = curve.multiply([1, 2, 3])
        size = curve.coordinate_bytes
        minus = curve.points(bytes([one[-1] % 2 ^ 3]) + one[1 : 1 + size])
        infinity = b"\0"
        sums = curve.add([one, one, one, infinity, one, infinity], [two, one, minus, one, infinity, infinity])
        assert sums == [three, two, infinity, one, one, infinity]
        rows = np.zeros((2, 1 + 2 * size), np.uint8)
        rows[0] = np.frombuffer(one, np.uint8)
        added = curve.add(rows, rows[::-1].copy())
        assert (added == rows[0]).all()
        opposites = np.frombuffer(minus + infinity * len(minus), np.uint8).reshape(2, -1)
        used = np.full_like(rows, 0xAA)
        assert not curve.add(rows, opposites, out=used).any()
        assert not used.any()

    def test_multiplication(self) -> None:
        n = order(ecc.P256)
        scalars = [0, 1, 2, n - 1, n, n + 1, 2**256 - 1]
        points = ecc.P256.multiply(scalars)
        generator = oracle.P256.generator
        for scalar, point in zip(scalars, points, strict=True):
            expected = multiply(oracle.P256, scalar % n, generator)
            coordinates = b"" if expected is None else b"".join(x.to_bytes(32, "big") for x in expected)
            assert point == (b"\4" + coordinates if coordinates else b"\0")
        assert ecc.P256.multiply(scalars, [b"\0"] * 7) == [b"\0"] * 7
        assert ecc.P256.multiply(scalars, points[1]) == points

    def test_sums(self) -> None:
        points = ecc.SECP256K1.multiply(list(range(1, 101)))
        expected = ecc.SECP256K1.multiply(sum(k * (k + 7) for k in range(1, 101)))
        assert ecc.SECP256K1.msm([k + 7 for k in range(1, 101)], points) == expected
        assert ecc.SECP256K1.msm([], []) == b"\0"
        with pytest.raises(ItemValueError, match="item 1"):
            ecc.SECP256K1.msm([1, 1], [points[0], b"\4"])
        with pytest.raises(ValueError, match="nulls"):
            ecc.SECP256K1.msm(pa.array([bytes(32), None]), points[0])

    def test_edwards(self) -> None:
        secrets, points = ecc.ED25519.generate(3)
        assert secrets.shape == (3, 32)
        identity = ecc.ED25519.multiply(0)
        assert identity == b"\1" + bytes(31)
        assert ecc.ED25519.multiply(1).hex() == "58" + "66" * 31
        assert (ecc.ED25519.add(points, identity) == points).all()
        doubled = ecc.ED25519.add(points, points)
        assert (ecc.ED25519.multiply([2, 2, 2], points) == doubled).all()

    def test_own_curve(self) -> None:
        numbers = oracle.SECP256K1
        own = ecc.Curve(p=numbers.p, a=numbers.a, b=numbers.b, generator=numbers.generator, n=numbers.n)
        assert own.name == ""
        assert own.public_keys(77) == ecc.SECP256K1.public_keys(77)
        signature = own.sign(77, b"m", algorithm="sha256", low_s=True)
        assert ecc.SECP256K1.verify(own.public_keys(77), signature, b"m") is True
        assert pickle.loads(pickle.dumps(own)) == own
        with pytest.raises(InvalidKeyError):
            ecc.Curve(p=numbers.p, a=numbers.a, b=numbers.b, generator=(1, 1), n=numbers.n)
        with pytest.raises(InvalidKeyError):
            ecc.Curve(p=numbers.p, a=numbers.a, b=numbers.b, generator=numbers.generator, n=numbers.n + 2)
        with pytest.raises(ValueError, match="negative"):
            ecc.Curve(p=numbers.p, a=-3, b=numbers.b, generator=numbers.generator, n=numbers.n)

    def test_x_alone_of_bip_340(self) -> None:
        key = ecc.Key.from_secret(ecc.SECP256K1, 3)
        secret = key.secret_bytes()
        assert schnorr.public_key(secret) == key.public_bytes("x")
        assert key.sign(b"m", scheme="bip340") == schnorr.sign(secret, b"m", bytes(32))
        ring = ecc.KeyRing([key, ecc.Key.generate(ecc.SECP256K1)])
        signatures = ring.sign([b"a", b"b"], [0, 1], scheme="bip340")
        assert ring.verify(signatures, [b"a", b"b"], [0, 1], scheme="bip340") == [True, True]
        assert ring.verify_all(signatures, [b"a", b"b"], [0, 1], scheme="bip340") is True
        assert ecc.Key.from_public(ecc.SECP256K1, key.public_bytes("x")).public_bytes(
            "x"
        ) == key.public_bytes("x")


class TestOptions:
    """Options are checked, and have their effect."""

    def test_names(self) -> None:
        for name, wrong in (("scheme", "rsa"), ("encoding", "asn1"), ("nonces", "random")):
            options: Any = {name: wrong}
            with pytest.raises(ValueError, match=f"{name} must be one of"):
                ecc.P256.sign(1, b"", **options)
        wrong_options: Any = {"colour": 1}
        for call in (ecc.P256.sign, ecc.P256.exchange, ecc.P256.multiply):
            with pytest.raises(TypeError, match="colour"):
                call(1, ecc.P256.multiply(1), **wrong_options)
        with pytest.raises(ValueError, match="policy must be"):
            ecc.ED25519.verify(bytes(32), bytes(64), b"", policy="loose")  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="errors must be"):
            ecc.P256.verify(b"", b"", b"", errors="ignore")  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="own hash"):
            ecc.ED25519.sign(bytes(32), b"", algorithm="sha256")
        with pytest.raises(ValueError, match="sha512"):
            ecc.ED25519.sign(bytes(32), b"", algorithm=ecc.Prehashed("sha256"))
        with pytest.raises(ValueError, match="own hash"):
            ecc.SECP256K1.sign(1, b"", scheme="bip340", algorithm="sha256")
        with pytest.raises(ValueError, match="no curve"):
            ecc.Curve.named("P-257")
        with pytest.raises(manymod.VariantError):
            ecc.P256.sign(1, b"", variant="none")

    def test_batches_of_eddsa_need_the_cofactor(self) -> None:
        with pytest.raises(ValueError, match=r"(?i)zip ?_?215|cofactor"):
            ecc.ED25519.verify_all([bytes(32)], [bytes(64)], [b""])

    def test_policies(self) -> None:
        """A signature by a key of order 1: R = A = identity, S = 0; and an identity that is not canonical."""
        identity = b"\1" + bytes(31)
        other = (2**255 - 18).to_bytes(32, "little")
        expected = {"rfc8032": [True, False], "strict": [False, False], "zip215": [True, True]}
        for policy, verdicts in expected.items():
            how: Any = {"policy": policy}
            found = ecc.ED25519.verify(
                [identity, other], [identity + bytes(32), other + bytes(32)], b"m", **how
            )
            assert found == verdicts, policy
        too_large = (2**252 + 27742317777372353535851937790883648493).to_bytes(32, "little")
        for policy in expected:
            how = {"policy": policy}
            assert ecc.ED25519.verify(identity, identity + too_large, b"m", **how) is False

    def test_variants_and_threads_agree(self) -> None:
        for curve in (ecc.P256, ecc.ED25519):
            secrets, _ = curve.generate(33)
            expected = curve.sign(secrets, b"m", threads=1)
            for variant in ecc.variants(curve):
                assert (curve.sign(secrets, b"m", variant=variant, threads=2) == expected).all(), variant

    def test_progress(self) -> None:
        seen: list[tuple[int, int]] = []
        ecc.P256.public_keys([1, 2, 3], progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (3, 3)

        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ecc.P256.public_keys([1] * 3, progress=stop)


def test_sums_at_infinity() -> None:
    """They are a point, which x alone cannot be."""
    scalars, points = [order(ecc.P256) - 1, 1], [ecc.P256.public_keys(7)] * 2
    assert ecc.P256.msm(scalars, points) == b"\0"
    with pytest.raises(ItemValueError) as caught:
        ecc.P256.msm(scalars, points, encoding="x")
    assert caught.value.statuses.tolist() == [Status.ECC_POINT] * 2
    assert ecc.P256.msm(scalars, points, encoding="x", errors="status")[0] == b""
    with pytest.raises(ItemValueError, match="infinity"):
        ecc.P256.msm([], [], encoding="x")
    for curve, encoding in ((ecc.P256, "x"), (ecc.X25519, "uncompressed")):
        none, statuses = curve.msm([], [], encoding=encoding, errors="status")  # type: ignore[arg-type]
        assert (none, statuses.tolist()) == (b"", [])


class TestSm2Exchange:
    """Key exchanges of GB/T 32918.3, against reference.ecc."""

    secrets, once, theirs_once = [5, 6, 7], [1001, 1002, 1003], [2001, 2002, 2003]

    def sides(self, **how: Any) -> tuple[Any, Any]:
        keys, sent = ecc.SM2.public_keys(self.secrets), ecc.SM2.public_keys(self.once)
        ours, theirs = (self.secrets, self.once), (9, self.theirs_once)
        initiator = ecc.SM2.sm2_exchange(*ours, *map(ecc.SM2.public_keys, theirs), **how)
        if "ids" in how or "peer_ids" in how:
            how["ids"], how["peer_ids"] = how.pop("peer_ids", None), how.pop("ids", None)
        responder = ecc.SM2.sm2_exchange(*theirs, keys, sent, responder=True, **how)
        return initiator, responder

    @pytest.mark.parametrize("size", [1, 16, 33, 1000])
    def test_keys(self, size: int) -> None:
        initiator, responder = self.sides(key_bytes=size, ids=b"ours", peer_ids=[b"a", b"bc", b""])
        assert initiator == responder
        names = (b"a", b"bc", sm2.DEFAULT_ID)
        items = zip(self.secrets, self.once, self.theirs_once, names, initiator, strict=True)
        for d, r, theirs, name, key in items:
            peer: Any = [multiply(sm2.CURVE, factor, sm2.CURVE.generator) for factor in (9, theirs)]
            assert key == sm2.exchange((d, r), peer, (b"ours", name), size, initiator=True)

    def test_confirmations(self) -> None:
        initiator, responder = self.sides(confirm=True)
        assert initiator == responder
        assert [len(key) for key in initiator] == [16 + 64] * 3
        assert len({part for key in initiator for part in (key[16:48], key[48:])}) == 6

    def test_rows(self) -> None:
        """The ephemeral keys that were sent decide the kind of the answer."""
        (secrets, keys), (once, sent) = ecc.SM2.generate(3), ecc.SM2.generate(3)
        rows = ecc.SM2.sm2_exchange(secrets[0].tobytes(), once, keys, sent)
        assert (rows.dtype, rows.shape) == (np.uint8, (3, 16))
        listed = ecc.SM2.sm2_exchange(
            secrets[0].tobytes(), once, keys, [row.tobytes() for row in sent], key_bytes=20
        )
        assert [key[:16] for key in listed] == [row.tobytes() for row in rows]

    def test_errors(self) -> None:
        key, message = ecc.SM2.public_keys(9), ecc.SM2.public_keys(2001)
        keys, statuses = ecc.SM2.sm2_exchange(
            [5, 0, 5], [6, 6, 0], key, [message, message, b"x"], errors="status"
        )
        assert [len(item) for item in keys] == [16, 0, 0]
        assert statuses.tolist() == [Status.OK, Status.ECC_SECRET, Status.ECC_SECRET]
        with pytest.raises(ItemValueError, match="private key") as caught:
            ecc.SM2.sm2_exchange([5, 0], [6, 6], key, message)
        assert caught.value.result is None
        with pytest.raises(ItemValueError):
            ecc.P256.sm2_exchange(5, 6, ecc.P256.public_keys(9), ecc.P256.public_keys(7))
        with pytest.raises(ValueError, match="ephemeral_secrets: each exchange needs its own"):
            ecc.SM2.sm2_exchange(5, 6, key, [message] * 2)
        for size in (0, -1, 65537):
            with pytest.raises(ValueError, match="key_bytes"):
                ecc.SM2.sm2_exchange(5, 6, key, message, key_bytes=size)
