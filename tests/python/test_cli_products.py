# SPDX-License-Identifier: Apache-2.0
"""`manymod multi_powmod` and `manymod fixed_base_powmod`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.python.cli_support import read_table, run, write_table

ROWS: list[dict[str, Any]] = [
    {"a": "2", "x": "10", "b": "-3", "y": "3", "n": "1009"},
    {"a": str(10**40), "x": "0x1ff", "b": "7", "y": "-1", "n": str(2**89 - 1)},
    {"a": "5", "x": "1", "b": "6", "y": "-1", "n": "9"},
    {"a": "", "x": "1", "b": "6", "y": "1", "n": "9"},
    {"a": "5", "x": "1", "b": "6", "y": "?", "n": "9"},
    {"a": "5", "x": "1", "b": "6", "y": "1", "n": "0"},
]
STATUSES = ["ok", "ok", "not_invertible", "base1_not_an_integer", "exp2_not_an_integer", "zero_modulus"]
TERMS = ("--base", "a", "--exp", "x", "--base", "b", "--exp", "y")


def products(terms: list[tuple[int, int]], n: int) -> int:
    """What Python computes."""
    return math.prod(pow(base, exp, n) for base, exp in terms) % n


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_products_of_powers(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    write_table(table, ROWS)
    finished = run("multi_powmod", table, "-o", out, *TERMS, "--mod", "n", "--batch-rows", 4)
    assert finished.code == 3, finished.err
    rows = read_table(out)
    assert [row["status"] for row in rows] == STATUSES
    for given, row in zip(ROWS[:2], rows, strict=False):
        terms = [(int(given["a"]), int(given["x"], 0)), (int(given["b"]), int(given["y"]))]
        assert int(row["result"]) == products(terms, int(given["n"]))
    assert "row 4: base1_not_an_integer" in finished.err


def test_terms_may_be_integers(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"x": x} for x in range(5)])
    terms = ("--base", 3, "--exp", "x", "--base", 5, "--exp", 7, "--base", "x", "--exp", 2)
    assert run("multi_powmod", table, "-o", out, *terms, "--mod", 10007).code == 0
    expected = [products([(3, x), (5, 7), (x, 2)], 10007) for x in range(5)]
    assert [int(row["result"]) for row in read_table(out)] == expected


def test_every_base_needs_an_exponent(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    write_table(table, ROWS)
    finished = run("multi_powmod", table, "-o", tmp_path / "out.csv", *TERMS[:-2], "--mod", "n")
    assert finished.code == 2
    assert "as many --base as --exp" in finished.err


def test_an_interrupted_product_belongs_to_its_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, ROWS)

    def full(*_arguments: Any) -> None:
        raise OSError("No space left on device")

    command = ("multi_powmod", table, "-o", out, "--mod", "n")
    with monkeypatch.context() as patch:
        patch.setattr("manymod.tables.parts.write_table", full)
        assert run(*command, *TERMS).code == 1
    journal = json.loads((tmp_path / "out.csv.parts" / "journal.json").read_text())
    assert journal["fingerprint"]["operands"] == {
        "base1": "a",
        "exp1": "x",
        "base2": "b",
        "exp2": "y",
        "mod": "n",
    }
    refused = run(*command, *TERMS[4:], *TERMS[:4], "--resume")
    assert (refused.code, "(operands changed)" in refused.err) == (1, True)
    assert run(*command, *TERMS, "--resume").code == 3


@pytest.mark.parametrize("options", [(), ("--secret",)])
def test_powers_of_a_fixed_base(tmp_path: Path, options: tuple[str, ...]) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    exps = [0, 1, 2, 10**30, 2**127 - 3]
    write_table(table, [{"e": str(exp)} for exp in exps])
    n = 2**127 - 1
    command = ("fixed_base_powmod", table, "-o", out, "--base", "0x9", "--exp", "e", "--mod", n)
    finished = run(*command, *options)
    assert finished.code == 0, finished.err
    assert [int(row["result"]) for row in read_table(out)] == [pow(9, exp, n) for exp in exps]


def test_fixed_bases_are_integers(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"e": "3", "g": "5"}])
    for base, mod, message in [("g", "7", "takes one integer"), ("3", "0", "cannot be 0")]:
        finished = run("fixed_base_powmod", table, "-o", out, "--base", base, "--exp", "e", "--mod", mod)
        assert finished.code == 2
        assert message in finished.err
    wide = run("fixed_base_powmod", table, "-o", out, "--base", 3, "--exp", 2**200, "--mod", 101, "--secret")
    assert wide.code == 2
    assert "more than 64 bits" in wide.err
    assert not list(tmp_path.glob("out*"))
