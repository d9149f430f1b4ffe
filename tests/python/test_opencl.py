# SPDX-License-Identifier: Apache-2.0
"""All operations on an OpenCL device, through PoCL where there is no other, against Python's integers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from reference.ecc import eddsa, xdh
from reference.ecc.curves import CURVE25519, P256
from reference.ecc.encodings import encode_point
from reference.ecc.groups import multiply
from tests.python.opencl_support import run

ITEMS = 90

PROGRAM = """
import json, sys
import manymod

given = json.load(sys.stdin)
if obstacle := manymod.opencl_support().obstacle:
    print(json.dumps({"obstacle": obstacle}))
    sys.exit()
x, y, n, where = given["x"], given["y"], given["n"], {"device": "opencl"}
base = manymod.FixedBase(x[0], n[0], exponent_bits=128, **where)
secret_base = manymod.FixedBase(x[0], n[0], exponent_bits=128, secret=True, **where)
answers = {
    "powmod": manymod.powmod(x, y, n, **where),
    "secret powmod": manymod.powmod(x, y, n, secret=True, **where),
    "one exponent": manymod.powmod(x, 65537, n, **where),
    "one modulus": manymod.powmod(x, y, n[0], **where),
    "mulmod": manymod.mulmod(x, y, n, **where),
    "fixed base": base.powmod(y),
    "secret fixed base": secret_base.powmod(y),
}
variants = [base.variant, secret_base.variant]
failed = None
try:
    manymod.powmod(x, y, n, device="opencl:99")
except manymod.DeviceError as error:
    failed = str(error)
answers = {name: list(values) for name, values in answers.items()}
print(json.dumps({"answers": answers, "variants": variants, "failed": failed}))
"""

CURVES = """
import json, sys
import manymod
from manymod import ecc

given = json.load(sys.stdin)
if obstacle := manymod.opencl_support().obstacle:
    print(json.dumps({"obstacle": obstacle}))
    sys.exit()
where = {"device": "opencl"}
names = ("secrets", "messages", "peers")
secrets, messages, peers = ([bytes.fromhex(one) for one in given[name]] for name in names)
answers = {}
for curve in (ecc.ED25519, ecc.ED448):
    own = [(2 * secret)[: curve.secret_bytes] for secret in secrets]
    keys = curve.public_keys(own, **where)
    signatures = curve.sign(own, messages, **where)
    answers[curve.name] = [[one.hex() for one in some] for some in (keys, signatures)]
    signatures[1] = signatures[0]
    answers[curve.name] += [curve.verify(keys, signatures, messages, **where)]
answers["X25519"] = [one.hex() for one in ecc.X25519.exchange(secrets, peers, **where)]
points = ecc.P256.multiply(given["scalars"])
sums = ecc.P256.add(points, points[1:] + points[:1], **where)
answers["P-256"] = [sums[0].hex(), sums[-1].hex(), ecc.P256.msm(given["scalars"], points, **where).hex()]
print(json.dumps(answers))
"""

SIGN = """
import json, sys
import manymod
from manymod import rsa
from cryptography.hazmat.primitives.asymmetric import padding, rsa as peer
from cryptography.hazmat.primitives import hashes

if obstacle := manymod.opencl_support().obstacle:
    print(json.dumps({"obstacle": obstacle}))
    sys.exit()
keys = [peer.generate_private_key(65537, 1024) for _ in range(2)]
ring = rsa.KeyRing([rsa.PrivateKey.from_cryptography(key) for key in keys], device="opencl")
messages = [bytes([i]) * 5 for i in range(40)]
indices = [i % 2 for i in range(40)]
signatures = ring.sign(messages, indices, padding.PKCS1v15(), hashes.SHA256())
for message, index, signature in zip(messages, indices, signatures):
    keys[index].public_key().verify(bytes(signature), message, padding.PKCS1v15(), hashes.SHA256())
