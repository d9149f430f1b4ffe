# SPDX-License-Identifier: Apache-2.0
"""`manymod bench elementwise`."""

from __future__ import annotations

import json

import pytest
from tests.python.cli_support import run

from manymod.cli.bench import elementwise
from manymod.cli.bench.elementwise import OPERATIONS, Case, Settings, measure


def test_every_operation_is_measured_and_checked() -> None:
    finished = run("bench", "elementwise", "--quick", "--bits", "192", "--items", "300", "--json")
    assert finished.code == 0, finished.err
    report = json.loads(finished.out)
    host = [row for row in report["results"] if row["arrays"] == "host"]
    assert {(row["op"], row["modulus"]) for row in host} == {
        (op, modulus) for op in OPERATIONS for modulus in ("shared", "each")
    }
    assert all(row["items_per_second"] > 0 and row["small_call_us"] > 0 for row in host)


def test_constant_time_and_lists() -> None:
    options = (
        "--quick",
        "--bits",
        "192",
        "--items",
        "100",
        "--op",
        "mulmod",
        "--secret",
        "--lists",
        "--threads",
        "1",
    )
    finished = run("bench", "elementwise", *options, "--json")
    assert finished.code == 0, finished.err
    report = json.loads(finished.out)
    assert report["threads"] == 1
    rows = [row for row in report["results"] if row["arrays"] != "resident"]
    assert [(row["arrays"], row.get("timing")) for row in rows] == 2 * [
        ("host", "public"),
        ("host", "secret"),
        ("lists of mpz", None),
    ]
    assert all(row["vs_gmpy2"] > 0 for row in rows[2::3])
    assert "gmpy2" in run("bench", "elementwise", *options).out


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(elementwise.OPERATIONS, "addmod", (2, lambda x, y, _: x + y + 1))
    with pytest.raises(ArithmeticError, match="item 0 is wrong"):
        measure(Case("addmod", 64, shared=True, resident=False), Settings("cpu", 10, 0.001))


def test_bytes_of_an_item() -> None:
    assert Case("mulmod", 250, shared=True, resident=False).item_bytes == 96
    assert Case("sqrmod", 512, shared=False, resident=True).item_bytes == 192
