# SPDX-License-Identifier: Apache-2.0
"""Every input format by every output format, by column types, kinds of bad rows, and points of failure."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.python.cli_support import leftovers, read_arrow, read_table, run, write_arrow

from manymod import tables
from manymod.tables import folders, journal, operation_job

OUTPUTS = ["csv", "jsonl", "parquet", "arrow", "arrows"]
TEXTS = {"csv", "jsonl"}


@pytest.fixture(autouse=True)
def no_power_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk take its time: waiting for it would take most of that of these tests."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


# Column types: three rows, the second of which is null, as they are copied to every format


@dataclass(frozen=True)
class Column:
    """A column of three rows.

    Attributes:
        array: its Arrow array.
        csv: the cells that it becomes in CSV.
        json: the values that it becomes in JSON Lines.
        refused: output formats that cannot hold it.
        parquet: the type that it has after Parquet, where that is not its own.
        plain: the type that it has after Arrow IPC, where that is not its own.
    """

    array: Any
    csv: list[str]
    json: list[Any]
    refused: frozenset[str] = frozenset()
    parquet: Any = None
    plain: Any = None


def column(
    dtype: Any, values: list[Any], json_values: list[Any], csv_cells: list[str] | None = None, **rest: Any
) -> Column:
    """A column of values; cells of CSV are the JSON values as text, unless they are given."""
    cells = ["" if value is None else str(value) for value in json_values] if csv_cells is None else csv_cells
    array = values if isinstance(values, pa.Array) else pa.array(values, dtype)
    return Column(array, cells, json_values, **rest)


def nested(dtype: Any, values: list[Any], json_values: list[Any], **rest: Any) -> Column:
    """A column of nested values, which CSV has as JSON."""
    cells = ["" if value is None else json.dumps(value) for value in json_values]
    return column(dtype, values, json_values, cells, **rest)


def times(unit: str, zone: str | None = None) -> Any:
    """Three times, in nanoseconds where the unit has them."""
    ticks = 1_700_000_000 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return pa.array([ticks + 1, None, 0], pa.int64()).cast(pa.timestamp(unit, zone))


NANOSECONDS = ["2023-11-14 22:13:20.000000001", None, "1970-01-01 00:00:00.000000000"]
LISTS = pa.array([0, 2, 2, 3], pa.int32())
STRUCTS = pa.StructArray.from_arrays([times("ns"), pa.array([1, None, 3])], ["t", "i"])
DICTIONARY = pa.array(["x", None, "y"]).dictionary_encode()
D = decimal.Decimal
COLUMNS: dict[str, Column] = {
    "null": column(pa.null(), [None] * 3, [None] * 3),
    "bool": column(pa.bool_(), [True, None, False], [True, None, False], ["true", "", "false"]),
    "int8": column(pa.int8(), [-128, None, 127], [-128, None, 127]),
    "uint64": column(pa.uint64(), [2**64 - 1, None, 0], [2**64 - 1, None, 0]),
    "float64": column(pa.float64(), [0.1, None, float("inf")], [0.1, None, "inf"]),
    "decimal": column(pa.decimal128(20, 2), [D("1.50"), None, D("-2.00")], ["1.50", None, "-2.00"]),
    "decimal of many places": column(
        pa.decimal128(20, 8),
        [D("0.00000000"), None, D("-0.00000001")],
        ["0.00000000", None, "-0.00000001"],
    ),
    "decimal256": column(pa.decimal256(60, 0), [D(10**50), None, D(-1)], [10**50, None, -1]),
    "negative scale": column(
        pa.decimal128(5, -2), [D(1200), None, D(0)], ["1.2E+3", None, "0E+2"], refused=frozenset({"parquet"})
    ),
    "text": column(pa.string(), ['ä"\n,', None, "a\rb"], ['ä"\n,', None, "a\rb"]),
    "large text": column(pa.large_string(), ["1e5", None, ""], ["1e5", None, ""]),
    "bytes": column(pa.binary(), [b"\x00\xff", None, b""], ["0x00ff", None, "0x"]),
    "fixed bytes": column(pa.binary(2), [b"\x00\xff", None, b"ab"], ["0x00ff", None, "0x6162"]),
    "date": column(
        pa.date32(),
        [datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1)],
        ["2024-02-29", None, "0001-01-01"],
    ),
    "date64": column(pa.date64(), [datetime.date(2024, 2, 29)] * 3, ["2024-02-29"] * 3, parquet=pa.date32()),
    "time of seconds": column(
        pa.time32("s"), [datetime.time(1, 2, 3)] * 3, ["01:02:03"] * 3, parquet=pa.time32("ms")
    ),
    "time": column(pa.time64("us"), [datetime.time(1, 2, 3, 4)] * 3, ["01:02:03.000004"] * 3),
    "seconds": column(
        None, times("s"), ["2023-11-14 22:13:21", None, "1970-01-01 00:00:00"], parquet=pa.timestamp("ms")
    ),
    "nanoseconds": column(None, times("ns"), NANOSECONDS),
    "time zone": column(
        None, times("us", "UTC"), ["2023-11-14 22:13:20.000001Z", None, "1970-01-01 00:00:00.000000Z"]
    ),
    "unknown time zone": column(None, times("us", "No/Where"), [], refused=frozenset(TEXTS)),
    "duration": column(pa.duration("ns"), [1, None, -1], [1, None, -1]),
    "interval": nested(
        pa.month_day_nano_interval(),
        [(1, 2, 3), None, (0, 0, 0)],
        [[1, 2, 3], None, [0, 0, 0]],
        refused=frozenset({"parquet"}),
    ),
    "list": nested(pa.list_(pa.int16()), [[1, None], None, []], [[1, None], None, []]),
    "list of nanoseconds": nested(
        None, pa.ListArray.from_arrays(LISTS, times("ns")), [NANOSECONDS[:2], [], NANOSECONDS[2:]]
    ),
    "large list of bytes": nested(pa.large_list(pa.binary()), [[b"a"], None, []], [["0x61"], None, []]),
    "fixed list": nested(pa.list_(pa.int8(), 2), [[1, None], [3, 4], [5, 6]], [[1, None], [3, 4], [5, 6]]),
    "structure": nested(
        None, STRUCTS, [{"t": text, "i": i} for text, i in zip(NANOSECONDS, [1, None, 3], strict=True)]
    ),
    "map": nested(pa.map_(pa.string(), pa.int8()), [[("a", 1)], None, []], [[["a", 1]], None, []]),
    "empty structure": nested(pa.struct([]), [{}, None, {}], [{}, None, {}], refused=frozenset({"parquet"})),
    "structure with one name twice": column(
        None,
        pa.StructArray.from_arrays([pa.array([1, 2, 3])] * 2, ["a", "a"]),
        [],
        refused=frozenset({*TEXTS, "parquet"}),
    ),
    "dictionary": column(None, DICTIONARY, ["x", None, "y"], plain=pa.string(), parquet=pa.string()),
    "list of dictionary": nested(
        None,
        pa.ListArray.from_arrays(LISTS, DICTIONARY),
        [["x", None], [], ["y"]],
        plain=pa.list_(pa.string()),
        parquet=pa.list_(pa.string()),
    ),
    "sparse union": column(
        None,
        pa.UnionArray.from_sparse(
            pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]
        ),
        [1, "y", 3],
        refused=frozenset({"parquet"}),
    ),
    "dense union of times": column(
        None,
        pa.UnionArray.from_dense(
            pa.array([0, 0, 0], pa.int8()), pa.array([0, 1, 2], pa.int32()), [times("ns")]
        ),
        [],
        refused=frozenset({*TEXTS, "parquet"}),
    ),
    "runs": column(
        None,
        pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["x", "y"])),
        ["x", "x", "y"],
        refused=frozenset({"parquet"}),
    ),
}
if hasattr(pa, "uuid"):
    TEXT_OF_UUID = "0x" + "61" * 16
    STORAGE = pa.array([b"a" * 16, None, b"a" * 16], pa.binary(16))
    COLUMNS["extension"] = column(
        None, pa.ExtensionArray.from_storage(pa.uuid(), STORAGE), [TEXT_OF_UUID, None, TEXT_OF_UUID]
    )
# Older versions of pyarrow have views, but can neither convert nor write all of them.
HAS_VIEWS = int(pa.__version__.split(".")[0]) >= 24
if HAS_VIEWS:
    COLUMNS["text view"] = column(pa.string_view(), ["a", None, "b" * 99], ["a", None, "b" * 99])
    COLUMNS["list view"] = nested(pa.list_view(pa.int8()), [[1], None, []], [[1], None, []])

SQUARES = ("--x", "b", "--mod", "1000", "--batch-rows", "2")


def table_of(array: Any) -> Any:
    """A table with a column to compute with, in front of and behind which are columns to copy."""
    return pa.table({"first": ["1", "2", "3"], "b": pa.array([2, 3, 5], pa.int16()), "c": array})


def check_copy(out: Path, after: str, name: str, given: Column) -> None:
    """Check that a column came out as it went in."""
    if after in TEXTS:
        found = [row[name] for row in read_table(out)]
        assert json.dumps(found) == json.dumps(given.csv if after == "csv" else given.json), name
        return
    changed = given.parquet if after == "parquet" else given.plain
    expected = given.array if changed is None else given.array.cast(changed)
    column_found = read_arrow(out).column(name).combine_chunks()
    assert column_found.type == expected.type, name
    assert column_found.equals(expected), name


@pytest.mark.parametrize("after", OUTPUTS)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_come_out_as_they_went_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: str
) -> None:
    given = COLUMNS[name]
    table, out = tmp_path / "in.arrows", tmp_path / f"out.{after}"
    write_arrow(table, table_of(given.array))
    if after not in given.refused:
        assert run("sqrmod", table, "-o", out, *SQUARES).code == 0
        check_copy(out, after, "c", given)
        names = list(read_table(out)[0]) if after in TEXTS else read_arrow(out).column_names
        assert names == ["first", "b", "c", "result", "status"]
        return
    monkeypatch.setattr(operation_job._OperationWork, "compute", None)
    finished = run("sqrmod", table, "-o", out, *SQUARES)
    assert finished.code == 1
    message = f"column c of type {given.array.type} cannot be written to {after}: "
    assert f"manymod: {message}" in finished.err
    assert list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("after", OUTPUTS)
@pytest.mark.parametrize("before", ["parquet", "arrow"])
def test_columns_of_files_with_random_access(tmp_path: Path, before: str, after: str) -> None:
    """All types at once that both formats hold."""
    held = {name: each for name, each in COLUMNS.items() if not each.refused & {before, after}}
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    arrays = {name: each.array for name, each in held.items()}
    if before == "arrow":  # the dictionaries of an Arrow file are there once
        arrays = {name: array for name, array in arrays.items() if "dictionary" not in name}
    write_arrow(table, pa.table({"b": [2, 3, 5], **arrays}))
    assert run("sqrmod", table, "-o", out, *SQUARES).code == 0
    for name in arrays:
        changed = held[name].parquet if before == "parquet" else None
        if changed is None:
            check_copy(out, after, name, held[name])
        elif after not in TEXTS:
            check_copy(out, after, name, replace(held[name], array=held[name].array.cast(changed)))


@pytest.mark.parametrize("after", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("before", ["parquet", "arrow", "arrows"])
def test_metadata_come_out_as_they_went_in(tmp_path: Path, before: str, after: str) -> None:
    entry = {"name": "b", "field_name": "b", "pandas_type": "int64", "numpy_type": "Int64", "metadata": None}
    labels = {
        "name": None,
        "field_name": None,
        "pandas_type": "int64",
        "numpy_type": "int64",
        "metadata": None,
    }
    pandas = {"index_columns": ["i"], "column_indexes": [labels], "columns": [entry, {**entry, "name": "i"}]}
    metadata = {b"mine": b"\x00\xff", b"pandas": json.dumps(pandas).encode()}
    field = pa.field("b", pa.int64(), metadata={b"unit": b"none"})
    table, out = tmp_path / f"in.{before}", tmp_path / f"out.{after}"
    schema = pa.schema([field, pa.field("i", pa.int64())], metadata=metadata)
    write_arrow(table, pa.table([pa.array([2**62 + 1, None]), pa.array([7, 8])], schema=schema))
    assert run("sqrmod", table, "-o", out, "--x", "b", "--mod", 2**62).code == 3
    found = read_arrow(out).schema
    assert found.metadata[b"mine"] == b"\x00\xff"
    assert found.field("b").metadata[b"unit"] == b"none"
    described = json.loads(found.metadata[b"pandas"])
    assert described["index_columns"] == ["i"]
    assert [(each["name"], each["pandas_type"], each["numpy_type"]) for each in described["columns"]] == [
        ("b", "int64", "Int64"),
        ("result", "int64", "Int64"),
        ("status", "unicode", "object"),
        ("i", "int64", "Int64"),
    ]
    assert [each["pandas_type"] for each in described["column_indexes"]] == ["unicode"]


# Bad rows


@dataclass(frozen=True)
class Bad:
    """An input with bad rows, and the status that each row has."""

    name: str
    content: bytes | Any
    statuses: list[str]


LINES = [
    ('{"b": 2, "n": 7}', "ok"),
    ('{"b": null, "n": 7}', "x_is_null"),
    ('{"n": 7}', "x_is_null"),
    ('{"b": "?", "n": 7}', "x_not_an_integer"),
    ('{"b": 2.5, "n": 7}', "x_not_an_integer"),
    ('{"b": [2], "n": 7}', "x_not_an_integer"),
    ('{"b": 2, "n": 0}', "zero_modulus"),
    ("no json", "invalid_json"),
    ("[1]", "invalid_json"),
    ('{"b": 2, "n": 7, "\udcff": 1}', "invalid_text"),
    ('{"b": 3, "n": 7}', "ok"),
]
RECORDS = [
    ("2,7", "ok"),
    ("2", "wrong_field_count"),
    ("2,7,1", "wrong_field_count"),
    ("\udcff,7", "invalid_text"),
    (",7", "x_not_an_integer"),
    ("?,7", "x_not_an_integer"),
    ("2.5,7", "x_not_an_integer"),
    ("2,0", "zero_modulus"),
    ("3,7", "ok"),
]
TYPED = [(2, 7, "ok"), (None, 7, "x_is_null"), (2, None, "mod_is_null"), (2, 0, "zero_modulus"), (3, 7, "ok")]
TYPED_TABLE = pa.table(
    {"b": pa.array([b for b, _, _ in TYPED], pa.int64()), "n": pa.array([n for _, n, _ in TYPED], pa.int32())}
)


def in_bytes(lines: list[str]) -> bytes:
    """Lines in UTF-8, but for bytes that are none."""
    return "\n".join(lines).encode("utf-8", "surrogateescape")


BAD = [
    Bad(
        "in.jsonl",
        in_bytes([line for line, _ in LINES]),
        [status for _, status in LINES],
    ),
    Bad("in.csv", in_bytes(["b,n", *(line for line, _ in RECORDS)]), [each for _, each in RECORDS]),
    *(
        Bad(f"in.{name}", TYPED_TABLE, [status for _, _, status in TYPED])
        for name in ("parquet", "arrow", "arrows")
    ),
]


def write_input(folder: Path, bad: Bad) -> Path:
    """Write an input."""
    table = folder / bad.name
    if isinstance(bad.content, bytes):
        table.write_bytes(bad.content)
    else:
        write_arrow(table, bad.content)
    return table


@pytest.mark.parametrize("after", OUTPUTS)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_row_is_a_row_with_a_status(tmp_path: Path, bad: Bad, after: str) -> None:
    table, out = write_input(tmp_path, bad), tmp_path / f"out.{after}"
    finished = run("sqrmod", table, "-o", out, "--x", "b", "--mod", "n", "--batch-rows", 3)
    assert finished.code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == bad.statuses
    results = [row["result"] for row in rows]
    good = [None if value in (None, "") else int(value) for value in results]
    assert good == [{0: 4, len(rows) - 1: 2}.get(index) for index in range(len(rows))]
    for index, status in enumerate(bad.statuses):
        assert (f"row {index + 1}: {status}" in finished.err) == (status != "ok")


# Failures at every point


class Killed(BaseException):
    """The process ends here: nothing is cleaned up."""


OPERATIONS = ["create", "move", "sync", "remove"]


class FailingFolder:
    """Makes the n-th operation on a folder, counted from 0, fail."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int | None, error: BaseException) -> None:
        self.count = 0
        self._at = at
        self._error = error
        for name in OPERATIONS:
            patch.setattr(folders.Folder, name, self._counted(getattr(folders.Folder, name)))

    def _counted(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.count += 1
            if self.count - 1 == self._at:
                raise self._error
            return operation(*arguments)

        return call


def compute(table: Path, out: Path, resume: bool) -> tables.Tally:
    """Run a job whose every batch is kept at once."""
    after = out.suffix[1:]
    source = tables.open_source(table, limits=tables.BatchLimits(rows=3), as_lines=after == "jsonl")
    sink = tables.ResumableFile(out, after, seconds=0, resume=resume)
    job = tables.OperationJob(operation=tables.OPERATIONS["sqrmod"], operands={"x": "b", "mod": "n"})
    with contextlib.closing(source), contextlib.closing(sink):
        return tables.run(job, source, sink)


def end_of_process(folder: journal.PartsFolder, keep: bool) -> None:
    """What is left of an open folder of parts when its process ends: nothing but its files."""
    folder._stack.close()


def fails_at(at: int, error: BaseException, table: Path, out: Path) -> bool:
    """Run a job whose n-th operation on a folder fails; whether it has so many."""
    with pytest.MonkeyPatch.context() as patch:
        folder = FailingFolder(patch, at, error)
        if isinstance(error, Killed):
            patch.setattr(journal.PartsFolder, "close", end_of_process)
        try:
            compute(table, out, resume=False)
        except Killed:
            assert isinstance(error, Killed)
        except (tables.TableError, tables.PartsError) as seen:
            assert str(out) in str(seen)  # noqa: PT017 - there may be none
            assert "No space left" in str(seen)  # noqa: PT017
    return folder.count > at


def input_for(folder: Path, before: str) -> Path:
    """The input of bad rows of a format."""
    return write_input(folder, next(bad for bad in BAD if bad.name == f"in.{before}"))


@pytest.mark.parametrize("after", OUTPUTS)
@pytest.mark.parametrize("before", ["csv", "jsonl", "parquet", "arrow", "arrows"])
@pytest.mark.parametrize("error", [Killed(), OSError(28, "No space left on device")], ids=["killed", "full"])
def test_a_run_may_end_anywhere(tmp_path: Path, before: str, after: str, error: BaseException) -> None:
    """At any operation on a folder; --resume ends with the bytes of a run that nothing interrupted."""
    table, out, whole = input_for(tmp_path, before), tmp_path / f"out.{after}", tmp_path / f"whole.{after}"
    expected = compute(table, whole, resume=False)
    at, step = 0, 1 if before == "csv" else 7
    while fails_at(at, error, table, out):
        assert compute(table, out, resume=True) == expected, at
        assert out.read_bytes() == whole.read_bytes(), at
        assert leftovers(out) == []
        out.unlink()
        at += step
    assert at > 20, "not even the parts were written"
