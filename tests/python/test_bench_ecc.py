# SPDX-License-Identifier: Apache-2.0
"""`manymod bench ecc`: what its report has, and that the limit counts as the library computes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from manymod import ecc
from manymod.cli.bench.contenders import BatchSettings
from manymod.cli.bench.ecc import OPERATIONS, EccCase, measure, operations_of
from manymod.cli.bench.ecc_limit import instructions
from manymod.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def test_the_report_of_a_short_run(tmp_path: Path) -> None:
    output = tmp_path / "report.json"
    command = [
        "bench",
        "ecc",
        "--quick",
        "--seconds",
        "0.001",
        "--batch",
        "8",
        "--terms",
        "40",
        "--threads",
        "2",
    ]
    result = CliRunner().invoke(main, [*command, "--curves", "secp256k1,Ed448,X448", "-o", str(output)])
    assert result.exit_code == 0, result.output
    report = json.loads(output.read_text(encoding="utf-8"))
    assert report["bench"] == "ecc"
    cases = {(row["curve"], row["op"]): row for row in report["results"]}
    assert len(cases) == len(OPERATIONS) + 4 + 2
    for (curve, op), row in cases.items():
        assert row["batch"] == (40 if op == "sum" else 8)
        assert row["rates"].keys() == row["spreads"].keys()
        assert ("openssl" in row["rates"]) == (op not in {"recover", "sum"}), curve
        if "percent_of_limit" in row:
            assert row["limit"] == pytest.approx(8 * row["instruction_rate"] / row["instructions"])
    assert "secp256k1" in result.output


class _FakeCryptoMb:
    """As much of crypto_mb as a run needs, on the memory that it gets: keys and verdicts of P-256, X25519."""

    def __init__(self) -> None:
        self.calls: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.add(name)
            for lane in range(8):
                if not self._computes(name, [None if array is None else array[lane] for array in arguments]):
                    return 1
            return 0

        return _Function(call)

    @staticmethod
    def _computes(name: str, lane: list[Any]) -> bool:
        def number(place: int) -> bytes:
            return ctypes.string_at(place, 32)[::-1]

        if name == "mbx_nistp256_ecpublic_key_mb8":
            point = ecc.P256.public_keys(number(lane[3]))
            ctypes.memmove(lane[0], point[32:0:-1], 32)
            ctypes.memmove(lane[1], point[:32:-1], 32)
            return True
        if name == "mbx_x25519_mb8":
            shared = ecc.X25519.exchange(ctypes.string_at(lane[1], 32), ctypes.string_at(lane[2], 32))
            ctypes.memmove(lane[0], shared, 32)
            return True
        assert name == "mbx_nistp256_ecdsa_verify_mb8"
        signature = ctypes.string_at(lane[0], 32) + ctypes.string_at(lane[1], 32)
        digest, key = ctypes.string_at(lane[2], 32), b"\4" + number(lane[3]) + number(lane[4])
        return ecc.P256.verify(key, signature, digest, algorithm=ecc.Prehashed("sha256"))


class _Function:
    restype: Any = None

    def __init__(self, call: Callable[..., int]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> int:
        return self._call(*arguments)


@pytest.mark.parametrize(("curve", "op"), [("P-256", "public"), ("P-256", "verify"), ("X25519", "exchange")])
def test_operands_of_crypto_mb(curve: str, op: str) -> None:
    library: Any = _FakeCryptoMb()
    row = measure(EccCase(op, ecc.Curve.named(curve), library), BatchSettings(1, 5, 0.0001, 3))
    assert len(library.calls) == 1
    assert {"manymod", "crypto_mb"} <= row["rates"].keys()
    assert row["ratios"]["one_vs_crypto_mb"] > 0
    assert ("bare_vs_crypto_mb" in row["ratios"]) == (op == "verify")


def test_the_limit_counts_what_kernels_execute() -> None:
    """Against the report of the kernels, whose instructions were counted."""
    report = json.loads((ROOT / "bench/results/ecc_lanes_zen4.json").read_text(encoding="utf-8"))
    names = {"multiply_base": "public", "multiply": "multiply", "multiply_two": "verify"}
    compared = 0
    for row in report["rows"]:
        if row["variant"] != "lanes.ifma52" or row["operation"] not in names:
            continue
        counted = instructions(names[row["operation"]], ecc.Curve.named(row["curve"]), 1024)
        assert counted == pytest.approx(row["vpmadd52_per_vector"], rel=0.02), (
            row["curve"],
            row["operation"],
        )
        compared += 1
    assert compared >= 15


@pytest.mark.parametrize("curve", ecc.named_curves(), ids=lambda curve: curve.name)
def test_every_operation_has_a_count(curve: ecc.Curve) -> None:
    for op in operations_of(curve):
        assert instructions(op, curve, 1024) > 8 * curve.order_bits
