# SPDX-License-Identifier: Apache-2.0
"""`bench/peers/gpu_curves.py` judges the answers of drivers by what manymod computes. No GPU, and no peer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from manymod import ecc

if TYPE_CHECKING:
    from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "bench/peers"
COUNT = 16


@pytest.fixture(name="tool")
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    import gpu_curves

    monkeypatch.setattr(gpu_curves, "DISTINCT", COUNT)
    yield gpu_curves
    for name in ("gpu_curves", "gpu_curve_libraries", "kernel_clock"):
        sys.modules.pop(name, None)


def answers_of(tool: ModuleType, operands: Any) -> Any:
    calls = operands.calls(COUNT)
    return tool.Answers(**{name: np.asarray(call("cpu")) for name, call in calls.items()})


def little_pairs(rows: Any) -> bytes:
    return bytes(np.ascontiguousarray(rows.reshape(-1, 2, 32)[:, :, ::-1]).tobytes())


def line(operation: str, data: bytes, **more: Any) -> dict[str, Any]:
    """A run as a driver reports it."""
    run = {"operation": operation, "items": 32, "shape": "", "milliseconds": [2.0, 1.0, 4.0]}
    return run | {"call_milliseconds": [], "bytes": len(data), "differing": -1} | more


def driven(tool: ModuleType, runs: list[tuple[dict[str, Any], bytes]]) -> Any:
    lines = [{"card": "a card"}, *(line for line, _ in runs)]
    return tool.Driven(lines, b"".join(data for _, data in runs), "")


def test_answers_of_gecc_in_montgomery_form_and_columns(tool: ModuleType) -> None:
    operands = tool.Operands(ecc.SM2, "SM2")
    answers = answers_of(tool, operands)
    assert answers.verify.tolist() == [item % 7 != 3 for item in range(COUNT)]
    coordinates = [int.from_bytes(row.tobytes(), "big") for row in answers.multiply[:, 1:].reshape(-1, 32)]
    p = tool.SM2_PRIME
    montgomery = b"".join(((number << 256) % p).to_bytes(32, "little") for number in coordinates)
    signatures = little_pairs(answers.sign[:4])
    spoilt = bytes([signatures[0] ^ 1]) + signatures[1:]
    verdicts = answers.verify[:4].astype("<u4").tobytes()
    runs = [
        (line("multiply", montgomery), montgomery),
        (line("sign", signatures), signatures),
        (line("sign_as_benchmarked", spoilt), spoilt),
        (line("verify", verdicts, differing=5), verdicts),
    ]
    rows = tool.peer_rows("gecc", driven(tool, runs), operands, answers)
    assert [(row["checked"], row["wrong"], row["right"]) for row in rows] == [
        (COUNT, 0, True),
        (4, 0, True),
        (4, 1, False),
        (4, 0, False),
    ]
    assert rows[0]["per_second"] == 32 / 0.002
    assert rows[0]["best_per_second"] == 32 / 0.001
    assert rows[0]["device"] == {"card": "a card"}


def test_answers_of_ultrafast_are_compressed_and_have_calls(tool: ModuleType) -> None:
    operands = tool.Operands(ecc.SECP256K1, "secp256k1")
    answers = answers_of(tool, operands)
    points = ecc.SECP256K1.multiply(operands.nonces, encoding="compressed", device="cpu").tobytes()
    verdicts = np.ones(COUNT, np.uint8).tobytes()
    runs = [
        (line("base_ct", points, call_milliseconds=[8.0]), points),
        (line("verify", verdicts), verdicts),
    ]
    rows = tool.peer_rows("ultrafast", driven(tool, runs), operands, answers)
    assert [(row["scope"], row["wrong"], row["constant_time"]) for row in rows] == [
        ("kernels", 0, True),
        ("calls", 0, True),
        ("kernels", 2, False),
    ]
    own = {"library": "manymod", "curve": "secp256k1", "operation": "base", "right": True}
    own |= {"items": 32, "scope": "calls", "per_second": 8000.0}
    (ratio,) = tool.ratios([*rows, own])
    assert (ratio["peer"], ratio["peer_operation"], ratio["ratio"]) == ("ultrafast", "base_ct", 2.0)


def test_operands_are_what_the_drivers_read(tool: ModuleType) -> None:
    operands = tool.Operands(ecc.SM2, "SM2")
    rows = np.frombuffer(operands.to_bytes(), np.uint8).reshape(COUNT, 7, 32)[:, :, ::-1]
    assert (rows[:, 1] == operands.nonces).all()
    assert (rows[:, 2:4].reshape(COUNT, 64) == operands.points[:, 1:]).all()
    assert (rows[:, 5:].reshape(COUNT, 64) == operands.signatures).all()


def test_a_driver_that_fails_leaves_what_it_measured(tool: ModuleType, tmp_path: Path) -> None:
    driver = tmp_path / "driver"
    run = json.dumps(line("base_ct", b"ab"))
    driver.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[2], 'w').write('ab')\n"
        f"print('something')\nprint('{{\"card\": 1}}')\nprint('''{run}''')\nsys.exit('no memory')\n"
    )
    driver.chmod(0o755)
    found = tool.drive(driver, tool.Operands(ecc.SM2, "SM2"), "32")
    assert found.lines == [{"card": 1}, json.loads(run)]
    assert found.results == b"ab"
    assert "no memory" in found.failure


def test_kernels_that_overlap_count_once(tool: ModuleType) -> None:
    busy = sys.modules["kernel_clock"].busy
    assert busy([(40, 50), (10, 20), (15, 30), (16, 18)]) == 30
    assert busy([]) == 0
