# SPDX-License-Identifier: Apache-2.0
"""Full TLS handshakes of nginx or HAProxy: a second, and processor time of the server for each.

The server computes by OpenSSL's default provider ("default"), by manymod in its own processes ("process"),
and by manymod-signd with references to keys ("daemon"). HAProxy's threads wait; "-async": handshakes pause.
The clients are `openssl s_time`, each of which makes one full handshake after the other. Processor time is
that of all threads of the server and of the daemon, to the nanosecond by the kernel's count (schedstat).

    python bench/tls/handshakes.py --build build/release --output report.json

On a machine whose processors the clients share with the server, handshakes a second say little; processor
time for each handshake does.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manymod.cli.provider import reference_pem
from manymod.cli.signd.connection import DaemonAddress
from manymod.cli.signd.frames import ask_metrics

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import tls_servers
from tls_servers import Identity

CONTENDERS = ("default", "process", "daemon")
SERVERS = ("nginx", "haproxy", "haproxy-async")
KEYS = {
    "rsa2048": ["-newkey", "rsa:2048"],
    "rsa3072": ["-newkey", "rsa:3072"],
    "rsa4096": ["-newkey", "rsa:4096"],
    "p256": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
}


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    server: str
    key: str
    contender: str
    workers: int  # processes of nginx, threads of HAProxy
    deadline_us: int  # for which the daemon may hold a request back


def make_identity(where: Path, kind: str) -> Identity:
    """Make a key and a certificate that it signs, by OpenSSL's command."""
    own = Identity(where / f"{kind}.key", where / f"{kind}.crt")
    files = ["-keyout", own.key, "-out", own.certificate]
    command = [
        tls_servers.program("openssl"),
        "req",
        "-x509",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-days",
        "2",
    ]
    subprocess.run(
        [*map(str, command), *KEYS[kind], *map(str, files)],
        env=tls_servers.environment(None),
        check=True,
        capture_output=True,
    )
    return own


@contextlib.contextmanager
def serving(build: Path, where: Path, setting: Setting, own: Identity) -> Iterator[tuple[int, list[int]]]:
    """Run the servers of a setting. Gives the port and the processes that compute."""
    module = build / "ossl-modules" / "manymod.so"
    port = tls_servers.free_port()
    with contextlib.ExitStack() as stack:
        openssl: Path | None = None
        processes = []
        if setting.contender != "default":
            socket = tls_servers.daemon_socket(where)
            openssl = tls_servers.configuration(where, module, socket=socket)
        if setting.contender == "daemon":
            reference = where / "reference.pem"
            reference.write_text(reference_pem(own.certificate.read_bytes()))
            daemon = tls_servers.daemon(
                build / "manymod-signd", where, {"held": own}, deadline_us=setting.deadline_us
            )
            processes.append(stack.enter_context(daemon).pid)
            own = Identity(reference, own.certificate)
        if setting.server == "nginx":
            nginx = tls_servers.nginx(where, {port: own}, openssl, workers=setting.workers)
            processes += workers_of(stack.enter_context(nginx).pid, setting.workers)
        else:
            asynchronous = setting.server.endswith("-async")
            haproxy = tls_servers.haproxy(where, {port: own}, openssl, asynchronous, setting.workers)
            processes.append(stack.enter_context(haproxy).pid)
        yield port, processes


def workers_of(server: int, count: int) -> list[int]:
    """Return the processes that a server has forked, once all are there."""
    end = time.monotonic() + tls_servers.PATIENCE
    while len(found := tls_servers.children(server)) < count and time.monotonic() < end:
        time.sleep(0.02)
    return found


def processor_time(processes: Sequence[int]) -> float:
    """Return the processor time that the threads of processes have used, in seconds."""
    stats = (path for process in processes for path in Path(f"/proc/{process}/task").glob("*/schedstat"))
    return sum(int(path.read_text().split()[0]) for path in stats) / 1e9


def computed(socket: Path) -> tuple[float, float]:
    """Return how many requests the daemon has computed, and in how many batches."""
    lines = ask_metrics(DaemonAddress(str(socket)), 5).splitlines()
    metrics = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    requests, batches = (float(metrics[f"manymod_signd_batch_size_{part}"]) for part in ("sum", "count"))
    return requests, batches


