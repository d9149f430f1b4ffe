# SPDX-License-Identifier: Apache-2.0
"""What takes too long for every run of the tests: `make test-clusters`."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.python.cli_support import power_rows
from tests.python.ray_support import FailingJob, Killer, RingOf
from tests.python.rsa_support import peer_key, private_key

from manymod import ecc, rsa, tables
from manymod import ray as bulk

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in ("DeprecationWarning", "FutureWarning", "ResourceWarning", "UserWarning")
]
POWERS = tables.OperationJob(
    operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "e", "mod": "n"}
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    settings = {"object_store_memory": 200 << 20, "include_dashboard": False, "log_to_driver": False}
    ray.init(address="local", num_cpus=2, num_gpus=1, logging_level="error", **settings)
    yield
    ray.shutdown()


def test_a_block_that_kills_every_actor_is_given_up(cluster: None, tmp_path: Path) -> None:
    """The rows of the other blocks are answered, those that wait behind it in the same actor too."""
    rows = power_rows(120, 256, seed=7)
    table = pa.table({"id": list(range(120)), **{name: [row[name] for row in rows] for name in "ben"}})
    blocks = ray.data.from_arrow([table.slice(start, 30) for start in range(0, 120, 30)])
    job = FailingJob(POWERS, Killer(tmp_path, once=frozenset({47}), always=frozenset({75})))
    answers = bulk.map_dataset(
        blocks, job, workers=bulk.Workers(count=2, retries=2), limits=tables.BatchLimits(rows=8)
    )
    found = sorted(answers.take_all(), key=lambda row: int(row["id"]))
    assert [row["id"] for row in found] == list(range(120))
    assert len(list(tmp_path.glob("killed-*"))) == 3
    for row, given in zip(found, rows, strict=True):
        if 60 <= row["id"] < 90:
            assert (row["result"], row["status"]) == (None, "not_computed")
        else:
            result = pow(int(given["b"]), int(given["e"]), int(given["n"]))
            assert (int(row["result"]), row["status"]) == (result, "ok")


def test_actors_with_gpus(cluster: None, tmp_path: Path) -> None:
    """They need none to compute on the CPU, but Ray has to set a share of one aside for each."""
    rows = power_rows(60, 128, seed=7)
    table = pa.table({"id": list(range(60)), **{name: [row[name] for row in rows] for name in "ben"}})
    results = [str(pow(int(row["b"]), int(row["e"]), int(row["n"]))) for row in rows]
    blocks = ray.data.from_arrow([table.slice(start, 20) for start in range(0, 60, 20)])
    workers = bulk.Workers(gpus=0.5, count=1)
    found = sorted(
        bulk.map_dataset(blocks, POWERS, workers=workers).take_all(), key=lambda row: int(row["id"])
    )
    assert [row["result"] for row in found] == results
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    pq.write_table(table, source, row_group_size=20)
    tally = bulk.parquet_to_parquet(POWERS, str(source), str(out), workers=workers)
    assert (tally.rows, pq.read_table(out).column("result").to_pylist()) == (60, results)


def test_short_forms(cluster: None, tmp_path: Path) -> None:
    """Powers, RSA and curves, from datasets to files and to rows."""
    workers = bulk.Workers(count=1)
    rows = power_rows(20, 128, seed=3)
    bulk.powmod(ray.data.from_items(rows), "b", "e", "n", workers=workers).write_parquet(
        str(tmp_path / "out")
    )
    found = {row["id"]: row["result"] for row in pq.read_table(tmp_path / "out").to_pylist()}
    assert found == {row["id"]: str(pow(int(row["b"]), int(row["e"]), int(row["n"]))) for row in rows}

    pem = peer_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pem").write_bytes(pem)
    messages = [b"a", b"b", b"c"]
    signatures = rsa.KeyRing([private_key()]).sign(messages, None, "pkcs1v15", "sha256")
    table = pa.table({"m": [b"a", b"x", b"c"], "s": signatures})
    columns, padding = {"message": "m", "signature": "s"}, rsa.Padding("pkcs1v15")
    verdicts = bulk.rsa(
        ray.data.from_arrow(table),
        "verify",
        columns,
        RingOf(tmp_path / "key.pem"),
        padding,
        algorithm="sha256",
        workers=workers,
    )
    assert [row["result"] for row in verdicts.take_all()] == [True, False, True]

    secrets = [bytes([7] * 32), bytes(32)]
    keys = bulk.ecc(
        ray.data.from_arrow(pa.table({"k": secrets})), "public", {"secret": "k"}, ecc.P256, workers=workers
    )
    points = [(row["result"], row["status"]) for row in keys.take_all()]
    assert points == [(ecc.P256.public_keys(secrets[0]), "ok"), (None, "ecc_secret")]


def test_errors_of_jobs_are_those_of_the_package(cluster: None, tmp_path: Path) -> None:
    """They are found before actors are started, or come from them."""
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"b": [1]}), path)
    with pytest.raises(tables.OperandError, match="neither a column"):
        bulk.parquet_to_parquet(POWERS, path, tmp_path / "out")
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(pa.table({"b": [1], "e": [1], "n": [5]}), folder / "a.parquet")
    pq.write_table(pa.table({"b": [1], "e": [1]}), folder / "b.parquet")
    with pytest.raises(tables.OperandError, match="--mod n"):
        bulk.parquet_to_parquet(POWERS, folder, tmp_path / "out", workers=bulk.Workers(count=1))
    assert not (tmp_path / "out").exists()


def peak_memory(rows: int, tmp_path: Path) -> int:
    """Return the most memory of an actor, in bytes, where a table of so many rows goes through."""
    path, out = tmp_path / f"{rows}.parquet", tmp_path / f"out-{rows}"
    cell = b"\x7f" * 256
    batch = pa.table({"b": pa.array([cell] * 10_000), "n": pa.array([cell] * 10_000)})
    with pq.ParquetWriter(path, batch.schema, use_dictionary=False, compression="none") as writer:
        for _ in range(rows // 10_000):
            writer.write_table(batch, row_group_size=10_000)
    job = tables.OperationJob(
        operation=tables.OPERATIONS["mulmod"], operands={"x": "b", "y": "3", "mod": "n"}
    )
    measured = FailingJob(job, PeakMemory(tmp_path / f"peak-{rows}"))
    bulk.parquet_to_parquet(measured, path, out, workers=bulk.Workers(count=1))
    assert pq.ParquetFile(out / "part-000000.parquet").metadata.num_rows <= rows
    return int((tmp_path / f"peak-{rows}").read_text())


class PeakMemory:
    """Writes down the most memory that its process has had."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, batch: tables.Batch) -> None:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        self.path.write_text(str(int(kilobytes) << 10))


