# SPDX-License-Identifier: Apache-2.0
"""What type checkers say about use of the package."""

from __future__ import annotations

from pathlib import Path

from mypy import api

SNIPPET = """
from concurrent.futures import Future
import numpy as np
from numpy.typing import NDArray
import manymod
import manymod.ecc
import manymod.rsa

limbs = np.zeros((2, 4), np.uint64)
array = manymod.IntArray.from_ints([1, 2])
number: int = manymod.powmod(2, 3, 5)
pair: tuple[int, manymod.Status] = manymod.powmod(2, 3, 5, errors="status")
numbers: list[int] = manymod.powmod([2, 3], 3, 5, secret=True)
same: NDArray[np.uint64] = manymod.mulmod(limbs, limbs, limbs, threads=1)
batch: manymod.IntArray = manymod.invmod(array, 7)
both: tuple[list[int], NDArray[np.uint8]] = manymod.addmod([1], 2, 3, errors="status")
item: int = array[0]
part: manymod.IntArray = array[1:]
secret: list[int] = manymod.powmod_sec([2, 3], 3, 5)
products_sec: list[int] = manymod.mulmod([2, 3], 4, 5, secret=True)
inverses: list[int] = manymod.invmod_sec([2, 3], 5)
product: int = manymod.multi_powmod([2, 3], [4, 5], 7)
products: list[int] = manymod.multi_powmod([[2, 3], [4]], [[4, 5], [6]], 7)
powers: list[int] = manymod.FixedBase(2, 7).powmod([1, 2])
power: tuple[int, manymod.Status] = manymod.FixedBase(2, 7).powmod(3, errors="status")
planned: manymod.IntArray = manymod.Plan("mulmod", modulus=7)(array, 3)
later: Future[list[int]] = manymod.submit(manymod.powmod, [2, 3], 3, 5, secret=True)
resident: manymod.DeviceArray = manymod.mulmod(manymod.to_device([2, 3]), 4, 7, device="cuda:0")
on_curve = manymod.ecc.P256
one: bytes = on_curve.sign(5, b"", encoding="der")
several: list[bytes] = on_curve.sign([5, 6], [b"", b""], nonces="hedged", threads=1)
valid: list[bool] = on_curve.verify(b"", [b""], b"", low_s=True)
rows: NDArray[np.bool_] = on_curve.verify(b"", np.zeros((2, 64), np.uint8), b"")
curve_key = manymod.ecc.Key.generate(on_curve)
good: bool = curve_key.verify(curve_key.sign(b""), b"", policy="strict")
of_keys = manymod.ecc.KeyRing([curve_key])
both_of_keys: tuple[list[bytes], NDArray[np.uint8]] = of_keys.sign([b""], [0], errors="status")
ring = manymod.rsa.KeyRing([])
verdict: bool = ring.verify(b"", b"", 0, "pss", "sha256")
verdicts: list[bool] = ring.verify([b""], b"", [0], "pss", "sha256", errors="raise")
checked: tuple[NDArray[np.bool_], NDArray[np.uint8]] = ring.verify(
    np.zeros((1, 256), np.uint8), b"", 0, "pss", "sha256", errors="status")
signature: bytes = ring.sign(b"", None, "pss", "sha256")
signatures: list[bytes] = ring.sign([b""], [0], "pss", "sha256")
ciphertexts: tuple[list[bytes], NDArray[np.uint8]] = ring.encrypt([b""], 0, "oaep", errors="status")
plaintexts: list[bytes] = ring.decrypt(np.zeros((1, 256), np.uint8), 0, "oaep")
planned_later: Future[manymod.IntArray] = manymod.submit(manymod.Plan("mulmod", modulus=7), array, 3)
reveal_type(manymod.sqrmod(array, 7))
reveal_type(manymod.powmod_sec(2, 3, 5))
reveal_type(manymod.multi_powmod([[2]], [[3]], 5))
reveal_type(manymod.FixedBase(2, 7).powmod(limbs))
reveal_type(manymod.Plan("powmod", modulus=7)([1, 2], 3))
reveal_type(manymod.negmod((1, 2), 7))
reveal_type(ring.verify([b""], [b""], 0, "pss", "sha256"))
reveal_type(ring.sign(b"", 0, "pss", "sha256"))
reveal_type(manymod.submit(manymod.FixedBase(2, 7).powmod, [1, 2]))
manymod.multi_powmod([2], [3], 5, secret=True)
manymod.powmod(2, 3, 5, errors="ignore")
manymod.submit(manymod.powmod, 2, 3, 5, nonsense=1)
"""


def test_snippet(tmp_path: Path) -> None:
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    output, _, _ = api.run(
        ["--strict", "--config-file=", f"--cache-dir={tmp_path}", "--no-error-summary", str(path)]
    )
    lines = [
        line.partition(":")[2] for line in output.splitlines() if ": error:" in line or "Revealed" in line
    ]
    revealed = ["IntArray", "int", "list[", "ndarray", "list[", "list[", "list[", "bytes", "Future["]
    for number, (line, kind) in enumerate(zip(lines, revealed, strict=False), start=48):
        assert line.startswith(f"{number}: note: Revealed type is")
        assert kind in line
        assert "Any" not in line.partition("Revealed")[2] or kind == "ndarray"
    assert [line.split(":")[0] for line in lines[len(revealed) :]] == ["57", "58", "59"], output
