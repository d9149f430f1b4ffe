# SPDX-License-Identifier: Apache-2.0
"""TLS servers whose keys manymod-signd holds."""

from __future__ import annotations

import contextlib
import dataclasses
import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.python import provider_support as support
from tests.python.cli_support import run
from tests.python.provider_support import expect_served, identity

import tls_servers
from manymod.cli.provider import reference_pem
from tls_servers import Identity, free_port

KINDS = ["rsa2048", "rsa3072", "p256", "p384", "ed25519"]


@pytest.fixture(autouse=True)
def _needed() -> None:
    support.needed()


def held_keys(where: Path, kinds: list[str]) -> dict[str, Identity]:
    """Keys in a folder that only the daemon reads."""
    folder = where / "held"
    folder.mkdir(mode=0o700)
    return {kind: identity(folder, kind) for kind in kinds}


def referring(where: Path, held: Identity) -> Identity:
    """The certificate of a key of the daemon, with a reference in the place of the key."""
    reference = where / f"{held.key.stem}.reference"
    reference.write_text(reference_pem(held.certificate.read_bytes()))
    return dataclasses.replace(held, key=reference)


def settings(where: Path, **more: object) -> Path:
    """The provider's configuration, with the daemon's socket."""
    return support.configuration(where, socket=tls_servers.daemon_socket(where), **more)


@support.needs("nginx")
def test_nginx_with_references(tmp_path: Path) -> None:
    """Every kind of key and handshake, without a private key in nginx."""
    held = held_keys(tmp_path, KINDS)
    served = {free_port(): referring(tmp_path, own) for own in held.values()}
    with support.daemon(tmp_path, held), tls_servers.nginx(tmp_path, served, settings(tmp_path), workers=2):
        for (port, own), kind in zip(served.items(), KINDS, strict=True):
            expect_served(port, own, kind)


@support.needs("nginx")
def test_nginx_with_references_to_another_host(tmp_path: Path) -> None:
    """The same by TLS. The provider's own TLS does not meet itself: its library context is its own."""
    kinds = ["rsa2048", "p384"]
    held = held_keys(tmp_path, kinds)
    served = {free_port(): referring(tmp_path, own) for own in held.values()}
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # nginx's workers, another user, connect
        own = identity(Path(name), "p256")  # both sides', and its own issuer
        own.key.chmod(0o644)
        files = {"ca": own.certificate, "certificate": own.certificate, "key": own.key}
        listed = "".join(f"{setting} = {file}\n" for setting, file in files.items())
        remote = support.configuration(tmp_path, socket=f"tcp://127.0.0.1:{port}", **files)
        with (
            support.daemon(tmp_path, held, f"[tcp]\nlisten = 127.0.0.1:{port}\n{listed}"),
            tls_servers.nginx(tmp_path, served, remote),
        ):
            for (at, referred), kind in zip(served.items(), kinds, strict=True):
                expect_served(at, referred, kind)


def test_the_command_asks_daemons_of_both_kinds(tmp_path: Path) -> None:
    """`manymod signd keys` by the Unix socket and by TLS."""
    held = held_keys(tmp_path, ["p384"])
    port = free_port()
    own = identity(tmp_path, "p256")  # both sides', and its own issuer
    files = f"certificate = {own.certificate}\nkey = {own.key}\nca = {own.certificate}\n"
    remote = ["--ca", own.certificate, "--certificate", own.certificate, "--key", own.key]
    with support.daemon(tmp_path, held, f"[tcp]\nlisten = 127.0.0.1:{port}\n{files}"):
        # Once it answers here, it listens there.
        local = run("signd", "keys", "--socket", tls_servers.daemon_socket(tmp_path))
        assert " p384 " in local.out
        assert run("signd", "keys", "--socket", f"tcp://127.0.0.1:{port}", *remote) == local
        refused = run("signd", "status", "--socket", f"tcp://127.0.0.1:{port}", *remote)
        assert "may not read the metrics" in refused.err


