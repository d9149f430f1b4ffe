# SPDX-License-Identifier: Apache-2.0
"""TLS servers with the OpenSSL provider and manymod-signd, on loopback: for tests, measurements and the demo.

All files of a server are in a folder of the caller's, and it listens on a port for each key.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 30.0  # seconds that a server may take to start, on a busy machine


class MissingProgramError(Exception):
    """A program is not installed."""


def program(name: str) -> str:
    """Return the path of a program, which may be one of the administrator's.

    Raises:
        MissingProgramError: it is not installed.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        raise MissingProgramError(f"{name} is not installed")
    return found


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


# ---- the provider -----------------------------------------------------------------------------------------


def configuration(where: Path, module: Path, **settings: object) -> Path:
    """A configuration file of OpenSSL with the provider, whose section has these settings."""
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    path = where / "openssl.cnf"
    path.write_text(
        "openssl_conf = start\n"
        "[start]\nproviders = providers\nalg_section = algorithms\n"
        "[algorithms]\ndefault_properties = ?provider=manymod\n"
        "[providers]\ndefault = theirs\nmanymod = ours\n"
        "[theirs]\nactivate = 1\n"
        f"[ours]\nmodule = {module}\nactivate = 1\n{lines}",
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
    command: Sequence[object], ports: Sequence[int], where: Path, openssl: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A server while the block runs; it has to end when it is told to."""
    log = where / f"{Path(str(command[0])).name}.log"
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
    where: Path,
    listens: Mapping[int, Identity],
    openssl: Path | None,
    asynchronous: bool,
    threads: int = 2,
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """HAProxy with a port for each key."""
    path = where / "haproxy.cfg"
    binds = "".join(
        f"  bind 127.0.0.1:{port} ssl crt {own.both} ciphers ALL:@SECLEVEL=1\n"
        for port, own in listens.items()
    )
    path.write_text(
        f"global\n  nbthread {threads}\n  tune.ssl.cachesize 0\n"
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


@contextlib.contextmanager
def daemon(
    signd: Path, where: Path, keys: Mapping[str, Identity], tcp: str = "", **settings: object
) -> Iterator[subprocess.Popen[bytes]]:
    """manymod-signd with keys, and settings of its own section; its socket is `daemon_socket`.

    `tcp` is a section for clients of other hosts. It starts within the block's first request.
    """
    access = "users = *\npeers = *\n" if tcp else "users = *\n"
    sections = tcp + "".join(f"[key.{name}]\nfile = {own.key}\n{access}" for name, own in keys.items())
    path = where / "signd.conf"
    own_section = {"socket": daemon_socket(where), "lock_memory": "no", "device": "cpu", **settings}
    path.write_text(
        "\n".join(["[daemon]", *(f"{name} = {value}" for name, value in own_section.items()), sections])
    )
    for own in keys.values():
        own.key.chmod(0o600)
    with running([signd, path], [], where, None) as process:
        end = time.monotonic() + PATIENCE
        while not daemon_socket(where).is_socket():
            assert process.poll() is None, (where / "manymod-signd.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process


def daemon_socket(where: Path) -> Path:
    """The daemon's socket: paths of sockets are short, and those of tests are not."""
    return Path("/tmp") / f"manymod_{os.getpid()}_{zlib.crc32(str(where).encode()):08x}.sock"
