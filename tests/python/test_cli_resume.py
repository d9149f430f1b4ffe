# SPDX-License-Identifier: Apache-2.0
"""Interrupted runs: what is kept, what is refused, and that the answer does not depend on it."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.python.cli_support import leftovers, power_rows, read_table, run, start, write_table

from manymod.tables import operation_job, parts

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")
#: Every batch is kept at once.
KEPT = ("--batch-rows", 4, "--checkpoint", 0)
BITS = 256
ROWS = 64


@pytest.fixture(scope="module")
def table_of_batches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of several batches, with a bad row early and one late."""
    rows = power_rows(ROWS, BITS, seed=11)
    rows[1]["n"], rows[-2]["b"] = "0", "?"
    path = tmp_path_factory.mktemp("table") / "in.csv"
    write_table(path, rows)
    return path


@pytest.fixture(scope="module")
def undisturbed(table_of_batches: Path) -> dict[str, bytes]:
    """Outputs of runs that nobody interrupted."""
    outputs = {}
    for name in ("parquet", "csv", "jsonl", "arrow"):
        out = table_of_batches.with_name(f"undisturbed.{name}")
        assert run("powmod", table_of_batches, "-o", out, *POWMOD, *KEPT[:2]).code == 3
        outputs[name] = out.read_bytes()
    return outputs


def journal_of(out: Path) -> Path:
    """Where the journal of an output that is not finished lies."""
    return out.with_name(out.name + ".parts") / "journal.json"


def start_held(table_of_batches: Path, out: Path) -> subprocess.Popen[str]:
    """Start a run that keeps three batches and then waits, and return when it has kept them."""
    process = start("powmod", table_of_batches, "-o", out, *POWMOD, *KEPT, held_after=3)
    deadline = time.monotonic() + 120
    while not (journal_of(out).exists() and json.loads(journal_of(out).read_text())["batches"] == 3):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def interrupt(table_of_batches: Path, out: Path, number: signal.Signals) -> tuple[int, str]:
    """Start a run, stop it when three batches are kept, and return its exit code and standard error."""
    process = start_held(table_of_batches, out)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    kept = json.loads(journal_of(out).read_text())
    assert kept["batches"] == 3
    assert not kept["complete"]
    assert not out.exists()
    return process.returncode, err


