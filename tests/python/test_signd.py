# SPDX-License-Identifier: Apache-2.0
"""`manymod signd` against a socket that answers as the daemon does, or does not.

The daemon's own tests are in tests/daemon.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.python.cli_support import run

from manymod.cli.signd import frames
from manymod.cli.signd.connection import DaemonError, tcp_endpoint

WELCOME = struct.pack("<HHIIIII", 1, 0, 256, 1024, 512, 0, 0)


def frame(kind: int, body: bytes, last: int = 1) -> bytes:
    """Return a frame of the protocol."""
    return struct.pack("<IBBH", len(body), kind, last, 0) + body


def key_entry(name: bytes, operations: int) -> bytes:
    """Return a key of a list."""
    return bytes(range(32)) + struct.pack("<IHH", operations, len(name), 3) + name + b"DER"


@contextmanager
def daemon(path: Path, *answers: bytes) -> Iterator[None]:
    """Answer each frame of one client by the next of some byte strings, then close."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    with serving(listener, answers):
        yield


@contextmanager
def serving(
    listener: socket.socket, answers: Sequence[bytes], tls: ssl.SSLContext | None = None
) -> Iterator[None]:
    """Answer the first client of a listener. Whether a client of TLS stays is its own affair."""

    def exactly(connection: socket.socket, size: int) -> bytes:
        taken = b""
        while len(taken) < size and (part := connection.recv(size - len(taken))):
            taken += part
        return taken

    def serve() -> None:
        connection, _ = listener.accept()
        with suppress(OSError, struct.error), connection:
            if tls is not None:
                connection = tls.wrap_socket(connection, server_side=True)
            with connection:
                for answer in answers:
                    exactly(connection, 4 + struct.unpack("<I", exactly(connection, 4))[0])
                    connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()


@dataclass(frozen=True)
class TlsFiles:
    """A certificate that is its own issuer, for 127.0.0.1, and its key."""

    certificate: Path
    key: Path

    def options(self) -> list[str | Path]:
        """Both sides have it."""
        return ["--ca", self.certificate, "--certificate", self.certificate, "--key", self.key]


def tls_files(where: Path, name: str) -> TlsFiles:
    """Make a certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - day, now + day)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    files = TlsFiles(where / f"{name}.pem", where / f"{name}.key")
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    files.certificate.write_bytes(certificate.public_bytes(encoding))
    files.key.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    return files


@contextmanager
def remote_daemon(files: TlsFiles, *answers: bytes, protocol: str = "manymod-signd/1") -> Iterator[str]:
    """The same as `daemon` by TLS. Yields its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    context.load_verify_locations(files.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols([protocol])
    listener = socket.create_server(("127.0.0.1", 0))
    with serving(listener, answers, context):
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def test_status_prints_the_metrics(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with daemon(path, frame(2, WELCOME), frame(6, b"one 1\n", last=0) + frame(6, b"two 2\n")):
        assert run("signd", "status", "--socket", path).out == "one 1\ntwo 2\n"


def test_keys_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    answers = frame(4, key_entry(b"site", 0b11), last=0) + frame(4, key_entry(b"other", 1 << 7))
    with daemon(path, frame(2, WELCOME), answers):
        lines = run("signd", "keys", "--socket", path).out.splitlines()
    assert lines == [
        f"{bytes(range(32)).hex()}  site  sign_pkcs1 sign_pss",
        f"{bytes(range(32)).hex()}  other  exchange",
    ]
    path.unlink()
    with daemon(path, frame(2, WELCOME), answers):
        rows = json.loads(run("signd", "keys", "--json", "--socket", path).out)
    assert [row["public_key"] for row in rows] == [b"DER".hex()] * 2


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([frame(7, b"there are too many connections")], "too many connections"),
        ([frame(2, WELCOME), frame(7, b"this user may not")], "may not"),
        ([frame(2, WELCOME), b""], "closed the connection"),
        ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "not an answer"),
        ([struct.pack("<IBBH", 70_000, 2, 1, 0)], "not an answer"),
    ],
)
def test_failures_are_said(tmp_path: Path, answers: list[bytes], said: str) -> None:
    path = tmp_path / "socket"
    with daemon(path, *answers):
        finished = run("signd", "status", "--socket", path)
    assert finished.code == 1
    assert said in finished.err


def test_a_daemon_of_another_host(tmp_path: Path) -> None:
    files = tls_files(tmp_path, "both")
    with remote_daemon(files, frame(2, WELCOME), frame(6, b"one 1\n")) as address:
        assert run("signd", "status", "--socket", address, *files.options()).out == "one 1\n"
    with remote_daemon(files, frame(2, WELCOME), frame(4, key_entry(b"site", 1))) as address:
        assert "site" in run("signd", "keys", "--socket", address, *files.options()).out


def test_both_sides_of_another_host_are_looked_at(tmp_path: Path) -> None:
    files, other = tls_files(tmp_path, "both"), tls_files(tmp_path, "other")
    welcome, metrics = frame(2, WELCOME), frame(6, b"one 1\n")
    strange: list[str | Path] = [
        "--ca",
        files.certificate,
        "--certificate",
        other.certificate,
        "--key",
        other.key,
    ]
    untrusting: list[str | Path] = ["--ca", other.certificate, *files.options()[2:]]
    # A server that does not wait for its client's end may take the alert with its reason back.
    for options, said in [(strange, "tcp://"), (untrusting, "certificate verify failed")]:
        with remote_daemon(files, welcome, metrics) as address:
            finished = run("signd", "status", "--socket", address, *options)
        assert finished.code == 1
        assert said in finished.err
    with remote_daemon(files, welcome, metrics, protocol="http/1.1") as address:
        finished = run("signd", "status", "--socket", address, *files.options())
    assert finished.code == 1
    assert "ALPN" in finished.err


def test_addresses_of_other_hosts(tmp_path: Path) -> None:
    assert tcp_endpoint("tcp://[2001:db8::1]:7390") == ("2001:db8::1", 7390)
    assert tcp_endpoint("tcp://signd.example.org:7390") == ("signd.example.org", 7390)
    assert tcp_endpoint("tcp") is None
    for wrong in ["tcp://", "tcp://host", "tcp://:1", "tcp://host:70000", "tcp://::1:5", "tcp://a/b:1"]:
        with pytest.raises(DaemonError):
            tcp_endpoint(wrong)
    files = tls_files(tmp_path, "both")
    assert "needs --ca" in run("signd", "keys", "--socket", "tcp://127.0.0.1:1").err
    files.key.write_text("not a key")
    assert "both.key" in run("signd", "keys", "--socket", "tcp://127.0.0.1:1", *files.options()).err


def test_absent_daemon(tmp_path: Path) -> None:
    finished = run("signd", "keys", "--socket", tmp_path / "none")
    assert finished.code == 1
    assert "No such file" in finished.err


@pytest.mark.parametrize("size", range(1, len(key_entry(b"site", 1))))
def test_cut_lists_are_refused(size: int) -> None:
    with pytest.raises(DaemonError):
        frames.decode_keys(key_entry(b"site", 1)[:size])


def test_the_documentation_has_all_settings_and_operations() -> None:
    root = Path(__file__).resolve().parents[2]
    source = (root / "daemon" / "server" / "config.cpp").read_text(encoding="utf-8")
    page = (root / "docs" / "signd.md").read_text(encoding="utf-8")
    settings = re.findall(r'\{"(\w+)", (?:text|number|real|duration|flag|list|operations)\(', source)
    assert len(settings) > 20
    assert [name for name in (*settings, *frames.OPERATIONS) if f"`{name}`" not in page] == []
