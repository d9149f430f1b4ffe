# SPDX-License-Identifier: Apache-2.0
"""Bad rows, exit codes and messages of the table commands."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import (
    COMMAND,
    leftovers,
    power_rows,
    read_arrow,
    read_table,
    run,
    write_arrow,
    write_table,
)

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")
WIDE = (1 << 16384) + 1

#: base, exponent, modulus, status
BAD: list[tuple[str, str, str, str]] = [
    ("2", "5", "7", "ok"),
    ("", "5", "7", "base_not_an_integer"),
    ("2", "five", "7", "exp_not_an_integer"),
    ("2", "1_000", "7", "exp_not_an_integer"),
    ("2", "5", "7.0", "mod_not_an_integer"),
    ("2", "5", "0x", "mod_not_an_integer"),
    ("٣", "5", "7", "base_not_an_integer"),
    ("2", "5", "0", "zero_modulus"),
    ("2", "-1", "4", "not_invertible"),
    ("2", "1", hex(WIDE), "modulus_too_wide"),
    ("2", "9" * 200_000, "7", "exp_not_an_integer"),
    ("3", "-1", "7", "ok"),
]


def bad_rows() -> list[dict[str, Any]]:
    """Rows with each thing that can be wrong."""
    return [{"b": b, "e": e, "n": n} for b, e, n, _ in BAD]


@pytest.mark.parametrize("name", ["parquet", "csv", "jsonl", "arrow"])
def test_each_bad_row_is_reported_and_the_others_computed(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    write_table(table, bad_rows())
    finished = run("powmod", table, "-o", out, *POWMOD, "--batch-rows", 5)
    assert finished.code == 3
    written = read_table(out)
    assert [row["status"] for row in written] == [status for *_, status in BAD]
    assert [row["result"] or None for row in written] == ["4", *[None] * 10, "5"]
    for number, (*_, status) in enumerate(BAD, 1):
        assert (f"row {number}: {status}" in finished.err.splitlines()[number - 2]) == (status != "ok")
    assert "12 rows written" in finished.err
    assert "10 of them bad" in finished.err


def test_only_the_first_twenty_bad_rows_are_listed(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("b\n" + "x\n" * 50)
    finished = run("powmod", table, "-o", out, "--base", "b", "--exp", 1, "--mod", 3, "--batch-rows", 8)
    lines = finished.err.splitlines()
    assert finished.code == 3
    assert lines[:20] == [f"manymod: row {row}: base_not_an_integer" for row in range(1, 21)]
    assert lines[20] == "manymod: ... and 30 more"
    assert "50 of them bad: 50 base_not_an_integer" in lines[21]


def test_nulls(tmp_path: Path) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write_arrow(table, pa.table({"b": pa.array([2, None, 3]), "n": pa.array([b"\x07", b"\x07", None])}))
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", 2, "--mod", "n").code == 3
    result = read_arrow(out)
    assert result["result"].to_pylist() == [b"\x04", None, None]
    assert result["status"].to_pylist() == ["ok", "base_is_null", "mod_is_null"]


def test_json_values_that_are_no_integers(tmp_path: Path) -> None:
    table, out, typed = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "out.parquet"
    values = ["5", "5.0", "true", "null", "[5]", '"5"']
    table.write_text("".join(f'{{"b": {value}}}\n' for value in values) + '{"a": 1}\n[5]\n{"b": 5\n')
    operands = ("--base", "b", "--exp", 2, "--mod", 7)
    assert run("powmod", table, "-o", out, *operands).code == 3
    wrong, missing = "base_not_an_integer", "base_is_null"
    expected = ["ok", wrong, wrong, missing, wrong, "ok", missing, "invalid_json", "invalid_json"]
    rows = read_table(out)
    assert [row["status"] for row in rows] == expected
    assert [row["result"] for row in rows] == [4, None, None, None, None, "4", None, None, None]
    assert rows[-1]["line"] == '{"b": 5'
    assert run("powmod", table, "-o", typed, *operands).code == 3
    assert [row["status"] for row in read_table(typed)] == expected


def test_bytes_hold_no_negative_result(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.parquet"
    table.write_text("n\n-7\n7\n")
    options = ("--base", 3, "--exp", 1, "--mod", "n", "--result-format", "bytes")
    assert run("powmod", table, "-o", out, *options).code == 3
    assert [row["status"] for row in read_table(out)] == ["negative_result", "ok"]
    assert read_table(out)[1]["result"] == b"\x03"


def test_timing_class_secret(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("n\n101\n100\n")
    assert run("powmod", table, "-o", out, "--base", 3, "--exp", 77, "--mod", "n", "--secret").code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == ["ok", "even_modulus"]
    assert rows[0]["result"] == str(pow(3, 77, 101))
    out = tmp_path / "products.csv"
    assert run("mulmod", table, "-o", out, "--x", 3, "--y", 77, "--mod", "n", "--secret").code == 3
    assert [(row["status"], row["result"]) for row in read_table(out)] == [("ok", "29"), ("even_modulus", "")]


@pytest.mark.parametrize("name", ["parquet", "jsonl"])
def test_secret_operands_and_results_as_bytes(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    n = 2**127 - 1
    write_table(table, [{"b": "3", "e": str(2**100), "n": str(n)}, {"b": "x", "e": "1", "n": "7"}])
    assert run("powmod", table, "-o", out, *POWMOD, "--secret", "--result-format", "bytes").code == 3
    expected = pow(3, 2**100, n).to_bytes(16, "big")
    assert read_table(out)[0]["result"] == (expected if name == "parquet" else "0x" + expected.hex())


@pytest.mark.parametrize(
    ("operation", "answer"),
    [
        ("addmod", lambda x, y, n: (x + y) % n),
        ("submod", lambda x, y, n: (x - y) % n),
        ("mulmod", lambda x, y, n: x * y % n),
        ("negmod", lambda x, _, n: -x % n),
        ("sqrmod", lambda x, _, n: x * x % n),
        ("invmod", lambda x, _, n: pow(x, -1, n)),
    ],
)
def test_the_other_operations(tmp_path: Path, operation: str, answer: Any) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [(3, 5, 7), (10**50 + 1, -4, 10**40), (-7, 10**60, -11)]
    table.write_text("x,y,n\n" + "".join(f"{x},{y},{n}\n" for x, y, n in rows))
    second = ("--y", "y") if operation in {"addmod", "submod", "mulmod"} else ()
    assert run(operation, table, "-o", out, "--x", "x", *second, "--mod", "n").code == 0
    assert [int(row["result"]) for row in read_table(out)] == [answer(*row) for row in rows]


def test_one_very_wide_cell_among_many(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    wide = (1 << 400_000) + 3
    table.write_text("b\n" + "5\n" * 3000 + hex(wide) + "\n" + "6\n" * 3000)
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", 2, "--mod", 1009).code == 0
    results = [int(row["result"], 0) for row in read_table(out)]
    assert results == [25] * 3000 + [wide * wide % 1009] + [36] * 3000


def usage(tmp_path: Path, *options: object, out: str = "out.csv") -> str:
    """Standard error of a powmod that must be refused as wrongly used."""
    table = tmp_path / "in.csv"
    table.write_text("b,status,x,x\n2,1,1,1\n")
    finished = run("powmod", table, "-o", tmp_path / out, *options)
    assert finished.code == 2, finished.err
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / (out + ".parts")).exists()
    return finished.err


GOOD = ("--base", "b", "--exp", 2, "--mod", 5, "--status-column", "s")


def test_usage_errors(tmp_path: Path) -> None:
    assert "neither a column nor an integer; columns: b, status" in usage(
        tmp_path, "--base", "nosuch", "--exp", 2, "--mod", 5
    )
    assert "already has a column 'status'" in usage(tmp_path, *GOOD[:6])
    assert "2 columns of that name" in usage(tmp_path, *GOOD, "--mod", "x")
    assert "both 's'" in usage(tmp_path, *GOOD, "--result", "s")
    assert "OUT is TABLE" in usage(tmp_path, *GOOD, out="in.csv")
    assert "unknown extension" in usage(tmp_path, *GOOD, out="out.xyz")
    assert "not a directory" in usage(tmp_path, *GOOD, out="nosuch/out.csv")
    assert "not a size" in usage(tmp_path, *GOOD, "--memory", "lots")
    assert "too little" in usage(tmp_path, *GOOD, "--memory", "1M")
    assert "exclude each other" in usage(tmp_path, *GOOD, "--resume", "--restart")
    assert "Missing option '--mod'" in usage(tmp_path, "--base", "b", "--exp", 2)


def test_columns_that_hold_no_integers(tmp_path: Path) -> None:
    table = tmp_path / "in.parquet"
    for values in (pa.array([True]), pa.array([0], pa.date32()), pa.array([{"n": 1}])):
        write_arrow(table, pa.table({"b": values}))
        finished = run("powmod", table, "-o", tmp_path / "out.csv", "--base", "b", "--exp", 1, "--mod", 2)
        assert finished.code == 2
        assert f"a column of type {values.type} holds no integers" in finished.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.csv", b"", "is empty"),
        ("in.csv", b"\xff,c\n1,2\n", "header: invalid_text"),
        ("in.csv", b'b,"c\n1,2\n', "header: invalid_csv"),
        ("in.jsonl", b"", "it is empty, so that its columns are unknown"),
        ("in.jsonl", b"[1]\n\nno json\n", "no line of it is a JSON object, so that its columns are unknown"),
        ("in.parquet", b"PAR1 no table PAR1", "manymod: "),
        ("in.arrow", b"", "is empty"),
        ("in.arrow", b"ARROW1\0\0 no table", "manymod: "),
        ("in.arrows", b"\xff\xff\xff\xff\x10\0\0\0 no table at all", "manymod: "),
    ],
)
def test_damaged_tables(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    table, out = tmp_path / name, tmp_path / "out.jsonl"
    table.write_bytes(content)
    finished = run("powmod", table, "-o", out, "--base", "b", "--exp", 2, "--mod", 5)
    assert finished.code == 1, finished.err
    assert message in finished.err
    assert not out.exists()


def test_a_truncated_table_leaves_the_old_output(tmp_path: Path) -> None:
    table, out = tmp_path / "in.arrow", tmp_path / "out.csv"
    write_table(table, power_rows(100, 256, seed=2))
    table.write_bytes(table.read_bytes()[:-400])
    out.write_text("old")
    assert run("powmod", table, "-o", out, *POWMOD).code == 1
    assert out.read_text() == "old"


def test_unknown_variant_and_device(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(2, 64, seed=3))
    for option, name, code in (
        ("--variant", "nosuch", 1),
        ("--device", "nosuch", 2),
        ("--device", "cuda:99", 1),
    ):
        finished = run("powmod", table, "-o", out, *POWMOD, option, name)
        assert finished.code == code
        assert name in finished.err
        assert not out.exists()
        assert leftovers(out) == []


def on_terminal(*arguments: object) -> str:
    """What a command writes to a terminal on standard error."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 4096):
                pieces.append(piece)
        except OSError:  # the terminal has no other end any more
            pass
    os.close(ours)
    assert process.returncode == 0
    return b"".join(pieces).decode()


def test_progress_on_a_terminal_only(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(200, 256, seed=4))
    command = ("powmod", table, "-o", out, *POWMOD)
    shown = on_terminal(*command, "--batch-rows", 20)
    assert "200 rows" in shown
    assert "100%" in shown
    assert "rows/s" in shown
    assert "left" in shown
    assert "100%" not in on_terminal(*command, "--no-progress")
    assert "\x1b" not in run(*command).err