print(json.dumps({"variant": ring.variant_for(0, 40), "recomputed": ring.recomputed}))
"""


def test_integers(tmp_path: Path) -> None:
    source = random.Random(1)
    n = [source.getrandbits(250) | 1 | 1 << 249 for _ in range(ITEMS)]
    x = [source.choice([1, -1]) * source.getrandbits(300) for _ in range(ITEMS)]
    y = [source.getrandbits(source.choice([3, 128])) for _ in range(ITEMS)]
    found = run(PROGRAM, tmp_path / "kernels", {"x": x, "y": y, "n": n}, MANYMOD_OPENCL_SECRET="1")
    powers = [pow(*item) for item in zip(x, y, n, strict=True)]
    of_base = [pow(x[0], exponent, n[0]) for exponent in y]
    assert found["answers"] == {
        "powmod": powers,
        "secret powmod": powers,
        "one exponent": [pow(base, 65537, modulus) for base, modulus in zip(x, n, strict=True)],
        "one modulus": [pow(base, exponent, n[0]) for base, exponent in zip(x, y, strict=True)],
        "mulmod": [a * b % modulus for a, b, modulus in zip(x, y, n, strict=True)],
        "fixed base": of_base,
        "secret fixed base": of_base,
    }
    assert all(".opencl." in variant for variant in found["variants"])
    assert "no device 'opencl:99'" in found["failed"]
    assert list((tmp_path / "kernels").glob("*.bin"))


def test_curves(tmp_path: Path) -> None:
    """EdDSA, X25519 and sums on the device, against reference.ecc."""
    source = random.Random(2)
    secrets, messages, peers = ([source.randbytes(32) for _ in range(6)] for _ in range(3))
    peers = [xdh.public_key(CURVE25519, peer) for peer in peers]
    scalars = [source.randrange(P256.n) for _ in range(300)]
    scalars[1] = scalars[0]
    given: dict[str, Any] = {"scalars": scalars} | {
        name: [one.hex() for one in some]
        for name, some in (("secrets", secrets), ("messages", messages), ("peers", peers))
    }
    found = run(CURVES, tmp_path / "kernels", given, MANYMOD_OPENCL_SECRET="1")
    for scheme in (eddsa.ED25519, eddsa.ED448):
        keys, signatures, verdicts = found[scheme.name]
        own = [(2 * secret)[: scheme.size] for secret in secrets]
        assert keys == [eddsa.public_key(scheme, secret).hex() for secret in own]
        expected = [eddsa.sign(scheme, *item).hex() for item in zip(own, messages, strict=True)]
        assert signatures == expected
        assert verdicts == [True, False, True, True, True, True]
    shared = [xdh.x25519(*item)[0].hex() for item in zip(secrets, peers, strict=True)]
    assert found["X25519"] == shared
    of_generator = (2 * scalars[0], scalars[-1] + scalars[0], sum(k * k for k in scalars))
    points = [multiply(P256, k % P256.n, P256.generator) for k in of_generator]
    assert found["P-256"] == [encode_point(P256, point, compressed=False).hex() for point in points if point]
    assert list((tmp_path / "kernels").glob("*.bin"))


def test_signatures(tmp_path: Path) -> None:
    """Powers, blinding and Garner's step on the device; two keys, so that each row has its own numbers."""
    pytest.importorskip("cryptography")
    found = run(SIGN, tmp_path / "kernels", MANYMOD_OPENCL_SECRET="1")
    assert ".opencl." in found["variant"]
    assert found["recomputed"] == 0


def test_constant_time_needs_consent(tmp_path: Path) -> None:
    program = """
import json, manymod
if obstacle := manymod.opencl_support().obstacle:
    print(json.dumps({"obstacle": obstacle}))
else:
    try:
        manymod.powmod([2, 3], [5, 7], [11, 13], secret=True, device="opencl")
    except manymod.ManymodError as error:
        print(json.dumps({"error": str(error)}))
"""
    assert "MANYMOD_OPENCL_SECRET" in run(program, tmp_path)["error"]


def test_secret_scalars_stay_on_the_cpu_without_consent(tmp_path: Path) -> None:
    """Plans of curves have calls with secrets and others: the device gets the others alone."""
    program = """
import json, manymod
from manymod import ecc
if obstacle := manymod.opencl_support().obstacle:
    print(json.dumps({"obstacle": obstacle}))
else:
    secrets = [bytes(31) + bytes([i]) for i in range(1, 9)]
    keys = [ecc.P256.public_keys(secrets, device=device) for device in ("opencl", "cpu")]
    print(json.dumps({"same": [bytes(a) == bytes(b) for a, b in zip(*keys)]}))
"""
    assert run(program, tmp_path / "kernels") == {"same": [True] * 8}
    assert not list(tmp_path.glob("kernels/*.bin"))
