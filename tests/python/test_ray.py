# SPDX-License-Identifier: Apache-2.0
"""Jobs over datasets of Ray Data and over Parquet files in a cluster, which is one process tree here.

Pieces of tables and their outputs, which need no cluster: test_ray_pieces.py.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.python.cli_support import COMMAND, run
from tests.python.ray_support import FailingJob, Killer, RingOf
from tests.python.ray_table_support import POWERS, power_table
from tests.python.rsa_support import peer_key, private_key

from manymod import ray as bulk
from manymod import rsa, tables

# One Ray for all of them: pytest-xdist gives a group to one process.
pytestmark = [
    pytest.mark.xdist_group("ray"),
    *(  # what Ray does within itself
        pytest.mark.filterwarnings(f"ignore::{kind}")
        for kind in ("DeprecationWarning", "FutureWarning", "ResourceWarning")
    ),
]

#: How often Ray looks for a cluster.
TRIES = "RAY_gcs_server_port_wait_time_s"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    settings = {"object_store_memory": 80 << 20, "include_dashboard": False, "log_to_driver": False}
    ray.init(address="local", num_cpus=2, logging_level="error", **settings)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def test_killed_actors_lose_no_row(cluster: None, tmp_path: Path) -> None:
    """An actor dies within a block: all rows are answered, each of them once."""
    table, results = power_table(120)
    blocks = ray.data.from_arrow([table.slice(start, 30) for start in range(0, 120, 30)])
    job = FailingJob(POWERS, Killer(tmp_path, once=frozenset({47})))
    answers = bulk.map_dataset(
        blocks, job, workers=bulk.Workers(count=1, retries=1), limits=tables.BatchLimits(rows=8)
    )
    rows = sorted(answers.take_all(), key=lambda row: int(row["id"]))
    assert [row["id"] for row in rows] == list(range(120))
    assert (tmp_path / "died-47").exists()
    for row, result in zip(rows, results, strict=True):
        assert (row["result"], row["status"]) == (result, "zero_modulus" if result is None else "ok")


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of two Parquet files with signatures, some of them wrong, and the file of the key."""
    key = private_key()
    pem = peer_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pem").write_bytes(pem)
    messages = [f"message {row}".encode() for row in range(60)]
    signatures = rsa.KeyRing([key]).sign(messages, None, "pkcs1v15", "sha256")
    messages[::7] = [b"another"] * len(messages[::7])
    folder = tmp_path / "in"
    folder.mkdir()
    for name, start in (("a", 0), ("b", 40)):
        part = slice(start, 40 if name == "a" else 60)
        table = pa.table({"m": messages[part], "s": signatures[part]})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=16)
    return folder, tmp_path / "key.pem"


