# SPDX-License-Identifier: Apache-2.0
"""Where outputs go: permissions, links, private parts, and what is refused before anything is computed."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import (
    leftovers,
    power_rows,
    read_arrow,
    read_table,
    run,
    write_table,
)

from manymod import tables
from manymod.tables import folders, operation_job, parts

POWMOD = ("--base", "b", "--exp", "e", "--mod", "n")
FORMATS = ["parquet", "csv", "jsonl", "arrow", "arrows"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of three rows."""
    path = tmp_path / "in.csv"
    write_table(path, power_rows(3, 64, seed=1))
    return path


def mode(path: Path) -> int:
    """A file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error to compute a row."""
    monkeypatch.setattr(operation_job._OperationWork, "compute", None)


# Permissions and links


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(table: Path, permissions: int) -> None:
    out = table.with_name("out.csv")
    out.write_text("old")
    out.chmod(permissions)
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    assert mode(out) == permissions
    assert len(read_table(out)) == 3


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_any_new_file(table: Path, mask: int) -> None:
    out = table.with_name("out.csv")
    before = os.umask(mask)
    try:
        assert run("powmod", table, "-o", out, *POWMOD).code == 0
    finally:
        assert os.umask(before) == mask
    assert mode(out) == 0o666 & ~mask


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_that_is_replaced_keeps_its_owner(table: Path) -> None:
    out = table.with_name("out.csv")
    out.write_text("old")
    os.chown(out, 12345, 23456)
    out.chmod(0o640)
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    assert (out.stat().st_uid, out.stat().st_gid, mode(out)) == (12345, 23456, 0o640)


def test_a_file_that_is_replaced_keeps_its_access_list(table: Path) -> None:
    out, name = table.with_name("out.csv"), "system.posix_acl_access"
    out.write_text("old")
    # The owner may read and write, user 12345 and the group read, others nothing (linux/posix_acl_xattr.h).
    entries = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    content = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(out, name, content)
    except OSError:
        pytest.skip("the file system has no access lists")
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    assert (os.getxattr(out, name), mode(out)) == (content, 0o640)


