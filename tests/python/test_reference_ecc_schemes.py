# SPDX-License-Identifier: Apache-2.0
"""The oracle's schemes: the mistakes of naive code, tiny curves whole, the cryptography package."""

from __future__ import annotations

import hashlib
import random
from itertools import product

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, utils, x448, x25519
from reference.ecc import ecdh, ecdsa, eddsa, encodings, schnorr, sm2, xdh
from reference.ecc.curves import (
    CURVE448,
    CURVE25519,
    EDWARDS25519,
    P256,
    P521,
    SECP256K1,
    Affine,
    Weierstrass,
)
from reference.ecc.encodings import EncodingError
from reference.ecc.groups import AffineGroup, EdwardsGroup, multiply, multiply_edwards
from reference.ecc.tiny import TINY_NARROW_ORDER, TINY_WIDE_ORDER
from tests.python.ecc_support import CURVES, PEERS

BY_NAME = {curve.name: curve for curve in CURVES.values()}
DIGEST = hashlib.sha256(b"manymod").digest()


def affine(point: Affine | None) -> Affine:
    assert point is not None
    return point


def key(curve: Weierstrass, d: int) -> Affine:
    return affine(multiply(curve, d, curve.generator))


@pytest.mark.parametrize("curve", [TINY_NARROW_ORDER, TINY_WIDE_ORDER], ids=["x may exceed n", "x below n"])
def test_ecdsa_of_tiny_curves(curve: Weierstrass) -> None:
    """Signatures with nonces of all kinds verify and give the key back; all (r, s) of one key and digest."""
    beyond = 0
    for d, k in product(range(1, curve.n, 17), range(1, curve.n)):
        public, digest = key(curve, d), bytes([(5 * d + k) % 256])
        signature = ecdsa.sign_with_nonce(curve, d, digest, k)
        if signature is None:
            continue
        assert ecdsa.verify(curve, public, digest, signature.r, signature.s)
        assert ecdsa.recover(curve, digest, signature.r, signature.s, signature.recovery_id) == public
        beyond += signature.recovery_id >> 1
    assert (beyond > 0) == (curve is TINY_NARROW_ORDER)
    d, digest, group = 9, b"\xa5", AffineGroup(curve)
    public, e = key(curve, d), ecdsa.digest_integer(digest, curve.n)
    for r, s in product(range(-1, curve.n + 2), range(-1, curve.n + 2, 5)):
        expected = False
        if 0 < r < curve.n and 0 < s < curve.n:
            u1, u2 = (value * pow(s, -1, curve.n) % curve.n for value in (e, r))
            point = group.mul(multiply(curve, u1, curve.generator), multiply(curve, u2, public))
            expected = point is not None and point[0] % curve.n == r
        assert ecdsa.verify(curve, public, digest, r, s) == expected


def test_x_of_r_may_be_n_or_more() -> None:
    """On P-256: R with n <= x < p. r = x - n verifies, and recovery ids 2 and 3 find the key."""
    curve = P256
    x = next(x for x in range(curve.n, curve.p) if curve.lift_x(x, 0) is not None)
    r, s, e = x - curve.n, 12345, int.from_bytes(DIGEST, "big")
    group = AffineGroup(curve)
    for parity in (0, 1):
        nonce_point = affine(curve.lift_x(x, parity))
        sums = group.mul(multiply(curve, s, nonce_point), multiply(curve, -e, curve.generator))
        public = affine(multiply(curve, pow(r, -1, curve.n), sums))
        assert ecdsa.verify(curve, public, DIGEST, r, s)
        assert ecdsa.recover(curve, DIGEST, r, s, 2 + parity) == public
    # r + n is p or more: nothing to recover, and no wrap-around.
    assert ecdsa.recover(curve, DIGEST, curve.p - curve.n, s, 2) is None
    assert ecdsa.recover(curve, DIGEST, r, s, 4) is None


def test_infinity_is_no_signature() -> None:
    """u1 G + u2 Q = infinity for e = -r d, which a signer can choose."""
    for curve in (P256, SECP256K1):
        d, r, s = 987654321, 4242, 77
        digest = (-r * d % curve.n).to_bytes(32, "big")
        assert not ecdsa.verify(curve, key(curve, d), digest, r, s)
        assert not ecdsa.verify(curve, key(curve, 1), (-r % curve.n).to_bytes(32, "big"), r, s)


