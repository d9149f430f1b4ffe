# SPDX-License-Identifier: Apache-2.0
"""`manymod signd`: the keys and the metrics of a daemon manymod-signd, of this machine or another."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec

import click

from manymod.cli.options import NumberRange
from manymod.cli.signd.connection import DaemonAddress, DaemonError
from manymod.cli.signd.frames import ask_keys, ask_metrics

__all__ = ["signd"]

P = ParamSpec("P")
_FILE = click.Path(path_type=Path, dir_okay=False)
_SOCKET = click.option(
    "--socket",
    "address",
    metavar="PATH|tcp://HOST:PORT",
    default="/run/manymod/signd.sock",
    show_default=True,
    help="The daemon's socket; tcp:// needs the three files.",
)
_CA = click.option("--ca", type=_FILE, help="PEM of who may issue the daemon's certificate.")
_CERTIFICATE = click.option("--certificate", type=_FILE, help="PEM of this client's certificate.")
_KEY = click.option("--key", type=_FILE, help="PEM of its private key, not encrypted.")
_TIMEOUT = click.option(
    "--timeout",
    type=NumberRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="Longest wait for the daemon, in seconds.",
)


def _of_daemon(command: Callable[Concatenate[DaemonAddress, P], None]) -> Callable[..., None]:
    """A command whose first argument is the daemon that its options name; its failures are the user's."""

    @functools.wraps(command)
    def run(
        address: str,
        ca: Path | None,
        certificate: Path | None,
        key: Path | None,
        *arguments: P.args,
        **options: P.kwargs,
    ) -> None:
        try:
            command(DaemonAddress(address, ca, certificate, key), *arguments, **options)
        except DaemonError as error:
            raise click.ClickException(str(error)) from error

    for option in (_KEY, _CERTIFICATE, _CA, _SOCKET):
        run = option(run)
    return run


@click.group(short_help="The daemon that holds keys: its metrics and its keys.")
def signd() -> None:
    """Ask the daemon manymod-signd, which holds private keys and computes for other processes."""


@signd.command()
@_of_daemon
@_TIMEOUT
def status(daemon: DaemonAddress, timeout: float) -> None:
    """Print the daemon's metrics in the text format of Prometheus.

    The daemon answers to root, to its own user, and to those that its settings `observers` and
    `observer_peers` name.
    """
    click.echo(ask_metrics(daemon, timeout), nl=False)


@signd.command()
@_of_daemon
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the public keys.")
def keys(daemon: DaemonAddress, timeout: float, as_json: bool) -> None:
    """Print the keys that this user, or the certificate's owner, may use: identifier, name, operations."""
    found = ask_keys(daemon, timeout)
    if as_json:
        rows = [
            {
                "identifier": key.identifier.hex(),
                "name": key.name,
                "operations": list(key.operations),
                "public_key": key.public_key.hex(),
            }
            for key in found
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    for key in found:
        click.echo(f"{key.identifier.hex()}  {key.name}  {' '.join(key.operations)}")