@pytest.mark.parametrize("name", ["parquet", "csv", "jsonl", "arrow"])
def test_killed_and_resumed(
    tmp_path: Path, table_of_batches: Path, undisturbed: dict[str, bytes], name: str
) -> None:
    out = tmp_path / f"out.{name}"
    code, _ = interrupt(table_of_batches, out, signal.SIGKILL)
    assert code == -signal.SIGKILL
    finished = run("powmod", table_of_batches, "-o", out, *POWMOD, "--batch-rows", 4, "--resume")
    assert finished.code == 3
    assert "row 2: zero_modulus" in finished.err
    assert f"row {ROWS - 1}: base_not_an_integer" in finished.err
    assert out.read_bytes() == undisturbed[name]
    assert leftovers(out) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_and_resumed(
    tmp_path: Path, table_of_batches: Path, undisturbed: dict[str, bytes], number: signal.Signals
) -> None:
    out = tmp_path / "out.csv"
    code, err = interrupt(table_of_batches, out, number)
    assert code == 130
    assert "interrupted" in err
    assert "--resume" in err
    again = ("powmod", table_of_batches, "-o", out, *POWMOD, "--batch-rows", 4)
    refused = run(*again)
    assert refused.code == 1
    assert "--resume" in refused.err
    assert "--restart" in refused.err
    assert run(*again, "--resume").code == 3
    assert out.read_bytes() == undisturbed["csv"]


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A table and an output whose run failed after its last row: only the output is missing."""
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(20, 128, seed=5))

    def full(*_arguments: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parts, "write_table", full)
        finished = run("powmod", table, "-o", out, *POWMOD)
    assert finished.code == 1
    assert "No space left" in finished.err
    assert not out.exists()
    return table, out


def test_a_complete_run_is_only_put_together(
    stopped: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out = stopped
    with monkeypatch.context() as patch:
        patch.setattr(operation_job.ColumnWork, "compute", None)
        assert run("powmod", table, "-o", out, *POWMOD, "--resume").code == 0
    assert len(read_table(out)) == 20
    assert leftovers(out) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("--mod", "12345"), "operands"),
        (("--result", "r"), "result column"),
        (("--secret",), "timing class"),
        (("--batch-rows", 3), "--memory or --batch-rows"),
        (("--result-format", "hex"), "result format"),
    ],
)
def test_other_arguments_are_refused(stopped: tuple[Path, Path], change: tuple[Any, ...], named: str) -> None:
    table, out = stopped
    before = contents(out.with_name("out.csv.parts"))
    assert len(before) == 3
    finished = run("powmod", table, "-o", out, *POWMOD, *change, "--resume")
    assert finished.code == 1
    assert f"({named} changed)" in finished.err
    assert contents(out.with_name("out.csv.parts")) == before
    assert run("powmod", table, "-o", out, *POWMOD, *change, "--restart").code == 0
    assert leftovers(out) == []


def test_parts_that_were_refused_are_resumed_by_the_command_they_are_of(stopped: tuple[Path, Path]) -> None:
    table, out = stopped
    command = ("powmod", table, "-o", out, *POWMOD, "--resume")
    assert run(*command, "--secret").code == 1
    finished = run(*command)
    assert (finished.code, len(read_table(out))) == (0, 20)
    assert leftovers(out) == []


def test_another_input_is_refused(stopped: tuple[Path, Path]) -> None:
    table, out = stopped
    table.write_text(table.read_text() + "9,1,1,3\n")
    finished = run("powmod", table, "-o", out, *POWMOD, "--resume")
    assert finished.code == 1
    assert "input size, input modification time changed" in finished.err
    assert (out.with_name("out.csv.parts") / "journal.json").exists()
    assert run("powmod", table, "-o", out, *POWMOD, "--restart").code == 0
    assert len(read_table(out)) == 21


def test_threads_may_change(stopped: tuple[Path, Path]) -> None:
    table, out = stopped
    assert run("powmod", table, "-o", out, *POWMOD, "--resume", "--threads", 1).code == 0


@pytest.mark.parametrize("damage", [lambda old: old.replace(b'"rows": 20', b'"rows": 10'), lambda _: b"{"])
def test_a_damaged_journal_is_refused(stopped: tuple[Path, Path], damage: Callable[[bytes], bytes]) -> None:
    table, out = stopped
    journal = out.with_name(out.name + ".parts") / "journal.json"
    journal.write_bytes(damage(journal.read_bytes()))
    before = contents(journal.parent)
    finished = run("powmod", table, "-o", out, *POWMOD, "--resume")
    assert finished.code == 1
    assert "cannot be read" in finished.err
    assert "use --restart" in finished.err
    assert contents(journal.parent) == before
    assert run("powmod", table, "-o", out, *POWMOD, "--restart").code == 0


def test_the_output_format_may_change(stopped: tuple[Path, Path]) -> None:
    table, out = stopped
    assert run("powmod", table, "-o", out, *POWMOD, "--resume", "--output-format", "parquet").code == 0
    again = out.with_name("again.parquet")
    assert run("powmod", table, "-o", again, *POWMOD).code == 0
    assert out.read_bytes() == again.read_bytes()


FOUR_PARTS = ("--batch-rows", 5, "--checkpoint", 0)


@pytest.fixture
def four_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, bytes]:
    """A table, an output of which all four parts are there, with two bad rows, and what it will be."""
    table, out, whole = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "whole.csv"
    rows = power_rows(20, 64, seed=8)
    rows[1]["n"], rows[16]["b"] = "0", "?"
    write_table(table, rows)
    assert run("powmod", table, "-o", whole, *POWMOD, *FOUR_PARTS).code == 3

    def full(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parts, "write_table", full)
        assert run("powmod", table, "-o", out, *POWMOD, *FOUR_PARTS).code == 1
    return table, out, whole.read_bytes()


def flip(content: bytes) -> bytes:
    """One bit changed, in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [flip, lambda old: old[:-1], lambda _: b"", None])
@pytest.mark.parametrize("number", [0, 2, 3])
def test_damaged_parts_are_computed_again(
    four_parts: tuple[Path, Path, bytes], number: int, damage: Callable[[bytes], bytes] | None
) -> None:
    table, out, whole = four_parts
    part = out.with_name("out.csv.parts") / f"part-{number:06d}.arrow"
    if damage is None:
        part.unlink()
    else:
        part.write_bytes(damage(part.read_bytes()))
    finished = run("powmod", table, "-o", out, *POWMOD, *FOUR_PARTS, "--resume")
    assert finished.code == 3
    assert f"{part} {'cannot be read' if damage is None else 'is damaged'}" in finished.err
    assert f"all after {5 * number} rows are computed again" in finished.err
    assert finished.err.count("row 2: zero_modulus") == 1
    assert finished.err.count("row 17: base_not_an_integer") == 1
    assert "20 rows written" in finished.err
    assert out.read_bytes() == whole
    assert leftovers(out) == []


