# SPDX-License-Identifier: Apache-2.0
"""`manymod signd`: the keys and the metrics of a daemon manymod-signd on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import click

from manymod.cli.signd.frames import DaemonError, ask_keys, ask_metrics

__all__ = ["signd"]

_SOCKET = click.option(
    "--socket",
    "path",
    type=click.Path(path_type=Path),
    default=Path("/run/manymod/signd.sock"),
    show_default=True,
    help="The daemon's socket.",
)
_TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="Longest wait for the daemon, in seconds.",
)


@click.group(short_help="The daemon that holds keys: its metrics and its keys.")
def signd() -> None:
    """Ask the daemon manymod-signd, which holds private keys and computes for the processes of a machine."""


@signd.command()
@_SOCKET
@_TIMEOUT
def status(path: Path, timeout: float) -> None:
    """Print the daemon's metrics in the text format of Prometheus.

    The daemon answers to root, to its own user, and to those that its setting `observers` names.
    """
    try:
        click.echo(ask_metrics(path, timeout), nl=False)
    except DaemonError as error:
        raise click.ClickException(str(error)) from error


@signd.command()
@_SOCKET
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the public keys.")
def keys(path: Path, timeout: float, as_json: bool) -> None:
    """Print the keys that this user may use: identifier, name, operations."""
    try:
        found = ask_keys(path, timeout)
    except DaemonError as error:
        raise click.ClickException(str(error)) from error
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
