# SPDX-License-Identifier: Apache-2.0
"""The tuning table, `Plan.variant_for` and the commands that make and show tuning files."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.python.cli_support import COMMAND, run

import manymod
from manymod import tables
from manymod.cli.tune import command as tune_command
from manymod.cli.tune import cpu_measure as tune_run
from manymod.cli.tune.case import Case, Target, cases, make_batch, make_runner
from manymod.cli.tune.choice import Choice, choices, cpu_rows, width_ranges
from manymod.cli.tune.cpu_measure import Settings, measure
from manymod.cli.tune.file import Base, base_of, complete_rows, file_text, write_file

HEADER = "manymod-tuning\t1\tSome CPU\ttoday\n"
ROW = "powmod\tpublic\t1\t16384\t{}\tscalar64.generic\tmeasured\n"
pytestmark = pytest.mark.usefixtures("own_rows")


@pytest.fixture
def brief_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """All cases are measured, each of them too briefly to tell which variant is fastest."""
    settings_of = tune_command._settings
    monkeypatch.setattr(
        tune_command, "_settings", lambda quick: dataclasses.replace(settings_of(quick), seconds=1e-5)
    )
    # A busy machine leaves no case out.
    monkeypatch.setattr(tune_command, "QUICK_LIMIT", float("inf"))


def write(path: Path, rows: str) -> Path:
    path.write_text(HEADER + rows)
    return path


def environment(**words: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", **words}


def test_variant_for() -> None:
    plan = manymod.Plan("powmod", modulus_bits=1024)
    assert plan.variant_for(1 << 70) == plan.variant_for(100_000) == plan.variant
    assert plan.variant_for(1) in {variant.name for variant in manymod.variants()}
    forced = manymod.Plan("powmod", modulus_bits=1024, variant="scalar64.generic")
    assert {forced.variant_for(items) for items in (1, 2, 7, 8, 1000)} == {"scalar64.generic"}
    with pytest.raises(ValueError, match="at least 1"):
        plan.variant_for(0)
    with pytest.raises(TypeError, match="integer"):
        plan.variant_for(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("op", ["mulmod", "sqrmod"])
def test_variant_for_knows_the_modulus_kind(op: str, tmp_path: Path) -> None:
    alone = {variant.name for variant in manymod.variants() if op in variant.shared_modulus_ops}
    general = {variant.name for variant in manymod.variants()} - alone
    usable = {variant.name for variant in manymod.variants() if variant.usable}
    for name in (None, *sorted(alone & usable)):
        if name is not None:
            manymod.load_tuning(write(tmp_path / "t", f"{op}\tpublic\t1\t16384\t1\t{name}\tx\n"))
        each = manymod.Plan(op, modulus_bits=2048, device="cpu")
        shared = manymod.Plan(op, modulus=2**2047 + 1, device="cpu")
        assert {each.variant_for(items) for items in (1, 2, 8, 1000)} | {each.variant} <= general
        assert shared.variant_for(1) in general
        if name is not None:
            assert shared.variant == name
            forced = manymod.Plan(op, modulus_bits=512, variant=name)
            assert forced.variant in general
            assert forced([3], *([[5]] if op == "mulmod" else []), [7]) == [1 if op == "mulmod" else 2]


def test_variant_for_of_a_fixed_base() -> None:
    fixed = manymod.FixedBase(3, 2**1023 + 1)
    assert fixed.variant_for(1 << 70) == fixed.variant
    names = {variant.name for variant in manymod.variants()}
    assert {fixed.variant_for(exponents) for exponents in (1, 3, 8)} <= names
    assert fixed.powmod(5) == 243
    assert fixed.powmod([5] * 9) == [243] * 9
    with pytest.raises(ValueError, match="at least 1"):
        fixed.variant_for(0)


def test_load_tuning(tmp_path: Path) -> None:
    file = write(tmp_path / "t", ROW.format(1) + "powmod\tpublic\t1\t64\t1\tabacus\tx\n")
    table = manymod.load_tuning(file)
    assert table == manymod.tuning()
    assert (table.source, table.processor, table.date) == (str(file), "Some CPU", "today")
    assert table.rows[0] == manymod.TuningRow("powmod", False, 1, 16384, 1, "scalar64.generic", "measured")
    assert [note for note in table.notes if "abacus" in note and "line 3" in note]
    assert manymod.Plan("powmod", modulus_bits=64).variant == "scalar64.generic"
    assert manymod.powmod([2, 3], 5, 1000) == [32, 243]
    assert manymod.load_tuning(None).source == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take names in UTF-8 only")
def test_paths_of_every_kind(tmp_path: Path) -> None:
    """A path may be bytes, and its name need not be text."""
    file = write(tmp_path / "t\udcff", ROW.format(1))
    for path in (str(file), os.fsencode(file), file):
        assert manymod.load_tuning(path).source == str(file)
    for missing in ("a\udcff", b"a\xff"):
        with pytest.raises(manymod.TuningError, match=r"'a\\xff': No such file"):
            manymod.load_tuning(missing)
    manymod.load_tuning(None)
    for encoding in ("utf-8:strict", "ascii:strict"):
        found = subprocess.run(
            [*COMMAND, "tune", "--show"],
            capture_output=True,
            check=False,
            env=environment(MANYMOD_TUNING=str(file), PYTHONIOENCODING=encoding),
        )
        assert (found.returncode, found.stderr) == (0, b"")
        assert b"t\xff: Some CPU" in found.stdout.replace(b"\n", b"")


def test_bad_tuning_files(tmp_path: Path) -> None:
    before = manymod.tuning()
    for rows, words in (
        ("powmod\n", "line 2"),
        (ROW.format(0), "min_items"),
        (ROW.format(10**30), "min_items"),
    ):
        with pytest.raises(manymod.TuningError, match=words):
            manymod.load_tuning(write(tmp_path / "t", rows))
    for path in (tmp_path / "missing", tmp_path, "/dev/zero"):
        with pytest.raises(manymod.TuningError, match=str(path)):
            manymod.load_tuning(path)
    with pytest.raises(ValueError, match="null"):
        manymod.load_tuning("a\0b")
    assert manymod.tuning() == before


def test_environment_names_a_file(tmp_path: Path) -> None:
    code = (
        "import manymod; print(manymod.Plan('powmod', modulus_bits=64).variant, manymod.tuning().processor)"
    )
    file = write(tmp_path / "t", ROW.format(1))
    command = [sys.executable, "-c", code]
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment(MANYMOD_TUNING=str(file))
    )
    assert found.stdout == "scalar64.generic Some CPU\n"
    file.write_text("nonsense\n")
    failed = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(MANYMOD_TUNING=str(file))
    )
    assert failed.returncode == 1
    assert "TuningError" in failed.stderr
    assert "line 1" in failed.stderr
    assert "MANYMOD_TUNING" in failed.stderr


def test_choices() -> None:
    times = {
        "wide": {1: 80.0, 2: 40.0, 4: 20.0, 8: 10.0, 16: 10.0},
        "narrow": {1: 80.0, 2: 39.5, 4: 30.0, 8: 30.0, 16: 30.0},
        "single": {1: 45.0, 2: 45.0, 4: 45.0, 8: 45.0, 16: 45.0},
    }
    wide, single = choices(times)
    assert wide == Choice("wide", 2, None, 16, 10.0, "narrow", 30.0)
    assert single == Choice("single", 1, 1, 1, 45.0, "wide", 80.0)
    assert wide.evidence(1024) == "1024 bits, 16 items: 10 ns an item; narrow 30 ns (3.00x)"
    times["narrow"][2] = 30.0
    assert [(choice.variant, choice.min_items) for choice in choices(times)] == [
        ("wide", 4),
        ("narrow", 2),
        ("single", 1),
    ]
    alone = choices({"single": {1: 5.0, 16: 4.0}})
    assert alone == [Choice("single", 1, None, 16, 4.0, None, None)]
    assert alone[0].evidence(64) == "64 bits, 16 items: 4 ns an item"


def test_width_ranges() -> None:
    assert width_ranges([512]) == {512: (1, 16384)}
    assert width_ranges([1024, 256, 512]) == {256: (1, 384), 512: (385, 768), 1024: (769, 16384)}


def test_every_count_up_to_a_vector_is_measured() -> None:
    settings = Settings(seconds=1e-5, repetitions=2, exponent_bits=16, every_count=True)
    assert settings.counts(Case("powmod", False, 64), 8) == [1, 2, 3, 4, 5, 6, 7, 8, 16]
    assert settings.counts(Case("mulmod", False, 64), 4) == [1, 2, 3, 4, 16, 1024]
    times = measure(Case("powmod", True, 64), settings, [tune_run.AUTO])
    assert tune_run.AUTO in times
    assert all(set(by_count) == set(times[tune_run.AUTO]) for by_count in times.values())
    assert all(nanoseconds > 0 for by_count in times.values() for nanoseconds in by_count.values())


@pytest.mark.parametrize("op", tune_run.OPS)
@pytest.mark.parametrize("secret", [False, True])
def test_calls_compute_what_they_say(op: str, secret: bool) -> None:
    case = Case(op, secret and op.endswith("powmod"), 200)
    batch = make_batch(case, 130, 5, seed=3)
    make_runner(case, 130, Target("cpu", "scalar64.generic", 1), make_batch(case, 130, 1, seed=3))(batch)()
    assert not batch.status.any()
    x, n, result = (
        manymod.IntArray.from_limbs(limbs).to_ints() for limbs in (batch.x, batch.n, batch.result)
    )
    y = [2] * 5 if batch.y is None else manymod.IntArray.from_limbs(batch.y).to_ints()
    assert all(modulus.bit_length() == 200 and modulus % 2 for modulus in n)
    if op.endswith("powmod"):
        assert {exponent.bit_length() for exponent in y} == {130}
    assert len(set(x)) == 5
    n = n * 5 if case.shared_modulus else n
    x = x[:1] * 5 if op.startswith("fixed") else x
    multiply = op == "mulmod"
    expected = [a * b % m if multiply else pow(a, b, m) for a, b, m in zip(x, y, n, strict=True)]
    assert result == expected


def test_a_file_for_one_kind_of_device_keeps_the_rows_of_the_other() -> None:
    """Also those of variants that this build does not have: their names say what they run on."""

    def row(variant: str, op: str = "powmod", secret: bool = False) -> manymod.TuningRow:
        return manymod.TuningRow(op, secret, 1, 64, 1, variant, "x")

    kept = [row("row32.cuda.t99"), row("scalar64.generic"), row("abacus"), row("row32.cuda.t1", secret=True)]
    base, reach = Base(kept), {("powmod", False): {64: (1, 16384)}}
    measured = [row("scalar64.adx")]
    assert complete_rows(measured, reach, base, "cpu") == [kept[0], *measured]
    measured = [row("row32.cuda.t2")]
    assert complete_rows(measured, reach, base, "cuda") == [*measured, *kept[1:3]]
    assert complete_rows(measured, {("mulmod", False): {64: (1, 16384)}}, base, "cuda") == []
    measured = [row("cios32.opencl.t1")]
    assert complete_rows(measured, reach, base, "opencl") == [*measured, *kept[:3]]


@pytest.mark.parametrize("device", ["gpu", "cuda:", "opencl:x", "cpu:0"])
def test_devices_that_cannot_be_are_refused(device: str) -> None:
    finished = run("tune", "--device", device)
    assert finished.code == 2
    assert "is none of cpu, cuda, cuda:K, opencl, opencl:K" in " ".join(finished.err.split())


def test_hidden_opencl_devices_cannot_be_tuned_for() -> None:
    finished = run("tune", "--device", "opencl")
    assert finished.code == 1
    assert "no GPU to tune for" in finished.err


def test_the_table_in_use_may_be_one_that_is_yet_to_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANYMOD_TUNING", str(tmp_path / "t"))
    code = (
        "import sys; from pathlib import Path; from manymod.cli.tune.file import base_of;"
        "import manymod; base_of(Path(sys.argv[1])); print(repr(manymod.tuning().source))"
    )
    for name, found in (("t", "''\n"), ("u", "")):
        command = [sys.executable, "-c", code, str(tmp_path / name)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.stdout == found, finished.stderr
    assert base_of(tmp_path / "t") == Base(manymod.tuning().rows)


def test_a_file_keeps_its_rows_for_what_is_not_measured(tmp_path: Path) -> None:
    """Other operations, timing classes and devices; with chosen widths, other widths of the measured ones."""

    def rows(*found: tuple[int, int, str], op: str = "powmod") -> list[manymod.TuningRow]:
        return [manymod.TuningRow(op, False, least, most, 1, name, "x") for least, most, name in found]

    before = rows((1, 96, "scalar64.adx"), (97, 300, "scalar64.generic"), (301, 16384, "radix29.avx2"))
    other = rows((1, 16384, "abacus"), op="mulmod")  # a variant that this build does not have
    file = tmp_path / "t"
    file.write_text(file_text([*before, *other], "Some CPU", "one thread"))
    in_use = manymod.tuning().rows
    base = base_of(file)
    assert (list(base.own), base.processor) == ([*before, *other], "Some CPU")
    assert list(base.rows[:4]) == [*before, *other]
    assert {(row.op, row.secret) for row in base.rows} == {(row.op, row.secret) for row in in_use}

    measured = rows((1, 300, "dpf52.avx2"), (301, 16384, "dpf52.avx512f"))
    reach = {("powmod", False): {200: (1, 300), 400: (301, 16384)}}
    assert complete_rows(measured, reach, base, "cpu") == [*measured, *other]
    some = complete_rows(measured, reach, base, "cpu", some_widths=True)
    assert some == [*rows((97, 300, "dpf52.avx2")), *measured[1:], *before[:1], *other]
    assert base.kept(some, measured) == [*before[:1], *other]
    inside = {("powmod", False): {200: (150, 250)}}
    assert complete_rows(rows((150, 250, "dpf52.avx2")), inside, base, "cpu", some_widths=True) == [
        *rows((150, 250, "dpf52.avx2")),
        *rows((1, 96, "scalar64.adx"), (97, 149, "scalar64.generic"), (251, 300, "scalar64.generic")),
        *before[2:],
        *other,
    ]
    gpu = complete_rows([], {("powmod", False): {400: (1, 16384)}}, base, "cuda", some_widths=True)
    assert gpu == [*before, *other]


@pytest.mark.usefixtures("brief_samples")
def test_a_second_run_keeps_what_the_first_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "my.tuning"
    for op, bits in (("sqrmod", "64"), ("mulmod", "64,512"), ("mulmod", "512")):
        finished = run("tune", "--quick", "--op", op, "--bits", bits, "-o", file)
        assert finished.code == 0, finished.err
    lines = [line.split("\t") for line in file.read_text().splitlines()[1:] if not line.startswith("#")]
    found = {(op, least, most, evidence.split(" bits")[0]) for op, _, least, most, *_, evidence in lines}
    mine = {row for row in found if row[3] in {"64", "512"} and row[0] in {"sqrmod", "mulmod"}}
    assert {("sqrmod", "1", "16384", "64"), ("mulmod", "1", "288", "64")} <= mine
    assert ("mulmod", "289", "16384", "512") in mine
    assert f"rows that {file} had and that were not measured: mulmod, sqrmod." in finished.out
    file.write_text("manymod-tuning\tnonsense\n")
    refused = run("tune", "--quick", "--op", "sqrmod", "--bits", "64", "-o", file)
    assert (refused.code, "line 1" in refused.err) == (1, True)
    assert file.read_text() == "manymod-tuning\tnonsense\n"


def test_files_are_written_whole_and_over_tuning_files_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = {
        case: [Choice("scalar64.generic", 1, None, 16, 1e9, None, None)] for case in cases(["powmod"], [64])
    }
    text = file_text(cpu_rows(results), "Some CPU", "one thread")
    file = tmp_path / "t.tuning"
    write_file(file, text)
    write_file(file, text)
    assert file.read_text() == text
    table = manymod.load_tuning(file)
    assert (table.notes, table.processor) == ((), "Some CPU")
    link = tmp_path / "link"
    link.symlink_to(file)
    file.chmod(0o600)
    write_file(link, text)
    assert (link.is_symlink(), file.stat().st_mode & 0o777) == (True, 0o600)
    link.unlink()
    other = tmp_path / "precious"
    other.write_text("data")
    with pytest.raises(FileExistsError, match="precious"):
        write_file(other, text)
    assert other.read_text() == "data"

    def full(*_arguments: object, **_keywords: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(tables.TableError, match=r"t\.tuning: disk full"):
        write_file(file, "other")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["precious", "t.tuning"]
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["precious", "nosuch/my.tuning", "."])
def test_what_cannot_be_written_is_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "precious").write_text("data")
    monkeypatch.setattr("manymod.cli.tune.command.measure", None)
    finished = run("tune", "-o", tmp_path / name)
    assert finished.code in {1, 2}
    assert "is no tuning file" in finished.err or "directory" in finished.err
    monkeypatch.setattr("manymod.cli.bench.command.machine", None)
    finished = run("bench", "-o", tmp_path / "nosuch" / "report.json")
    assert (finished.code, "nosuch is not a directory" in finished.err) == (2, True)


@pytest.mark.usefixtures("brief_samples")
def test_tune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = tmp_path / "my.tuning"
    shipped = manymod.tuning().rows
    ops = "powmod,sqrmod,fixed_base_powmod"
    finished = run("tune", "--quick", "--op", ops, "--bits", "64,128", "-o", file)
    assert finished.code == 0, finished.err
    assert "MANYMOD_TUNING" in finished.out
    table = manymod.load_tuning(file)
    assert table.notes == ()
    assert table.processor == manymod.devices()[0].model
    own = [row for row in table.rows if row not in shipped]
    measured = {("sqrmod", False)} | {
        (op, secret) for op in ("powmod", "fixed_base_powmod") for secret in (False, True)
    }
    assert {(row.op, row.secret) for row in own} >= measured
    for op, secret in {(row.op, row.secret) for row in own}:
        rows = [row for row in own if (row.op, row.secret) == (op, secret)]
        assert {(row.min_bits, row.max_bits) for row in rows} == {(1, 96), (97, 16384)}
        assert sum(row.min_items == 1 for row in rows) == 2
    shown = run("tune", "--show")
    assert shown.code == 0
    assert all(row.evidence in shown.out for row in own)
    assert run("info", "--tuning").out.count("powmod") >= len(own)


@pytest.mark.usefixtures("brief_samples")
def test_tune_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    finished = run("tune", "--check", "--quick", "--op", "powmod,fixed_base_powmod", "--bits", "64")
    assert finished.code == 0, finished.err
    assert "worst regret" in finished.out
    assert not list(tmp_path.iterdir())


def test_tune_usage(tmp_path: Path) -> None:
    assert run("tune", "--op", "invmod").code == 2
    assert run("tune", "--op", "powmod,multi_powmod").code == 2
    for device in ("gpu", "cuda:", "cuda:x", "CPU", "cuda:-1", "auto"):
        assert run("tune", "--device", device).code == 2
    assert run("tune", "--bits", "many").code == 2
    assert run("tune", "--show", "--check").code == 2
    for option in ("--show", "--check"):
        refused = run("tune", option, "-o", tmp_path / "t")
        assert (refused.code, f"{option} writes no file: leave out -o" in refused.err) == (2, True)
    precious = tmp_path / "precious"
    precious.write_text("data")
    finished = run("tune", "--quick", "--op", "sqrmod", "--bits", "64", "--output", precious)
    assert finished.code == 1
    assert "no tuning file" in finished.err
    nowhere = run("tune", "--quick", "--op", "sqrmod", "--bits", "64", "--output", tmp_path / "no/where")
    assert nowhere.code == 1


def test_commands_report_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_text("nonsense\n")
    for arguments in (["tune", "--show"], ["tune", "--check", "--bits", "64"], ["info"]):
        finished = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment(MANYMOD_TUNING=str(file)),
        )
        assert finished.returncode == 1, arguments
        assert "line 1" in finished.stderr
        assert "Traceback" not in finished.stderr
    command = [*COMMAND, "tune", "--quick", "--op", "sqrmod", "--bits", "64", "--output", str(file)]
    file.unlink()
    subprocess.run(command, capture_output=True, check=True, env=environment(MANYMOD_TUNING=str(file)))
    assert manymod.load_tuning(file).source == str(file)


def test_info_json_has_the_table() -> None:
    found = json.loads(run("info", "--json").out)["tuning"]
    assert len(found["rows"]) == len(manymod.tuning().rows)
    assert found["rows"][0]["evidence"]
