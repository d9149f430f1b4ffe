# SPDX-License-Identifier: Apache-2.0
"""Published vectors through manymod.ecc, each file in batches: NIST, RFC 6979, 7748, 8032, BIP 340, GB/T."""

from __future__ import annotations

import base64
import csv
import re
from collections import defaultdict
from typing import Any

import pytest
from tests.python.ecc_support import FOLDER, OWN, records

from manymod import Status, ecc

CURVES = {
    "P-256": ecc.P256,
    "P-384": ecc.P384,
    "P-521": ecc.P521,
    "K-256": ecc.SECP256K1,
    "SECP256R1": ecc.P256,
    "SECP256K1": ecc.SECP256K1,
    "BRAINPOOLP256R1": ecc.BRAINPOOL_P256R1,
    "BRAINPOOLP384R1": ecc.BRAINPOOL_P384R1,
    "BRAINPOOLP512R1": ecc.BRAINPOOL_P512R1,
}


def padded(curve: ecc.Curve, *numbers: str) -> bytes:
    """Numbers in hexadecimal as big-endian bytes of a scalar's length, one after the other."""
    return b"".join(int(number, 16).to_bytes(curve.scalar_bytes, "big") for number in numbers)


def point(curve: ecc.Curve, x: str, y: str) -> bytes:
    """Uncompressed encoding of coordinates, which may be out of range."""
    return b"\4" + b"".join(int(number, 16).to_bytes(curve.coordinate_bytes, "big") for number in (x, y))


def by_section(path: str, member: str) -> dict[tuple[ecc.Curve, str], list[dict[str, str]]]:
    """Records of a file that have a member, by curve and hash (the section ``P-256,SHA-224``)."""
    found = defaultdict(list)
    for section, block in records(FOLDER / path):
        name, _, algorithm = section.partition(",")
        if name in CURVES and member in block:
            found[CURVES[name], algorithm].append(block)
    return found


@pytest.mark.parametrize("path", ["ECDSA/FIPS_186-3/SigGen.txt", "ECDSA/SECP256K1/SigGen.txt"])
def test_signatures_of_nist(path: str) -> None:
    """All of them; those with nonces are made again, and rejected with the message of a neighbour."""
    sections, count = by_section(path, "Msg"), 0
    for (curve, algorithm), blocks in sections.items():
        messages = [bytes.fromhex(block["Msg"]) for block in blocks]
        secrets = [padded(curve, block["d"]) for block in blocks]
        public_keys = [point(curve, block["Qx"], block["Qy"]) for block in blocks]
        signatures = [padded(curve, block["R"], block["S"]) for block in blocks]
        assert curve.public_keys(secrets) == public_keys
        how: Any = {"algorithm": algorithm, "low_s": False}
        verdicts = curve.verify(public_keys, signatures, messages, **how)
        assert verdicts == [True] * len(blocks)
        moved = [*messages[1:], messages[0]]
        assert curve.verify(public_keys, signatures, moved, **how) == [False] * len(blocks)
        if "k" in blocks[0]:
            nonces = [padded(curve, block["k"]) for block in blocks]
            assert curve.sign(secrets, messages, nonces=nonces, **how) == signatures
        count += len(blocks)
    assert count > 50


def test_verification_of_nist() -> None:
    """SigVer: changed messages, keys, r and s."""
    reasons = set()
    for (curve, algorithm), blocks in by_section("ECDSA/FIPS_186-3/SigVer.rsp", "R").items():
        # A changed r or s may be longer than a scalar, and is none then.
        fits = [b for b in blocks if max(int(b["R"], 16), int(b["S"], 16)) < 256**curve.scalar_bytes]
        verdicts = curve.verify(
            [point(curve, block["Qx"], block["Qy"]) for block in fits],
            [padded(curve, block["R"], block["S"]) for block in fits],
            [bytes.fromhex(block["Msg"]) for block in fits],
            algorithm=algorithm,
        )
        assert verdicts == [block["Result"].startswith("P") for block in fits]
        reasons |= {block["Result"][:4] for block in fits}
    assert len(reasons) >= 4


