# SPDX-License-Identifier: Apache-2.0
"""The OpenSSL provider, servers with it, and clients without it.

``make test`` builds the provider and manymod-signd in ``build/release``; the environment variable
MANYMOD_PROVIDER_FOLDER names the folder of another build, and a test fails if they are not there.

Servers run on loopback and listen on a free port for each key; their clients are of this process, whose OpenSSL
has no provider, unless they say otherwise.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import ipaddress
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

ROOT = Path(__file__).resolve().parents[2]
FOLDER_VARIABLE = "MANYMOD_PROVIDER_FOLDER"
PATIENCE = 30.0  # seconds that a server may take to start, on a busy machine


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


def program(name: str) -> str:
    """Path of a server's program; the test is skipped where its package is missing."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


# ---- keys -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Identity:
    """A key and its certificate, which is its own authority, in files."""

    key: Path
    certificate: Path

    @property
    def both(self) -> Path:
        """A file of both, as HAProxy wants it."""
        path = self.key.with_suffix(f".{self.key.stem}.both")
        path.write_bytes(self.certificate.read_bytes() + self.key.read_bytes())
        return path


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
    """Files of a key ("rsa2048", "rsa3072", "p256", "p384", "ed25519"), the same for each test of a process."""
    made = Identity(where / f"{kind}.key", where / f"{kind}.crt")
    key, certificate = _pem(kind)
    made.key.write_bytes(key)
    made.certificate.write_bytes(certificate)
    return made


# ---- the provider -----------------------------------------------------------------------------------------


def configuration(where: Path, **settings: object) -> Path:
    """A configuration file of OpenSSL with the provider, whose section has these settings."""
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    path = where / "openssl.cnf"
    path.write_text(
        "openssl_conf = start\n"
        "[start]\nproviders = providers\nalg_section = algorithms\n"
        "[algorithms]\ndefault_properties = ?provider=manymod\n"
        "[providers]\ndefault = theirs\nmanymod = ours\n"
        "[theirs]\nactivate = 1\n"
        f"[ours]\nmodule = {folder() / 'ossl-modules' / 'manymod.so'}\nactivate = 1\n{lines}",
        encoding="utf-8",
    )
    return path


def environment(openssl: Path | None) -> dict[str, str]:
    """This process's environment, for a program with this configuration of OpenSSL or without one."""
    return {**os.environ, "OPENSSL_CONF": str(openssl or os.devnull)}


def uses_provider(process: int) -> bool:
    """Whether a process, or all that it has started, have loaded the provider."""
    tasks = [process, *children(process)]
    return all("ossl-modules/manymod.so" in Path(f"/proc/{task}/maps").read_text() for task in tasks)


