# SPDX-License-Identifier: Apache-2.0
"""info, selftest, bench and the demo."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.python.cli_support import COMMAND, run

import manymod
from manymod import ecc, rsa

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_info() -> None:
    found = json.loads(run("info", "--json").out)
    assert found["version"] == manymod.__version__
    assert found["threads"] == manymod.get_threads()
    assert found["devices"][0]["name"] == "cpu"
    assert [variant["name"] for variant in found["variants"]] == [v.name for v in manymod.variants()]
    assert all(variant["usable"] or variant["reason"] for variant in found["variants"])
    assert any(variant["usable"] and "powmod" in variant["secret_ops"] for variant in found["variants"])
    assert list(found["curve_variants"]) == ecc.variants()
    assert "Ed448" in found["curve_variants"]["scalar64"]
    shown = run("info").out
    for variant in manymod.variants():
        assert variant.name in shown
    for name in ecc.variants():
        assert name in shown


def test_info_shows_unknown_names_of_hidden_features() -> None:
    environment = os.environ | {"MANYMOD_HIDE_CPU": "[/adxx],adx"}
    command = [*COMMAND, "info", "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    features = json.loads(finished.stdout)["devices"][0]["features"]
    assert features[-1] == "unknown-in-MANYMOD_HIDE_CPU:[/adxx]"
    assert "adx" not in features
    environment["COLUMNS"] = "300"
    shown = subprocess.run([*COMMAND, "info"], capture_output=True, text=True, check=True, env=environment)
    assert "unknown-in-MANYMOD_HIDE_CPU:[/adxx]" in shown.stdout


def test_info_says_why_there_is_no_gpu() -> None:
    environment = os.environ | {"MANYMOD_HIDE_CUDA": "1", "COLUMNS": "300"}
    command = [*COMMAND, "info", "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = json.loads(finished.stdout)
    assert [device["backend"] for device in found["devices"]] == ["cpu"]
    assert found["cuda"]["built"] == manymod.cuda_support().built
    built = found["cuda"]["built"]
    assert ("hidden by MANYMOD_HIDE_CUDA" if built else "no CUDA support") in found["cuda"]["obstacle"]
    assert not any(v["usable"] for v in found["variants"] if v["backend"] == "cuda")
    shown = subprocess.run([*COMMAND, "info"], capture_output=True, text=True, check=True, env=environment)
    assert ("CUDA: hidden by MANYMOD_HIDE_CUDA" if built else "CUDA: not in this build") in shown.stdout


def test_help_and_version() -> None:
    finished = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    for command in ("info", "powmod", "mulmod", "invmod", "selftest", "bench"):
        assert command in finished.stdout
    assert manymod.__version__ in run("--version").out
    assert "--resume" in run("powmod", "--help").out
    assert run("nosuch").code == 2


def test_selftest() -> None:
    variant = next(variant.name for variant in manymod.variants() if variant.usable)
    finished = run("selftest", "--variant", variant)
    assert finished.code == 0, finished.out
    assert " 0 wrong" in finished.out
    for operation in ("addmod", "powmod", "invmod", "multi_powmod", "fixed_base_powmod"):
        assert operation in finished.out
    assert run("selftest", "--variant", "nosuch").code == 1


def test_selftest_finds_a_wrong_answer_and_a_wrong_status(monkeypatch: pytest.MonkeyPatch) -> None:
    right = manymod.mulmod

    def wrong(*operands: Any, **words: Any) -> Any:
        values, statuses = right(*operands, **words)
        values[0] += 1
        return values, statuses

    def silent(*operands: Any, **words: Any) -> Any:
        values, statuses = right(*operands, **words)
        return values, [0] * len(statuses)

    for fault in (wrong, silent):
        with monkeypatch.context() as patch:
            patch.setattr(manymod, "mulmod", fault)
            finished = run("selftest", "--op", "mulmod")
        assert finished.code == 1
        assert "mulmod(" in finished.err
        assert "is (" in finished.err


def test_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # test runners set it to something narrow for their workers
    file = tmp_path / "bench.json"
    finished = run(
        "bench", "--quick", "--bits", "64,256", "--op", "powmod,powmod_sec,mulmod", "--output", file
    )
    assert finished.code == 0, finished.err
    report = json.loads(file.read_text())
    assert report["versions"]["manymod"] == manymod.__version__
    assert report["cpu"] == manymod.devices()[0].model
    rows = {(row["op"], row["bits"], row["modulus"]): row for row in report["results"]}
    assert len(rows) == 12
    for row in rows.values():
        assert row["checked"]
        assert row["batch"] > 0
        assert row["latency_us"] > 0
        assert all(rate > 0 for rate in row["rates"].values())
        assert set(row["rates"]) >= {"manymod", "manymod_mpz", "gmpy2"}
        assert row["ratios"]["mpz_vs_gmpy2"] > 0
    assert "mpz / gmpy2" in finished.out
    assert report["versions"]["gmpy2_gmp"] in finished.out.replace("\n", " ")


def test_bench_prints_json_where_no_file_is_named() -> None:
    command = [*COMMAND, "bench", "--json", "--quick", "--bits", "64", "--op", "mulmod"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {row["op"] for row in json.loads(finished.stdout)["results"]} == {"mulmod"}


def test_bench_takes_the_commit_of_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("manymod.cli.bench.report")
    header = tmp_path / "include/manymod/manymod.h"
    monkeypatch.setattr(module, "_output", lambda _command: f"{tmp_path}\nabc1234")
    assert module.commit() is None
    header.parent.mkdir(parents=True)
    header.touch()
    assert module.commit() == "abc1234"


@pytest.mark.parametrize("command", ["powmod", "bench"])
def test_number_of_threads_is_limited(command: str) -> None:
    finished = run(command, *([] if command == "bench" else [__file__]), "--threads", 1025)
    assert finished.code == 2
    assert "0<=x<=1024" in finished.err


@pytest.mark.parametrize(
    "command", ["powmod in.csv -o out.csv", "rsa sign in.csv -o out.csv", "bench elementwise"]
)
@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:-1", "opencl:x", "CPU", ""])
def test_devices_that_cannot_be_are_a_wrong_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, device: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a\n1\n")
    finished = run(*command.split(), "--device", device)
    assert finished.code == 2
    told = " ".join(finished.err.split())
    assert f"{device!r} is none of auto, cpu, cuda, cuda:K, opencl, opencl:K" in told


@pytest.mark.parametrize("command", ["bench --quick --gmp", "bench ecc --quick --crypto-mb"])
def test_a_library_may_be_named_without_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The file is found, so that what is said is that it is no library."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    Path("mine.so").write_text("no library")
    finished = run(*command.split(), "mine.so")
    assert finished.code != 0
    assert f"{tmp_path}/mine.so: " in finished.err
    assert "No such file" not in finished.err


def test_bench_notices_wrong_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    right = manymod.powmod
    monkeypatch.setattr(manymod, "powmod", lambda x, y, n, **words: right(x, [2] * len(x), n, **words))
    finished = run("bench", "--quick", "--bits", "64", "--op", "powmod")
    assert finished.code == 1
    assert "is wrong" in finished.err


def test_bench_usage() -> None:
    assert run("bench", "--op", "nosuch").code == 2
    assert run("bench", "--bits", "many").code == 2
    assert run("bench", "--gmp", "/nosuch/libgmp.so").code == 2


def test_demo() -> None:
    finished = subprocess.run([sys.executable, DEMO, "--quick"], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert "WRONG" not in finished.stdout
    assert "verified" in finished.stdout
    text = " ".join(finished.stdout.split())
    assert "answers are the same" in text
    assert "are the same as OpenSSL's; 400 of 400 verified" in text or not rsa.supported()