def test_a_group_that_cannot_be_kept_loses_its_permissions(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = table.with_name("out.csv")
    out.write_text("old")
    out.chmod(0o664)
    status = out.stat()
    theirs = os.stat_result((*status[:5], status.st_gid + 1, *status[6:10]))

    def refuse(*_arguments: Any) -> None:
        raise PermissionError

    output, folder = folders.OutputFile(out), folders.Folder(out.parent)
    with monkeypatch.context() as patch, out.open("rb+") as file:
        patch.setattr(os, "fchown", refuse)
        patch.setattr(os, "stat", lambda *_arguments, **_keywords: theirs)
        output._set_permissions(file.fileno(), folder)
    folder.close()
    assert mode(out) == 0o604


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_symbolic_link_stays_and_its_target_is_written(table: Path, name: str) -> None:
    elsewhere = table.parent / "elsewhere"
    elsewhere.mkdir()
    target, link, second = elsewhere / name, table.with_name(name), table.with_name(f"second.{name}")
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    second.symlink_to(link.name)
    assert run("powmod", table, "-o", second, *POWMOD).code == 0
    assert link.is_symlink()
    assert second.is_symlink()
    assert len(read_table(target)) == 3
    assert mode(target) == 0o600
    assert [entry.name for entry in elsewhere.iterdir()] == [name]
    target.unlink()
    assert run("powmod", table, "-o", link, *POWMOD).code == 0
    assert link.is_symlink()
    assert len(read_table(target)) == 3


def test_parts_are_beside_the_target_of_a_link(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = table.parent / "elsewhere"
    elsewhere.mkdir()
    link = table.with_name("out.csv")
    link.symlink_to(elsewhere / "real.csv")
    found: list[set[str]] = []

    def look(*_arguments: Any) -> None:
        found.append({entry.name for entry in (elsewhere / "real.csv.parts").iterdir()})
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parts, "write_table", look)
        assert run("powmod", table, "-o", link, *POWMOD).code == 1
    assert found == [{"lock", "journal.json", "part-000000.arrow"}]
    assert run("powmod", table, "-o", link, *POWMOD, "--resume").code == 0
    assert [entry.name for entry in elsewhere.iterdir()] == ["real.csv"]


# What others could do


def test_nobody_else_can_read_what_is_not_finished(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = table.with_name("out.csv")
    folder = table.with_name("out.csv.parts")
    modes: dict[str, int] = {}
    put = folders.OutputFile.put

    def look(*arguments: Any) -> None:
        modes.update({entry.name: mode(entry) for entry in folder.iterdir()})
        modes["."] = mode(folder)
        put(*arguments)

    monkeypatch.setattr(folders.OutputFile, "put", look)
    before = os.umask(0)
    try:
        assert run("powmod", table, "-o", out, *POWMOD).code == 0
    finally:
        os.umask(before)
    private = ("lock", "journal.json", "part-000000.arrow", "output.tmp")
    assert modes == {".": 0o700} | dict.fromkeys(private, 0o600)


def test_a_file_sink_is_private_and_unpredictable(tmp_path: Path) -> None:
    names = set()
    for _ in range(2):
        sink = tables.FileSink(tmp_path / "out.csv")
        sink.open(pa.schema([("b", pa.int64())]), {})
        (temporary,) = tmp_path.iterdir()
        assert mode(temporary) == 0o600
        names.add(temporary.name)
        sink.close()
    assert len(names) == 2
    assert list(tmp_path.iterdir()) == []


def plant_link(folder: Path, victim: Path) -> None:
    folder.symlink_to(victim.parent)


def plant_file(folder: Path, _victim: Path) -> None:
    folder.write_text("planted")


def plant_folder_of_all(folder: Path, victim: Path) -> None:
    folder.mkdir()
    (folder / "part-000000.arrow").symlink_to(victim)
    folder.chmod(0o777)


@pytest.mark.parametrize("plant", [plant_link, plant_file, plant_folder_of_all])
@pytest.mark.parametrize("option", [(), ("--resume",), ("--restart",)])
@pytest.mark.usefixtures("nothing_is_computed")
def test_planted_folders_of_parts_are_refused(
    table: Path, plant: Callable[[Path, Path], None], option: tuple[str, ...]
) -> None:
    (table.parent / "theirs").mkdir()
    victim = table.parent / "theirs" / "journal.json"
    victim.write_text("mine")
    folder = table.with_name("out.csv.parts")
    plant(folder, victim)
    finished = run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD, *option)
    assert finished.code == 1
    assert f"{folder} is in the way" in finished.err
    assert victim.read_text() == "mine"
    assert [entry.name for entry in victim.parent.iterdir()] == ["journal.json"]


@pytest.mark.parametrize("name", ["lock", "journal.json.tmp", "part-000000.arrow.tmp", "output.tmp"])
def test_planted_links_in_the_folder_of_parts_are_not_followed(table: Path, name: str) -> None:
    victim = table.with_name("victim")
    victim.write_text("mine")
    folder = table.with_name("out.csv.parts")
    folder.mkdir(mode=0o700)
    (folder / name).symlink_to(victim)
    finished = run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD)
    assert finished.code == (1 if name == "lock" else 0)
    assert victim.read_text() == "mine"


def test_file_systems_without_permissions(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: Any) -> None:
        raise PermissionError

    folder = table.with_name("out.csv.parts")
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "lock").touch()
    monkeypatch.setattr(os, "fchmod", refuse)
    assert run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD).code == 0