def load(port: int, clients: int, seconds: int) -> int:
    """Return how many full handshakes clients at a time have made within a time."""
    command = [tls_servers.program("openssl"), "s_time", "-connect", f"127.0.0.1:{port}", "-new"]
    started = [
        subprocess.Popen(
            [*command, "-time", str(seconds)],
            env=tls_servers.environment(None),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(clients)
    ]
    return sum(connections(client.communicate()[0]) for client in started)


def connections(shown: str) -> int:
    """Return the number of connections that s_time reports.

    >>> connections("42 connections in 0.11s; 381.82 connections/user sec, bytes read 0")
    42
    """
    for line in shown.splitlines():
        if line.partition(" ")[2].startswith("connections in"):
            return int(line.split()[0])
    raise RuntimeError(f"s_time failed:\n{shown}")


def measure(build: Path, setting: Setting, clients: int, seconds: int) -> dict[str, float]:
    """Measure a setting once."""
    with tempfile.TemporaryDirectory(prefix="manymod_tls_") as folder:
        where = Path(folder)
        where.chmod(0o755)
        own = make_identity(where, setting.key)
        socket = tls_servers.daemon_socket(where) if setting.contender == "daemon" else None
        with serving(build, where, setting, own) as (port, processes):
            load(port, 1, 1)  # what is made once for a key
            requests, batches = computed(socket) if socket else (0, 0)
            before = processor_time(processes)
            handshakes = load(port, clients, seconds)
            used = processor_time(processes) - before
            found = {"per_second": handshakes / seconds, "cpu_us": used / handshakes * 1e6}
            if socket:
                all_requests, all_batches = computed(socket)
                found["batch"] = (all_requests - requests) / (all_batches - batches)
    return found


def results(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure all settings in interleaved repetitions."""
    for key in arguments.keys:
        for workers in arguments.workers:
            settings = [
                Setting(arguments.server, key, contender, workers, arguments.deadline_us)
                for contender in arguments.contenders
            ]
            runs: dict[str, list[dict[str, float]]] = {setting.contender: [] for setting in settings}
            for _ in range(arguments.repetitions):
                for setting in settings:
                    clients = arguments.clients or 2 * workers
                    runs[setting.contender].append(
                        measure(arguments.build, setting, clients, arguments.seconds)
                    )
            found = {
                contender: {name: statistics.median(run[name] for run in each) for name in each[0]}
                for contender, each in runs.items()
            }
            yield {
                "server": arguments.server,
                "key": key,
                "workers": workers,
                "clients": clients,
                "rates": found,
            }


def shown(result: dict[str, Any]) -> str:
    """Return a result as a line of text."""
    parts = [f"{result['server']} {result['key']:8} {result['workers']:3} workers"]
    base = result["rates"].get("default")
    for contender, rates in result["rates"].items():
        gain = f" ({base['cpu_us'] / rates['cpu_us']:.2f}x)" if base and contender != "default" else ""
        together = f", batches of {rates['batch']:.1f}" if "batch" in rates else ""
        parts.append(f"{contender} {rates['per_second']:.0f}/s, {rates['cpu_us']:.0f} us{gain}{together}")
    return "; ".join(parts)


def machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": models[0].partition(":")[2].strip() if models else platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "versions": {
            "nginx": tls_output(["nginx", "-v"]),
            "haproxy": tls_output(["haproxy", "-v"]),
            "openssl": tls_output(["openssl", "version"]),
        },
    }


def tls_output(command: Sequence[str]) -> str:
    """Return the first line that a program prints, on either of its outputs; "" if it is not installed."""
    try:
        started = [tls_servers.program(command[0]), *command[1:]]
    except tls_servers.MissingProgramError:
        return ""
    finished = subprocess.run(started, capture_output=True, text=True, check=True)
    return (finished.stdout + finished.stderr).partition("\n")[0]


def main() -> None:
    """Measure, print a line for each result, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="folder of the build")
    parser.add_argument(
        "--keys", nargs="+", choices=sorted(KEYS), default=["rsa2048", "rsa3072", "rsa4096", "p256", "p384"]
    )
    parser.add_argument("--server", choices=SERVERS, default="nginx")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--workers", nargs="+", type=int, default=[1, max(2, os.cpu_count() or 2)])
    parser.add_argument("--clients", type=int, default=0, help="at a time; 0: two for each worker")
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--deadline-us", type=int, default=4000, help="for which the daemon may hold a request"
    )
    parser.add_argument("--output", type=Path, help="report to write, JSON")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    report = {
        **machine(),
        "method": f"medians of {arguments.repetitions} interleaved repetitions of {arguments.seconds} s; new "
        "connections by openssl s_time; processor time of the server and of the daemon from /proc",
        "results": [],
    }
    for result in results(arguments):
        print(shown(result), flush=True)
        report["results"].append(result)
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