def test_the_command_line_gives_what_it_gives_without_ray(
    cluster: None, signed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an actor for each of the two files, however many are allowed: Ray warns of those without work."""
    folder, key = signed
    pool, sizes = ray.data.ActorPoolStrategy, []

    def recorded(size: int) -> Any:
        sizes.append(size)
        return pool(size=size)

    monkeypatch.setattr(ray.data, "ActorPoolStrategy", recorded)
    options = ["--key", key, "--message", "m", "--signature", "s", "--padding", "pkcs1v15"]
    whole = tmp_path / "whole.parquet"
    pq.write_table(pq.read_table(folder), whole)
    local = run("rsa", "verify", whole, "-o", tmp_path / "local.parquet", *options)
    spread = run("rsa", "verify", folder, "-o", tmp_path / "out", *options, "--ray", "--ray-workers", "3")
    assert (local.code, spread.code, sizes) == (3, 3, [2])
    assert spread.err == local.err.replace("local.parquet", "out")
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [
        "part-000000.parquet",
        "part-000001.parquet",
    ]
    assert pq.read_table(tmp_path / "out").equals(pq.read_table(tmp_path / "local.parquet"))
    assert not list(tmp_path.glob("*.parts"))


def test_no_key_is_sent(signed: tuple[Path, Path]) -> None:
    """A job with keys is sent as the function that loads them; one that holds keys is refused."""
    settings: dict[str, Any] = {"padding": rsa.Padding("pkcs1v15"), "algorithm": "sha256"}
    columns = {"message": "m", "signature": "s"}
    loader = RingOf(signed[1])
    job = tables.RsaJob(operation="verify", operands=columns, ring=loader, **settings)
    assert pickle.loads(pickle.dumps(job)) == job
    assert job.loaded().key_count == 1
    with pytest.raises(TypeError, match="loaded"):
        _ = job.keys
    with pytest.raises(TypeError, match="loads the keys"):
        bulk.parquet_to_parquet(job.loaded(), signed[0], signed[0].with_name("out"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["in.csv"], "csv"),
        (["in.parquet", "--output-format", "jsonl"], "jsonl"),
        (["in.parquet", "--device", "cuda:1"], "--device cuda"),
        (["-"], "standard"),
    ],
)
def test_the_command_line_refuses_what_ray_cannot(tmp_path: Path, arguments: list[str], said: str) -> None:
    for name in ("in.csv", "in.parquet"):
        (tmp_path / name).touch()
    table = arguments[0] if arguments[0] == "-" else tmp_path / arguments[0]
    options = ["-o", tmp_path / "out", "--base", "2", "--exp", "3", "--mod", "5", "--ray"]
    found = run("powmod", table, *options, *arguments[1:])
    assert found.code == 2
    assert said in found.err


@pytest.mark.parametrize(
    ("gpus", "actors", "share"),
    [(0, 4, 0), (2, None, 1), (2, 1, 1), (2, 2, 1), (2, 6, 0.3333), (8, 20, 0.3333)],
)
def test_actors_share_the_gpus(
    monkeypatch: pytest.MonkeyPatch, gpus: int, actors: int | None, share: float
) -> None:
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 9.0, "GPU": float(gpus)} if gpus else {})
    assert bulk.gpu_share(actors) == share
    if gpus:
        assert bulk.Workers(gpus=share).number() * share <= gpus
        assert bulk.Workers(gpus=share).number() >= (actors or gpus)


def test_an_output_among_the_files_of_the_table_is_refused(tmp_path: Path) -> None:
    """A run that goes on would read what the one before wrote."""
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    pq.write_table(pa.table({"b": [1], "e": [1], "n": [5]}), folder / "a.parquet")
    link = tmp_path / "link"
    link.symlink_to(folder / "inner")
    for out in (folder / "out", link / "out"):
        found = run("powmod", folder, "-o", out, "--base", "b", "--exp", "e", "--mod", "n", "--ray")
        assert (found.code, "would be among the files of TABLE" in found.err) == (2, True)
        with pytest.raises(tables.TableError, match="would be among the files of"):
            bulk.parquet_to_parquet(POWERS, folder, out)


def test_ray_takes_the_options_of_actors_with_gpus(cluster: None) -> None:
    """It wants to know how many rows a batch has; `tests/clusters` runs such actors."""
    blocks = ray.data.from_arrow(power_table(9)[0])
    assert bulk.map_dataset(blocks, POWERS, workers=bulk.Workers(gpus=0.5, count=1)) is not blocks
    for workers in (bulk.Workers(gpus=1, count=1), bulk.Workers(count=1)):
        assert workers.options(rows=1)["batch_size"] == 1
    assert bulk.Workers(count=1).options()["batch_size"] is None


def test_what_does_not_fit_is_refused_before_anything_runs(cluster: None) -> None:
    known = ray.data.from_arrow(pa.table({"b": [1], "e": [1], "m": ["x"]}))
    with pytest.raises(tables.OperandError, match="--mod n: neither a column nor an integer"):
        bulk.map_dataset(known, POWERS)
    pss, nowhere = rsa.Padding("pss"), RingOf(Path("nosuch"))
    with pytest.raises(tables.OperandError, match="--message text: not one column of the table"):
        bulk.rsa(known, "sign", {"message": "text"}, nowhere, pss, algorithm="sha256")
    with pytest.raises(tables.OperandError, match="already has a column 'result'"):
        bulk.powmod(ray.data.from_arrow(pa.table({"b": [1], "e": [1], "result": [1]})), "b", "e", "5")
    wrong: Any = int
    job = tables.RsaJob(operation="sign", operands={"message": "m"}, ring=wrong, padding=pss)
    with pytest.raises(TypeError, match=r"returned int, not a manymod\.rsa\.KeyRing"):
        job.loaded()


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Invalid address format: nonsense"),
        ConnectionError("Failed to connect to Ray cluster at nonsense"),
        RuntimeError("Version mismatch: The cluster was started with another"),
    ],
)
@pytest.mark.parametrize("own", [None, "3"])
def test_a_cluster_that_cannot_be_joined_is_told_of(
    monkeypatch: pytest.MonkeyPatch, error: Exception, own: str | None
) -> None:
    """By one kind of error; Ray looks for it as often as the environment says, by default once."""
    tries = []

    def refuse(**_settings: Any) -> None:
        tries.append(os.environ.get(TRIES))
        raise error

    monkeypatch.setattr(ray, "init", refuse)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    monkeypatch.delenv(TRIES, raising=False)
    if own is not None:
        monkeypatch.setenv(TRIES, own)
    with pytest.raises(ConnectionError, match=f"RAY_ADDRESS, nonsense: {error}"), bulk.connected():
        pass
    assert (tries, os.environ.get(TRIES)) == ([own or "1"], own)


@pytest.mark.parametrize("address", ["", "local", None])
def test_a_cluster_on_this_machine_has_all_the_time_it_needs(
    monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    """The setting is also how many seconds Ray gives one that it starts."""
    begun = []
    monkeypatch.setattr(
        ray, "init", lambda **settings: begun.append((settings["address"], TRIES in os.environ))
    )
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv(TRIES, raising=False)
    if address is not None:
        monkeypatch.setenv("RAY_ADDRESS", address)
    with bulk.connected():
        assert begun == [("local", False)]


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nobody_answers(tmp_path: Path, scheme: str) -> None:
    """Somebody listens there, and never speaks. Ray waits for less than usual, but would do so 20 times."""
    pq.write_table(power_table(9)[0], tmp_path / "in.parquet")
    with socket.create_server(("", 0)) as server:
        finished = subprocess.run(
            [
                *COMMAND,
                "powmod",
                "in.parquet",
                "-o",
                "out",
                "--base",
                "b",
                "--exp",
                "e",
                "--mod",
                "n",
                "--ray",
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "RAY_ADDRESS": f"{scheme}127.0.0.1:{server.getsockname()[1]}",
                "RAY_py_gcs_connect_timeout_s": "4",
                "RAY_gcs_rpc_server_connect_timeout_s": "1",
                "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "1",
                "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "1",
            },
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    *remarks, last = finished.stderr.splitlines()
    said = "Failed to connect to Ray cluster at " if not scheme else "ray client connection timeout"
    if scheme and importlib.util.find_spec("grpc") is None:
        said = "Ray Client requires pip package `ray[client]`"
    assert (finished.returncode, finished.stdout) == (1, "")
    assert last.startswith(f"manymod: the Ray cluster of RAY_ADDRESS, {scheme}127.0.0.1:")
    assert said in last
    assert all(re.match(r"\[\d{4}-.* W .*\]", remark) for remark in remarks)  # what Ray's C++ code logs
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.parquet"]


def test_workers_are_checked() -> None:
    for settings in ({"count": 0}, {"threads": 0}, {"retries": -1}):
        with pytest.raises(ValueError, match="at least one"):
            bulk.Workers(**settings)
    assert bulk.Workers(count=3, threads=4).options()["num_cpus"] == 2
