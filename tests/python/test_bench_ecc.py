# SPDX-License-Identifier: Apache-2.0
"""`manymod bench ecc`: what its report has, and that the limit counts as the library computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from manymod import ecc
from manymod.cli.bench.ecc import OPERATIONS, operations_of
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
