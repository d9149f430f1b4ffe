# SPDX-License-Identifier: Apache-2.0
"""The protocol against Python's sets, what it shows to a peer, and peers that do not follow it."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psi import Client, ElementError, Intersection, ProtocolError, Server, __main__, connect_pair, parties
from psi.__main__ import main
from psi.frames import MAX_PAYLOAD, Channel, Kind, PeerError
from psi.groups import GROUPS, Group, ffdhe2048_prime

APPS = Path(__file__).resolve().parents[2]
P = ffdhe2048_prime()


def intersection(group: str, ours: list[bytes], theirs: list[bytes], **options: Any) -> Intersection:
    with connect_pair() as (here, there):
        done = Server(group, theirs, **options).start(there)
        found = Client(group, ours, **options).run(here)
        done.result(10)
    return found


@pytest.mark.parametrize("group", list(GROUPS))
def test_intersections(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parties, "_BLOCK", 7)
    monkeypatch.setattr(parties, "MAX_PAYLOAD", 5 * 256)
    ours = [b"", b"\0", b"both", *(b"%d" % number for number in range(12)), b"both"]
    theirs = [b"\0", b"theirs", b"both", *(b"%d" % number for number in range(6, 20))]
    found = intersection(group, ours, theirs)
    assert found.items == [b"\0", b"both", *(b"%d" % number for number in range(6, 12))]
    assert (found.size, found.server_items) == (8, 17)


@pytest.mark.parametrize("group", list(GROUPS))
@pytest.mark.parametrize(("ours", "theirs"), [([], [b"a"]), ([b"a"], []), ([], []), ([b"a"], [b"a"])])
def test_small_sets(group: str, ours: list[bytes], theirs: list[bytes]) -> None:
    found = intersection(group, ours, theirs)
    assert found.items == [item for item in ours if item in theirs]


def test_the_size_alone() -> None:
    found = intersection("p256", [b"a", b"b", b"c"], [b"c", b"b", b"d"], size_only=True)
    assert found == Intersection(2, None, 3)


@pytest.mark.parametrize("name", list(GROUPS))
def test_powers_commute_and_are_undone(name: str) -> None:
    group: Group = GROUPS[name]()
    a, b = group.secret(), group.secret()
    hashed = group.hashed([b"one", b"two"])
    both = group.power(group.power(hashed, a), b)
    assert (both == group.power(group.power(hashed, b), a)).all()
    assert (group.power(both, group.inverse(a)) == group.power(hashed, b)).all()
    assert both.shape == (2, group.element_bytes)


def test_a_number_that_is_no_square_shows_nothing_of_the_exponent() -> None:
    group: Group = GROUPS["ffdhe2048"]()
    one_more = np.frombuffer((P - 5).to_bytes(256, "big") + (5).to_bytes(256, "big"), np.uint8).reshape(
        2, 256
    )
    for k in (2, 3):
        first, second = group.power(one_more, k)
        assert first.tobytes() == second.tobytes() == pow(5, 2 * k, P).to_bytes(256, "big")


GREETING = struct.Struct(">8s16s?Q")


def greeting(count: int, group: str = "p256", size_only: bool = False) -> bytes:
    return GREETING.pack(b"mm-psi-1", group.encode(), size_only, count)


def run_with(peer: Callable[[Channel], None], party: Callable[[socket.socket], Any]) -> Any:
    """Run a party with a peer that is a function, on another thread."""
    with connect_pair() as (here, there):

        def run() -> None:
            try:
                peer(Channel(there, 10))
            finally:
                there.close()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            return party(here)
        finally:
            thread.join(10)


def test_what_the_server_sees_and_shows() -> None:
    """The client's elements are new in every session and in random order, those of the server sorted."""
    items = [b"%d" % number for number in range(30)]
    seen: list[list[bytes]] = []
    sent: list[bytes] = []
    group: Group = GROUPS["p256"]()

    def rows(payload: bytes) -> list[bytes]:
        return [payload[at : at + 33] for at in range(0, len(payload), 33)]

    def server(channel: Channel) -> None:
        channel.send(Kind.HELLO, greeting(0))
        channel.receive(Kind.HELLO)
        payload = channel.receive(Kind.ELEMENTS)
        seen.append(rows(payload))
        channel.send(Kind.ELEMENTS, payload)

    def client(channel: Channel) -> None:
        channel.send(Kind.HELLO, greeting(1))
        channel.receive(Kind.HELLO)
        channel.send(Kind.ELEMENTS, group.power(group.hashed([b"x"]), 1).tobytes())
        sent.extend(rows(channel.receive(Kind.ELEMENTS)))
        channel.receive(Kind.ELEMENTS)

    for _ in range(2):
        run_with(server, Client("p256", items).run)
        run_with(client, Server("p256", items).run)
    assert len({row for session in seen for row in session}) == 60
    assert all(session != sorted(session) for session in seen)
    assert len(set(sent)) == 60
    assert sent[:30] == sorted(sent[:30])


