# SPDX-License-Identifier: Apache-2.0
"""How commands end that fail: one line, an exit code, and never a traceback."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.python.cli_support import COMMAND, Finished, leftovers, power_rows, read_table, run, write_table

from manymod import tables
from manymod.tables import operation_job

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of three rows."""
    path = tmp_path / "in.csv"
    write_table(path, power_rows(3, 64, seed=1))
    return path


def test_an_internal_error_is_one_line(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise TypeError("a\nb" * 300)

    monkeypatch.setattr(operation_job._OperationWork, "compute", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = table.with_name("out.csv")
    finished = run("powmod", table, "-o", out, *POWMOD)
    assert finished.code == 70
    assert finished.out == ""
    (line,) = finished.err.splitlines()
    assert line.startswith("manymod: internal error: TypeError: a ba ba")
    assert "please report it" in line
    assert len(line) < 700
    (trace,) = tmp_path.glob("manymod-traceback-*.txt")
    assert str(trace) in line
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    assert "in fail" in trace.read_text()
    assert leftovers(out) == []


def test_an_internal_error_where_no_file_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any, **_keywords: Any) -> None:
        raise ZeroDivisionError

    def full(*_arguments: Any, **_keywords: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("manymod.cli.info.output_console", fail)
    monkeypatch.setattr("tempfile.mkstemp", full)
    finished = run("info")
    assert finished.code == 70
    (line,) = finished.err.splitlines()
    assert line.startswith("manymod: internal error: ZeroDivisionError (")
    assert f"{Path(__file__).name}, line " in line


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "manymod: interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (MemoryError(), 1, "manymod: out of memory\n"),
        (PermissionError(13, "Permission denied", "x"), 1, "manymod: x: Permission denied\n"),
        (OSError(28, "No space left on device"), 1, "manymod: No space left on device\n"),
        (OSError("odd"), 1, "manymod: odd\n"),
        (tables.TableError("no table"), 1, "manymod: no table\n"),
    ],
)
def test_other_ends_of_any_command(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, text: str
) -> None:
    def fail(*_arguments: Any, **_keywords: Any) -> None:
        raise error

    monkeypatch.setattr("manymod.cli.info.output_console", fail)
    monkeypatch.setattr("manymod.cli.failures._discard", lambda _: None)
    assert run("info") == Finished(code, "", text)


INTERRUPTED = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == "manymod.cli.main":
            raise KeyboardInterrupt

import manymod.__main__
sys.meta_path.insert(0, Finder())
manymod.__main__.main()
"""


def test_an_interruption_while_modules_are_imported() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (130, "", "manymod: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("info",), ("powmod", "--help"), ("lab", "--list")]
)
def test_output_that_cannot_be_written(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (finished.returncode, finished.stderr) == (1, "manymod: No space left on device\n")


@pytest.mark.parametrize("arguments", [("info",), ("info", "--json"), ("tune", "--show"), ("--help",)])
def test_output_that_nobody_reads(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (finished.returncode, finished.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(("modulus", "code"), [("n", 0), ("0", 3)])
def test_messages_that_cannot_be_written_change_no_exit_code(table: Path, modulus: str, code: int) -> None:
    out = table.with_name("out.csv")
    command = [*COMMAND, "powmod", str(table), "-o", str(out), "--base", "b", "--exp", "e", "--mod", modulus]
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, check=False).returncode == code
    assert len(read_table(out)) == 3


@pytest.mark.parametrize("variable", ["MANYMOD_VARIANT", "MANYMOD_TUNING"])
def test_variables_that_are_no_text(table: Path, variable: str) -> None:
    out = table.with_name("out.csv")
    command = [*COMMAND, "powmod", str(table), "-o", str(out), "--base", "b", "--exp", "e", "--mod", "n"]
    environment = {**os.environ, variable: "a\udcff"}
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert finished.returncode == 1
    (line,) = finished.stderr.splitlines()
    assert r"'a\xff'" in line
    assert variable in line


@pytest.mark.parametrize("value", ["nan", "-1"])
def test_seconds_are_numbers(table: Path, value: str) -> None:
    finished = run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD, "--checkpoint", value)
    assert finished.code == 2
    assert "--checkpoint" in finished.err


@pytest.mark.parametrize("option", ["--result", "--status-column"])
def test_names_that_are_no_text(table: Path, option: str) -> None:
    finished = run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD, option, "\udcff")
    assert finished.code == 2
    assert option in finished.err
    assert "not text in UTF-8" in finished.err


@pytest.mark.parametrize("option", ["--result", "--status-column", "--label"])
def test_text_of_rsa_that_is_none(table: Path, option: str) -> None:
    command = ("rsa", "encrypt", table, "-o", table.with_name("out.csv"), "--key", table, "--message", "b")
    finished = run(*command, option, "\udcff")
    assert finished.code == 2
    assert option in finished.err
    assert "not text in UTF-8" in finished.err


def test_characters_that_a_terminal_does_not_have(tmp_path: Path) -> None:
    """Tables are cut by an ellipsis, and names of files may be any bytes."""
    name = "t\u20ac\udcff"
    (tmp_path / name).write_text("manymod-tuning\t1\tSome CPU\ttoday\n")
    settings = {"MANYMOD_TUNING": name, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "60"}
    finished = subprocess.run(
        [*COMMAND, "tune", "--show"],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, b"")
    assert finished.stdout.startswith(b"Tuning table t")
    assert b"\xff: Some CPU" in finished.stdout
    assert b"?" in finished.stdout.partition(b"Some CPU")[2]
