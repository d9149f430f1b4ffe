# SPDX-License-Identifier: Apache-2.0
"""Messages of bounded size over a stream socket: kind (1 byte), length (4 bytes, big-endian), payload."""

from __future__ import annotations

import socket
import struct
from enum import IntEnum

__all__ = ["MAX_PAYLOAD", "MAX_TIMEOUT", "Channel", "Kind", "PeerError", "ProtocolError"]

MAX_PAYLOAD = 1 << 20
MAX_TIMEOUT = 2_000_000  # seconds; sockets count milliseconds in 31 bits
_HEADER = struct.Struct(">BI")


class Kind(IntEnum):
    """What a frame holds."""

    HELLO = 1
    ELEMENTS = 2
    ERROR = 3


class ProtocolError(Exception):
    """The peer does not follow the protocol, refuses, or has gone."""


class PeerError(ProtocolError):
    """The peer has said why it ends the session."""


class Channel:
    """Frames on a connected socket; a peer that is silent for `timeout` seconds has gone."""

    def __init__(self, connection: socket.socket, timeout: float = 600.0) -> None:
        self._connection = connection
        connection.settimeout(timeout)

    def send(self, kind: Kind, payload: bytes) -> None:
        """Send one frame of at most MAX_PAYLOAD bytes.

        Raises:
            ProtocolError: if the peer does not take it; with its reason if an ERROR frame from it is there.
        """
        if len(payload) > MAX_PAYLOAD:
            raise ValueError(f"a frame holds at most {MAX_PAYLOAD} bytes, not {len(payload)}")
        try:
            self._connection.sendall(_HEADER.pack(kind, len(payload)) + payload)
        except OSError as error:
            gone = kind != Kind.ERROR and not isinstance(error, TimeoutError)
            if gone and (reason := self._reason_of_the_end()) is not None:
                raise reason from None
            raise ProtocolError(f"the peer does not take what is sent: {error}") from None

    def _reason_of_the_end(self) -> PeerError | None:
        """What the peer said before it ended the connection."""
        try:
            self.receive(Kind.ERROR)
        except PeerError as reason:
            return reason
        except ProtocolError:
            pass
        return None

    def receive(self, expected: Kind) -> bytes:
        """Receive one frame of the kind that comes next.

        Raises:
            PeerError: for an ERROR frame, whose reason it states.
            ProtocolError: for another kind, a longer frame, an end within a frame, or silence.
        """
        kind, length = _HEADER.unpack(self._exactly(_HEADER.size))
        if length > MAX_PAYLOAD:
            raise ProtocolError(f"a frame of {length} bytes, more than {MAX_PAYLOAD}")
        payload = self._exactly(length)
        if kind == Kind.ERROR:
            raise PeerError(f"the peer ended it: {payload[:200].decode('ascii', 'replace')!r}")
        if kind != expected:
            raise ProtocolError(f"a frame of kind {kind} where {expected.name} is due")
        return payload

    def _exactly(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            try:
                part = self._connection.recv(min(missing, 1 << 16))
            except OSError as error:
                raise ProtocolError(f"nothing comes from the peer: {error}") from None
            if not part:
                raise ProtocolError(
                    f"the connection ended with {missing} of {count} bytes of a frame missing"
                )
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)