def test_memory_does_not_grow_with_the_table(cluster: None, tmp_path: Path) -> None:
    """Ten times the rows, 512 MB of them, and the actor's memory grows by less than a tenth of that."""
    small, large = (peak_memory(rows, tmp_path) for rows in (100_000, 1_000_000))
    assert large - small < 48 << 20


SPARK = """
import sys
from pyspark.sql import SparkSession
from manymod import frames, tables
settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.default.parallelism": "2"}
settings["spark.sql.session.timeZone"] = "UTC"
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
job = tables.OperationJob(
    operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "n"}
)
rows = spark.createDataFrame([(k, k % 7) for k in range(100)], "b long, n long")
noon = "'2020-01-01 12:00:00'"
rows = rows.selectExpr("*", f"timestamp{noon} AS at", f"array(timestamp_ntz{noon}) AS list")
frames.spark_frame(rows, job).write.parquet(sys.argv[1])
spark.stop()
"""


def test_spark(tmp_path: Path) -> None:
    """In a process of its own, whose Python workers are this interpreter."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.fail("Spark needs Java, 17 or newer: apt-get install default-jre-headless, or set JAVA_HOME")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", SPARK, str(tmp_path / "out")]
    subprocess.run(command, check=True, env=environment, timeout=280)
    found: list[dict[str, Any]] = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted(row["b"] for row in found) == list(range(100))
    noon = datetime.datetime(2020, 1, 1, 12)
    for row in found:
        good = row["n"] != 0
        assert (row["at"].replace(tzinfo=None), row["list"]) == (noon, [noon])
        assert row["status"] == ("ok" if good else "zero_modulus")
        assert row["result"] == (pow(row["b"], 3, row["n"]) if good else None)
