# SPDX-License-Identifier: Apache-2.0
"""manymod.tables from Python: sources, sinks, jobs, progress and errors."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.python.cli_support import leftovers, power_rows, read_table, write_table
from tests.python.rsa_support import private_key

from manymod import ecc, rsa, tables


def powers(**operands: str) -> tables.OperationJob:
    """A job of powers."""
    return tables.OperationJob(operation=tables.OPERATIONS["powmod"], operands=operands)


def rows_of(job: tables.Job, table: Any, limits: tables.BatchLimits | None = None) -> dict[str, list[Any]]:
    """Columns of the output of a job over a table in memory."""
    sink = tables.MemorySink()
    tables.run(job, tables.MemorySource(table, limits), sink)
    columns: dict[str, list[Any]] = sink.table().to_pydict()
    return columns


def test_a_table_in_memory() -> None:
    table = pa.table({"b": pa.array([2, None, 4]), "n": pa.array(["7", "0x0b", "0"])})
    found = rows_of(powers(base="b", exp="-1", mod="n"), table)
    assert found["result"] == ["4", None, None]
    assert found["status"] == ["ok", "base_is_null", "zero_modulus"]


def test_batches_may_be_computed_anywhere() -> None:
    """What a worker does: take a pickled job, bind it to a schema, compute batches in any order."""
    job = pickle.loads(pickle.dumps(powers(base="b", exp="e", mod="n")))
    rows = power_rows(30, 200, seed=3)
    source = tables.MemorySource(pa.Table.from_pylist(rows), tables.BatchLimits(rows=7))
    work = job.bind(source)
    batches = list(source.batches())
    assert [batch.rows.num_rows for batch in batches] == [7, 7, 7, 7, 2]
    outputs = [work.compute(batch) for batch in reversed(batches)][::-1]
    table = pa.Table.from_batches([output.rows for output in outputs], work.schema)
    expected = [str(pow(int(row["b"]), int(row["e"]), int(row["n"]))) for row in rows]
    assert table["result"].to_pylist() == expected
    assert all(output.bad == [] for output in outputs)


def test_progress_counts_rows(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    write_table(path, power_rows(50, 64, seed=4))
    calls: list[tuple[int, int | None]] = []
    source = tables.open_source(path, limits=tables.BatchLimits(rows=20))
    tally = tables.run(
        powers(base="b", exp="e", mod="n"),
        source,
        tables.MemorySink(),
        progress=lambda done, total: calls.append((done, total)),
    )
    source.close()
    assert (tally.rows, tally.batches, tally.complete) == (50, 3, True)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1] == (50, 50)


def test_an_exception_of_progress_stops_the_run() -> None:
    def stop(_done: int, _total: int | None) -> None:
        raise RuntimeError("enough")

    source = tables.MemorySource(pa.table({"b": [1, 2]}))
    with pytest.raises(RuntimeError, match="enough"):
        tables.run(powers(base="b", exp="2", mod="7"), source, tables.MemorySink(), progress=stop)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.jsonl", "out.arrow"])
def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    sink = tables.FileSink(out)
    try:
        tables.run(powers(base="b", exp="2", mod="7"), tables.MemorySource(pa.table({"b": [3, 4]})), sink)
    finally:
        sink.close()
    assert [int(row["result"]) for row in read_table(out)] == [2, 2]
    before = out.read_bytes()
    sink = tables.FileSink(out)
    sink.open(pa.schema([("b", pa.int64())]), {})
    sink.write(pa.record_batch({"b": pa.array([1])}), tables.Tally())
    sink.close()
    assert out.read_bytes() == before
    assert leftovers(out) == []


def test_lines_pass_letter_by_letter(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text('{"b": 3, "f": 1.50}\nno json\n')
    source = tables.open_source(path, as_lines=True)
    sink = tables.FileSink(out)
    tally = tables.run(powers(base="b", exp="2", mod="7"), source, sink)
    sink.close()
    source.close()
    first, second = out.read_text().splitlines()
    assert first == '{"b": 3, "f": 1.50, "result": 2, "status": "ok"}'
    assert json.loads(second) == {"line": "no json", "result": None, "status": "invalid_json"}
    assert tally.bad_rows == [(2, "invalid_json")]


def test_a_resumable_file_continues(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    table = pa.table({"b": pa.array(range(10))})
    job, limits = powers(base="b", exp="2", mod="7"), tables.BatchLimits(rows=3)

    def run(stop_after: int | None, resume: bool) -> tables.Tally:
        def interrupt(done: int, _total: int | None) -> None:
            if stop_after is not None and done >= stop_after:
                raise KeyboardInterrupt

        sink = tables.ResumableFile(out, "parquet", seconds=0, resume=resume)
        try:
            return tables.run(job, tables.MemorySource(table, limits), sink, progress=interrupt)
        finally:
            sink.close()

    with pytest.raises(KeyboardInterrupt):
        run(stop_after=6, resume=False)
    assert not out.exists()
    with pytest.raises(tables.PartsError, match="--resume"):
        run(stop_after=None, resume=False)
    tally = run(stop_after=None, resume=True)
    assert (tally.rows, tally.batches) == (10, 4)
    assert [row["result"] for row in read_table(out)] == [b * b % 7 for b in range(10)]
    assert leftovers(out) == []


def rsa_job(operation: str, **operands: str) -> tables.RsaJob:
    """A job by one key."""
    ring, padding = rsa.KeyRing([private_key()]), rsa.Padding("pkcs1v15")
    return tables.RsaJob(
        operation=operation, operands=operands, ring=ring, padding=padding, algorithm="sha256"
    )


@pytest.mark.parametrize(
    "dtype",
    [
        *(pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())),
        *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary())),
        *(pa.binary(3), pa.run_end_encoded(pa.int32(), pa.binary())),
    ],
    ids=str,
)
def test_messages_of_every_type(dtype: Any) -> None:
    """Rows that are all good, some null, all null, and none."""
    expected = dict(
        zip([b"one", b"two"], private_key().sign([b"one", b"two"], "pkcs1v15", "sha256"), strict=True)
    )
    for messages in ([b"one", b"two"], [None, b"two", None, b"one"], [None, None], []):
        column = pa.array(messages, pa.binary())
        if pa.types.is_dictionary(dtype):
            column = column.cast(dtype.value_type).dictionary_encode().cast(dtype)
        else:
            column = pc.run_end_encode(column) if pa.types.is_run_end_encoded(dtype) else column.cast(dtype)
        found = rows_of(
            rsa_job("sign", message="m"), pa.table({"m": pa.concat_arrays([column[:1], column])[1:]})
        )
        assert found["result"] == [None if message is None else expected[message] for message in messages]
        assert found["status"] == ["message_is_null" if message is None else "ok" for message in messages]


@pytest.mark.parametrize("dtype", [pa.binary(), pa.large_binary(), pa.binary(256)])
def test_verdicts_of_rows_without_operands(dtype: Any) -> None:
    """A row that lacks one has no verdict; the others have theirs, by their places in the table."""
    (good,) = private_key().sign([b"a"], "pkcs1v15", "sha256")
    job = rsa_job("verify", signature="s", message="m")
    table = pa.table(
        {"s": pa.array([None, good, good, good, bytes(256)], dtype), "m": [b"a", b"b", b"a", None, b"a"]}
    )
    found = rows_of(job, table)
    assert found["result"] == [None, False, True, None, False]
    invalid = "invalid_signature"
    assert found["status"] == ["signature_is_null", invalid, "ok", "message_is_null", invalid]
    for rows in (table[:1], table[3:4]):
        assert rows_of(job, rows)["result"] == [None]
    assert rows_of(job, table[:0])["result"] == []


@pytest.mark.parametrize("dtype", [pa.binary(), pa.binary(65)])
def test_shared_secrets_of_rows(dtype: Any) -> None:
    ring = ecc.KeyRing([ecc.Key.from_secret(ecc.P256, 5)])
    job = tables.EccJob(operation="exchange", operands={"point": "p"}, ring=ring)
    points = ecc.P256.public_keys([7, 8])
    table = pa.table({"p": pa.array([points[0], None, bytes(65), points[1]], dtype)})
    first, second = ecc.P256.exchange(5, points)
    found = rows_of(job, table)
    assert found["result"] == [first, None, None, second]
    assert found["status"] == ["ok", "point_is_null", "ecc_point", "ok"]
    assert rows_of(job, table.take([0, 3]))["result"] == [first, second]


@pytest.mark.parametrize("operation", ["public", "recover"])
def test_what_rings_of_keys_do_not_do(operation: str) -> None:
    with pytest.raises(ValueError, match=f"{operation} takes no ring of keys"):
        tables.EccJob(operation=operation, operands={}, ring=ecc.KeyRing([ecc.Key.generate(ecc.P256)]))


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    source = tables.MemorySource(pa.table({"b": [1.5], "status": [1]}))
    for operands, message in [
        ({"base": "nosuch", "exp": "1", "mod": "7"}, "neither a column nor an integer"),
        ({"base": "1", "exp": "1", "mod": "7"}, "already has a column 'status'"),
        ({"base": "1", "exp": "1"}, "powmod takes base, exp, mod"),
    ]:
        with pytest.raises(tables.OperandError, match=message):
            powers(**operands).bind(source)
    semicolons = tables.MemorySource(pa.table({"base;exp": ["3;5"]}))
    with pytest.raises(tables.OperandError, match=r"\(one column: give --delimiter if ';' separates them\)"):
        powers(base="base", exp="2", mod="7").bind(semicolons)
    with pytest.raises(tables.TableError, match="unknown extension"):
        tables.format_of(tmp_path / "in.xyz")
    with pytest.raises(tables.TableError, match="not a regular file"):
        tables.open_source(tmp_path / "in.csv")


def test_a_parquet_file_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    """The name of the column "zzzz" is changed, where the format has lengths but no checksum."""
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"zzzz": [1]}), path)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\xffz"))
    with pytest.raises(tables.TableError, match=r"in\.parquet: .*utf-8"):
        tables.open_source(path)


def test_products_of_powers_and_fixed_bases() -> None:
    table = pa.table(
        {"a": pa.array([2, -3, 5]), "b": ["7", "0x10", "9"], "e": pa.array([3, 2, -1]), "n": [101, 103, 9]}
    )
    product = tables.OperationJob(
        operation=tables.OPERATIONS["multi_powmod"],
        operands={"base1": "a", "exp1": "e", "base2": "b", "exp2": "5", "mod": "n"},
    )
    found = rows_of(product, table)
    assert found["result"][:2] == [2**3 * 7**5 % 101, (-3) ** 2 * 16**5 % 103]
    assert found["status"] == ["ok", "ok", "ok"]
    fixed = tables.OperationJob(
        operation=tables.OPERATIONS["fixed_base_powmod"], operands={"base": "3", "exp": "e", "mod": "9"}
    )
    found = rows_of(fixed, table)
    assert found["result"] == [0, 0, None]
    assert found["status"] == ["ok", "ok", "not_invertible"]
    for operation, operands, message in [
        ("multi_powmod", {"base1": "a", "mod": "n"}, "as many base as exp"),
        ("fixed_base_powmod", {"base": "a", "exp": "e", "mod": "9"}, "takes one integer there"),
        ("fixed_base_powmod", {"base": "3", "exp": "e", "mod": "0"}, "cannot be 0"),
    ]:
        job = tables.OperationJob(operation=tables.OPERATIONS[operation], operands=operands)
        with pytest.raises(tables.OperandError, match=message):
            job.bind(tables.MemorySource(table))