def test_public_keys_of_nist() -> None:
    """PKV: coordinates out of range and points off the curve."""
    count = 0
    for (curve, _), blocks in by_section("ECDSA/FIPS_186-3/PKV.rsp", "Qx").items():
        fits = [b for b in blocks if max(int(b["Qx"], 16), int(b["Qy"], 16)) < 256**curve.coordinate_bytes]
        given = [point(curve, block["Qx"], block["Qy"]) for block in fits]
        points, statuses = curve.points(given, errors="status")
        valid = [block["Result"].startswith("P") for block in fits]
        assert [status == Status.OK for status in statuses] == valid
        assert [found == sent for found, sent in zip(points, given, strict=True)] == valid
        assert set(statuses.tolist()) == {Status.OK, Status.ECC_POINT}
        count += len(fits)
    assert count >= 24


def test_key_pairs_of_nist() -> None:
    name, count = "", 0
    for line in (FOLDER / "ECDSA/FIPS_186-3/KeyPair.rsp").read_text().splitlines():
        heading = re.fullmatch(r"\[([PKB]-\d+)\]", line.strip())
        name = heading[1] if heading else name
        entry = re.fullmatch(r"(d|Qx|Qy) = (\w+)", line.strip())
        if name not in CURVES or entry is None:
            continue
        if entry[1] == "d":
            secret = entry[2]
        elif entry[1] == "Qx":
            x = entry[2]
        else:
            curve = CURVES[name]
            assert curve.public_keys(int(secret, 16)) == point(curve, x, entry[2])
            count += 1
    assert count == 30


def test_deterministic_signatures_of_rfc_6979() -> None:
    """Both messages, all hashes, in DER; and verified in one call for keys of three curves."""
    text = (FOLDER / "ECDSA/RFC6979/evppkey_ecdsa_rfc6979.txt").read_text()
    pems = re.findall(r"PrivateKey=(\S+)\n(-----BEGIN.*?-----END PRIVATE KEY-----)", text, re.DOTALL)
    pattern = r'DigestSign = (\w+)\nKey = (\S+)\nNonceType = deterministic\nInput = "(\w+)"\nOutput = (\w+)'
    keys, cases = {}, re.findall(pattern, text)
    for name, pem in pems:
        if name.split("_")[0] in CURVES:
            # ECPrivateKey: INTEGER 1, OCTET STRING d; in some versions of the file d is too short to load.
            octets = base64.b64decode("".join(pem.splitlines()[1:-1])).partition(b"\x02\x01\x01\x04")[2]
            keys[name] = ecc.Key.from_secret(
                CURVES[name.split("_")[0]], int.from_bytes(octets[1 : 1 + octets[0]], "big")
            )
    names = list(keys)
    ring = ecc.KeyRing(list(keys.values()))
    by_hash = defaultdict(list)
    for algorithm, name, message, output in cases:
        if name in keys:
            by_hash[algorithm].append((names.index(name), message.encode(), bytes.fromhex(output)))
    assert sum(map(len, by_hash.values())) >= 30
    for algorithm, blocks in by_hash.items():
        indices, messages, expected = map(list, zip(*blocks, strict=True))
        how: Any = {"algorithm": algorithm, "encoding": "der"}
        assert ring.sign(messages, indices, **how) == expected
        assert all(ring.verify(expected, messages, indices, **how))