def children(process: int) -> list[int]:
    """Ids of the processes that a process has started."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in found.split()]


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


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port


def wait_for_ports(process: subprocess.Popen[bytes], ports: Sequence[int], log: Path) -> None:
    """Wait until a server listens on all ports."""
    end = time.monotonic() + PATIENCE
    for port in ports:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < end, log.read_text(errors="replace")
            time.sleep(0.02)


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], ports: Sequence[int], where: Path, openssl: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A server while the block runs; it has to end when it is told to."""
    log = where / f"{Path(command[0]).name}.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(part) for part in command],
            env=environment(openssl),
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            wait_for_ports(process, ports, log)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def nginx(
    where: Path, listens: Mapping[int, Identity], openssl: Path | None, extra: str = "", workers: int = 1
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """nginx with a port for each key."""
    servers = "".join(
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {own.certificate}; "
        f"ssl_certificate_key {own.key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ALL:@SECLEVEL=1; "
        f"ssl_ecdh_curve X25519:P-256:P-384; ssl_session_tickets off; {extra} "
        "location / { return 200 'served'; } }\n"
        for port, own in listens.items()
    )
    folders = "".join(
        f"{name}_temp_path {where}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = where / "nginx.conf"
    path.write_text(
        f"daemon off; pid {where}/nginx.pid; worker_processes {workers}; error_log stderr notice;\n"
        f"events {{ worker_connections 256; }}\nhttp {{ access_log off; {folders}\n{servers}}}\n"
    )
    command = [program("nginx"), "-p", where, "-c", path, "-e", "stderr"]
    return running(command, list(listens), where, openssl)


def haproxy(
    where: Path, listens: Mapping[int, Identity], openssl: Path | None, asynchronous: bool
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """HAProxy with a port for each key."""
    path = where / "haproxy.cfg"
    binds = "".join(
        f"  bind 127.0.0.1:{port} ssl crt {own.both} ciphers ALL:@SECLEVEL=1\n"
        for port, own in listens.items()
    )
    path.write_text(
        "global\n  nbthread 2\n  tune.ssl.cachesize 0\n"
        + ("  ssl-mode-async\n" if asynchronous else "")
        + "defaults\n  mode http\n  timeout client 10s\n  timeout server 10s\n  timeout connect 10s\n"
        f"frontend served\n{binds}"
        "  http-request return status 200 content-type text/plain string served\n"
    )
    return running([program("haproxy"), "-db", "-f", path], list(listens), where, openssl)


def apache(
    where: Path, listens: Mapping[int, Identity], openssl: Path | None
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Apache with a port for each key."""
    modules = next(
        (
            Path(path)
            for path in ("/usr/lib/apache2/modules", "/usr/lib64/httpd/modules")
            if Path(path).is_dir()
        ),
        Path("modules"),
    )
    names = ("mpm_event", "authz_core", "socache_shmcb", "ssl", "unixd")
    loaded = "".join(
        f"LoadModule {name}_module {modules}/mod_{name}.so\n"
        for name in names
        if (modules / f"mod_{name}.so").exists()
    )
    virtual = "".join(
        f"Listen 127.0.0.1:{port}\n<VirtualHost 127.0.0.1:{port}>\nSSLEngine on\n"
        f"SSLCertificateFile {own.certificate}\nSSLCertificateKeyFile {own.key}\n"
        "SSLCipherSuite ALL:@SECLEVEL=1\nSSLSessionTickets off\n</VirtualHost>\n"
        for port, own in listens.items()
    )
    path = where / "httpd.conf"
    path.write_text(
        f"ServerRoot {where}\nServerName localhost\nPidFile {where}/httpd.pid\nErrorLog {where}/httpd.error\n"
        f"{loaded}User www-data\nGroup www-data\nDocumentRoot {where}\nSSLSessionCache none\n"
        f"Mutex file:{where} default\n{virtual}"
    )
    command = [program("apache2"), "-DFOREGROUND", "-f", path]
    return running(command, list(listens), where, openssl)


def s_server(
    where: Path, port: int, own: Identity, openssl: Path | None, *options: str
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """OpenSSL's test server."""
    command = [program("openssl"), "s_server", "-accept", f"127.0.0.1:{port}", "-cert", own.certificate]
    given = ["-key", own.key, "-www", "-cipher", "ALL:@SECLEVEL=1", "-no_ticket", *options]
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


@contextlib.contextmanager
def daemon(where: Path, keys: Mapping[str, Identity]) -> Iterator[subprocess.Popen[bytes]]:
    """manymod-signd with keys; its socket is `daemon_socket`. It starts within the block's first request."""
    sections = "".join(f"[key.{name}]\nfile = {own.key}\nusers = *\n" for name, own in keys.items())
    path = where / "signd.conf"
    path.write_text(f"[daemon]\nsocket = {daemon_socket(where)}\nlock_memory = no\ndevice = cpu\n{sections}")
    for own in keys.values():
        own.key.chmod(0o600)
    with running([folder() / "manymod-signd", path], [], where, None) as process:
        end = time.monotonic() + PATIENCE
        while not daemon_socket(where).is_socket():
            assert process.poll() is None, (where / "manymod-signd.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process


def daemon_socket(where: Path) -> Path:
    """The daemon's socket: paths of sockets are short, and those of tests are not."""
    return Path("/tmp") / f"manymod_{os.getpid()}_{zlib.crc32(str(where).encode()):08x}.sock"


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
        assert answer.startswith("HTTP/1.") and answer.split()[1] in {"200", "403"}, answer