def element_of(name: str) -> bytes:
    return GROUPS[name]().power(GROUPS[name]().hashed([b"good"]), 1).tobytes()


BAD = {
    "p256": [
        bytes(33),
        b"\2" + bytes([255]) * 32,
        b"\2" + (4).to_bytes(32, "big"),  # 4^3 - 3 4 + b is no square
        b"\5" + element_of("p256")[1:],
    ],
    "ffdhe2048": [number.to_bytes(256, "big") for number in (0, 1, P - 1, P, P + 2, 2**2048 - 1)],
}


@pytest.mark.parametrize("name", list(GROUPS))
def test_what_is_no_element_is_named(name: str) -> None:
    good = element_of(name)
    elements = [good]
    for bad in BAD[name]:
        elements += [bad, good]

    def client(channel: Channel) -> None:
        channel.send(Kind.HELLO, greeting(1 + len(elements), name))
        channel.receive(Kind.HELLO)
        channel.send(Kind.ELEMENTS, good)
        channel.send(Kind.ELEMENTS, b"".join(elements))
        with pytest.raises(ProtocolError, match="the peer ended it: 'not elements of the group"):
            channel.receive(Kind.ELEMENTS)

    with pytest.raises(ElementError) as caught:
        run_with(client, Server(name, [b"x"]).run)
    assert caught.value.indices == [2 + 2 * number for number in range(len(BAD[name]))]


def raw(data: bytes) -> Callable[[Channel], None]:
    def peer(channel: Channel) -> None:
        channel._connection.sendall(data)
        channel.receive(Kind.HELLO)

    return peer


def frame(kind: int, payload: bytes) -> bytes:
    return struct.pack(">BI", kind, len(payload)) + payload


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "ended with 5 of 5 bytes of a frame missing"),
        (frame(1, greeting(1))[:9], "ended with 29 of 33 bytes"),
        (struct.pack(">BI", 1, MAX_PAYLOAD + 1), "a frame of 1048577 bytes, more than 1048576"),
        (frame(2, b"x"), "a frame of kind 2 where HELLO is due"),
        (frame(1, b"GET / HTTP/1.1\r\n"), "does not speak this protocol"),
        (frame(1, greeting(1, "ffdhe2048")), "another group: b'ffdhe2048'"),
        (frame(1, greeting(1, size_only=True)), "does not agree whether the size alone"),
        (frame(1, greeting(101)), "has 101 items, more than 100"),
        (frame(1, greeting(1)) + frame(2, bytes(34)), "a frame of 34 bytes, with 1 elements of 33 due"),
        (frame(1, greeting(1)) + frame(2, bytes(66)), "a frame of 66 bytes, with 1 elements of 33 due"),
        (frame(1, greeting(1)) + frame(2, b""), "a frame of 0 bytes"),
        (frame(1, greeting(2)) + frame(2, element_of("p256")), "ended with 5 of 5"),
        (frame(3, b"no \xff\x1b"), "the peer ended it: 'no \ufffd\\x1b'"),
    ],
)
def test_peers_that_break_the_protocol(data: bytes, said: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        run_with(raw(data), Server("p256", [b"x"], max_items=100, timeout=10).run)
    assert said in str(caught.value)


def test_every_changed_byte_and_every_end_of_what_a_client_sends() -> None:
    """A session ends with one of its own errors, or the server answers as it would to another element."""
    good = frame(1, greeting(1)) + frame(2, element_of("p256"))
    changed = [good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :] for at in range(len(good))]
    outcomes = []
    for data in [*changed, *(good[:at] for at in range(len(good)))]:
        with connect_pair() as (here, there):
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            try:
                Server("p256", [b"x"], timeout=10).run(here)
                outcomes.append("answered")
            except (ProtocolError, ElementError) as error:
                outcomes.append(type(error).__name__)
    assert set(outcomes[len(good) :]) == {"ProtocolError"}
    assert set(outcomes[: len(frame(1, greeting(1)))]) == {"ProtocolError"}
    assert set(outcomes) == {"ProtocolError", "ElementError", "answered"}


