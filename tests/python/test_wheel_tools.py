# SPDX-License-Identifier: Apache-2.0
"""The tools of `make wheels`, without building anything."""

from __future__ import annotations

import argparse
import io
import platform
import tarfile
import zipfile
from pathlib import Path

import pytest

import build_wheels
import try_wheels
import wheel_parts


@pytest.fixture
def builder(tmp_path: Path) -> build_wheels.Builder:
    return build_wheels.Builder(argparse.Namespace(folder=tmp_path / "build", output=tmp_path / "dist"))


def archive(path: Path, **files: str) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"manymod-0.1.0/folder/{name}")
            entry.size = len(text)
            made.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_a_second_archive_touches_only_what_changed(builder: build_wheels.Builder, tmp_path: Path) -> None:
    builder.unpack(archive(tmp_path / "first", same="one", other="two", gone="three"))
    folder = builder.source / "folder"
    before = (folder / "same").stat().st_mtime_ns
    builder.unpack(archive(tmp_path / "second", same="one", other="four"))
    assert sorted(path.name for path in folder.iterdir()) == ["other", "same"]
    assert (folder / "same").stat().st_mtime_ns == before
    assert (folder / "other").read_text(encoding="utf-8") == "four"


def wheel(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, b"content")
    return path


def test_a_wheel_has_one_library(builder: build_wheels.Builder, tmp_path: Path) -> None:
    builder.check(wheel(tmp_path / "good.whl", "manymod/_core.so", "manymod/__init__.py"))
    with pytest.raises(RuntimeError, match=r"libcrypto-1234\.so\.3"):
        builder.check(wheel(tmp_path / "bad.whl", "manymod/_core.so", "manymod.libs/libcrypto-1234.so.3"))


def test_a_large_wheel_is_refused(
    builder: build_wheels.Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_wheels, "LARGEST", 10)
    with pytest.raises(RuntimeError, match="MB, more than"):
        builder.check(wheel(tmp_path / "large.whl", "manymod/_core.so"))


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_interpreters_that_can_build_are_found(tmp_path: Path) -> None:
    paths = [
        program(tmp_path / "python3.10", "echo '[true, [3, 10], \"/ten\"]'"),
        program(tmp_path / "python3.11", "exit 1"),  # without headers
        program(tmp_path / "python3.12", "echo '[true, [3, 12], \"/twelve\"]'"),
        program(tmp_path / "python3.13", "echo '[false, [3, 13], \"/free-threaded\"]'"),
        program(tmp_path / "python3.9", "echo '[true, [3, 9], \"/nine\"]'"),
        tmp_path / "python3.15",
    ]
    found = wheel_parts.interpreters(paths)
    assert found == {(3, 10): Path("/ten"), (3, 12): Path("/twelve")}
    assert wheel_parts.missing(found) == ["3.11"]


def test_compilers_of_a_container_or_zig(tmp_path: Path) -> None:
    ours = wheel_parts.toolchain(tmp_path, ["/the/zig"], {})
    assert ours.tag.startswith("manylinux_2_28_")
    text = ours.programs["c++"].read_text(encoding="utf-8")
    assert text.startswith("#!/bin/sh\nexec /the/zig c++ -target ")
    assert "-linux-gnu.2.28 " in text
    container = wheel_parts.toolchain(tmp_path, ["/the/zig"], {"AUDITWHEEL_PLAT": "manylinux_2_28_x86_64"})
    assert container.tag == "manylinux_2_28_x86_64"
    assert all("zig" not in str(path) for path in container.programs.values())
    assert set(container.cmake_defines()) <= set(ours.cmake_defines())


def test_a_wrong_source_of_openssl_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "openssl.tar.gz"
    wrong.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match="digest differs"):
        wheel_parts.openssl_source(tmp_path, wrong)


def test_the_wheel_of_each_python(tmp_path: Path) -> None:
    for tag in ("cp310-cp310", "cp312-abi3"):
        (tmp_path / f"manymod-0.1.0-{tag}-manylinux_2_28_{platform.machine()}.whl").touch()
    assert "cp310-cp310" in try_wheels.wheel_for(tmp_path, (3, 10)).name
    assert "cp312-abi3" in try_wheels.wheel_for(tmp_path, (3, 14)).name
    with pytest.raises(FileNotFoundError, match=r"no wheel for Python 3\.11"):
        try_wheels.wheel_for(tmp_path, (3, 11))
