# SPDX-License-Identifier: Apache-2.0
"""Jobs as functions of Arrow tables, and over the tables of Polars and DuckDB."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.python.cli_support import power_rows
from tests.python.ray_support import FailingJob

from manymod import DeviceError, frames, tables
from manymod.tables.inputs import Input
from manymod.tables.sources import ParquetSource

POWERS = tables.OperationJob(
    operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "e", "mod": "n"}
)
ROWS = [*power_rows(30, 200, seed=5), {"id": "bad", "b": "x", "e": "1", "n": "5"}]
RESULTS = [*(str(pow(int(row["b"]), int(row["e"]), int(row["n"]))) for row in ROWS[:-1]), None]
STATUSES = ["ok"] * 30 + ["base_not_an_integer"]


def test_a_function_is_pickled_without_its_plan() -> None:
    function = tables.TableFunction(POWERS, tables.BatchLimits(rows=7))
    table = pa.Table.from_pylist(ROWS)
    assert function(table)["result"].to_pylist() == RESULTS
    again = pickle.loads(pickle.dumps(function))
    batches = list(again.over(iter(table.to_batches(max_chunksize=11))))
    assert [batch.num_rows for batch in batches] == [7, 4, 7, 4, 7, 2]
    assert pa.Table.from_batches(batches).equals(function(table))
    assert function.output_schema(table.schema) == batches[0].schema


def test_columns_may_change_between_calls() -> None:
    function = tables.TableFunction(POWERS)
    assert function(pa.table({"b": [2], "e": [5], "n": [7]})).to_pylist()[0]["result"] == 4
    assert function(pa.table({"n": ["7"], "b": ["2"], "e": ["5"]})).to_pylist()[0]["result"] == "4"
    assert function(pa.table({"b": [2], "e": [5], "n": [7]}).slice(0, 0)).num_rows == 0
    with pytest.raises(tables.OperandError, match="--mod n"):
        function(pa.table({"b": [2], "e": [5]}))


@dataclass
class FailsAtFirst:
    """Fails so many times in a row."""

    times: int
    error: Exception = field(default_factory=lambda: DeviceError("a GPU failed"))

    def __call__(self, batch: tables.Batch) -> None:
        if batch.rows.num_rows and self.times:
            self.times -= 1
            raise self.error


@pytest.mark.parametrize("error", [DeviceError("a GPU failed"), MemoryError()])
def test_batches_are_computed_again_and_then_given_up(error: Exception) -> None:
    """The batch after one that is given up is computed."""
    job = tables.PersistentJob(FailingJob(POWERS, FailsAtFirst(4, error)), attempts=3)
    answers = tables.TableFunction(job, tables.BatchLimits(rows=10))(pa.Table.from_pylist(ROWS))
    assert answers["status"].to_pylist() == ["not_computed"] * 10 + STATUSES[10:]
    assert answers["result"].to_pylist() == [None] * 10 + RESULTS[10:]


def test_what_is_wrong_with_a_row_is_said_even_where_nothing_is_computed() -> None:
    job = tables.PersistentJob(POWERS, attempts=0)
    assert job.name == "powmod"
    assert job.fingerprint() == POWERS.fingerprint()
    answers = tables.TableFunction(job)(pa.Table.from_pylist(ROWS))
    assert set(answers["status"].to_pylist()) == {"not_computed"}


def test_other_errors_are_raised() -> None:
    job = tables.PersistentJob(FailingJob(POWERS, FailsAtFirst(1, ZeroDivisionError("a bug"))))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        tables.TableFunction(job)(pa.Table.from_pylist(ROWS))


def test_a_device_that_is_not_there_is_an_error_of_the_job() -> None:
    options = tables.EngineOptions(variant="no such variant")
    job = tables.OperationJob(operation=POWERS.operation, operands=POWERS.operands, engine=options)
    with pytest.raises(ValueError, match="no such variant"):
        tables.TableFunction(tables.PersistentJob(job)).output_schema(pa.Table.from_pylist(ROWS).schema)


def test_tallies_follow_each_other() -> None:
    first, second, total = tables.Tally(), tables.Tally(), tables.Tally()
    first.add(10, [(3, "zero_modulus")], ["a hint"])
    second.add(5, [(0, "zero_modulus"), (4, "even_modulus")], ["a hint"])
    for part in (first, second):
        total.append(part)
    assert (total.batches, total.rows, total.hints) == (2, 15, ["a hint"])
    assert total.bad_rows == [(4, "zero_modulus"), (11, "zero_modulus"), (15, "even_modulus")]
    assert total.bad_counts == {"zero_modulus": 2, "even_modulus": 1}


def test_row_groups_are_read_by_themselves(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": list(range(100))}), tmp_path / "a.parquet", row_group_size=10)
    source = ParquetSource(Input(tmp_path / "a.parquet"), tables.BatchLimits(rows=15), range(3, 7))
    values = [value for batch in source.batches() for value in batch.rows["x"].to_pylist()]
    assert values == list(range(30, 70))
    assert source.total_rows == 40
    assert source.fraction() == 1
    source.close()


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(lazy: bool) -> None:
    frame = pl.DataFrame(ROWS)
    if lazy:
        later = frames.polars_frame(frame.lazy(), POWERS, tables.BatchLimits(rows=4))
        assert later.collect_schema().names() == ["id", "b", "e", "n", "result", "status"]
        answers = later.collect(engine="streaming")
    else:
        answers = frames.polars_frame(frame, POWERS)
    assert answers["result"].to_list() == RESULTS
    assert answers["status"].to_list() == STATUSES
    assert answers["id"].to_list() == frame["id"].to_list()


def test_duckdb() -> None:
    """More rows than one call of a function has, nulls among the arguments, bytes as results."""
    connection = duckdb.connect()
    job = tables.OperationJob(
        operation=POWERS.operation, operands=POWERS.operands, names=tables.OutputNames(how="bytes")
    )
    frames.duckdb_function(connection, "powers", job, {"b": pa.int64(), "e": pa.int64(), "n": pa.int64()})
    query = (
        "SELECT k, powers(k, 3, CASE WHEN k % 10 = 0 THEN NULL ELSE 1009 END) AS p FROM range(1, 5001) t(k)"
    )
    found: list[Any] = connection.sql(query).fetchall()
    assert [row[0] for row in sorted(found)] == list(range(1, 5001))
    for number, answer in found:
        if number % 10:
            assert answer == {"result": pow(number, 3, 1009).to_bytes(2, "big"), "status": "ok"}
        else:
            assert answer == {"result": None, "status": "mod_is_null"}


@pytest.mark.parametrize("lazy", [False, True])
def test_types_of_polars_that_arrow_does_not_have(lazy: bool) -> None:
    """They are refused by name: integers of 128 bits, and objects, of which Arrow would have addresses."""
    numbers = {"b": [2], "e": [3], "n": [7]}
    for name, column in (
        ("Int128", pl.Series([1], dtype=pl.Int128)),
        ("Int128", pl.Series([[{"a": 1}]], dtype=pl.List(pl.Struct({"a": pl.Int128})))),
        ("Object", pl.Series([object()], dtype=pl.Object)),
    ):
        frame = pl.DataFrame({**numbers, "Object": [1], "c": column})
        with pytest.raises(tables.OperandError, match=f"column c: Arrow has no {name}: cast it"):
            _ = frames.polars_frame(frame.lazy(), POWERS) if lazy else frames.polars_frame(frame, POWERS)
    nested = pl.DataFrame({**numbers, "c": [[{"Object": 1}]]})
    assert frames.polars_frame(nested, POWERS)["result"].to_list() == [1]


def test_frames_of_others_are_no_frames_of_polars() -> None:
    with pytest.raises(TypeError, match="a Table is neither a DataFrame nor a LazyFrame of Polars"):
        frames.polars_frame(pa.table({"b": [1]}), POWERS)
