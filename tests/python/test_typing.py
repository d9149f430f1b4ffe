# SPDX-License-Identifier: Apache-2.0
"""What type checkers say about use of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api", reason="mypy is not installed")

SNIPPET = """
import numpy as np
from numpy.typing import NDArray
import manymod

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
reveal_type(manymod.sqrmod(array, 7))
reveal_type(manymod.negmod((1, 2), 7))
manymod.mulmod(2, 3, 5, secret=True)
manymod.powmod(2, 3, 5, errors="ignore")
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
    assert lines[0].startswith("16: note: Revealed type is")
    assert "IntArray" in lines[0]
    assert lines[1].startswith("17: note: Revealed type is")
    assert "list[" in lines[1]
    assert [line.split(":")[0] for line in lines[2:]] == ["18", "19"], output