@pytest.mark.usefixtures("nothing_is_computed")
def test_parts_of_another_user_are_refused(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table.with_name("out.csv.parts").mkdir(mode=0o700)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    finished = run("powmod", table, "-o", table.with_name("out.csv"), *POWMOD, "--resume")
    assert (finished.code, "it is another user's" in finished.err) == (1, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give links away")
@pytest.mark.usefixtures("nothing_is_computed")
def test_links_of_others_in_a_shared_directory_are_not_followed(table: Path) -> None:
    shared = table.parent / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    link, victim = shared / "out.csv", table.with_name("victim.csv")
    victim.write_text("mine")
    link.symlink_to(victim)
    os.lchown(link, 12345, 23456)
    finished = run("powmod", table, "-o", link, *POWMOD)
    assert (finished.code, f"{link} is a symbolic link of another user" in finished.err) == (2, True)
    assert victim.read_text() == "mine"


# What is refused before anything is computed


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "is a directory"),
        ("nosuch/out.csv", "nosuch is not a directory"),
        ("in.csv/out.csv", "in.csv is not a directory"),
        ("loop.csv", "symbolic links"),
        ("pipe.csv", "pipe.csv is not a regular file"),
        ("dangling.csv", "nowhere is not a directory"),
        ("in.csv", "OUT is TABLE"),
        ("hard.csv", "OUT is TABLE"),
        ("soft.csv", "OUT is TABLE"),
        ("out.dat", "unknown extension"),
        ("out.parquet.gz", "parquet is compressed inside: name it out.parquet"),
        ("out.arrow.zst", "arrow is compressed inside: name it out.arrow"),
    ],
)
@pytest.mark.usefixtures("nothing_is_computed")
def test_impossible_outputs(table: Path, out: str, message: str) -> None:
    folder = table.parent
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "dangling.csv").symlink_to(folder / "nowhere" / "x.csv")
    os.mkfifo(folder / "pipe.csv")
    os.link(table, folder / "hard.csv")
    (folder / "soft.csv").symlink_to("in.csv")
    before = table.read_bytes(), sorted(entry.name for entry in folder.iterdir())
    finished = run("powmod", table, "-o", folder / out, *POWMOD)
    assert (finished.code, message in finished.err) == (2, True), finished.err
    assert (table.read_bytes(), sorted(entry.name for entry in folder.iterdir())) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
@pytest.mark.usefixtures("nothing_is_computed")
def test_a_directory_without_permission(table: Path) -> None:
    folder = table.parent / "closed"
    folder.mkdir(mode=0o500)
    finished = run("powmod", table, "-o", folder / "out.csv", *POWMOD)
    assert (finished.code, f"{folder} is a directory without permission" in finished.err) == (2, True)


@pytest.mark.usefixtures("nothing_is_computed")
def test_a_name_that_is_too_long_for_its_parts(table: Path) -> None:
    finished = run("powmod", table, "-o", table.with_name("x" * 247 + ".csv"), *POWMOD)
    assert (finished.code, "File name too long" in finished.err) == (1, True)


@pytest.mark.parametrize("name", ["k.pem", "password"])
def test_a_key_is_not_overwritten(table: Path, name: str) -> None:
    secret = table.with_name(name)
    secret.write_text("secret")
    options = ("--key", table.with_name("k.pem"), "--password-file", table.with_name("password"))
    for path in options[1::2]:
        Path(str(path)).write_text("secret")
    command = ("rsa", "sign", table, "-o", secret, "--output-format", "csv", "--message", "b", *options)
    finished = run(*command)
    assert (finished.code, "write to another file" in finished.err) == (2, True)
    assert secret.read_text() == "secret"


@pytest.mark.parametrize("name", ["parquet", "jsonl"])
@pytest.mark.usefixtures("nothing_is_computed")
def test_names_that_occur_twice(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / "in.csv", tmp_path / f"out.{name}"
    table.write_text("b,e,n,x,x\n3,5,7,1,2\n")
    finished = run("powmod", table, "-o", out, *POWMOD)
    assert (finished.code, "2 columns of the name 'x'" in finished.err) == (1, True)
    assert leftovers(out) == []


@pytest.mark.parametrize("name", ["csv", "arrow", "arrows"])
def test_names_that_occur_twice_where_a_format_has_them(tmp_path: Path, name: str) -> None:
    table, out = tmp_path / "in.csv", tmp_path / f"out.{name}"
    table.write_text("b,e,n,x,x\n3,5,7,1,2\n")
    assert run("powmod", table, "-o", out, *POWMOD).code == 0
    if name == "csv":
        assert out.read_text() == "b,e,n,x,x,result,status\n3,5,7,1,2,5,ok\n"
    else:
        assert [column.to_pylist() for column in read_arrow(out).columns[3:5]] == [["1"], ["2"]]


# Paths that are no text


def test_paths_that_are_no_text(table: Path) -> None:
    strange = table.with_name(os.fsdecode(b"in\xff.csv"))
    table.rename(strange)
    for name in FORMATS:
        out = strange.with_name(os.fsdecode(b"out\xff." + name.encode()))
        finished = run("powmod", strange, "-o", out, *POWMOD)
        assert (finished.code, len(read_bytes_of(out, name))) == (0, 3)
        assert leftovers(out) == []


def read_bytes_of(path: Path, name: str) -> list[Any]:
    """Rows of a file whose name is no text."""
    copy = path.with_name(f"copy.{name}")
    copy.write_bytes(path.read_bytes())
    return read_table(copy)
