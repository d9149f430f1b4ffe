# SPDX-License-Identifier: Apache-2.0
"""`manymod signd` against a socket that answers as the daemon does, or does not.

The daemon's own tests are in tests/daemon.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.python.cli_support import run

from manymod.cli.signd import frames

WELCOME = struct.pack("<HHIIIII", 1, 0, 256, 1024, 512, 0, 0)


def frame(kind: int, body: bytes, last: int = 1) -> bytes:
    """Return a frame of the protocol."""
    return struct.pack("<IBBH", len(body), kind, last, 0) + body


def key_entry(name: bytes, operations: int) -> bytes:
    """Return a key of a list."""
    return bytes(range(32)) + struct.pack("<IHH", operations, len(name), 3) + name + b"DER"


@contextmanager
def daemon(path: Path, *answers: bytes) -> Iterator[None]:
    """Answer each frame of one client by the next of some byte strings, then close."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            for answer in answers:
                size = struct.unpack("<I", connection.recv(4, socket.MSG_WAITALL))[0]
                connection.recv(4 + size, socket.MSG_WAITALL)
                connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()


def test_status_prints_the_metrics(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with daemon(path, frame(2, WELCOME), frame(6, b"one 1\n", last=0) + frame(6, b"two 2\n")):
        assert run("signd", "status", "--socket", path).out == "one 1\ntwo 2\n"


def test_keys_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    answers = frame(4, key_entry(b"site", 0b11), last=0) + frame(4, key_entry(b"other", 1 << 7))
    with daemon(path, frame(2, WELCOME), answers):
        lines = run("signd", "keys", "--socket", path).out.splitlines()
    assert lines == [
        f"{bytes(range(32)).hex()}  site  sign_pkcs1 sign_pss",
        f"{bytes(range(32)).hex()}  other  exchange",
    ]
    path.unlink()
    with daemon(path, frame(2, WELCOME), answers):
        rows = json.loads(run("signd", "keys", "--json", "--socket", path).out)
    assert [row["public_key"] for row in rows] == [b"DER".hex()] * 2


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([frame(7, b"there are too many connections")], "too many connections"),
        ([frame(2, WELCOME), frame(7, b"this user may not")], "may not"),
        ([frame(2, WELCOME), b""], "closed the connection"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "not an answer"),
        ([struct.pack("<IBBH", 70_000, 2, 1, 0)], "not an answer"),
    ],
)
def test_failures_are_said(tmp_path: Path, answers: list[bytes], said: str) -> None:
    path = tmp_path / "socket"
    with daemon(path, *answers):
        finished = run("signd", "status", "--socket", path)
    assert finished.code == 1
    assert said in finished.err


def test_absent_daemon(tmp_path: Path) -> None:
    finished = run("signd", "keys", "--socket", tmp_path / "none")
    assert finished.code == 1
    assert "No such file" in finished.err


@pytest.mark.parametrize("size", range(1, len(key_entry(b"site", 1))))
def test_cut_lists_are_refused(size: int) -> None:
    with pytest.raises(frames.DaemonError):
        frames.decode_keys(key_entry(b"site", 1)[:size])


def test_the_documentation_has_all_settings_and_operations() -> None:
    root = Path(__file__).resolve().parents[2]
    source = (root / "daemon" / "server" / "config.cpp").read_text(encoding="utf-8")
    page = (root / "docs" / "signd.md").read_text(encoding="utf-8")
    settings = re.findall(r'\{"(\w+)", (?:text|number|real|duration|flag|list|operations)\(', source)
    assert len(settings) > 20
    assert [name for name in (*settings, *frames.OPERATIONS) if f"`{name}`" not in page] == []