def test_key_agreement_of_nist() -> None:
    """Peers' keys off the curve, and digests of secrets; other records are wrong in the own key."""
    names = {"EC": ecc.P256, "ED": ecc.P384, "EE": ecc.P521}
    hashes = {ecc.P256: "sha256", ecc.P384: "sha384", ecc.P521: "sha512"}
    path = FOLDER / "ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_init.fax"
    found = [item for item in records(path) if item[0].split(" ")[0] in names and "QsCAVSx" in item[1]]
    reasons = set()
    for curve, algorithm in hashes.items():
        blocks = [block for section, block in found if names[section.split(" ")[0]] == curve]
        peers = [point(curve, block["QsCAVSx"], block["QsCAVSy"]) for block in blocks]
        secrets = [padded(curve, block["dsIUT"]) for block in blocks]
        shared, statuses = curve.exchange(secrets, peers, errors="status")
        digests = curve.exchange(secrets, peers, algorithm=algorithm, errors="status")[0]
        own = curve.public_keys(secrets, errors="status")[0]
        for i, block in enumerate(blocks):
            own_is_right = own[i] == point(curve, block["QsIUTx"], block["QsIUTy"])
            valid = statuses[i] == Status.OK and own_is_right and shared[i].hex() == block["Z"]
            matches = valid and digests[i].hex() == block["CAVSHashZZ"]
            assert matches == block["Result"].startswith("P")
            reasons.add(block["Result"][:4])
    assert len(reasons) >= 3


def test_key_agreement_of_brainpool() -> None:
    for _, block in records(FOLDER / "ECDH/brainpool.txt"):
        curve = CURVES[block["curve"].upper()]
        assert curve.public_keys(int(block["dA"], 16)) == point(curve, block["x_qA"], block["y_qA"])
        peer, expected = point(curve, block["x_qB"], block["y_qB"]), padded(curve, block["x_Z"])
        assert curve.exchange(int(block["dA"], 16), peer) == expected
        multiple = curve.multiply(int(block["dA"], 16), peer)
        assert multiple == point(curve, block["x_Z"], block["y_Z"])


def test_compressed_points() -> None:
    for _, block in records(FOLDER / "EC/compressed_points.txt"):
        curve, compressed = CURVES[block["CURVE"]], bytes.fromhex(block["POINT"])
        uncompressed = point(curve, block["X"], block["Y"])
        assert curve.points(compressed) == uncompressed
        assert curve.points(uncompressed, "compressed") == compressed
        assert curve.points(compressed, "x") == compressed[1:]


def test_ed25519_signatures() -> None:
    """sign.input, all lines: private || public : public : message : signature || message."""
    lines = [line.split(":") for line in (FOLDER / "Ed25519/sign.input").read_text().split()]
    assert len(lines) == 1024
    private, public_keys, messages, signed = (
        [bytes.fromhex(line[column]) for line in lines] for column in range(4)
    )
    secrets, signatures = [key[:32] for key in private], [text[:64] for text in signed]
    assert ecc.ED25519.public_keys(secrets) == public_keys
    assert ecc.ED25519.sign(secrets, messages) == signatures
    for policy in ("rfc8032", "strict", "zip215"):
        assert all(ecc.ED25519.verify(public_keys, signatures, messages, policy=policy))
    assert ecc.ED25519.verify_all(public_keys, signatures, messages, policy="zip215")
    messages[500] += b"x"
    assert not ecc.ED25519.verify_all(public_keys, signatures, messages, policy="zip215")
    verdicts = ecc.ED25519.verify(public_keys, signatures, messages)
    assert [i for i, valid in enumerate(verdicts) if not valid] == [500]


def test_ed448_signatures() -> None:
    found = [block for _, block in records(FOLDER / "Ed448/rfc8032.txt") if "SIGNATURE" in block]
    assert len(found) >= 8
    for block in found:
        private, public = bytes.fromhex(block["SECRET"]), bytes.fromhex(block["PUBLIC"])
        message, context = bytes.fromhex(block["MESSAGE"]), bytes.fromhex(block.get("CONTEXT", ""))
        signature = bytes.fromhex(block["SIGNATURE"])
        assert ecc.ED448.public_keys(private) == public
        assert ecc.ED448.sign(private, message, context=context) == signature
        assert ecc.ED448.verify(public, signature, message, context=context) is True


