# SPDX-License-Identifier: Apache-2.0
"""Unpatched TLS servers with the OpenSSL provider, and stock clients."""

from __future__ import annotations

import os
import signal
import ssl
import sys
import time
from pathlib import Path

import pytest
from tests.python import provider_support as support
from tests.python.provider_support import expect_served, identity

import tls_servers
from tls_servers import Identity, free_port

KINDS = ["rsa2048", "rsa3072", "p256", "p384", "ed25519"]


@pytest.fixture(autouse=True)
def _needed() -> None:
    support.needed()


def listens(where: Path, kinds: list[str]) -> dict[int, Identity]:
    """A port for each key."""
    return {free_port(): identity(where, kind) for kind in kinds}


def expect_all_served(served: dict[int, Identity], kinds: list[str]) -> None:
    """All handshakes of all keys."""
    for (port, own), kind in zip(served.items(), kinds, strict=True):
        expect_served(port, own, kind)


@support.needs("nginx")
def test_nginx(tmp_path: Path) -> None:
    """Every kind of key and handshake; the workers compute, after the master has forked them."""
    served = listens(tmp_path, KINDS)
    with tls_servers.nginx(tmp_path, served, support.configuration(tmp_path), workers=2) as process:
        expect_all_served(served, KINDS)
        assert tls_servers.uses_provider(process.pid)
        assert len(tls_servers.children(process.pid)) == 2


@support.needs("nginx")
def test_nginx_reloads_and_replaces_workers(tmp_path: Path) -> None:
    """A new generation of workers, and a worker in the place of one that was killed."""
    kinds = ["rsa3072"]
    served = listens(tmp_path, kinds)
    with tls_servers.nginx(tmp_path, served, support.configuration(tmp_path)) as process:
        expect_all_served(served, kinds)
        for target, number in ((process.pid, signal.SIGHUP), (None, signal.SIGKILL)):
            before = tls_servers.children(process.pid)
            os.kill(target or before[0], number)
            end = time.monotonic() + tls_servers.PATIENCE
            while set(before) & set(now := tls_servers.children(process.pid)) or not now:
                assert time.monotonic() < end
                time.sleep(0.02)
            expect_all_served(served, kinds)
            assert tls_servers.uses_provider(process.pid)


@pytest.mark.parametrize("asynchronous", [False, True])
@support.needs("haproxy")
def test_haproxy(tmp_path: Path, asynchronous: bool) -> None:
    """With threads that wait, and with asynchronous jobs."""
    kinds = ["rsa2048", "rsa3072", "p256"]
    served = listens(tmp_path, kinds)
    with tls_servers.haproxy(tmp_path, served, support.configuration(tmp_path), asynchronous) as process:
        expect_all_served(served, kinds)
        assert tls_servers.uses_provider(process.pid)


@support.needs("apache2")
def test_apache(tmp_path: Path) -> None:
    """The event MPM."""
    kinds = ["rsa3072", "p256"]
    served = listens(tmp_path, kinds)
    with tls_servers.apache(tmp_path, served, support.configuration(tmp_path)) as process:
        expect_all_served(served, kinds)
        assert tls_servers.uses_provider(process.pid)


@pytest.mark.parametrize("options", [[], ["-async"]])
def test_s_server(tmp_path: Path, options: list[str]) -> None:
    """OpenSSL's own server, which can run handshakes in jobs."""
    for kind in ("rsa3072", "p384"):
        port, own = free_port(), identity(tmp_path, kind)
        with support.s_server(tmp_path, port, own, support.configuration(tmp_path), *options):
            expect_served(port, own, kind)


def test_python(tmp_path: Path) -> None:
    """Python's ssl module with threads."""
    port, own = free_port(), identity(tmp_path, "rsa2048")
    with support.python_server(tmp_path, port, own, support.configuration(tmp_path)) as process:
        expect_served(port, own, "rsa2048")
        assert tls_servers.uses_provider(process.pid)


@pytest.mark.parametrize("group", ["P-256", "P-384", "P-521", "X25519"])
def test_tls_groups(tmp_path: Path, group: str) -> None:
    """Groups of both providers: libssl offers a group only by the provider that manages its keys."""
    port, own = free_port(), identity(tmp_path, "rsa2048")
    openssl = support.configuration(tmp_path)
    with support.s_server(tmp_path, port, own, openssl):
        for configuration in (None, openssl):
            options = ["-groups", group, "-CAfile", own.certificate, "-verify_return_error"]
            shown = support.output(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *options], configuration
            )
            assert "Server Temp Key: " + {"X25519": "X25519"}.get(group, "ECDH") in shown


CLIENT = """
import socket, ssl, sys
port, authority, certificate, key = int(sys.argv[1]), *sys.argv[2:5]
context = ssl.create_default_context(cafile=authority)
context.load_cert_chain(certificate, key)
with socket.create_connection(("127.0.0.1", port)) as sock:
    with context.wrap_socket(sock, server_hostname="localhost") as tls:
        tls.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        sys.exit(0 if b" 200 " in tls.recv(100) else 1)
"""


@pytest.mark.parametrize("kind", ["rsa2048", "rsa3072", "p384"])
@support.needs("nginx")
def test_mutual_authentication(tmp_path: Path, kind: str) -> None:
    """Clients sign with the provider, too: Python and curl. A client without a certificate is refused."""
    served = listens(tmp_path, ["rsa3072"])
    (port, own), *_ = served.items()
    client = identity(tmp_path, kind)
    openssl = support.configuration(tmp_path)
    verify = f"ssl_verify_client on; ssl_client_certificate {client.certificate};"
    with tls_servers.nginx(tmp_path, served, openssl, verify):
        expect_served(port, own, "rsa3072", client)
        support.output(
            [sys.executable, "-c", CLIENT, port, own.certificate, client.certificate, client.key], openssl
        )
        options = ["--cacert", own.certificate, "--cert", client.certificate, "--key", client.key]
        shown = support.output(["curl", "-sf", *options, f"https://localhost:{port}/"], openssl)
        assert shown == "served"
        context = support.client_context(own, ssl.TLSVersion.TLSv1_2, None)
        assert " 400 " in support.get(port, context)