@pytest.mark.parametrize("asynchronous", [False, True])
@support.needs("haproxy")
def test_haproxy_with_references(tmp_path: Path, asynchronous: bool) -> None:
    """HAProxy's threads wait, or its jobs pause."""
    kinds = ["rsa2048", "p256"]
    held = held_keys(tmp_path, kinds)
    served = {free_port(): referring(tmp_path, own) for own in held.values()}
    with (
        support.daemon(tmp_path, held),
        tls_servers.haproxy(tmp_path, served, settings(tmp_path), asynchronous),
    ):
        for (port, own), kind in zip(served.items(), kinds, strict=True):
            expect_served(port, own, kind)


def test_python_with_a_reference(tmp_path: Path) -> None:
    """Python's ssl module reads references by libssl's file functions."""
    held = held_keys(tmp_path, ["rsa2048"])
    own = referring(tmp_path, held["rsa2048"])
    port = free_port()
    with support.daemon(tmp_path, held), support.python_server(tmp_path, port, own, settings(tmp_path)):
        expect_served(port, own, "rsa2048")


def test_store_with_a_reference(tmp_path: Path) -> None:
    """OSSL_STORE reads references; their private numbers are not there to be written."""
    held = held_keys(tmp_path, ["p256"])
    own = referring(tmp_path, held["p256"])
    shown = support.output(["openssl", "storeutl", "-keys", own.key], settings(tmp_path))
    assert "Total found: 1" in shown
    assert "PRIVATE KEY-----" not in shown
    public = support.output(["openssl", "pkey", "-in", own.key, "-pubout"], settings(tmp_path))
    assert public == support.output(["openssl", "pkey", "-in", held["p256"].key, "-pubout"], None)


@support.needs("nginx")
def test_whole_keys_in_the_daemons_mode(tmp_path: Path) -> None:
    """Keys in files that the daemon has, too: it computes. Without it the server does."""
    held = held_keys(tmp_path, ["rsa3072"])
    own = held["rsa3072"]
    port = free_port()
    openssl = settings(tmp_path, mode="daemon", patience_ms=50)
    with tls_servers.nginx(tmp_path, {port: own}, openssl):
        with support.daemon(tmp_path, held):
            expect_served(port, own, "rsa3072")
        expect_served(port, own, "rsa3072")


def without_pause(action: Callable[[], object], end: threading.Event, failures: list[BaseException]) -> None:
    """Repeat an action until the end; failures are noted."""
    while not end.is_set():
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - the test reports it
            failures.append(error)
            return


@support.needs("nginx")
def test_the_daemon_restarts_under_load(tmp_path: Path) -> None:
    """Handshakes wait for the new daemon, and none fails."""
    held = held_keys(tmp_path, ["rsa2048"])
    own = referring(tmp_path, held["rsa2048"])
    port = free_port()
    context = support.client_context(own, ssl.TLSVersion.TLSv1_3, None)
    served = 0

    def handshake() -> None:
        nonlocal served
        assert " 200 " in support.get(port, context)
        served += 1

    with tls_servers.nginx(tmp_path, {port: own}, settings(tmp_path, patience_ms=20_000), workers=2):
        end, failures = threading.Event(), list[BaseException]()
        threads = [threading.Thread(target=without_pause, args=(handshake, end, failures)) for _ in range(3)]
        for generation in range(3):
            with support.daemon(tmp_path, held):
                if generation == 0:
                    for thread in threads:
                        thread.start()
                before, limit = served, time.monotonic() + tls_servers.PATIENCE
                while served < before + 10 and not failures:
                    assert time.monotonic() < limit
                    time.sleep(0.01)
                if generation == 2:
                    end.set()
                    for thread in threads:
                        thread.join(tls_servers.PATIENCE)
        assert failures == []


@support.needs("nginx")
def test_references_without_a_daemon(tmp_path: Path) -> None:
    """Handshakes fail, and the server lives; they succeed once the daemon is there."""
    held = held_keys(tmp_path, ["rsa2048"])
    own = referring(tmp_path, held["rsa2048"])
    port = free_port()
    with tls_servers.nginx(tmp_path, {port: own}, settings(tmp_path, patience_ms=10)):
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            support.get(port, support.client_context(own, ssl.TLSVersion.TLSv1_3, None))
        with support.daemon(tmp_path, held):
            end = time.monotonic() + tls_servers.PATIENCE
            while time.monotonic() < end:  # the provider does not look for a daemon at every request
                with contextlib.suppress(ssl.SSLError, ConnectionResetError):
                    return expect_served(port, own, "rsa2048")
        pytest.fail("nothing is served")
