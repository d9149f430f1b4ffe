# SPDX-License-Identifier: Apache-2.0
"""Tools that developers call: what they look for and how they read it."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import bench_table  # noqa: E402
import gpu_run  # noqa: E402
import gpu_stages  # noqa: E402
import lowest_versions  # noqa: E402
import try_compilers  # noqa: E402
import wheel_parts  # noqa: E402


@pytest.mark.parametrize("module", [gpu_run, gpu_stages, lowest_versions, try_compilers, wheel_parts])
def test_doctests(module: object) -> None:
    outcome = doctest.testmod(module)  # type: ignore[arg-type]
    assert outcome.attempted > 0
    assert outcome.failed == 0


def compiler(folder: Path, name: str, **macros: int) -> Path:
    """Make a program that prints its macros."""
    path = folder / name
    lines = "".join(f"echo '#define {macro} {value}'\n" for macro, value in macros.items())
    path.write_text(f"#!/bin/sh\n{lines}")
    path.chmod(0o755)
    return path


def test_compilers_on_the_path(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    plain = compiler(first, "g++", __GNUC__=14)
    compiler(first, "g++-11", __GNUC__=11)
    clang = compiler(second, "clang++-19", __clang_major__=19, __GNUC__=4)
    compiler(second, "clang++", __clang_major__=19, __GNUC__=4)
    compiler(second, "g++-14", __GNUC__=14)
    compiler(second, "x86_64-linux-gnu-g++-15", __GNUC__=15)
    compiler(second, "clang++-18")
    found = try_compilers.find_compilers(f"{first}:{second}:{tmp_path / 'none'}")
    assert [(one.name, one.cxx) for one in found] == [("clang++-19", clang), ("g++-14", plain)]
    assert [one.c.name for one in found] == ["clang-19", "gcc"]


def test_sources_of_this_project(tmp_path: Path) -> None:
    own = str(ROOT / "src/core/operation.cpp")
    names = [own, str(ROOT / "build/x/_deps/googletest/a.cpp"), "/usr/src/b.cpp", str(ROOT / "c.S")]
    (tmp_path / "compile_commands.json").write_text(json.dumps([{"file": name} for name in names]))
    assert [entry["file"] for entry in try_compilers.own_entries(tmp_path)] == [own]


def test_sources_that_fail_together_are_checked_alone(tmp_path: Path) -> None:
    (tmp_path / "Unity").mkdir()
    unity = tmp_path / "Unity/unity_0_cxx.cxx"
    sources = [tmp_path / "a.cpp", tmp_path / "b.cpp"]
    unity.write_text("".join(f'#include "{source}"\n' for source in sources))
    # A compiler that rejects the unity source and every source that contains "wrong".
    program = tmp_path / "compiler.py"
    program.write_text(
        "import pathlib, sys\n"
        "text = pathlib.Path(sys.argv[1]).read_text()\n"
        "sys.exit('error: ' + text if 'include' in text or 'wrong' in text else 0)\n"
    )
    entry = {"directory": str(tmp_path), "file": str(unity), "command": f"{sys.executable} {program} {unity}"}
    for texts, error in ((("fine", "fine"), ""), (("fine", "wrong"), "error: wrong\n")):
        for source, text in zip(sources, texts, strict=True):
            source.write_text(text)
        assert try_compilers.check_entry(entry, tmp_path / "all.hpp") == error


def test_syntax_of_c_is_checked_without_the_headers_of_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_compilers, "ROOT", tmp_path)
    monkeypatch.setattr(
        try_compilers, "write_all_headers", lambda path: path.write_text("#include <vector>\n")
    )
    entries = []
    for name, compiler, text in (
        ("a.c", "cc -std=c17 -Werror", "int class;\n"),  # a keyword of C++
        ("b.cpp", "c++ -std=c++20", "std::vector<int> numbers;\n"),  # of an included header
    ):
        source = tmp_path / name
        source.write_text(text)
        command = f"{compiler} -o {name}.o -c {source}"
        entries.append({"directory": str(tmp_path), "file": str(source), "command": command})
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    assert try_compilers.check_syntax(tmp_path, jobs=2) == (2, "")
    (tmp_path / "a.c").write_text("wrong syntax;\n")
    assert "a.c" in try_compilers.check_syntax(tmp_path, jobs=2)[1]


def test_lowest_versions_are_those_of_the_project() -> None:
    found = lowest_versions.lowest((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert any(one.startswith("nanobind==") for one in found)
    assert any(one.startswith("numpy==") for one in found)
    assert any(one.startswith("pyarrow==") for one in found)  # of an extra that an extra names
    assert not any(one.startswith("manymod") for one in found)
    assert not any(">=" in one for one in found)


@pytest.mark.parametrize("program", ["bench/conversion_bench.py", "bench/tls/handshakes.py"])
def test_benchmarks_start_as_their_descriptions_say(program: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / program), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")


def test_reports_are_printed_or_refused_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    tables = ("powers_emerald_rapids", "ecc_cpu_zen4", "elementwise_cpu_zen4", "gpu_curves_h100")
    for path in sorted((ROOT / "bench/results").glob("*.json")):
        try:
            bench_table.main([str(path)])
            assert capsys.readouterr().out.startswith("| ")
        except SystemExit as refused:
            message = str(refused.code)
            assert path.stem not in tables
            assert (message.startswith(f"{path}: no report of "), message.count("\n")) == (True, 0)
    with pytest.raises(SystemExit, match="^0$"):
        bench_table.main(["--help"])
    assert "gpu_curves.py" in capsys.readouterr().out
