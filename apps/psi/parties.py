# SPDX-License-Identifier: Apache-2.0
"""The protocol between a client, who learns the intersection, and a server, who learns the client's count.

With secret exponents a of the client and b of the server, and a hash H into the group:

    client -> server    H(x)^a of its items, in random order
    server -> client    H(y)^b of its own items, sorted
    server -> client    (H(x)^a)^b, in the order in which they came (or sorted, for the size alone)

The client removes a: H(x)^b is in the server's list where x is in the server's set. Sources: C. Meadows, "A
more efficient cryptographic matchmaking protocol", 1986; B. Huberman, M. Franklin, T. Hogg, "Enhancing
privacy and trust in electronic communities", 1999.
"""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from psi.frames import MAX_PAYLOAD, MAX_TIMEOUT, Channel, Kind, ProtocolError
from psi.groups import GROUPS, ElementError, Elements, Group

__all__ = ["Client", "Intersection", "ProtocolError", "Server", "connect_pair"]

_MAGIC = b"mm-psi-1"
_HELLO = struct.Struct(">8s16s?Q")
_BLOCK = 4096  # items that are hashed and raised to a power at a time
_T = TypeVar("_T")


@dataclass(frozen=True)
class Intersection:
    """What the client learns.

    Attributes:
        size: of the intersection.
        items: its items in the order of the client's, None where the size alone was asked for.
        server_items: how many the server has.
    """

    size: int
    items: list[bytes] | None
    server_items: int


