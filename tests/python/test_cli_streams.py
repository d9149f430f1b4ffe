# SPDX-License-Identifier: Apache-2.0
"""Outputs to standard output, and outputs that are compressed."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.python.cli_support import COMMAND, Finished, power_rows, read_table, run, write_arrow, write_table

from manymod import tables
from manymod.tables import operation_job

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")
FORMATS = ["parquet", "csv", "jsonl", "arrow", "arrows"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of three rows."""
    path = tmp_path / "in.csv"
    write_table(path, power_rows(3, 64, seed=1))
    return path


@pytest.fixture
def nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error to compute a row."""
    monkeypatch.setattr(operation_job._OperationWork, "compute", None)


# Compression


@pytest.mark.parametrize("name", ["csv", "jsonl", "arrows"])
@pytest.mark.parametrize(("suffix", "codec"), [("gz", "gzip"), ("zst", "zstd")])
def test_compression_by_name_and_by_option(table: Path, name: str, suffix: str, codec: str) -> None:
    plain, named, chosen = (table.with_name(f"{stem}.{name}") for stem in ("plain", "named", "chosen"))
    named = named.with_name(f"{named.name}.{suffix}")
    assert run("powmod", table, "-o", plain, *POWMOD).code == 0
    assert run("powmod", table, "-o", named, *POWMOD).code == 0
    assert run("powmod", table, "-o", chosen, *POWMOD, "--output-compression", codec).code == 0
    assert named.read_bytes() == chosen.read_bytes()
    with pa.CompressedInputStream(pa.OSFile(str(named)), codec) as stream:
        assert stream.read() == plain.read_bytes()
    other = {"gzip": "zstd", "zstd": "gzip"}[codec]
    for choice in (other, "none"):
        finished = run("powmod", table, "-o", named, *POWMOD, "--output-compression", choice)
        assert (finished.code, f"the name says {codec}, not {choice}" in finished.err) == (2, True)


def test_compressed_tables_are_read_by_others(table: Path) -> None:
    out = table.with_name("out.csv.gz")
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    with gzip.open(out, "rt", newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["ok"] * 3


@pytest.mark.parametrize(
    ("choice", "codec"), [(None, "SNAPPY"), ("none", "UNCOMPRESSED"), ("gzip", "GZIP"), ("zstd", "ZSTD")]
)
def test_compression_inside_parquet(table: Path, choice: str | None, codec: str) -> None:
    out = table.with_name("out.parquet")
    options = () if choice is None else ("--output-compression", choice)
    assert run("powmod", table, "-o", out, *POWMOD, *options).code == 0
    assert pq.ParquetFile(out).metadata.row_group(0).column(0).compression == codec
    assert len(read_table(out)) == 3


def test_compression_inside_arrow_files(table: Path) -> None:
    out = table.with_name("out.arrow")
    finished = run("powmod", table, "-o", out, *POWMOD, "--output-compression", "gzip")
    assert (finished.code, "choose zstd" in finished.err) == (2, True)
    assert run("powmod", table, "-o", out, *POWMOD, "--output-compression", "zstd").code == 0
    assert len(read_table(out)) == 3


# Standard output


class Standard:
    """A stream for bytes in place of standard output."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = io.BytesIO()
        self._patch = monkeypatch

    def run(self, *arguments: object, stream: Any = None) -> Finished:
        """Run the command with this as its standard output."""
        text = io.TextIOWrapper(stream or self.bytes, encoding="utf-8", write_through=True)
        with self._patch.context() as patch:
            patch.setattr("manymod.cli.table.run._standard_output", lambda: text.buffer)
            finished = run(*arguments)
        text.detach()
        return finished


