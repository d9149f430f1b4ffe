# SPDX-License-Identifier: Apache-2.0
"""How tables are read: bad lines are rows with a status, and every format of output gives the same answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.python.cli_support import Finished, read_arrow, read_table, run, write_arrow

from manymod import tables
from manymod.tables import csv_source, text_lines

OUTPUTS = ["csv", "tsv", "jsonl", "parquet", "arrow", "arrows"]
SQUARE = ("--base", "b", "--exp", 2, "--mod", "n")


def answers(table: Path, *options: object) -> tuple[list[str], list[int | None]]:
    """Statuses and results of a square of every row, which must be the same in every format of output."""
    found = []
    for name in OUTPUTS:
        out = table.with_name(f"out.{name}")
        finished = run("powmod", table, "-o", out, *SQUARE, *options)
        rows = read_table(out)
        statuses = [row["status"] for row in rows]
        assert finished.code == (0 if set(statuses) == {"ok"} else 3), finished.err
        for number, status in enumerate(statuses, 1):
            assert (f"row {number}: {status}\n" in finished.err) == (status != "ok")
        found.append((statuses, [as_int(row["result"]) for row in rows]))
        out.unlink()
    assert all(one == found[0] for one in found)
    return found[0]


def as_int(cell: Any) -> int | None:
    """The integer of a cell, None where there is none."""
    if cell is None or cell == "":
        return None
    return int(cell, 0) if isinstance(cell, str) else int(cell)


CSV_LINES: list[tuple[bytes, str]] = [
    (b"3,7,plain", "ok"),
    (b"3,7", "wrong_field_count"),
    (b"3,7,one,too many", "wrong_field_count"),
    (b"   ", "wrong_field_count"),
    (b"3", "wrong_field_count"),
    (b",,", "base_not_an_integer"),
    (b'4,7,"two\nlines"', "ok"),
    (b'5,7,"unbalanced', "invalid_csv"),
    (b"5,7,after it", "ok"),
    (b'5,7,"text" after', "invalid_csv"),
    (b"5,7,\xff\xfe", "invalid_text"),
    (b"\xc3,7,x", "invalid_text"),
    (b"2.5,7,x", "base_not_an_integer"),
    (b'"6",7,"a ""quoted"" word"', "ok"),
    (b"6,0,x", "zero_modulus"),
    (b'8,7,"', "invalid_csv"),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("rows", [1, 3, 8192])
def test_bad_lines_of_csv_are_rows(tmp_path: Path, end: bytes, rows: int) -> None:
    table = tmp_path / "in.csv"
    table.write_bytes(b"b,n,text" + end + end.join(line for line, _ in CSV_LINES) + end)
    statuses, results = answers(table, "--batch-rows", rows)
    assert statuses == [status for _, status in CSV_LINES]
    bases = {0: 3, 6: 4, 8: 5, 13: 6}
    assert results == [bases[i] ** 2 % 7 if i in bases else None for i in range(len(CSV_LINES))]


def test_bad_lines_keep_no_row_from_being_copied(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    table.write_bytes(b"b,n,text\n" + b"\n".join(line for line, _ in CSV_LINES))
    assert run("powmod", table, "-o", out, *SQUARE).code == 3
    texts = [row["text"] for row in read_table(out)]
    assert texts[0] == "plain"
    assert texts[6] == "two\nlines"
    assert texts[8] == "after it"
    assert texts[13] == 'a "quoted" word'
    assert texts[1] is None


def test_lines_that_are_too_long_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "MAX_LINE", 1000)
    monkeypatch.setattr(csv_source, "MAX_RECORD", 1000)
    long = "9" * 5000
    table = tmp_path / "in.csv"
    table.write_text(f'b,n,t\n3,7,x\n{long},7,x\n4,7,"open\n' + "5,7,x\n" * 300)
    statuses, _ = answers(table, "--batch-rows", 50)
    assert statuses == ["ok", "line_too_long", "invalid_csv", *["ok"] * 300]
    monkeypatch.setattr(csv_source, "MAX_RECORD_LINES", 20)
    table.write_text('b,n,t\n4,7,"' + "\n" * 19 + '"\n4,7,"' + "\n5,7,x" * 25 + '"\n')
    statuses, _ = answers(table)
    assert statuses == ["ok", "invalid_csv", *["ok"] * 24, "ok"]
    table = tmp_path / "in.jsonl"
    table.write_text(f'{{"b": 3, "n": 7}}\n{{"b": {long}, "n": 7}}\n{{"b": 4, "n": 7}}\n')
    assert answers(table) == (["ok", "line_too_long", "ok"], [2, None, 2])


def test_lines_read_in_vain_are_bounded_by_the_length_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_source, "FIRST_CREDIT", 3000)
    taken, take = 0, csv_source._Lines.__next__

    def count(lines: csv_source._Lines) -> str:
        nonlocal taken
        taken += 1
        return take(lines)

    monkeypatch.setattr(csv_source._Lines, "__next__", count)
    lines = ['x","y,3\n', "3,5,7\n"] * 2000
    records = list(csv_source._records(iter(lines), ","))
    assert [record.problem for record in records] == ["invalid_csv", None] * 2000
    assert taken < 25 * len(lines) + 3000 + csv_source.MAX_RECORD_LINES
    long = ["3,5,7\n"] * 100 + ['3,"' + "\n"] + ["x\n"] * 400 + ['",7\n']
    assert [record.problem for record in csv_source._records(iter(long), ",")] == [None] * 101


JSON_LINES: list[tuple[str, str]] = [
    ("no json", "invalid_json"),
    ('{"n": 7}', "base_is_null"),
    ('{"n": 7, "later": 1, "b": 3}', "ok"),
    ('{"b": 2.5, "n": 7}', "base_not_an_integer"),
    ('{"b": 3.0, "n": 7}', "base_not_an_integer"),
    ('{"b": 1e400, "n": 7}', "base_not_an_integer"),
    ('{"b": "4", "n": 7}', "ok"),
    ('{"b": "0x5", "n": 7}', "ok"),
    ('{"b": true, "n": 7}', "base_not_an_integer"),
    ('{"b": {"b": 1}, "n": 7}', "base_not_an_integer"),
    ('{"b": [6], "n": 7}', "base_not_an_integer"),
    ('{"b": null, "n": 7}', "base_is_null"),
    ('{"b": -0, "n": 7}', "ok"),
    ('{"b": 5, "b": 6, "n": 7}', "repeated_key"),
    ('{"b": 5, "n": 7} trailing', "invalid_json"),
    ('{"b": 5, "n": 7', "invalid_json"),
    ("[" * 100_000, "invalid_json"),
    ("[5]", "invalid_json"),
    ("5", "invalid_json"),
    ('{"b": "\\ud800", "n": 7}', "base_not_an_integer"),
    ('{"b": 6, "n": 7, "t": "\\ud800", "\\ud801": 1}', "ok"),
    ('{"b": 8, "n": NaN}', "mod_not_an_integer"),
    ('{"b": 9, "n": ' + str(10**60) + "}", "ok"),
]


@pytest.mark.parametrize("rows", [1, 8192])
def test_bad_lines_of_json_are_rows(tmp_path: Path, rows: int) -> None:
    table = tmp_path / "in.jsonl"
    table.write_bytes("\n\n".join(line for line, _ in JSON_LINES).encode() + b'\n{"b": "\xff"}\n')
    statuses, results = answers(table, "--batch-rows", rows)
    assert statuses == [*(status for _, status in JSON_LINES), "invalid_text"]
    expected = {2: 9 % 7, 6: 16 % 7, 7: 25 % 7, 12: 0, 20: 36 % 7, 22: 81}
    assert results == [expected.get(i) for i in range(len(statuses))]


@pytest.mark.parametrize("kind", ["2.5", "true", '"x"', "{}", "null"])
def test_columns_without_any_integer_are_bad_rows_of_json(tmp_path: Path, kind: str) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text(f'{{"b": {kind}, "n": 7}}\n' * 2)
    status = "base_is_null" if kind == "null" else "base_not_an_integer"
    assert answers(table) == ([status] * 2, [None] * 2)


def test_a_name_is_looked_for_in_all_rows(tmp_path: Path) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text('{"n": 7}\n' + '{"c": 1}\n' * 30 + '{"b": 2, "n": 7, "result": 1}\n')
    for name in OUTPUTS:
        out = tmp_path / f"out.{name}"
        finished = run("powmod", table, "-o", out, *SQUARE)
        assert finished.code == 2
        assert "already has a column 'result'" in finished.err
        finished = run("powmod", table, "-o", out, *SQUARE, "--base", "absent")
        assert finished.code == 2
        assert "--base absent: neither a column nor an integer; columns: n, c, b" in finished.err
        assert not out.exists()


@pytest.mark.parametrize("late", ["result", "status", '"\\u0072esult"', "absent"])
def test_names_are_found_however_late(tmp_path: Path, late: str) -> None:
    """Also where they are escaped."""
    table, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    key = late if late.startswith('"') else json.dumps(late)
    table.write_text('{"n": 7, "c": "result"}\n' * 200 + f'{{"b": 2, {key}: 1, "n": 7}}\n')
    finished = run("powmod", table, "-o", out, *SQUARE)
    if late == "absent":
        assert finished.code == 3
        assert read_table(out)[-1]["result"] == 4
    else:
        assert finished.code == 2
        assert f"already has a column '{json.loads(key)}'" in finished.err


@pytest.mark.parametrize("after", OUTPUTS)
def test_products_and_fixed_bases_read_rows_alike(tmp_path: Path, after: str) -> None:
    table, out = tmp_path / "in.jsonl", tmp_path / f"out.{after}"
    lines = ["no json", '{"x": 2.5, "y": 1}', '{"x": 3}', '{"x": 3, "y": "2", "later": 1e400}']
    table.write_text("\n".join(lines))
    terms = ("--base", "x", "--exp", 2, "--base", "y", "--exp", "x", "--mod", 101)
    assert run("multi_powmod", table, "-o", out, *terms).code == 3
    found = [(row["status"], as_int(row["result"])) for row in read_table(out)]
    assert found == [
        ("invalid_json", None),
        ("base1_not_an_integer", None),
        ("base2_is_null", None),
        ("ok", 3**2 * 2**3 % 101),
    ]
    fixed = ("--base", 5, "--exp", "x", "--mod", 101)
    assert run("fixed_base_powmod", table, "-o", out, *fixed).code == 3
    found = [(row["status"], as_int(row["result"])) for row in read_table(out)]
    assert found == [("invalid_json", None), ("exp_not_an_integer", None), ("ok", 24), ("ok", 24)]


NUMBERS = ["1.0", "1.50e+3", "1e400", "-0", "0.1", "123456789012345678901234567890", "3.14159265358979323846"]


def test_numbers_are_copied_as_they_were_written(tmp_path: Path) -> None:
    table = tmp_path / "in.jsonl"
    nested = '{"z" : [1e400,1.0], "a":"\\u00e4"}'
    table.write_text("".join(f'{{"b": 3, "n": 7, "x": {x}, "o": {nested}}}\n' for x in NUMBERS))
    out = tmp_path / "out.jsonl"
    assert run("powmod", table, "-o", out, *SQUARE).code == 0
    assert [line.partition(', "result"')[0] + "}" for line in out.read_text().splitlines()] == (
        table.read_text().splitlines()
    )
    out = tmp_path / "out.csv"
    assert run("powmod", table, "-o", out, *SQUARE).code == 0
    assert [row["x"] for row in read_table(out)] == NUMBERS
    assert {row["o"] for row in read_table(out)} == {nested}
    out = tmp_path / "out.parquet"
    assert run("powmod", table, "-o", out, *SQUARE).code == 0
    assert read_arrow(out)["x"].to_pylist() == NUMBERS


def test_columns_of_floats_hold_what_was_written(tmp_path: Path) -> None:
    """A column of numbers becomes float64 only if that keeps every one of them."""
    table, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    for numbers, dtype in [
        (["0.1", "1.50e+3", "7", "-0.0", "0.30000000000000004", "5e-324"], pa.float64()),
        (["NaN", "-Infinity", "0.5"], pa.float64()),
        (["0.1", "1e400"], pa.string()),
        (["0.1", "1e-400"], pa.string()),
        (["0.1", "3.14159265358979323846"], pa.string()),
        (["0.5", str(2**53 + 1)], pa.string()),
    ]:
        table.write_text("".join(f'{{"x": {x}}}\n' for x in numbers))
        assert run("sqrmod", table, "-o", out, "--x", 3, "--mod", 7).code == 0
        found = read_arrow(out)["x"]
        assert found.type == dtype
        expected: list[Any] = list(numbers) if dtype == pa.string() else [float(text) for text in numbers]
        assert [str(value) for value in found.to_pylist()] == [str(value) for value in expected]


@pytest.mark.parametrize("after", OUTPUTS)
def test_empty_tables(tmp_path: Path, after: str) -> None:
    """A table without rows whose columns are known is one again; if they are not, nothing is computed."""
    empty = pa.table({"b": pa.array([], pa.int64()), "n": pa.array([], pa.string())})
    sources = {"in.csv": b"b,n\n", "in2.csv": b"\n\nb,n\n\n", "in.tsv": b"b\tn\n"}
    out = tmp_path / f"out.{after}"
    for name, content in sources.items():
        (tmp_path / name).write_bytes(content)
    for name in ("in.parquet", "in.arrow", "in.arrows"):
        sink = tables.FileSink(tmp_path / name)
        sink.open(empty.schema, {})
        sink.finish()
        sink.close()
    for name in [*sources, "in.parquet", "in.arrow", "in.arrows"]:
        finished = run("powmod", tmp_path / name, "-o", out, *SQUARE)
        assert finished.code == 0, finished.err
        assert read_table(out) == []
        if after != "jsonl":
            names = (
                read_arrow(out).schema.names
                if after in {"parquet", "arrow", "arrows"}
                else out.read_text().strip().replace("\t", ",").split(",")
            )
            assert names == ["b", "n", "result", "status"]
        out.unlink()
    for name in ("no.csv", "no.tsv", "no.jsonl", "no.parquet", "no.arrow", "no.arrows"):
        for content in (b"", b"\n\n"):
            (tmp_path / name).write_bytes(content)
            finished = run("powmod", tmp_path / name, "-o", out, *SQUARE)
            assert finished.code == 1
            assert str(tmp_path / name) in finished.err
            assert not out.exists()


def run_over(tmp_path: Path, columns: dict[str, Any], after: str = "parquet") -> tuple[Finished, Any]:
    """Square every b modulo n; return how it ended and the output."""
    table, out = tmp_path / "in.arrows", tmp_path / f"out.{after}"
    data = pa.table(columns)
    with pa.OSFile(str(table), "wb") as file, pa.ipc.new_stream(file, data.schema) as writer:
        writer.write_table(data)
    finished = run("powmod", table, "-o", out, *SQUARE)
    return finished, read_table(out) if out.exists() else None


FLOATS = [3.0, 2.5, float("nan"), float("inf"), None, -4.0, 2.0**53, 2.0**53 - 1, -0.0]


@pytest.mark.parametrize("after", OUTPUTS)
def test_columns_of_floats_hold_whole_numbers(tmp_path: Path, after: str) -> None:
    """As pandas makes them of integers with gaps; above 2^53 a float may stand for several integers."""
    wrong = "base_not_an_integer"
    columns = {"b": pa.array(FLOATS), "n": pa.array(["1009"] * len(FLOATS))}
    finished, rows = run_over(tmp_path, columns, after)
    assert finished.code == 3
    statuses = ["ok", wrong, wrong, wrong, "base_is_null", "ok", wrong, "ok", "ok"]
    assert [row["status"] for row in rows] == statuses
    results = [9, None, None, None, None, 16, None, (2**53 - 1) ** 2 % 1009, 0]
    assert [as_int(row["result"]) for row in rows] == results


@pytest.mark.parametrize(("dtype", "limit"), [(np.float16, 2**11), (np.float32, 2**24)])
def test_columns_of_short_floats(tmp_path: Path, dtype: Any, limit: int) -> None:
    array = pa.array(np.array([limit - 1, limit, 5, -5], dtype))
    finished, rows = run_over(tmp_path, {"b": array, "n": pa.array([1009] * 4)})
    assert finished.code == 3
    assert [row["status"] for row in rows] == ["ok", "base_not_an_integer", "ok", "ok"]
    assert [row["result"] for row in rows] == [(limit - 1) ** 2 % 1009, None, 25, 25]


def test_encoded_columns_are_read(tmp_path: Path) -> None:
    """Dictionaries, runs, and a column of nothing but nulls."""
    values = pa.array(["3", "3", None, "x"])
    for column in (
        values.dictionary_encode(),
        pc.run_end_encode(values),
    ):
        finished, rows = run_over(tmp_path, {"b": column, "n": pa.array([7] * 4)}, "arrow")
        assert finished.code == 3
        assert [row["status"] for row in rows] == ["ok", "ok", "base_is_null", "base_not_an_integer"]
        assert [row["result"] for row in rows] == ["2", "2", None, None]
    finished, rows = run_over(tmp_path, {"b": pa.nulls(2), "n": pa.array([7, 7])})
    assert (finished.code, [row["status"] for row in rows]) == (3, ["base_is_null"] * 2)


TEXTS = [b"good", b"\xff\xfe and more than fits beside a length", None]
OFFSETS = pa.array([0, 1, 2, 3], pa.int32())


def texts_in(layout: str) -> Any:
    """`TEXTS` as text, in a column of a layout."""
    plain = pa.array(TEXTS, pa.binary()).view(pa.string())
    if layout == "dictionary":
        return pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), plain.slice(0, 2))
    if layout == "list":
        return pa.ListArray.from_arrays(OFFSETS, plain)
    if layout == "struct":
        return pa.StructArray.from_arrays([plain, pa.ListArray.from_arrays(OFFSETS, plain)], ["t", "l"])
    if layout == "map":
        return pa.MapArray.from_arrays(OFFSETS, pa.array(["a", "b", "c"]), plain)
    bytes_type = getattr(pa, layout.replace("string", "binary"))()
    return pa.array(TEXTS, bytes_type).view(getattr(pa, layout)())


@pytest.mark.parametrize(
    "layout", ["string", "large_string", "string_view", "dictionary", "list", "struct", "map"]
)
@pytest.mark.parametrize("after", OUTPUTS)
def test_text_that_is_no_utf8_is_a_bad_row(tmp_path: Path, layout: str, after: str) -> None:
    if layout == "string_view" and int(pa.__version__.split(".")[0]) < 24:
        pytest.skip("this pyarrow cannot convert views")
    columns = {"b": pa.array([3, 4, 5]), "n": pa.array([7] * 3), "t": texts_in(layout)}
    finished, rows = run_over(tmp_path, columns, after)
    assert finished.code == 3, finished.err
    assert [row["status"] for row in rows] == ["ok", "invalid_text", "ok"]
    assert "good" in str(rows[0]["t"])
    assert rows[1]["t"] in {None, ""}
    table = tmp_path / "in.parquet"
    if layout != "string_view":  # Parquet has no views
        write_arrow(table, pa.table(columns))
        out = tmp_path / f"out.{after}"
        assert run("powmod", table, "-o", out, *SQUARE).code == 3
        assert [row["status"] for row in read_table(out)] == ["ok", "invalid_text", "ok"]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", ["in.arrow", "in.arrows", "in.parquet"])
@pytest.mark.parametrize("after", ["csv", "arrow"])
def test_names_that_are_no_utf8(tmp_path: Path, name: str, inside: bool, after: str) -> None:
    """Of columns, and of fields within them, though neither is an operand."""
    more = pa.array([{"field": 1}]) if inside else pa.array([1])
    file = tmp_path / name
    write_arrow(file, pa.table({"b": [3], "n": [7], "more" if inside else "field": more}))
    file.write_bytes(file.read_bytes().replace(b"field", b"fie\xffd"))
    finished = run("powmod", file, "-o", tmp_path / f"out.{after}", *SQUARE)
    assert finished.code == 1
    assert f"{file}: 'utf-8' codec can't decode byte 0xff" in finished.err


def test_text_in_memory_that_is_no_utf8() -> None:
    job = tables.OperationJob(operation=tables.OPERATIONS["sqrmod"], operands={"x": "t", "mod": "7"})
    sink = tables.MemorySink()
    text = pa.array([b"3", b"\xff"], pa.binary()).view(pa.string())
    tables.run(job, tables.MemorySource(pa.table({"t": text})), sink)
    assert sink.table().to_pydict() == {
        "t": ["3", None],
        "result": ["2", None],
        "status": ["ok", "invalid_text"],
    }


def test_json_keeps_its_lines_whatever_is_wrong(tmp_path: Path) -> None:
    table, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = ['{"b":3,"n":7}', '{"b":3,"b":4,"n":7}', "no json", '{"b": 5']
    table.write_bytes("\n".join(lines).encode() + b'\n{"b": "\xff"}')
    assert run("powmod", table, "-o", out, *SQUARE).code == 3
    written = out.read_text().splitlines()
    assert written[0] == '{"b":3,"n":7, "result": 2, "status": "ok"}'
    assert written[1] == '{"b":3,"b":4,"n":7, "result": null, "status": "repeated_key"}'
    assert [json.loads(line)["line"] for line in written[2:]] == ["no json", '{"b": 5', '{"b": "\\xff"}']


def test_secret_exponents_that_are_too_wide_are_bad_rows(tmp_path: Path) -> None:
    """One of them does not end the run."""
    modulus = 2**61 - 1
    exps = [5, 2**64 - 1, 2**64, 2**200, 7]
    for before in ("csv", "jsonl"):
        table = tmp_path / f"in.{before}"
        rows = "".join(f"{e}\n" if before == "csv" else f'{{"e": {e}}}\n' for e in exps)
        table.write_text(("e\n" if before == "csv" else "") + rows)
        for after in OUTPUTS:
            out = tmp_path / f"out.{after}"
            command = ("fixed_base_powmod", table, "-o", out, "--base", 3, "--exp", "e", "--mod", modulus)
            assert run(*command, "--secret").code == 3
            assert [row["status"] for row in read_table(out)] == [
                "ok",
                "ok",
                "exponent_too_wide",
                "exponent_too_wide",
                "ok",
            ]
            good = [as_int(row["result"]) for row in read_table(out)]
            assert good == [pow(3, e, modulus) if e < 2**64 else None for e in exps]
            assert run(*command).code == 0


@pytest.mark.parametrize("later", ["2.5", str(2**64), '"text"', "1e400"])
def test_a_table_that_changes_while_it_is_read(tmp_path: Path, later: str) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text('{"b": 3}\n')
    source = tables.open_source(table)
    table.write_text(f'{{"b": {later}}}\n')
    with pytest.raises(tables.TableError, match="has changed since its columns were determined"):
        list(source.batches())
    source.close()


def test_no_record_batches() -> None:
    with pytest.raises(tables.TableError, match="columns are unknown"):
        tables.MemorySource([])
