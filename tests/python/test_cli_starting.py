# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while modules are imported, when other programs end as they say, and Ctrl-C that goes unheard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from manymod._starting import EndsAtOnce, is_command
from manymod.cli.interrupt import InterruptGuard

#: Python imports it before anything else. The process gets SIGINT when it is about to import a module, which
#: then fails by another error, as some extension modules do.
SIGNALS = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == os.environ["INTERRUPTED_AT"]:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError(name) from None

sys.meta_path.insert(0, Finder())
"""
#: What installers make of the entry point.
SCRIPT = """
import sys
from manymod.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
#: A program of somebody else. It counts signals if it is told to, and says what became of its handler.
PROGRAM = """
import signal, sys
calls = []
if sys.argv[1:] == ["count"]:
    signal.signal(signal.SIGINT, lambda *_: calls.append(1))
before = signal.getsignal(signal.SIGINT)
try:
    import manymod
except ImportError:
    calls.append("ImportError")
print(calls, signal.getsignal(signal.SIGINT) == before)
"""
MODULES = ["manymod._core", "numpy", "manymod.residues"]


def finish(
    folder: Path, command: list[str], module: str, prepare: Callable[[], object] | None = None
) -> tuple[int, str, str]:
    """How a command ends that gets SIGINT when it imports a module: code, output, errors."""
    (folder / "sitecustomize.py").write_text(SIGNALS)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    finished = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path, "INTERRUPTED_AT": module},
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        check=False,
    )
    return finished.returncode, finished.stdout, finished.stderr


def script(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize(
    ("started_as", "module"),
    [
        *(("script", module) for module in (*MODULES, "manymod.cli.main")),
        *(("-m manymod", module) for module in (*MODULES, "pyarrow")),
        ("-Xutf8 -mmanymod", "numpy"),
    ],
)
def test_the_command_ends_quietly(tmp_path: Path, started_as: str, module: str) -> None:
    start = [script(tmp_path, "manymod", SCRIPT)] if started_as == "script" else started_as.split()
    assert finish(tmp_path, [*start, "info", "--tuning"], module) == (130, "", "manymod: interrupted\n")


def test_commands_that_are_imported_when_they_run_end_quietly(tmp_path: Path) -> None:
    ended = finish(tmp_path, ["-m", "manymod", "tune", "--show"], "manymod.cli.tune.report")
    assert ended == (130, "", "manymod: interrupted\n")


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """As that of a job that a shell has started in the background."""
    code, out, err = finish(
        tmp_path,
        ["-m", "manymod", "--version"],
        "numpy",
        lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (code, out.startswith("manymod, version"), err) == (0, True, "")


@pytest.mark.parametrize("name", ["program.py", "bench_manymod", "manymod"])
@pytest.mark.parametrize("module", MODULES)
def test_handlers_of_other_programs_are_theirs(tmp_path: Path, name: str, module: str) -> None:
    """One that counts is called whatever the program's name is; so that of Python, but for a lookalike's."""
    program = script(tmp_path, name, PROGRAM)
    assert finish(tmp_path, [program, "count"], module) == (0, "[1] True\n", "")
    if name != "manymod":
        assert finish(tmp_path, [program], module) == (0, "['ImportError'] True\n", "")
    assert finish(tmp_path, [program], "no such module") == (0, "[] True\n", "")


@pytest.mark.parametrize(
    ("arguments", "interpreter", "command"),
    [
        (["/usr/bin/manymod", "info"], [], True),
        (["/usr/bin/manymod.py"], [], False),
        (["/usr/bin/trymanymod"], [], False),
        (["-m", "info"], ["python", "-m", "manymod", "info"], True),
        (["-m"], ["python", "-Bmmanymod"], True),
        (["-m"], ["python", "-m", "trymanymod"], False),
        (["-m"], ["python", "-m", "try.manymod"], False),
        (["-m", "manymod"], ["python", "-m", "pytest", "manymod"], False),
        (["-m", "info"], [], False),
        ([], [], False),
    ],
)
def test_what_looks_like_the_command(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], interpreter: list[str], command: bool
) -> None:
    """A name that only ends in the command's is that of another program."""
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(sys, "orig_argv", interpreter)
    assert is_command() == command


def test_a_handler_that_an_import_sets_stays() -> None:
    own = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with EndsAtOnce():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, own)


#: Loses every interruption, as a package that hangs.
DEAF = """
import contextlib, os, signal, sys
from manymod.cli.interrupt import Interrupted, InterruptGuard
with InterruptGuard() as guard, guard.shield() if sys.argv[1:] else contextlib.nullcontext():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        try:
            os.kill(os.getpid(), number)
        except Interrupted:
            print("interrupted", flush=True)
    print("goes on", flush=True)
"""


@pytest.mark.parametrize("shield", [[], ["shield"]])
def test_a_third_signal_ends_what_does_not_hear(shield: list[str]) -> None:
    """Also while a result is kept, where the first two wait for the end."""
    command = [sys.executable, "-c", DEAF, *shield]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.stdout == ("" if shield else "interrupted\n" * 2)
    assert (finished.returncode, finished.stderr) == (-signal.SIGINT, "")


def test_signals_after_the_work_is_done_are_ignored() -> None:
    with InterruptGuard() as guard:
        guard.ignore()
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