@contextmanager
def connect_pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected sockets, for both parties in one process."""
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def _blocks(values: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _rows(elements: Elements) -> list[bytes]:
    data, width = elements.tobytes(), elements.shape[1]
    return [data[start : start + width] for start in range(0, len(data), width)]


def _checked(items: Iterable[bytes]) -> list[bytes]:
    listed = list(items)
    for number, item in enumerate(listed):
        if not isinstance(item, bytes):
            raise TypeError(f"item {number} is not bytes: {type(item).__name__}")
    return listed


class _Party:
    """What both do.

    Args:
        group: ``"p256"`` or ``"ffdhe2048"``.
        items: the set, of bytes objects; duplicates count once.
        size_only: whether the client learns the size of the intersection alone; both must agree.
        max_items: how many items of the peer are accepted.
        timeout: seconds of silence after which the peer has gone, more than 0 and at most 2,000,000.

    Raises:
        ValueError: if there is no such group, or a number is out of range.
        TypeError: naming an item that is not bytes.
    """

    def __init__(
        self,
        group: str,
        items: Iterable[bytes],
        *,
        size_only: bool = False,
        max_items: int = 1 << 22,
        timeout: float = 600.0,
    ) -> None:
        if group not in GROUPS:
            raise ValueError(f"group must be one of {', '.join(GROUPS)}, not {group!r}")
        if not 0 < timeout <= MAX_TIMEOUT:
            raise ValueError(f"timeout must be more than 0 and at most {MAX_TIMEOUT} seconds, not {timeout}")
        self._name = group
        self._group: Group = GROUPS[group]()
        self._items = list(dict.fromkeys(_checked(items)))
        self._size_only = size_only
        self._max_items = max_items
        self._timeout = timeout

    def _greet(self, channel: Channel) -> int:
        """Tell the group, the mode and the number of items; return the peer's number."""
        channel.send(
            Kind.HELLO,
            _HELLO.pack(_MAGIC, self._name.encode("ascii"), self._size_only, len(self._items)),
        )
        payload = channel.receive(Kind.HELLO)
        if len(payload) != _HELLO.size or not payload.startswith(_MAGIC):
            raise ProtocolError("the peer does not speak this protocol")
        _, name, size_only, count = _HELLO.unpack(payload)
        if (group := name.rstrip(b"\0")) != self._name.encode("ascii"):
            raise ProtocolError(f"the peer uses another group: {group!r}")
        if size_only != self._size_only:
            raise ProtocolError("the peer does not agree whether the size alone is computed")
        if count > self._max_items:
            raise ProtocolError(f"the peer has {count} items, more than {self._max_items}")
        return int(count)

    def _blinded(self, items: Sequence[bytes], k: int) -> list[bytes]:
        """H(x)^k of items."""
        return [
            row
            for block in _blocks(items, _BLOCK)
            for row in _rows(self._group.power(self._group.hashed(block), k))
        ]

    def _send(self, channel: Channel, elements: list[bytes]) -> None:
        for block in _blocks(elements, MAX_PAYLOAD // self._group.element_bytes):
            channel.send(Kind.ELEMENTS, b"".join(block))

    def _receive(self, channel: Channel, count: int) -> Iterator[tuple[int, Elements]]:
        """Blocks of `count` elements, each with the index of its first."""
        width = self._group.element_bytes
        received = 0
        while received < count:
            payload = channel.receive(Kind.ELEMENTS)
            rows, rest = divmod(len(payload), width)
            if rest or not 0 < rows <= count - received:
                raise ProtocolError(
                    f"a frame of {len(payload)} bytes, with {count - received} elements of {width} due"
                )
            yield received, np.frombuffer(payload, np.uint8).reshape(rows, width)
            received += rows

    def _powers(self, channel: Channel, count: int, k: int) -> list[bytes]:
        """The k-th powers of `count` elements that come from the peer."""
        powers: list[bytes] = []
        for first, elements in self._receive(channel, count):
            try:
                powers += _rows(self._group.power(elements, k))
            except ElementError as error:
                raise ElementError([first + item for item in error.indices]) from None
        return powers

    @contextmanager
    def _session(self, connection: socket.socket) -> Iterator[Channel]:
        """A channel on which the peer is told why a session ends early."""
        channel = Channel(connection, self._timeout)
        try:
            yield channel
        except (ProtocolError, ElementError) as error:
            with suppress(ProtocolError):
                channel.send(Kind.ERROR, str(error).encode("ascii", "replace")[:200])
            raise


class Client(_Party):
    """The party that learns the intersection; arguments as the module states them for both."""

    def run(self, connection: socket.socket) -> Intersection:
        """Compute the intersection with the server at the other end of a connected stream socket.

        Raises:
            ProtocolError: if the server breaks the protocol, disagrees or goes.
            ElementError: if it answers with what is no element of the group, by its index. The server's own
                list is not checked: its encodings are only compared, and one of no element matches nothing.
        """
        with self._session(connection) as channel:
            return self._run(channel)

    def _run(self, channel: Channel) -> Intersection:
        server_count = self._greet(channel)
        items = list(self._items)
        random.SystemRandom().shuffle(items)
        a = self._group.secret()
        self._send(channel, self._blinded(items, a))
        theirs = {row for _, block in self._receive(channel, server_count) for row in _rows(block)}
        ours = self._powers(channel, len(items), self._group.inverse(a))
        if self._size_only:
            return Intersection(sum(row in theirs for row in ours), None, server_count)
        found = {item for item, row in zip(items, ours, strict=True) if row in theirs}
        return Intersection(len(found), [item for item in self._items if item in found], server_count)


class Server(_Party):
    """The party that learns how many items the client has, and nothing else."""

    def run(self, connection: socket.socket) -> None:
        """Serve the client at the other end of a connected stream socket, with a new secret exponent.

        Raises:
            ProtocolError: if the client breaks the protocol, disagrees or goes.
            ElementError: if it sends what is no element of the group, by its index.
        """
        with self._session(connection) as channel:
            count = self._greet(channel)
            b = self._group.secret()
            own = sorted(self._blinded(self._items, b))
            replies = self._powers(channel, count, b)
            self._send(channel, own)
            self._send(channel, sorted(replies) if self._size_only else replies)

    def start(self, connection: socket.socket) -> Future[None]:
        """`run` on another thread."""
        future: Future[None] = Future()

        def run() -> None:
            try:
                self.run(connection)
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
                future.set_exception(error)
            else:
                future.set_result(None)

        threading.Thread(target=run, daemon=True).start()
        return future