def test_contexts_and_prehashes_of_rfc_8032() -> None:
    """Sections 7.2 and 7.3: Ed25519ctx with context `foo`, Ed25519ph of `abc`."""
    private = bytes.fromhex("0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6")
    message = bytes.fromhex("f726936d19c800494e3fdaff20b276a8")
    expected = (
        "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a"
        "8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d"
    )
    assert ecc.ED25519.sign(private, message, context=b"foo").hex() == expected
    private = bytes.fromhex("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42")
    digest = bytes.fromhex(
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
    expected = (
        "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae41"
        "31f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406"
    )
    signature = ecc.ED25519.sign(private, digest, algorithm=ecc.Prehashed("sha512"))
    assert signature.hex() == expected


@pytest.mark.parametrize("curve", [ecc.X25519, ecc.X448], ids=lambda curve: curve.name)
def test_ladders_of_rfc_7748(curve: ecc.Curve) -> None:
    found = [block for _, block in records(FOLDER / curve.name / "rfc7748.txt")]
    scalars, points, expected = (
        [bytes.fromhex(block[name]) for block in found] for name in ("INPUT_SCALAR", "INPUT_U", "OUTPUT_U")
    )
    assert curve.exchange(scalars, points) == expected


def test_bip_340() -> None:
    """The BIP's own table, and all of its valid signatures in one verdict."""
    with (OWN / "bip340.csv").open() as file:
        rows = list(csv.DictReader(file))
    public_keys, messages, signatures = (
        [bytes.fromhex(row[name]) for row in rows] for name in ("public key", "message", "signature")
    )
    for row, public, message, signature in zip(rows, public_keys, messages, signatures, strict=True):
        if row["secret key"]:
            secret = bytes.fromhex(row["secret key"])
            assert ecc.SECP256K1.public_keys(secret, encoding="x") == public
            if not any(bytes.fromhex(row["aux_rand"])):
                assert ecc.SECP256K1.sign(secret, message, scheme="bip340") == signature
            hedged = ecc.SECP256K1.sign(secret, message, scheme="bip340", nonces="hedged")
            assert ecc.SECP256K1.verify(public, hedged, message, scheme="bip340") is True
    assert all(ecc.SECP256K1.verify(public_keys, signatures, messages, scheme="bip340"))
    assert ecc.SECP256K1.verify_all(public_keys, signatures, messages, scheme="bip340") is True
    assert not ecc.SECP256K1.verify_all(public_keys, signatures[::-1], messages, scheme="bip340")


def test_sm2_example_values() -> None:
    """GB/T 32918.5: a signature with the nonce of the example."""
    values = {name: value for _, block in records(OWN / "sm2.txt") for name, value in block.items()}
    public, secret = point(ecc.SM2, values["Qx"], values["Qy"]), int(values["d"], 16)
    signature = padded(ecc.SM2, values["r"], values["s"])
    assert ecc.SM2.public_keys(secret) == public
    nonce = padded(ecc.SM2, values["k"])
    assert ecc.SM2.sign(secret, b"message digest", nonces=nonce) == signature
    assert ecc.SM2.verify(public, signature, b"message digest") is True
    named = ecc.SM2.sign(secret, b"message digest", context=b"someone@example.org")
    assert ecc.SM2.verify(public, named, b"message digest", context=b"someone@example.org") is True
    assert ecc.SM2.verify(public, named, b"message digest") is False


def test_sm2_exchange_of_the_standard() -> None:
    """GB/T 32918.5, annex B, by both sides."""
    values = {name: value for _, block in records(OWN / "sm2.txt") for name, value in block.items()}
    secrets, once = ([int(values[name], 16) for name in pair] for pair in (("dA", "dB"), ("rA", "rB")))
    keys, sent = ecc.SM2.public_keys(secrets), ecc.SM2.public_keys(once, encoding="compressed")
    expected = bytes.fromhex(values["K"])
    assert ecc.SM2.sm2_exchange(secrets[0], once[0], keys[1], sent[1]) == expected
    assert ecc.SM2.sm2_exchange(secrets[1], once[1], keys[0], sent[0], responder=True) == expected
    key = ecc.Key.from_secret(ecc.SM2, secrets[0])
    assert key.sm2_exchange(once[0], keys[1], sent[1]) == expected
    with pytest.raises(TypeError, match="no secret"):
        key.public_key().sm2_exchange(once[0], keys[1], sent[1])
