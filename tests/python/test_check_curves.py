# SPDX-License-Identifier: Apache-2.0
"""`tools/check_curves.py` finds nothing where devices agree, and names the cases where they do not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_curves as tool
from manymod import ecc

if not ecc.supported():
    pytest.skip("this build has no curves", allow_module_level=True)


def run(monkeypatch: pytest.MonkeyPatch, *curves: str, items: int = 9) -> int:
    arguments = ["check_curves.py", "--device", "auto", "--items", str(items), "--curves", *curves]
    monkeypatch.setattr(sys, "argv", arguments)
    return tool.main()


def test_every_curve_is_equal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, *tool.NAMES) == 0
    printed = capsys.readouterr().out
    for name in tool.NAMES:
        assert f"{name}: equal" in printed


@pytest.mark.parametrize("method", ["points", "public_keys", "sign", "verify", "recover", "exchange", "msm"])
def test_differences_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    """One item of the longest call is wrong on the device."""
    original = getattr(ecc.Curve, method)

    def wrong(curve: ecc.Curve, *operands: Any, device: str, **options: Any) -> Any:
        answer = original(curve, *operands, device=device, **options)
        if device == "cpu" or len(operands[0]) < 9:
            return answer
        values = answer[0] if isinstance(answer, tuple) else answer
        if isinstance(values, bytes):
            return bytes(len(values))
        values[8] = not values[8] if isinstance(values[8], bool) else b""
        return answer

    monkeypatch.setattr(ecc.Curve, method, wrong)
    assert run(monkeypatch, "P-256") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith(f"P-256: {method}(") and " of 9 items: " in line for line in lines)


def test_unusable_variants_are_no_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        tool.Case, "run", lambda *_: ecc.P256.public_keys(1, variant="cuda.row32", device="cpu")
    )
    assert run(monkeypatch, "P-256") == 0
    assert "cuda.row32" in capsys.readouterr().out
