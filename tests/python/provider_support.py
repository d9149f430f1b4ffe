# SPDX-License-Identifier: Apache-2.0
"""The OpenSSL provider, servers with it, and clients without it.

``make test`` builds the provider and manymod-signd in ``build/release``; the environment variable
MANYMOD_PROVIDER_FOLDER names the folder of another build, and a test fails if they are not there.

Clients are of this process, whose OpenSSL has no provider, unless they say otherwise.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import ipaddress
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

import tls_servers
from tls_servers import PATIENCE, Identity, environment, program, running

ROOT = Path(__file__).resolve().parents[2]
FOLDER_VARIABLE = "MANYMOD_PROVIDER_FOLDER"


def folder() -> Path:
    """Where the provider and the daemon are built."""
    return Path(os.environ.get(FOLDER_VARIABLE) or ROOT / "build" / "release")


def needed() -> None:
    """Skip the test where the provider is not built; one that FOLDER_VARIABLE names has to be there."""
    if (folder() / "ossl-modules" / "manymod.so").exists():
        return
    if os.environ.get(FOLDER_VARIABLE):
        pytest.fail(f"no provider in {folder()}, where {FOLDER_VARIABLE} says it is")
    pytest.skip(f"no provider in {folder()}: make test-python builds it, or set {FOLDER_VARIABLE}")


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test where a program's package is missing."""
    try:
        tls_servers.program(name)
    except tls_servers.MissingProgramError as missing:
        return pytest.mark.skipif(True, reason=str(missing))
    return pytest.mark.skipif(False, reason="")


def configuration(where: Path, **settings: object) -> Path:
    """A configuration file of OpenSSL with the provider, whose section has these settings.

    manymod computes with all RSA keys, also where it would leave single requests to OpenSSL.
    """
    chosen = {"rsa_alone_bits": 1024, **settings}
    return tls_servers.configuration(where, folder() / "ossl-modules" / "manymod.so", **chosen)


def daemon(
    where: Path, keys: Mapping[str, Identity], tcp: str = ""
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """manymod-signd with keys."""
    return tls_servers.daemon(folder() / "manymod-signd", where, keys, tcp)


# ---- keys -------------------------------------------------------------------------------------------------


@functools.cache
def _pem(kind: str) -> tuple[bytes, bytes]:
    private: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
    if kind.startswith("rsa"):
        stored = ROOT / "tests" / "cpp" / "provider" / "keys" / f"rsa_{kind[3:]}.pem"
        loaded = serialization.load_pem_private_key(stored.read_bytes(), None)
        assert isinstance(loaded, rsa.RSAPrivateKey)
        private = loaded
    elif kind == "ed25519":
        private = ed25519.Ed25519PrivateKey.generate()
    else:
        private = ec.generate_private_key({"p256": ec.SECP256R1(), "p384": ec.SECP384R1()}[kind])
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"localhost {kind}")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(names, critical=False)
        .sign(private, None if kind == "ed25519" else hashes.SHA256())
    )
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        certificate.public_bytes(serialization.Encoding.PEM),
    )


def identity(where: Path, kind: str) -> Identity:
    """Files of a key: "rsa2048", "rsa3072", "p256", "p384", "ed25519". A process has one key of each kind."""
    made = Identity(where / f"{kind}.key", where / f"{kind}.crt")
    key, certificate = _pem(kind)
    made.key.write_bytes(key)
    made.certificate.write_bytes(certificate)
    return made


def output(command: Sequence[object], openssl: Path | None) -> str:
    """What a program that succeeds prints."""
    finished = subprocess.run(
        [program(str(command[0])), *map(str, command[1:])],
        env=environment(openssl),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


# ---- servers ----------------------------------------------------------------------------------------------


def s_server(
    where: Path, port: int, own: Identity, openssl: Path | None, *options: str
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """OpenSSL's test server."""
    command: list[object] = [
        program("openssl"),
        "s_server",
        "-accept",
        f"127.0.0.1:{port}",
        "-cert",
        own.certificate,
    ]
    given: list[object] = ["-key", own.key, "-www", "-cipher", "ALL:@SECLEVEL=1", "-no_ticket", *options]
    return running([*command, *given], [port], where, openssl)


PYTHON_SERVER = """
import http.server, ssl, sys, threading
port, certificate, key = int(sys.argv[1]), *sys.argv[2:4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_ciphers("ALL:@SECLEVEL=1")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served")
    def log_message(self, *arguments):
        pass
class Server(http.server.ThreadingHTTPServer):
    def finish_request(self, request, address):
        with context.wrap_socket(request, server_side=True) as tls:
            super().finish_request(tls, address)
    def handle_error(self, request, address):
        pass
Server(("127.0.0.1", port), Handler).serve_forever()
"""


def python_server(
    where: Path, port: int, own: Identity, openssl: Path | None
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Python's ssl module."""
    command = [sys.executable, "-c", PYTHON_SERVER, str(port), own.certificate, own.key]
    return running(command, [port], where, openssl)


# ---- clients ----------------------------------------------------------------------------------------------

#: The kinds of handshakes with RSA keys, and with others: TLS version and cipher suites of TLS 1.2.
RSA_HANDSHAKES = [
    (ssl.TLSVersion.TLSv1_3, None),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-RSA-AES128-GCM-SHA256"),
    (ssl.TLSVersion.TLSv1_2, "AES128-GCM-SHA256"),
]
CURVE_HANDSHAKES = [
    (ssl.TLSVersion.TLSv1_3, None),
    (ssl.TLSVersion.TLSv1_2, "ECDHE-ECDSA-AES128-GCM-SHA256"),
]


def client_context(
    server: Identity, version: ssl.TLSVersion, ciphers: str | None, own: Identity | None = None
) -> ssl.SSLContext:
    """A client that trusts a server's key alone."""
    context = ssl.create_default_context(cafile=str(server.certificate))
    context.minimum_version = context.maximum_version = version
    if ciphers is not None:
        context.set_ciphers(f"{ciphers}:@SECLEVEL=1")
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context


def get(port: int, context: ssl.SSLContext) -> str:
    """What a server answers over a new connection: a handshake without resumption."""
    with (
        socket.create_connection(("127.0.0.1", port), PATIENCE) as sock,
        context.wrap_socket(sock, server_hostname="localhost") as tls,
    ):
        tls.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        answer = b""
        with contextlib.suppress(ssl.SSLEOFError, ConnectionResetError):
            while part := tls.recv(65536):
                answer += part
    return answer.decode(errors="replace")


def handshakes(kind: str) -> list[tuple[ssl.TLSVersion, str | None]]:
    """The handshakes that a key can make."""
    return RSA_HANDSHAKES if kind.startswith("rsa") else CURVE_HANDSHAKES


def expect_served(port: int, server: Identity, kind: str, own: Identity | None = None) -> None:
    """Every kind of handshake with a key."""
    for version, ciphers in handshakes(kind):
        answer = get(port, client_context(server, version, ciphers, own))
        # Apache's workers may not read the test's folder, which they say over TLS.
        assert answer.split()[1] in {"200", "403"}, answer
