# SPDX-License-Identifier: Apache-2.0
"""Standard input, compressed tables, delimiters, encodings, and notations of integers in text."""

from __future__ import annotations

import base64
import codecs
import io
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import (
    COMMAND,
    interrupted_at,
    power_rows,
    read_table,
    run,
    write_arrow,
    write_table,
)

from manymod import tables
from manymod.tables import operation_job
from manymod.tables.notations import from_base64, from_hexadecimal

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")
FORMATS = ["parquet", "csv", "tsv", "jsonl", "arrow", "arrows"]
ROWS = power_rows(20, 100, seed=1)
POWERS = [str(pow(int(row["b"]), int(row["e"]), int(row["n"]))) for row in ROWS]


def written(folder: Path, name: str) -> Path:
    """A table of `ROWS` in the format of the extension."""
    path = folder / f"in.{name}"
    if name == "tsv":
        plain = written(folder, "csv")
        path.write_text(plain.read_text().replace(",", "\t"))
        plain.unlink()
    else:
        write_table(path, ROWS)
    return path


def piped(content: bytes, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command on what comes through a pipe."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, input=content, capture_output=True, check=False)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
@pytest.mark.parametrize("name", FORMATS)
def test_compressed_tables(tmp_path: Path, name: str, codec: str) -> None:
    """Told by the contents; a name may say so too, or not. Several streams one after another are one."""
    table = written(tmp_path, name)
    content, half = table.read_bytes(), table.stat().st_size // 2
    table.unlink()
    pieces = [pa.compress(piece, codec=codec, asbytes=True) for piece in (content[:half], content[half:])]
    out = tmp_path / "out.csv"
    for path in (table, table.with_name(table.name + (".gz" if codec == "gzip" else ".zst"))):
        path.write_bytes(b"".join(pieces))
        finished = run("powmod", path, "-o", out, *POWMOD)
        assert finished.code == 0, finished.err
        assert [row["result"] for row in read_table(out)] == POWERS
        path.write_bytes(b"".join(pieces)[:-20])
        finished = run("powmod", path, "-o", tmp_path / "not.csv", *POWMOD)
        assert finished.code == 1
        assert str(path) in finished.err
        assert not (tmp_path / "not.csv").exists()
    plain = table.with_name(table.name + ".gz")
    plain.write_bytes(content)
    assert run("powmod", plain, "-o", out, *POWMOD).code == 0


class _Stdin:
    """Standard input with these bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_standard_input(tmp_path: Path, name: str, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    content = written(tmp_path, name).read_bytes()
    if packed:
        content = pa.compress(content, codec="zstd", asbytes=True)
    out = tmp_path / "out.jsonl"
    monkeypatch.setattr("sys.stdin", _Stdin(content))
    finished = run("powmod", "-", "-o", out, *POWMOD, "--input-format", name)
    assert finished.code == 0, finished.err
    assert [str(row["result"]) for row in read_table(out)] == POWERS


def test_from_a_pipe_to_a_pipe(tmp_path: Path) -> None:
    content = written(tmp_path, "csv").read_bytes()
    formats = ("--input-format", "csv", "--output-format", "csv")
    finished = piped(content, "powmod", "-", "-o", "-", *POWMOD, *formats)
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.decode().splitlines()
    assert [line.split(",")[-2] for line in lines[1:]] == POWERS


def test_standard_input_needs_a_format_and_contents(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    finished = piped(b"b\n1\n", "sqrmod", "-", "-o", out, "--x", "b", "--mod", 7)
    assert finished.returncode == 2
    assert b"give --input-format" in finished.stderr
    finished = piped(b"", "sqrmod", "-", "-o", out, "--x", "b", "--mod", 7, "--input-format", "csv")
    assert finished.returncode == 1
    assert b"standard input is empty" in finished.stderr
    assert not list(tmp_path.iterdir())


def test_closed_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    finished = run("powmod", "-", "-o", tmp_path / "out.csv", *POWMOD, "--input-format", "csv")
    assert (finished.code, finished.err) == (1, "manymod: standard input is closed, or has no bytes\n")


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_over_standard_input_is_resumed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, out = written(tmp_path, name).read_bytes(), tmp_path / "out.jsonl"
    command = (
        "powmod",
        "-",
        "-o",
        out,
        *POWMOD,
        "--input-format",
        name,
        "--batch-rows",
        6,
        "--checkpoint",
        0,
    )
    with monkeypatch.context() as patch, interrupted_at(3, operation_job._OperationWork, "_run"):
        patch.setattr("sys.stdin", _Stdin(content))
        finished = run(*command)
    assert (finished.code, "12 rows are kept" in finished.err) == (130, True)
    if name in {"csv", "tsv", "jsonl"}:
        monkeypatch.setattr("sys.stdin", _Stdin(content + b"\n{}"))
        finished = run(*command, "--resume")
        assert (finished.code, "input size, input digest changed" in finished.err) == (1, True)
    monkeypatch.setattr("sys.stdin", _Stdin(content))
    finished = run(*command, "--resume")
    assert finished.code == 0, finished.err
    assert [str(row["result"]) for row in read_table(out)] == POWERS


@pytest.mark.parametrize("name", ["-", "in.parquet.gz"])
def test_a_full_temporary_folder_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.RawIOBase):
        def write(self, _data: Any) -> int:
            raise OSError(28, "No space left on device")

    content = written(tmp_path, "parquet").read_bytes()
    table = tmp_path / name
    if name != "-":
        table.write_bytes(pa.compress(content, codec="gzip", asbytes=True))
    monkeypatch.setattr("sys.stdin", _Stdin(content))
    monkeypatch.setattr("manymod.tables.inputs.tempfile.TemporaryFile", lambda **_: Full())
    out = tmp_path / "out.csv"
    source = "-" if name == "-" else table
    finished = run("powmod", source, "-o", out, *POWMOD, "--input-format", "parquet")
    assert finished.code == 1
    assert "No space left on device, where the table is copied to; TMPDIR" in finished.err
    assert not out.exists()


def test_standard_input_is_known_again_by_its_contents() -> None:
    program = (
        "import sys, json; from manymod import tables; s = tables.open_source('-', 'csv'); "
        "print(json.dumps(s.fingerprint())); s.close()"
    )
    found = [
        subprocess.run([COMMAND[0], "-c", program], input=text, capture_output=True, check=True).stdout
        for text in (b"b\n1\n", b"b\n1\n", b"b\n2\n")
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "tab", "\\t", " "])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    one = "\t" if "t" in delimiter else delimiter
    table.write_text(f'b{one}n{one}"a,{one}b"\n3{one}7{one}","\n4{one}7\n')
    options = ("--x", "b", "--mod", "n", "--delimiter", delimiter)
    assert run("sqrmod", table, "-o", out, *options).code == 3
    rows = read_table(out)
    assert [row["result"] for row in rows] == ["2", ""]
    assert [row[f"a,{one}b"] for row in rows] == [",", ""]
    assert rows[1]["status"] == "wrong_field_count"


@pytest.mark.parametrize("option", [("--delimiter", ",,"), ("--delimiter", '"'), ("--delimiter", "")])
def test_what_is_no_delimiter(tmp_path: Path, option: tuple[str, str]) -> None:
    table = written(tmp_path, "csv")
    finished = run("powmod", table, "-o", tmp_path / "out.csv", *POWMOD, *option)
    assert finished.code == 2
    assert "not one character" in finished.err


def test_options_of_text_are_for_text(tmp_path: Path) -> None:
    for name, option in [
        ("parquet", ("--delimiter", ";")),
        ("jsonl", ("--delimiter", ";")),
        ("arrow", ("--encoding", "utf-8")),
    ]:
        finished = run("powmod", written(tmp_path, name), "-o", tmp_path / "out.csv", *POWMOD, *option)
        assert (finished.code, f"{option[0]} is for CSV" in finished.err) == (2, True)


ENCODINGS = [
    ("utf-8-sig", b"", ()),
    ("utf-16", b"", ()),
    ("utf-16-le", codecs.BOM_UTF16_LE, ()),
    ("utf-16-be", codecs.BOM_UTF16_BE, ()),
    ("utf-32", b"", ()),
    ("utf-16-le", b"", ("--encoding", "utf-16-le")),
    ("utf-16", b"", ("--encoding", "UTF-16")),
    ("latin-1", b"", ("--encoding", "latin-1")),
    ("cp1252", b"", ("--encoding", "windows-1252")),
    ("utf-8-sig", b"", ("--encoding", "utf-8")),
]


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(("encoding", "mark", "options"), ENCODINGS)
def test_encodings(tmp_path: Path, name: str, encoding: str, mark: bytes, options: tuple[str, ...]) -> None:
    texts = {
        "csv": "b,Zahl é\n3,ä\n4,\n",
        "tsv": "b\tZahl é\n3\tä\n4\t\n",
        "jsonl": '{"b": "3", "Zahl é": "ä"}\n{"b": "4", "Zahl é": ""}\n',
    }
    table, out = tmp_path / f"in.{name}", tmp_path / "out.csv"
    table.write_bytes(mark + texts[name].encode(encoding))
    finished = run("sqrmod", table, "-o", out, "--x", "b", "--mod", 7, *options)
    assert finished.code == 0, finished.err
    assert out.read_text("utf-8") == "b,Zahl é,result,status\n3,ä,2,ok\n4,,2,ok\n"


def test_undecodable_lines_of_utf16(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lone = b"\x00\xd8"
    lines = ["b,t\n".encode("utf-16-le"), "3,".encode("utf-16-le") + lone + "\n4,x\n".encode("utf-16-le")]
    table.write_bytes(codecs.BOM_UTF16_LE + b"".join(lines) + b"5")
    assert run("sqrmod", table, "-o", out, "--x", "b", "--mod", 7).code == 3
    assert [row["status"] for row in read_table(out)] == ["invalid_text", "ok", "wrong_field_count"]


@pytest.mark.parametrize("name", ["nosuch", "base64", "rot13", "idna", "punycode", "undefined", ""])
def test_what_is_no_encoding(tmp_path: Path, name: str) -> None:
    table = written(tmp_path, "csv")
    finished = run("powmod", table, "-o", tmp_path / "out.csv", *POWMOD, "--encoding", name)
    assert finished.code == 2
    assert "is no text encoding" in finished.err
    with pytest.raises(ValueError, match="no text encoding"):
        tables.open_source(table, text=tables.TextOptions(encoding=name))


def in_notation(value: int, notation: str) -> str:
    """A number as text."""
    data = value.to_bytes(-(-value.bit_length() // 8), "big")
    return {
        "dec": str(value),
        "hex": f"{value:x}",
        "0x": f"0x{value:X}",
        "base64": base64.b64encode(data).decode(),
        "base64url": base64.urlsafe_b64encode(data).decode().rstrip("="),
    }[notation]


@pytest.mark.parametrize("before", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("after", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("cells", "option", "reader"),
    [
        ("dec", "dec", int),
        ("hex", "hex", lambda cell: int(cell, 16)),
        ("0x", "hex", lambda cell: int(cell, 16)),
        ("base64", "base64", lambda cell: int.from_bytes(base64.b64decode(cell), "big")),
        ("base64url", "base64", lambda cell: int.from_bytes(base64.b64decode(cell), "big")),
    ],
)
def test_notations(tmp_path: Path, before: str, after: str, cells: str, option: str, reader: Any) -> None:
    """In the first column; the others keep theirs. Results have the first one's."""
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    write_table(table, [{**row, "b": in_notation(int(row["b"]), cells)} for row in ROWS])
    finished = run("powmod", table, "-o", out, *POWMOD, "--notation", f"b={option}")
    assert finished.code == 0, finished.err
    assert [str(reader(row["result"])) for row in read_table(out)] == POWERS


def test_notations_of_all_columns_and_of_one(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("b,e,n\n-10,10,ff\n+fF,0x10,0XFF1\n zz,1,1\n1,,1\n")
    options = ("--notation", "hex", "--notation", "e=dec", "--result-format", "dec")
    assert run("powmod", table, "-o", out, *POWMOD, *options).code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == [
        "ok",
        "exp_not_an_integer",
        "base_not_an_integer",
        "exp_not_an_integer",
    ]
    assert rows[0]["result"] == str(pow(-16, 10, 255))


def test_numbers_of_json_are_decimal_in_any_notation(tmp_path: Path) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text('{"b": 10}\n{"b": "10"}\n{"b": "ff"}\n{"b": 1.5}\n{"b": ["ff"]}\n')
    for name in ("jsonl", "csv"):
        out = tmp_path / f"out.{name}"
        options = ("--x", "b", "--y", 0, "--mod", 1000, "--notation", "hex")
        assert run("addmod", table, "-o", out, *options).code == 3
        rows = read_table(out)
        assert [int(str(row["result"]), 0) for row in rows[:3]] == [10, 16, 255]
        assert [row["status"] for row in rows[3:]] == ["base_not_an_integer".replace("base", "x")] * 2


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_cells_that_look_hexadecimal_are_hinted_at(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / "out.csv"
    command = ("sqrmod", table, "-o", out, "--x", "b", "--mod", 1009)
    write_table(table, [{"b": "10"}, {"b": "ff"}, {"b": "x"}])
    finished = run(*command)
    assert finished.code == 3
    assert finished.err.count("hint") == 1
    assert "column 'b' has cells of hexadecimal digits without 0x" in finished.err
    assert "--notation b=hex" in finished.err
    assert "hint" not in run(*command, "--notation", "dec").err
    assert "hint" not in run(*command, "--notation", "hex").err
    write_table(table, [{"b": "10"}, {"b": "no"}, {"b": ""}, {"b": "9" * 100_001}])
    finished = run(*command)
    assert (finished.code, "hint" in finished.err) == (3, False)


@pytest.mark.parametrize("out_format", ["csv", "jsonl"])
def test_numbers_of_json_do_not_look_hexadecimal(tmp_path: Path, out_format: str) -> None:
    table, out = tmp_path / "in.jsonl", tmp_path / f"out.{out_format}"
    table.write_text('{"b": 1e5}\n{"b": 7}\n')
    finished = run("sqrmod", table, "-o", out, "--x", "b", "--mod", 1009)
    assert (finished.code, "hint" in finished.err) == (3, False)
    table.write_text('{"b": 1e5}\n{"b": "ff"}\n')
    finished = run("sqrmod", table, "-o", out, "--x", "b", "--mod", 1009)
    assert (finished.code, "hint" in finished.err) == (3, True)


def test_notations_that_fit_nothing(tmp_path: Path) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.csv"
    write_arrow(table, pa.table({"b": [1], "t": ["1"]}))
    command = ("sqrmod", table, "-o", out, "--x", "b", "--mod", 7, "--notation")
    for notation, said in [
        ("octal", "is none of auto, dec, hex, base64"),
        ("b=octal", "is none of"),
        ("t=hex", "--notation t: not the column of an operand"),
        ("b=hex", "--notation b: a column of type int64 is no text"),
    ]:
        finished = run(*command, notation)
        assert (finished.code, said in finished.err) == (2, True), finished.err
    assert run(*command, "hex").code == 0


@pytest.mark.parametrize("before", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("after", ["csv", "jsonl", "parquet"])
def test_results_as_base64(tmp_path: Path, before: str, after: str) -> None:
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    write_table(table, [*ROWS, {"id": "bad", "b": "2", "e": "1", "n": "-7"}])
    assert run("powmod", table, "-o", out, *POWMOD, "--result-format", "base64").code == 3
    rows = read_table(out)
    for given, power, row in zip(ROWS, POWERS, rows, strict=False):
        size = -(-int(given["n"]).bit_length() // 8)
        assert row["result"] == base64.b64encode(int(power).to_bytes(size, "big")).decode()
    assert rows[-1]["status"] == "negative_result"


def test_bytes_of_text() -> None:
    assert from_hexadecimal(" 0Xff00 ") == from_hexadecimal("fF00") == b"\xff\x00"
    for text, data in [("", b""), ("_-8=", b"\xff\xef"), ("/+8", b"\xff\xef"), (" AA==\n", b"\0")]:
        assert from_base64(text) == data
    for text in ("A", "AAAAA", "AA=", "AA===", "A=A=", "AA AA", "ä", "AA\nAA"):
        with pytest.raises(ValueError, match="not Base64"):
            from_base64(text)
