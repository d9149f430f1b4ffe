# SPDX-License-Identifier: Apache-2.0
"""Calls load no modules: a child that is forked off while another thread loads one can never load it."""

from __future__ import annotations

import subprocess
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

PROGRAM = """
import sys
import manymod
from manymod import IntArray, ecc, rsa

key = rsa.PrivateKey.from_pem(sys.argv[1])


class Recorder:
    def find_spec(self, name, path=None, target=None):
        loaded.append(name)


loaded = []
sys.meta_path.insert(0, Recorder())

x, n = [3, 5, 7], [101, 103, 107]
manymod.powmod(x, x, n)
manymod.powmod(IntArray.from_ints(x), 5, 1009, secret=True)
manymod.mulmod(x, x, n)
manymod.invmod(x, n, errors="status")

manymod.prodmod([x], n[:1])
manymod.multi_powmod([x], [x], n[:1])
manymod.Plan("powmod", modulus=n[0])(x, 2)
manymod.FixedBase(3, n[0]).powmod(x)
manymod.Residues(x, n).to_ints()
manymod.submit(manymod.powmod, x, x, n).result()

ring = rsa.KeyRing([key])
assert ring.verify(ring.sign([b"m"], 0, "pss", "sha256"), [b"m"], 0, "pss", "sha256") == [True]
with rsa.Signer(ring, "pss", "sha256") as signer:
    signer.submit(b"m").result()
pair = ecc.KeyRing([ecc.Key.generate(curve) for curve in (ecc.P256, ecc.ED25519)])
assert all(pair.verify(pair.sign([b"m"] * 2, [0, 1]), [b"m"] * 2, [0, 1]))
print(*loaded)
"""


def test_calls_load_no_modules() -> None:
    pem = rsa.generate_private_key(65537, 1024).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, pem.decode()],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "\n", "")