@pytest.mark.parametrize("scalar", [1, 2, P256.n - 1, P256.n - 2])
def test_keys_that_are_small_multiples_of_the_generator(scalar: int) -> None:
    """Q = G, 2 G, -G: tables and partial sums meet doublings and infinity."""
    signature = ecdsa.sign(P256, scalar, DIGEST, "sha256")
    public = key(P256, scalar)
    assert ecdsa.verify(P256, public, DIGEST, signature.r, signature.s)
    assert not ecdsa.verify(P256, AffineGroup(P256).inv(public) or public, DIGEST, signature.r, signature.s)


def test_r_and_s_are_in_range_before_they_are_reduced() -> None:
    curve, d = SECP256K1, 31337
    signature = ecdsa.sign(curve, d, DIGEST, "sha256", low_s=True)
    public, n = key(curve, d), curve.n
    r, s = signature.r, signature.s
    assert ecdsa.verify(curve, public, DIGEST, r, s)
    for bad in ((r + n, s), (r, s + n), (0, s), (r, 0), (n, s), (r, n), (-r, s), (r, s - n)):
        assert not ecdsa.verify(curve, public, DIGEST, *bad)
        assert ecdsa.recover(curve, DIGEST, *bad, 0) is None
    for outside in ((curve.p, 1), (1, 1), (public[0] + curve.p, public[1]), (public[0], -public[1])):
        assert not ecdsa.verify(curve, outside, DIGEST, r, s)


def test_low_s_is_a_rule_of_its_own() -> None:
    """n - s verifies unless low s is asked for; signing with it flips the recovery id."""
    curve, d = SECP256K1, 4711
    highs = 0
    for i in range(6):
        digest = hashlib.sha256(bytes([i])).digest()
        plain, low = (ecdsa.sign(curve, d, digest, "sha256", low_s=low_s) for low_s in (False, True))
        assert low.s <= curve.n // 2
        assert plain.s in {low.s, curve.n - low.s}
        public = key(curve, d)
        assert ecdsa.recover(curve, digest, low.r, low.s, low.recovery_id) == public
        assert ecdsa.verify(curve, public, digest, low.r, curve.n - low.s)
        assert not ecdsa.verify(curve, public, digest, low.r, curve.n - low.s, require_low_s=True)
        assert ecdsa.verify(curve, public, digest, low.r, low.s, require_low_s=True)
        highs += plain != low
    assert 0 < highs < 6


def test_digests_of_other_lengths() -> None:
    """Leftmost bits by the length of the digest, leading zeros included; a digest of n or more is fine."""
    assert ecdsa.digest_integer(b"\x00" * 4 + b"\xff" * 60, P256.n) == (1 << 224) - 1
    assert ecdsa.digest_integer(b"\xff" * 64, P521.n) == (1 << 512) - 1
    assert ecdsa.digest_integer(b"\xff" * 66, P521.n) == (1 << 521) - 1
    for digest in (b"", b"\x01", b"\xff" * 32, b"\x00" * 64, hashlib.sha512(b"").digest()):
        signature = ecdsa.sign(P256, 99, digest, "sha256")
        assert ecdsa.verify(P256, key(P256, 99), digest, signature.r, signature.s)


def test_nonces_are_of_the_length_of_n() -> None:
    """P-521: 66 bytes of HMAC output shifted right by 7; candidates of n or more are skipped."""
    nonces = ecdsa.nonces(P521.n, 5, hashlib.sha512(b"").digest(), "sha512")
    drawn = [next(nonces) for _ in range(20)]
    assert len(set(drawn)) == 20
    assert 518 <= max(drawn).bit_length() <= 521
    small = ecdsa.nonces(257, 5, b"x", "sha256")
    assert all(0 < next(small) < 257 for _ in range(50))


def test_hedged_signatures_differ_and_verify() -> None:
    signatures = [ecdsa.sign(P256, 7, DIGEST, "sha256", extra=bytes([i]) * 32) for i in range(2)]
    assert len({signature.r for signature in signatures}) == 2
    for signature in signatures:
        assert ecdsa.verify(P256, key(P256, 7), DIGEST, signature.r, signature.s)


