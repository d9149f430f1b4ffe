# SPDX-License-Identifier: Apache-2.0
"""Connections to manymod-signd: by its Unix socket, or by TLS (docs/signd-protocol.md, "Streams")."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DaemonAddress", "DaemonError", "connect", "tcp_endpoint"]

#: The protocol's name in ALPN.
_PROTOCOL = "manymod-signd/1"
_TCP = re.compile(r"tcp://(?:\[(?P<literal>[^\[\]]+)\]|(?P<host>[^:\[\]/]+)):(?P<port>\d{1,5})")


class DaemonError(Exception):
    """The daemon cannot be reached, refuses, or does not speak this protocol."""


@dataclass(frozen=True)
class DaemonAddress:
    """Where a daemon is, and with ``tcp://`` who the client is.

    Attributes:
        address: path of a Unix socket, or ``tcp://host:port``.
        ca: PEM of the issuers of the daemon's certificate, which names the host.
        certificate: PEM of the client's certificate.
        key: PEM of its private key.
    """

    address: str
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def tcp_endpoint(address: str) -> tuple[str, int] | None:
    """Return host and port of an address of TCP, None for any other.

    >>> tcp_endpoint("tcp://[::1]:7390"), tcp_endpoint("/run/manymod/signd.sock")
    (('::1', 7390), None)

    Raises:
        DaemonError: for ``tcp://`` without a host or a port.
    """
    if not address.startswith("tcp://"):
        return None
    found = _TCP.fullmatch(address)
    if found is None or int(found["port"]) > 65_535:
        raise DaemonError(f"{address} is not tcp://host:port")
    return found["literal"] or found["host"], int(found["port"])


def connect(daemon: DaemonAddress, timeout: float) -> socket.socket:
    """Return a connection, each of whose steps takes no longer than `timeout` seconds.

    Raises:
        DaemonError: if the address or the files are wrong, or the other side speaks another protocol.
        OSError: if there is no connection.
    """
    endpoint = tcp_endpoint(daemon.address)
    if endpoint is not None:
        return _connect_tls(daemon, endpoint, timeout)
    if not hasattr(socket, "AF_UNIX"):
        raise DaemonError("this system has no Unix sockets")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(daemon.address)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_tls(daemon: DaemonAddress, endpoint: tuple[str, int], timeout: float) -> socket.socket:
    context = _context(daemon)
    with socket.create_connection(endpoint, timeout) as plain:
        connection = context.wrap_socket(plain, server_hostname=endpoint[0])
    if connection.selected_alpn_protocol() != _PROTOCOL:
        connection.close()
        raise DaemonError(f"{daemon.address}: another protocol than manymod-signd's (ALPN)")
    return connection


def _context(daemon: DaemonAddress) -> ssl.SSLContext:
    """Return what the daemon's own client has: TLS 1.3, certificates on both sides."""
    if daemon.ca is None or daemon.certificate is None or daemon.key is None:
        raise DaemonError(f"{daemon.address} needs --ca, --certificate and --key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # which verifies the certificate and the host
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols([_PROTOCOL])
    try:
        context.load_verify_locations(daemon.ca)
        # An encrypted key is none for it: nothing is asked for on the terminal.
        context.load_cert_chain(daemon.certificate, daemon.key, password="")
    except OSError as error:
        files = f"{daemon.ca}, {daemon.certificate} or {daemon.key}"
        raise DaemonError(f"{files}: {error.strerror or error}") from error
    return context
