# SPDX-License-Identifier: Apache-2.0
"""Pieces of Parquet tables and what a run keeps of their outputs; no cluster is needed."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.python.ray_table_support import POWERS, power_table

from manymod import ray as bulk
from manymod import tables
from manymod.ray.parquet import PieceActor
from manymod.ray.pieces import Piece, PieceTable
from manymod.ray.shards import ShardFolder, read_tally
from manymod.ray.workers import Ledger


class FakeLedger(Ledger):
    """Counts nothing, and needs no cluster."""

    def __init__(self, deaths: int = 0) -> None:
        self.deaths = deaths
        self.ended: list[str] = []

    def attempts_left(self, piece: str, retries: int) -> int:
        return max(0, retries + 1 - self.deaths)

    def end(self, piece: str) -> None:
        self.ended.append(piece)


def pieces_of(pieces: Sequence[Piece]) -> Any:
    """Pieces as an actor is given them."""
    return pa.Table.from_pylist([vars(piece) for piece in pieces])


def test_runs_resume_with_the_pieces_that_are_there(tmp_path: Path) -> None:
    """All pieces were finished by actors before the run was interrupted: nothing is left to compute."""
    table, results = power_table(50)
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    pq.write_table(table, source, row_group_size=20)
    # What an interrupted run leaves.
    pieces = PieceTable(source).pieces
    with pytest.raises(KeyboardInterrupt):
        bulk.parquet_to_parquet(POWERS, source, out, progress=lambda _done, _total: raise_interrupt())
    assert not out.with_name("out.parts").exists()
    folder = ShardFolder(out, fingerprint_of(source))
    actor = PieceActor(POWERS, tables.BatchLimits(), bulk.Workers(), FakeLedger(), folder.path, None)
    answers = actor(pieces_of(pieces))
    assert answers["index"].to_pylist() == [piece.index for piece in pieces]
    with pytest.raises(tables.PartsError, match="in use"):
        bulk.parquet_to_parquet(POWERS, source, out, resume=True)
    folder.close()
    with pytest.raises(tables.PartsError, match="--resume"):
        bulk.parquet_to_parquet(POWERS, source, out)
    other = tables.OperationJob(operation=POWERS.operation, operands={"base": "b", "exp": "3", "mod": "n"})
    with pytest.raises(tables.PartsError, match="another job"):
        bulk.parquet_to_parquet(other, source, out, resume=True)
    (folder.path / "left.tmp").touch()
    seen: list[tuple[int, int | None]] = []
    tally = bulk.parquet_to_parquet(
        POWERS, source, out, resume=True, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(50, 50)]
    assert tally.rows == 50
    assert tally.bad_counts == {"zero_modulus": 6}
    assert tally.bad_rows[1] == (10, "zero_modulus")
    found = pq.read_table(out)
    assert found["result"].to_pylist() == results
    assert found["id"].to_pylist() == list(range(50))
    with pytest.raises(tables.TableError, match="exists"):
        bulk.parquet_to_parquet(POWERS, source, out)


def finished_piece(folder: Path) -> tables.Tally:
    """Run a table of one piece into a folder."""
    pq.write_table(power_table(20)[0], folder / "in.parquet")
    actor = PieceActor(POWERS, tables.BatchLimits(), bulk.Workers(), FakeLedger(), folder, None)
    actor(pieces_of(PieceTable(folder / "in.parquet").pieces))
    tally = read_tally(folder, 0)
    assert tally is not None
    return tally


def test_what_is_kept_of_a_piece_is_whole_and_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def recorded(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", recorded)
    tally = finished_piece(tmp_path)
    assert (tally.rows, tally.bad_rows) == (
        20,
        [(1, "zero_modulus"), (10, "zero_modulus"), (19, "zero_modulus")],
    )
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "in.parquet",
        "part-000000.json",
        "part-000000.parquet",
    }
    assert [name for name in synced if name.startswith(".part-000000.json.")]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("part-000000.json", lambda _content: b""),
        ("part-000000.json", lambda content: content[:40]),
        ("part-000000.json", lambda _content: b"[1]"),
        ("part-000000.json", lambda _content: b"{}"),
        ("part-000000.json", lambda _content: b'{"tally": {}, "sha256": ""}'),
        ("part-000000.json", lambda _content: b"\xff"),
        ("part-000000.json", lambda _content: b"[" * 100_000),
        ("part-000000.json", lambda content: content.replace(b'"zero_modulus": 3', b'"zero_modulus": 2')),
        ("part-000000.parquet", lambda content: content[:100]),
        ("part-000000.parquet", lambda content: content[:100] + b"!" + content[101:]),
        ("part-000000.parquet", lambda _content: None),
    ],
)
def test_a_damaged_piece_is_not_there(
    name: str, damage: Callable[[bytes], bytes | None], tmp_path: Path
) -> None:
    finished_piece(tmp_path)
    content = (tmp_path / name).read_bytes()
    damaged = damage(content)
    assert damaged != content
    if damaged is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(damaged)
    assert read_tally(tmp_path, 0) is None


def answered_here(
    pieces: list[Piece], job: tables.Job, limits: tables.BatchLimits, workers: bulk.Workers, where: Any
) -> Iterator[tuple[int, tables.Tally]]:
    """What actors of a cluster would answer."""
    answers = PieceActor(job, limits, workers, FakeLedger(), *where)(pieces_of(pieces))
    for row in answers.to_pylist():
        yield row["index"], pickle.loads(row["answer"])


def test_a_resumed_run_computes_damaged_pieces_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three pieces one has a damaged file, and of another it is not known what became of it."""
    table, results = power_table(60)
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for start in (0, 20, 40):
        pq.write_table(table.slice(start, 20), source / f"{start:02d}.parquet")
    folder = ShardFolder(out, fingerprint_of(source))
    actor = PieceActor(POWERS, tables.BatchLimits(), bulk.Workers(), FakeLedger(), folder.path, None)
    actor(pieces_of(PieceTable(source).pieces))
    folder.close()
    os.truncate(folder.path / "part-000000.parquet", 100)
    os.truncate(folder.path / "part-000001.json", 0)
    monkeypatch.setattr("manymod.ray.parquet._answers", answered_here)
    seen: list[tuple[int, int | None]] = []
    tally = bulk.parquet_to_parquet(
        POWERS, source, out, resume=True, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(20, 60), (40, 60), (60, 60)]
    assert (tally.rows, tally.bad_counts) == (60, {"zero_modulus": 7})
    assert pq.read_table(out)["result"].to_pylist() == results


