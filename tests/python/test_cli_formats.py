# SPDX-License-Identifier: Apache-2.0
"""Tables in every format in and out, column types, literals, and what is passed through."""

from __future__ import annotations

import csv
import datetime
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import Row, power_rows, read_arrow, read_table, run, write_arrow, write_table

FORMATS = ["parquet", "csv", "jsonl", "arrow", "arrows"]
POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")


@pytest.mark.parametrize("after", FORMATS)
@pytest.mark.parametrize("before", FORMATS)
def test_every_format_in_and_out(tmp_path: Path, before: str, after: str) -> None:
    rows = power_rows(50, 200, seed=7)
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    write_table(table, rows)
    finished = run("powmod", table, "-o", out, *POWMOD, "--batch-rows", 7)
    assert finished.code == 0, finished.err
    assert "50 rows" in finished.err
    expected = [
        {**row, "result": str(pow(int(row["b"]), int(row["e"]), int(row["n"]))), "status": "ok"}
        for row in rows
    ]
    assert read_table(out) == expected
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [table.name, out.name]


@pytest.mark.parametrize("name", ["feather", "ipc", "pq", "ndjson"])
def test_other_extensions(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / "in.csv", tmp_path / f"out.{name}"
    write_table(table, power_rows(3, 64, seed=1))
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    assert out.stat().st_size > 0


def test_formats_by_option(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.dat"
    write_table(table, power_rows(3, 64, seed=1))
    table = table.rename(tmp_path / "in.txt")
    finished = run("powmod", table, "-o", out, *POWMOD, "--input-format", "csv", "--output-format", "jsonl")
    assert finished.code == 0
    assert len(out.read_text().splitlines()) == 3


def big(value: int) -> bytes:
    """32 bytes, big-endian."""
    return value.to_bytes(32, "big")


N = (1 << 255) - 19
SMALL = [(3, 10, 101), (5, 0, 7), (2, 127, 97)]
TYPES: list[tuple[Any, Any]] = [
    (pa.int8(), int),
    (pa.int64(), int),
    (pa.uint64(), int),
    (pa.decimal128(20, 0), Decimal),
    (pa.decimal256(60, 0), Decimal),
    (pa.string(), str),
    (pa.large_string(), hex),
    (pa.binary(), lambda value: value.to_bytes(2, "big")),
    (pa.large_binary(), lambda value: value.to_bytes(9, "big")),
    (pa.binary(32), big),
]


def as_int(value: Any) -> int:
    """The integer of a cell."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    return int(value, 0) if isinstance(value, str) else int(value)


@pytest.mark.parametrize(("dtype", "convert"), TYPES, ids=[str(dtype) for dtype, _ in TYPES])
def test_column_types(tmp_path: Path, dtype: Any, convert: Any) -> None:
    columns = [pa.array([convert(value) for value in column], dtype) for column in zip(*SMALL, strict=True)]
    table, out = tmp_path / "in.parquet", tmp_path / "out.arrow"
    write_arrow(table, pa.table(dict(zip("ben", columns, strict=True))))
    finished = run("powmod", table, "-o", out, *POWMOD)
    assert finished.code == 0, finished.err
    result = read_arrow(out)
    assert result.schema.field("result").type == dtype
    assert [as_int(cell) for cell in result["result"].to_pylist()] == [pow(*row) for row in SMALL]


def test_dictionary_columns_are_decoded(tmp_path: Path) -> None:
    columns = {"b": pa.array(["2", "3", "2"]), "t": pa.array(["x", "y", "x"])}
    table, out = tmp_path / "in.arrows", tmp_path / "out.arrow"
    write_arrow(table, pa.table({name: column.dictionary_encode() for name, column in columns.items()}))
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", 2, "--mod", 7, "--batch-rows", 1).code == 0
    assert read_table(out) == [
        {"b": b, "t": t, "result": str(int(b) ** 2 % 7), "status": "ok"}
        for b, t in zip("232", "xyx", strict=True)
    ]


def test_result_type_follows_the_modulus_where_the_base_cannot_hold_it(tmp_path: Path) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write_arrow(table, pa.table({"b": pa.array([3], pa.int64()), "n": pa.array([big(N)], pa.binary(32))}))
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", 1 << 200, "--mod", "n").code == 0
    result = read_arrow(out)
    assert result.schema.field("result").type == pa.binary(32)
    assert result["result"].to_pylist() == [big(pow(3, 1 << 200, N))]


@pytest.mark.parametrize("after", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("before", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(("how", "expected"), [("dec", "9"), ("hex", "0x9"), ("bytes", "0x0009")])
def test_result_formats(tmp_path: Path, before: str, after: str, how: str, expected: str) -> None:
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    write_table(table, [{"b": "0x3", "n": "257"}])
    options = ("--base", "b", "--exp", 2, "--mod", "n", "--result-format", how)
    assert run("powmod", table, "-o", out, *options).code == 0
    cell = read_table(out)[0]["result"]
    assert cell == (b"\x00\x09" if how == "bytes" and after == "parquet" else expected)


def test_text_results_follow_the_text_of_the_base(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("b\n0x20\n32\n-0x20\n")
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", 1, "--mod", -100).code == 0
    assert [row["result"] for row in read_table(out)] == [hex(32 % -100), str(32 % -100), hex(-32 % -100)]


@pytest.mark.parametrize(
    ("base", "exp", "mod"),
    [
        ("12", "65537", "0x10001"),
        ("-12", "0xff", "101"),
        ("7", "-1", "10"),
        ("-7", "-3", "-10"),
        ("b", "+2", "1"),
    ],
)
def test_literals_and_signs(tmp_path: Path, base: str, exp: str, mod: str) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("b\n-5\n6\n")
    assert run("powmod", table, "-o", out, "--base", base, "--exp", exp, "--mod", mod).code == 0
    bases = [-5, 6] if base == "b" else [int(base, 0)] * 2
    expected = [pow(x, int(exp, 0), int(mod, 0)) for x in bases]
    assert [int(row["result"]) for row in read_table(out)] == expected


def test_a_name_that_is_both_is_a_column(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("b,3\n2,10\n")
    assert run("powmod", table, "-o", out, "--base", "b", "--exp", "3", "--mod", "100000").code == 0
    assert read_table(out)[0]["result"] == "1024"


def test_csv_text_is_unchanged(tmp_path: Path) -> None:
    rows = [
        ["b", "odd, name", "note"],
        ["5", "007", "1e5"],
        ["6", ' "quoted" ', "two\nlines"],
        ["7", "9" * 400, ""],
        ["8", "äöü", "NULL"],
    ]
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with table.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows(rows)
    assert (
        run("sqrmod", table, "-o", out, "--x", "b", "--mod", 10, "--result", "r", "--status-column", "s").code
        == 0
    )
    with out.open(newline="", encoding="utf-8") as file:
        written = list(csv.reader(file))
    assert [row[:3] for row in written] == rows
    assert [row[3:] for row in written] == [["r", "s"], ["5", "ok"], ["6", "ok"], ["9", "ok"], ["4", "ok"]]


def test_json_lines_are_passed_through_letter_by_letter(tmp_path: Path) -> None:
    value = 10**400 + 1
    line = f'{{"b": {value},  "f": 1.50e+3, "nested": {{"a": [1, null]}}, "u": "\\u00e4"}}'
    table, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    table.write_text(line + '\n\n{"b": "0x10"}\n')
    assert run("mulmod", table, "-o", out, "--x", "b", "--y", "3", "--mod", 10**500).code == 0
    first, second = out.read_text().splitlines()
    assert first == f'{line[:-1]}, "result": {3 * value}, "status": "ok"}}'
    assert json.loads(second) == {"b": "0x10", "result": "0x30", "status": "ok"}


def test_json_lines_become_exact_columns(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"i": 1, "d": 10**30, "t": 1, "m": 2},
        {"i": -5, "d": 7, "t": 10**60, "m": "x", "z": {"k": 1.5}},
    ]
    table, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    write_table(table, rows)
    assert run("powmod", table, "-o", out, "--base", "d", "--exp", 2, "--mod", 10**37).code == 0
    result = read_arrow(out)
    types = [result.schema.field(name).type for name in ("i", "d", "t", "m", "z", "result")]
    text = pa.string()
    assert types == [pa.int64(), pa.decimal128(38, 0), text, text, text, pa.decimal128(38, 0)]
    assert result["result"].to_pylist() == [10**60 % 10**37, 49]
    assert result["t"].to_pylist() == ["1", str(10**60)]
    assert result["z"].to_pylist() == [None, '{"k": 1.5}']


def test_other_columns_survive(tmp_path: Path) -> None:
    columns = {
        "b": pa.array([2, 3], pa.int32()),
        "when": pa.array([datetime.datetime(2024, 1, 2, 3, 4, 5, 678), None], pa.timestamp("us")),
        "list": pa.array([[1, 2], []], pa.list_(pa.int16())),
        "flag": pa.array([True, None]),
        "float": pa.array([0.1, float("nan")]),
        "raw": pa.array([b"\x00\xff", None]),
    }
    table, arrow, text = tmp_path / "in.parquet", tmp_path / "out.arrow", tmp_path / "out.jsonl"
    write_arrow(table, pa.table(columns))
    operands = ("--x", "b", "--mod", 1000)
    assert run("invmod", table, "-o", arrow, *operands).code == 3
    assert read_arrow(arrow).select(list(columns)).to_pydict()["when"] == columns["when"].to_pylist()
    assert read_arrow(arrow)["list"].combine_chunks().equals(columns["list"])
    assert run("invmod", table, "-o", text, *operands).code == 3
    rows = read_table(text)
    assert rows[0]["when"] == "2024-01-02 03:04:05.000678"
    assert rows[0]["raw"] == "0x00ff"
    assert rows[1]["float"] == "nan"
    assert [(row["result"], row["status"]) for row in rows] == [(None, "not_invertible"), (667, "ok")]


def test_an_empty_table(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("b,n\n")
    for name in FORMATS:
        out = tmp_path / f"out.{name}"
        assert run("powmod", table, "-o", out, "--base", "b", "--exp", 3, "--mod", "n").code == 0
        assert read_table(out) == []


@pytest.mark.parametrize(("begin", "codec"), [(b"BZh91AY", "bzip2"), (b"\xfd7zXZ\x00", "xz")])
@pytest.mark.parametrize("extension", FORMATS)
def test_tables_compressed_otherwise_are_refused(
    tmp_path: Path, begin: bytes, codec: str, extension: str
) -> None:
    table = tmp_path / f"in.{extension}"
    table.write_bytes(begin + bytes(50))
    finished = run("powmod", table, "-o", tmp_path / "out.csv", *POWMOD)
    assert finished.code == 1
    assert f"{table} is compressed by {codec}" in finished.err
    assert "decompress it first" in finished.err
    assert list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("extension", FORMATS)
def test_pipes_are_refused(tmp_path: Path, extension: str) -> None:
    """And not opened: that would wait for a writer."""
    table = tmp_path / f"in.{extension}"
    os.mkfifo(table)
    finished = run("powmod", table, "-o", tmp_path / "out.csv", *POWMOD)
    assert (finished.code, f"{table} is not a regular file" in finished.err) == (1, True)
    assert "standard input: -" in finished.err


@pytest.mark.parametrize("extension", ["parquet", "arrow", "arrows"])
def test_errors_of_damaged_tables_name_the_file(tmp_path: Path, extension: str) -> None:
    table, out = tmp_path / f"in.{extension}", tmp_path / "out.csv"
    write_table(table, power_rows(2000, 64, seed=1))
    whole = table.read_bytes()
    for damaged in (b"nothing of the kind", whole[: len(whole) // 2]):
        table.write_bytes(damaged)
        finished = run("powmod", table, "-o", out, *POWMOD)
        assert finished.code == 1
        assert str(table) in finished.err
        assert not out.exists()


def test_errors_of_writing_name_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.parquet"
    write_table(table, power_rows(3, 64, seed=1))

    def full(*_arguments: Any) -> Any:
        raise OSError(28, "No space left on device", "output.tmp")

    monkeypatch.setattr("manymod.tables.replacement.open_writer", full)
    finished = run("powmod", table, "-o", out, *POWMOD)
    assert finished.code == 1
    advice = f"3 rows are kept in {out}.parts: the same command with --resume continues"
    assert finished.err.splitlines()[-1] == f"manymod: {out}: No space left on device; {advice}"
    assert not out.exists()


@pytest.mark.parametrize("key", [b"finished", b"manymod.finished_lines"])
@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet"])
def test_metadata_of_a_table_chooses_no_writer(tmp_path: Path, key: bytes, name: str) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / f"out.{name}"
    value = {b"finished": b"lines", b"manymod.finished_lines": b"1"}[key]
    schema = pa.schema([("line", pa.string())], metadata={key: value})
    write_table(table, [{"line": "3"}], schema)
    finished = run("sqrmod", table, "-o", out, "--x", "line", "--mod", 7)
    assert finished.code == 0, finished.err
    assert read_table(out) == [{"line": "3", "result": "2", "status": "ok"}]


@pytest.mark.parametrize("option", ["--result", "--status-column"])
def test_the_name_of_bad_json_lines_is_taken(tmp_path: Path, option: str) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text('{"b": 3}\nbad\n')
    command = ("sqrmod", table, "--x", "b", "--mod", 7, option, "line")
    finished = run(*command, "-o", tmp_path / "out.jsonl")
    assert finished.code == 2
    assert f"{option} line" in finished.err
    assert not (tmp_path / "out.jsonl").exists()
    assert run(*command, "-o", tmp_path / "out.csv").code == 3
