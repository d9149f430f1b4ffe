# SPDX-License-Identifier: Apache-2.0
"""The command line: sets are files with one item a line; a server waits for a client on TCP."""

from __future__ import annotations

import argparse
import socket
import sys
import time
from pathlib import Path

from command_line import add_bench, positive_count, run_command
from psi.groups import GROUPS
from psi.parties import Client, ProtocolError, Server


def _items(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def _text_of(address: tuple[str, int]) -> str:
    """An address as `_address` reads it."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _serve(arguments: argparse.Namespace) -> None:
    server = Server(
        arguments.group,
        _items(arguments.items),
        size_only=arguments.size_only,
        max_items=arguments.max_items,
        timeout=arguments.timeout,
    )
    family = socket.AF_INET6 if ":" in arguments.address[0] else socket.AF_INET
    with socket.create_server(arguments.address, family=family) as listening:
        print(f"listening on {_text_of(listening.getsockname()[:2])}", flush=True)
        connection, _ = listening.accept()
        with connection:
            server.run(connection)


def _connected(address: tuple[str, int], wait: float, timeout: float) -> socket.socket:
    """A connection to a server, which may start to listen within `wait` seconds.

    Raises:
        OSError: that names the address, if there is none.
    """
    end = time.monotonic() + wait
    while True:
        try:
            return socket.create_connection(address, timeout)
        except OSError as error:
            if isinstance(error, ConnectionRefusedError) and time.monotonic() < end:
                time.sleep(0.1)
                continue
            raise OSError(f"{_text_of(address)}: {error.strerror or error}") from None


def _query(arguments: argparse.Namespace) -> None:
    client = Client(
        arguments.group,
        _items(arguments.items),
        size_only=arguments.size_only,
        max_items=arguments.max_items,
        timeout=arguments.timeout,
    )
    with _connected(arguments.address, arguments.wait, arguments.timeout) as connection:
        found = client.run(connection)
    if found.items is None:
        print(found.size)
    else:
        sys.stdout.buffer.writelines(item + b"\n" for item in found.items)


def _bench(arguments: argparse.Namespace) -> None:
    from psi.bench import bench  # noqa: PLC0415 - needs openmined-psi, which nothing else here does

    bench(arguments.items, arguments.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="psi", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run, does in (
        ("serve", _serve, "serve one client"),
        ("query", _query, "print what the server has of the items, or how many"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument("address", type=_address, help="HOST:PORT, [HOST]:PORT for IPv6; port 0: any")
        command.add_argument("items", type=Path)
        command.add_argument("--group", choices=sorted(GROUPS), default="p256")
        command.add_argument("--size-only", action="store_true", help="the client learns the size alone")
        command.add_argument("--max-items", type=int, default=1 << 22, help="accepted of the peer")
        command.add_argument("--timeout", type=float, default=600.0, help="seconds of silence")
        if run is _query:
            waits = "seconds in which the server may start to listen (default 10)"
            command.add_argument("--wait", type=float, default=10.0, help=waits)
        command.set_defaults(run=run)
    bench = add_bench(commands, _bench, "measure beside openmined-psi, on one CPU")
    bench.add_argument("--items", type=positive_count, default=4096, help="of each set")
    return parser


def main(argv: list[str] | None = None) -> None:
    """Run one command: of `argv`, or of the process."""
    run_command(_parser(), argv, (OSError, ValueError, ProtocolError))


if __name__ == "__main__":
    main()