def test_the_reason_of_a_server_that_refuses_a_set_of_several_frames() -> None:
    items = [b"%d" % number for number in range(70_000)]
    with connect_pair() as (here, there):
        done = Server("p256", items[:2], max_items=2).start(there)
        done.add_done_callback(lambda _: there.close())
        with pytest.raises(PeerError, match="the peer has 70000 items, more than 2"):
            Client("p256", items).run(here)


def test_a_silent_peer() -> None:
    with (
        connect_pair() as (here, _),
        pytest.raises(ProtocolError, match="nothing comes from the peer: timed out"),
    ):
        Client("p256", [b"x"], timeout=0.01).run(here)


def test_arguments() -> None:
    with pytest.raises(ValueError, match="group must be one of p256, ffdhe2048, not 'x25519'"):
        Client("x25519", [])
    for timeout in (0, -1, float("nan"), float("inf"), 1e8):
        with pytest.raises(ValueError, match="timeout must be more than 0"):
            Server("p256", [], timeout=timeout)
    for items, said in ((["ann"], "item 0 is not bytes: str"), (b"ann", "item 0 is not bytes: int")):
        with pytest.raises(TypeError, match=said):
            Client("p256", items)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="item 1 is not bytes: bytearray"):
        Client("p256", [b"ann", bytearray(b"bob")])  # type: ignore[list-item]
    with connect_pair() as (here, _), pytest.raises(ValueError, match="at most 1048576 bytes"):
        Channel(here).send(Kind.ELEMENTS, bytes(MAX_PAYLOAD + 1))


def test_what_the_command_line_cannot_do(tmp_path: Path, command: Callable[..., Callable[..., str]]) -> None:
    run, items = command(main), tmp_path / "items"
    items.write_bytes(b"ann\n")
    for timeout in ("-1", "nan", "inf"):
        assert "psi: timeout must be" in run("query", "127.0.0.1:1", items, "--timeout", timeout)
    assert run("serve", "127.0.0.1:65536", items) == "exit: 2"
    for wrong in ("0", "-1", "x"):
        assert run("bench", "--items", wrong) == "exit: 2"
    assert run("query", f"{'a' * 80}:1", items).startswith("exit: psi: ")
    assert "No such file" in run("query", "127.0.0.1:1", tmp_path / "none")


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_two_processes(tmp_path: Path, host: str) -> None:
    if host == "[::1]" and not _has_ipv6():
        pytest.skip("no IPv6 on this machine")
    (tmp_path / "ours").write_bytes(b"eve\ncid\nann\n")
    (tmp_path / "theirs").write_bytes(b"ann\nbob\ncid\n")
    command = [sys.executable, "-m", "psi"]
    with subprocess.Popen(
        [*command, "serve", f"{host}:0", str(tmp_path / "theirs")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=APPS,
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        query = [*command, "query", address, str(tmp_path / "ours")]
        done = subprocess.run(query, capture_output=True, cwd=APPS, check=True)
        assert (done.stdout, server.wait(10)) == (b"cid\nann\n", 0)
    query += ["--wait", "0"]
    failed = subprocess.run(query, capture_output=True, text=True, cwd=APPS, check=False)
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
    assert failed.stderr.startswith(f"psi: {address}: ")


def test_a_query_waits_for_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server begins to listen while the query waits after its first attempt."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        monkeypatch.setattr("time.sleep", lambda _: listening.listen())
        with __main__._connected(listening.getsockname(), wait=10, timeout=10) as connection:
            assert connection.getpeername() == listening.getsockname()