@pytest.mark.parametrize("deaths", [1, 2])
def test_pieces_that_killed_too_often_are_given_up(tmp_path: Path, deaths: int) -> None:
    pq.write_table(power_table(20)[0], tmp_path / "in.parquet")
    workers, ledger = bulk.Workers(retries=1), FakeLedger(deaths)
    actor = PieceActor(POWERS, tables.BatchLimits(), workers, ledger, tmp_path, None)
    actor(pieces_of(PieceTable(tmp_path / "in.parquet").pieces))
    tally = read_tally(tmp_path, 0)
    assert tally is not None
    assert tally.bad_counts == ({"zero_modulus": 3} if deaths == 1 else {"not_computed": 20})
    assert pq.read_table(tmp_path / "part-000000.parquet")["result"].null_count == (3 if deaths == 1 else 20)
    assert ledger.ended == ["0"]


def raise_interrupt() -> None:
    raise KeyboardInterrupt


def fingerprint_of(source: Path) -> dict[str, Any]:
    """Return what a run over a table writes down, by beginning one."""
    found: list[dict[str, Any]] = []

    class Spy(ShardFolder):
        def __init__(self, output: Path, fingerprint: dict[str, Any], **modes: bool) -> None:
            found.append(fingerprint)
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manymod.ray.parquet.ShardFolder", Spy)
        with pytest.raises(KeyboardInterrupt):
            bulk.parquet_to_parquet(POWERS, source, source.with_name("other"))
    return found[0]


@pytest.mark.parametrize("files", [1, 2])
def test_a_table_without_row_groups_keeps_its_columns(files: int, tmp_path: Path) -> None:
    """Parquet writers that were given nothing leave such files."""
    table = power_table(1)[0].slice(0, 0).append_column("more", pa.array([], pa.list_(pa.int32())))
    source, out, local = tmp_path / "in", tmp_path / "out", tmp_path / "local.parquet"
    source.mkdir()
    for index in range(files):
        pq.ParquetWriter(source / f"{index}.parquet", table.schema).close()
    assert pq.read_metadata(source / "0.parquet").num_row_groups == 0
    tally = bulk.parquet_to_parquet(POWERS, source, out, compression="zstd")
    assert (tally.rows, tally.complete) == (0, True)
    tables.run(POWERS, tables.MemorySource(table), tables.FileSink(local))
    assert [path.name for path in out.iterdir()] == ["part-000000.parquet"]
    assert pq.read_table(out).equals(pq.read_table(local))
    assert pq.read_schema(out / "part-000000.parquet").names == [*table.column_names, "result", "status"]


def test_pieces_are_row_groups_of_enough_bytes(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"x": list(range(1000))}), path, row_group_size=100)
    group = pq.read_metadata(path).row_group(0).total_byte_size
    pieces = PieceTable(tmp_path, least=3 * group - 50).pieces
    assert [piece.index for piece in pieces] == list(range(len(pieces)))
    assert sum(piece.rows for piece in pieces) == 1000
    assert [(a.stop, b.start) for a, b in pairwise(pieces)] == [
        (piece.stop, piece.stop) for piece in pieces[:-1]
    ]
    assert len(PieceTable(tmp_path).pieces) == 1
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(tables.TableError, match="no file"):
        PieceTable(folder)