def test_a_part_that_is_damaged_while_the_run_goes_on(
    four_parts: tuple[Path, Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out, whole = four_parts
    part = out.with_name("out.csv.parts") / "part-000001.arrow"
    check = parts.ResumableFile._check_parts

    def check_and_damage(sink: parts.ResumableFile) -> None:
        check(sink)
        part.write_bytes(flip(part.read_bytes()))

    command = ("powmod", table, "-o", out, *POWMOD, *FOUR_PARTS, "--resume")
    with monkeypatch.context() as patch:
        patch.setattr(parts.ResumableFile, "_check_parts", check_and_damage)
        finished = run(*command)
    assert finished.code == 1
    assert f"{part} is damaged" in finished.err
    assert "--resume" in finished.err
    assert run(*command).code == 3
    assert out.read_bytes() == whole


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Files cannot grow beyond a size: what a full disk is to a program, with another error number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "name", ["out.csv", "out.parquet", "out.jsonl", "out.arrow", "out.arrows", "out.csv.gz"]
)
def test_a_full_disk_names_the_file_and_the_way_to_go_on(tmp_path: Path, name: str) -> None:
    table, out, whole = tmp_path / "in.csv", tmp_path / name, tmp_path / f"whole.{name.partition('.')[2]}"
    write_table(table, power_rows(400, 256, seed=9))
    options = (*POWMOD, "--batch-rows", 20, "--checkpoint", 0)
    assert run("powmod", table, "-o", whole, *options).code == 0
    with files_up_to(whole.stat().st_size // 2):
        finished = run("powmod", table, "-o", out, *options)
    assert finished.code == 1
    message = finished.err.splitlines()[-1]
    assert "File too large" in message
    assert re.search(rf"{re.escape(str(out))}(.parts)?: ", message)
    assert re.search(r" \d+ rows are kept in .*: the same command with --resume continues", message)
    assert not out.exists()
    assert run("powmod", table, "-o", out, *options, "--resume").code == 0
    assert out.read_bytes() == whole.read_bytes()
    assert leftovers(out) == []


def test_a_disk_that_is_full_from_the_beginning_leaves_nothing(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(3, 64, seed=1))
    with files_up_to(100):
        finished = run("powmod", table, "-o", out, *POWMOD)
    assert finished.code == 1
    assert finished.err.splitlines()[-1] == f"manymod: {out}.parts: File too large"
    assert list(tmp_path.iterdir()) == [table]


def test_what_a_crash_left_half_written_is_removed(four_parts: tuple[Path, Path, bytes]) -> None:
    table, out, whole = four_parts
    folder = out.with_name("out.csv.parts")
    for name in ("part-000009.arrow", "part-000004.arrow.tmp", "journal.json.tmp", "output.tmp"):
        (folder / name).write_text("half")
    assert run("powmod", table, "-o", out, *POWMOD, *FOUR_PARTS, "--resume").code == 3
    assert out.read_bytes() == whole
    assert leftovers(out) == []


@pytest.mark.parametrize("left", [[], ["lock"], ["lock", "journal.json.tmp"]])
def test_a_crash_before_the_first_journal_is_no_obstacle(tmp_path: Path, left: list[str]) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(2, 64, seed=6))
    folder = tmp_path / "out.csv.parts"
    folder.mkdir(mode=0o700)
    for name in left:
        (folder / name).touch()
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    assert leftovers(out) == []


def test_a_folder_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, power_rows(2, 64, seed=6))
    theirs = tmp_path / "out.csv.parts"
    theirs.mkdir()
    (theirs / "letter.txt").write_text("mine")
    for option in ((), ("--resume",), ("--restart",)):
        finished = run("powmod", table, "-o", out, *POWMOD, *option)
        assert finished.code == 1
        assert "is in the way" in finished.err
    assert [entry.name for entry in theirs.iterdir()] == ["letter.txt"]
    shutil.rmtree(theirs)
    assert run("powmod", table, "-o", out, *POWMOD, "--resume").code == 0


def test_two_runs_at_once_are_refused(tmp_path: Path, table_of_batches: Path) -> None:
    out = tmp_path / "out.csv"
    process = start_held(table_of_batches, out)
    finished = run("powmod", table_of_batches, "-o", out, *POWMOD, *KEPT[:2], "--resume")
    assert finished.code == 1
    assert "another run" in finished.err
    process.terminate()
    process.communicate(timeout=120)
    assert process.returncode == 130
