# SPDX-License-Identifier: Apache-2.0
"""Damaged parts of an interrupted run: resuming it is an error, or writes the right table."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

from tests.fuzz.choices import Choices

from manymod import ManymodError, tables

ROWS = 9
BATCH_ROWS = 2
BATCHES_BEFORE_INTERRUPTION = 3


@functools.cache
def _folder() -> Path:
    """A folder in memory, if there is one: each part is written durably."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="manymod-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, folder)
    lines = [f"{base},{base * 77},{base * base + 3}" for base in range(ROWS)]
    (folder / "in.csv").write_text("\n".join(["b,e,m", *lines]) + "\n", encoding="utf-8")
    return folder


def _run(*, resume: bool, interrupted: bool = False) -> tables.Tally:
    folder = _folder()
    job = tables.OperationJob(
        operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "e", "mod": "m"}
    )
    source = tables.open_source(folder / "in.csv", limits=tables.BatchLimits(rows=BATCH_ROWS))
    sink = tables.ResumableFile(folder / "out.csv", "csv", seconds=0, resume=resume)

    def progress(done: int, total: int | None) -> None:
        if interrupted and done >= BATCHES_BEFORE_INTERRUPTION * BATCH_ROWS:
            raise KeyboardInterrupt

    try:
        return tables.run(job, source, sink, progress=progress)
    finally:
        sink.close()
        source.close()


@functools.cache
def _whole() -> bytes:
    """The table of a run that was not interrupted."""
    assert _run(resume=False).rows == ROWS
    return (_folder() / "out.csv").read_bytes()


@functools.cache
def _left() -> dict[str, bytes]:
    """The files that an interrupted run leaves."""
    _whole()
    with contextlib.suppress(KeyboardInterrupt):
        _run(resume=False, interrupted=True)
    parts = _folder() / "out.csv.parts"
    return {path.name: path.read_bytes() for path in sorted(parts.iterdir())}


def _restore() -> Path:
    parts = _folder() / "out.csv.parts"
    if parts.is_symlink() or parts.is_file():
        parts.unlink()
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(mode=0o700)
    for name, content in _left().items():
        (parts / name).write_bytes(content)
    return parts


def _change(choices: Choices, content: bytes) -> bytes:
    changed = bytearray(content)
    kind = choices.below(5)
    if kind == 0 and changed:
        changed[choices.below(len(changed))] ^= 1 << choices.below(8)
    elif kind == 1:
        del changed[choices.below(len(changed) + 1) :]
    elif kind == 2:
        at = choices.below(len(changed) + 1)
        changed[at : at + choices.below(9)] = choices.piece(40)
    elif kind == 3:
        return choices.piece(60) * (1 + choices.below(2000))
    else:
        changed += choices.piece(20)
    return bytes(changed)


def _damage(choices: Choices, parts: Path) -> None:
    names = list(_left())
    path = parts / choices.among(names)
    kind = choices.below(8)
    if kind < 4:
        path.write_bytes(_change(choices, path.read_bytes() if path.is_file() else b""))
    elif kind == 4:
        path.unlink(missing_ok=True)
    elif kind == 5:
        other = parts / choices.among(names)
        if other.is_file():
            path.write_bytes(other.read_bytes())
    elif kind == 6:
        path.unlink(missing_ok=True)
        path.symlink_to(choices.among((*names, "nowhere", "/dev/null", ".")))
    else:
        path.unlink(missing_ok=True)
        path.mkdir()


def seeds() -> list[bytes]:
    """Return an input that makes the journal a deeply nested one."""
    return [bytes([1, 0, 0, 3, 1, ord("["), 7, 0xC0])]


def check(data: bytes) -> None:
    """Run one input."""
    choices = Choices(data)
    parts = _restore()
    output = _folder() / "out.csv"
    for _ in range(choices.below(3)):
        with contextlib.suppress(OSError):  # a name that an earlier damage has made something else of
            _damage(choices, parts)
    with contextlib.suppress(FileNotFoundError):
        output.unlink()
    try:
        tally = _run(resume=True)
    except ManymodError:
        assert not output.exists(), "an error, and an output"
        return
    assert tally.rows == ROWS, tally
    assert output.read_bytes() == _whole(), f"{output.read_bytes()!r} is not {_whole()!r}"