@pytest.fixture
def standard(monkeypatch: pytest.MonkeyPatch) -> Standard:
    return Standard(monkeypatch)


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("name", FORMATS)
def test_standard_output_is_what_a_file_would_be(
    table: Path, standard: Standard, name: str, compression: str | None
) -> None:
    out = table.with_name(f"out.{name}")
    options = (*POWMOD, *(() if compression is None else ("--output-compression", compression)))
    assert run("powmod", table, "-o", out, *options).code == 0
    finished = standard.run("powmod", table, "-o", "-", "--output-format", name, *options)
    assert finished.code == 0
    assert "3 rows written to standard output" in finished.err
    assert finished.out == ""
    assert standard.bytes.getvalue() == out.read_bytes()
    assert sorted(entry.name for entry in table.parent.iterdir()) == ["in.csv", out.name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --output-format"),
        (("--output-format", "csv", "--resume"), "keeps no parts"),
        (("--output-format", "csv", "--restart"), "keeps no parts"),
    ],
)
@pytest.mark.usefixtures("nothing_is_computed")
def test_what_standard_output_cannot_do(
    table: Path, standard: Standard, options: tuple[str, ...], message: str
) -> None:
    finished = standard.run("powmod", table, "-o", "-", *POWMOD, *options)
    assert (finished.code, message in finished.err) == (2, True)
    assert standard.bytes.getvalue() == b""


class Terminal(io.BytesIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "code"),
    [(("csv",), 0), (("jsonl",), 0), (("parquet",), 2), (("csv", "--output-compression", "gzip"), 2)],
)
def test_a_terminal_gets_text_only(
    table: Path, standard: Standard, options: tuple[str, ...], code: int
) -> None:
    screen = Terminal()
    finished = standard.run("powmod", table, "-o", "-", *POWMOD, "--output-format", *options, stream=screen)
    assert (finished.code, bool(screen.getvalue())) == (code, code == 0)


@pytest.mark.usefixtures("nothing_is_computed")
def test_standard_output_into_the_table_itself(table: Path, standard: Standard) -> None:
    before = table.read_bytes()
    with table.open("ab") as file:
        command = ("powmod", table, "-o", "-", *POWMOD, "--output-format", "csv")
        finished = standard.run(*command, stream=file)
    assert (finished.code, "standard output is TABLE" in finished.err) == (2, True)
    assert table.read_bytes() == before


def test_a_full_standard_output(table: Path, standard: Standard) -> None:
    with open("/dev/full", "wb", buffering=0) as file:
        command = ("powmod", table, "-o", "-", *POWMOD, "--output-format", "csv")
        finished = standard.run(*command, stream=file)
    assert finished.code == 1
    assert finished.err.splitlines()[-1] == "manymod: standard output: No space left on device"


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_what_failed_on_standard_output_has_no_end(tmp_path: Path, standard: Standard, name: str) -> None:
    """A reader must not take the rows before a failure for the whole table."""
    table = tmp_path / "in.parquet"
    write_arrow(table, pa.table({"b": list(range(100))}))
    command = ("powmod", table, "-o", "-", "--base", "b", "--exp", 2, "--mod", 7, "--batch-rows", 10)

    def fail_at_fifty(done: int, _total: int | None) -> None:
        if done >= 50:
            raise tables.TableError("enough")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manymod.cli.progress.RowProgress.__call__", lambda _self, *rows: fail_at_fifty(*rows))
        assert standard.run(*command, "--output-format", name).code == 1
    opener = pq.read_table if name == "parquet" else pa.ipc.open_file
    with pytest.raises(pa.ArrowInvalid):
        opener(pa.BufferReader(standard.bytes.getvalue()))


@pytest.mark.parametrize("options", [("csv",), ("parquet",), ("csv", "--output-compression", "gzip")])
def test_a_reader_that_wants_no_more(tmp_path: Path, options: tuple[str, ...]) -> None:
    table = tmp_path / "in.csv"
    table.write_text("b\n" + "12345678901234567890\n" * 20_000)
    command = [*COMMAND, "powmod", str(table), "-o", "-", "--base", "b", "--exp", "1", "--mod", "7"]
    process = subprocess.Popen(
        [*command, "--output-format", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 141


def test_a_file_of_that_name(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    assert run("powmod", table, "-o", "./-", *POWMOD, "--output-format", "csv").code == 0
    assert (table.parent / "-").read_text().startswith("id,b,e,n,result,status\n")
