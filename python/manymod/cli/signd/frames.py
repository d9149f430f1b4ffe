# SPDX-License-Identifier: Apache-2.0
"""Frames of manymod-signd (docs/signd-protocol.md), as far as its keys and metrics need them."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from manymod.cli.signd.connection import DaemonAddress, DaemonError, connect

__all__ = ["ServedKey", "ask_keys", "ask_metrics", "decode_keys"]

_MAGIC, _VERSION = 0x44534D4D, 1
_HELLO, _WELCOME, _LIST, _KEYS, _MEASURE, _METRICS, _REFUSAL = range(1, 8)
_MAX_BODY = 65_536
_HEADER = struct.Struct("<IBBH")
_KEY = struct.Struct("<32sIHH")
#: Names of operations by their bit, as in the daemon's configuration.
OPERATIONS = (
    *("sign_pkcs1", "sign_pss", "decrypt_pkcs1", "decrypt_oaep", "raw", "sign_ecdsa", "sign_eddsa"),
    "exchange",
)


@dataclass(frozen=True)
class ServedKey:
    """A key of the daemon that this user may use.

    Attributes:
        identifier: SHA-256 of the SubjectPublicKeyInfo.
        name: as the daemon's configuration calls it.
        operations: what this user may do with it.
        public_key: SubjectPublicKeyInfo in DER.
    """

    identifier: bytes
    name: str
    operations: tuple[str, ...]
    public_key: bytes


def ask_keys(daemon: DaemonAddress, timeout: float) -> list[ServedKey]:
    """Return the keys that this user, or the owner of this certificate, may use.

    Args:
        daemon: where it is.
        timeout: longest wait for each part of the answer, in seconds.

    Raises:
        DaemonError: if there is no answer.
    """
    return [key for body in _ask(daemon, timeout, _LIST, _KEYS) for key in decode_keys(body)]


def ask_metrics(daemon: DaemonAddress, timeout: float) -> str:
    """Return the daemon's metrics in the text format of Prometheus; the arguments are those of `ask_keys`.

    Raises:
        DaemonError: if there is no answer.
    """
    return b"".join(_ask(daemon, timeout, _MEASURE, _METRICS)).decode("utf-8", "replace")


def decode_keys(body: bytes) -> list[ServedKey]:
    """Return the keys of a frame's body.

    >>> entry = _KEY.pack(bytes(32), 0b10, 4, 3) + b"site" + b"DER"
    >>> [key.name for key in decode_keys(entry)], decode_keys(entry)[0].operations
    (['site'], ('sign_pss',))

    Raises:
        DaemonError: if it is malformed.
    """
    keys = []
    while body:
        if len(body) < _KEY.size:
            raise DaemonError("a malformed list of keys")
        identifier, operations, name_bytes, key_bytes = _KEY.unpack_from(body)
        name, rest = body[_KEY.size :][:name_bytes], body[_KEY.size + name_bytes :]
        if len(rest) < key_bytes:
            raise DaemonError("a malformed list of keys")
        allowed = tuple(word for bit, word in enumerate(OPERATIONS) if operations >> bit & 1)
        keys.append(ServedKey(identifier, name.decode("utf-8", "replace"), allowed, rest[:key_bytes]))
        body = rest[key_bytes:]
    return keys


def _ask(daemon: DaemonAddress, timeout: float, question: int, answer: int) -> list[bytes]:
    """Ask one question over a connection, and return the bodies of the answer's frames."""
    try:
        with connect(daemon, timeout) as connection:
            hello = struct.pack("<IHHI", _MAGIC, _VERSION, _VERSION, 0)
            connection.sendall(_frame(_HELLO, hello))
            _receive(connection, _WELCOME)
            connection.sendall(_frame(question, b""))
            return _receive(connection, answer)
    except OSError as error:
        raise DaemonError(f"{daemon.address}: {error.strerror or error}") from error


def _frame(kind: int, body: bytes) -> bytes:
    return _HEADER.pack(len(body), kind, 1, 0) + body


def _receive(connection: socket.socket, expected: int) -> list[bytes]:
    """Return the bodies of one answer's frames."""
    bodies = []
    while True:
        size, kind, last, _ = _HEADER.unpack(_exactly(connection, _HEADER.size))
        if size > _MAX_BODY or kind not in (expected, _REFUSAL):
            raise DaemonError("not an answer of manymod-signd")
        bodies.append(_exactly(connection, size))
        if kind == _REFUSAL:
            raise DaemonError(f"the daemon refuses: {bodies[-1].decode('utf-8', 'replace')}")
        if last:
            return bodies


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size > 0:
        part = connection.recv(size)
        if not part:
            raise DaemonError("the daemon closed the connection")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