def test_a_nonce_that_gives_zero_is_refused() -> None:
    """s = 0 for e = -r d."""
    r = key(P256, 3)[0] % P256.n
    assert ecdsa.sign_with_nonce(P256, 11, (-r * 11 % P256.n).to_bytes(32, "big"), 3) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "no element of type 30"),
        ("3006020101020101ff", "bytes follow the signature"),
        ("3007020101020101ff", "bytes follow s"),
        ("300602010102010", "non-hexadecimal"),
        ("3006020101030101", "no element of type 02"),
        ("3106020101020101", "no element of type 30"),
        ("308006020101020101", "indefinite"),
        ("30810602010102010100", "not minimal"),
        ("300702020001020101", "an integer is not minimal"),
        ("3006020181020101", "negative"),
        ("30050200020101", "empty"),
        ("3007020101020101", "cut off"),
        ("30060202010102", "cut off"),
        ("3082000602010102010100", "too long"),
    ],
)
def test_der_is_strict(data: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encodings.decode_der(bytes.fromhex(data))


def test_der_and_raw_of_all_lengths() -> None:
    draw = random.Random(11)
    for bits in (1, 7, 8, 127, 128, 256, 384, 512, 521):
        r, s = draw.getrandbits(bits) | 1 << (bits - 1), draw.getrandbits(bits)
        data = encodings.encode_der(r, s)
        assert encodings.decode_der(data) == (r, s) == utils.decode_dss_signature(data)
        assert data == utils.encode_dss_signature(r, s)
        assert encodings.decode_raw(encodings.encode_raw(r, s, 66), 66) == (r, s)
    with pytest.raises(EncodingError, match="64 bytes"):
        encodings.decode_raw(bytes(65), 32)


def test_points_are_checked() -> None:
    """Lengths, forms, ranges, residues and the equation; infinity and hybrids are rejected."""
    curve = P256
    x, y = curve.generator
    good = encodings.encode_point(curve, (x, y), compressed=False)
    assert encodings.decode_point(curve, good) == (x, y)
    missing = next(x for x in range(1, 100) if curve.lift_x(x, 0) is None)
    small = next(x for x in range(1, 100) if curve.lift_x(x, 0) is not None)
    for data, message in [
        (b"\x00", "bytes"),
        (b"\x04" + good[1:-1], "bytes"),
        (good + b"\x00", "bytes"),
        (b"\x06" + good[1:], "04"),
        (b"\x07" + good[1:], "04"),
        (b"\x05" + good[1:33], "02 or 03"),
        (b"\x02" + curve.p.to_bytes(32, "big"), "below p"),
        (b"\x02" + (curve.p + small).to_bytes(32, "big"), "below p"),
        (b"\x02" + missing.to_bytes(32, "big"), "not on the curve"),
        (good[:-1] + bytes([good[-1] ^ 1]), "not on the curve"),
        (b"\x04" + bytes(64), "not on the curve"),
        (b"\x04" + b"\xff" * 64, "below p"),
    ]:
        with pytest.raises(EncodingError, match=message):
            encodings.decode_point(curve, data)
    assert curve.lift_x(curve.p + small, 0) is None


def test_ecdh_refuses_points_off_the_curve() -> None:
    assert ecdh.raw(P256, 5, (1, 1)) is None
    assert ecdh.raw(P256, 5, (P256.generator[0], P256.generator[1] + P256.p)) is None
    assert ecdh.raw(P256, 0, P256.generator) is None
    assert ecdh.hashed(SECP256K1, SECP256K1.n, SECP256K1.generator) is None
    point = key(SECP256K1, 6)
    assert (
        ecdh.hashed(SECP256K1, 2, key(SECP256K1, 3))
        == hashlib.sha256(encodings.encode_point(SECP256K1, point)).digest()
    )


def test_x25519_takes_every_string_of_bytes() -> None:
    """The top bit is masked, p + 9 is 9, points of the twist work, and small orders give zeros, reported."""
    p, scalar = EDWARDS25519.p, bytes(range(32))
    nine = (9).to_bytes(32, "little")
    expected, nonzero = xdh.x25519(scalar, nine)
    assert nonzero
    assert xdh.x25519(scalar, (9 + (1 << 255)).to_bytes(32, "little"))[0] == expected
    assert xdh.x25519(scalar, (9 + p).to_bytes(32, "little"))[0] == expected
    two = (2).to_bytes(32, "little")  # 2^3 + 486662 2^2 + 2 is no square: a point of the twist
    peer = x25519.X25519PrivateKey.from_private_bytes(scalar).exchange(
        x25519.X25519PublicKey.from_public_bytes(two)
    )
    assert xdh.x25519(scalar, two) == (peer, True)
    order_8 = 325606250916557431795983626356110631294008115727848805560023387167927233504
    for u in (0, 1, p - 1, p, p + 1, order_8):
        assert xdh.x25519(scalar, u.to_bytes(32, "little")) == (bytes(32), False)
    assert xdh.x448(bytes(56), bytes(56)) == (bytes(56), False)
    with pytest.raises(ValueError, match="32 bytes"):
        xdh.x25519(scalar, bytes(31))


def accepted(public: bytes, message: bytes, signature: bytes) -> list[bool]:
    """Return what the policies rfc8032, strict and zip215 say."""
    return [
        eddsa.verify(eddsa.ED25519, public, message, signature, policy=policy)  # type: ignore[arg-type]
        for policy in ("rfc8032", "strict", "zip215")
    ]


def small_order_point() -> Affine:
    """Return a point of order 8: n times a point that is no multiple of B."""
    for y in range(2, 50):
        point = eddsa.decode(eddsa.ED25519, y.to_bytes(32, "little"))
        if point is not None:
            torsion = multiply_edwards(EDWARDS25519, EDWARDS25519.n, point)
            if multiply_edwards(EDWARDS25519, 4, torsion) != (0, 1):
                return torsion
    raise AssertionError


def forged(a: int, public: bytes, r: int, first: bytes, message: bytes) -> bytes:
    """Return first || r + k a, for any bytes as the encodings of A and R."""
    k = eddsa.ED25519.hash_integer(first, public, message)
    return first + ((r + k * a) % EDWARDS25519.n).to_bytes(32, "little")


def test_policies_of_ed25519() -> None:
    curve, group = EDWARDS25519, EdwardsGroup(EDWARDS25519)
    base, torsion, message = curve.generator, small_order_point(), b"message"

    def encode(point: Affine) -> bytes:
        return eddsa.encode(eddsa.ED25519, point)

    first = encode(multiply_edwards(curve, 5, base))
    # An honest signature, and S + L.
    public = encode(multiply_edwards(curve, 7, base))
    good = forged(7, public, 5, first, message)
    assert accepted(public, message, good) == [True, True, True]
    s = int.from_bytes(good[32:], "little") + curve.n
    assert accepted(public, message, first + s.to_bytes(32, "little")) == [False, False, False]
    # A of small order: one signature of every message.
    identity = encode((0, 1))
    assert accepted(identity, message, forged(0, identity, 5, first, message)) == [True, False, True]
    # R of small order, k A = S B.
    assert accepted(public, message, forged(7, public, 0, identity, message)) == [True, False, True]
    # A with a component of order 8: the equation holds only times 8 (unless 8 divides k).
    mixed = encode(group.mul(multiply_edwards(curve, 7, base), torsion))
    message = next(
        m
        for m in (bytes([i]) for i in range(64))
        if eddsa.ED25519.hash_integer(first, mixed, m) % curve.n % 8
    )
    assert accepted(mixed, message, forged(7, mixed, 5, first, message)) == [False, False, True]
    # Encodings that are not canonical: y = p + 1 for 1, and -0. Their own bytes are hashed.
    for odd in ((curve.p + 1).to_bytes(32, "little"), (1 | 1 << 255).to_bytes(32, "little")):
        assert accepted(odd, message, forged(0, odd, 5, first, message)) == [False, False, True]
        assert accepted(public, message, forged(7, public, 0, odd, message)) == [False, False, True]
    # Not on the curve; wrong lengths.
    assert accepted((2).to_bytes(32, "little"), message, good) == [False, False, False]
    assert accepted(public[:31], message, good) == [False, False, False]
    assert accepted(public, message, good[:63]) == [False, False, False]


def test_batches_of_ed25519() -> None:
    """One verdict: good ones pass, any bad one fails, and cofactored signatures pass whatever z is."""
    draw = random.Random(12)
    items = []
    for i in range(4):
        private = bytes([i]) * 32
        items.append(
            (
                eddsa.public_key(eddsa.ED25519, private),
                bytes([i]),
                eddsa.sign(eddsa.ED25519, private, bytes([i])),
            )
        )
    assert eddsa.verify_batch(eddsa.ED25519, items, draw.getrandbits)
    assert eddsa.verify_batch(eddsa.ED25519, [], draw.getrandbits)
    mixed = eddsa.encode(
        eddsa.ED25519,
        EdwardsGroup(EDWARDS25519).mul(
            multiply_edwards(EDWARDS25519, 7, EDWARDS25519.generator), small_order_point()
        ),
    )
    first = eddsa.encode(eddsa.ED25519, multiply_edwards(EDWARDS25519, 5, EDWARDS25519.generator))
    cofactored = (mixed, b"m", forged(7, mixed, 5, first, b"m"))
    assert eddsa.verify_batch(eddsa.ED25519, [*items, cofactored], draw.getrandbits)
    public, message, signature = items[2]
    for bad in (
        (public, message + b"x", signature),
        (public, message, signature[:32] + bytes(32)),
        (public, message, signature[:32] + b"\xff" * 32),
        (bytes(31), message, signature),
    ):
        assert not eddsa.verify_batch(eddsa.ED25519, [*items[:2], bad, items[3]], draw.getrandbits)


def test_contexts() -> None:
    with pytest.raises(ValueError, match="no context"):
        eddsa.sign(eddsa.ED25519, bytes(32), b"", b"context")
    with pytest.raises(ValueError, match="255"):
        eddsa.sign(eddsa.ED448, bytes(57), b"", bytes(256))
    with pytest.raises(ValueError, match="32 bytes"):
        eddsa.public_key(eddsa.ED25519, bytes(31))
    signature = eddsa.sign(eddsa.ED448PH, bytes(57), b"", b"one")
    public = eddsa.public_key(eddsa.ED448PH, bytes(57))
    assert eddsa.verify(eddsa.ED448PH, public, b"", signature, b"one")
    assert not eddsa.verify(eddsa.ED448PH, public, b"", signature, b"two")
    assert not eddsa.verify(eddsa.ED448, public, b"", signature, b"one")


def test_schnorr_rejects() -> None:
    """R of odd y or infinity, -s, s + n, r = p, keys off the curve or above p; so do batches."""
    secret, n, p = bytes(31) + b"\x03", SECP256K1.n, SECP256K1.p
    public = schnorr.public_key(secret)
    signature = schnorr.sign(secret, b"message", bytes(32))
    assert schnorr.verify(public, b"message", signature)
    r, s = signature[:32], int.from_bytes(signature[32:], "big")
    off = next(x for x in range(1, 50) if SECP256K1.lift_x(x, 0) is None).to_bytes(32, "big")
    # s G = e P + R with R = infinity: s = e d, r anything.
    zero = bytes(31) + b"\x01"
    e = int.from_bytes(schnorr.tagged_hash("BIP0340/challenge", zero, public, b"message"), "big") % n
    d = 3 if key(SECP256K1, 3)[1] % 2 == 0 else n - 3
    bad = [
        (public, b"message", r + (n - s).to_bytes(32, "big")),
        (public, b"message", r + ((s + n) % (1 << 256)).to_bytes(32, "big")),
        (public, b"message", p.to_bytes(32, "big") + signature[32:]),
        (public, b"message", off + signature[32:]),
        (public, b"messagf", signature),
        (public, b"message", signature + b"\x00"),
        (off, b"message", signature),
        (p.to_bytes(32, "big"), b"message", signature),
        (public[1:], b"message", signature),
        (public, b"message", zero + (e * d % n).to_bytes(32, "big")),
    ]
    # R of odd y: the nonce is not negated.
    k = next(k for k in range(5, 50) if key(SECP256K1, k)[1] % 2)
    odd = key(SECP256K1, k)[0].to_bytes(32, "big")
    e = int.from_bytes(schnorr.tagged_hash("BIP0340/challenge", odd, public, b"message"), "big") % n
    bad.append((public, b"message", odd + ((k + e * d) % n).to_bytes(32, "big")))
    draw = random.Random(13)
    for item in bad:
        assert not schnorr.verify(*item)
        assert not schnorr.verify_batch([(public, b"message", signature), item], draw.getrandbits)
    assert schnorr.verify_batch([], draw.getrandbits)
    for wrong in (bytes(32), n.to_bytes(32, "big"), bytes(31)):
        with pytest.raises(ValueError, match="secret key"):
            schnorr.public_key(wrong)


def test_sm2_rejects() -> None:
    """r, s out of range, r + s = n, other identities, d = n - 1, nonces with r + k = n."""
    n, d = sm2.CURVE.n, 1234567
    public = sm2.public_key(d)
    signature = sm2.sign_with_nonce(d, b"message", 99)
    assert signature is not None
    r, s = signature
    assert sm2.verify(public, b"message", r, s)
    assert not sm2.verify(public, b"message", r, s, b"another")
    for bad in ((r, n - r), (r + n, s), (r, s + n), (0, s), (r, 0), (n, s), (s, r)):
        assert not sm2.verify(public, b"message", *bad)
    assert not sm2.verify((1, 1), b"message", r, s)
    for wrong in (0, n - 1, n):
        with pytest.raises(ValueError, match="n - 2"):
            sm2.public_key(wrong)
    with pytest.raises(ValueError, match="identity"):
        sm2.za(public, bytes(8192))
    assert sm2.exchange((5, 6), [(1, 1), public], (b"a", b"b"), 16, initiator=True) is None


@pytest.mark.parametrize("name", PEERS)
def test_ecdsa_and_ecdh_of_the_cryptography_package(name: str) -> None:
    curve, peer_curve = BY_NAME[name], PEERS[name]
    d = random.Random(name).randrange(1, curve.n)
    peer = ec.derive_private_key(d, peer_curve)
    numbers = peer.public_key().public_numbers()
    public = key(curve, d)
    assert (numbers.x, numbers.y) == public
    message = name.encode()
    for algorithm, hash_name in ((hashes.SHA256(), "sha256"), (hashes.SHA512(), "sha512")):
        digest = hashlib.new(hash_name, message).digest()
        r, s = utils.decode_dss_signature(peer.sign(message, ec.ECDSA(algorithm)))
        assert ecdsa.verify(curve, public, digest, r, s)
        own = ecdsa.sign(curve, d, digest, hash_name)
        peer.public_key().verify(encodings.encode_der(own.r, own.s), message, ec.ECDSA(algorithm))
        assert ecdsa.recover(curve, digest, own.r, own.s, own.recovery_id) == public
        with pytest.raises(InvalidSignature):
            peer.public_key().verify(encodings.encode_der(own.r, own.s), message + b"x", ec.ECDSA(algorithm))
    other = ec.derive_private_key(d // 2, peer_curve)
    assert ecdh.raw(curve, d, key(curve, d // 2)) == peer.exchange(ec.ECDH(), other.public_key())


def test_edwards_and_montgomery_curves_of_the_cryptography_package() -> None:
    draw = random.Random(14)
    for scheme, kind in (
        (eddsa.ED25519, ed25519.Ed25519PrivateKey),
        (eddsa.ED448, ed448.Ed448PrivateKey),
    ):
        private, message = draw.randbytes(scheme.size), draw.randbytes(50)
        peer = kind.from_private_bytes(private)
        assert peer.public_key().public_bytes_raw() == eddsa.public_key(scheme, private)
        signature = eddsa.sign(scheme, private, message)
        assert peer.sign(message) == signature
        assert eddsa.verify(scheme, eddsa.public_key(scheme, private), message, signature)
    first, second = draw.randbytes(32), draw.randbytes(32)
    shared = x25519.X25519PrivateKey.from_private_bytes(first).exchange(
        x25519.X25519PrivateKey.from_private_bytes(second).public_key()
    )
    assert xdh.x25519(first, xdh.public_key(CURVE25519, second)) == (shared, True)
    first, second = draw.randbytes(56), draw.randbytes(56)
    shared = x448.X448PrivateKey.from_private_bytes(first).exchange(
        x448.X448PrivateKey.from_private_bytes(second).public_key()
    )
    assert xdh.x448(first, xdh.public_key(CURVE448, second)) == (shared, True)
